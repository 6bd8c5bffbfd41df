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
	CU_ASSERT_TRUE(k->min_inputs >= 1 && k->min_inputs <= k->max_inputs);
	CU_ASSERT_EQUAL(k->core == CORE_VC, k->passes != NULL);
	CU_ASSERT_EQUAL(k->core == CORE_VC, k->backward_passes != NULL);
	CU_ASSERT_EQUAL(k->core == CORE_TC || k->core == CORE_LINK, k->work != NULL);
	CU_ASSERT_EQUAL(k->core == CORE_TC, k->class == CLASS_COMPLEX);
	CU_ASSERT_EQUAL(k->core == CORE_TC, k->backward == BACKWARD_GEMM);
	CU_ASSERT_EQUAL(k->core == CORE_VC, k->backward == BACKWARD_VECTOR);
	if (k->class == CLASS_TRANSFORM)
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
	} want[] = {{"add", 1, 1, 1}, {"batch_norm", 1, 1, 0}, {"div", 10, 10, 11},
		{"dropout", 2, 1, 0}, {"erf", 15, 15, 0}, {"hard_sigmoid", 12, 2, 0},
		{"hard_swish", 14, 15, 0}, {"layer_norm", 1, 1, 0}, {"log_softmax", 13, 2, 0},
		{"mul", 1, 1, 1}, {"pow", 15, 16, 16}, {"relu", 1, 1, 0}, {"sigmoid", 12, 2, 0},
		{"softmax", 10, 2, 0}, {"sqrt", 15, 16, 0}, {"sub", 1, 1, 1}, {"tanh", 27, 2, 0}};
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

int main(void)
{
	CU_TestInfo tests[] = {{"sorted", test_sorted}, {"complete", test_complete},
		{"cycles", test_cycles}, {"update bytes", test_update_bytes},
		{"passes", test_passes}, CU_TEST_INFO_NULL};
	return suite_run("op_kinds", tests);
}
