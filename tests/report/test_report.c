#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

static json_t *parse(const struct text *t)
{
	json_error_t e;
	json_t *root = json_loads(t->data, JSON_REJECT_DUPLICATES, &e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	return root;
}

static void the_envelope_has_its_keys_in_order(void)
{
	static const char *const keys[] = {
		"schema", "tool", "version", "verb", "inputs", "result", "warnings"};
	struct arena a = {0};
	struct report r = {.verb = "simulate", .version = "9.9"};
	struct text out = {0};
	json_t *result = json_object();
	size_t i = 0;
	const char *key;
	json_t *value;
	json_object_set_new(result, "x", json_integer(1));
	report_add_input(&a, &r, "m.json", "00ff");
	report_warn(&a, &r, "odd", "first odd thing");
	report_warn(&a, &r, "odd", "second odd thing");
	report_write_json(&r, result, &out);
	json_t *root = parse(&out);
	json_object_foreach(root, key, value)
	{
		CU_ASSERT_FATAL(i < sizeof(keys) / sizeof(*keys));
		CU_ASSERT_STRING_EQUAL(key, keys[i]);
		i++;
	}
	CU_ASSERT_EQUAL(i, 7);
	json_t *w = json_array_get(json_object_get(root, "warnings"), 0);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "warnings")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(w, "count")), 2);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(w, "first")), "first odd thing");
	json_decref(root);
	text_free(&out);
	arena_free(&a);
}

static void a_timeline_is_json_and_keeps_picoseconds(void)
{
	struct prog_task task = {.id = 1, .kind = TASK_COMPUTE, .cost = PROG_NONE, .duration = 7};
	struct prog_role role = {.name = "a", .tasks = &task, .n_tasks = 1};
	struct prog prog = {.grid = {.n_dims = 1, .names = {"rank"}, .sizes = {1}},
		.roles = &role,
		.n_roles = 1};
	struct run_span span = {.start = 1000001, .end = 1000008};
	struct run_rank rank = {0};
	struct run_result run = {.ranks = &rank, .n_ranks = 1, .spans = &span, .n_spans = 1};
	struct text out = {0};
	report_timeline(&prog, &run, &out);
	json_t *root = parse(&out);
	json_t *events = json_object_get(root, "traceEvents");
	json_t *e = json_array_get(events, json_array_size(events) - 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(e, "ph")), "X");
	CU_ASSERT_DOUBLE_EQUAL(json_real_value(json_object_get(e, "ts")), 1.000001, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(json_real_value(json_object_get(e, "dur")), 7e-6, 1e-15);
	json_decref(root);
	text_free(&out);
}

static void the_worst_rows_of_a_suite_come_first(void)
{
	struct suite_row rows[3] = {{.label = "fine", .reference = 1, .ours = 1, .pass = true},
		{.label = "large",
			.reference = 1,
			.ours = 1.5,
			.error = 0.5,
			.tolerance = 1,
			.pass = true},
		{.label = "missed", .reference = 1, .ours = 1.1, .error = 0.1, .tolerance = 0.01}};
	struct suite_report suite = {.name = "x",
		.reference = "x.csv",
		.note = "",
		.rows = rows,
		.n_rows = 3,
		.n_passed = 2};
	struct arena a = {0};
	struct text out = {0};
	report_suites_text(&a, &suite, 1, 2, &out);
	const char *missed = strstr(out.data, "missed"), *large = strstr(out.data, "large");
	CU_ASSERT_FATAL(missed != NULL && large != NULL);
	CU_ASSERT(missed < large);
	CU_ASSERT_PTR_NULL(strstr(out.data, "fine"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "2 of 3 rows"));
	text_free(&out);
	arena_free(&a);
}

static CU_TestInfo tests[] = {
	{"the envelope has its keys in order", the_envelope_has_its_keys_in_order},
	{"a timeline is JSON and keeps picoseconds", a_timeline_is_json_and_keeps_picoseconds},
	{"the worst rows of a suite come first", the_worst_rows_of_a_suite_come_first},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("report", tests);
}
