/* One training iteration as a prog in which every process runs the same tasks, with what each task
 * is for: the form that schemes of parallelism are compared in. */
#ifndef PLAN_ITERATION_H
#define PLAN_ITERATION_H

#include <stdint.h>

#include "prog/prog.h"

/* What the time of a task counts to. */
enum iteration_term {
	TERM_COMPUTE,
	TERM_ALL_GATHER,    /* outputs of a layer, forward */
	TERM_DX_ALL_REDUCE, /* gradient of a layer's input */
	TERM_DW_ALL_REDUCE, /* gradient of a layer's weights */
	TERM_HALO_FORWARD,
	TERM_HALO_BACKWARD,
	TERM_REDISTRIBUTE, /* between layers that are split in different ways */
	TERM_FORWARD,      /* of schemes whose layers communicate otherwise: in the forward pass */
	TERM_BACKWARD,     /* in the backward pass, gradients of weights apart */
};
enum { N_ITERATION_TERMS = 9 };
const char *iteration_term_name(enum iteration_term term); /* "dw_all_reduce" */

struct iteration {
	struct prog prog; /* one role */
	/* Of its tasks, by index. */
	const enum iteration_term *terms;
	const uint32_t *layers;
};

#endif
