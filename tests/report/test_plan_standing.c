/* Grids of which not everything is known. */
#include <string.h>

#include "plan_sample.h"
#include "suite.h"

/* The fourth grid cannot be executed, but has a closed form; of the third nobody knows what it computes. */
static void setup_standings(struct sample *p)
{
	setup(p);
	p->rows[2].is_simulated = false;
	p->rows[2].uncomputed = "layer fc: too long, expected less";
	p->rows[3].is_estimated = true;
	p->rows[3].ways = ways;
	p->rows[3].analytic.s[TERM_ALL_GATHER] = p->rows[3].analytic.total = 1e-4;
	p->rows[3].memory_bytes = 1 << 20;
	p->rows[3].refused = "layer conv: Pr 8 over 4 channels, expected no more processes than "
			     "outputs; and then some more of it";
	p->report.n_answered = 4;
}

static void standings(void)
{
	struct sample p;
	setup(&p);
	CU_ASSERT_EQUAL(grid_row_standing(&p.rows[3]), GRID_REFUSED);
	setup_standings(&p);
	CU_ASSERT_EQUAL(grid_row_standing(&p.rows[0]), GRID_SIMULATED);
	CU_ASSERT_EQUAL(grid_row_standing(&p.rows[2]), GRID_UNCOMPUTED);
	CU_ASSERT_EQUAL(grid_row_standing(&p.rows[3]), GRID_UNEXECUTABLE);
	p.rows[0].is_simulated = false;
	CU_ASSERT_EQUAL(grid_row_standing(&p.rows[0]), GRID_ESTIMATED);
	/* However short it takes, it is the best only where nothing else can be. */
	CU_ASSERT_PTR_EQUAL(report_grids_best(&p.report).analytic, &p.rows[1]);
	CU_ASSERT_PTR_EQUAL(report_grids_pick(&p.report), &p.rows[1]);
	p.report.rows = &p.rows[2];
	p.report.n_rows = 2;
	CU_ASSERT_PTR_EQUAL(report_grids_best(&p.report).analytic, &p.rows[2]);
	p.report.rows = &p.rows[3];
	p.report.n_rows = 1;
	CU_ASSERT_PTR_EQUAL(report_grids_best(&p.report).analytic, &p.rows[3]);
	CU_ASSERT_PTR_NULL(report_grids_pick(&p.report));
}

static void json_of_what_is_partly_known(void)
{
	static const char *const keys[] = {"pr", "pc", "variant", "analytic_comm_s",
		"simulated_comm_s", "compute_s", "memory_bytes"};
	struct sample p;
	setup_standings(&p);
	p.report.iterations = 100;
	json_t *root = report_grids_json(&p.report);
	const json_t *grids = json_object_get(root, "grids");
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			CU_ASSERT_PTR_NOT_NULL(json_object_get(json_array_get(grids, i), keys[k]));
	const json_t *row = json_array_get(grids, 3);
	CU_ASSERT_DOUBLE_EQUAL(number_at(row, "analytic_comm_s"), 1e-4, 1e-18);
	CU_ASSERT_DOUBLE_EQUAL(number_at(row, "analytic_epoch_s"), 1e-2, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(
		number_at(json_object_get(row, "terms"), "all_gather_s"), 1e-4, 1e-18);
	CU_ASSERT_TRUE(json_is_null(json_object_get(row, "compute_s")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(row, "simulated_comm_s")));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(row, "refused"));
	row = json_array_get(grids, 2);
	CU_ASSERT_DOUBLE_EQUAL(number_at(row, "analytic_comm_s"), 9e-3, 1e-15);
	CU_ASSERT_TRUE(json_is_null(json_object_get(row, "compute_s")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(row, "analytic_total_s")));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(row, "not_computed"));
	json_decref(root);
	setup(&p);
	root = report_grids_json(&p.report);
	row = json_array_get(json_object_get(root, "grids"), 3);
	CU_ASSERT_TRUE(json_is_null(json_object_get(row, "analytic_comm_s")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(row, "memory_bytes")));
	json_decref(root);
}

/* To read: short names, short reasons, and nothing that says nothing. */
static void a_table_to_read(void)
{
	struct sample p;
	struct arena a = {0};
	struct table t;
	struct text out = {0};
	setup_standings(&p);
	p.report.csv = false;
	p.report.full = false;
	report_grids_table(&a, &p.report, &t);
	table_print_csv(&t, &out);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out.data, "pr,pc,variant,comm_ms,sim_comm_ms,compute_ms,total_ms,"
				 "sim_total_ms,memory_MiB,b/m/d,note\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out.data, "1,8,exact-fc,9.000000,,,,,1.000,1/1/0,layer fc: too long\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out.data, "8,1,exact-fc,0.100000,,,0.100000,,1.000,1/1/0,cannot "
				 "be executed: layer conv: Pr 8 over 4 channels\n"));
	text_free(&out);
	p.rows[3].refused = "a reason that has nothing in it which was expected but goes on and on";
	report_grids_table(&a, &p.report, &t);
	CU_ASSERT_EQUAL(strlen(t.cells[t.n_cells - 1]), 64);
	for (int i = 0; i < 3; i++)
		p.rows[i].is_simulated = false;
	report_grids_table(&a, &p.report, &t);
	CU_ASSERT_EQUAL(t.n_columns, 9);
	p.report.full = true;
	report_grids_table(&a, &p.report, &t);
	CU_ASSERT_EQUAL(t.n_columns, 11);
	CU_ASSERT_STRING_EQUAL(t.columns[4], "gather_ms");
	CU_ASSERT_STRING_EQUAL(t.columns[5], "dw_reduce_ms");
	arena_free(&a);
}

/* What expects the same is of one kind. */
static void reasons_of_different_kinds(void)
{
	struct grid_row rows[] = {
		{.grid = {1, 8}, .refused = "a 1, expected x"},
		{.grid = {2, 4}, .refused = "b 2, expected x"},
		{.grid = {4, 2}, .refused = "c 3, expected y"},
		{.grid = {5, 1}},
		{.grid = {6, 1}, .refused = "alone"},
		{.grid = {8, 1}, .refused = "d 4, expected z"},
	};
	struct grid_report r = {.rows = rows, .n_rows = 6};
	struct arena a = {0};
	CU_ASSERT_STRING_EQUAL(report_grids_reasons(&a, &r),
		"1x8: a 1, expected x; 4x2: c 3, expected y; 6x1: alone");
	arena_free(&a);
}

static CU_TestInfo tests[] = {
	{"standings", standings},
	{"JSON of what is partly known", json_of_what_is_partly_known},
	{"a table to read", a_table_to_read},
	{"reasons of different kinds", reasons_of_different_kinds},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("report plan standing", tests);
}
