/* The grids of `wham plan` as stacked bars, in the manner of the figures of Gholami et al. 2018. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/plan.h"

enum { PARTS = 4 };

static void parts_of(const struct grid_seconds *t, double scale, double *parts)
{
	double shown = 0, hidden;
	parts[0] = t->s[TERM_COMPUTE];
	parts[1] = t->s[TERM_ALL_GATHER] + t->s[TERM_DX_ALL_REDUCE] + t->s[TERM_FORWARD] +
		   t->s[TERM_BACKWARD];
	parts[2] = t->s[TERM_HALO_FORWARD] + t->s[TERM_HALO_BACKWARD] + t->s[TERM_REDISTRIBUTE];
	parts[3] = t->s[TERM_DW_ALL_REDUCE];
	for (int i = 0; i < PARTS; i++)
		shown += parts[i];
	/* What computation hides of the gradients is no part of the bar. */
	hidden = shown - t->total;
	if (hidden > 0)
		parts[3] = fmax(0, parts[3] - hidden);
	for (int i = 0; i < PARTS; i++)
		parts[i] *= scale;
}

static int by_pr(const void *va, const void *vb)
{
	const struct grid_row *a = *(const struct grid_row *const *)va;
	const struct grid_row *b = *(const struct grid_row *const *)vb;
	if (a->grid.pr != b->grid.pr)
		return a->grid.pr < b->grid.pr ? -1 : 1;
	return strcmp(a->variant, b->variant);
}

static uint32_t sort_rows(
	struct arena *a, const struct grid_report *r, const struct grid_row ***out, bool *variants)
{
	uint32_t n = 0;
	const struct grid_row **rows = arena_array(a, r->n_rows + 1, const struct grid_row *);
	for (uint32_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].is_estimated)
			rows[n++] = &r->rows[i];
	if (n > 0)
		qsort(rows, n, sizeof(*rows), by_pr);
	*variants = false;
	for (uint32_t i = 1; i < n; i++)
		*variants = *variants || strcmp(rows[i]->variant, rows[0]->variant) != 0;
	*out = rows;
	return n;
}

void report_grids_stacks(struct arena *a, const struct grid_report *r, struct stacks *out)
{
	const struct grid_row **rows;
	bool variants, epoch = r->iterations > 0;
	double scale = epoch ? r->iterations : 1e3;
	uint32_t n = sort_rows(a, r, &rows, &variants), n_bars = r->topology ? 2 : 1;
	double *values = arena_array(a, (size_t)n * n_bars * PARTS + 1, double);
	*out = (struct stacks){
		.title = arena_printf(a, "%s, batch %llu on %u processes%s%s", r->model,
			(unsigned long long)r->question.q.batch, r->processes,
			variants || n == 0 ? "" : ", ", variants || n == 0 ? "" : rows[0]->variant),
		.x = "Pr x Pc",
		.y = epoch ? "s of an epoch" : "ms of an iteration",
		.parts = {"computation", "model: all-gather, dX all-reduce",
			"domain: halo, redistribution", "batch: dW all-reduce"},
		.bars = {"left: closed form", "right: simulated"},
		.n_parts = PARTS,
		.n_bars = n_bars,
		.n_places = n,
		.places = arena_array(a, n + 1, const char *),
		.values = values,
	};
	for (uint32_t i = 0; i < n; i++, values += (size_t)n_bars * PARTS) {
		out->places[i] = arena_printf(a, "%ux%u%s%s", rows[i]->grid.pr, rows[i]->grid.pc,
			variants ? " " : "", variants ? rows[i]->variant : "");
		parts_of(&rows[i]->analytic, scale, values);
		if (n_bars == 2 && rows[i]->is_simulated)
			parts_of(&rows[i]->simulated, scale, values + PARTS);
		else if (n_bars == 2)
			values[PARTS] = (double)NAN;
	}
}
