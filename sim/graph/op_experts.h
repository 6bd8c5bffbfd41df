/* Operators that route rows to where they are needed: embedding bags, and experts of which each
 * token takes a few. Shapes, work and passes as in op_shape.h and op_work.h. */
#ifndef GRAPH_OP_EXPERTS_H
#define GRAPH_OP_EXPERTS_H

#include "graph/op_kinds.h"

/* ids [..., pooling] and a table [rows, features]: the sum of the rows, [..., features]. */
bool shape_embedding_bag(const struct op_view *v, struct op_shapes *out, struct err *err);
/* Of every lookup: labels, the row of each, the output. */
void work_lookup(const struct op_view *v, struct work *w);
void passes_embedding_bag(const struct op_view *v, struct pass_list *list);

/* Scores [..., experts]: the `count` largest of each row and where they stand, both [..., count]. */
bool shape_top_k(const struct op_view *v, struct op_shapes *out, struct err *err);
void passes_top_k(const struct op_view *v, struct pass_list *list);

/* Tokens [..., features] and the experts of each [..., k]: [experts, rows, features]. Every
 * expert gets the same number of rows, tokens * k / experts rounded up: a balanced load. */
bool shape_expert_dispatch(const struct op_view *v, struct op_shapes *out, struct err *err);

/* What the experts made [experts, rows, features] and the weights [..., k]: the weighted sum,
 * [..., features]. */
bool shape_expert_combine(const struct op_view *v, struct op_shapes *out, struct err *err);
void passes_expert_combine(const struct op_view *v, struct pass_list *list);
void back_expert_combine(const struct op_view *v, uint32_t grads, struct pass_list *list);

/* [..., n, n]: what is below the diagonal, [..., n (n - 1) / 2]. */
bool shape_lower_triangle(const struct op_view *v, struct op_shapes *out, struct err *err);

#endif
