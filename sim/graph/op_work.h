/* What operators cost: tensor-core work and vector passes. */
#ifndef GRAPH_OP_WORK_H
#define GRAPH_OP_WORK_H

#include "graph/op_kinds.h"

/* m, n, k, batch, operand bytes of the forward pass; a bias goes to vector_read_bytes. */
void work_gemm(const struct op_view *v, struct work *w);
void work_matmul(const struct op_view *v, struct work *w);
void work_conv(const struct op_view *v, struct work *w);
/* The GEMM before the windows are added up: m of the input's positions, n of kernel times output
 * channels. */
void work_conv_transpose(const struct op_view *v, struct work *w);
/* An all-reduce of the output. */
void work_reduce(const struct op_view *v, struct work *w);
/* An all-gather of the output, a reduce-scatter of the input. */
void work_gather(const struct op_view *v, struct work *w);
void work_scatter(const struct op_view *v, struct work *w);

/* forward_cycles for each element of the output */
void passes_elementwise(const struct op_view *v, struct pass_list *list);
/* one cycle for each element of the window (global: of the whole image), for each element of the
 * output */
void passes_pool(const struct op_view *v, struct pass_list *list);
void passes_global_pool(const struct op_view *v, struct pass_list *list);
/* as elementwise, in one row over everything (batch norm) or in rows of the normalised axes; see
 * op_kinds.h */
void passes_batch_norm(const struct op_view *v, struct pass_list *list);
void passes_last_norm(const struct op_view *v, struct pass_list *list);
/* rows along `axis` */
void passes_softmax(const struct op_view *v, struct pass_list *list);
/* forward_cycles for each row */
void passes_mean(const struct op_view *v, struct pass_list *list);
/* as the mean, with forward_cycles for each row */
void passes_reduce(const struct op_view *v, struct pass_list *list);
void passes_lrn(const struct op_view *v, struct pass_list *list);
void passes_loss(const struct op_view *v, struct pass_list *list);

/* backward_cycles[0] for each element of the first input */
void back_elementwise(const struct op_view *v, uint32_t grads, struct pass_list *list);
/* backward_cycles[i] for each element of the output, for each input that needs a gradient */
void back_injective(const struct op_view *v, uint32_t grads, struct pass_list *list);
/* as back_elementwise, in rows */
void back_batch_norm(const struct op_view *v, uint32_t grads, struct pass_list *list);
void back_last_norm(const struct op_view *v, uint32_t grads, struct pass_list *list);
void back_softmax(const struct op_view *v, uint32_t grads, struct pass_list *list);
/* backward_cycles[0] for each element of the output */
void back_rows(const struct op_view *v, uint32_t grads, struct pass_list *list);
void back_mean(const struct op_view *v, uint32_t grads, struct pass_list *list);
/* what the forward pass does */
void back_resize(const struct op_view *v, uint32_t grads, struct pass_list *list);
/* nothing: no gradient passes */
void back_none(const struct op_view *v, uint32_t grads, struct pass_list *list);
void back_lrn(const struct op_view *v, uint32_t grads, struct pass_list *list);
void back_loss(const struct op_view *v, uint32_t grads, struct pass_list *list);

/* Lane cycles of one element of an optimiser step:
 *   sgd       w -= lr g                                                               MAC = 1
 *   momentum  v = mu v + g; w -= lr v                                               2 MAC = 2 (WHAM's figure)
 *   adam      m = b1 m + (1 - b1) g: MUL + MAC; v = b2 v + (1 - b2) g^2: MUL + MUL + MAC; SQRT; ADD eps; DIV;
 *             w -= lr' times that, bias corrections within lr': MAC                       = 32 */
uint32_t update_cycles(enum optimizer optimizer);

/* Bytes that one optimiser step of `elements` parameters reads and writes. The state is fp32:
 * the master weight, and one moment (momentum) or two (Adam). A step reads the state and the
 * gradient, and writes the state and the weight in elem_bytes; with elem_bytes 4 the weight is
 * its own master copy. */
void update_bytes(enum optimizer optimizer, uint64_t elements, uint32_t elem_bytes, uint64_t *read,
	uint64_t *written);

#endif
