/* Evaluates a graph and its training graph in numbers, on tiny shapes.
 *
 * Every operator of the backward pass is carried out where graph_train() put it: it sees the
 * gradients that its predecessors made, the parameters, and of everything else only what
 * gradient_saved() keeps; the rest is NaN. The gradient of a parameter is what reaches its
 * update. A missing edge, sum, saved tensor or operator therefore shows as a wrong number. Which
 * operator stands for which part of the mathematics follows from forward, kind, pass and the
 * names that graph.h promises. */
#ifndef TESTS_GRAPH_NUMERIC_H
#define TESTS_GRAPH_NUMERIC_H

#include "graph/graph.h"
#include "kernels.h"

/* What an operator of the training graph has made of the gradient of one tensor. */
struct carried {
	tensor_id tensor;
	double *v;
	struct carried *next;
};

struct numeric {
	struct arena *a;
	const struct graph *g; /* forward, perhaps fused */
	const struct graph *t; /* the same with its backward pass */
	double **
		values; /* of each tensor; inputs, parameters and constants are the caller's to fill */
	double **seeds; /* of each output that nobody uses: the loss is the sum of seed * value */
	bool *needs;    /* for each tensor, whether a gradient flows into it */
	uint32_t **
		covered; /* for each forward operator and part: inputs whose gradient an operator makes */
	struct carried **made; /* for each operator of `t` */
	double **gradients;    /* of each parameter, as its update sees it; NULL without update */
	uint32_t *n_updates;   /* for each tensor */
};

/* All arrays, with small values that depend on `seed`: parameters and constants in +-[0.3, 1.2],
 * all positive when `positive`; inputs are whole numbers, from 0 on. */
void numeric_init(
	struct numeric *n, struct arena *a, const struct graph *g, uint64_t seed, bool positive);

/* Values of all activations; returns the loss. */
double numeric_forward(struct numeric *n);

/* Gradients by the training graph `t`, after numeric_forward(). */
void numeric_backward(struct numeric *n, const struct graph *t);

/* Trains `g`, runs it backward and holds every gradient against central differences; checks that
 * there is one update for each parameter that matters and none for others. Returns the number of
 * elements that differ. */
uint32_t numeric_check(struct arena *a, const struct graph *g, uint64_t seed, bool positive);

#endif
