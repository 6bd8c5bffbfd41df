#include <math.h>
#include <string.h>

#include "plan_sample.h"
#include "suite.h"

static void the_best_of_all_and_of_each_kind(void)
{
	struct sample p;
	setup(&p);
	struct grid_best all = report_grids_best(&p.report);
	struct grid_best conv = report_grids_best_of(&p.report, GRID_CONV);
	struct grid_best fc = report_grids_best_of(&p.report, GRID_FC);
	CU_ASSERT_PTR_EQUAL(all.analytic, &p.rows[1]);
	CU_ASSERT_PTR_EQUAL(all.simulated, &p.rows[0]);
	CU_ASSERT_PTR_EQUAL(conv.analytic, &p.rows[1]);
	CU_ASSERT_PTR_EQUAL(conv.simulated, &p.rows[1]);
	CU_ASSERT_PTR_EQUAL(fc.simulated, &p.rows[2]);
	p.rows[0].is_simulated = p.rows[1].is_simulated = p.rows[2].is_simulated = false;
	CU_ASSERT_PTR_NULL(report_grids_best(&p.report).simulated);
}

static void equals_are_told_apart_by_the_smaller_pr(void)
{
	struct sample p;
	setup(&p);
	p.rows[2].analytic = p.rows[1].analytic;
	CU_ASSERT_PTR_EQUAL(report_grids_best(&p.report).analytic, &p.rows[2]);
}

static void a_table_has_what_was_asked_for(void)
{
	struct sample p;
	struct arena a = {0};
	struct table t;
	struct text out = {0};
	setup(&p);
	report_grids_table(&a, &p.report, &t);
	table_print_csv(&t, &out);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data,
		"pr,pc,variant,analytic_comm_ms,simulated_comm_ms,compute_ms,analytic_total_ms,"
		"simulated_total_ms,memory_MiB,batch/model/domain,note\n"
		"2,4,exact-fc,5.000000,6.000000,1.000000,6.000000,7.000000,1.000,1/1/0,\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "8,1,exact-fc,,,,,,,,too many\n"));
	text_free(&out);
	p.report.topology = p.report.compute = NULL;
	p.report.iterations = 100;
	report_grids_table(&a, &p.report, &t);
	table_print_csv(&t, &out);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data,
		"pr,pc,variant,analytic_comm_ms,analytic_epoch_s,memory_MiB,batch/model/domain,"
		"note\n2,4,exact-fc,5.000000,0.600,"));
	text_free(&out);
	arena_free(&a);
}

static void json_has_the_keys_of_the_contract(void)
{
	struct sample p;
	setup(&p);
	p.rows[2].is_simulated = false;
	json_t *root = report_grids_json(&p.report);
	const json_t *grids = json_object_get(root, "grids"), *first = json_array_get(grids, 0);
	CU_ASSERT_EQUAL(json_array_size(grids), 4);
	CU_ASSERT_DOUBLE_EQUAL(number_at(first, "analytic_comm_s"), 5e-3, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(number_at(first, "simulated_comm_s"), 6e-3, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(number_at(first, "compute_s"), 1e-3, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(number_at(first, "memory_bytes"), 1 << 20, 0);
	CU_ASSERT_DOUBLE_EQUAL(
		number_at(json_object_get(first, "simulated_terms"), "dw_all_reduce_s"), 4e-3,
		1e-15);
	CU_ASSERT_TRUE(json_is_null(json_object_get(json_array_get(grids, 2), "simulated_comm_s")));
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(json_array_get(grids, 3), "refused")),
		"too many");
	const json_t *best = json_object_get(json_object_get(root, "best"), "simulated");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(best, "pr")), 2);
	json_decref(root);
}

static const struct grid_layer_row details[] = {
	{.layer = &layers[0],
		.way = GRID_BATCH,
		.n_products = 2,
		.m = 3,
		.n = 4,
		.k = 5,
		.times = {1000000, 2000000, 3000000},
		.analytic = {.dw_all_reduce = 4e-6, .halo_forward = 1e-6, .halo_backward = 2e-6},
		.simulated_s = 7e-6,
		.crossover_batch = 0.25},
	{.layer = &layers[1], .way = GRID_MODEL, .n_products = 1, .m = 6, .n = 7, .k = 8},
};

static void layers_of_one_grid(void)
{
	struct sample p;
	struct arena a = {0};
	struct table t;
	struct text out = {0};
	setup(&p);
	p.rows[1].exact = false;
	p.report.compute_perfect_s = 0.5e-3;
	p.report.detailed = &p.rows[0];
	p.report.layers = details;
	report_grids_table(&a, &p.report, &t);
	CU_ASSERT_STRING_EQUAL(t.cells[t.n_columns - 1], "");
	CU_ASSERT_STRING_EQUAL(t.cells[2 * t.n_columns - 1], "a sum, not exact");
	report_grid_layers_table(&a, &p.report, &t);
	table_print_csv(&t, &out);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data,
		"layer,way,weights,d_in,d_out,products,m,n,k,forward_ms,dx_ms,dw_ms,all_gather_ms,"
		"dx_all_reduce_ms,dw_all_reduce_ms,halo_forward_ms,halo_backward_ms,redistribute_"
		"ms,simulated_ms,crossover_batch\n"
		"conv,batch,100,0,0,2,3,4,5,0.001000,0.002000,0.003000,0.000000,0.000000,"
		"0.004000,0.001000,0.002000,0.000000,0.007000,0.25\n"
		"fc,model,1000,0,0,1,6,7,8,"));
	text_free(&out);
	json_t *root = report_grids_json(&p.report);
	const json_t *first = json_array_get(json_object_get(root, "layers"), 0);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "layers")), 2);
	CU_ASSERT_DOUBLE_EQUAL(number_at(first, "compute_dw_s"), 3e-6, 1e-18);
	CU_ASSERT_DOUBLE_EQUAL(number_at(first, "simulated_s"), 7e-6, 1e-18);
	CU_ASSERT_DOUBLE_EQUAL(number_at(root, "compute_perfect_s"), 0.5e-3, 1e-15);
	CU_ASSERT_EQUAL(
		json_integer_value(json_object_get(json_object_get(root, "layers_of"), "pr")), 2);
	const json_t *grids = json_object_get(root, "grids");
	CU_ASSERT(json_is_true(json_object_get(json_array_get(grids, 0), "exact")));
	CU_ASSERT(json_is_false(json_object_get(json_array_get(grids, 1), "exact")));
	json_decref(root);
	p.report.compute = NULL;
	p.rows[0].is_simulated = false;
	report_grid_layers_table(&a, &p.report, &t);
	CU_ASSERT_EQUAL(t.n_columns, 16);
	CU_ASSERT_STRING_EQUAL(t.columns[9], "all_gather_ms");
	p.report.csv = false;
	report_grid_layers_table(&a, &p.report, &t);
	CU_ASSERT_EQUAL(t.n_columns, 10);
	CU_ASSERT_STRING_EQUAL(t.columns[5], "m x n x k");
	CU_ASSERT_STRING_EQUAL(t.cells[5], "2 x 3x4x5");
	CU_ASSERT_STRING_EQUAL(t.columns[6], "dw_reduce_ms");
	CU_ASSERT_STRING_EQUAL(t.columns[9], "B*");
	arena_free(&a);
}

/* What was simulated goes before what was not; schemes and what cannot be do not count. */
static void the_grid_to_look_at(void)
{
	struct sample p;
	setup(&p);
	CU_ASSERT_PTR_EQUAL(report_grids_pick(&p.report), &p.rows[0]);
	p.rows[0].ways = NULL;
	CU_ASSERT_PTR_EQUAL(report_grids_pick(&p.report), &p.rows[1]);
	p.rows[1].is_simulated = false;
	CU_ASSERT_PTR_EQUAL(report_grids_pick(&p.report), &p.rows[2]);
	p.rows[2].is_simulated = false;
	CU_ASSERT_PTR_EQUAL(report_grids_pick(&p.report), &p.rows[1]);
	p.report.rows = &p.rows[3];
	p.report.n_rows = 1;
	CU_ASSERT_PTR_NULL(report_grids_pick(&p.report));
}

/* Computation 1, gather 2, weights 3 of which 2.5 hide. */
static void bars_leave_out_what_is_hidden(void)
{
	struct sample p;
	struct arena a = {0};
	struct stacks s;
	setup(&p);
	p.rows[0].analytic.total -= 2.5e-3;
	report_grids_stacks(&a, &p.report, &s);
	CU_ASSERT_EQUAL_FATAL(s.n_places, 3);
	CU_ASSERT_STRING_EQUAL(s.places[0], "1x8");
	CU_ASSERT_STRING_EQUAL(s.places[1], "2x4");
	const double *bar = s.values + (size_t)1 * s.n_bars * s.n_parts;
	CU_ASSERT_DOUBLE_EQUAL(bar[0], 1, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bar[1], 2, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bar[2], 0, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bar[3], 0.5, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(bar[s.n_parts + 3], 4, 1e-12);
	arena_free(&a);
}

static void a_script_stacks_sums_and_skips_missing_bars(void)
{
	const char *places[] = {"1x2", "2\"x1"};
	double values[] = {1, 2, 3, 4, 5, 6, (double)NAN, 0};
	struct stacks s = {.title = "t",
		.x = "x",
		.y = "y",
		.parts = {"low", "high"},
		.bars = {"left", "right"},
		.n_parts = 2,
		.n_bars = 2,
		.n_places = 2,
		.places = places,
		.values = values};
	struct text out = {0};
	report_stacks(&s, "f.svg", "svg", &out);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "set output 'f.svg'"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "$bar0 << EOD\n-0.2000 1 3\n0.8000 5 11\nEOD\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "$bar1 << EOD\n0.2000 3 7\nEOD\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "('1x2' 0, '2\"x1' 1)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "title 'high'"));
	text_free(&out);
}

static void advice_costs_what_it_costs(void)
{
	struct sample p;
	setup(&p);
	struct advice_row rows[] = {
		{"two", "ring:8", {1e-6, 1e-9, 0}, report_grids_best(&p.report)}};
	struct arena a = {0};
	struct table t;
	json_t *root = report_advice_json(rows, 1);
	const json_t *first = json_array_get(json_object_get(root, "advice"), 0);
	/* 4x2 takes 8 ms where 2x4 takes 7. */
	CU_ASSERT_DOUBLE_EQUAL(number_at(first, "advice_cost"), 8.0 / 7 - 1, 1e-12);
	CU_ASSERT_TRUE(json_is_true(json_object_get(first, "advice_changes")));
	report_advice_table(&a, rows, 1, &t);
	CU_ASSERT_STRING_EQUAL(t.cells[2], "4x2 exact-fc");
	CU_ASSERT_STRING_EQUAL(t.cells[5], "2x4 exact-fc");
	CU_ASSERT_STRING_EQUAL(t.cells[7], "14.29");
	json_decref(root);
	arena_free(&a);
}

static CU_TestInfo tests[] = {
	{"the best of all and of each kind", the_best_of_all_and_of_each_kind},
	{"equals are told apart by the smaller Pr", equals_are_told_apart_by_the_smaller_pr},
	{"a table has what was asked for", a_table_has_what_was_asked_for},
	{"JSON has the keys of the contract", json_has_the_keys_of_the_contract},
	{"layers of one grid", layers_of_one_grid},
	{"the grid to look at", the_grid_to_look_at},
	{"bars leave out what is hidden", bars_leave_out_what_is_hidden},
	{"a script stacks sums and skips missing bars",
		a_script_stacks_sums_and_skips_missing_bars},
	{"advice costs what it costs", advice_costs_what_it_costs},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("report plan", tests);
}
