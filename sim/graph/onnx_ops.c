#include "graph/onnx_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 4096 };

/* Clip and LeakyRelu are comparisons, which cost what relu costs. A Cast is free. What is
 * folded needs no kind of its own, what is built by a function with several kinds neither. */
// clang-format off
static const struct onnx_op op_table[] = {
	{"Add", "add", TRAINED_CHANNEL, 2, 2, onnx_fold_add, onnx_build_all},
	{"AveragePool", "avg_pool", TRAINED_NONE, 1, 1, NULL, onnx_build_pool},
	{"BatchNormalization", "batch_norm", TRAINED_WEIGHTS, 5, 5, NULL, onnx_build_all},
	{"Cast", NULL, TRAINED_NONE, 1, 1, onnx_fold_cast, NULL},
	{"Clip", "relu", TRAINED_NONE, 1, 3, onnx_fold_same, onnx_build_first},
	{"Concat", "concat", TRAINED_NONE, 1, MANY, onnx_fold_concat, onnx_build_concat},
	{"Constant", NULL, TRAINED_NONE, 0, 0, onnx_fold_constant, NULL},
	{"ConstantOfShape", NULL, TRAINED_NONE, 1, 1, onnx_fold_filled, NULL},
	{"Conv", "conv", TRAINED_WEIGHTS, 2, 3, NULL, onnx_build_conv},
	{"Div", "div", TRAINED_NONE, 2, 2, onnx_fold_div, onnx_build_all},
	{"Dropout", "dropout", TRAINED_NONE, 1, 3, NULL, onnx_build_first},
	{"Erf", "erf", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Flatten", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_flatten},
	{"Gather", NULL, TRAINED_WEIGHTS, 2, 2, onnx_fold_gather, onnx_build_gather},
	{"Gelu", "gelu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Gemm", "gemm", TRAINED_WEIGHTS, 2, 3, NULL, onnx_build_gemm},
	{"GlobalAveragePool", "global_avg_pool", TRAINED_NONE, 1, 1, NULL, onnx_build_all},
	{"HardSigmoid", "hard_sigmoid", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"HardSwish", "hard_swish", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Identity", NULL, TRAINED_NONE, 1, 1, onnx_fold_identity, NULL},
	{"LRN", "lrn", TRAINED_NONE, 1, 1, NULL, onnx_build_lrn},
	{"LayerNormalization", "layer_norm", TRAINED_WEIGHTS, 2, 3, NULL, onnx_build_layer_norm},
	{"LeakyRelu", "relu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"LogSoftmax", "log_softmax", TRAINED_NONE, 1, 1, NULL, onnx_build_softmax},
	{"MatMul", NULL, TRAINED_ANY, 2, 2, NULL, onnx_build_matmul},
	{"MaxPool", "max_pool", TRAINED_NONE, 1, 1, NULL, onnx_build_pool},
	{"Mul", "mul", TRAINED_CHANNEL, 2, 2, onnx_fold_mul, onnx_build_all},
	{"Neg", "neg", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Pow", "pow", TRAINED_NONE, 2, 2, onnx_fold_same, onnx_build_all},
	{"ReduceMean", "reduce_mean", TRAINED_NONE, 1, 2, NULL, onnx_build_reduce_mean},
	{"Relu", "relu", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Reshape", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_reshape},
	{"Shape", NULL, TRAINED_NONE, 1, 1, onnx_fold_shape, NULL},
	{"Sigmoid", "sigmoid", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Slice", NULL, TRAINED_NONE, 1, 5, NULL, onnx_build_slice},
	{"Softmax", "softmax", TRAINED_NONE, 1, 1, NULL, onnx_build_softmax},
	{"Split", "split", TRAINED_NONE, 1, 2, NULL, onnx_build_split},
	{"Sqrt", "sqrt", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Squeeze", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_squeeze},
	{"Sub", "sub", TRAINED_NONE, 2, 2, onnx_fold_sub, onnx_build_all},
	{"Sum", "add", TRAINED_CHANNEL, 1, MANY, NULL, onnx_build_sum},
	{"Tanh", "tanh", TRAINED_NONE, 1, 1, onnx_fold_same, onnx_build_all},
	{"Transpose", NULL, TRAINED_NONE, 1, 1, NULL, onnx_build_transpose},
	{"Unsqueeze", NULL, TRAINED_NONE, 1, 2, NULL, onnx_build_unsqueeze},
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
