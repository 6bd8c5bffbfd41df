/* Operators of ONNX one by one: shapes, folding, what counts as trained. */
#include "graph/onnx_internal.h"
#include "onnx_case.h"

static void test_table(void)
{
	size_t n;
	const struct onnx_op *ops = onnx_ops(&n);
	for (size_t i = 0; i < n; i++) {
		CU_ASSERT(i == 0 || strcmp(ops[i - 1].name, ops[i].name) < 0);
		CU_ASSERT(ops[i].fold || ops[i].build);
		CU_ASSERT(ops[i].min_in <= ops[i].max_in);
		CU_ASSERT(!ops[i].kind || op_kind_find(ops[i].kind));
		CU_ASSERT_PTR_EQUAL(onnx_find_op(ops[i].name), &ops[i]);
	}
	CU_ASSERT_PTR_NULL(onnx_find_op("Conw"));
}

static void window_case(struct onnx_case *c, const char *op, int64_t side)
{
	case_init(c);
	maker_input(&c->m, "x", DIMS(1, 2, side, side));
	if (strcmp(op, "Conv") == 0)
		maker_weight(&c->m, "w", DIMS(4, 2, 3, 3));
	maker_node(&c->m, op, "node", strcmp(op, "Conv") == 0 ? "x w" : "x", "y");
	if (strcmp(op, "Conv") != 0)
		maker_ints(&c->m, "kernel_shape", DIMS(3, 3));
	maker_output(&c->m, "y");
}

/* SAME: the output is ceil(in / stride); an odd element of padding goes where the name says. */
static void test_auto_pad(void)
{
	for (int upper = 0; upper < 2; upper++) {
		struct onnx_case c;
		window_case(&c, "Conv", 8);
		maker_string(&c.m, "auto_pad", upper ? "SAME_UPPER" : "SAME_LOWER");
		maker_ints(&c.m, "strides", DIMS(2, 2));
		CU_ASSERT_FATAL(case_read(&c));
		CU_ASSERT(case_shape(&c, "node", DIMS(1, 4, 4, 4)));
		const struct op_attrs *a = case_op(&c, "node")->attrs;
		CU_ASSERT_EQUAL(a->pad_begin[0], upper ? 0 : 1);
		CU_ASSERT_EQUAL(a->pad_end[0], upper ? 1 : 0);
		case_finish(&c);
	}
	struct onnx_case c;
	window_case(&c, "Conv", 8);
	maker_string(&c.m, "auto_pad", "VALID");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT(case_shape(&c, "node", DIMS(1, 4, 6, 6)));
	case_finish(&c);
}

/* (6 - 3) / 2 + 1 is 2 with floor, 3 with ceil. With stride 4 the third window starts at 8: inside
 * 9 elements, outside 8. */
static void test_ceil_mode(void)
{
	static const struct {
		int64_t side, stride, ceil, out;
	} rows[] = {
		{6, 2, 0, 2}, {6, 2, 1, 3}, {7, 2, 1, 3}, {9, 4, 0, 2}, {9, 4, 1, 3}, {8, 4, 1, 2}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct onnx_case c;
		window_case(&c, i % 2 ? "MaxPool" : "AveragePool", rows[i].side);
		maker_ints(&c.m, "strides", DIMS(rows[i].stride, rows[i].stride));
		maker_int(&c.m, "ceil_mode", rows[i].ceil);
		CU_ASSERT_FATAL(case_read(&c));
		CU_ASSERT(case_shape(&c, "node", DIMS(1, 2, rows[i].out, rows[i].out)));
		case_finish(&c);
	}
}

static void test_ceil_mode_starts_inside(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(1, 2, 5, 5));
	maker_node(&c.m, "MaxPool", "node", "x", "y");
	maker_ints(&c.m, "kernel_shape", DIMS(2, 2));
	maker_ints(&c.m, "strides", DIMS(3, 3));
	maker_ints(&c.m, "pads", DIMS(0, 0, 1, 1));
	maker_int(&c.m, "ceil_mode", 1);
	CU_ASSERT_FATAL(case_read(&c));
	/* Padded to 6: starts 0 and 3; a third would start at 6, beyond the 5 that there are. */
	CU_ASSERT(case_shape(&c, "node", DIMS(1, 2, 2, 2)));
	case_finish(&c);
}

static void test_dilation_and_group(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(2, 6, 12, 10));
	maker_weight(&c.m, "w", DIMS(9, 2, 3, 3));
	maker_weight(&c.m, "b", DIMS(9));
	maker_node(&c.m, "Conv", "conv", "x w b", "y");
	maker_int(&c.m, "group", 3);
	maker_ints(&c.m, "dilations", DIMS(2, 1));
	maker_ints(&c.m, "pads", DIMS(1, 0, 2, 0));
	maker_output(&c.m, "y");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT(case_shape(&c, "conv", DIMS(2, 9, 11, 8)));
	const struct work *w = &case_op(&c, "conv")->work;
	CU_ASSERT_EQUAL(w->batch, 3);
	CU_ASSERT_EQUAL(w->m, 176);
	CU_ASSERT_EQUAL(w->n, 3);
	CU_ASSERT_EQUAL(w->k, 18);
	CU_ASSERT_EQUAL(c.graph.parameters, 9 * 2 * 9 + 9);
	case_finish(&c);
}

/* [N,3,4,4] flattened by Shape, Gather, Unsqueeze and Concat, as PyTorch writes
 * x.view(x.size(0), -1). */
static void test_shape_arithmetic(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(-1, 3, 4, 4));
	maker_open(&c.m, 0, "N");
	maker_node(&c.m, "Shape", "", "x", "shape");
	maker_list(&c.m, "zero", DIMS(0));
	c.m.graph.initializer[0]->n_dims = 0;
	maker_node(&c.m, "Gather", "", "shape zero", "n");
	maker_node(&c.m, "Unsqueeze", "", "n", "n1");
	maker_ints(&c.m, "axes", DIMS(0));
	maker_list(&c.m, "rest", DIMS(-1));
	maker_node(&c.m, "Concat", "", "n1 rest", "target");
	maker_int(&c.m, "axis", 0);
	maker_node(&c.m, "Reshape", "view", "x target", "flat");
	maker_weight(&c.m, "w", DIMS(48, 10));
	maker_node(&c.m, "MatMul", "fc", "flat w", "y");
	maker_output(&c.m, "y");
	c.options.dims = &(struct graph_override){"N", 5};
	c.options.n_dims = 1;
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.batch, 5);
	CU_ASSERT_EQUAL(c.graph.n_ops, 2);
	CU_ASSERT(case_shape(&c, "view", DIMS(5, 48)));
	const struct op *fc = case_op(&c, "fc");
	CU_ASSERT_STRING_EQUAL(op_kind_name(fc->kind), "gemm");
	CU_ASSERT_EQUAL(fc->work.m, 5);
	CU_ASSERT_EQUAL(fc->work.n, 10);
	CU_ASSERT_EQUAL(fc->work.k, 48);
	case_finish(&c);
}

/* (2 * 3 + 4 - 2) / 2 = 4, cut out of a list and cast back and forth. */
static void test_whole_numbers(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(1, 8));
	maker_list(&c.m, "l", DIMS(9, 2, 3, 4));
	maker_node(&c.m, "Slice", "", "l", "two");
	maker_ints(&c.m, "starts", DIMS(1));
	maker_ints(&c.m, "ends", DIMS(2));
	maker_node(&c.m, "Slice", "", "l", "three");
	maker_ints(&c.m, "starts", DIMS(-2));
	maker_ints(&c.m, "ends", DIMS(-1));
	maker_node(&c.m, "Slice", "", "l", "four");
	maker_ints(&c.m, "starts", DIMS(3));
	maker_ints(&c.m, "ends", DIMS(INT64_MAX));
	maker_node(&c.m, "Mul", "", "two three", "six");
	maker_node(&c.m, "Add", "", "six four", "ten");
	maker_node(&c.m, "Sub", "", "ten two", "eight");
	maker_node(&c.m, "Div", "", "eight two", "result");
	maker_node(&c.m, "Cast", "", "result", "cast");
	maker_int(&c.m, "to", ONNX__TENSOR_PROTO__DATA_TYPE__INT32);
	maker_node(&c.m, "Concat", "", "cast two", "target");
	maker_int(&c.m, "axis", 0);
	maker_node(&c.m, "Reshape", "view", "x target", "y");
	maker_output(&c.m, "y");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT(case_shape(&c, "view", DIMS(4, 2)));
	case_finish(&c);
}

static void test_movers(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(2, 3, 1, 8));
	maker_node(&c.m, "Transpose", "reversed", "x", "t");
	maker_node(&c.m, "Transpose", "perm", "x", "p");
	maker_ints(&c.m, "perm", DIMS(0, 2, 3, 1));
	maker_node(&c.m, "Flatten", "flat0", "x", "f0");
	maker_int(&c.m, "axis", 0);
	maker_node(&c.m, "Flatten", "flat2", "x", "f2");
	maker_int(&c.m, "axis", -2);
	maker_node(&c.m, "Squeeze", "squeeze", "x", "q");
	maker_ints(&c.m, "axes", DIMS(-2));
	maker_node(&c.m, "Unsqueeze", "unsqueeze", "q", "u");
	maker_ints(&c.m, "axes", DIMS(4, 0));
	maker_node(&c.m, "Slice", "slice", "x", "s");
	maker_ints(&c.m, "starts", DIMS(1, -6));
	maker_ints(&c.m, "ends", DIMS(100, 7));
	maker_ints(&c.m, "axes", DIMS(1, -1));
	maker_node(&c.m, "Concat", "concat", "x x x", "k");
	maker_int(&c.m, "axis", -1);
	maker_node(&c.m, "Split", "split", "x", "a b c");
	maker_int(&c.m, "axis", 3);
	maker_output(&c.m, "k");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT(case_shape(&c, "reversed", DIMS(8, 1, 3, 2)));
	CU_ASSERT(case_shape(&c, "perm", DIMS(2, 1, 8, 3)));
	CU_ASSERT(case_shape(&c, "flat0", DIMS(1, 48)));
	CU_ASSERT(case_shape(&c, "flat2", DIMS(6, 8)));
	CU_ASSERT(case_shape(&c, "squeeze", DIMS(2, 3, 8)));
	CU_ASSERT(case_shape(&c, "unsqueeze", DIMS(1, 2, 3, 8, 1)));
	CU_ASSERT(case_shape(&c, "slice.axis3", DIMS(2, 2, 1, 5)));
	CU_ASSERT(case_shape(&c, "concat", DIMS(2, 3, 1, 24)));
	const struct op *split = case_op(&c, "split");
	CU_ASSERT_EQUAL(split->n_outputs, 3);
	CU_ASSERT_EQUAL(c.graph.tensors[split->outputs[0]].dims[3], 3);
	CU_ASSERT_EQUAL(c.graph.tensors[split->outputs[2]].dims[3], 2);
	case_finish(&c);
}

static void test_reshape(void)
{
	static const struct {
		int64_t target[3], out[3];
	} rows[] = {{{0, -1, 4}, {2, 6, 4}}, {{-1, 0, 2}, {6, 4, 2}}, {{4, 4, 3}, {4, 4, 3}}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct onnx_case c;
		case_init(&c);
		maker_input(&c.m, "x", DIMS(2, 4, 6));
		maker_list(&c.m, "to", rows[i].target, 3);
		maker_node(&c.m, "Reshape", "view", "x to", "y");
		maker_output(&c.m, "y");
		CU_ASSERT_FATAL(case_read(&c));
		CU_ASSERT(case_shape(&c, "view", rows[i].out, 3));
		case_finish(&c);
	}
}

/* Targets that start with the batch of the file follow another batch, also those with an open
 * dimension. */
static void test_reshape_follows_batch(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(2, 4, 6));
	maker_list(&c.m, "to", DIMS(2, 24));
	maker_node(&c.m, "Reshape", "fixed", "x to", "a");
	maker_list(&c.m, "rest", DIMS(2, -1, 3));
	maker_node(&c.m, "Reshape", "rest", "x rest", "b");
	maker_output(&c.m, "a");
	maker_output(&c.m, "b");
	c.options.batch = 7;
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT(case_shape(&c, "fixed", DIMS(7, 24)));
	CU_ASSERT(case_shape(&c, "rest", DIMS(7, 8, 3)));
	CU_ASSERT_EQUAL(c.graph.batch, 7);
	case_finish(&c);
}

/* Weights behind Identity, Reshape and Transpose are weights; the name of a shared one counts
 * once. */
static void test_weight_views(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(3, 12));
	maker_weight(&c.m, "w", DIMS(2, 6, 12));
	maker_list(&c.m, "to", DIMS(12, 12));
	maker_node(&c.m, "Reshape", "", "w to", "w2");
	maker_node(&c.m, "Transpose", "", "w2", "w3");
	maker_node(&c.m, "Identity", "", "w3", "w4");
	maker_node(&c.m, "MatMul", "one", "x w3", "y");
	maker_node(&c.m, "MatMul", "two", "y w4", "z");
	maker_output(&c.m, "z");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.n_ops, 2);
	CU_ASSERT_EQUAL(c.graph.parameters, 144);
	CU_ASSERT_EQUAL(case_op(&c, "one")->inputs[1], case_op(&c, "two")->inputs[1]);
	case_finish(&c);
}

/* A language model whose last product reads the transposed table of its first lookup. */
static void test_tied_weights(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "ids", DIMS(2, 6));
	maker_weight(&c.m, "table", DIMS(100, 8));
	maker_node(&c.m, "Gather", "embed", "table ids", "x");
	maker_node(&c.m, "Transpose", "", "table", "turned");
	maker_node(&c.m, "MatMul", "head", "x turned", "y");
	maker_output(&c.m, "y");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.parameters, 800);
	CU_ASSERT_EQUAL(case_op(&c, "embed")->inputs[1], case_op(&c, "head")->inputs[1]);
	CU_ASSERT(case_shape(&c, "head", DIMS(2, 6, 100)));
	CU_ASSERT(case_op(&c, "head")->attrs->transpose_b);
	case_finish(&c);
}

static void test_trained(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(1, 4, 5, 5));
	maker_weight(&c.m, "bias", DIMS(4, 1, 1));
	maker_weight(&c.m, "three", NULL, 0);
	maker_weight(&c.m, "grid", DIMS(1, 1, 5, 5));
	maker_node(&c.m, "Add", "bias", "x bias", "a");
	maker_node(&c.m, "Mul", "three", "a three", "b");
	maker_node(&c.m, "Add", "grid", "b grid", "d");
	maker_output(&c.m, "d");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.parameters, 4);
	CU_ASSERT_EQUAL(c.graph.tensors[case_op(&c, "bias")->inputs[1]].class, TENSOR_PARAM);
	CU_ASSERT_EQUAL(c.graph.tensors[case_op(&c, "three")->inputs[1]].class, TENSOR_CONST);
	CU_ASSERT_EQUAL(c.graph.tensors[case_op(&c, "grid")->inputs[1]].class, TENSOR_CONST);
	case_finish(&c);
}

/* Operator set 9: [2,3,4,5] from axis 2 on is 6 rows of 20. Set 13: axis 2 alone. */
static void test_softmax(void)
{
	for (int set = 9; set <= 13; set += 4) {
		struct onnx_case c;
		case_init(&c);
		c.m.set.version = set;
		maker_input(&c.m, "x", DIMS(2, 3, 4, 5));
		maker_node(&c.m, "Softmax", "softmax", "x", "y");
		maker_int(&c.m, "axis", 2);
		maker_output(&c.m, "y");
		CU_ASSERT_FATAL(case_read(&c));
		const struct work *w = &case_op(&c, "softmax")->work;
		CU_ASSERT_EQUAL_FATAL(w->n_vector, 1);
		CU_ASSERT_EQUAL(w->vector[0].numel, 120);
		CU_ASSERT_EQUAL(w->vector[0].row, set == 9 ? 20 : 4);
		CU_ASSERT(case_shape(&c, set == 9 ? "softmax.shape" : "softmax", DIMS(2, 3, 4, 5)));
		case_finish(&c);
	}
}

/* One head of attention on [2,6,8], with token ids through a table of 100 rows. */
static void test_attention(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "ids", DIMS(2, 6));
	c.m.graph.input[0]->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	maker_weight(&c.m, "table", DIMS(100, 8));
	maker_node(&c.m, "Gather", "embed", "table ids", "x");
	maker_node(&c.m, "Transpose", "turn", "x", "xt");
	maker_ints(&c.m, "perm", DIMS(0, 2, 1));
	maker_node(&c.m, "MatMul", "scores", "x xt", "s");
	maker_node(&c.m, "Softmax", "softmax", "s", "p");
	maker_int(&c.m, "axis", -1);
	maker_node(&c.m, "MatMul", "context", "p x", "o");
	maker_list(&c.m, "zero", DIMS(0));
	c.m.graph.initializer[1]->n_dims = 0;
	maker_node(&c.m, "Gather", "first", "o zero", "cls");
	maker_int(&c.m, "axis", 1);
	maker_node(&c.m, "ReduceMean", "mean", "o", "avg");
	maker_ints(&c.m, "axes", DIMS(-1, -2));
	maker_int(&c.m, "keepdims", 0);
	maker_output(&c.m, "cls");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.parameters, 800);
	CU_ASSERT_EQUAL(c.graph.tokens_per_sample, 6);
	CU_ASSERT_EQUAL(c.graph.tensors[case_op(&c, "embed")->inputs[0]].elem_bytes, 8);
	CU_ASSERT(case_shape(&c, "embed", DIMS(2, 6, 8)));
	const struct work *w = &case_op(&c, "scores")->work;
	CU_ASSERT_EQUAL(w->batch, 2);
	CU_ASSERT_EQUAL(w->m, 6);
	CU_ASSERT_EQUAL(w->n, 6);
	CU_ASSERT_EQUAL(w->k, 8);
	CU_ASSERT(case_shape(&c, "first", DIMS(2, 8)));
	CU_ASSERT(case_shape(&c, "mean", DIMS(2)));
	case_finish(&c);
}

/* Three summands make two additions; a node without a name and one with a name that is taken
 * get their own. */
static void test_sum_and_names(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(2, 3));
	maker_input(&c.m, "y", DIMS(2, 3));
	maker_node(&c.m, "Sum", "sum", "x y x", "a");
	maker_node(&c.m, "Relu", "", "a", "b");
	maker_node(&c.m, "Relu", "sum", "b", "d");
	maker_node(&c.m, "Dropout", "drop", "d", "e -");
	maker_node(&c.m, "Sum", "alone", "e", "f");
	maker_node(&c.m, "Identity", "same", "f", "g");
	maker_output(&c.m, "g");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL_FATAL(c.graph.n_ops, 5);
	CU_ASSERT_STRING_EQUAL(c.graph.ops[0].name, "sum.1");
	CU_ASSERT_STRING_EQUAL(c.graph.ops[1].name, "sum");
	CU_ASSERT_STRING_EQUAL(c.graph.ops[2].name, "Relu.1");
	CU_ASSERT_STRING_EQUAL(c.graph.ops[3].name, "Relu.2");
	CU_ASSERT_EQUAL(c.graph.n_layers, 1);
	CU_ASSERT_STRING_EQUAL(c.graph.layer_names[0], "sum.1");
	case_finish(&c);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"table is sorted and complete", test_table},
		{"auto_pad", test_auto_pad},
		{"ceil_mode", test_ceil_mode},
		{"ceil_mode keeps windows inside", test_ceil_mode_starts_inside},
		{"dilation, padding, groups", test_dilation_and_group},
		{"shape arithmetic is folded", test_shape_arithmetic},
		{"whole numbers", test_whole_numbers},
		{"moving data", test_movers},
		{"Reshape", test_reshape},
		{"Reshape follows the batch", test_reshape_follows_batch},
		{"views of weights", test_weight_views},
		{"tied weights", test_tied_weights},
		{"what is trained", test_trained},
		{"Softmax by operator set", test_softmax},
		{"attention", test_attention},
		{"Sum and names", test_sum_and_names},
		CU_TEST_INFO_NULL,
	};
	return suite_run("onnx_ops", tests);
}
