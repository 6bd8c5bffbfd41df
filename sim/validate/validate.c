#include "validate/validate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "validate/internal.h"

const struct suite *const suites[] = {
	&suite_allreduce,
	&suite_area,
	&suite_collectives,
	&suite_gemm,
	&suite_integrated,
	&suite_memory,
	&suite_onnxim,
	&suite_scalesim,
	&suite_tile,
	&suite_traces,
	NULL,
};

const struct suite *suite_get(const char *name, struct err *err)
{
	const char *names[32];
	size_t n = 0;
	for (; suites[n]; n++) {
		names[n] = suites[n]->name;
		if (strcmp(name, names[n]) == 0)
			return suites[n];
	}
	const char *near = text_nearest(name, names, n);
	if (near)
		err_set(err, ERR_USAGE, "unknown suite '%s', did you mean '%s'?", name, near);
	else
		err_set(err, ERR_USAGE, "unknown suite '%s', 'wham list suites' has them", name);
	return NULL;
}

static void add_row(struct arena *a, struct suite_report *r, const struct suite_row *row)
{
	arena_push(a, r->rows, r->n_rows, r->cap_rows) = *row;
	r->n_passed += row->pass;
}

static double relative_error(double reference, double ours)
{
	double error = ours - reference;
	return reference != 0 ? error / fabs(reference) : error;
}

void suite_add(struct arena *a, struct suite_report *r, const char *label, double reference,
	double ours, double tolerance)
{
	double error = relative_error(reference, ours);
	struct suite_row row = {.label = label,
		.reference = reference,
		.ours = ours,
		.error = error,
		.tolerance = tolerance,
		.pass = isfinite(error) && fabs(error) <= tolerance,
		.counts = true};
	add_row(a, r, &row);
}

void suite_show(struct arena *a, struct suite_report *r, const char *label, double reference,
	double ours, struct suite_mean *mean)
{
	struct suite_row row = {.label = label,
		.reference = reference,
		.ours = ours,
		.error = relative_error(reference, ours),
		.tolerance = (double)NAN,
		.pass = true,
		.counts = mean != NULL};
	add_row(a, r, &row);
	if (!mean)
		return;
	mean->sum += fabs(row.error);
	mean->n++;
}

void suite_add_mean(struct arena *a, struct suite_report *r, const char *label,
	const struct suite_mean *mean, double tolerance)
{
	if (mean->n == 0)
		return;
	double error = mean->sum / mean->n;
	struct suite_row row = {.label = label,
		.ours = error,
		.error = error,
		.tolerance = tolerance,
		.pass = error <= tolerance,
		.is_mean = true};
	add_row(a, r, &row);
}

size_t suite_column(const struct csv *table, const char *name)
{
	size_t column = 0;
	while (column < table->n_columns && strcmp(table->columns[column], name) != 0)
		column++;
	assert(column < table->n_columns);
	return column;
}

static const struct suite_table *table_of(
	const struct suite_table *tables, size_t n, const struct csv *t)
{
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < t->n_columns; c++)
			if (strcmp(t->columns[c], tables[i].column) == 0)
				return &tables[i];
	return NULL;
}

bool suite_run_table(const struct suite_table *tables, size_t n,
	const struct suite_context *context, const struct csv *table, struct suite_report *out,
	struct err *err)
{
	size_t column;
	const struct suite_table *kind = table_of(tables, n, table);
	if (!kind)
		return err_set(err, ERR_INPUT,
			"%s: not a table of suite %s, expected a column '%s'%s%s%s", table->path,
			out->name, tables[0].column, n > 1 ? " or '" : "",
			n > 1 ? tables[1].column : "", n > 1 ? "'" : "");
	for (size_t i = 0; kind->needed[i]; i++)
		if (!csv_column(table, kind->needed[i], &column, err))
			return false;
	return kind->run(context, table, out, err);
}

void suite_progress(const struct suite_context *context, uint32_t done, uint32_t total)
{
	if (context->progress)
		context->progress(context->progress_ctx, done, total);
}

static void summarise(struct suite_report *r)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->n_rows; i++) {
		if (!r->rows[i].counts)
			continue;
		n++;
		sum += fabs(r->rows[i].error);
		if (fabs(r->rows[i].error) > r->worst_error)
			r->worst_error = fabs(r->rows[i].error);
	}
	r->mean_error = n > 0 ? sum / n : 0;
}

static const char *shared_root(void)
{
	const char *root = getenv("WHAM_SHARED");
	return root && *root ? root : NULL;
}

bool suite_has_table(const struct suite *suite)
{
	return suite->table || shared_root();
}

static bool run_table(const struct suite *suite, const char *path,
	const struct suite_context *context, struct suite_report *out, struct err *err)
{
	struct csv table;
	size_t column;
	if (!(suite->read ? suite->read : csv_read)(context->a, path, &table, err))
		return false;
	for (size_t i = 0; suite->columns[i]; i++)
		if (!csv_column(&table, suite->columns[i], &column, err))
			return false;
	if (table.n_rows == 0)
		return err_set(err, ERR_INPUT, "%s: no rows", path);
	return suite->run(context, &table, out, err);
}

static bool run_foreign(const struct suite *suite, const struct suite_context *context,
	struct suite_report *out, struct err *err)
{
	const char *folder = arena_printf(context->a, "%s/validation", shared_root());
	if (!suite->table)
		out->reference = folder;
	for (size_t i = 0; suite->foreign[i]; i++)
		if (!run_table(suite, arena_printf(context->a, "%s/%s", folder, suite->foreign[i]),
			    context, out, err))
			return false;
	return true;
}

static bool run_shipped(const struct suite *suite, const char *name,
	const struct suite_context *context, struct suite_report *out, struct err *err)
{
	const char *path = arena_printf(context->a, "%s/tests/golden/%s", context->data_root, name);
	if (!out->reference)
		out->reference = path;
	return run_table(suite, path, context, out, err);
}

static bool run_own(const struct suite *suite, const struct suite_context *context,
	struct suite_report *out, struct err *err)
{
	if (!suite_has_table(suite))
		return err_set(err, ERR_IO,
			"suite %s: its tables are not ours to ship, expected --reference FILE.csv, "
			"or "
			"%s in $WHAM_SHARED/validation; they come from %s",
			suite->name, suite->foreign[0], suite->foreign_source);
	if (suite->table && !run_shipped(suite, suite->table, context, out, err))
		return false;
	for (size_t i = 0; suite->more_tables && suite->more_tables[i]; i++)
		if (!run_shipped(suite, suite->more_tables[i], context, out, err))
			return false;
	return !suite->foreign || !shared_root() || run_foreign(suite, context, out, err);
}

bool validate_run(const struct suite *suite, const char *reference,
	const struct suite_context *context, struct suite_report *out, struct err *err)
{
	*out = (struct suite_report){.name = suite->name, .reference = reference, .note = ""};
	if (reference ? !run_table(suite, reference, context, out, err)
		      : !run_own(suite, context, out, err))
		return false;
	summarise(out);
	return true;
}
