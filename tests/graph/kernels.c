#include "kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* clang-format off */
static const struct kernel kernels[] = {
	{"abs", unary_forward, unary_backward},
	{"add", binary_forward, binary_backward},
	{"arg_max", arg_max_forward, arg_max_backward},
	{"avg_pool", avg_pool_forward, avg_pool_backward},
	{"batch_norm", batch_norm_forward, batch_norm_backward},
	{"compare", compare_forward, compare_backward},
	{"concat", concat_forward, concat_backward},
	{"conv", conv_forward, conv_backward},
	{"conv_transpose", conv_transpose_forward, conv_transpose_backward},
	{"cos", unary_forward, unary_backward},
	{"cross_entropy", cross_entropy_forward, cross_entropy_backward},
	{"cum_sum", cum_sum_forward, cum_sum_backward},
	{"div", binary_forward, binary_backward},
	{"dropout", dropout_forward, dropout_backward},
	{"elu", unary_forward, unary_backward},
	{"embedding", embedding_forward, embedding_backward},
	{"embedding_bag", embedding_bag_forward, embedding_bag_backward},
	{"erf", unary_forward, unary_backward},
	{"exp", unary_forward, unary_backward},
	{"expand", expand_forward, expand_backward},
	{"expert_combine", expert_combine_forward, expert_combine_backward},
	{"expert_dispatch", expert_dispatch_forward, expert_dispatch_backward},
	{"flatten", copy_forward, copy_backward},
	{"gather", repeat_forward, repeat_backward},
	{"gelu", unary_forward, unary_backward},
	{"gelu_tanh", unary_forward, unary_backward},
	{"gemm", gemm_forward, gemm_backward},
	{"global_avg_pool", global_pool_forward, global_pool_backward},
	{"gru_cell", gru_cell_forward, gru_cell_backward},
	{"hard_sigmoid", unary_forward, unary_backward},
	{"hard_swish", unary_forward, unary_backward},
	{"hard_tanh", unary_forward, unary_backward},
	{"identity", copy_forward, copy_backward},
	{"layer_norm", layer_norm_forward, layer_norm_backward},
	{"log", unary_forward, unary_backward},
	{"log_softmax", log_softmax_forward, log_softmax_backward},
	{"lower_triangle", lower_triangle_forward, lower_triangle_backward},
	{"lrn", lrn_forward, lrn_backward},
	{"lstm_cell", lstm_cell_forward, lstm_cell_backward},
	{"masked_fill", masked_fill_forward, masked_fill_backward},
	{"masked_softmax", masked_softmax_forward, softmax_backward},
	{"matmul", matmul_forward, matmul_backward},
	{"max_pool", max_pool_forward, max_pool_backward},
	{"maximum", binary_forward, binary_backward},
	{"move", repeat_forward, repeat_backward},
	{"mul", binary_forward, binary_backward},
	{"mul_add", mul_add_forward, mul_add_backward},
	{"neg", unary_forward, unary_backward},
	{"nll_loss", nll_forward, nll_backward},
	{"pad", repeat_forward, repeat_backward},
	{"pow", binary_forward, binary_backward},
	{"prelu", binary_forward, binary_backward},
	{"reciprocal", unary_forward, unary_backward},
	{"recurrent", recurrent_forward, recurrent_backward},
	{"reduce_max", max_forward, max_backward},
	{"reduce_mean", mean_forward, mean_backward},
	{"reduce_sum", sum_forward, sum_backward},
	{"relu", unary_forward, unary_backward},
	{"reshape", copy_forward, copy_backward},
	{"resize", resize_forward, resize_backward},
	{"rms_norm", rms_norm_forward, rms_norm_backward},
	{"rotary", rotary_forward, rotary_backward},
	{"round", unary_forward, unary_backward},
	{"sigmoid", unary_forward, unary_backward},
	{"silu", unary_forward, unary_backward},
	{"sin", unary_forward, unary_backward},
	{"slice", slice_forward, slice_backward},
	{"softmax", softmax_forward, softmax_backward},
	{"softplus", unary_forward, unary_backward},
	{"sp_gather", copy_forward, copy_backward}, /* among one device */
	{"sp_scatter", copy_forward, copy_backward},
	{"split", split_forward, split_backward},
	{"sqrt", unary_forward, unary_backward},
	{"sub", binary_forward, binary_backward},
	{"tanh", unary_forward, unary_backward},
	{"top_k", top_k_forward, top_k_backward},
	{"tp_copy", copy_forward, copy_backward},
	{"tp_reduce", copy_forward, copy_backward},
	{"transpose", transpose_forward, transpose_backward},
	{"where", where_forward, where_backward},
};
/* clang-format on */

static int compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct kernel *)row)->name);
}

const struct kernel *kernel_find(const char *name)
{
	return bsearch(name, kernels, sizeof(kernels) / sizeof(kernels[0]), sizeof(kernels[0]),
		compare_name);
}

uint64_t kernel_index(double saved)
{
	CU_ASSERT_FALSE_FATAL(isnan(saved));
	return (uint64_t)saved;
}

uint64_t kernel_stretch(const struct tensor *full, const struct tensor *t, uint64_t i)
{
	uint64_t index = 0, step = 1;
	for (uint32_t d = 0; d < full->n_dims; d++) {
		uint32_t last = full->n_dims - 1 - d;
		uint64_t at = i % full->dims[last];
		i /= full->dims[last];
		if (d >= t->n_dims)
			continue;
		uint64_t size = t->dims[t->n_dims - 1 - d];
		index += (size == 1 ? 0 : at) * step;
		step *= size;
	}
	return index;
}

struct kernel_axis kernel_axis(const struct tensor *t, uint32_t axis)
{
	struct kernel_axis s = {1, t->dims[axis], 1};
	for (uint32_t d = 0; d < t->n_dims; d++)
		if (d < axis)
			s.before *= t->dims[d];
		else if (d > axis)
			s.after *= t->dims[d];
	return s;
}
