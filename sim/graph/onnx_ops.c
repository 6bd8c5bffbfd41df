#include "graph/onnx_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 4096 };

/* Clip, LeakyRelu and ThresholdedRelu are comparisons, which cost what relu costs. A Cast is free.
 * Mod costs a division, Min what Max costs, the norms and products of a reduction what its sum
 * costs. What is folded needs no kind of its own, what is built by a function with several kinds
 * neither. */
// clang-format off
static const struct onnx_op op_table[] = {
	{"Abs", "abs", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"Add", "add", TRAINED_CHANNEL, 2, 2, onnx_fold_math, onnx_build_all},
	{"And", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"ArgMax", "arg_max", TRAINED_NONE, 1, 1, NULL, onnx_build_reduce},
	{"ArgMin", "arg_max", TRAINED_NONE, 1, 1, NULL, onnx_build_reduce},
	{"AveragePool", "avg_pool", TRAINED_NONE, 1, 1, NULL, onnx_build_pool},
	{"BatchNormalization", "batch_norm", TRAINED_WEIGHTS, 5, 5, NULL, onnx_build_all},
	{"Cast", NULL, TRAINED_NONE, 1, 1, onnx_fold_cast, NULL},
	{"CastLike", NULL, TRAINED_NONE, 2, 2, onnx_fold_cast, NULL},
	{"Ceil", "round", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"Celu", "elu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Clip", "relu", TRAINED_NONE, 1, 3, onnx_fold_same, onnx_build_first},
	{"Concat", "concat", TRAINED_NONE, 1, MANY, onnx_fold_concat, onnx_build_concat},
	{"Constant", NULL, TRAINED_NONE, 0, 0, onnx_fold_constant, NULL},
	{"ConstantOfShape", NULL, TRAINED_NONE, 1, 1, onnx_fold_filled, NULL},
	{"Conv", "conv", TRAINED_WEIGHTS, 2, 3, NULL, onnx_build_conv},
	{"ConvTranspose", "conv_transpose", TRAINED_WEIGHTS, 2, 3, NULL, onnx_build_conv_transpose},
	{"Cos", "cos", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"CumSum", "cum_sum", TRAINED_NONE, 2, 2, NULL, onnx_build_first},
	{"DepthToSpace", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_depth},
	{"Div", "div", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"Dropout", "dropout", TRAINED_NONE, 1, 3, NULL, onnx_build_first},
	{"Einsum", NULL, TRAINED_ANY, 1, 8, NULL, onnx_build_einsum},
	{"Elu", "elu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Equal", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"Erf", "erf", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Exp", "exp", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"Expand", NULL, TRAINED_NONE, 2, 2, NULL, onnx_build_expand},
	{"EyeLike", NULL, TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_in_place},
	{"Flatten", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_flatten},
	{"Floor", "round", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"GRU", NULL, TRAINED_WEIGHTS, 3, 6, NULL, onnx_build_gru},
	{"Gather", NULL, TRAINED_WEIGHTS, 2, 2, onnx_fold_gather, onnx_build_gather},
	{"GatherElements", NULL, TRAINED_NONE, 2, 2, NULL, onnx_build_index_shape},
	{"GatherND", NULL, TRAINED_NONE, 2, 2, NULL, onnx_build_gather_nd},
	{"Gelu", "gelu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_gelu},
	{"Gemm", "gemm", TRAINED_WEIGHTS, 2, 3, NULL, onnx_build_gemm},
	{"GlobalAveragePool", "global_avg_pool", TRAINED_NONE, 1, 1, NULL, onnx_build_all},
	{"GlobalMaxPool", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_global_max},
	{"Greater", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"GreaterOrEqual", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"HardSigmoid", "hard_sigmoid", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"HardSwish", "hard_swish", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Identity", NULL, TRAINED_NONE, 1, 1, onnx_fold_identity, NULL},
	{"If", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_if},
	{"InstanceNormalization", NULL, TRAINED_WEIGHTS, 3, 3, NULL, onnx_build_norm},
	{"IsInf", "compare", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"IsNaN", "compare", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"LRN", "lrn", TRAINED_NONE, 1, 1, NULL, onnx_build_lrn},
	{"LSTM", NULL, TRAINED_WEIGHTS, 3, 8, NULL, onnx_build_lstm},
	{"LayerNormalization", "layer_norm", TRAINED_WEIGHTS, 2, 3, NULL, onnx_build_layer_norm},
	{"LeakyRelu", "relu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Less", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"LessOrEqual", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"Log", "log", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"LogSoftmax", "log_softmax", TRAINED_NONE, 1, 1, NULL, onnx_build_softmax},
	{"MatMul", NULL, TRAINED_ANY, 2, 2, NULL, onnx_build_matmul},
	{"Max", "maximum", TRAINED_NONE, 1, MANY, onnx_fold_math, onnx_build_sum},
	{"MaxPool", "max_pool", TRAINED_NONE, 1, 1, NULL, onnx_build_pool},
	{"Min", "maximum", TRAINED_NONE, 1, MANY, onnx_fold_math, onnx_build_sum},
	{"Mod", "div", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"Mul", "mul", TRAINED_CHANNEL, 2, 2, onnx_fold_math, onnx_build_all},
	{"Neg", "neg", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"Not", "compare", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"OneHot", NULL, TRAINED_NONE, 3, 3, NULL, onnx_build_one_hot},
	{"Or", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"PRelu", "prelu", TRAINED_WEIGHTS, 2, 2, NULL, onnx_build_all},
	{"Pad", NULL, TRAINED_NONE, 1, 4, NULL, onnx_build_pad},
	{"Pow", "pow", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"RNN", NULL, TRAINED_WEIGHTS, 3, 6, NULL, onnx_build_rnn},
	{"Range", NULL, TRAINED_NONE, 3, 3, onnx_fold_range, NULL},
	{"Reciprocal", "reciprocal", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"ReduceL1", "reduce_sum", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceL2", "reduce_sum", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceLogSumExp", "reduce_sum", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceMax", "reduce_max", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceMean", "reduce_mean", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceMin", "reduce_max", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceProd", "reduce_sum", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceSum", "reduce_sum", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"ReduceSumSquare", "reduce_sum", TRAINED_NONE, 1, 2, onnx_fold_reduce, onnx_build_reduce},
	{"Relu", "relu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Reshape", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_reshape},
	{"Resize", NULL, TRAINED_NONE, 1, 4, NULL, onnx_build_resize},
	{"Round", "round", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"ScatterElements", NULL, TRAINED_NONE, 3, 3, NULL, onnx_build_in_place},
	{"ScatterND", NULL, TRAINED_NONE, 3, 3, NULL, onnx_build_in_place},
	{"Selu", "elu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Shape", NULL, TRAINED_NONE, 1, 1, onnx_fold_shape, NULL},
	{"Sigmoid", "sigmoid", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Sign", "round", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Sin", "sin", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Size", NULL, TRAINED_NONE, 1, 1, onnx_fold_size, NULL},
	{"Slice", NULL, TRAINED_NONE, 1, 5, NULL, onnx_build_slice},
	{"Softmax", "softmax", TRAINED_NONE, 1, 1, NULL, onnx_build_softmax},
	{"Softplus", "softplus", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"SpaceToDepth", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_depth},
	{"Split", "split", TRAINED_NONE, 1, 2, NULL, onnx_build_split},
	{"Sqrt", "sqrt", TRAINED_NONE, 1, 1, onnx_fold_math, onnx_build_all},
	{"Squeeze", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_squeeze},
	{"Sub", "sub", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
	{"Sum", "add", TRAINED_CHANNEL, 1, MANY, onnx_fold_math, onnx_build_sum},
	{"Tanh", "tanh", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"ThresholdedRelu", "relu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Tile", NULL, TRAINED_NONE, 2, 3, NULL, onnx_build_tile},
	{"TopK", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_top_k},
	{"Transpose", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_transpose},
	{"Trilu", NULL, TRAINED_NONE, 1, 2, onnx_fold_same, onnx_build_in_place},
	{"Unsqueeze", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_unsqueeze},
	{"Upsample", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_resize},
	{"Where", "where", TRAINED_NONE, 3, 3, onnx_fold_where, onnx_build_all},
	{"Xor", "compare", TRAINED_NONE, 2, 2, onnx_fold_math, onnx_build_all},
};
// clang-format on

enum { N_OPS = sizeof(op_table) / sizeof(op_table[0]) };

static int compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct onnx_op *)row)->name);
}

const struct onnx_op *onnx_find_op(const char *name)
{
	return bsearch(name, op_table, N_OPS, sizeof(op_table[0]), compare_name);
}

const struct onnx_op *onnx_ops(size_t *n)
{
	*n = N_OPS;
	return op_table;
}
