/* Operators one by one: a whole model, its parts and paths, and what bounds an operator. */
#include "report/layers.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

struct step {
	struct arena a;
	struct graph forward, train;
	struct arch arch;
	struct degrees degrees;
	struct plan_options options;
	struct plan plan;
	struct run_result run;
	struct step_report report;
};

static struct arch make_arch(void)
{
	return (struct arch){.name = "x",
		.clock_hz = 1000000000,
		.tc_count = 2,
		.tc_rows = 128,
		.tc_cols = 128,
		.dataflow = DATAFLOW_WS,
		.fold_mode = FOLD_PIPELINED,
		.vc_count = 2,
		.vc_width = 128,
		.sram_bytes = 32 << 20,
		.hbm_bytes = UINT64_C(64) << 30,
		.hbm_bytes_per_s = 700000000000,
		.hbm_efficiency = 0.9,
		.mac_bytes = 2,
		.node_nm = 16};
}

static void step_make(struct step *s, const char *model, uint32_t pp, struct arch arch)
{
	struct err err = {0};
	struct graph fused;
	struct graph_options o = {.batch = 2, .tp = 1};
	const char *root = getenv("WHAM_SOURCE_ROOT");
	*s = (struct step){.arch = arch};
	s->degrees = (struct degrees){.pp = pp, .tp = 1, .dp = 1, .batch = 4, .micro_batch = 2};
	s->options.intra_op_split = true;
	const char *path =
		arena_printf(&s->a, "%s/models/workloads/%s.json", root ? root : ".", model);
	CU_ASSERT_TRUE_FATAL(graph_read(&s->a, path, &o, &s->forward, &err));
	graph_fuse(&s->a, &s->forward, &fused);
	graph_train(&s->a, &fused, &(struct train_options){OPTIMIZER_SGD}, &s->train);
	struct plan_input in = {&s->train, &s->arch, 1, &s->degrees, &s->options};
	CU_ASSERT_TRUE_FATAL(plan_build(&s->a, &in, &s->plan, &err));
	s->report = (struct step_report){
		.model = &s->forward,
		.forward = &s->forward,
		.train = &s->train,
		.archs = &s->arch,
		.n_archs = 1,
		.degrees = &s->degrees,
		.options = &s->options,
		.plan = &s->plan,
		.run = &s->run,
		.layers = true,
	};
}

static uint32_t longer_than_it_can(const struct layer_row *r)
{
	return r->utilisation < 0 || r->utilisation > 1 || r->run.end < r->run.start ||
	       r->run.start < r->timing.asap || r->run.end - r->run.start < r->timing.duration ||
	       r->timing.alap < r->timing.asap;
}

static void check_path(const struct layer_part *part)
{
	tick length = 0;
	uint32_t bad = 0;
	for (uint32_t i = 0; i < part->n_path; i++) {
		const struct layer_row *row = &part->rows[part->path[i]];
		bad += row->timing.mobility != 0 || row->timing.asap != length;
		bad += i > 0 && part->path[i] <= part->path[i - 1];
		length += row->timing.duration;
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(length, part->critical_path);
	CU_ASSERT_TRUE(part->critical_path > 0 && part->makespan >= part->critical_path);
}

static void parts_are_those_of_the_plan(void)
{
	struct step s;
	uint32_t n, ops = 0, bad = 0;
	uint64_t macs = 0;
	step_make(&s, "resnet18", 2, make_arch());
	const struct layer_part *parts = layers_run(&s.a, &s.report, &n);
	CU_ASSERT_EQUAL_FATAL(n, 2 * N_PARTS);
	for (uint32_t p = 0; p < n; p++) {
		const struct stage *stage = &s.plan.stages[parts[p].stage];
		const tick times[] = {stage->forward, stage->backward, stage->update};
		CU_ASSERT_EQUAL(parts[p].makespan, times[parts[p].part]);
		check_path(&parts[p]);
		ops += parts[p].n_rows;
		for (uint32_t i = 0; i < parts[p].n_rows; i++) {
			bad += longer_than_it_can(&parts[p].rows[i]);
			macs += parts[p].rows[i].own.macs;
		}
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(ops, s.train.n_ops);
	CU_ASSERT_EQUAL(macs, graph_macs(&s.train, 0xf));
	arena_free(&s.a);
}

static const char *text_of(json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));
	return text ? text : "";
}

/* The products of the forward pass come first, and are the same with all the others behind them. */
static void products_come_first(void)
{
	struct step s;
	size_t differ = 0, later = 0;
	step_make(&s, "resnet50", 1, make_arch());
	json_t *few = report_layers_json(&s.a, &s.report);
	s.report.all_operators = true;
	json_t *all = report_layers_json(&s.a, &s.report);
	CU_ASSERT_EQUAL(json_array_size(few), 54);
	CU_ASSERT_EQUAL(json_array_size(all), s.train.n_ops);
	for (size_t i = 0; i < json_array_size(all); i++) {
		json_t *row = json_array_get(all, i);
		if (i < 54)
			differ += !json_equal(row, json_array_get(few, i));
		else
			later += strcmp(text_of(row, "pass"), "forward") == 0 &&
				 json_integer_value(json_object_get(row, "m")) > 0;
	}
	CU_ASSERT_EQUAL(differ, 0);
	CU_ASSERT_EQUAL(later, 0);
	json_decref(few);
	json_decref(all);
	arena_free(&s.a);
}

/* A convolution is shown without what it absorbed: cycles and bytes of the operator in the
 * unfused graph. */
static void an_operator_is_shown_by_itself(void)
{
	struct step s;
	size_t next = 0, differ = 0;
	step_make(&s, "resnet18", 1, make_arch());
	json_t *rows = report_layers_json(&s.a, &s.report);
	struct core_share share = {2, 2, s.arch.sram_bytes};
	for (uint32_t i = 0; i < s.forward.n_ops; i++) {
		const struct op *op = &s.forward.ops[i];
		struct op_cost cost;
		if (op->work.batch == 0)
			continue;
		arch_op_cost(&s.arch, &op->work, &share, &cost);
		json_t *row = json_array_get(rows, next++);
		differ += strcmp(text_of(row, "name"), op->name) != 0;
		differ += (uint64_t)json_integer_value(json_object_get(row, "cycles")) !=
			  cost.cycles.n;
		differ += (uint64_t)json_integer_value(json_object_get(row, "dram_bytes")) !=
			  cost.dram_read_bytes + cost.dram_write_bytes;
	}
	CU_ASSERT_EQUAL(next, json_array_size(rows));
	CU_ASSERT_EQUAL(differ, 0);
	json_decref(rows);
	arena_free(&s.a);
}

/* Each of the four takes over when it is made large. */
static void all_are(struct arch arch, const char *class)
{
	struct step s;
	size_t other = 0;
	step_make(&s, "alexnet", 1, arch);
	json_t *rows = report_layers_json(&s.a, &s.report);
	CU_ASSERT_EQUAL(json_array_size(rows), 8);
	for (size_t i = 0; i < json_array_size(rows); i++)
		other += strcmp(text_of(json_array_get(rows, i), "roofline"), class) != 0;
	CU_ASSERT_EQUAL(other, 0);
	json_decref(rows);
	arena_free(&s.a);
}

static void roofline_classes(void)
{
	struct arch launch = make_arch(), latency = make_arch(), slow = make_arch(),
		    fast = make_arch();
	launch.launch_overhead = TICKS_PER_S;
	latency.hbm_latency = TICKS_PER_S;
	slow.hbm_bytes_per_s = 1000000;
	fast.hbm_bytes_per_s = UINT64_C(1) << 50;
	all_are(launch, "overhead");
	all_are(latency, "fill");
	all_are(slow, "memory");
	all_are(fast, "compute");
}

static void paths_name_operators(void)
{
	struct step s;
	struct text out = {0};
	step_make(&s, "resnet18", 1, make_arch());
	s.report.critical_path = true;
	json_t *paths = report_paths_json(&s.a, &s.report);
	json_t *first = json_array_get(json_object_get(json_array_get(paths, 0), "operators"), 0);
	CU_ASSERT_EQUAL(json_array_size(paths), N_PARTS);
	CU_ASSERT_STRING_EQUAL(json_string_value(first), "stem.conv");
	CU_ASSERT_STRING_EQUAL(text_of(json_array_get(paths, 1), "part"), "backward");
	s.report.layers = false;
	report_layers_text(&s.a, &s.report, &out);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "critical path of stage 0, update: "));
	CU_ASSERT_PTR_NULL(strstr(out.data, "roofline"));
	text_free(&out);
	json_decref(paths);
	arena_free(&s.a);
}

static void a_table_has_as_many_cells_as_columns(void)
{
	struct step s;
	struct table t;
	step_make(&s, "resnet18", 1, make_arch());
	report_layers_table(&s.a, &s.report, &t);
	CU_ASSERT_EQUAL(t.n_columns, 14);
	CU_ASSERT_EQUAL(t.n_cells, 21 * t.n_columns);
	s.report.all_operators = s.report.critical_path = true;
	report_layers_table(&s.a, &s.report, &t);
	CU_ASSERT_EQUAL(t.n_columns, 17);
	CU_ASSERT_EQUAL(t.n_cells, s.train.n_ops * t.n_columns);
	arena_free(&s.a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"parts are those of the plan", parts_are_those_of_the_plan},
		{"products come first", products_come_first},
		{"an operator is shown by itself", an_operator_is_shown_by_itself},
		{"roofline classes", roofline_classes},
		{"paths name operators", paths_name_operators},
		{"a table has as many cells as columns", a_table_has_as_many_cells_as_columns},
		CU_TEST_INFO_NULL};
	return suite_run("layers", tests);
}
