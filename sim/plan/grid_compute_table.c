/* Measured times of an iteration by samples. */
#include <math.h>

#include "base/table.h"
#include "plan/grid_compute.h"

/* Whatever a process can have; their ratio has a logarithm. */
static const double least_samples = 1e-9, most_samples = 1e19;

static bool read_row(const struct csv *csv, size_t row, const size_t columns[2],
	struct grid_table *t, struct err *err)
{
	double samples, s, before = row > 0 ? t->samples[row - 1] : 0;
	if (!csv_number(csv, row, columns[0], &samples, err) ||
		!csv_number(csv, row, columns[1], &s, err))
		return false;
	if (samples <= before)
		return err_set(err, ERR_INPUT,
			"%s:%zu: %g samples after %g, expected more from row to row", csv->path,
			csv->lines[row], samples, before);
	if (samples < least_samples || samples > most_samples)
		return err_set(err, ERR_INPUT, "%s:%zu: %g samples, expected %g to %g", csv->path,
			csv->lines[row], samples, least_samples, most_samples);
	if (s < 1 / (double)TICKS_PER_S || s > GRID_LONGEST_S)
		return err_set(err, ERR_INPUT,
			"%s:%zu: an iteration of %g s, expected a picosecond to %d s", csv->path,
			csv->lines[row], s, GRID_LONGEST_S);
	return true;
}

bool grid_compute_table_read(
	struct arena *a, const char *path, struct grid_table *out, struct err *err)
{
	struct csv csv;
	size_t columns[2];
	if (!csv_read(a, path, &csv, err) || !csv_column(&csv, "samples", &columns[0], err) ||
		!csv_column(&csv, "iteration_s", &columns[1], err))
		return false;
	if (csv.n_rows == 0 || csv.n_rows > UINT32_MAX)
		return err_set(err, ERR_INPUT, "%s: no rows, expected at least one time", path);
	double *samples = arena_array(a, csv.n_rows, double);
	double *s = arena_array(a, csv.n_rows, double);
	*out = (struct grid_table){csv.path, samples, s, (uint32_t)csv.n_rows};
	for (size_t row = 0; row < csv.n_rows; row++)
		if (!read_row(&csv, row, columns, out, err) ||
			!csv_number(&csv, row, columns[0], &samples[row], err) ||
			!csv_number(&csv, row, columns[1], &s[row], err))
			return false;
	return true;
}

bool grid_compute_table_s(
	const struct grid_table *table, double samples, double *out, struct err *err)
{
	const double *x = table->samples, *y = table->iteration_s;
	double least = x[0] > 1 ? x[0] : 0, most = x[table->n - 1];
	uint32_t i = 0;
	if (!(samples > 0 && samples >= least && samples <= most))
		return err_set(err, ERR_INPUT,
			"%s: no time for %g samples of a process, expected %s%g to %g", table->path,
			samples, least > 0 ? "" : "more than ", least, most);
	while (x[i] < samples)
		i++;
	if (x[i] <= samples)
		*out = y[i];
	else if (i == 0)
		*out = y[0] * (samples / x[0]);
	else
		*out = y[i - 1] *
		       exp(log(y[i] / y[i - 1]) * log(samples / x[i - 1]) / log(x[i] / x[i - 1]));
	return true;
}

/* Of one pass over a sample: each weight is used once for each position of the output. */
static double macs_of(const struct grid_layer *l)
{
	return (double)l->weights * ((double)l->d_out / l->outputs);
}

/* What of the iteration lies behind the first `done` of all `macs`. */
struct deal {
	double macs, done;
	tick all, dealt;
};

static tick deal_next(struct deal *d, double macs)
{
	d->done += macs;
	tick end = d->macs > 0 ? (tick)((double)d->all * (d->done / d->macs)) : 0;
	end = end < d->all ? end : d->all;
	tick part = end - d->dealt;
	d->dealt = end;
	return part;
}

bool grid_compute_table_times(const struct grid_table *table, const struct grid_question *q,
	struct grid_times *out, struct err *err)
{
	double s = 0, processes = (double)q->grid.pr * q->grid.pc;
	struct deal d = {0};
	if (!grid_compute_table_s(table, (double)q->batch / processes, &s, err))
		return false;
	d.all = (tick)(s * (double)TICKS_PER_S + 0.5);
	for (uint32_t i = 0; i < q->n_layers; i++)
		d.macs += (q->layers[i].first ? 2 : 3) * macs_of(&q->layers[i]);
	for (uint32_t i = 0; i < q->n_layers; i++) {
		double macs = macs_of(&q->layers[i]);
		out[i].forward = deal_next(&d, macs);
		out[i].dx = q->layers[i].first ? 0 : deal_next(&d, macs);
		out[i].dw = deal_next(&d, macs);
	}
	/* Roundings of the sum may have left a tick. */
	if (q->n_layers > 0)
		out[q->n_layers - 1].dw += d.all - d.dealt;
	return true;
}
