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

/* Equals, but for rounding, are told apart by the smaller Pr. */
static bool is_better(const struct grid_row *a, double sa, const struct grid_row *b, double sb)
{
	if (!b || fabs(sa - sb) > 1e-9 * sb)
		return !b || sa < sb;
	return a->grid.pr < b->grid.pr;
}

static struct grid_best find_best(const struct grid_report *r, enum grid_kind kind, bool whole)
{
	struct grid_best best = {0};
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct grid_row *row = &r->rows[i];
		if (row->refused || (!whole && !row->ways))
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
		if (row->refused || !row->ways)
			continue;
		bool first = !best || (row->is_simulated && !best->is_simulated);
		if (first || (row->is_simulated == best->is_simulated &&
				     is_better(row, grid_row_s(row), best, grid_row_s(best))))
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

/* "5/3/0": layers that go by batch, model and domain. */
static const char *ways_text(struct arena *a, const struct grid_row *row, uint32_t n_layers)
{
	uint32_t n[N_GRID_WAYS] = {0};
	if (!row->ways)
		return "";
	for (uint32_t i = 0; i < n_layers; i++)
		n[row->ways[i]]++;
	return arena_printf(a, "%u/%u/%u", n[GRID_BATCH], n[GRID_MODEL], n[GRID_DOMAIN]);
}

static const char *note_of(const struct grid_row *row)
{
	if (row->refused)
		return row->refused;
	if (row->unscheduled)
		return row->unscheduled;
	return row->is_simulated && !row->exact ? "a sum, not exact" : "";
}

static void add_ms(struct table *t, double s)
{
	table_cell(t, "%.6f", s * 1e3);
}

static void add_blank(struct table *t, int n)
{
	while (n-- > 0)
		table_cell(t, "%s", "");
}

/* What a column of the table shows. */
enum column {
	COLUMN_ANALYTIC_COMM,
	COLUMN_ANALYTIC_TERM,
	COLUMN_SIMULATED_COMM,
	COLUMN_SIMULATED_TERM,
	COLUMN_COMPUTE,
	COLUMN_ANALYTIC_TOTAL,
	COLUMN_SIMULATED_TOTAL,
	COLUMN_ANALYTIC_EPOCH,
	COLUMN_SIMULATED_EPOCH,
	COLUMN_MEMORY,
};

static const struct heading {
	const char *name;
	enum column column;
	enum iteration_term term, more; /* of the terms: their sum */
	bool simulated, computes, epoch, full, schemes;
} headings[] = {
	{"analytic_comm_ms", COLUMN_ANALYTIC_COMM, 0, 0, false, false, false, false, false},
	{"all_gather_ms", COLUMN_ANALYTIC_TERM, TERM_ALL_GATHER, 0, false, false, false, true,
		false},
	{"dx_all_reduce_ms", COLUMN_ANALYTIC_TERM, TERM_DX_ALL_REDUCE, 0, false, false, false, true,
		false},
	{"dw_all_reduce_ms", COLUMN_ANALYTIC_TERM, TERM_DW_ALL_REDUCE, 0, false, false, false, true,
		false},
	{"halo_ms", COLUMN_ANALYTIC_TERM, TERM_HALO_FORWARD, TERM_HALO_BACKWARD, false, false,
		false, true, false},
	{"redistribute_ms", COLUMN_ANALYTIC_TERM, TERM_REDISTRIBUTE, 0, false, false, false, true,
		false},
	{"forward_ms", COLUMN_ANALYTIC_TERM, TERM_FORWARD, 0, false, false, false, true, true},
	{"backward_ms", COLUMN_ANALYTIC_TERM, TERM_BACKWARD, 0, false, false, false, true, true},
	{"simulated_comm_ms", COLUMN_SIMULATED_COMM, 0, 0, true, false, false, false, false},
	{"simulated_all_gather_ms", COLUMN_SIMULATED_TERM, TERM_ALL_GATHER, 0, true, false, false,
		true, false},
	{"simulated_dx_all_reduce_ms", COLUMN_SIMULATED_TERM, TERM_DX_ALL_REDUCE, 0, true, false,
		false, true, false},
	{"simulated_dw_all_reduce_ms", COLUMN_SIMULATED_TERM, TERM_DW_ALL_REDUCE, 0, true, false,
		false, true, false},
	{"simulated_halo_ms", COLUMN_SIMULATED_TERM, TERM_HALO_FORWARD, TERM_HALO_BACKWARD, true,
		false, false, true, false},
	{"simulated_redistribute_ms", COLUMN_SIMULATED_TERM, TERM_REDISTRIBUTE, 0, true, false,
		false, true, false},
	{"simulated_forward_ms", COLUMN_SIMULATED_TERM, TERM_FORWARD, 0, true, false, false, true,
		true},
	{"simulated_backward_ms", COLUMN_SIMULATED_TERM, TERM_BACKWARD, 0, true, false, false, true,
		true},
	{"compute_ms", COLUMN_COMPUTE, 0, 0, false, true, false, false, false},
	{"analytic_total_ms", COLUMN_ANALYTIC_TOTAL, 0, 0, false, true, false, false, false},
	{"simulated_total_ms", COLUMN_SIMULATED_TOTAL, 0, 0, true, true, false, false, false},
	{"analytic_epoch_s", COLUMN_ANALYTIC_EPOCH, 0, 0, false, false, true, false, false},
	{"simulated_epoch_s", COLUMN_SIMULATED_EPOCH, 0, 0, true, false, true, false, false},
	{"memory_MiB", COLUMN_MEMORY, 0, 0, false, false, false, false, false},
};
enum { N_HEADINGS = sizeof(headings) / sizeof(*headings), BEFORE = 4 };

static bool is_shown(const struct grid_report *r, const struct heading *h)
{
	return (!h->simulated || r->topology) && (!h->computes || r->compute) &&
	       (!h->epoch || r->iterations > 0) && (!h->full || r->full) &&
	       (!h->schemes || r->schemes);
}

static double term_s(const struct grid_seconds *t, const struct heading *h)
{
	return t->s[h->term] + (h->more == TERM_COMPUTE ? 0 : t->s[h->more]);
}

static void add_value(const struct grid_report *r, const struct grid_row *row,
	const struct heading *h, struct table *t)
{
	switch (h->column) {
	case COLUMN_ANALYTIC_COMM:
		add_ms(t, grid_comm_s(&row->analytic));
		return;
	case COLUMN_ANALYTIC_TERM:
		add_ms(t, term_s(&row->analytic, h));
		return;
	case COLUMN_SIMULATED_COMM:
		add_ms(t, grid_comm_s(&row->simulated));
		return;
	case COLUMN_SIMULATED_TERM:
		add_ms(t, term_s(&row->simulated, h));
		return;
	case COLUMN_COMPUTE:
		add_ms(t, row->analytic.s[TERM_COMPUTE]);
		return;
	case COLUMN_ANALYTIC_TOTAL:
		add_ms(t, row->analytic.total);
		return;
	case COLUMN_SIMULATED_TOTAL:
		add_ms(t, row->simulated.total);
		return;
	case COLUMN_ANALYTIC_EPOCH:
		table_cell(t, "%.3f", row->analytic.total * r->iterations);
		return;
	case COLUMN_SIMULATED_EPOCH:
		table_cell(t, "%.3f", row->simulated.total * r->iterations);
		return;
	case COLUMN_MEMORY:
		table_cell(t, "%.3f", row->memory_bytes / (1 << 20));
		return;
	}
}

void report_grids_table(struct arena *a, const struct grid_report *r, struct table *t)
{
	const char **columns = arena_array(a, N_HEADINGS + BEFORE + 1, const char *);
	size_t n = 3;
	columns[0] = "pr";
	columns[1] = "pc";
	columns[2] = "variant";
	for (size_t h = 0; h < N_HEADINGS; h++)
		if (is_shown(r, &headings[h]))
			columns[n++] = headings[h].name;
	columns[n++] = "batch/model/domain";
	columns[n++] = "note";
	*t = (struct table){.a = a, .columns = columns, .n_columns = n};
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct grid_row *row = &r->rows[i];
		table_cell(t, "%u", row->grid.pr);
		table_cell(t, "%u", row->grid.pc);
		table_cell(t, "%s", row->variant);
		for (size_t h = 0; h < N_HEADINGS; h++) {
			if (!is_shown(r, &headings[h]))
				continue;
			if (row->refused || (headings[h].simulated && !row->is_simulated))
				add_blank(t, 1);
			else
				add_value(r, row, &headings[h], t);
		}
		table_cell(t, "%s", ways_text(a, row, r->question.q.n_layers));
		table_cell(t, "%s", note_of(row));
	}
}

static void add_best(const char *what, const struct grid_best *best, enum grid_kind kind,
	bool whole, struct text *out)
{
	const struct grid_row *a = best->analytic, *s = best->simulated;
	if (!a)
		return;
	text_add(out, "%s: %ux%u %s, %.6g ms in closed form", what, a->grid.pr, a->grid.pc,
		a->variant, 1e3 * seconds_of(&a->analytic, kind, whole));
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
	if (r->topology)
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
