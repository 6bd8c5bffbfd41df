/* Energy is additive: over causes, over stages and devices, and against the plan's own sums. */
#include <stdlib.h>

#include "arch/energy.h"
#include "report/energy.h"
#include "suite.h"

static const char *path_of(struct arena *a, const char *name)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	return arena_printf(a, "%s/%s", root ? root : ".", name);
}

static double real(const json_t *o, const char *key)
{
	CU_ASSERT_TRUE_FATAL(json_is_number(json_object_get(o, key)));
	return json_number_value(json_object_get(o, key));
}

static const char *const dynamic[] = {"mac_j", "lane_j", "sram_j", "dram_j"};

static void near(double ours, double expected)
{
	CU_ASSERT_DOUBLE_EQUAL(ours, expected, 1e-9 * expected);
}

/* Each cause of the step is the sum over the devices of all stages. */
static void check_stages(const struct step_report *s, const json_t *energy)
{
	const json_t *stages = json_object_get(energy, "stages");
	double per_stage = s->degrees->tp * s->degrees->dp, dynamic_j = 0;
	CU_ASSERT_EQUAL_FATAL(json_array_size(stages), s->plan->n_stages);
	for (size_t c = 0; c < 4; c++) {
		double sum = 0;
		for (uint32_t i = 0; i < s->plan->n_stages; i++)
			sum += per_stage * real(json_array_get(stages, i), dynamic[c]);
		near(real(energy, dynamic[c]), sum);
		dynamic_j += sum;
	}
	near(step_energy_j(s), dynamic_j + real(energy, "link_j") + real(energy, "idle_j"));
	for (uint32_t i = 0; i < s->plan->n_stages; i++) {
		const struct stage *st = &s->plan->stages[i];
		double own = arch_idle_w(s->archs) *
			     ticks_to_s(s->plan->n_micro_batches * (st->forward + st->backward) +
					st->update);
		for (size_t c = 0; c < 4; c++)
			own += real(json_array_get(stages, i), dynamic[c]);
		near(st->energy_j, own);
	}
}

static void check_counts(const struct step_report *s, const json_t *energy)
{
	double bytes = (double)s->run->p2p_bytes;
	for (uint32_t i = 0; i < s->run->n_colls; i++)
		bytes += 2.0 * (s->run->colls[i].n_ranks - 1) * (double)s->run->colls[i].bytes;
	/* ring all-reduce: 2(n-1)/n of the payload from each of n; sent and received */
	near(real(energy, "link_bits"), 16 * bytes);
	near(real(energy, "link_j"), 2 * bytes * energy_link_byte_j(s->archs));
	near(real(energy, "macs"),
		(double)(graph_macs(s->train, ~0u) * s->plan->n_micro_batches * s->degrees->tp));
	near(real(energy, "idle_j"),
		arch_idle_w(s->archs) * ticks_to_s(s->run->end) * s->degrees->pp * s->degrees->tp);
	near(real(energy, "average_power_w"), step_energy_j(s) / ticks_to_s(s->run->end));
}

static void check_plan(uint32_t pp, uint32_t tp, uint32_t m)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph forward, train;
	struct arch arch;
	struct topo topo;
	struct plan plan;
	struct run_result run;
	struct graph_options o = {.batch = 2, .tp = tp};
	struct degrees d = {
		.pp = pp, .tp = tp, .dp = 1, .batch = UINT64_C(2) * m, .micro_batch = 2};
	struct plan_options options = {.optimizer = OPTIMIZER_ADAM};
	struct run_config config = {.topo = &topo, .net = NET_ANALYTIC};
	const struct coll_algo *ring = coll_find(COLL_ALLREDUCE, "ring");
	CU_ASSERT_TRUE_FATAL(
		graph_read(&a, path_of(&a, "tests/plan/tiny.json"), &o, &forward, &err));
	graph_train(&a, &forward, &(struct train_options){OPTIMIZER_ADAM}, &train);
	struct plan_input in = {&train, &arch, 1, &d, &options};
	config.choice.algo[COLL_ALLREDUCE] = ring;
	CU_ASSERT_TRUE_FATAL(
		arch_read(&a, path_of(&a, "models/accelerators/tpuv2.json"), &arch, &err) &&
		topo_parse(&a, "crossbar:8,bw=10GB/s,lat=1us", &topo, &err) &&
		plan_build(&a, &in, &plan, &err) && run_prog(&a, &plan.prog, &config, &run, &err));
	struct step_report s = {.archs = &arch,
		.n_archs = 1,
		.degrees = &d,
		.options = &options,
		.plan = &plan,
		.run = &run,
		.train = &train};
	json_t *energy = step_energy_json(&s);
	check_stages(&s, energy);
	check_counts(&s, energy);
	json_decref(energy);
	arena_free(&a);
}

static void energy_is_additive(void)
{
	check_plan(1, 1, 1);
	check_plan(1, 2, 3);
	check_plan(2, 1, 4);
	check_plan(2, 2, 3);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"energy is additive", energy_is_additive},
		CU_TEST_INFO_NULL,
	};
	return suite_run("report energy", tests);
}
