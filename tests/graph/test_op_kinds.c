#include "fixture.h"

#include "graph/op_work.h"

static void test_sorted(void)
{
	uint32_t n;
	const struct op_kind *rows = op_kinds(&n);
	CU_ASSERT_TRUE(n > 30);
	for (uint32_t i = 1; i < n; i++)
		CU_ASSERT_TRUE(strcmp(rows[i - 1].name, rows[i].name) < 0);
	for (uint32_t i = 0; i < n; i++)
		CU_ASSERT_PTR_EQUAL(op_kind_find(rows[i].name), &rows[i]);
	CU_ASSERT_PTR_NULL(op_kind_find("conv2"));
	CU_ASSERT_PTR_NULL(op_kind_find(""));
}

static void check_row(const struct op_kind *k)
{
	CU_ASSERT_TRUE(k->shape != NULL);
	bool given = k->class == CLASS_GIVEN, lookup = k->backward == BACKWARD_LOOKUP;
	CU_ASSERT_TRUE((given || k->min_inputs >= 1) && k->min_inputs <= k->max_inputs);
	CU_ASSERT_EQUAL(k->core == CORE_VC, k->passes != NULL);
	CU_ASSERT_EQUAL(k->core == CORE_VC && !lookup, k->backward_passes != NULL);
	/* a vector operator may count its own traffic */
	CU_ASSERT_TRUE((k->core == CORE_TC || k->core == CORE_LINK) <= (k->work != NULL));
	CU_ASSERT_TRUE((k->work != NULL) <= (k->core != CORE_NONE));
	CU_ASSERT_EQUAL(
		k->core == CORE_TC, k->class == CLASS_COMPLEX || (given && k->work && !k->passes));
	CU_ASSERT_EQUAL(k->core == CORE_TC, k->backward == BACKWARD_GEMM);
	CU_ASSERT_EQUAL(k->core == CORE_VC && !lookup, k->backward == BACKWARD_VECTOR);
	if (k->class == CLASS_TRANSFORM && !lookup)
		CU_ASSERT_EQUAL(k->core, CORE_NONE);
}

static void test_complete(void)
{
	uint32_t n;
	const struct op_kind *rows = op_kinds(&n);
	for (uint32_t i = 0; i < n; i++)
		check_row(&rows[i]);
}

/* The figures of WHAM's table. */
static void test_cycles(void)
{
	static const struct {
		const char *name;
		uint32_t forward, back0, back1;
	} want[] = {{"add", 1, 1, 1}, {"batch_norm", 1, 1, 0}, {"cos", 13, 2, 0},
		{"div", 10, 10, 11}, {"dropout", 2, 1, 0}, {"erf", 15, 15, 0},
		{"hard_sigmoid", 12, 2, 0}, {"hard_swish", 14, 15, 0}, {"hard_tanh", 27, 2, 0},
		{"layer_norm", 1, 1, 0}, {"log_softmax", 13, 2, 0}, {"masked_fill", 1, 1, 0},
		{"mul", 1, 1, 1}, {"mul_add", 1, 1, 1}, {"neg", 1, 1, 0}, {"nll_loss", 2, 2, 0},
		{"pow", 15, 16, 16}, {"reduce_mean", 10, 10, 0}, {"reduce_sum", 0, 0, 0},
		{"relu", 1, 1, 0}, {"sigmoid", 12, 2, 0}, {"silu", 12, 2, 0}, {"sin", 13, 2, 0},
		{"softmax", 10, 2, 0}, {"sqrt", 15, 16, 0}, {"sub", 1, 1, 1}, {"tanh", 27, 2, 0},
		/* not in WHAM's table, built from its primitives */
		{"embedding_bag", 1, 0, 0}, {"exp", 1, 1, 0}, {"expert_combine", 1, 1, 1},
		{"expert_dispatch", 1, 1, 0}, {"lstm_cell", 93, 11, 0}, {"top_k", 1, 1, 0},
		{"gelu", 19, 22, 0}, {"gelu_tanh", 34, 41, 0}, {"log", 1, 10, 0},
		{"masked_softmax", 11, 2, 0}, {"rms_norm", 1, 1, 0}, {"rotary", 2, 2, 0}};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct op_kind *k = op_kind_find(want[i].name);
		CU_ASSERT_PTR_NOT_NULL(k);
		if (!k)
			continue;
		CU_ASSERT_EQUAL(k->forward_cycles, want[i].forward);
		CU_ASSERT_EQUAL(k->backward_cycles[0], want[i].back0);
		CU_ASSERT_EQUAL(k->backward_cycles[1], want[i].back1);
	}
	CU_ASSERT_EQUAL(update_cycles(OPTIMIZER_SGD), 1);
	CU_ASSERT_EQUAL(update_cycles(OPTIMIZER_MOMENTUM), 2);
	CU_ASSERT_EQUAL(update_cycles(OPTIMIZER_ADAM), 32);
}

static void test_update_bytes(void)
{
	uint64_t read, written;
	update_bytes(OPTIMIZER_SGD, 10, 2, &read, &written);
	CU_ASSERT_EQUAL(read, 60);
	CU_ASSERT_EQUAL(written, 60);
	update_bytes(OPTIMIZER_MOMENTUM, 10, 2, &read, &written);
	CU_ASSERT_EQUAL(read, 100);
	CU_ASSERT_EQUAL(written, 100);
	update_bytes(OPTIMIZER_ADAM, 10, 2, &read, &written);
	CU_ASSERT_EQUAL(read, 140);
	CU_ASSERT_EQUAL(written, 140);
	update_bytes(OPTIMIZER_ADAM, 10, 4, &read, &written);
	CU_ASSERT_EQUAL(read, 160);
	CU_ASSERT_EQUAL(written, 120);
}

static const struct vector_work *only_pass(struct fixture *f, uint32_t i)
{
	CU_ASSERT_EQUAL_FATAL(f->b.ops[i].work.n_vector, 1);
	return &f->b.ops[i].work.vector[0];
}

static void test_passes(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 2, 4, 10, 10);
	struct op_attrs pool = {.kernel = {3, 2}, .stride = {1, 2}}, lrn = {.kernel = {5, 1}};
	struct op_attrs softmax = {.axis = 3}, mean = {.axis = 2};
	OP(&f, "max_pool", "p", &pool, x);
	OP(&f, "global_avg_pool", "g", NULL, x);
	OP(&f, "softmax", "s", &softmax, x);
	OP(&f, "reduce_mean", "m", &mean, x);
	OP(&f, "lrn", "l", &lrn, x);
	CU_ASSERT_EQUAL(only_pass(&f, 0)->numel, UINT64_C(2) * 4 * 8 * 5);
	CU_ASSERT_EQUAL(only_pass(&f, 0)->lane_cycles, 6);
	CU_ASSERT_EQUAL(only_pass(&f, 1)->numel, 8);
	CU_ASSERT_EQUAL(only_pass(&f, 1)->lane_cycles, 100);
	CU_ASSERT_EQUAL(only_pass(&f, 2)->form, VECTOR_SOFTMAX);
	CU_ASSERT_EQUAL(only_pass(&f, 2)->row, 10);
	CU_ASSERT_EQUAL(only_pass(&f, 2)->numel, 800);
	CU_ASSERT_EQUAL(only_pass(&f, 3)->form, VECTOR_REDUCE);
	CU_ASSERT_EQUAL(only_pass(&f, 3)->row, 100);
	CU_ASSERT_EQUAL(only_pass(&f, 3)->lane_cycles, 10);
	CU_ASSERT_EQUAL(only_pass(&f, 4)->lane_cycles, 31);
	CU_ASSERT_EQUAL(f.b.ops[0].work.vector_read_bytes, 1600);
	CU_ASSERT_EQUAL(f.b.ops[0].work.vector_write_bytes,
		UINT64_C(2) * 4 * 8 * 5 * 3); /* and positions */
	arena_free(&f.a);
}

/* What is read again where a row does not fit, forward and backward. */
static void check_rows(const struct graph *t, const char *name, uint64_t row, uint64_t again)
{
	const struct op *op = get_op(t, name);
	CU_ASSERT_EQUAL(op->work.row_bytes, row);
	CU_ASSERT_EQUAL(op->work.again_bytes, again);
}

static void test_rows(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_PARAM, 2, 4, 6, 10);
	tensor_id c = TENSOR(&f, "c", TENSOR_PARAM, 4), l = TENSOR(&f, "l", TENSOR_PARAM, 10);
	struct op_attrs axis = {.axis = 2};
	const uint64_t all = UINT64_C(2) * 4 * 6 * 10 * 2;
	tensor_id y = OP(&f, "batch_norm", "bn", NULL, x, c, c);
	y = OP(&f, "layer_norm", "ln", NULL, y, l, l);
	y = OP(&f, "rms_norm", "rms", NULL, y, l);
	y = OP(&f, "softmax", "soft", &axis, y);
	y = OP(&f, "relu", "relu", NULL, y);
	OP(&f, "cross_entropy", "loss", NULL, y);
	struct graph g = fixture_finish(&f), t;
	graph_train(&f.a, &g, &(struct train_options){OPTIMIZER_SGD}, &t);
	check_rows(&t, "bn", all, all);
	check_rows(&t, "ln", 20, all);
	check_rows(&t, "rms", 20, all);
	check_rows(&t, "soft", 12, all);
	check_rows(&t, "relu", 0, 0);
	check_rows(&t, "loss", 20, all);
	check_rows(&t, "bn/dX", 2 * all, 2 * all);
	check_rows(&t, "ln/dX", 40, 2 * all);
	check_rows(&t, "rms/dX", 40, 2 * all);
	check_rows(&t, "soft/dX", 24, 2 * all);
	check_rows(&t, "relu/dX", 0, 0);
	check_rows(&t, "loss/dX", 0, 0);
	/* compulsory: input, gain and shift; what came in, what was saved, gain and shift */
	CU_ASSERT_EQUAL(get_op(&t, "ln")->work.vector_read_bytes, all + 40);
	CU_ASSERT_EQUAL(get_op(&t, "ln")->work.vector_write_bytes, all);
	CU_ASSERT_EQUAL(get_op(&t, "ln/dX")->work.vector_read_bytes, 2 * all + 40);
	CU_ASSERT_EQUAL(get_op(&t, "ln/dX")->work.vector_write_bytes, all + 40);
	arena_free(&f.a);
}

/* A fused operator takes the longest row and all that is read again. */
static void test_fused_rows(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 5, 8), w = TENSOR(&f, "w", TENSOR_PARAM, 8, 6);
	tensor_id s = TENSOR(&f, "s", TENSOR_PARAM, 6);
	tensor_id y = OP(&f, "gemm", "g", NULL, x, w);
	y = OP(&f, "batch_norm", "bn", NULL, OP(&f, "rms_norm", "rms", NULL, y, s), s, s);
	OP(&f, "relu", "relu", NULL, y);
	struct graph g = fixture_finish(&f), fused, t;
	graph_fuse(&f.a, &g, &fused);
	graph_train(&f.a, &fused, &(struct train_options){OPTIMIZER_SGD}, &t);
	check_rows(&t, "g", 60, 120);
	check_rows(&t, "g/dtail", 120, 240);
	check_rows(&t, "g/dW", 0, 0);
	arena_free(&f.a);
}

static void test_new_shapes(void)
{
	static const struct {
		const char *kind;
		uint64_t x, second;
		uint32_t n_in;
		const char *says;
	} bad[] = {{"rotary", 6, 6, 2, "a table of cosines"}, {"rotary", 5, 5, 3, "even number"},
		{"masked_fill", 1, 6, 2, "must not enlarge"},
		{"masked_softmax", 1, 6, 2, "must not enlarge"},
		{"nll_loss", 6, 6, 2, "labels are expected"}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fixture f;
		op_id op;
		fixture_init(&f);
		tensor_id in[3] = {TENSOR(&f, "x", TENSOR_INPUT, 3, bad[i].x),
			TENSOR(&f, "y", TENSOR_INPUT, 3, bad[i].second),
			TENSOR(&f, "z", TENSOR_INPUT, 3, bad[i].second)};
		struct op_request r = {
			.name = "o", .kind = bad[i].kind, .inputs = in, .n_inputs = bad[i].n_in};
		CU_ASSERT_FALSE(builder_add_op(&f.b, &r, &op, &f.err));
		CU_ASSERT_EQUAL(f.err.kind, ERR_INPUT);
		CU_ASSERT_PTR_NOT_NULL(strstr(f.err.text, bad[i].says));
		arena_free(&f.a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {{"sorted", test_sorted}, {"complete", test_complete},
		{"cycles", test_cycles}, {"update bytes", test_update_bytes},
		{"passes", test_passes}, {"rows", test_rows}, {"fused rows", test_fused_rows},
		{"new shapes", test_new_shapes}, CU_TEST_INFO_NULL};
	return suite_run("op_kinds", tests);
}
