/* The timeline of live bytes against the plan's own sums: two ways to the same peak. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "suite.h"

struct setting {
	enum schedule schedule;
	enum recompute recompute;
	uint32_t pp, tp, m;
};

static const char *path_of(struct arena *a, const char *name)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	return arena_printf(a, "%s/%s", root ? root : ".", name);
}

static void build_train(struct arena *a, uint32_t tp, struct graph *train)
{
	struct err err = {0};
	struct graph forward;
	struct graph_options o = {.batch = 2, .tp = tp};
	CU_ASSERT_TRUE_FATAL(graph_read(a, path_of(a, "tests/plan/tiny.json"), &o, &forward, &err));
	graph_train(a, &forward, &(struct train_options){OPTIMIZER_ADAM}, train);
}

static uint64_t number(const json_t *o, const char *key)
{
	CU_ASSERT_TRUE_FATAL(json_is_integer(json_object_get(o, key)));
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

static void check_levels(const json_t *levels, uint64_t states, uint64_t peak, double end_s)
{
	uint64_t highest = 0;
	double before = -1;
	size_t n = json_array_size(levels);
	for (size_t i = 0; i < n; i++) {
		const json_t *l = json_array_get(levels, i);
		double at = json_number_value(json_object_get(l, "from_s"));
		uint64_t bytes = number(l, "bytes");
		CU_ASSERT_TRUE(at > before && at <= end_s);
		CU_ASSERT_TRUE(bytes >= states);
		CU_ASSERT_EQUAL(bytes == states, number(l, "micro_batches") == 0);
		highest = bytes > highest ? bytes : highest;
		before = at;
	}
	CU_ASSERT_EQUAL(highest, peak);
	CU_ASSERT_EQUAL(number(json_array_get(levels, n - 1), "bytes"), states);
}

static void check_stage(const json_t *o, const struct stage *stage, double end_s)
{
	const json_t *peak = json_object_get(o, "peak");
	const json_t *tensors = json_object_get(peak, "tensors");
	const struct stage_memory *m = &stage->memory;
	uint64_t sum = 0;
	CU_ASSERT_EQUAL(number(peak, "bytes"), m->total_bytes);
	CU_ASSERT_EQUAL(number(peak, "micro_batches"), stage->in_flight);
	CU_ASSERT_EQUAL(number(peak, "recomputed_bytes"), m->remade_bytes);
	for (size_t i = 0; i < json_array_size(tensors); i++) {
		const json_t *t = json_array_get(tensors, i);
		sum += number(t, "bytes") * number(t, "copies");
	}
	CU_ASSERT_EQUAL(sum, number(peak, "activation_bytes"));
	CU_ASSERT_EQUAL(sum + m->remade_bytes, m->activation_bytes);
	check_levels(json_object_get(o, "timeline"),
		m->weights_bytes + m->gradients_bytes + m->optimizer_bytes, m->total_bytes, end_s);
}

static void check_setting(const struct setting *x)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph train;
	struct arch arch;
	struct topo topo;
	struct plan plan;
	struct run_result run;
	struct degrees d = {
		.pp = x->pp, .tp = x->tp, .dp = 1, .batch = UINT64_C(2) * x->m, .micro_batch = 2};
	struct plan_options options = {
		.schedule = x->schedule, .recompute = x->recompute, .optimizer = OPTIMIZER_ADAM};
	struct run_config config = {.topo = &topo, .net = NET_ANALYTIC, .keep_spans = true};
	build_train(&a, x->tp, &train);
	struct plan_input in = {&train, &arch, 1, &d, &options};
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
	json_t *list = report_memory_json(&s);
	CU_ASSERT_EQUAL_FATAL(json_array_size(list), x->pp);
	for (uint32_t i = 0; i < x->pp; i++)
		check_stage(json_array_get(list, i), &plan.stages[i], ticks_to_s(run.end));
	json_decref(list);
	arena_free(&a);
}

static void the_peak_is_what_the_plan_says(void)
{
	const enum recompute modes[] = {RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL};
	const uint32_t pps[] = {1, 2, 3}, ms[] = {1, 2, 7};
	for (size_t r = 0; r < 3; r++)
		for (size_t p = 0; p < 3; p++)
			for (size_t m = 0; m < 3; m++) {
				struct setting x = {
					SCHEDULE_1F1B, modes[r], pps[p], 1 + p % 2, ms[m]};
				check_setting(&x);
				x.schedule = SCHEDULE_GPIPE;
				check_setting(&x);
			}
}

int main(void)
{
	CU_TestInfo tests[] = {{"the peak is what the plan says", the_peak_is_what_the_plan_says},
		CU_TEST_INFO_NULL};
	return suite_run("report memory", tests);
}
