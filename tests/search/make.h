/* Graphs, accelerators and searches for the tests of search/. */
#ifndef TESTS_SEARCH_MAKE_H
#define TESTS_SEARCH_MAKE_H

#include "base/rng.h"
#include "search/internal.h"

/* models/accelerators/tpuv2.json. */
struct arch make_arch(struct arena *a);

/* bert-base with these overrides, fused and with its backward pass; ends the program when it
 * cannot be read. */
struct graph make_transformer(struct arena *a, const char *overrides);
struct graph make_model(struct arena *a, const char *name, const char *overrides, uint64_t batch);

/* An empty graph of one layer with room for `n` operators. */
struct graph make_graph(struct arena *a, uint32_t n);

/* Appends an operator of about `cycles` on a 16x16 tensor core or 16 lanes, without memory
 * traffic; `forward` is GRAPH_NONE for a forward operator, `pred` GRAPH_NONE for none. */
struct op_request {
	enum op_pass pass;
	enum core core;
	uint64_t cycles;
	op_id forward, pred;
};
op_id make_op(struct arena *a, struct graph *g, const struct op_request *request);

/* `n` forward operators of all kinds, each after at most one earlier one, and one backward
 * operator for each in mirrored order. */
struct graph make_random_graph(struct arena *a, struct rng *rng, uint32_t n);

/* One workload, one accelerator, one micro-batch, space 16 .. 64 with 2 MiB, no baseline, no
 * limits; change freely. */
struct setup {
	struct workload workload;
	struct search_config config;
};
void make_setup(struct arena *a, const struct graph *train, struct setup *out);

/* Asserts that every figure is the same. */
void make_compare(const struct outcome *x, const struct outcome *y);

#endif
