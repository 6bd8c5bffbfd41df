#include "report/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

double grid_comm_s(const struct grid_seconds *t)
{
	double sum = 0;
	for (int k = TERM_COMPUTE + 1; k < N_ITERATION_TERMS; k++)
		sum += t->s[k];
	return sum;
}

double grid_row_s(const struct grid_row *row)
{
	return row->is_simulated ? row->simulated.total : row->analytic.total;
}

static double seconds_of(const struct grid_seconds *t, enum grid_kind kind, bool whole)
{
	return whole ? t->total : t->of_kind[kind];
}

enum grid_standing grid_row_standing(const struct grid_row *row)
{
	if (!row->is_estimated)
		return GRID_REFUSED;
	if (row->refused)
		return GRID_UNEXECUTABLE;
	if (row->uncomputed)
		return GRID_UNCOMPUTED;
	return row->is_simulated ? GRID_SIMULATED : GRID_ESTIMATED;
}

/* What was simulated has a closed form like what was not. */
static enum grid_standing standing_of(const struct grid_row *row)
{
	enum grid_standing s = grid_row_standing(row);
	return s == GRID_SIMULATED ? GRID_ESTIMATED : s;
}

/* Equals, but for rounding, are told apart by the smaller Pr. */
static bool is_better(const struct grid_row *a, double sa, const struct grid_row *b, double sb)
{
	if (b && standing_of(a) != standing_of(b))
		return standing_of(a) < standing_of(b);
	if (!b || fabs(sa - sb) > 1e-9 * sb)
		return !b || sa < sb;
	return a->grid.pr < b->grid.pr;
}

static struct grid_best find_best(const struct grid_report *r, enum grid_kind kind, bool whole)
{
	struct grid_best best = {0};
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct grid_row *row = &r->rows[i];
		if (!row->is_estimated || (!whole && !row->ways))
			continue;
		const struct grid_row *a = best.analytic, *s = best.simulated;
		if (is_better(row, seconds_of(&row->analytic, kind, whole), a,
			    a ? seconds_of(&a->analytic, kind, whole) : 0))
			best.analytic = row;
		if (row->is_simulated && is_better(row, seconds_of(&row->simulated, kind, whole), s,
						 s ? seconds_of(&s->simulated, kind, whole) : 0))
			best.simulated = row;
	}
	return best;
}

struct grid_best report_grids_best(const struct grid_report *r)
{
	return find_best(r, GRID_CONV, true);
}

const struct grid_row *report_grids_pick(const struct grid_report *r)
{
	const struct grid_row *best = NULL;
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct grid_row *row = &r->rows[i];
		enum grid_standing standing = grid_row_standing(row);
		if (standing > GRID_UNCOMPUTED || !row->ways)
			continue;
		enum grid_standing so_far = best ? grid_row_standing(best) : GRID_REFUSED;
		if (standing < so_far || (standing == so_far && is_better(row, grid_row_s(row),
									best, grid_row_s(best))))
			best = row;
	}
	return best;
}

static bool has_kind(const struct grid_report *r, enum grid_kind kind)
{
	for (uint32_t i = 0; i < r->question.q.n_layers; i++)
		if (r->question.q.layers[i].conv == (kind == GRID_CONV))
			return true;
	return false;
}

struct grid_best report_grids_best_of(const struct grid_report *r, enum grid_kind kind)
{
	return has_kind(r, kind) ? find_best(r, kind, false) : (struct grid_best){0};
}

static void add_best(const char *what, const struct grid_best *best, enum grid_kind kind,
	bool whole, struct text *out)
{
	const struct grid_row *a = best->analytic, *s = best->simulated;
	if (!a)
		return;
	text_add(out, "%s: %ux%u %s, %.6g ms in closed form%s", what, a->grid.pr, a->grid.pc,
		a->variant, 1e3 * seconds_of(&a->analytic, kind, whole),
		a->refused ? " (cannot be executed)" : "");
	if (s)
		text_add(out, "; %ux%u %s, %.6g ms simulated", s->grid.pr, s->grid.pc, s->variant,
			1e3 * seconds_of(&s->simulated, kind, whole));
	text_add(out, "\n");
}

void report_grids_text(const struct grid_report *r, struct text *out)
{
	const struct alpha_beta *m = &r->question.machine;
	struct grid_best all = report_grids_best(r), conv = report_grids_best_of(r, GRID_CONV),
			 fc = report_grids_best_of(r, GRID_FC);
	text_add(out, "closed form: latency %.6g us, %.6g GB/s (%s), words of %u bytes%s\n",
		m->alpha * 1e6, 1e-9 / m->beta, r->machine_source, r->question.q.word_bytes,
		r->overlap ? ", weight gradients behind computation" : "");
	if (all.simulated)
		text_add(out, "simulated on %s\n", r->topology);
	if (r->compute)
		text_add(out, "computation: %s\n", r->compute);
	if (r->compute_perfect_s > 0)
		text_add(out, "computation of one process split perfectly over %u: %.6g ms\n",
			r->processes, 1e3 * r->compute_perfect_s);
	add_best("best", &all, GRID_CONV, true, out);
	if (conv.analytic && fc.analytic) {
		add_best("best for convolutions alone", &conv, GRID_CONV, false, out);
		add_best("best for connected layers alone", &fc, GRID_FC, false, out);
	}
}

enum { MAX_REASONS = 3 };

/* Reasons are of a kind when they expect the same instead. */
static bool same_kind(const char *a, const char *b)
{
	const char *ea = strstr(a, ", expected"), *eb = strstr(b, ", expected");
	return strcmp(ea ? ea : a, eb ? eb : b) == 0;
}

const char *report_grids_reasons(struct arena *a, const struct grid_report *r)
{
	const struct grid_row *kinds[MAX_REASONS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->n_rows && n < MAX_REASONS; i++) {
		bool seen = !r->rows[i].refused;
		for (uint32_t k = 0; k < n && !seen; k++)
			seen = same_kind(kinds[k]->refused, r->rows[i].refused);
		if (!seen)
			kinds[n++] = &r->rows[i];
	}
	const char *text = "";
	for (uint32_t k = 0; k < n; k++)
		text = arena_printf(a, "%s%s%ux%u: %s", text, k > 0 ? "; " : "", kinds[k]->grid.pr,
			kinds[k]->grid.pc, kinds[k]->refused);
	return text;
}
