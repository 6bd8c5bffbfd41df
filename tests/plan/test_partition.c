#include "base/rng.h"
#include "setup.h"

static bool cut(struct arena *a, struct plan_input in, uint32_t pp, uint32_t *b, struct err *err)
{
	struct degrees d = {.pp = pp};
	in.degrees = &d;
	return plan_partition(a, &in, b, err);
}

static void check_boundaries(const uint32_t *got, const uint32_t *want, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		CU_ASSERT_EQUAL(got[i], want[i]);
}

static void test_uniform(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch arch = setup_arch(&a);
	struct graph g = {.name = "ten", .n_layers = 10};
	struct plan_options options = {.partition = PARTITION_UNIFORM};
	struct plan_input in = {.train = &g, .archs = &arch, .n_archs = 1, .options = &options};
	uint32_t b[11];
	CU_ASSERT_TRUE(cut(&a, in, 4, b, &err));
	check_boundaries(b, (uint32_t[]){0, 3, 6, 8, 10}, 5);
	CU_ASSERT_TRUE(cut(&a, in, 1, b, &err));
	check_boundaries(b, (uint32_t[]){0, 10}, 2);
	CU_ASSERT_TRUE(cut(&a, in, 10, b, &err));
	for (uint32_t i = 0; i <= 10; i++)
		CU_ASSERT_EQUAL(b[i], i);
	arena_free(&a);
}

/* Those of the workload file, when they are as many as are needed. */
static void test_cuts(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch arch = setup_arch(&a);
	const uint32_t cuts[] = {1, 7};
	struct graph g = {.name = "ten", .n_layers = 10, .cuts = cuts, .n_cuts = 2};
	struct plan_options options = {.partition = PARTITION_UNIFORM};
	struct plan_input in = {.train = &g, .archs = &arch, .n_archs = 1, .options = &options};
	uint32_t b[4];
	CU_ASSERT_TRUE(cut(&a, in, 3, b, &err));
	check_boundaries(b, (uint32_t[]){0, 1, 7, 10}, 4);
	CU_ASSERT_TRUE(cut(&a, in, 2, b, &err));
	check_boundaries(b, (uint32_t[]){0, 5, 10}, 3);
	arena_free(&a);
}

static void test_refused(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch arch = setup_arch(&a);
	struct graph g = {.name = "bert-large", .n_layers = 24};
	struct plan_options options = {.partition = PARTITION_BALANCED};
	struct plan_input in = {.train = &g, .archs = &arch, .n_archs = 1, .options = &options};
	uint32_t b[1] = {0};
	CU_ASSERT_FALSE(cut(&a, in, 30, b, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text, "pp 30 is larger than the 24 layers of bert-large");
	CU_ASSERT_FALSE(cut(&a, in, 0, b, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "pp is 0, expected at least 1");
	arena_free(&a);
}

/* Times of layers alone, as the header says they are compared. */
static tick *layer_times(struct arena *a, const struct plan_input *in)
{
	tick *t = arena_array(a, in->train->n_layers, tick);
	for (uint32_t l = 0; l < in->train->n_layers; l++) {
		struct stage s = {0};
		plan_price_stage(a, in, l, l + 1, &s);
		t[l] = s.forward + s.backward;
	}
	return t;
}

/* The least slowest stage by trying everything. */
static tick best_of(const tick *t, uint32_t n, uint32_t pp)
{
	if (pp == 1) {
		tick sum = 0;
		for (uint32_t l = 0; l < n; l++)
			sum += t[l];
		return sum;
	}
	tick best = TICK_MAX, last = 0;
	for (uint32_t start = n; start-- > pp - 1;) {
		last += t[start];
		tick rest = best_of(t, start, pp - 1);
		tick slowest = rest > last ? rest : last;
		best = slowest < best ? slowest : best;
	}
	return best;
}

static tick slowest_of(const tick *t, const uint32_t *b, uint32_t pp)
{
	tick slowest = 0;
	for (uint32_t i = 0; i < pp; i++) {
		tick sum = 0;
		CU_ASSERT_TRUE(b[i] < b[i + 1]);
		for (uint32_t l = b[i]; l < b[i + 1]; l++)
			sum += t[l];
		slowest = sum > slowest ? sum : slowest;
	}
	return slowest;
}

static void check_balanced(const struct graph *g, enum recompute recompute, uint32_t max_pp)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch arch = setup_arch(&a);
	struct plan_options options = {.partition = PARTITION_BALANCED, .recompute = recompute};
	struct plan_input in = {.train = g, .archs = &arch, .n_archs = 1, .options = &options};
	tick *t = layer_times(&a, &in);
	for (uint32_t pp = 1; pp <= max_pp; pp++) {
		uint32_t b[64] = {0};
		CU_ASSERT_TRUE_FATAL(cut(&a, in, pp, b, &err));
		CU_ASSERT_EQUAL(b[0], 0);
		CU_ASSERT_EQUAL(b[pp], g->n_layers);
		CU_ASSERT_EQUAL(slowest_of(t, b, pp), best_of(t, g->n_layers, pp));
	}
	arena_free(&a);
}

static void test_balanced(void)
{
	struct arena a = {0};
	struct graph_options options = {.batch = 2};
	struct graph resnet =
		setup_train(&a, "models/workloads/resnet18.json", &options, true, OPTIMIZER_SGD);
	check_balanced(&resnet, RECOMPUTE_NONE, 5);
	check_balanced(&resnet, RECOMPUTE_FULL, 4);
	struct graph tiny = setup_tiny(&a, 1);
	check_balanced(&tiny, RECOMPUTE_SELECTIVE, TINY_LAYERS);
	arena_free(&a);
}

/* Equal layers over 4 stages of at most 2: the earliest boundaries, the last one first. */
static void test_ties(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch arch = setup_arch(&a);
	struct op *ops = arena_array(&a, 6, struct op);
	for (uint32_t i = 0; i < 6; i++)
		ops[i] = (struct op){.layer = i,
			.forward = i,
			.work = {.core = CORE_TC, .batch = 1, .m = 128, .n = 128, .k = 128}};
	struct graph g = {.name = "equal", .ops = ops, .n_ops = 6, .n_layers = 6, .tp = 1};
	struct plan_options options = {.partition = PARTITION_BALANCED};
	struct plan_input in = {.train = &g, .archs = &arch, .n_archs = 1, .options = &options};
	uint32_t b[5] = {0};
	CU_ASSERT_TRUE(cut(&a, in, 4, b, &err));
	check_boundaries(b, (uint32_t[]){0, 1, 2, 4, 6}, 5);
	arena_free(&a);
}

/* Slow links make layers with collectives longer, so that the time they count with grows. */
static void test_collectives_count(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch arch = setup_arch(&a);
	struct graph_options graph_options = {.batch = 1, .tp = 2};
	struct graph g = setup_train(
		&a, "models/workloads/bert-large.json", &graph_options, true, OPTIMIZER_ADAM);
	struct plan_options options = {.partition = PARTITION_BALANCED};
	struct plan_input in = {.train = &g, .archs = &arch, .n_archs = 1, .options = &options};
	uint32_t free_links[5] = {0}, slow_links[5] = {0};
	CU_ASSERT_TRUE(cut(&a, in, 4, free_links, &err));
	options.link = (struct device_link){.ranks = 2, .bytes_per_s = 1000000, .latency = 1};
	CU_ASSERT_TRUE(cut(&a, in, 4, slow_links, &err));
	CU_ASSERT_NOT_EQUAL(memcmp(free_links, slow_links, sizeof(free_links)), 0);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"as many layers each", test_uniform},
		{"cuts", test_cuts},
		{"more stages than layers", test_refused},
		{"balanced is the best of all", test_balanced},
		{"ties go to the earlier boundary", test_ties},
		{"collectives count", test_collectives_count},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan partition", tests);
}
