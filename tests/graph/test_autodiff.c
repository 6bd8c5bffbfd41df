/* The backward pass of every kind of operator against central differences. */
#include "fixture.h"

#include "numeric.h"

/* 'd' differentiable, 'm' mask or label (an input of the model), 'c' constant */
enum { MAX_INPUTS = 3 };

/* clang-format off */
static const struct kind_case {
	const char *kind;
	const char *inputs;
	bool positive;
	uint64_t dims[MAX_INPUTS][5]; /* ended by 0 */
	struct op_attrs attrs;
} cases[] = {
	{"abs", "d", false, {{3, 4}}, {.axis = 0}},
	{"add", "dd", false, {{3, 4}, {3, 4}}, {.axis = 0}},
	{"add", "dd", false, {{2, 3, 4}, {3, 1}}, {.axis = 0}},
	{"arg_max", "d", false, {{2, 3, 4}}, {.axis = 1, .n_axes = 1}},
	{"avg_pool", "d", false, {{1, 2, 5, 4}}, {.kernel = {3, 2}, .stride = {2, 1}, .pad_begin = {1, 0}, .pad_end = {1, 1}}},
	{"batch_norm", "ddd", false, {{3, 2, 2, 2}, {2}, {2}}, {.axis = 0}},
	{"compare", "dd", false, {{3, 4}, {4}}, {.axis = 0}},
	{"compare", "d", false, {{3, 4}}, {.axis = 0}},
	{"concat", "ddd", false, {{2, 1, 2}, {2, 3, 2}, {2, 2, 2}}, {.axis = 1}},
	{"conv", "dd", false, {{2, 2, 4, 3}, {3, 2, 2, 3}}, {.kernel = {2, 3}, .stride = {2, 1}, .pad_begin = {1, 1}, .pad_end = {0, 1}}},
	{"conv", "ddd", false, {{1, 4, 5, 5}, {4, 2, 2, 2}, {4}}, {.kernel = {2, 2}, .group = 2, .dilation = {2, 3}}},
	{"conv", "dd", false, {{1, 3, 3, 3}, {3, 1, 3, 3}}, {.kernel = {3, 3}, .group = 3, .pad_begin = {1, 1}, .pad_end = {1, 1}}},
	{"conv_transpose", "dd", false, {{2, 2, 3, 2}, {2, 3, 2, 3}}, {.kernel = {2, 3}, .stride = {2, 1}, .pad_begin = {1, 0}, .pad_end = {0, 1}}},
	{"conv_transpose", "ddd", false, {{1, 4, 2, 2}, {4, 3, 2, 2}, {6}}, {.kernel = {2, 2}, .group = 2, .dilation = {2, 3}}},
	{"cos", "d", false, {{3, 4}}, {.axis = 0}},
	{"cross_entropy", "dm", false, {{3, 5}, {3}}, {.axis = 0}},
	{"cross_entropy", "d", false, {{2, 2, 3}}, {.axis = 0}},
	{"cum_sum", "d", false, {{2, 3, 2}}, {.axis = 1}},
	{"div", "dd", true, {{3, 4}, {3, 4}}, {.axis = 0}},
	{"div", "dd", true, {{3, 4}, {4}}, {.axis = 0}},
	{"dropout", "d", false, {{3, 4}}, {.axis = 0}},
	{"elu", "d", false, {{3, 4}}, {.axis = 0}},
	{"embedding", "md", false, {{2, 4}, {5, 3}}, {.axis = 0}},
	{"embedding_bag", "md", false, {{2, 3}, {5, 3}}, {.axis = 0}},
	{"erf", "d", false, {{3, 4}}, {.axis = 0}},
	{"exp", "d", false, {{3, 4}}, {.axis = 0}},
	{"expand", "d", false, {{3, 1}}, {.shape = {2, 3, 4}, .n_shape = 3}},
	{"expert_combine", "dd", false, {{2, 3, 3}, {3, 2}}, {.axis = 0}},
	{"expert_combine", "dd", false, {{4, 2, 3}, {1, 3, 2}}, {.axis = 0}},
	{"expert_dispatch", "dm", false, {{3, 4}, {3, 2}}, {.count = 4}},
	{"flatten", "d", false, {{2, 3, 2}}, {.axis = 1}},
	{"gather", "d", false, {{3, 4}}, {.shape = {2, 4}, .n_shape = 2}},
	{"gather", "dm", false, {{3, 4}, {5}}, {.shape = {5, 4}, .n_shape = 2}},
	{"gelu", "d", false, {{3, 4}}, {.axis = 0}},
	{"gelu_tanh", "d", false, {{3, 4}}, {.axis = 0}},
	{"gemm", "dd", false, {{2, 3, 4}, {4, 5}}, {.axis = 0}},
	{"gemm", "ddd", false, {{3, 4}, {5, 4}, {5}}, {.transpose_b = true}},
	{"gemm", "ddd", false, {{4, 3}, {4, 5}, {1}}, {.transpose_a = true}},
	{"global_avg_pool", "d", false, {{2, 2, 3, 2}}, {.axis = 0}},
	{"gru_cell", "d", false, {{2, 3, 6}}, {.axis = 0}},
	{"hard_sigmoid", "d", false, {{3, 4}}, {.axis = 0}},
	{"hard_swish", "d", false, {{3, 4}}, {.axis = 0}},
	{"hard_tanh", "d", false, {{3, 4}}, {.axis = 0}},
	{"identity", "d", false, {{3, 4}}, {.axis = 0}},
	{"layer_norm", "ddd", false, {{2, 3, 4}, {4}, {4}}, {.axis = 0}},
	{"layer_norm", "dd", false, {{3, 2, 2}, {2, 2}}, {.axis = 1}},
	{"layer_norm", "d", false, {{2, 3, 4}}, {.axis = 2}},
	{"log", "d", true, {{3, 4}}, {.axis = 0}},
	{"log_softmax", "d", false, {{2, 3, 2}}, {.axis = 1}},
	{"lower_triangle", "d", false, {{2, 4, 4}}, {.axis = 0}},
	{"lrn", "d", false, {{2, 5, 2, 1}}, {.kernel = {3, 1}}},
	{"lstm_cell", "d", false, {{2, 3, 8}}, {.axis = 0}},
	{"masked_fill", "dm", false, {{2, 3, 4}, {3, 1}}, {.axis = 0}},
	{"masked_softmax", "dm", false, {{2, 3, 9}, {9}}, {.axis = 2}},
	{"matmul", "dd", false, {{2, 3, 4}, {2, 4, 2}}, {.axis = 0}},
	{"matmul", "dd", false, {{2, 1, 3, 4}, {3, 2, 4}}, {.transpose_b = true}},
	{"matmul", "dd", false, {{2, 4, 3}, {4, 2}}, {.transpose_a = true}},
	{"max_pool", "d", false, {{1, 2, 5, 4}}, {.kernel = {3, 2}, .stride = {2, 1}, .pad_begin = {1, 0}, .pad_end = {1, 0}}},
	{"maximum", "dd", false, {{3, 4}, {4}}, {.axis = 0}},
	{"move", "d", false, {{3, 4}}, {.shape = {2, 12}, .n_shape = 2}},
	{"mul", "dd", false, {{3, 4}, {3, 4}}, {.axis = 0}},
	{"mul", "dd", false, {{3, 1}, {2, 1, 4}}, {.axis = 0}},
	{"mul_add", "ddd", false, {{3, 4}, {4}, {3, 1}}, {.axis = 0}},
	{"neg", "d", false, {{3, 4}}, {.axis = 0}},
	{"nll_loss", "dm", false, {{3, 5}, {3}}, {.axis = 0}},
	{"pad", "d", false, {{3, 4}}, {.shape = {5, 4}, .n_shape = 2}},
	{"pow", "dd", true, {{3, 4}, {4}}, {.axis = 0}},
	{"pow", "d", false, {{3, 4}}, {.axis = 0}},
	{"prelu", "dd", false, {{2, 3, 4}, {3, 1}}, {.axis = 0}},
	{"reciprocal", "d", true, {{3, 4}}, {.axis = 0}},
	{"recurrent", "dd", false, {{2, 3, 4}, {2, 4}}, {.count = 2}},
	{"recurrent", "ddd", false, {{3, 8}, {2, 8}, {8}}, {.count = 4}},
	{"reduce_max", "d", false, {{2, 3, 4}}, {.axis = 1, .n_axes = 1}},
	{"reduce_mean", "d", false, {{2, 3, 4}}, {.axis = 1}},
	{"reduce_mean", "d", false, {{2, 3, 4}}, {.axis = 1, .n_axes = 1, .keep_dims = true}},
	{"reduce_sum", "d", false, {{2, 3, 4}}, {.axis = 0, .n_axes = 2}},
	{"relu", "d", false, {{3, 4}}, {.axis = 0}},
	{"reshape", "d", false, {{3, 4}}, {.shape = {2, 6}, .n_shape = 2}},
	{"resize", "d", false, {{1, 2, 2, 3}}, {.shape = {1, 2, 4, 6}, .n_shape = 4}},
	{"rms_norm", "dd", false, {{2, 3, 4}, {4}}, {.axis = 0}},
	{"rotary", "d", false, {{2, 3, 4}}, {.axis = 0}},
	{"rotary", "dcc", false, {{2, 3, 4}, {3, 4}, {3, 4}}, {.axis = 0}},
	{"round", "d", false, {{3, 4}}, {.axis = 0}},
	{"sigmoid", "d", false, {{3, 4}}, {.axis = 0}},
	{"silu", "d", false, {{3, 4}}, {.axis = 0}},
	{"sin", "d", false, {{3, 4}}, {.axis = 0}},
	{"slice", "d", false, {{2, 5, 2}}, {.axis = 1, .begin = 1, .end = 4}},
	{"slice", "d", false, {{2, 7, 2}}, {.axis = 1, .begin = 1, .end = 6, .stride = {2, 1}}},
	{"softmax", "d", false, {{2, 3, 2}}, {.axis = 1}},
	{"softplus", "d", false, {{3, 4}}, {.axis = 0}},
	{"sp_gather", "d", false, {{2, 3, 4}}, {.group = 1}},
	{"sp_scatter", "d", false, {{2, 3, 4}}, {.group = 1}},
	{"split", "d", false, {{2, 6, 2}}, {.axis = 1, .shape = {1, 3, 2}, .n_shape = 3}},
	{"sqrt", "d", true, {{3, 4}}, {.axis = 0}},
	{"sub", "dd", false, {{3, 4}, {2, 3, 4}}, {.axis = 0}},
	{"tanh", "d", false, {{3, 4}}, {.axis = 0}},
	{"top_k", "d", false, {{3, 4}}, {.count = 2}},
	{"tp_copy", "d", false, {{3, 4}}, {.axis = 0}},
	{"tp_reduce", "d", false, {{3, 4}}, {.axis = 0}},
	{"transpose", "d", false, {{2, 3, 4}}, {.perm = {2, 0, 1}}},
	{"where", "mdd", false, {{3, 4}, {4}, {2, 3, 4}}, {.axis = 0}},
};
/* clang-format on */

enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/* How the operator gets what it reads and who else reads it. */
enum way {
	WAY_PARAMS,  /* its inputs are parameters themselves */
	WAY_MADE,    /* operators make them from parameters */
	WAY_SHARED,  /* and something else reads each of them too */
	WAY_PRODUCT, /* the first comes out of a product, which may absorb the operator */
	WAY_ONLY,    /* one is trained, the others are frozen: WAY_ONLY + i */
};

static tensor_id leaf(
	struct fixture *f, const struct kind_case *k, uint32_t i, enum tensor_class class)
{
	struct tensor t = {.name = arena_printf(&f->a, "in%u", i), .class = class};
	tensor_id id = 0;
	while (t.n_dims < 5 && k->dims[i][t.n_dims] > 0) {
		t.dims[t.n_dims] = k->dims[i][t.n_dims];
		t.n_dims++;
	}
	CU_ASSERT_TRUE_FATAL(builder_add_tensor(&f->b, &t, &id, &f->err));
	return id;
}

static tensor_id made_input(struct fixture *f, tensor_id leaf, uint32_t i)
{
	tensor_id c = TENSOR(f, arena_printf(&f->a, "scale%u", i), TENSOR_CONST, 1);
	return OP(f, "mul", arena_printf(&f->a, "made%u", i), NULL, leaf, c);
}

static tensor_id product_input(struct fixture *f, const struct kind_case *k)
{
	tensor_id x = leaf(f, k, 0, TENSOR_CONST);
	const struct tensor *t = &f->b.tensors[x];
	uint64_t n = t->dims[t->n_dims - 1];
	tensor_id w = TENSOR(f, "product.w", TENSOR_PARAM, n, n);
	return OP(f, "gemm", "product", NULL, x, w);
}

static tensor_id case_input(struct fixture *f, const struct kind_case *k, uint32_t i, uint32_t way)
{
	if (k->inputs[i] == 'm')
		return leaf(f, k, i, TENSOR_INPUT);
	if (k->inputs[i] == 'c' || (way >= WAY_ONLY && i != way - WAY_ONLY))
		return leaf(f, k, i, TENSOR_CONST);
	if (way == WAY_PRODUCT && i == 0)
		return product_input(f, k);
	tensor_id p = leaf(f, k, i, TENSOR_PARAM);
	return way == WAY_PARAMS ? p : made_input(f, p, i);
}

/* Something that makes the gradient of each output its own: y times a parameter of its shape,
 * then tanh. */
static void use_outputs(struct fixture *f, tensor_id first)
{
	uint32_t n = f->b.ops[f->b.tensors[first].producer].n_outputs;
	bool masked = f->b.ops[f->b.tensors[first].producer].kind->saves & SAVES_EXTRA;
	for (uint32_t o = 0; o < (masked ? 1 : n); o++) {
		struct tensor t = f->b.tensors[first + o];
		tensor_id w = 0;
		t.class = TENSOR_PARAM;
		t.name = arena_printf(&f->a, "out%u.w", o);
		CU_ASSERT_TRUE_FATAL(builder_add_tensor(&f->b, &t, &w, &f->err));
		tensor_id y = OP(f, "mul", arena_printf(&f->a, "out%u", o), NULL, first + o, w);
		OP(f, "tanh", arena_printf(&f->a, "end%u", o), NULL, y);
	}
}

static struct graph build_case(struct fixture *f, const struct kind_case *k, uint32_t way)
{
	tensor_id in[MAX_INPUTS];
	uint32_t n = (uint32_t)strlen(k->inputs);
	fixture_init(f);
	for (uint32_t i = 0; i < n; i++)
		in[i] = case_input(f, k, i, way);
	tensor_id y = fixture_op(f, k->kind, "op", &k->attrs, in, n);
	for (uint32_t i = 0; i < n && way == WAY_SHARED; i++)
		if (k->inputs[i] == 'd')
			OP(f, "tanh", arena_printf(&f->a, "other%u", i), NULL, in[i]);
	use_outputs(f, y);
	return fixture_finish(f);
}

static uint32_t check_both(struct arena *a, const struct graph *g, bool positive)
{
	struct graph fused;
	graph_fuse(a, g, &fused);
	return numeric_check(a, g, 11, positive) + numeric_check(a, &fused, 11, positive);
}

static void test_kinds(void)
{
	for (uint32_t i = 0; i < N_CASES; i++) {
		uint32_t n = (uint32_t)strlen(cases[i].inputs);
		for (uint32_t way = 0; way < WAY_ONLY + n; way++) {
			struct fixture f;
			if ((way >= WAY_ONLY && cases[i].inputs[way - WAY_ONLY] != 'd') ||
				(way == WAY_PRODUCT && cases[i].inputs[0] != 'd'))
				continue;
			struct graph g = build_case(&f, &cases[i], way);
			uint32_t bad = check_both(&f.a, &g, cases[i].positive);
			if (bad)
				printf("%s(%s), way %u: %u wrong\n", cases[i].kind, cases[i].inputs,
					way, bad);
			CU_ASSERT_EQUAL(bad, 0);
			arena_free(&f.a);
		}
	}
}

/* Every row of op_kinds.c has a case above; work that is given has no values. */
static void test_all_there(void)
{
	uint32_t n;
	const struct op_kind *rows = op_kinds(&n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t found = rows[i].class == CLASS_GIVEN;
		for (uint32_t c = 0; c < N_CASES; c++)
			found += strcmp(cases[c].kind, rows[i].name) == 0;
		if (!found)
			printf("\nno case for '%s'\n", rows[i].name);
		CU_ASSERT_TRUE(found > 0);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"all there", test_all_there}, {"kinds", test_kinds}, CU_TEST_INFO_NULL};
	return suite_run("autodiff", tests);
}
