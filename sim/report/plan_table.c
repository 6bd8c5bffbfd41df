/* The table of grids of `wham plan`: all columns under the names that they have always had as CSV;
 * to read, those that say something, under short ones. */
#include <string.h>

#include "report/internal.h"
#include "report/plan.h"

enum { NOTE_WIDTH = 64, BEFORE = 3, AFTER = 2 };

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

static void add_ms(struct table *t, double s)
{
	table_cell(t, "%.6f", s * 1e3);
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
	const char *name, *brief;
	enum column column;
	enum iteration_term term, more; /* of the terms: their sum */
	bool computes, epoch, schemes;
} headings[] = {
	// clang-format off
	{"analytic_comm_ms", "comm_ms", COLUMN_ANALYTIC_COMM, 0, 0, false, false, false},
	{"all_gather_ms", "gather_ms", COLUMN_ANALYTIC_TERM, TERM_ALL_GATHER, 0, false, false, false},
	{"dx_all_reduce_ms", "dx_reduce_ms", COLUMN_ANALYTIC_TERM, TERM_DX_ALL_REDUCE, 0, false, false, false},
	{"dw_all_reduce_ms", "dw_reduce_ms", COLUMN_ANALYTIC_TERM, TERM_DW_ALL_REDUCE, 0, false, false, false},
	{"halo_ms", "halo_ms", COLUMN_ANALYTIC_TERM, TERM_HALO_FORWARD, TERM_HALO_BACKWARD, false, false, false},
	{"redistribute_ms", "move_ms", COLUMN_ANALYTIC_TERM, TERM_REDISTRIBUTE, 0, false, false, false},
	{"forward_ms", "forward_ms", COLUMN_ANALYTIC_TERM, TERM_FORWARD, 0, false, false, true},
	{"backward_ms", "backward_ms", COLUMN_ANALYTIC_TERM, TERM_BACKWARD, 0, false, false, true},
	{"simulated_comm_ms", "sim_comm_ms", COLUMN_SIMULATED_COMM, 0, 0, false, false, false},
	{"simulated_all_gather_ms", "sim_gather_ms", COLUMN_SIMULATED_TERM, TERM_ALL_GATHER, 0, false, false, false},
	{"simulated_dx_all_reduce_ms", "sim_dx_reduce_ms", COLUMN_SIMULATED_TERM, TERM_DX_ALL_REDUCE, 0, false, false, false},
	{"simulated_dw_all_reduce_ms", "sim_dw_reduce_ms", COLUMN_SIMULATED_TERM, TERM_DW_ALL_REDUCE, 0, false, false, false},
	{"simulated_halo_ms", "sim_halo_ms", COLUMN_SIMULATED_TERM, TERM_HALO_FORWARD, TERM_HALO_BACKWARD, false, false, false},
	{"simulated_redistribute_ms", "sim_move_ms", COLUMN_SIMULATED_TERM, TERM_REDISTRIBUTE, 0, false, false, false},
	{"simulated_forward_ms", "sim_forward_ms", COLUMN_SIMULATED_TERM, TERM_FORWARD, 0, false, false, true},
	{"simulated_backward_ms", "sim_backward_ms", COLUMN_SIMULATED_TERM, TERM_BACKWARD, 0, false, false, true},
	{"compute_ms", "compute_ms", COLUMN_COMPUTE, 0, 0, true, false, false},
	{"analytic_total_ms", "total_ms", COLUMN_ANALYTIC_TOTAL, 0, 0, true, false, false},
	{"simulated_total_ms", "sim_total_ms", COLUMN_SIMULATED_TOTAL, 0, 0, true, false, false},
	{"analytic_epoch_s", "epoch_s", COLUMN_ANALYTIC_EPOCH, 0, 0, false, true, false},
	{"simulated_epoch_s", "sim_epoch_s", COLUMN_SIMULATED_EPOCH, 0, 0, false, true, false},
	{"memory_MiB", "memory_MiB", COLUMN_MEMORY, 0, 0, false, false, false},
	// clang-format on
};
enum { N_HEADINGS = sizeof(headings) / sizeof(*headings) };

static double term_s(const struct grid_seconds *t, const struct heading *h)
{
	return t->s[h->term] + (h->more == TERM_COMPUTE ? 0 : t->s[h->more]);
}

static bool is_simulated(const struct heading *h)
{
	switch (h->column) {
	case COLUMN_SIMULATED_COMM:
	case COLUMN_SIMULATED_TERM:
	case COLUMN_SIMULATED_TOTAL:
	case COLUMN_SIMULATED_EPOCH:
		return true;
	case COLUMN_ANALYTIC_COMM:
	case COLUMN_ANALYTIC_TERM:
	case COLUMN_COMPUTE:
	case COLUMN_ANALYTIC_TOTAL:
	case COLUMN_ANALYTIC_EPOCH:
	case COLUMN_MEMORY:
		return false;
	}
	return false;
}

static bool is_term(const struct heading *h)
{
	return h->column == COLUMN_ANALYTIC_TERM || h->column == COLUMN_SIMULATED_TERM;
}

/* Of what cannot be executed the whole is communication. */
static bool is_known(const struct grid_row *row, const struct heading *h)
{
	enum grid_standing standing = grid_row_standing(row);
	if (is_simulated(h))
		return row->is_simulated;
	if (h->column == COLUMN_COMPUTE)
		return standing <= GRID_ESTIMATED;
	if (h->column == COLUMN_ANALYTIC_TOTAL || h->column == COLUMN_ANALYTIC_EPOCH)
		return row->is_estimated && standing != GRID_UNCOMPUTED;
	return row->is_estimated;
}

/* Some row has it; of a term, some row needs time for it. */
static bool says_something(const struct grid_report *r, const struct heading *h)
{
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct grid_row *row = &r->rows[i];
		const struct grid_seconds *t = is_simulated(h) ? &row->simulated : &row->analytic;
		if (is_known(row, h) && (!is_term(h) || term_s(t, h) > 0))
			return true;
	}
	return false;
}

static bool is_shown(const struct grid_report *r, const struct heading *h)
{
	return (!is_simulated(h) || r->topology) && (!h->computes || r->compute) &&
	       (!h->epoch || r->iterations > 0) && (!is_term(h) || r->full) &&
	       (!h->schemes || r->schemes) && (r->csv || says_something(r, h));
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

const char *grid_reason_short(struct arena *a, const char *reason)
{
	const char *expected = strstr(reason, ", expected");
	return expected ? arena_strndup(a, reason, (size_t)(expected - reason)) : reason;
}

static const char *note_of(const struct grid_row *row)
{
	if (row->refused)
		return row->refused;
	if (row->uncomputed)
		return row->uncomputed;
	if (row->unscheduled)
		return row->unscheduled;
	return row->is_simulated && !row->exact ? "a sum, not exact" : "";
}

static void add_note(
	struct arena *a, const struct grid_report *r, const struct grid_row *row, struct table *t)
{
	const char *note = note_of(row);
	const char *before = row->refused && row->is_estimated ? "cannot be executed: " : "";
	if (r->full) {
		table_cell(t, "%s%s", before, note);
		return;
	}
	note = arena_printf(a, "%s%s", before, grid_reason_short(a, note));
	size_t n = strlen(note), cut = NOTE_WIDTH - 3;
	while (cut > 0 && ((unsigned char)note[cut] & 0xc0) == 0x80)
		cut--;
	table_cell(t, "%.*s%s", (int)(n > NOTE_WIDTH ? cut : n), note, n > NOTE_WIDTH ? "..." : "");
}

static void name_columns(struct arena *a, const struct grid_report *r, struct table *t)
{
	const char **columns = arena_array(a, BEFORE + N_HEADINGS + AFTER, const char *);
	size_t n = 0;
	columns[n++] = "pr";
	columns[n++] = "pc";
	columns[n++] = "variant";
	for (size_t h = 0; h < N_HEADINGS; h++)
		if (is_shown(r, &headings[h]))
			columns[n++] = r->csv ? headings[h].name : headings[h].brief;
	columns[n++] = r->csv ? "batch/model/domain" : "b/m/d";
	columns[n++] = "note";
	*t = (struct table){.a = a, .columns = columns, .n_columns = n};
}

void report_grids_table(struct arena *a, const struct grid_report *r, struct table *t)
{
	bool shown[N_HEADINGS];
	for (size_t h = 0; h < N_HEADINGS; h++)
		shown[h] = is_shown(r, &headings[h]);
	name_columns(a, r, t);
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct grid_row *row = &r->rows[i];
		table_cell(t, "%u", row->grid.pr);
		table_cell(t, "%u", row->grid.pc);
		table_cell(t, "%s", row->variant);
		for (size_t h = 0; h < N_HEADINGS; h++) {
			if (!shown[h])
				continue;
			if (is_known(row, &headings[h]))
				add_value(r, row, &headings[h], t);
			else
				table_cell(t, "%s", "");
		}
		table_cell(t, "%s", ways_text(a, row, r->question.q.n_layers));
		add_note(a, r, row, t);
	}
}
