/* The tasks of a schedule on the grid, each carried out on the values of its processes. */
#ifndef TESTS_PLAN_NUMERIC_RUN_H
#define TESTS_PLAN_NUMERIC_RUN_H

#include "numeric_grid.h"

struct grid_run {
	struct arena a;
	struct grid_case c;
	struct iteration it;
	const struct prog_grid *grid;
	struct chain_arrays v[CASE_MAX_LAYERS], serial[CASE_MAX_LAYERS];
	uint32_t n_procs;
	/* How far each layer is. */
	bool forward[CASE_MAX_LAYERS], dw[CASE_MAX_LAYERS], has_halo[CASE_MAX_LAYERS];
	bool linked[CASE_MAX_LAYERS];
};

/* What one collective is to bring. */
struct target {
	const struct grid_run *r;
	uint32_t layer;
	uint32_t pr; /* samples of its groups; CASE_ONE: of processes */
	/* Rows of strips; NULL: all. */
	const uint32_t *strips;
	uint32_t strips_pr;
	/* Of the halo of a strip: rows of x that its outputs read, or of dy that read it. */
	bool halo_x, halo_dy;
};

/* For struct wish: of x, dx and dy; of gathered y; of weights. `what` is a struct target. */
bool run_wants_activation(const void *what, uint32_t p, uint64_t i);
bool run_wants_output(const void *what, uint32_t p, uint64_t i);
bool run_wants_weight(const void *what, uint32_t p, uint64_t i);

uint32_t run_pr(const struct grid_run *r, uint32_t layer);
/* Outputs that a process computes, and inputs that it computes the gradient of. */
struct chain_box run_box(const struct grid_run *r, uint32_t layer, uint32_t p, bool outputs);

/* All tasks, in any order that they themselves allow. */
void run_tasks(struct grid_run *r);

#endif
