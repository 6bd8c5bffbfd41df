/* Whole searches on small workloads. */
#include <math.h>
#include <string.h>

#include "make.h"
#include "suite.h"

static const char small[] = "layers=2,hidden=256,heads=4,ffn=1024,seq=128,vocab=1000";

/* The small transformer within TPUv2's limits, TPUv2 as the baseline, space 16 .. 256. */
static void make_small(struct arena *a, struct setup *out)
{
	struct graph *g = arena_new(a, struct graph);
	*g = make_transformer(a, small);
	make_setup(a, g, out);
	struct arch *tpu = arena_new(a, struct arch);
	*tpu = out->config.base;
	out->config.space.max_dim = 256;
	out->config.space.max_count = 4096;
	out->config.space.min_sram_bytes = out->config.space.max_sram_bytes = UINT64_C(16) << 20;
	out->config.budget = (struct search_budget){arch_area_mm2(tpu), arch_tdp_w(tpu), 0};
	out->config.baselines = tpu;
	out->config.n_baselines = 1;
}

static struct search_result must_run(
	struct arena *a, const struct search_algo *algo, const struct search_config *config)
{
	struct search_result r;
	struct err err = {0};
	bool ok = search_run(a, algo, config, &r, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return r;
}

static void test_against_exhaustive(void)
{
	struct arena a = {0};
	struct setup s;
	make_small(&a, &s);
	/* Baselines are candidates of both, and would hide a difference. */
	s.config.n_baselines = 0;
	for (int metric = 0; metric < 2; metric++) {
		s.config.metric = metric ? METRIC_PERF_PER_TDP : METRIC_THROUGHPUT;
		struct search_result wham = must_run(&a, &search_wham, &s.config);
		struct search_result all = must_run(&a, &search_exhaustive, &s.config);
		CU_ASSERT_TRUE(wham.finalists[0].score >= 0.99 * all.finalists[0].score);
		CU_ASSERT_TRUE(wham.finalists[0].score <= all.finalists[0].score);
		CU_ASSERT_TRUE(wham.oracle_calls * 20 < all.oracle_calls);
	}
	arena_free(&a);
}

static void check_equal(const struct search_result *x, const struct search_result *y)
{
	CU_ASSERT_EQUAL(x->oracle_calls, y->oracle_calls);
	CU_ASSERT_EQUAL(x->pruned_points, y->pruned_points);
	CU_ASSERT_EQUAL_FATAL(x->n_finalists, y->n_finalists);
	for (uint32_t i = 0; i < x->n_finalists; i++) {
		const struct finalist *p = &x->finalists[i], *q = &y->finalists[i];
		CU_ASSERT_EQUAL(design_compare(&p->design, &q->design), 0);
		CU_ASSERT_EQUAL(p->score, q->score);
		CU_ASSERT_EQUAL(p->ratios[0], q->ratios[0]);
		make_compare(p->outcomes, q->outcomes);
	}
}

static void test_determinism(void)
{
	for (size_t i = 0; search_algos[i]; i++) {
		struct arena a = {0};
		struct setup s;
		make_small(&a, &s);
		if (search_algos[i] == &search_exhaustive)
			s.config.space.min_dim = 64;
		struct search_result first = must_run(&a, search_algos[i], &s.config);
		CU_ASSERT_EQUAL(first.n_finalists, s.config.top_k);
		for (uint32_t jobs = 1; jobs <= 3; jobs++) {
			s.config.jobs = jobs;
			struct search_result again = must_run(&a, search_algos[i], &s.config);
			check_equal(&first, &again);
		}
		arena_free(&a);
	}
}

static void check_budget(const struct search_config *config, const struct search_result *r)
{
	CU_ASSERT_TRUE(r->n_finalists > 0);
	for (uint32_t j = 0; j < r->n_finalists; j++) {
		const struct finalist *f = &r->finalists[j];
		CU_ASSERT_TRUE(f->area_mm2 <= config->budget.area_mm2);
		CU_ASSERT_TRUE(f->tdp_w <= config->budget.tdp_w);
		CU_ASSERT_EQUAL(f->area_mm2, arch_area_mm2(&f->arch));
		CU_ASSERT_EQUAL(f->tdp_w, arch_tdp_w(&f->arch));
		CU_ASSERT_TRUE(j == 0 || f->score <= r->finalists[j - 1].score);
		CU_ASSERT_PTR_NULL(f->name);
	}
}

static void test_budget(void)
{
	for (size_t i = 0; search_algos[i]; i++) {
		struct arena a = {0};
		struct setup s;
		make_small(&a, &s);
		s.config.space.min_dim = 32;
		s.config.budget.area_mm2 *= 0.9;
		s.config.budget.tdp_w *= 0.8;
		s.config.max_calls = search_algos[i] == &search_random ? 200 : 0;
		struct search_result r = must_run(&a, search_algos[i], &s.config);
		check_budget(&s.config, &r);
		/* The baseline breaks the budget, and is shown all the same. */
		CU_ASSERT_STRING_EQUAL(r.baselines[0].name, "tpuv2");
		CU_ASSERT_TRUE(r.baselines[0].area_mm2 > s.config.budget.area_mm2);
		CU_ASSERT_EQUAL(r.baselines[0].ratios[0], 1.0);
		arena_free(&a);
	}
}

static void test_nothing_fits(void)
{
	struct arena a = {0};
	struct setup s;
	struct search_result r;
	struct err err = {0};
	make_small(&a, &s);
	s.config.budget.area_mm2 = 50;
	CU_ASSERT_FALSE(search_run(&a, &search_wham, &s.config, &r, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no design fits into 50 mm2"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(err.text, "1 x 16x16 tensor core, 1 x 16 vector core and 16 MiB"));
	arena_free(&a);
}

static void test_bad_config(void)
{
	struct arena a = {0};
	struct setup s;
	struct search_result r;
	struct err err = {0};
	make_small(&a, &s);
	struct workload two[] = {s.workload, s.workload};
	s.config.workloads = two;
	s.config.n_workloads = 2;
	CU_ASSERT_FALSE(search_run(&a, &search_wham, &s.config, &r, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	s.config.n_workloads = 1;
	s.config.top_k = 0;
	CU_ASSERT_FALSE(search_run(&a, &search_wham, &s.config, &r, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	s.config.top_k = 1;
	two[0].degrees.batch = 3;
	CU_ASSERT_FALSE(search_run(&a, &search_wham, &s.config, &r, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	arena_free(&a);
}

/* Vector operators in a chain: halving rows or columns changes nothing, halving the width makes
 * it worse, one core of each kind is best. With room for every point no bound cuts, and each
 * visited point costs one call. */
static void test_hysteresis(void)
{
	static const uint32_t visited[] = {4, 4, 10, 17, 23, 26, 27};
	for (uint32_t h = 0; h < sizeof(visited) / sizeof(*visited); h++) {
		struct arena a = {0};
		struct setup s;
		struct graph g = make_graph(&a, 3);
		op_id last = GRAPH_NONE;
		for (int i = 0; i < 3; i++)
			last = make_op(&a, &g,
				&(struct op_request){
					PASS_FORWARD, CORE_VC, 1000, GRAPH_NONE, last});
		make_setup(&a, &g, &s);
		s.config.hysteresis = h;
		s.config.top_k = 100;
		struct search_result r = must_run(&a, &search_wham, &s.config);
		CU_ASSERT_EQUAL(r.oracle_calls, visited[h]);
		CU_ASSERT_EQUAL(r.n_finalists, visited[h]);
		CU_ASSERT_EQUAL(r.finalists[0].design.width, 64);
		/* Of equal designs the smallest is first. */
		CU_ASSERT_EQUAL(r.finalists[0].design.tc, 1);
		CU_ASSERT_EQUAL(r.finalists[0].design.rows, h < 2 ? 32 : 16);
		arena_free(&a);
	}
}

static void test_random(void)
{
	struct arena a = {0};
	struct setup s;
	make_small(&a, &s);
	s.config.n_baselines = 0;
	struct search_result all = must_run(&a, &search_wham, &s.config);
	double scores[2];
	for (uint64_t seed = 0; seed < 2; seed++) {
		s.config.seed = seed;
		s.config.max_calls = 150;
		struct search_result r = must_run(&a, &search_random, &s.config);
		CU_ASSERT_EQUAL(r.oracle_calls, 150);
		CU_ASSERT_TRUE(r.finalists[0].score <= 1.01 * all.finalists[0].score);
		scores[seed] = r.finalists[0].score;
	}
	CU_ASSERT_NOT_EQUAL(scores[0], scores[1]);
	/* A space with four designs is exhausted, not drawn from for ever. */
	s.config.space.min_dim = s.config.space.max_dim = 32;
	s.config.space.max_count = 2;
	struct search_result few = must_run(&a, &search_random, &s.config);
	CU_ASSERT_EQUAL(few.oracle_calls, 4);
	arena_free(&a);
}

static void test_perf_per_tdp(void)
{
	struct arena a = {0};
	struct setup s;
	make_small(&a, &s);
	s.config.metric = METRIC_PERF_PER_TDP;
	s.config.budget.floor = 1;
	s.config.space.max_width = 1024;
	struct search_result r = must_run(&a, &search_wham, &s.config);
	const struct finalist *best = &r.finalists[0], *tpu = &r.baselines[0];
	CU_ASSERT_TRUE(best->outcomes[0].samples_per_s >= tpu->outcomes[0].samples_per_s);
	CU_ASSERT_DOUBLE_EQUAL(
		best->score, best->outcomes[0].samples_per_s / best->tdp_w, 1e-9 * best->score);
	CU_ASSERT_TRUE(best->score > tpu->score);
	/* Without the floor at least as good a ratio is found. */
	s.config.budget.floor = 0;
	struct search_result free_run = must_run(&a, &search_wham, &s.config);
	CU_ASSERT_TRUE(free_run.finalists[0].score >= best->score);
	/* A floor that nothing reaches: designs come by throughput, below zero. */
	s.config.budget.floor = 1000;
	struct search_result high = must_run(&a, &search_wham, &s.config);
	CU_ASSERT_TRUE(high.finalists[0].score < 0);
	CU_ASSERT_TRUE(high.finalists[0].score > -1);
	arena_free(&a);
}

static void test_common(void)
{
	struct arena a = {0};
	struct setup s;
	make_small(&a, &s);
	struct graph wide =
		make_transformer(&a, "layers=1,hidden=512,heads=8,ffn=512,seq=64,vocab=100");
	struct workload two[] = {s.workload, s.workload};
	two[1].train = &wide;
	two[1].weight = 3;
	s.config.workloads = two;
	s.config.n_workloads = 2;
	s.config.mode = MODE_COMMON;
	struct search_result r = must_run(&a, &search_wham, &s.config);
	const struct finalist *best = &r.finalists[0], *tpu = &r.baselines[0];
	double ratio[2];
	for (int i = 0; i < 2; i++)
		ratio[i] = best->outcomes[i].samples_per_s / tpu->outcomes[i].samples_per_s;
	double mean = exp((log(ratio[0]) + 3 * log(ratio[1])) / 4);
	CU_ASSERT_DOUBLE_EQUAL(best->score, mean, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(best->ratios[0], mean, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(tpu->score, 1, 1e-12);
	/* No design for both is better for one than what is found for it alone. */
	for (int i = 0; i < 2; i++) {
		s.config.workloads = &two[i];
		s.config.n_workloads = 1;
		s.config.mode = MODE_INDIVIDUAL;
		struct search_result own = must_run(&a, &search_wham, &s.config);
		CU_ASSERT_TRUE(own.finalists[0].outcomes[0].samples_per_s >=
			       0.999 * best->outcomes[i].samples_per_s);
	}
	arena_free(&a);
}

struct watch {
	uint64_t calls;
	double best;
	uint32_t n;
};

static void watch(void *ctx, uint64_t calls, double best)
{
	struct watch *w = ctx;
	CU_ASSERT_TRUE(calls >= w->calls);
	CU_ASSERT_TRUE(best >= w->best);
	*w = (struct watch){calls, best, w->n + 1};
}

static void test_progress_and_limit(void)
{
	struct arena a = {0};
	struct setup s;
	struct watch w = {0};
	make_small(&a, &s);
	s.config.progress = watch;
	s.config.progress_ctx = &w;
	struct search_result whole = must_run(&a, &search_wham, &s.config);
	CU_ASSERT_TRUE(w.n > 1);
	CU_ASSERT_TRUE(w.calls <= whole.oracle_calls);
	w = (struct watch){0};
	s.config.max_calls = 1;
	struct search_result cut = must_run(&a, &search_wham, &s.config);
	CU_ASSERT_TRUE(cut.oracle_calls < whole.oracle_calls);
	CU_ASSERT_EQUAL(w.n, 1);
	CU_ASSERT_TRUE(cut.n_finalists > 0);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"within 1 % of the exhaustive optimum", test_against_exhaustive},
		{"same result for any jobs, and twice", test_determinism},
		{"finalists keep to the budget", test_budget},
		{"nothing fits", test_nothing_fits},
		{"configurations that make no sense", test_bad_config},
		{"hysteresis leaves fruitless branches", test_hysteresis},
		{"random keeps to its calls", test_random},
		{"perf-per-tdp with a floor", test_perf_per_tdp},
		{"one design for two workloads", test_common},
		{"progress, and a limit of calls", test_progress_and_limit},
		CU_TEST_INFO_NULL,
	};
	return suite_run("search/search", tests);
}
