/* Shared by train.c (the order of things, sums, updates) and train_back.c (the backward pass of
 * one operator). */
#ifndef GRAPH_TRAIN_INTERNAL_H
#define GRAPH_TRAIN_INTERNAL_H

#include "graph/gradient.h"
#include "graph/internal.h"

/* One contribution to the gradient of a tensor: the operator that makes it. */
struct grad_use {
	op_id op;
	struct grad_use *next;
};

struct trainer {
	struct arena *a;
	const struct graph *in;
	enum optimizer optimizer;
	const bool *needs;
	struct grad_use **uses; /* for each tensor, latest first */
	op_id *first_user;      /* for each tensor: forward operator, or GRAPH_NONE */
	bool *has_user;         /* for each tensor */
	struct op *ops;
	uint32_t n_ops, cap_ops;
};

/* Gradients that an operator's backward pass starts from. */
struct starts {
	op_id *ids;
	uint32_t n;
};

/* Appends an operator of the backward pass; `op` has name, kind, pass, forward and work. */
op_id train_append(struct trainer *t, const struct op *op, const struct starts *after);

/* `op` makes a part of the gradient of `tensor`; nothing happens when that needs none. */
void train_contribute(struct trainer *t, tensor_id tensor, op_id op);

/* Adds the operators after which the whole gradient of `tensor` is there to `to`. Several
 * contributions are summed by an operator of their own, except those of lookups: they go
 * straight into the sum, row by row. */
void train_add_gradient(struct trainer *t, tensor_id tensor, op_id forward, struct starts *to);

/* Appends the backward pass of a forward operator, if any. Those of its users are there already. */
void train_back(struct trainer *t, const struct op *op);

#endif
