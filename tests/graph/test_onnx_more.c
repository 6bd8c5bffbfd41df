/* ONNX operators beside those of plain image classifiers: detection, speech, language. */
#include "onnx_case.h"

/* One node on inputs and lists; the shape of its first output. */
static void one_node(struct onnx_case *c, const char *op, const char *inputs)
{
	maker_node(&c->m, op, "node", inputs, "y");
}

static void expect(struct onnx_case *c, const int64_t *dims, size_t n)
{
	bool ok = case_read(c);
	if (!ok)
		printf("\n  %s\n", c->err.text);
	CU_ASSERT_FATAL(ok);
	CU_ASSERT(case_shape(c, "node", dims, n));
}

static void begin(struct onnx_case *c, const int64_t *dims, size_t n)
{
	case_init(c);
	c->m.set.version = 13;
	maker_input(&c->m, "x", dims, n);
}

static void test_conv_transpose(void)
{
	static const struct {
		int64_t kernel, stride, pad, more, out;
	} rows[] = {{2, 2, 0, 0, 14}, {3, 2, 1, 1, 14}, {3, 2, 1, 0, 13}, {4, 2, 1, 0, 14},
		{3, 1, 1, 0, 7}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct onnx_case c;
		int64_t k = rows[i].kernel;
		begin(&c, DIMS(2, 6, 7, 7));
		maker_weight(&c.m, "w", DIMS(6, 4, k, k));
		maker_weight(&c.m, "b", DIMS(4));
		one_node(&c, "ConvTranspose", "x w b");
		maker_ints(&c.m, "strides", DIMS(rows[i].stride, rows[i].stride));
		maker_ints(&c.m, "pads", DIMS(rows[i].pad, rows[i].pad, rows[i].pad, rows[i].pad));
		maker_ints(&c.m, "output_padding", DIMS(rows[i].more, rows[i].more));
		expect(&c, DIMS(2, 4, rows[i].out, rows[i].out));
		const struct work *w = &case_op(&c, "node")->work;
		CU_ASSERT_EQUAL(w->m, 2 * 49);
		CU_ASSERT_EQUAL(w->k, 6);
		CU_ASSERT_EQUAL(w->n, (uint64_t)(4 * k * k));
		CU_ASSERT_EQUAL(c.graph.parameters, (uint64_t)(6 * 4 * k * k + 4));
		case_finish(&c);
	}
}

static void test_one_dimension(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 8, 100));
	maker_weight(&c.m, "w", DIMS(16, 8, 5));
	one_node(&c, "Conv", "x w");
	maker_ints(&c.m, "strides", DIMS(2));
	maker_ints(&c.m, "pads", DIMS(2, 2));
	expect(&c, DIMS(2, 16, 50));
	const struct work *w = &case_op(&c, "node.window")->work;
	CU_ASSERT_EQUAL(w->m, 100);
	CU_ASSERT_EQUAL(w->n, 16);
	CU_ASSERT_EQUAL(w->k, 40);
	CU_ASSERT_EQUAL(w->conv.kernel_w, 5);
	CU_ASSERT_EQUAL(w->conv.stride_w, 2);
	CU_ASSERT_EQUAL(c.graph.parameters, 640);
	case_finish(&c);
	begin(&c, DIMS(2, 8, 100));
	one_node(&c, "MaxPool", "x");
	maker_ints(&c.m, "kernel_shape", DIMS(4));
	maker_ints(&c.m, "strides", DIMS(4));
	expect(&c, DIMS(2, 8, 25));
	case_finish(&c);
}

static void test_resize(void)
{
	struct onnx_case c;
	begin(&c, DIMS(1, 3, 10, 20));
	maker_reals(&c.m, "scales", (const double[]){1, 1, 2, 1.5}, 4);
	one_node(&c, "Resize", "x - scales");
	maker_string(&c.m, "mode", "linear");
	expect(&c, DIMS(1, 3, 20, 30));
	CU_ASSERT_EQUAL(case_op(&c, "node")->attrs->kernel[0], 4); /* two neighbours a side */
	case_finish(&c);
	begin(&c, DIMS(1, 3, 10, 20));
	maker_list(&c.m, "sizes", DIMS(1, 3, 7, 9));
	one_node(&c, "Resize", "x - - sizes");
	maker_string(&c.m, "mode", "nearest");
	expect(&c, DIMS(1, 3, 7, 9));
	CU_ASSERT_EQUAL(case_op(&c, "node")->work.vector[0].lane_cycles, 1);
	case_finish(&c);
	begin(&c, DIMS(1, 3, 10, 20));
	maker_reals(&c.m, "scales", (const double[]){1, 1, 2, 2}, 4);
	one_node(&c, "Upsample", "x scales");
	expect(&c, DIMS(1, 3, 20, 40));
	case_finish(&c);
	begin(&c, DIMS(1, 3, 10, 20));
	one_node(&c, "Resize", "x - x");
	case_fails(&c, ERR_INPUT, "node 'node' (Resize): scales or sizes must be known");
}

static void test_parts(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 10, 6));
	maker_list(&c.m, "from", DIMS(9, 1));
	maker_list(&c.m, "to", DIMS(-100, 6));
	maker_list(&c.m, "axes", DIMS(1, 2));
	maker_list(&c.m, "steps", DIMS(-3, 2));
	maker_node(&c.m, "Slice", "slice", "x from to axes steps", "s");
	one_node(&c, "Relu", "s");
	expect(&c, DIMS(2, 4, 3)); /* 9 6 3 0; 1 3 5 */
	const struct op_attrs *a = case_op(&c, "slice.axis1")->attrs;
	CU_ASSERT_EQUAL(a->begin, 0);
	CU_ASSERT_EQUAL(a->end, 10);
	CU_ASSERT_EQUAL(a->stride[0], 3);
	case_finish(&c);
	begin(&c, DIMS(2, 10, 6));
	maker_list(&c.m, "index", DIMS(0, 3, 3, 9));
	one_node(&c, "Gather", "x index");
	maker_int(&c.m, "axis", 1);
	expect(&c, DIMS(2, 4, 6));
	case_finish(&c);
	begin(&c, DIMS(2, 10, 6));
	maker_list(&c.m, "pads", DIMS(0, 1, 0, 0, 2, 3));
	one_node(&c, "Pad", "x pads");
	maker_string(&c.m, "mode", "reflect");
	expect(&c, DIMS(2, 13, 9));
	case_finish(&c);
	begin(&c, DIMS(2, 10, 6));
	maker_list(&c.m, "k", DIMS(3));
	maker_node(&c.m, "TopK", "node", "x k", "y z");
	maker_int(&c.m, "axis", 1);
	expect(&c, DIMS(2, 3, 6));
	case_finish(&c);
	begin(&c, DIMS(2, 10, 6));
	maker_list(&c.m, "repeats", DIMS(1, 2, 3));
	one_node(&c, "Tile", "x repeats");
	expect(&c, DIMS(2, 20, 18));
	case_finish(&c);
	begin(&c, DIMS(2, 16, 6, 4));
	one_node(&c, "DepthToSpace", "x");
	maker_int(&c.m, "blocksize", 2);
	expect(&c, DIMS(2, 4, 12, 8));
	case_finish(&c);
}

static void test_reductions(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 3, 4, 5));
	one_node(&c, "ReduceMean", "x");
	maker_ints(&c.m, "axes", DIMS(1, 3));
	expect(&c, DIMS(2, 1, 4, 1));
	case_finish(&c);
	begin(&c, DIMS(2, 3, 4, 5));
	maker_list(&c.m, "axes", DIMS(0, 2));
	one_node(&c, "ReduceSum", "x axes");
	maker_int(&c.m, "keepdims", 0);
	expect(&c, DIMS(3, 5));
	case_finish(&c);
	begin(&c, DIMS(2, 3, 4, 5));
	one_node(&c, "ArgMax", "x");
	maker_int(&c.m, "axis", -1);
	maker_int(&c.m, "keepdims", 0);
	expect(&c, DIMS(2, 3, 4));
	CU_ASSERT_EQUAL(c.graph.tensors[case_op(&c, "node")->outputs[0]].elem_bytes, 8);
	case_finish(&c);
	begin(&c, DIMS(2, 8));
	maker_list(&c.m, "axis", DIMS(1));
	one_node(&c, "CumSum", "x axis");
	expect(&c, DIMS(2, 8));
	case_finish(&c);
}

/* A mask as exporters make it: which tokens there are, stretched over heads and rows, in place of
 * scores. */
static void test_mask(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 4, 6, 6));
	maker_input(&c.m, "mask", DIMS(2, 6));
	c.m.graph.input[1]->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	maker_list(&c.m, "axes", DIMS(1, 2));
	maker_list(&c.m, "zero", DIMS(0));
	maker_scalar(&c.m, "least", -3e38);
	maker_node(&c.m, "Unsqueeze", "wide", "mask axes", "m4");
	maker_node(&c.m, "Shape", "shape", "x", "s");
	maker_node(&c.m, "Expand", "stretch", "m4 s", "m");
	maker_node(&c.m, "Equal", "hidden", "m zero", "h");
	one_node(&c, "Where", "h least x");
	expect(&c, DIMS(2, 4, 6, 6));
	CU_ASSERT(case_shape(&c, "stretch", DIMS(2, 4, 6, 6)));
	CU_ASSERT_EQUAL(c.graph.tensors[case_op(&c, "hidden")->outputs[0]].elem_bytes, 1);
	CU_ASSERT_EQUAL(c.graph.parameters, 0);
	case_finish(&c);
}

static void test_einsum(void)
{
	static const struct {
		const char *equation;
		int64_t a[4], b[4], y[4];
		size_t n_a, n_b, n_y;
		uint64_t batch, m, n, k;
	} rows[] = {
		{"bhid,bhjd->bhij", {2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 5, 7}, 4, 4, 4, 6, 5, 7, 8},
		{"bhij, bhjd -> bhid", {2, 3, 5, 7}, {2, 3, 7, 8}, {2, 3, 5, 8}, 4, 4, 4, 6, 5, 8,
			7},
		{"bqhd,bkhd->bhqk", {2, 5, 3, 8}, {2, 7, 3, 8}, {2, 3, 5, 7}, 4, 4, 4, 6, 5, 7, 8},
		{"bhqk,bkhd->bqhd", {2, 3, 5, 7}, {2, 7, 3, 8}, {2, 5, 3, 8}, 4, 4, 4, 6, 5, 8, 7},
		{"ij,jk->ki", {4, 5}, {5, 6}, {6, 4}, 2, 2, 2, 1, 4, 6, 5},
		{"i,j->ij", {4}, {6}, {4, 6}, 1, 1, 2, 1, 4, 6, 1},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct onnx_case c;
		begin(&c, rows[i].a, rows[i].n_a);
		maker_input(&c.m, "b", rows[i].b, rows[i].n_b);
		maker_node(&c.m, "Einsum", "node", "x b", "e");
		maker_string(&c.m, "equation", rows[i].equation);
		maker_node(&c.m, "Relu", "relu", "e", "y");
		CU_ASSERT_FATAL(case_read(&c));
		CU_ASSERT(case_shape(&c, "relu", rows[i].y, rows[i].n_y));
		const struct work *w = &case_op(&c, "node.product")->work;
		CU_ASSERT_EQUAL(w->batch, rows[i].batch);
		CU_ASSERT_EQUAL(w->m, rows[i].m);
		CU_ASSERT_EQUAL(w->n, rows[i].n);
		CU_ASSERT_EQUAL(w->k, rows[i].k);
		case_finish(&c);
	}
	struct onnx_case c;
	begin(&c, DIMS(4, 5));
	maker_node(&c.m, "Einsum", "node", "x x", "e");
	maker_string(&c.m, "equation", "ii,ij->ij");
	case_fails(&c, ERR_INPUT, "the equation 'ii,ij->ij' is not supported");
}

/* Steps 7, batch 2, 5 inputs, 4 hidden; W, R and both biases. */
static void test_recurrent(void)
{
	static const struct {
		const char *op, *cell;
		int64_t gates, directions;
	} rows[] = {{"LSTM", "lstm_cell", 4, 1}, {"LSTM", "lstm_cell", 4, 2},
		{"GRU", "gru_cell", 3, 1}, {"GRU", "gru_cell", 3, 2}, {"RNN", "tanh", 1, 2}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct onnx_case c;
		int64_t g = rows[i].gates, d = rows[i].directions;
		begin(&c, DIMS(7, 2, 5));
		maker_weight(&c.m, "w", DIMS(d, g * 4, 5));
		maker_weight(&c.m, "r", DIMS(d, g * 4, 4));
		maker_weight(&c.m, "b", DIMS(d, g * 8));
		maker_node(&c.m, rows[i].op, "node", "x w r b", "y h");
		maker_int(&c.m, "hidden_size", 4);
		maker_node(&c.m, "Relu", "all", "y", "all");
		maker_node(&c.m, "Relu", "last", "h", "last");
		bool ok = case_read(&c);
		if (!ok)
			printf("\n  %s\n", c.err.text);
		CU_ASSERT_FATAL(ok);
		CU_ASSERT(case_shape(&c, "all", DIMS(7, d, 2, 4)));
		CU_ASSERT(case_shape(&c, "last", DIMS(d, 2, 4)));
		CU_ASSERT_EQUAL(c.graph.parameters, (uint64_t)(d * (g * 4 * (5 + 4) + g * 8)));
		CU_ASSERT_EQUAL(graph_macs(&c.graph, 1u << PASS_FORWARD),
			(uint64_t)(d * 7 * 2 * g * 4 * (5 + 4)));
		CU_ASSERT_EQUAL(c.graph.n_layers, 1);
		const char *cell = d > 1 ? "node.cell0" : "node.cell";
		CU_ASSERT_STRING_EQUAL(op_kind_name(case_op(&c, cell)->kind), rows[i].cell);
		case_finish(&c);
	}
}

/* A decoder waits for the state of its encoder. */
static void test_recurrent_state(void)
{
	struct onnx_case c;
	begin(&c, DIMS(7, 2, 4));
	maker_input(&c.m, "z", DIMS(3, 2, 4));
	maker_weight(&c.m, "w", DIMS(1, 16, 4));
	maker_weight(&c.m, "r", DIMS(1, 16, 4));
	maker_weight(&c.m, "w2", DIMS(1, 16, 4));
	maker_weight(&c.m, "r2", DIMS(1, 16, 4));
	maker_node(&c.m, "LSTM", "encoder", "x w r", "- h c");
	maker_node(&c.m, "LSTM", "decoder", "z w2 r2 - - h c", "y");
	c.m.graph.node[0]->output[0] = arena_strdup(&c.arena, "all");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.parameters, 4 * 64);
	const struct op *state = case_op(&c, "decoder.state");
	CU_ASSERT_EQUAL(state->n_inputs, 3);
	CU_ASSERT_EQUAL(c.graph.n_layers, 2);
	case_finish(&c);
}

static void test_norms(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 4, 6, 6));
	maker_reals(&c.m, "ones", (const double[]){1, 1, 1, 1}, 4);
	maker_reals(&c.m, "zeros", (const double[]){0, 0, 0, 0}, 4);
	one_node(&c, "InstanceNormalization", "x ones zeros");
	expect(&c, DIMS(2, 4, 6, 6));
	CU_ASSERT_EQUAL(c.graph.parameters, 0); /* a group norm in disguise */
	CU_ASSERT_EQUAL(c.graph.n_ops, 1);
	case_finish(&c);
	begin(&c, DIMS(2, 4, 6, 6));
	maker_weight(&c.m, "gain", DIMS(4));
	maker_weight(&c.m, "shift", DIMS(4));
	one_node(&c, "InstanceNormalization", "x gain shift");
	expect(&c, DIMS(2, 4, 6, 6));
	CU_ASSERT_EQUAL(c.graph.parameters, 8);
	case_finish(&c);
}

/* Positions are added to the data and count; a mask that goes into a softmax, or anchors at the
 * end, do not. */
static void test_tables(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 6, 8));
	maker_weight(&c.m, "positions", DIMS(1, 32, 8));
	maker_weight(&c.m, "class", DIMS(1, 1, 8));
	maker_weight(&c.m, "mask", DIMS(1, 7, 7));
	maker_weight(&c.m, "anchors", DIMS(1, 7, 8));
	maker_weight(&c.m, "w", DIMS(8, 8));
	maker_list(&c.m, "zero", DIMS(0));
	maker_list(&c.m, "seven", DIMS(7));
	maker_list(&c.m, "axis", DIMS(1));
	maker_list(&c.m, "rows", DIMS(2, 1, 8));
	maker_node(&c.m, "Expand", "token", "class rows", "t");
	maker_node(&c.m, "Concat", "join", "t x", "j");
	maker_int(&c.m, "axis", 1);
	maker_node(&c.m, "Slice", "some", "positions zero seven axis", "p");
	maker_node(&c.m, "Add", "place", "j p", "a");
	maker_node(&c.m, "MatMul", "project", "a w", "q");
	maker_node(&c.m, "Transpose", "turn", "q", "qt");
	maker_ints(&c.m, "perm", DIMS(0, 2, 1));
	maker_node(&c.m, "MatMul", "scores", "q qt", "s");
	maker_node(&c.m, "Add", "hide", "s mask", "h");
	maker_node(&c.m, "Softmax", "soft", "h", "o");
	maker_node(&c.m, "MatMul", "mix", "o q", "r");
	maker_node(&c.m, "Add", "boxes", "r anchors", "y");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.parameters, 32 * 8 + 8 + 64);
	case_finish(&c);
}

/* x of [2,6] becomes [2,6,1] or stays, by a condition on its shape or on a number that is given. */
static void if_case(struct onnx_case *c, bool by_number)
{
	begin(c, DIMS(2, 6));
	Onnx__GraphProto *yes = arena_new(&c->arena, Onnx__GraphProto);
	Onnx__GraphProto *no = arena_new(&c->arena, Onnx__GraphProto);
	onnx__graph_proto__init(yes);
	onnx__graph_proto__init(no);
	if (by_number) {
		maker_input(&c->m, "rate", NULL, 0);
		c->m.graph.input[1]->type->tensor_type->elem_type =
			ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	}
	maker_list(&c->m, "two", DIMS(2));
	maker_list(&c->m, "zero", DIMS(0));
	maker_list(&c->m, "last", DIMS(2));
	maker_node(&c->m, "Shape", "shape", "x", "s");
	maker_node(&c->m, "Gather", "rows", "s zero", "n");
	maker_node(&c->m, "Equal", "same", by_number ? "rate two" : "n two", "k");
	maker_node(&c->m, "If", "choice", "k", "z");
	maker_graph(&c->m, "then_branch", yes);
	maker_graph(&c->m, "else_branch", no);
	maker_inside(&c->m, yes);
	maker_node(&c->m, "Relu", "relu", "x", "r");
	maker_node(&c->m, "Unsqueeze", "wide", "r last", "u");
	maker_output(&c->m, "u");
	maker_inside(&c->m, no);
	maker_node(&c->m, "Tanh", "tanh", "x", "t");
	maker_output(&c->m, "t");
	maker_inside(&c->m, NULL);
	maker_node(&c->m, "Sigmoid", "node", "z", "y");
	maker_output(&c->m, "y");
}

static void test_if(void)
{
	struct onnx_case c;
	if_case(&c, false);
	expect(&c, DIMS(2, 6, 1));
	CU_ASSERT_STRING_EQUAL(op_kind_name(case_op(&c, "choice/relu")->kind), "relu");
	CU_ASSERT_EQUAL(c.graph.n_ops, 3);
	case_finish(&c);
	for (uint64_t rate = 2; rate <= 3; rate++) {
		const struct graph_override dim = {"rate", rate};
		if_case(&c, true);
		c.options.dims = &dim;
		c.options.n_dims = 1;
		expect(&c, (const int64_t[]){2, 6, 1}, rate == 2 ? 3 : 2);
		case_finish(&c);
	}
	if_case(&c, true);
	case_fails(&c, ERR_INPUT,
		"node 'choice' (If): control flow: 'k' is not known, so that no branch can be "
		"chosen; "
		"--dim NAME=N gives the value of an input that is a number: 'rate'");
	if_case(&c, true);
	c.options.dims = &(struct graph_override){"speed", 1};
	c.options.n_dims = 1;
	case_fails(&c, ERR_USAGE, "no open dimension is called 'speed'; the file has 'rate'");
}

static void test_lenient(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 6));
	maker_node(&c.m, "Mystery", "first", "x", "a");
	maker_node(&c.m, "Relu", "relu", "a", "b");
	maker_node(&c.m, "Mystery", "second", "b", "d e");
	maker_node(&c.m, "Other", "third", "d e", "f");
	one_node(&c, "Tanh", "f");
	c.options.lenient = true;
	expect(&c, DIMS(2, 6));
	CU_ASSERT_EQUAL_FATAL(c.graph.n_warnings, 2);
	CU_ASSERT_STRING_EQUAL(c.graph.warnings[0].code, "unknown_operator");
	CU_ASSERT_STRING_EQUAL(c.graph.warnings[0].text,
		"case.onnx: taken as free: Mystery (2 nodes, first 'first')");
	CU_ASSERT_EQUAL(c.graph.warnings[0].count, 2);
	CU_ASSERT_EQUAL(c.graph.warnings[1].count, 1);
	CU_ASSERT_EQUAL(case_op(&c, "first")->work.core, CORE_NONE);
	CU_ASSERT_EQUAL(case_op(&c, "third")->n_preds, 2);
	case_finish(&c);
	begin(&c, DIMS(2, 6));
	maker_node(&c.m, "Mystery", "first", "x", "a");
	case_fails(&c, ERR_INPUT, "1 operator is not supported: Mystery (1 node, first 'first')");
}

/* What no output needs is not computed; what an unknown one needs is. */
static void test_needed(void)
{
	struct onnx_case c;
	begin(&c, DIMS(2, 6));
	maker_weight(&c.m, "w", DIMS(6, 6));
	maker_node(&c.m, "Relu", "relu", "x", "a");
	maker_node(&c.m, "MatMul", "idle", "a w", "b");
	maker_output(&c.m, "a");
	struct graph g;
	struct err err = {0};
	CU_ASSERT_FATAL(onnx_read(&c.arena, "case.onnx", maker_pack(&c.m), &c.options, &g, &err));
	CU_ASSERT_EQUAL(g.n_ops, 1);
	CU_ASSERT_EQUAL(g.parameters, 0);
	case_finish(&c);
}

/* Sizes that no machine has are refused and not computed with. */
static void test_huge(void)
{
	struct onnx_case c;
	const int64_t most = INT64_C(1) << 47;
	begin(&c, DIMS(most, 2));
	maker_list(&c.m, "repeats", DIMS(most, most));
	one_node(&c, "Tile", "x repeats");
	case_fails(&c, ERR_INPUT, "node 'node' (Tile): repeat 0 is");
	begin(&c, DIMS(most, 2));
	maker_list(&c.m, "shape", DIMS(INT64_MAX, 1, 1));
	one_node(&c, "Expand", "x shape");
	case_fails(&c, ERR_INPUT, "more than 2^48 elements");
	begin(&c, DIMS(1, 2, 8, 8));
	maker_list(&c.m, "pads", DIMS(0, 0, 0, 0, INT64_MAX, 0, 0, 0));
	one_node(&c, "Pad", "x pads");
	case_fails(&c, ERR_INPUT, "node 'node' (Pad): a padding of");
	begin(&c, DIMS(1, 2, 8, 8));
	maker_reals(&c.m, "scales", (const double[]){1, 1, 1e30, 1}, 4);
	one_node(&c, "Resize", "x - scales");
	case_fails(&c, ERR_INPUT, "node 'node' (Resize): dimension 2 becomes 8e+30");
	begin(&c, DIMS(most, 1, 4));
	maker_weight(&c.m, "w", DIMS(1, most, 4));
	maker_weight(&c.m, "r", DIMS(1, most, most / 4));
	one_node(&c, "LSTM", "x w r");
	case_fails(&c, ERR_INPUT, "initialiser 'w': more than 2^48 elements");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"ConvTranspose", test_conv_transpose},
		{"windows of one dimension", test_one_dimension},
		{"Resize", test_resize},
		{"parts", test_parts},
		{"reductions", test_reductions},
		{"mask", test_mask},
		{"Einsum", test_einsum},
		{"recurrent layers", test_recurrent},
		{"initial states", test_recurrent_state},
		{"norms", test_norms},
		{"tables that are added", test_tables},
		{"If", test_if},
		{"lenient", test_lenient},
		{"what is needed", test_needed},
		{"huge sizes", test_huge},
		CU_TEST_INFO_NULL,
	};
	return suite_run("onnx_more", tests);
}
