/* Pipelines: stages, the closed form and the simulated network. */
#include <math.h>
#include <string.h>

#include "make.h"
#include "suite.h"

static void make_pipeline(struct arena *a, uint32_t pp, uint32_t dp, struct setup *out)
{
	struct graph *g = arena_new(a, struct graph);
	*g = make_transformer(a, "layers=8,hidden=256,heads=4,ffn=1024,seq=128,vocab=1000");
	make_setup(a, g, out);
	struct arch *tpu = arena_new(a, struct arch);
	*tpu = out->config.base;
	out->config.space.max_dim = 256;
	out->config.space.min_dim = 64;
	out->config.space.max_count = 4096;
	out->config.space.max_sram_bytes = UINT64_C(32) << 20;
	out->config.budget = (struct search_budget){arch_area_mm2(tpu), arch_tdp_w(tpu), 0};
	out->config.baselines = tpu;
	out->config.n_baselines = 1;
	out->config.top_k = 4;
	out->workload.degrees = (struct degrees){pp, 1, dp, UINT64_C(16) * dp, 2};
}

static void must_topo(struct arena *a, const char *text, struct topo *out)
{
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(topo_parse(a, text, out, &err));
}

static void test_stages(void)
{
	struct arena a = {0};
	struct setup s;
	struct problem p;
	struct err err = {0};
	make_pipeline(&a, 4, 1, &s);
	CU_ASSERT_TRUE_FATAL(problem_build(&a, &s.config, &p, &err));
	CU_ASSERT_EQUAL_FATAL(p.workloads[0].n_stages, 4);
	CU_ASSERT_EQUAL(p.workloads[0].n_micro_batches, 8);
	/* The middle stages are the same; the first has the embedding, the last the head. */
	const struct problem_stage *stages = p.workloads[0].stages;
	CU_ASSERT_EQUAL(stages[1].distinct, stages[2].distinct);
	CU_ASSERT_NOT_EQUAL(stages[0].distinct, stages[1].distinct);
	CU_ASSERT_NOT_EQUAL(stages[3].distinct, stages[1].distinct);
	CU_ASSERT_EQUAL(p.n_stages, 3);
	arena_free(&a);
}

/* What the oracle says of a stage is what the plan says. */
static void check_prices(enum recompute recompute)
{
	struct arena a = {0};
	struct setup s;
	struct problem p;
	struct plan plan;
	struct err err = {0};
	make_pipeline(&a, 2, 1, &s);
	s.workload.options.recompute = recompute;
	CU_ASSERT_TRUE_FATAL(problem_build(&a, &s.config, &p, &err));
	struct plan_input in = {
		s.workload.train, &s.config.base, 1, &s.workload.degrees, &s.workload.options};
	CU_ASSERT_TRUE_FATAL(plan_build(&a, &in, &plan, &err));
	for (uint32_t i = 0; i < plan.n_stages; i++) {
		struct oracle o;
		struct stage_cost cost;
		oracle_open(&o, &p.stages[p.workloads[0].stages[i].distinct], &s.config.base);
		oracle_price(&o, s.config.base.tc_count, s.config.base.vc_count, &cost);
		oracle_close(&o);
		CU_ASSERT_EQUAL(cost.time[PHASE_IN_FORWARD], plan.stages[i].forward);
		CU_ASSERT_EQUAL(cost.time[PHASE_IN_BACKWARD], plan.stages[i].backward);
		CU_ASSERT_EQUAL(cost.time[PHASE_IN_UPDATE], plan.stages[i].update);
	}
	arena_free(&a);
}

static void test_oracle_prices_as_plan(void)
{
	check_prices(RECOMPUTE_NONE);
	check_prices(RECOMPUTE_SELECTIVE);
	check_prices(RECOMPUTE_FULL);
}

static struct search_result run(struct arena *a, const struct search_config *config)
{
	struct search_result r;
	struct err err = {0};
	bool ok = search_run(a, &search_wham, config, &r, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return r;
}

static void test_closed_form_only(void)
{
	struct arena a = {0};
	struct setup s;
	make_pipeline(&a, 4, 2, &s);
	struct search_result r = run(&a, &s.config);
	CU_ASSERT_EQUAL(r.simulations, 0);
	for (uint32_t i = 0; i < r.n_finalists; i++)
		CU_ASSERT_EQUAL(
			r.finalists[i].outcomes[0].step, r.finalists[i].outcomes[0].analytic_step);
	arena_free(&a);
}

/* The best designs of single stages hold the best one for all of them. */
static void test_against_exhaustive(void)
{
	struct arena a = {0};
	struct setup s;
	struct search_result all;
	struct err err = {0};
	make_pipeline(&a, 4, 1, &s);
	s.config.n_baselines = 0;
	s.config.space.min_sram_bytes = UINT64_C(8) << 20;
	struct search_result wham = run(&a, &s.config);
	CU_ASSERT_TRUE_FATAL(search_run(&a, &search_exhaustive, &s.config, &all, &err));
	CU_ASSERT_TRUE(wham.finalists[0].score >= 0.99 * all.finalists[0].score);
	CU_ASSERT_TRUE(wham.finalists[0].score <= all.finalists[0].score);
	CU_ASSERT_TRUE(wham.oracle_calls < all.oracle_calls);
	arena_free(&a);
}

static void check_simulated(const char *topology, uint32_t pp, uint32_t dp, enum net_kind net)
{
	struct arena a = {0};
	struct setup s;
	struct topo topo;
	make_pipeline(&a, pp, dp, &s);
	must_topo(&a, topology, &topo);
	s.config.topo = &topo;
	s.config.net = net;
	struct search_result r = run(&a, &s.config);
	CU_ASSERT_TRUE(r.simulations > 0);
	CU_ASSERT_TRUE(r.simulations <= r.n_finalists + 1);
	for (uint32_t i = 0; i < r.n_finalists; i++) {
		const struct outcome *o = &r.finalists[i].outcomes[0];
		double step = ticks_to_s(o->step), closed = ticks_to_s(o->analytic_step);
		CU_ASSERT_TRUE(step > 0);
		CU_ASSERT_TRUE(fabs(step - closed) < 0.25 * step);
		CU_ASSERT_DOUBLE_EQUAL(o->samples_per_s * step, (double)s.workload.degrees.batch,
			1e-9 * o->samples_per_s);
		CU_ASSERT_TRUE(i == 0 || r.finalists[i - 1].score >= r.finalists[i].score);
	}
	s.config.jobs = 3;
	struct search_result again = run(&a, &s.config);
	CU_ASSERT_EQUAL_FATAL(again.n_finalists, r.n_finalists);
	CU_ASSERT_EQUAL(again.oracle_calls, r.oracle_calls);
	for (uint32_t i = 0; i < r.n_finalists; i++)
		make_compare(again.finalists[i].outcomes, r.finalists[i].outcomes);
	arena_free(&a);
}

static void test_analytic_network(void)
{
	check_simulated("ring:4,bw=100GB/s,lat=1us", 4, 1, NET_ANALYTIC);
	check_simulated("crossbar:4,bw=100GB/s,lat=1us", 2, 2, NET_ANALYTIC);
}

static void test_simgrid(void)
{
	struct arena a = {0};
	struct err err = {0};
	const char *version = net_simgrid_version(&a, &err);
	arena_free(&a);
	if (!version) {
		printf("skipped: %s\n", err.text);
		return;
	}
	check_simulated("ring:4,bw=100GB/s,lat=1us", 4, 1, NET_SIMGRID);
}

static void test_too_few_devices(void)
{
	struct arena a = {0};
	struct setup s;
	struct topo topo;
	struct search_result r;
	struct err err = {0};
	make_pipeline(&a, 4, 1, &s);
	must_topo(&a, "ring:3", &topo);
	s.config.topo = &topo;
	s.config.net = NET_ANALYTIC;
	for (s.config.jobs = 1; s.config.jobs <= 2; s.config.jobs++) {
		CU_ASSERT_FALSE(search_run(&a, &search_wham, &s.config, &r, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	}
	arena_free(&a);
}

/* Designs must hold the model; a baseline is compared all the same. */
static void test_device_memory(void)
{
	struct arena a = {0};
	struct setup s;
	struct search_result r;
	struct err err = {0};
	make_pipeline(&a, 2, 1, &s);
	s.workload.options.check_memory = true;
	struct arch tiny = s.config.base;
	tiny.hbm_bytes = 1 << 20;
	s.config.baselines = &tiny;
	CU_ASSERT_TRUE_FATAL(search_run(&a, &search_wham, &s.config, &r, &err));
	CU_ASSERT_TRUE(r.baselines[0].outcomes[0].samples_per_s > 0);
	s.config.base = tiny;
	CU_ASSERT_FALSE(search_run(&a, &search_wham, &s.config, &r, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	arena_free(&a);
}

/* Plans with the same durations share a simulation: three equal baselines cost one. */
static void test_shared_simulations(void)
{
	struct arena a = {0};
	struct setup s;
	struct topo topo;
	make_pipeline(&a, 2, 1, &s);
	must_topo(&a, "ring:2", &topo);
	s.config.topo = &topo;
	s.config.net = NET_ANALYTIC;
	struct arch same[] = {s.config.base, s.config.base, s.config.base};
	s.config.baselines = same;
	s.config.n_baselines = 3;
	struct search_result r = run(&a, &s.config);
	CU_ASSERT_TRUE(r.simulations <= r.n_finalists + 1);
	for (uint32_t i = 1; i < 3; i++)
		make_compare(r.baselines[0].outcomes, r.baselines[i].outcomes);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"equal stages are searched once", test_stages},
		{"the oracle prices a stage as the plan does", test_oracle_prices_as_plan},
		{"without a topology the closed form decides", test_closed_form_only},
		{"a pipeline within 1 % of the exhaustive optimum", test_against_exhaustive},
		{"finalists over the analytic network", test_analytic_network},
		{"finalists over SimGrid", test_simgrid},
		{"memory of designs and of baselines", test_device_memory},
		{"equal plans are simulated once", test_shared_simulations},
		{"a topology with too few devices", test_too_few_devices},
		CU_TEST_INFO_NULL,
	};
	return suite_run("search/pipeline", tests);
}
