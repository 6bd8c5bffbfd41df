/* Bounds against every design of small spaces. */
#include <math.h>

#include "make.h"
#include "suite.h"

/* The best score of all counts that fit, by brute force. */
static double best_of_point(const struct problem *p, uint32_t point)
{
	struct design d = lattice_design(&p->lattice, point);
	struct arch arch = design_arch(&d, &p->config->base);
	double best = -HUGE_VAL;
	struct oracle o;
	oracle_open(&o, &p->stages[0], &arch);
	for (d.tc = 1; d.tc <= p->config->space.max_count; d.tc++) {
		for (d.vc = 1; design_fits(p->config, &d); d.vc++) {
			struct stage_cost cost;
			oracle_price(&o, d.tc, d.vc, &cost);
			arch = design_arch(&d, &p->config->base);
			double score = score_stage(p->config, &p->stages[0],
				stage_step(&p->stages[0], &cost), arch_tdp_w(&arch));
			best = score > best ? score : best;
		}
	}
	oracle_close(&o);
	return best;
}

/* Returns the largest score over bound, which is how tight the bounds are. */
static double check_bounds(struct setup *setup)
{
	struct arena a = {0};
	struct problem p;
	struct bounds b;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(problem_build(&a, &setup->config, &p, &err));
	bounds_build(&a, &p, 0, &b);
	double *best = arena_array(&a, p.lattice.n_points, double), tightest = 0;
	for (uint32_t i = 0; i < p.lattice.n_points; i++) {
		uint32_t children[LATTICE_AXES], n = lattice_children(&p.lattice, i, children);
		best[i] = best_of_point(&p, i);
		CU_ASSERT_TRUE(best[i] <= b.point[i]);
		if (best[i] > 0)
			tightest = fmax(tightest, best[i] / b.point[i]);
		for (uint32_t j = 0; j < n; j++)
			best[i] = fmax(best[i], best[children[j]]);
		CU_ASSERT_TRUE(best[i] <= b.subtree[i]);
	}
	arena_free(&a);
	return tightest;
}

static void limit_budget(struct setup *setup, uint32_t tc, uint32_t vc)
{
	struct design d = {tc, 64, 64, vc, 64, UINT64_C(4) << 20};
	struct arch arch = design_arch(&d, &setup->config.base);
	setup->config.budget.area_mm2 = arch_area_mm2(&arch);
	setup->config.budget.tdp_w = arch_tdp_w(&arch);
}

static void test_transformer(void)
{
	struct arena a = {0};
	struct setup setup;
	struct graph g =
		make_transformer(&a, "layers=2,hidden=128,heads=4,ffn=512,seq=64,vocab=500");
	make_setup(&a, &g, &setup);
	setup.config.space.max_sram_bytes = UINT64_C(8) << 20;
	setup.config.space.max_count = 12;
	for (int metric = 0; metric < 2; metric++) {
		setup.config.metric = metric ? METRIC_PERF_PER_TDP : METRIC_THROUGHPUT;
		limit_budget(&setup, 2, 3);
		CU_ASSERT_TRUE(check_bounds(&setup) > 0.5);
	}
	arena_free(&a);
}

static void test_random_graphs(void)
{
	struct rng rng;
	rng_init(&rng, 11);
	for (uint32_t i = 0; i < 20; i++) {
		struct arena a = {0};
		struct setup setup;
		struct graph g = make_random_graph(&a, &rng, 10);
		make_setup(&a, &g, &setup);
		setup.config.base.dataflow = (enum dataflow)(i % 3);
		setup.config.space.max_count = 8;
		setup.config.metric = i % 2 ? METRIC_PERF_PER_TDP : METRIC_THROUGHPUT;
		limit_budget(&setup, 1 + i % 3, 2);
		CU_ASSERT_TRUE(check_bounds(&setup) > 0.5);
		arena_free(&a);
	}
}

/* A subtree that the bounds cut has no design that the search still needs: with hysteresis out
 * of the way the optimum of the exhaustive run is reached. */
static void test_never_cuts_the_optimum(void)
{
	struct rng rng;
	uint64_t pruned = 0;
	rng_init(&rng, 5);
	for (uint32_t i = 0; i < 12; i++) {
		struct arena a = {0};
		struct setup setup;
		struct graph g = make_random_graph(&a, &rng, 8);
		struct search_result wham, all;
		struct err err = {0};
		make_setup(&a, &g, &setup);
		setup.config.space.max_count = 8;
		setup.config.hysteresis = 100;
		setup.config.top_k = 1;
		limit_budget(&setup, 2, 2);
		CU_ASSERT_TRUE_FATAL(search_run(&a, &search_wham, &setup.config, &wham, &err));
		CU_ASSERT_TRUE_FATAL(search_run(&a, &search_exhaustive, &setup.config, &all, &err));
		pruned += wham.pruned_points;
		CU_ASSERT_TRUE(wham.finalists[0].score >= all.finalists[0].score * 0.99);
		CU_ASSERT_TRUE(wham.finalists[0].score <= all.finalists[0].score);
		arena_free(&a);
	}
	CU_ASSERT_TRUE(pruned > 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"no design of a small transformer beats its bound", test_transformer},
		{"no design of random graphs beats its bound", test_random_graphs},
		{"pruning never cuts the optimum", test_never_cuts_the_optimum},
		CU_TEST_INFO_NULL,
	};
	return suite_run("search/bound", tests);
}
