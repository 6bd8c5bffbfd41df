/* What the backward pass needs of the forward one. */
#ifndef GRAPH_GRADIENT_H
#define GRAPH_GRADIENT_H

#include "graph/op_kinds.h"

/* For each tensor, whether a gradient flows into it: parameters, and activations that depend on
 * one. */
bool *gradient_needs(struct arena *a, const struct graph *g);

/* For each tensor, the one whose memory it is: views (reshape, transpose, split, tp_copy ...)
 * belong to what they view, everything else to itself. What an all-gather makes belongs to its
 * input: the backward pass gathers it again (arXiv 2205.05198, section 4.2.2). */
tensor_id *gradient_roots(struct arena *a, const struct graph *g);

enum { GRADIENT_MAX_SAVED = 8 };

/* Tensors, not parameters, that the backward pass of the unfused operator `op` reads besides the
 * gradient of its output. Returns how many. Zero when the operator has no backward pass. */
uint32_t gradient_saved(const struct graph *g, const struct op *op, const bool *needs,
	tensor_id saved[GRADIENT_MAX_SAVED]);

/* Bit i is set when input i of `op` needs a gradient; inputs beyond 31 share bit 31. */
uint32_t gradient_mask(const struct op *op, const bool *needs);

#endif
