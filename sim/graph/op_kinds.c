#include "graph/op_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "graph/op_experts.h"
#include "graph/op_given.h"
#include "graph/op_recurrent.h"
#include "graph/op_shape.h"
#include "graph/op_work.h"

enum { MANY = 4096 };

#define ELEMENT CLASS_ACTIVATION, CORE_VC, 1, 1

// clang-format off
static const struct op_kind rows[] = {
	/* name, class, core, inputs, forward, backward cycles, saves, backward, params, keys, shape, work, passes, backward passes */
	{"abs", ELEMENT, 1, {1, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"add", CLASS_INJECTIVE, CORE_VC, 2, 2, 1, {1, 1}, SHARES_FIRST | SHARES_SECOND, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"arg_max", CLASS_REDUCTION, CORE_VC, 1, 1, 1, {0, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, KEY_AXIS | KEY_AXES, shape_arg, NULL, passes_reduce, back_none},
	{"avg_pool", CLASS_POOLING, CORE_VC, 1, 1, 0, {1, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, KEY_KERNEL, shape_pool, NULL, passes_pool, back_elementwise},
	{"batch_norm", CLASS_NORM, CORE_VC, 3, 5, 1, {1, 0}, SAVES_INPUT | SAVES_REST, BACKWARD_VECTOR, PARAMS_CHANNEL, 0, shape_batch_norm, NULL, passes_batch_norm, back_batch_norm},
	{"compare", CLASS_INJECTIVE, CORE_VC, 1, 2, 1, {0, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_compare, NULL, passes_elementwise, back_none},
	{"concat", CLASS_TRANSFORM, CORE_NONE, 1, MANY, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_AXIS, shape_concat, NULL, NULL, NULL},
	{"conv", CLASS_COMPLEX, CORE_TC, 2, 3, 0, {0, 0}, SAVES_OTHERS, BACKWARD_GEMM, PARAMS_CONV, KEY_KERNEL | KEY_GROUP | KEY_FEATURES | KEY_BIAS, shape_conv, work_conv, NULL, NULL},
	{"conv_transpose", CLASS_COMPLEX, CORE_TC, 2, 3, 0, {0, 0}, SAVES_OTHERS, BACKWARD_GEMM, PARAMS_NONE, 0, shape_conv_transpose, work_conv_transpose, NULL, NULL},
	{"cos", ELEMENT, 13, {2, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"cross_entropy", CLASS_LOSS, CORE_VC, 1, 2, 13, {2, 0}, SAVES_EXTRA | SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, KEY_SHARD, shape_loss, NULL, passes_loss, back_loss},
	{"cum_sum", CLASS_REDUCTION, CORE_VC, 1, 1, 1, {1, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"div", CLASS_INJECTIVE, CORE_VC, 2, 2, 10, {10, 11}, SAVES_OTHERS | SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"dropout", CLASS_DROPOUT, CORE_VC, 1, 1, 2, {1, 0}, SAVES_EXTRA, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_mask, NULL, passes_elementwise, back_elementwise},
	{"elu", ELEMENT, 4, {3, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"embedding", CLASS_TRANSFORM, CORE_VC, 2, 2, 0, {0, 0}, SAVES_INPUT, BACKWARD_LOOKUP, PARAMS_TABLE, KEY_ROWS | KEY_FEATURES | KEY_SHARD | KEY_PAD_TO | KEY_WEIGHT, shape_embedding, work_lookup, passes_elementwise, NULL},
	{"embedding_bag", CLASS_REDUCTION, CORE_VC, 2, 2, 1, {0, 0}, SAVES_INPUT | UPDATE_SPARSE, BACKWARD_LOOKUP, PARAMS_TABLE, KEY_ROWS | KEY_FEATURES | KEY_SHARD | KEY_PAD_TO | KEY_WEIGHT, shape_embedding_bag, work_lookup, passes_embedding_bag, NULL},
	{"erf", ELEMENT, 15, {15, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"exp", ELEMENT, 1, {1, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"expand", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_SHAPE, shape_target, NULL, NULL, NULL},
	{"expert_combine", CLASS_REDUCTION, CORE_VC, 2, 2, 1, {1, 1}, SAVES_OTHERS, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_expert_combine, NULL, passes_expert_combine, back_expert_combine},
	{"expert_dispatch", CLASS_REDUCTION, CORE_VC, 2, 2, 1, {1, 0}, SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, KEY_EXPERTS, shape_expert_dispatch, NULL, passes_elementwise, back_rows},
	{"flatten", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_AXIS, shape_flatten, NULL, NULL, NULL},
	{"gather", CLASS_TRANSFORM, CORE_NONE, 1, 2, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_SHAPE, shape_target, NULL, NULL, NULL},
	{"gelu", ELEMENT, 19, {22, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"gelu_tanh", ELEMENT, 34, {41, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"gemm", CLASS_COMPLEX, CORE_TC, 2, 3, 0, {0, 0}, SAVES_OTHERS, BACKWARD_GEMM, PARAMS_GEMM, KEY_FEATURES | KEY_BIAS | KEY_SHARD | KEY_WEIGHT, shape_gemm, work_gemm, NULL, NULL},
	{"given_gemm", CLASS_GIVEN, CORE_TC, 0, MANY, 0, {0, 0}, SAVES_OTHERS, BACKWARD_GEMM, PARAMS_NONE, KEY_GIVEN_GEMM | KEY_SHAPE, shape_given, work_given_gemm, NULL, NULL},
	{"global_avg_pool", CLASS_POOLING, CORE_VC, 1, 1, 0, {1, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_global_pool, NULL, passes_global_pool, back_elementwise},
	{"gru_cell", ELEMENT, 55, {5, 0}, SAVES_INPUT | SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_gru_cell, NULL, passes_elementwise, back_elementwise},
	{"hard_sigmoid", ELEMENT, 12, {2, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"hard_swish", ELEMENT, 14, {15, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"hard_tanh", ELEMENT, 27, {2, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"identity", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, 0, shape_same, NULL, NULL, NULL},
	{"layer_norm", CLASS_NORM, CORE_VC, 1, 3, 1, {1, 0}, SAVES_INPUT | SAVES_REST, BACKWARD_VECTOR, PARAMS_LAST, 0, shape_last_norm, NULL, passes_last_norm, back_last_norm},
	{"log", ELEMENT, 1, {10, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"log_softmax", CLASS_SOFTMAX, CORE_VC, 1, 1, 13, {2, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, KEY_AXIS, shape_softmax, NULL, passes_softmax, back_softmax},
	{"lower_triangle", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, 0, shape_lower_triangle, NULL, NULL, NULL},
	{"lrn", CLASS_NORM, CORE_VC, 1, 1, 0, {0, 0}, SAVES_INPUT | SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, KEY_SIZE, shape_same, NULL, passes_lrn, back_lrn},
	{"lstm_cell", ELEMENT, 93, {11, 0}, SAVES_INPUT | SAVES_OUTPUT | SAVES_EXTRA, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_lstm_cell, NULL, passes_elementwise, back_elementwise},
	{"masked_fill", CLASS_INJECTIVE, CORE_VC, 2, 2, 1, {1, 0}, SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_masked, NULL, passes_elementwise, back_injective},
	{"masked_softmax", CLASS_SOFTMAX, CORE_VC, 2, 2, 11, {2, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, KEY_AXIS, shape_masked_softmax, NULL, passes_softmax, back_softmax},
	{"matmul", CLASS_COMPLEX, CORE_TC, 2, 2, 0, {0, 0}, SAVES_OTHERS, BACKWARD_GEMM, PARAMS_NONE, KEY_TRANSPOSE, shape_matmul, work_matmul, NULL, NULL},
	{"max_pool", CLASS_POOLING, CORE_VC, 1, 1, 0, {1, 0}, SAVES_EXTRA, BACKWARD_VECTOR, PARAMS_NONE, KEY_KERNEL, shape_max_pool, NULL, passes_pool, back_elementwise},
	{"maximum", CLASS_INJECTIVE, CORE_VC, 2, 2, 1, {1, 1}, SAVES_INPUT | SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"move", CLASS_TRANSFORM, CORE_NONE, 1, MANY, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_SHAPE, shape_target, NULL, NULL, NULL},
	{"mul", CLASS_INJECTIVE, CORE_VC, 2, 2, 1, {1, 1}, SAVES_OTHERS, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"mul_add", CLASS_INJECTIVE, CORE_VC, 3, 3, 1, {1, 1}, SAVES_OTHERS | SHARES_THIRD, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"neg", CLASS_INJECTIVE, CORE_VC, 1, 1, 1, {1, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_injective},
	{"nll_loss", CLASS_LOSS, CORE_VC, 1, 2, 2, {2, 0}, SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_likelihood, NULL, passes_elementwise, back_rows},
	{"pad", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_SHAPE, shape_target, NULL, NULL, NULL},
	{"pow", CLASS_INJECTIVE, CORE_VC, 1, 2, 15, {16, 16}, SAVES_INPUT | SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"prelu", CLASS_INJECTIVE, CORE_VC, 2, 2, 2, {2, 2}, SAVES_INPUT | SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"reciprocal", CLASS_INJECTIVE, CORE_VC, 1, 1, 10, {2, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_injective},
	{"recurrent", CLASS_COMPLEX, CORE_TC, 2, 3, 0, {0, 0}, SAVES_OUTPUT | SAVES_REST, BACKWARD_GEMM, PARAMS_RECURRENT, KEY_BIAS | KEY_GATES, shape_recurrent, work_recurrent, NULL, NULL},
	{"reduce_max", CLASS_REDUCTION, CORE_VC, 1, 1, 1, {1, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, KEY_AXIS | KEY_AXES, shape_mean, NULL, passes_reduce, back_elementwise},
	{"reduce_mean", CLASS_REDUCTION, CORE_VC, 1, 1, 10, {10, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, KEY_AXIS | KEY_AXES, shape_mean, NULL, passes_mean, back_mean},
	{"reduce_sum", CLASS_REDUCTION, CORE_VC, 1, 1, 0, {0, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, KEY_AXIS | KEY_AXES, shape_mean, NULL, passes_mean, back_mean},
	{"relu", ELEMENT, 1, {1, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"reshape", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_SHAPE, shape_reshape, NULL, NULL, NULL},
	{"resize", CLASS_POOLING, CORE_VC, 1, 1, 0, {0, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_target, NULL, passes_pool, back_resize},
	{"rms_norm", CLASS_NORM, CORE_VC, 2, 2, 1, {1, 0}, SAVES_INPUT | SAVES_REST, BACKWARD_VECTOR, PARAMS_LAST_GAIN, 0, shape_last_norm, NULL, passes_last_norm, back_last_norm},
	{"rotary", CLASS_INJECTIVE, CORE_VC, 1, 3, 2, {2, 0}, SAVES_REST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_rotary, NULL, passes_elementwise, back_elementwise},
	{"round", ELEMENT, 1, {0, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_none},
	{"sigmoid", ELEMENT, 12, {2, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"silu", ELEMENT, 12, {2, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"sin", ELEMENT, 13, {2, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"slice", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_AXIS | KEY_RANGE, shape_slice, NULL, NULL, NULL},
	{"softmax", CLASS_SOFTMAX, CORE_VC, 1, 1, 10, {2, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, KEY_AXIS, shape_softmax, NULL, passes_softmax, back_softmax},
	{"softplus", ELEMENT, 3, {13, 0}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"sp_gather", CLASS_COLLECTIVE, CORE_LINK, 1, 1, 0, {0, 0}, 0, BACKWARD_COLLECTIVE, PARAMS_NONE, 0, shape_gather, work_gather, NULL, NULL},
	{"sp_scatter", CLASS_COLLECTIVE, CORE_LINK, 1, 1, 0, {0, 0}, 0, BACKWARD_COLLECTIVE, PARAMS_NONE, 0, shape_scatter, work_scatter, NULL, NULL},
	{"split", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_AXIS | KEY_PARTS, shape_split, NULL, NULL, NULL},
	{"sqrt", CLASS_INJECTIVE, CORE_VC, 1, 1, 15, {16, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_injective},
	{"sub", CLASS_INJECTIVE, CORE_VC, 2, 2, 1, {1, 1}, SHARES_FIRST, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
	{"tanh", ELEMENT, 27, {2, 0}, SAVES_OUTPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_same, NULL, passes_elementwise, back_elementwise},
	{"top_k", CLASS_REDUCTION, CORE_VC, 1, 1, 1, {1, 0}, SAVES_EXTRA, BACKWARD_VECTOR, PARAMS_NONE, KEY_K, shape_top_k, NULL, passes_top_k, back_elementwise},
	{"tp_copy", CLASS_COLLECTIVE, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_COLLECTIVE, PARAMS_NONE, 0, shape_same, NULL, NULL, NULL},
	{"tp_reduce", CLASS_COLLECTIVE, CORE_LINK, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, 0, shape_same, work_reduce, NULL, NULL},
	{"transpose", CLASS_TRANSFORM, CORE_NONE, 1, 1, 0, {0, 0}, 0, BACKWARD_VIEW, PARAMS_NONE, KEY_PERM, shape_transpose, NULL, NULL, NULL},
	{"vector", CLASS_GIVEN, CORE_VC, 0, MANY, 0, {0, 0}, 0, BACKWARD_VECTOR, PARAMS_NONE, KEY_GIVEN_VECTOR | KEY_SHAPE, shape_given, work_given_vector, passes_given_vector, back_given_vector},
	{"where", CLASS_INJECTIVE, CORE_VC, 3, 3, 1, {1, 1}, SAVES_INPUT, BACKWARD_VECTOR, PARAMS_NONE, 0, shape_broadcast, NULL, passes_elementwise, back_injective},
};
// clang-format on

enum { N_KINDS = sizeof(rows) / sizeof(rows[0]) };

static int compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct op_kind *)row)->name);
}

const struct op_kind *op_kind_find(const char *name)
{
	return bsearch(name, rows, N_KINDS, sizeof(rows[0]), compare_name);
}

const struct op_kind *op_kinds(uint32_t *n)
{
	*n = N_KINDS;
	return rows;
}

const char *const *op_kind_names(struct arena *a, uint32_t *n)
{
	const char **names = arena_array(a, N_KINDS, const char *);
	for (uint32_t i = 0; i < N_KINDS; i++)
		names[i] = rows[i].name;
	*n = N_KINDS;
	return names;
}
