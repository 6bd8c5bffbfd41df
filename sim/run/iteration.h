/* An iteration of plan/iteration.h, carried out on a network. */
#ifndef RUN_ITERATION_H
#define RUN_ITERATION_H

#include "plan/iteration.h"
#include "run/run.h"

/* Seconds by term, which add up to the whole: computation in full, and of everything else what
 * no computation hid. Of things that ran side by side, the one that ended later counts from the
 * end of the other on. */
struct iteration_times {
	double s[N_ITERATION_TERMS];
	double *layer_s; /* the same by layer, up to the last one that has a task */
	uint32_t n_layers;
	double total_s;
	bool folded, exact; /* see struct run_result */
};

/* As run_prog() fails. `config->task_ends` is set here. */
bool run_iteration(struct arena *a, const struct iteration *it, const struct run_config *config,
	struct iteration_times *out, struct err *err);

#endif
