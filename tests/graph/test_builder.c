#include "fixture.h"

static void check_dims(struct fixture *f, tensor_id t, const char *shape)
{
	CU_ASSERT_STRING_EQUAL(tensor_shape_text(&f->a, &f->b.tensors[t]), shape);
}

static void test_gemm(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 2, 5, 8),
		  w = TENSOR(&f, "w", TENSOR_PARAM, 8, 3);
	tensor_id wt = TENSOR(&f, "wt", TENSOR_PARAM, 3, 8),
		  bias = TENSOR(&f, "b", TENSOR_PARAM, 3);
	check_dims(&f, OP(&f, "gemm", "g", NULL, x, w, bias), "[2,5,3]");
	check_dims(&f, OP(&f, "gemm", "gt", &(struct op_attrs){.transpose_b = true}, x, wt),
		"[2,5,3]");
	for (uint32_t i = 0; i < 2; i++) {
		const struct work *k = &f.b.ops[i].work;
		CU_ASSERT_EQUAL(k->core, CORE_TC);
		CU_ASSERT_TRUE(k->batch == 1 && k->m == 10 && k->n == 3 && k->k == 8);
		CU_ASSERT_TRUE(k->a_bytes == 160 && k->b_bytes == 48 && k->c_bytes == 60);
	}
	CU_ASSERT_EQUAL(f.b.ops[0].work.vector_read_bytes, 6);
	CU_ASSERT_EQUAL(f.b.parameters, 24 + 24 + 3);
	arena_free(&f.a);
}

static void test_matmul(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id q = TENSOR(&f, "q", TENSOR_INPUT, 2, 4, 3, 7, 16);
	tensor_id k = TENSOR(&f, "k", TENSOR_INPUT, 2, 4, 1, 9, 16);
	tensor_id w = TENSOR(&f, "w", TENSOR_INPUT, 16, 5);
	check_dims(&f, OP(&f, "matmul", "s", &(struct op_attrs){.transpose_b = true}, q, k),
		"[2,4,3,7,9]");
	check_dims(&f, OP(&f, "matmul", "t", NULL, q, w), "[2,4,3,7,5]");
	const struct work *s = &f.b.ops[0].work, *t = &f.b.ops[1].work;
	CU_ASSERT_TRUE(s->batch == 24 && s->m == 7 && s->n == 9 && s->k == 16);
	CU_ASSERT_EQUAL(s->b_bytes, UINT64_C(2) * 4 * 9 * 16 * 2); /* the shared keys once */
	CU_ASSERT_TRUE(t->batch == 1 && t->m == 168 && t->n == 5 && t->k == 16);
	arena_free(&f.a);
}

static void test_conv(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 2, 32, 15, 20);
	tensor_id w = TENSOR(&f, "w", TENSOR_PARAM, 64, 8, 3, 5);
	struct op_attrs a = {.kernel = {3, 5},
		.stride = {2, 1},
		.dilation = {2, 1},
		.pad_begin = {1, 2},
		.pad_end = {0, 2},
		.group = 4};
	check_dims(&f, OP(&f, "conv", "c", &a, x, w), "[2,64,6,20]");
	const struct work *k = &f.b.ops[0].work;
	CU_ASSERT_TRUE(k->batch == 4 && k->m == 240 && k->n == 16 && k->k == 120);
	CU_ASSERT_EQUAL(k->a_bytes, UINT64_C(2) * 32 * 15 * 20 * 2);
	CU_ASSERT_TRUE(k->conv.in_channels == 32 && k->conv.out_channels == 64);
	CU_ASSERT_TRUE(k->conv.out_h == 6 && k->conv.out_w == 20 && k->conv.images == 2);
	CU_ASSERT_TRUE(k->conv.kernel_w == 5 && k->conv.stride_h == 2 && k->conv.dilation_h == 2);
	arena_free(&f.a);
}

static void test_moves(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 2, 3, 4);
	struct op_attrs reshape = {.shape = {6, 4}, .n_shape = 2}, perm = {.perm = {2, 0, 1}};
	struct op_attrs split = {.axis = 2, .shape = {1, 3}, .n_shape = 2};
	struct op_attrs part = {.axis = 1, .begin = 1, .end = 3}, axis1 = {.axis = 1};
	struct op_attrs mean = {.axis = 1, .n_axes = 1, .keep_dims = true};
	check_dims(&f, OP(&f, "reshape", "r", &reshape, x), "[6,4]");
	check_dims(&f, OP(&f, "transpose", "t", &perm, x), "[4,2,3]");
	tensor_id first = OP(&f, "split", "s", &split, x);
	check_dims(&f, first, "[2,3,1]");
	check_dims(&f, first + 1, "[2,3,3]");
	CU_ASSERT_STRING_EQUAL(f.b.tensors[first + 1].name, "s.1");
	check_dims(&f, OP(&f, "slice", "p", &part, x), "[2,2,4]");
	check_dims(&f, OP(&f, "concat", "c", &axis1, x, x, x), "[2,9,4]");
	check_dims(&f, OP(&f, "flatten", "f", &axis1, x), "[2,12]");
	check_dims(&f, OP(&f, "reduce_mean", "m", &mean, x), "[2,1,4]");
	check_dims(&f, OP(&f, "reduce_mean", "n", &axis1, x), "[2]");
	arena_free(&f.a);
}

static void test_preds(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 4);
	tensor_id a = OP(&f, "relu", "a", NULL, x), b = OP(&f, "relu", "b", NULL, a);
	OP(&f, "add", "c", NULL, b, a);
	OP(&f, "mul", "d", NULL, a, a);
	struct graph g = fixture_finish(&f);
	CU_ASSERT_EQUAL(g.ops[0].n_preds, 0);
	CU_ASSERT_EQUAL_FATAL(g.ops[2].n_preds, 2);
	CU_ASSERT_TRUE(g.ops[2].preds[0] == 0 && g.ops[2].preds[1] == 1);
	CU_ASSERT_EQUAL_FATAL(g.ops[3].n_preds, 1);
	arena_free(&f.a);
}

struct bad {
	const char *kind;
	struct op_attrs attrs;
	uint32_t n_inputs;
	struct tensor in[3];
	const char *text; /* must be part of the error */
};

// clang-format off
static const struct bad bad_cases[] = {
	{"gemm", {.axis = 0}, 2, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 2, .dims = {6, 7}}}, "operator 'op' (gemm) of [4,5] and [6,7]: inner dimensions 5 and 6 differ"},
	{"gemm", {.axis = 0}, 3, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 2, .dims = {5, 7}}, {.n_dims = 1, .dims = {6}}}, "a bias of 7 elements is expected, it has 6"},
	{"gemm", {.axis = 0}, 2, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 3, .dims = {5, 7, 1}}}, "2 to 2 dimensions"},
	{"gemm", {.axis = 0}, 1, {{.n_dims = 2, .dims = {4, 5}}}, "2 to 3 inputs are expected, there are 1"},
	{"matmul", {.axis = 0}, 2, {{.n_dims = 3, .dims = {2, 4, 5}}, {.n_dims = 3, .dims = {3, 5, 4}}}, "(matmul) of [2,4,5] and [3,5,4]: dimensions 2 and 3 differ and neither is 1"},
	{"add", {.axis = 0}, 2, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 2, .dims = {4, 6}}}, "dimensions 5 and 6 differ"},
	{"conv", {.kernel = {3, 3}}, 2, {{.n_dims = 4, .dims = {1, 8, 9, 9}}, {.n_dims = 4, .dims = {16, 4, 3, 3}}}, "takes 4 channels a group, the input has 8"},
	{"conv", {.kernel = {3, 3}, .group = 3}, 2, {{.n_dims = 4, .dims = {1, 8, 9, 9}}, {.n_dims = 4, .dims = {16, 4, 3, 3}}}, "not divisible by 3 groups"},
	{"conv", {.kernel = {3, 3}}, 2, {{.n_dims = 4, .dims = {1, 8, 2, 9}}, {.n_dims = 4, .dims = {16, 8, 3, 3}}}, "a window of 3x3 does not fit into 2x9"},
	{"conv", {.kernel = {5, 3}}, 2, {{.n_dims = 4, .dims = {1, 8, 9, 9}}, {.n_dims = 4, .dims = {16, 8, 3, 3}}}, "the kernel is 5x3, the weight's is 3x3"},
	{"max_pool", {.kernel = {9, 9}}, 1, {{.n_dims = 4, .dims = {1, 8, 8, 8}}}, "does not fit"},
	{"layer_norm", {.axis = 0}, 2, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 1, .dims = {4}}}, "input 1 must have 5 elements, it has 4"},
	{"batch_norm", {.axis = 0}, 3, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 1, .dims = {5}}, {.n_dims = 1, .dims = {4}}}, "input 2 must have 5 elements, it has 4"},
	{"softmax", {.axis = 2}, 1, {{.n_dims = 2, .dims = {4, 5}}}, "axis 2 is outside"},
	{"reshape", {.shape = {3, 7}, .n_shape = 2}, 1, {{.n_dims = 2, .dims = {4, 5}}}, "the new shape has 21 elements, the input 20"},
	{"transpose", {.perm = {0, 0}}, 1, {{.n_dims = 2, .dims = {4, 5}}}, "each of 0 to 1 once"},
	{"concat", {.axis = 0}, 2, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 2, .dims = {4, 6}}}, "differs in dimension 1"},
	{"split", {.axis = 1, .shape = {2, 2}, .n_shape = 2}, 1, {{.n_dims = 2, .dims = {4, 5}}}, "do not add up to the dimension of 5"},
	{"slice", {.axis = 1, .begin = 2, .end = 6}, 1, {{.n_dims = 2, .dims = {4, 5}}}, "not a part of a dimension of 5"},
	{"cross_entropy", {.axis = 0}, 2, {{.n_dims = 2, .dims = {4, 5}}, {.n_dims = 1, .dims = {5}}}, "4 labels are expected, there are 5"},
	{"gem", {.axis = 0}, 1, {{.n_dims = 2, .dims = {4, 5}}}, "unknown kind 'gem', did you mean 'gemm'?"},
	{"matmul", {.axis = 0}, 2, {{.n_dims = 2, .dims = {1 << 23, 1 << 23}}, {.n_dims = 2, .dims = {1 << 23, 1 << 23}}}, "more than 2^62 multiply-accumulates"},
	{"matmul", {.axis = 0}, 2, {{.n_dims = 2, .dims = {1 << 25, 1}}, {.n_dims = 2, .dims = {1, 1 << 25}}}, "more than 2^48 elements"},
};
// clang-format on

static void test_errors(void)
{
	for (size_t i = 0; i < sizeof(bad_cases) / sizeof(bad_cases[0]); i++) {
		struct fixture f;
		fixture_init(&f);
		tensor_id ids[3];
		for (uint32_t j = 0; j < bad_cases[i].n_inputs; j++)
			ids[j] = fixture_tensor(&f, "x", TENSOR_INPUT, bad_cases[i].in[j].n_dims,
				bad_cases[i].in[j].dims);
		struct op_request r = {.name = "op",
			.kind = bad_cases[i].kind,
			.inputs = ids,
			.n_inputs = bad_cases[i].n_inputs,
			.attrs = bad_cases[i].attrs};
		op_id op;
		CU_ASSERT_FALSE(builder_add_op(&f.b, &r, &op, &f.err));
		CU_ASSERT_EQUAL(f.err.kind, ERR_INPUT);
		CU_ASSERT_PTR_NOT_NULL(strstr(f.err.text, bad_cases[i].text));
		if (!strstr(f.err.text, bad_cases[i].text))
			printf("\n%s: %s\n", bad_cases[i].kind, f.err.text);
		arena_free(&f.a);
	}
}

static void test_refused_tensors(void)
{
	struct fixture f;
	tensor_id id;
	fixture_init(&f);
	struct tensor zero = {.name = "z", .class = TENSOR_INPUT, .n_dims = 2, .dims = {4, 0}};
	struct tensor huge = {.name = "h",
		.class = TENSOR_INPUT,
		.n_dims = 3,
		.dims = {UINT64_MAX, UINT64_MAX, 2}};
	CU_ASSERT_FALSE(builder_add_tensor(&f.b, &zero, &id, &f.err));
	CU_ASSERT_PTR_NOT_NULL(strstr(f.err.text, "'z' has a dimension of 0: [4,0]"));
	CU_ASSERT_FALSE(builder_add_tensor(&f.b, &huge, &id, &f.err));
	CU_ASSERT_PTR_NOT_NULL(strstr(f.err.text, "more than 2^48 elements"));
	struct graph g;
	CU_ASSERT_FALSE(builder_finish(&f.b, &g, &f.err));
	CU_ASSERT_PTR_NOT_NULL(strstr(f.err.text, "no operator"));
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 4);
	OP(&f, "relu", "same", NULL, x);
	OP(&f, "relu", "same", NULL, x);
	CU_ASSERT_FALSE(builder_finish(&f.b, &g, &f.err));
	CU_ASSERT_PTR_NOT_NULL(strstr(f.err.text, "two operators are named 'same'"));
	arena_free(&f.a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"gemm", test_gemm}, {"matmul", test_matmul}, {"conv", test_conv},
		{"moves", test_moves}, {"preds", test_preds}, {"errors", test_errors},
		{"refused tensors", test_refused_tensors}, CU_TEST_INFO_NULL};
	return suite_run("builder", tests);
}
