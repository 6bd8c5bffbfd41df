/* Integrated model, batch and domain parallelism: every term of every grid against a table
 * computed from the equations, and the figures of Gholami et al. 2018. */
#include "validate/integrated.h"

#include <math.h>
#include <string.h>

double integrated_paper_beta(bool binary)
{
	return 1 / (6 * (binary ? 1073741824.0 : 1e9));
}

bool integrated_paper(
	const struct suite_context *context, struct integrated_case *out, struct err *err)
{
	struct graph graph;
	struct graph_options options = {.elem_bytes = 4};
	const char *path =
		arena_printf(context->a, "%s/models/workloads/alexnet.json", context->data_root);
	struct grid_layer *layers;
	if (!graph_read(context->a, path, &options, &graph, err))
		return false;
	uint32_t n = grid_layers(context->a, &graph, &layers);
	*out = (struct integrated_case){
		.q = {.layers = layers, .n_layers = n, .word_bytes = 4},
		.machine = {2e-6, integrated_paper_beta(true), 0},
	};
	return true;
}

/* Names of the table and ours. */
static const struct variant {
	const char *name, *rules;
} variants[] = {
	{"eq8_all", "eq8-all"},
	{"eq8_din_all", "eq8-din-all"},
	{"eq8_din_fc", "eq8-din-fc"},
	{"eq8_fc", "eq8-fc"},
	{"eq9_convdomain_fcmodel", "eq9"},
	{"fit_fig6", "fit-fig6"},
	{"fit_fig7", "fit-fig7"},
};

static const struct integrated_rules *find_rules(const struct csv *t, size_t row, struct err *err)
{
	const char *name = csv_cell(t, row, suite_column(t, "variant"));
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
		if (strcmp(variants[i].name, name) == 0)
			return integrated_variant(variants[i].rules, err);
	err_set(err, ERR_INPUT, "%s:%zu: unknown variant '%s', expected e.g. eq8_all or eq8_fc",
		t->path, t->lines[row], name);
	return NULL;
}

static bool read_count(
	const struct csv *t, size_t row, const char *column, uint32_t *out, struct err *err)
{
	uint64_t value;
	if (!csv_uint(t, row, suite_column(t, column), &value, err))
		return false;
	*out = (uint32_t)value;
	return (value > 0 && value <= UINT32_MAX) ||
	       err_set(err, ERR_INPUT, "%s:%zu: %s out of range, expected 1 to %u", t->path,
		       t->lines[row], column, UINT32_MAX);
}

static bool read_case(const struct csv *t, size_t row, struct integrated_case *c, struct err *err)
{
	uint32_t batch, p;
	const char *unit = csv_cell(t, row, suite_column(t, "bw_unit"));
	if (strcmp(unit, "GB") != 0 && strcmp(unit, "GiB") != 0)
		return err_set(err, ERR_INPUT, "%s:%zu: unit '%s', expected GB or GiB", t->path,
			t->lines[row], unit);
	if (!read_count(t, row, "B", &batch, err) || !read_count(t, row, "P", &p, err) ||
		!read_count(t, row, "Pr", &c->q.grid.pr, err) ||
		!read_count(t, row, "Pc", &c->q.grid.pc, err))
		return false;
	c->q.batch = batch;
	c->machine.beta = integrated_paper_beta(strcmp(unit, "GiB") == 0);
	return (uint64_t)c->q.grid.pr * c->q.grid.pc == p ||
	       err_set(err, ERR_INPUT, "%s:%zu: Pr x Pc is not P", t->path, t->lines[row]);
}

enum { N_VALUES = 7 };

static const char *const values[N_VALUES] = {"t_fwd_allgather_s", "t_bwd_dX_allreduce_s",
	"t_dW_allreduce_s", "t_halo_s", "t_comm_iter_s", "t_comm_epoch_s_NoverB",
	"t_comm_epoch_s_ceil"};

static void compute(
	const struct integrated_case *c, const struct integrated_rules *rules, double *ours)
{
	struct integrated_terms t = integrated_comm(c, rules);
	double sum = integrated_terms_s(&t);
	ours[0] = t.all_gather;
	ours[1] = t.dx_all_reduce;
	ours[2] = t.dw_all_reduce;
	ours[3] = t.halo_forward + t.halo_backward;
	ours[4] = sum;
	ours[5] = sum * integrated_iterations(PAPER_SAMPLES, c->q.batch, false);
	ours[6] = sum * integrated_iterations(PAPER_SAMPLES, c->q.batch, true);
}

/* 1e-9, and what the table rounds away: half of the sixth decimal of an epoch. */
static double tolerance_of(int value, double reference)
{
	return 1e-9 + (value >= 5 && reference > 0 ? 0.5e-6 / reference : 0);
}

/* The term that is furthest from the table, in its own tolerance, stands for the row. */
static bool add_row(const struct suite_context *context, const struct csv *t, size_t row,
	struct integrated_case *c, struct suite_report *out, struct err *err)
{
	double ours[N_VALUES], wanted[N_VALUES], furthest = -1;
	int at = 0;
	const struct integrated_rules *rules = find_rules(t, row, err);
	if (!rules || !read_case(t, row, c, err))
		return false;
	compute(c, rules, ours);
	for (int i = 0; i < N_VALUES; i++) {
		if (!csv_number(t, row, suite_column(t, values[i]), &wanted[i], err))
			return false;
		double scale = wanted[i] > 0 ? wanted[i] : 1;
		double error = fabs(ours[i] - wanted[i]) / scale / tolerance_of(i, wanted[i]);
		if (!(error <= furthest)) {
			furthest = error;
			at = i;
		}
	}
	suite_add(context->a, out,
		arena_printf(context->a, "%s B %s %ux%u %s: %s", rules->name,
			csv_cell(t, row, suite_column(t, "B")), c->q.grid.pr, c->q.grid.pc,
			csv_cell(t, row, suite_column(t, "bw_unit")), values[at]),
		wanted[at], ours[at], tolerance_of(at, wanted[at]));
	return true;
}

static bool run_terms(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	struct integrated_case c;
	if (!integrated_paper(context, &c, err))
		return false;
	for (size_t i = 0; i < t->n_rows; i++)
		if (!add_row(context, t, i, &c, out, err))
			return false;
	return !context->simgrid || integrated_run_schedules(context, &c, out, err);
}

static const char *const term_columns[] = {"bw_unit", "B", "P", "Pr", "Pc", "t_fwd_allgather_s",
	"t_bwd_dX_allreduce_s", "t_dW_allreduce_s", "t_halo_s", "t_comm_iter_s",
	"t_comm_epoch_s_NoverB", "t_comm_epoch_s_ceil", NULL};

static const struct suite_table tables[] = {
	{"variant", term_columns, run_terms},
	{"fig", integrated_figure_columns, integrated_run_figures},
};

#define WHAT \
	"Closed forms: of each grid the term that is furthest off. Calibrated, not predicted: " \
	"variants fit-*, their bars and speedups, and the compute time, read off the bars. Eq. 8 " \
	"as printed does not give Fig. 6: its best grids are shown, not held."

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	/* Once for all tables; the networks add to it. */
	if (!*out->note)
		out->note = context->simgrid ? WHAT
				    " The schedule on SimGrid: held layer by layer on a "
				    "crossbar, shown on other networks."
					     : WHAT " SimGrid left out.";
	return suite_run_table(tables, sizeof(tables) / sizeof(*tables), context, t, out, err);
}

static const char *const more[] = {"integrated_figures.csv", NULL};
static const char *const columns_needed[] = {NULL};

const struct suite suite_integrated = {
	.name = "integrated",
	.summary = "model, batch and domain parallelism: equations and figures of Gholami et al.",
	.table = "integrated_parallelism.csv",
	.more_tables = more,
	.columns = columns_needed,
	.run = run,
};
