#include "validate/validate.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "validate/internal.h"

const struct suite *const suites[] = {
	&suite_area,
	&suite_collectives,
	&suite_memory,
	&suite_scalesim,
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

void suite_add(struct arena *a, struct suite_report *r, const char *label, double reference,
	double ours, double tolerance)
{
	double error = ours - reference;
	if (reference != 0)
		error /= fabs(reference);
	bool pass = isfinite(error) && fabs(error) <= tolerance;
	arena_push(a, r->rows, r->n_rows, r->cap_rows) = (struct suite_row){.label = label,
		.reference = reference,
		.ours = ours,
		.error = error,
		.tolerance = tolerance,
		.pass = pass};
	r->n_passed += pass;
}

size_t suite_column(const struct csv *table, const char *name)
{
	size_t column = 0;
	while (column < table->n_columns && strcmp(table->columns[column], name) != 0)
		column++;
	assert(column < table->n_columns);
	return column;
}

void suite_progress(const struct suite_context *context, uint32_t done, uint32_t total)
{
	if (context->progress)
		context->progress(context->progress_ctx, done, total);
}

static void summarise(struct suite_report *r)
{
	double sum = 0;
	for (uint32_t i = 0; i < r->n_rows; i++) {
		sum += fabs(r->rows[i].error);
		if (fabs(r->rows[i].error) > r->worst_error)
			r->worst_error = fabs(r->rows[i].error);
	}
	r->mean_error = r->n_rows > 0 ? sum / r->n_rows : 0;
}

bool validate_run(const struct suite *suite, const char *reference,
	const struct suite_context *context, struct suite_report *out, struct err *err)
{
	struct csv table;
	size_t column;
	*out = (struct suite_report){.name = suite->name, .note = ""};
	out->reference = reference ? reference
				   : arena_printf(context->a, "%s/tests/golden/%s",
					     context->data_root, suite->table);
	if (!csv_read(context->a, out->reference, &table, err))
		return false;
	for (size_t i = 0; suite->columns[i]; i++)
		if (!csv_column(&table, suite->columns[i], &column, err))
			return false;
	if (table.n_rows == 0)
		return err_set(err, ERR_INPUT, "%s: no rows", out->reference);
	if (!suite->run(context, &table, out, err))
		return false;
	summarise(out);
	return true;
}
