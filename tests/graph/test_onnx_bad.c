/* ONNX files that cannot be read: what is said, and that nothing crashes. */
#include "base/rng.h"
#include "onnx_case.h"

static void test_not_a_model(void)
{
	static const struct {
		const char *data;
		size_t n;
		const char *part;
	} rows[] = {
		{"", 0, "no graph"},
		{"\x0a", 1, "cut off at byte 1"},
		{"hello, world", 12, "not an ONNX model"},
		{"\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, "more than 10 bytes"},
		{"\x3a\x05\x0a\x7f", 4, "cut off"},
		{"\x12\x02\xff\xfe", 4, "not UTF-8"},
		{"\x12\x02\xc0\x80", 4, "not UTF-8"},
		{"\x00\x00", 2, "without a number"},
		{"\x38\x01", 2, "wrong type"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena a = {0};
		struct graph g;
		struct err err = {0};
		CU_ASSERT_FALSE(onnx_read(&a, "f.onnx", (struct bytes){rows[i].data, rows[i].n},
			&(struct graph_options){0}, &g, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_EQUAL(strncmp(err.text, "f.onnx: not an ONNX model: ", 27), 0);
		if (!strstr(err.text, rows[i].part))
			printf("\n  row %zu: '%s'\n", i, err.text);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].part));
		arena_free(&a);
	}
}

/* Either an error that names the file or a graph; run with ASan it shows that nothing else
 * happens. */
static bool read_bytes(const char *data, size_t n)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	bool ok = onnx_read(
		&a, "f.onnx", (struct bytes){data, n}, &(struct graph_options){0}, &g, &err);
	if (ok) {
		CU_ASSERT(g.n_ops > 0 && g.n_layers > 0);
	} else {
		CU_ASSERT(err.kind == ERR_INPUT && strncmp(err.text, "f.onnx: ", 8) == 0);
	}
	arena_free(&a);
	return ok;
}

static void test_cut_everywhere(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_small_model(&c.m);
	struct bytes file = maker_pack(&c.m);
	CU_ASSERT(read_bytes(file.data, file.n));
	for (size_t n = 0; n < file.n; n++) {
		char *part =
			mem_alloc(n + 1, 1); /* its own block, so that reading past the end shows */
		memcpy(part, file.data, n);
		bool ok = read_bytes(part, n);
		/* The graph is the last message but for the operator set, which may be missing. */
		CU_ASSERT(!ok || n > file.n - 8);
		free(part);
	}
	case_finish(&c);
}

static void test_changed_bytes(void)
{
	struct onnx_case c;
	struct rng rng;
	unsigned n_read = 0;
	case_init(&c);
	maker_small_model(&c.m);
	struct bytes file = maker_pack(&c.m);
	rng_init(&rng, 20240607);
	char *copy = mem_alloc(file.n, 1);
	for (int i = 0; i < 20000; i++) {
		memcpy(copy, file.data, file.n);
		for (uint64_t j = rng_below(&rng, 3) + 1; j > 0; j--)
			copy[rng_below(&rng, file.n)] = (char)rng_below(&rng, 256);
		n_read += read_bytes(copy, file.n);
	}
	CU_ASSERT(n_read > 0 && n_read < 20000);
	free(copy);
	case_finish(&c);
}

/* Puts key and length in front of the `n` bytes that end at data[end]; returns how many there
 * are then. */
static size_t wrap(uint8_t *data, size_t end, size_t n, uint8_t key)
{
	uint8_t head[12];
	size_t used = 0;
	head[used++] = key;
	for (size_t left = n; used == 1 || left > 0; left >>= 7)
		head[used++] = (uint8_t)((left & 0x7f) | (left >= 0x80 ? 0x80 : 0));
	memcpy(data + end - n - used, head, used);
	return n + used;
}

/* 20,000 graphs inside each other, as attributes of If nodes: refused before anything recurses. */
static void test_deep(void)
{
	enum { DEPTH = 20000, HEAD = 6 };
	size_t room = HEAD * (3 * (size_t)DEPTH + 1), n = 0;
	uint8_t *data = mem_alloc(room, 1);
	for (int i = 0; i < DEPTH; i++) {
		n = wrap(data, room, n, 0x32); /* AttributeProto.g */
		n = wrap(data, room, n, 0x2a); /* NodeProto.attribute */
		n = wrap(data, room, n, 0x0a); /* GraphProto.node */
	}
	n = wrap(data, room, n, 0x3a); /* ModelProto.graph */
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	struct bytes file = {(const char *)data + room - n, n};
	CU_ASSERT_FALSE(onnx_read(&a, "f.onnx", file, &(struct graph_options){0}, &g, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "nested too deeply"));
	arena_free(&a);
	free(data);
}

static void test_unknown_operators(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(1, 4));
	maker_node(&c.m, "NonZero", "b", "x", "y");
	maker_node(&c.m, "FusedConv", "", "y", "z");
	c.m.node->domain = arena_strdup(&c.arena, "com.microsoft");
	maker_node(&c.m, "NonZero", "a", "z", "o");
	maker_output(&c.m, "o");
	case_fails(&c, ERR_INPUT,
		"2 operators are not supported: NonZero (2 nodes, first 'b'), "
		"com.microsoft.FusedConv "
		"(1 "
		"node, first node 1)");
}

static void test_control_flow(void)
{
	struct onnx_case c;
	case_init(&c);
	Onnx__GraphProto branch = ONNX__GRAPH_PROTO__INIT;
	maker_input(&c.m, "x", DIMS(1));
	maker_node(&c.m, "If", "choice", "x", "y");
	maker_graph(&c.m, "then_branch", &branch);
	maker_output(&c.m, "y");
	case_fails(&c, ERR_INPUT,
		"node 'choice' (If): control flow: 'x' is known only at run time, so that no "
		"branch can be chosen");
	case_init(&c);
	maker_input(&c.m, "x", DIMS(1));
	maker_node(&c.m, "Loop", "again", "x", "y");
	maker_graph(&c.m, "body", &branch);
	maker_output(&c.m, "y");
	case_fails(&c, ERR_INPUT,
		"1 operator is not supported: Loop (1 node, first 'again', which has subgraphs: "
		"control flow)");
}

/* A model of one Relu on an input of the given shape. */
static void relu_case(struct onnx_case *c, const int64_t *dims, size_t n)
{
	case_init(c);
	maker_input(&c->m, "x", dims, n);
	maker_node(&c->m, "Relu", "relu", "x", "y");
	maker_output(&c->m, "y");
}

static void test_open_dimensions(void)
{
	struct onnx_case c;
	relu_case(&c, DIMS(1, -1));
	maker_open(&c.m, 1, "height");
	case_fails(&c, ERR_INPUT,
		"input 'x': dimension 1 ('height') is open in the file; give it with --dim "
		"height=N");
	relu_case(&c, DIMS(-1, 4));
	case_fails(&c, ERR_INPUT, "give it with --dim x.0=N or --batch N");
	relu_case(&c, DIMS(1, 4));
	c.options.dims = &(struct graph_override){"width", 4};
	c.options.n_dims = 1;
	case_fails(&c, ERR_USAGE, "no open dimension is called 'width'; the file has none");
	relu_case(&c, DIMS(-1, 4));
	maker_open(&c.m, 0, "N");
	c.options.dims = &(struct graph_override){"n", 4};
	c.options.n_dims = 1;
	case_fails(&c, ERR_USAGE, "no open dimension is called 'n'; the file has 'N'");
	relu_case(&c, DIMS(-1, 4));
	c.options.dims = &(struct graph_override){"x.0", 4};
	c.options.n_dims = 1;
	c.options.batch = 8;
	case_fails(&c, ERR_USAGE, "4 and 8 contradict each other");
	relu_case(&c, DIMS(-1, 4));
	c.options.dims = &(struct graph_override){"x.0", 4};
	c.options.n_dims = 1;
	CU_ASSERT(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.batch, 4);
	case_finish(&c);
	relu_case(&c, DIMS(-2, 4));
	case_fails(&c, ERR_INPUT, "input 'x': dimension 0 is -2");
	relu_case(&c, DIMS(1, 4));
	c.options.tp = 2;
	case_fails(&c, ERR_USAGE, "cannot be sliced over 2 tensor-parallel devices");
}

static void test_values(void)
{
	struct onnx_case c;
	relu_case(&c, DIMS(1, 4));
	maker_node(&c.m, "Relu", "late", "z", "w");
	maker_node(&c.m, "Relu", "later", "w", "z");
	case_fails(
		&c, ERR_INPUT, "node 'late' (Relu): it reads 'z', which nothing before it makes");
	relu_case(&c, DIMS(1, 4));
	maker_node(&c.m, "Relu", "again", "x", "y");
	case_fails(&c, ERR_INPUT, "node 'again' (Relu): it makes 'y', which exists already");
	relu_case(&c, DIMS(1, 4));
	maker_output(&c.m, "nothing");
	case_fails(&c, ERR_INPUT, "output 'nothing' is not made by any node");
	relu_case(&c, DIMS(1, 4));
	maker_node(&c.m, "Add", "add", "x", "z");
	case_fails(&c, ERR_INPUT, "node 'add' (Add): 2 to 2 inputs are expected, there are 1");
	relu_case(&c, DIMS(1, 4));
	maker_node(&c.m, "Add", "add", "- x", "z");
	case_fails(&c, ERR_INPUT, "node 'add' (Add): input 0 is missing");
	relu_case(&c, DIMS(1, 4));
	maker_weight(&c.m, "w", DIMS(2, -3));
	case_fails(&c, ERR_INPUT, "initialiser 'w': negative dimension 1");
	relu_case(&c, DIMS(1, 4));
	maker_weight(&c.m, "w", DIMS(INT64_MAX, INT64_MAX));
	case_fails(&c, ERR_INPUT, "initialiser 'w': more than 2^48 elements");
	relu_case(&c, DIMS(1, 4));
	maker_list(&c.m, "l", DIMS(1, 2, 3))->n_int64_data = 2;
	case_fails(&c, ERR_INPUT, "initialiser 'l': the shape asks for 3 numbers, there are 2");
}

static void conv_case(struct onnx_case *c, const int64_t *weight)
{
	case_init(c);
	maker_input(&c->m, "x", DIMS(1, 4, 8, 8));
	maker_weight(&c->m, "w", weight, 4);
	maker_node(&c->m, "Conv", "conv", "x w", "y");
	maker_output(&c->m, "y");
}

static void test_shapes(void)
{
	struct onnx_case c;
	conv_case(&c, (const int64_t[]){8, 3, 3, 3});
	case_fails(&c, ERR_INPUT, "operator 'conv' (conv) of [1,4,8,8] and [8,3,3,3]: ");
	conv_case(&c, (const int64_t[]){8, 4, 9, 9});
	case_fails(&c, ERR_INPUT, "operator 'conv' (conv)");
	conv_case(&c, (const int64_t[]){8, 4, 3, 3});
	maker_int(&c.m, "group", 0);
	case_fails(&c, ERR_INPUT, "node 'conv' (Conv): group is 0");
	conv_case(&c, (const int64_t[]){8, 4, 3, 3});
	maker_ints(&c.m, "pads", DIMS(1, 1, -1, 1));
	case_fails(&c, ERR_INPUT, "node 'conv' (Conv): pads must be from 0 to 32768, it has -1");
	conv_case(&c, (const int64_t[]){8, 4, 3, 3});
	maker_ints(&c.m, "strides", DIMS(1));
	case_fails(&c, ERR_INPUT, "strides must have 2 numbers");
	conv_case(&c, (const int64_t[]){8, 4, 3, 3});
	maker_string(&c.m, "auto_pad", "SAME");
	case_fails(&c, ERR_INPUT, "auto_pad must be NOTSET, SAME_LOWER, SAME_UPPER or VALID");
	relu_case(&c, DIMS(2, 6));
	maker_list(&c.m, "to", DIMS(5, -1));
	maker_node(&c.m, "Reshape", "view", "x to", "z");
	case_fails(&c, ERR_INPUT, "node 'view' (Reshape): [2,6] does not fit into [5,-1]");
	relu_case(&c, DIMS(2, 6));
	maker_list(&c.m, "to", DIMS(3, 4));
	maker_node(&c.m, "Reshape", "view", "x to", "z");
	c.options.batch = 3;
	case_fails(&c, ERR_INPUT,
		"[3,6] does not fit into [3,4]; the file is written for a batch of 2");
	relu_case(&c, DIMS(2, 6));
	maker_node(&c.m, "Softmax", "soft", "x", "z");
	maker_int(&c.m, "axis", 2);
	case_fails(
		&c, ERR_INPUT, "node 'soft' (Softmax): axis 2 is outside an input of 2 dimensions");
}

static void test_unknown_content(void)
{
	struct onnx_case c;
	relu_case(&c, DIMS(2, 6));
	maker_node(&c.m, "Reshape", "view", "y x", "z");
	case_fails(&c, ERR_INPUT,
		"node 'view' (Reshape): 'x' (shape) must be small whole numbers that are known "
		"from the "
		"file");
	relu_case(&c, DIMS(2, 6));
	Onnx__TensorProto *t = maker_list(&c.m, "to", DIMS(3, 4));
	Onnx__StringStringEntryProto location = ONNX__STRING_STRING_ENTRY_PROTO__INIT;
	location.key = arena_strdup(&c.arena, "location");
	location.value = arena_strdup(&c.arena, "weights.bin");
	t->has_data_location = true;
	t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
	t->n_external_data = 1;
	t->external_data = (Onnx__StringStringEntryProto *[]){&location};
	maker_node(&c.m, "Reshape", "view", "y to", "z");
	case_fails(&c, ERR_INPUT,
		"the content of 'to' (shape) lies in another file, 'weights.bin', which is not "
		"read");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"not a model", test_not_a_model},
		{"cut at every byte", test_cut_everywhere},
		{"changed bytes", test_changed_bytes},
		{"deep nesting", test_deep},
		{"unknown operators", test_unknown_operators},
		{"control flow", test_control_flow},
		{"open dimensions", test_open_dimensions},
		{"values", test_values},
		{"shapes", test_shapes},
		{"content that is not known", test_unknown_content},
		CU_TEST_INFO_NULL,
	};
	return suite_run("onnx_bad", tests);
}
