/* Operators whose work a workload file gives outright (struct given_work): for programs outside
 * deep learning. Any tensors may come in, they only say what must have ended before. */
#ifndef GRAPH_OP_GIVEN_H
#define GRAPH_OP_GIVEN_H

#include "graph/op_kinds.h"

bool shape_given(const struct op_view *v, struct op_shapes *out, struct err *err); /* attrs.shape */
void work_given_gemm(const struct op_view *v, struct work *w);
void work_given_vector(const struct op_view *v, struct work *w);
void passes_given_vector(const struct op_view *v, struct pass_list *list);
void back_given_vector(const struct op_view *v, uint32_t grads, struct pass_list *list);

#endif
