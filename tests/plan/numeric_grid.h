/* A chain of layers on a grid of processes: who has which samples, channels and rows. */
#ifndef TESTS_PLAN_NUMERIC_GRID_H
#define TESTS_PLAN_NUMERIC_GRID_H

#include "numeric_layers.h"

enum { CASE_MAX_LAYERS = 6, CASE_MAX_STRIPS = 16 };

/* Rows of strip k: from [k] to [k + 1]. */
struct strips {
	uint32_t in[CASE_MAX_STRIPS + 1], out[CASE_MAX_STRIPS + 1];
	uint32_t next[CASE_MAX_STRIPS + 1]; /* behind the pooling */
};

struct grid_case {
	uint64_t seed;
	struct rng rng;
	bool even; /* everything divides, kernels are odd, images keep their size */
	struct chain_layer layers[CASE_MAX_LAYERS];
	struct grid_layer described[CASE_MAX_LAYERS];
	struct grid_question q;
	enum grid_way ways[CASE_MAX_LAYERS];
	struct strips strips[CASE_MAX_LAYERS]; /* of layers in strips */
};

/* Fills layers, ways and batch at random; ways are the `asked` ones (or NULL) where a layer can go
 * them. False: no way for a layer. */
bool case_fill(struct arena *a, struct grid_case *c, const enum grid_way *asked);

struct samples {
	uint64_t s0, s1;
};

enum { CASE_ONE = 0 }; /* for a process alone */

/* Of the group of Pr = pr that a process is in, or its own. The batch is filled up so that all
 * groups of the larger Pr have as many; within one each has its part rounded up, as far as they
 * reach. */
struct samples case_samples(
	const struct grid_case *c, const struct prog_grid *g, uint32_t proc, uint32_t pr);
uint64_t case_n_samples(const struct grid_case *c);

/* Position of a process among the Pr of a grid. */
uint32_t case_position(
	const struct grid_case *c, const struct prog_grid *g, uint32_t proc, uint32_t pr);

#endif
