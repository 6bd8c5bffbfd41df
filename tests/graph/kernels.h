/* Every kind of operator in plain arithmetic, forward and backward, in double: what the rows of
 * op_kinds.c mean. The tests evaluate training graphs with these; a new row needs a new kernel. */
#ifndef TESTS_GRAPH_KERNELS_H
#define TESTS_GRAPH_KERNELS_H

#include "graph/internal.h"

enum { KERNEL_MAX = 16 };

struct array {
	const struct tensor *t;
	double *v; /* row-major */
};

/* One operator with its values. Backward: what the graph does not keep for it is NaN. */
struct call {
	const struct op *op;
	uint32_t n_in, n_out;
	struct array in[KERNEL_MAX], out[KERNEL_MAX];
	const double *dy[KERNEL_MAX]; /* gradients of the outputs */
	double *dx[KERNEL_MAX];       /* of the inputs, zero before; added to */
};

struct kernel {
	const char *name;
	void (*forward)(const struct call *c);
	void (*backward)(const struct call *c);
};

/* NULL when there is none. */
const struct kernel *kernel_find(const char *name);

/* Index into `t` of element `i` of a tensor `full` that `t` is stretched to. */
uint64_t kernel_stretch(const struct tensor *full, const struct tensor *t, uint64_t i);

/* A saved position, label or row; it must be there. */
uint64_t kernel_index(double saved);

/* A tensor seen as [before, n, after] around one axis. */
struct kernel_axis {
	uint64_t before, n, after;
};
struct kernel_axis kernel_axis(const struct tensor *t, uint32_t axis);

/* Element by element. */
void unary_forward(const struct call *c);
void unary_backward(const struct call *c);
void binary_forward(const struct call *c);
void binary_backward(const struct call *c);
void mul_add_forward(const struct call *c);
void mul_add_backward(const struct call *c);
void dropout_forward(const struct call *c);
void dropout_backward(const struct call *c);
void masked_fill_forward(const struct call *c);
void masked_fill_backward(const struct call *c);
void rotary_forward(const struct call *c);
void rotary_backward(const struct call *c);

/* Along rows. */
void softmax_forward(const struct call *c);
void softmax_backward(const struct call *c);
void log_softmax_forward(const struct call *c);
void log_softmax_backward(const struct call *c);
void masked_softmax_forward(const struct call *c);
void cross_entropy_forward(const struct call *c);
void cross_entropy_backward(const struct call *c);
void nll_forward(const struct call *c);
void nll_backward(const struct call *c);
void mean_forward(const struct call *c);
void mean_backward(const struct call *c);
void sum_forward(const struct call *c);
void sum_backward(const struct call *c);
void batch_norm_forward(const struct call *c);
void batch_norm_backward(const struct call *c);
void layer_norm_forward(const struct call *c);
void layer_norm_backward(const struct call *c);
void rms_norm_forward(const struct call *c);
void rms_norm_backward(const struct call *c);

/* Products and windows. */
void gemm_forward(const struct call *c);
void gemm_backward(const struct call *c);
void matmul_forward(const struct call *c);
void matmul_backward(const struct call *c);
void conv_forward(const struct call *c);
void conv_backward(const struct call *c);
void lrn_forward(const struct call *c);
void lrn_backward(const struct call *c);
void avg_pool_forward(const struct call *c);
void avg_pool_backward(const struct call *c);
void max_pool_forward(const struct call *c);
void max_pool_backward(const struct call *c);
void global_pool_forward(const struct call *c);
void global_pool_backward(const struct call *c);

/* Moving data. */
void copy_forward(const struct call *c);
void copy_backward(const struct call *c);
void transpose_forward(const struct call *c);
void transpose_backward(const struct call *c);
void concat_forward(const struct call *c);
void concat_backward(const struct call *c);
void split_forward(const struct call *c);
void split_backward(const struct call *c);
void slice_forward(const struct call *c);
void slice_backward(const struct call *c);
void embedding_forward(const struct call *c);
void embedding_backward(const struct call *c);

/* Routing rows. */
void embedding_bag_forward(const struct call *c);
void embedding_bag_backward(const struct call *c);
void top_k_forward(const struct call *c);
void top_k_backward(const struct call *c);
void expert_dispatch_forward(const struct call *c);
void expert_dispatch_backward(const struct call *c);
void expert_combine_forward(const struct call *c);
void expert_combine_backward(const struct call *c);
void lower_triangle_forward(const struct call *c);
void lower_triangle_backward(const struct call *c);

/* Step after step. */
void recurrent_forward(const struct call *c);
void recurrent_backward(const struct call *c);
void lstm_cell_forward(const struct call *c);
void lstm_cell_backward(const struct call *c);
void expand_forward(const struct call *c);
void expand_backward(const struct call *c);
void repeat_forward(const struct call *c);
void repeat_backward(const struct call *c);

/* Comparisons: no gradient passes through what they make. */
void compare_forward(const struct call *c);
void compare_backward(const struct call *c);
void where_forward(const struct call *c);
void where_backward(const struct call *c);

/* More along rows. */
void arg_max_forward(const struct call *c);
void arg_max_backward(const struct call *c);
void cum_sum_forward(const struct call *c);
void cum_sum_backward(const struct call *c);
void max_forward(const struct call *c);
void max_backward(const struct call *c);

/* More windows. */
void conv_transpose_forward(const struct call *c);
void conv_transpose_backward(const struct call *c);
void resize_forward(const struct call *c);
void resize_backward(const struct call *c);

/* The cell of a gated recurrent unit. */
void gru_cell_forward(const struct call *c);
void gru_cell_backward(const struct call *c);

#endif
