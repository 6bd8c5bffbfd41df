/* BERT-large on one accelerator within TPUv2's limits. */
#include "make.h"
#include "suite.h"

static void make_bert(struct arena *a, struct setup *out)
{
	struct graph *g = arena_new(a, struct graph);
	*g = make_model(a, "bert-large", NULL, 8);
	make_setup(a, g, out);
	struct arch *tpu = arena_new(a, struct arch);
	*tpu = out->config.base;
	out->config.space = (struct search_space){
		.min_dim = 4,
		.max_dim = 256,
		.max_count = 4096,
		.min_sram_bytes = UINT64_C(2) << 20,
		.max_sram_bytes = UINT64_C(128) << 20,
	};
	out->config.budget = (struct search_budget){arch_area_mm2(tpu), arch_tdp_w(tpu), 0};
	out->config.baselines = tpu;
	out->config.n_baselines = 1;
	out->config.top_k = 10;
}

static struct search_result run(
	struct arena *a, const struct search_algo *algo, const struct search_config *config)
{
	struct search_result r;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(search_run(a, algo, config, &r, &err));
	return r;
}

static void test_beats_tpuv2(void)
{
	struct arena a = {0};
	struct setup s;
	make_bert(&a, &s);
	struct search_result r = run(&a, &search_wham, &s.config);
	CU_ASSERT_TRUE(r.finalists[0].ratios[0] > 1.05);
	CU_ASSERT_TRUE(r.finalists[0].area_mm2 <= s.config.budget.area_mm2);
	CU_ASSERT_TRUE(r.finalists[0].tdp_w <= s.config.budget.tdp_w);
	s.config.metric = METRIC_PERF_PER_TDP;
	s.config.budget.floor = 1;
	r = run(&a, &search_wham, &s.config);
	CU_ASSERT_TRUE(r.finalists[0].score > 1.05 * r.baselines[0].score);
	CU_ASSERT_TRUE(r.finalists[0].ratios[0] >= 1);
	arena_free(&a);
}

/* On the reduced space R, C, V in {16 .. 256} with TPUv2's buffer. */
static void test_reduced_space(void)
{
	struct arena a = {0};
	struct setup s;
	make_bert(&a, &s);
	s.config.n_baselines = 0;
	s.config.space.min_dim = 16;
	s.config.space.min_sram_bytes = s.config.space.max_sram_bytes = s.config.base.sram_bytes;
	struct search_result wham = run(&a, &search_wham, &s.config);
	struct search_result all = run(&a, &search_exhaustive, &s.config);
	CU_ASSERT_TRUE(wham.finalists[0].score >= 0.99 * all.finalists[0].score);
	CU_ASSERT_TRUE(wham.oracle_calls * 50 < all.oracle_calls);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"mined designs beat TPUv2", test_beats_tpuv2},
		{"within 1 % of the exhaustive optimum", test_reduced_space},
		CU_TEST_INFO_NULL,
	};
	return suite_run("search/bert-large", tests);
}
