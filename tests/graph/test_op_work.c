/* Lane cycles and bytes of the operators, forward and backward, counted by hand on small shapes. */
#include "fixture.h"

/* Between two matrix products: x[4,6] = gemm, OP, gemm. 24 elements and 48 bytes in bf16. */
struct counts {
	uint64_t lanes; /* sum over passes of elements x lane cycles */
	uint64_t read, written;
};

struct row {
	const char *kind;
	const char *
		inputs; /* beside x: 'a' another activation, 'p' a parameter [6], 'm' a mask [4,6] of 1 byte */
	struct counts forward, back;
};

static const struct row rows[] = {
	/* reads x, writes y; reads dy and what was saved, writes dx */
	{"add", "a", {24, 96, 48}, {48, 48, 0}},
	{"cos", "", {312, 48, 48}, {48, 96, 48}},
	{"div", "a", {240, 96, 48}, {504, 144, 96}},
	{"dropout", "", {48, 48, 72}, {24, 72, 48}},
	{"erf", "", {360, 48, 48}, {360, 96, 48}},
	{"exp", "", {24, 48, 48}, {24, 96, 48}},
	{"gelu", "", {456, 48, 48}, {528, 96, 48}},
	{"gelu_tanh", "", {816, 48, 48}, {984, 96, 48}},
	{"hard_sigmoid", "", {288, 48, 48}, {48, 96, 48}},
	{"hard_swish", "", {336, 48, 48}, {360, 96, 48}},
	{"hard_tanh", "", {648, 48, 48}, {48, 96, 48}},
	/* parameters are read again, their gradients written */
	{"batch_norm", "pp", {24, 72, 48}, {24, 120, 72}},
	{"layer_norm", "pp", {24, 72, 48}, {24, 120, 72}},
	{"rms_norm", "p", {24, 60, 48}, {24, 108, 60}},
	{"log", "", {24, 48, 48}, {240, 96, 48}},
	{"log_softmax", "", {312, 48, 48}, {48, 96, 48}},
	{"masked_fill", "m", {24, 72, 48}, {24, 72, 48}},
	{"masked_softmax", "m", {264, 72, 48}, {48, 96, 48}},
	{"mul", "a", {24, 96, 48}, {48, 144, 96}},
	{"mul_add", "aa", {24, 144, 48}, {72, 144, 96}},
	{"neg", "", {24, 48, 48}, {24, 48, 48}},
	{"pow", "a", {360, 96, 48}, {768, 144, 96}},
	{"relu", "", {24, 48, 48}, {24, 96, 48}},
	{"rotary", "", {48, 48, 48}, {48, 48, 48}},
	{"sigmoid", "", {288, 48, 48}, {48, 96, 48}},
	{"silu", "", {288, 48, 48}, {48, 96, 48}},
	{"sin", "", {312, 48, 48}, {48, 96, 48}},
	{"softmax", "", {240, 48, 48}, {48, 96, 48}},
	{"sqrt", "", {360, 48, 48}, {384, 96, 48}},
	{"sub", "a", {24, 96, 48}, {48, 48, 48}},
	{"tanh", "", {648, 48, 48}, {48, 96, 48}},
};

static uint64_t lanes_of(const struct work *w)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < w->n_vector; i++)
		sum += w->vector[i].numel * w->vector[i].lane_cycles;
	return sum;
}

static void check_counts(const struct graph *t, const char *name, const struct counts *want)
{
	const struct work *w = &get_op(t, name)->work;
	bool right = lanes_of(w) == want->lanes && w->vector_read_bytes == want->read &&
		     w->vector_write_bytes == want->written;
	if (!right)
		printf("\n%s (%s): %" PRIu64 " lane cycles, %" PRIu64 " read, %" PRIu64
		       " written\n",
			name, op_kind_name(get_op(t, name)->kind), lanes_of(w),
			w->vector_read_bytes, w->vector_write_bytes);
	CU_ASSERT_TRUE(right);
}

static tensor_id product(struct fixture *f, const char *name, tensor_id x, uint64_t k, uint64_t n)
{
	tensor_id w = TENSOR(f, arena_printf(&f->a, "%s.w", name), TENSOR_PARAM, k, n);
	return OP(f, "gemm", name, NULL, x, w);
}

static tensor_id other_input(struct fixture *f, char kind, uint32_t i, tensor_id from)
{
	const char *name = arena_printf(&f->a, "other%u", i);
	struct tensor mask = {.name = name, .n_dims = 2, .dims = {4, 6}, .elem_bytes = 1};
	tensor_id id = 0;
	if (kind == 'a')
		return product(f, name, from, 5, 6);
	if (kind == 'p')
		return TENSOR(f, name, TENSOR_PARAM, 6);
	CU_ASSERT_TRUE_FATAL(builder_add_tensor(&f->b, &mask, &id, &f->err));
	return id;
}

static struct graph trained(struct fixture *f)
{
	struct graph g = fixture_finish(f), t;
	graph_train(&f->a, &g, &(struct train_options){OPTIMIZER_SGD}, &t);
	return t;
}

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct op_attrs axis = {.axis = 1};
		uint32_t n = (uint32_t)strlen(rows[i].inputs);
		fixture_init(&f);
		tensor_id from = TENSOR(&f, "from", TENSOR_INPUT, 4, 5),
			  in[3] = {product(&f, "before", from, 5, 6)};
		for (uint32_t j = 0; j < n; j++)
			in[1 + j] = other_input(&f, rows[i].inputs[j], j, from);
		product(&f, "after", fixture_op(&f, rows[i].kind, "op", &axis, in, 1 + n), 6, 2);
		struct graph t = trained(&f);
		check_counts(&t, "op", &rows[i].forward);
		check_counts(&t, "op/dX", &rows[i].back);
		arena_free(&f.a);
	}
}

/* Logits [4,6]; labels of 8 bytes and probabilities of 4. The loss is where the backward pass
 * starts: no dy. */
static void test_losses(void)
{
	struct fixture f;
	fixture_init(&f);
	struct tensor ids = {.name = "labels", .n_dims = 1, .dims = {4}, .elem_bytes = 8};
	tensor_id labels = 0, from = TENSOR(&f, "from", TENSOR_INPUT, 4, 5);
	CU_ASSERT_TRUE_FATAL(builder_add_tensor(&f.b, &ids, &labels, &f.err));
	struct op_attrs axis = {.axis = 1};
	tensor_id x = product(&f, "a", from, 5, 6), y = product(&f, "b", from, 5, 6);
	OP(&f, "cross_entropy", "loss", NULL, x, labels);
	OP(&f, "nll_loss", "nll", NULL, OP(&f, "log_softmax", "log", &axis, y), labels);
	struct graph t = trained(&f);
	check_counts(&t, "loss", &(struct counts){24 * 13 + 4 * 2, 48 + 32, 8 + 96});
	check_counts(&t, "loss/dX", &(struct counts){24 * 2 + 4 * 2, 96 + 32, 48});
	check_counts(&t, "nll", &(struct counts){4 * 2, 48 + 32, 8});
	check_counts(&t, "nll/dX", &(struct counts){4 * 2, 32, 48});
	arena_free(&f.a);
}

/* Images [2,3,4,4]: 96 elements. */
static void test_windows(void)
{
	struct fixture f;
	fixture_init(&f);
	struct op_attrs pool = {.kernel = {2, 2}, .stride = {2, 2}}, five = {.kernel = {5, 1}};
	struct op_attrs rows_of = {.axis = 2};
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 2, 3, 4, 4),
		  w = TENSOR(&f, "w", TENSOR_PARAM, 3, 3, 1, 1);
	x = OP(&f, "lrn", "lrn", &five, OP(&f, "conv", "c", NULL, x, w));
	tensor_id y = OP(&f, "max_pool", "max", &pool, x);
	OP(&f, "avg_pool", "avg", &pool, y);
	OP(&f, "global_avg_pool", "all", NULL, y);
	OP(&f, "reduce_mean", "mean", &rows_of, y);
	OP(&f, "reduce_sum", "sum", &rows_of, y);
	struct graph t = trained(&f);
	check_counts(&t, "lrn", &(struct counts){96 * 31, 192, 192});
	check_counts(&t, "lrn/dX", &(struct counts){96 * 36, 3 * 192, 192});
	check_counts(&t, "max", &(struct counts){24 * 4, 192, 48 + 24});
	check_counts(&t, "max/dX", &(struct counts){96, 48 + 24, 192});
	check_counts(&t, "avg", &(struct counts){6 * 4, 48, 12});
	check_counts(&t, "avg/dX", &(struct counts){24, 0, 48});
	check_counts(&t, "all", &(struct counts){6 * 4, 48, 12});
	check_counts(&t, "all/dX", &(struct counts){24, 0, 48});
	check_counts(&t, "mean", &(struct counts){24 * 10, 48, 12});
	check_counts(&t, "sum", &(struct counts){0, 48, 12});
	CU_ASSERT_EQUAL(get_op(&t, "sum")->work.vector[0].row, 4);
	arena_free(&f.a);
}

/* 3 lookups of 8 features in a table of 100 rows: labels of 8 bytes, rows of 16. */
static void test_lookups(void)
{
	struct fixture f;
	fixture_init(&f);
	struct tensor ids = {.name = "ids", .n_dims = 1, .dims = {3}, .elem_bytes = 8};
	struct tensor bags = {.name = "bags", .n_dims = 2, .dims = {3, 5}, .elem_bytes = 8};
	tensor_id one = 0, many = 0, table = TENSOR(&f, "table", TENSOR_PARAM, 100, 8);
	CU_ASSERT_TRUE_FATAL(builder_add_tensor(&f.b, &ids, &one, &f.err));
	CU_ASSERT_TRUE_FATAL(builder_add_tensor(&f.b, &bags, &many, &f.err));
	product(&f, "a", OP(&f, "embedding", "e", NULL, one, table), 8, 2);
	product(&f, "b", OP(&f, "embedding_bag", "bag", NULL, many, table), 8, 2);
	tensor_id only = TENSOR(&f, "bags only", TENSOR_PARAM, 100, 8),
		  small = TENSOR(&f, "small", TENSOR_PARAM, 2, 8);
	product(&f, "c", OP(&f, "embedding_bag", "bag1", NULL, many, only), 8, 2);
	product(&f, "d", OP(&f, "embedding_bag", "bag2", NULL, many, only), 8, 2);
	product(&f, "g", OP(&f, "embedding_bag", "bag3", NULL, many, small), 8, 2);
	struct graph t = trained(&f);
	check_counts(&t, "e", &(struct counts){0, 24 + 48, 48});
	check_counts(&t, "e/dW", &(struct counts){0, 24 + 48 + 48, 48});
	check_counts(&t, "bag", &(struct counts){120, 120 + 240, 48});
	check_counts(&t, "bag/dW", &(struct counts){0, 120 + 48 + 240, 240});
	CU_ASSERT_EQUAL(get_op(&t, "e/dW")->work.core, CORE_VC);
	CU_ASSERT_EQUAL(get_op(&t, "table/update")->work.vector[0].numel, 800);
	/* lookups of bags only: 15 and 15 rows; the last has more lookups than its table elements */
	CU_ASSERT_EQUAL(get_op(&t, "bags only/update")->work.vector[0].numel, 240);
	CU_ASSERT_EQUAL(get_op(&t, "small/update")->work.vector[0].numel, 16);
	CU_ASSERT_EQUAL(get_op(&t, "small/update")->work.vector_read_bytes, 16 * 6);
	arena_free(&f.a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"rows", test_rows}, {"losses", test_losses},
		{"windows", test_windows}, {"lookups", test_lookups}, CU_TEST_INFO_NULL};
	return suite_run("op_work", tests);
}
