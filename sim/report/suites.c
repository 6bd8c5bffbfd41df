/* Validation suites: reference, ours, error. */
#include <math.h>
#include <stdlib.h>

#include "report/internal.h"
#include "report/report.h"

static json_t *suite_json(const struct suite_report *s)
{
	json_t *o = json_object(), *rows = json_array();
	for (uint32_t i = 0; i < s->n_rows; i++) {
		const struct suite_row *r = &s->rows[i];
		json_t *row = json_object();
		put_text(row, "label", r->label);
		put_real(row, "reference", r->reference);
		put_real(row, "ours", r->ours);
		put_real(row, "error", r->error);
		put(row, "tolerance", isnan(r->tolerance) ? json_null() : json_real(r->tolerance));
		put(row, "pass", json_boolean(r->pass));
		json_array_append_new(rows, row);
	}
	put_text(o, "suite", s->name);
	put_text(o, "reference", s->reference);
	put_text(o, "note", s->note);
	put_uint(o, "rows_total", s->n_rows);
	put_uint(o, "rows_passed", s->n_passed);
	put_real(o, "mean_error", s->mean_error);
	put_real(o, "worst_error", s->worst_error);
	put(o, "rows", rows);
	return o;
}

json_t *report_suites_json(const struct suite_report *suites_run, uint32_t n)
{
	json_t *root = json_object(), *list = json_array();
	uint64_t passed = 0, total = 0;
	for (uint32_t i = 0; i < n; i++) {
		json_array_append_new(list, suite_json(&suites_run[i]));
		passed += suites_run[i].n_passed;
		total += suites_run[i].n_rows;
	}
	put_uint(root, "rows_total", total);
	put_uint(root, "rows_passed", passed);
	put(root, "suites", list);
	return root;
}

/* Failed rows first, then means, then by the size of the error, then as they stand in the table. */
static int worse_first(const void *pa, const void *pb)
{
	const struct suite_row *a = *(const struct suite_row *const *)pa;
	const struct suite_row *b = *(const struct suite_row *const *)pb;
	if (a->pass != b->pass)
		return a->pass ? 1 : -1;
	if (a->is_mean != b->is_mean)
		return a->is_mean ? -1 : 1;
	if (fabs(a->error) != fabs(b->error))
		return fabs(a->error) > fabs(b->error) ? -1 : 1;
	return a < b ? -1 : a > b;
}

static const char *verdict_of(const struct suite_row *row)
{
	return !row->pass ? "MISSED" : isnan(row->tolerance) ? "shown" : "ok";
}

static void suite_text(
	struct arena *a, const struct suite_report *s, size_t max_rows, struct text *out)
{
	static const char *const columns[] = {
		"row", "reference", "ours", "error_pct", "tolerance_pct", "verdict"};
	struct table t = {.a = a, .columns = columns, .n_columns = 6};
	const struct suite_row **order = arena_array(a, s->n_rows + 1, const struct suite_row *);
	for (uint32_t i = 0; i < s->n_rows; i++)
		order[i] = &s->rows[i];
	if (max_rows > 0 && s->n_rows > 0)
		qsort(order, s->n_rows, sizeof(*order), worse_first);
	for (uint32_t i = 0; i < s->n_rows; i++) {
		table_cell(&t, "%s", order[i]->label);
		table_cell(&t, "%.10g", order[i]->reference);
		table_cell(&t, "%.10g", order[i]->ours);
		table_cell(&t, "%.3g", 100 * order[i]->error);
		if (isnan(order[i]->tolerance))
			table_cell(&t, "-");
		else
			table_cell(&t, "%.3g", 100 * order[i]->tolerance);
		table_cell(&t, "%s", verdict_of(order[i]));
	}
	table_print(&t, out, max_rows);
	text_add(out, "%s: %u of %u rows, mean error %.3g %%, worst %.3g %%\n", s->name,
		s->n_passed, s->n_rows, 100 * s->mean_error, 100 * s->worst_error);
	if (s->note && *s->note)
		text_add(out, "%s\n", s->note);
}

void report_suites_text(struct arena *a, const struct suite_report *suites_run, uint32_t n,
	size_t max_rows, struct text *out)
{
	for (uint32_t i = 0; i < n; i++)
		suite_text(a, &suites_run[i], max_rows, out);
}
