#include "validate/integrated_figures.h"

#include <math.h>
#include <string.h>

#include "plan/grid_compute.h"
#include "validate/integrated.h"

static const struct figure_panel panels[] = {
	{"10a", "eq8-fc", "fit-fig7", 0, false, true},
	{"10b", NULL, "fit-fig6", 512, false, false},
	{"10c", NULL, "fit-fig6", 512, false, false},
	{"10d", NULL, "fit-fig6", 512, false, false},
	{"6a", "eq8-all", "fit-fig6", 0, false, false},
	{"6b", "eq8-all", "fit-fig6", 0, false, false},
	{"6c", "eq8-all", "fit-fig6", 0, false, false},
	{"6d", "eq8-all", "fit-fig6", 0, false, false},
	{"7a", "eq8-fc", "fit-fig7", 0, false, true},
	{"7b", "eq8-fc", "fit-fig7", 0, false, true},
	{"7c", "eq8-fc", "fit-fig7", 0, false, true},
	{"7d", "eq8-fc", "fit-fig7", 0, false, true},
	{"8", NULL, "fit-fig7", 0, true, false},
	{"9a", "eq8-fc", "fit-fig7", 0, false, true},
	{"9b", "eq8-fc", "fit-fig7", 0, false, true},
	{"9c", "eq8-fc", "fit-fig7", 0, false, true},
	{"9d", "eq8-fc", "fit-fig7", 0, false, true},
};

static bool find_panel(
	const struct csv *t, size_t row, const struct figure_panel **out, struct err *err)
{
	const char *name = csv_cell(t, row, suite_column(t, "fig"));
	for (size_t i = 0; i < sizeof(panels) / sizeof(*panels); i++) {
		*out = &panels[i];
		if (strcmp(panels[i].name, name) == 0)
			return true;
	}
	return err_set(err, ERR_INPUT, "%s:%zu: unknown figure '%s', expected e.g. 7d", t->path,
		t->lines[row], name);
}

/* The paper does not give the seconds of computation: they are read off the bars, for the samples of a
 * process that the figures have. */
static bool find_compute(const struct grid_table *times, const struct csv *t, size_t row,
	double samples, double *out, struct err *err)
{
	for (uint32_t i = 0; i < times->n; i++) {
		*out = times->iteration_s[i];
		if (fabs(times->samples[i] - samples) < 1e-9)
			return true;
	}
	return err_set(err, ERR_INPUT,
		"%s:%zu: no time is known for %g samples of a process, expected 1/8 to 256 as in "
		"the figures",
		t->path, t->lines[row], samples);
}

/* A printed speedup, or what not every table has; an empty cell is none. */
static bool read_if_there(
	const struct csv *t, size_t row, const char *name, double *out, struct err *err)
{
	struct err missing;
	size_t column;
	*out = 0;
	return !csv_column(t, name, &column, &missing) || csv_cell(t, row, column)[0] == '\0' ||
	       csv_number(t, row, column, out, err);
}

static bool read_bar(
	const struct csv *t, size_t row, struct figure_bar *bar, uint64_t *batch, struct err *err)
{
	uint64_t pr, pc, p;
	if (!csv_uint(t, row, suite_column(t, "B"), batch, err) ||
		!csv_uint(t, row, suite_column(t, "P"), &p, err) ||
		!csv_uint(t, row, suite_column(t, "Pr"), &pr, err) ||
		!csv_uint(t, row, suite_column(t, "Pc"), &pc, err) ||
		!csv_number(t, row, suite_column(t, "total_dig_s"), &bar->total, err) ||
		!csv_number(t, row, suite_column(t, "comm_dig_s"), &bar->comm, err) ||
		!csv_number(t, row, suite_column(t, "pixel_s"), &bar->pixel, err) ||
		!read_if_there(t, row, "batch_dig_s", &bar->batch, err) ||
		!read_if_there(t, row, "paper_total_speedup", &bar->total_speedup, err) ||
		!read_if_there(t, row, "paper_comm_speedup", &bar->comm_speedup, err))
		return false;
	bool fits = *batch > 0 && pr > 0 && pc > 0 && pr <= UINT16_MAX && pc <= UINT16_MAX &&
		    pr * pc == p && bar->total > 0 && bar->comm > 0;
	bar->grid = (struct process_grid){(uint32_t)pr, (uint32_t)pc};
	return fits ||
	       err_set(err, ERR_INPUT, "%s:%zu: expected a batch, Pr x Pc = P and times above 0",
		       t->path, t->lines[row]);
}

static struct integrated_case place(const struct integrated_case *paper,
	const struct figure_panel *panel, uint64_t batch, struct process_grid grid)
{
	struct integrated_case c = *paper;
	uint32_t p = grid.pr * grid.pc;
	c.q.batch = batch;
	c.q.grid = grid;
	c.q.conv = (struct process_grid){0};
	if (panel->conv_pc > 0 && p % panel->conv_pc == 0)
		c.q.conv = (struct process_grid){p / panel->conv_pc, panel->conv_pc};
	return c;
}

struct integrated_case figure_case(
	const struct figures *f, const struct figure_chart *chart, const struct figure_bar *bar)
{
	return place(&f->c, chart->panel, chart->batch, bar->grid);
}

/* Our own bar beside the digitised one. */
static bool compute(const struct figure_panel *panel, const struct integrated_case *c,
	struct figure_bar *bar, struct err *err)
{
	const struct integrated_rules *fit = integrated_variant(panel->fit, err);
	if (!fit)
		return false;
	double iterations = integrated_iterations(PAPER_SAMPLES, c->q.batch, true);
	struct integrated_terms terms = integrated_comm(c, fit);
	bar->our_comm = iterations * integrated_terms_s(&terms);
	bar->our_batch = iterations * terms.dw_all_reduce;
	bar->our_total = iterations * integrated_iteration_s(&terms, bar->compute, panel->overlap);
	if (!panel->literal)
		return true;
	const struct integrated_rules *literal = integrated_variant(panel->literal, err);
	if (!literal)
		return false;
	terms = integrated_comm(c, literal);
	bar->literal_comm = iterations * integrated_terms_s(&terms);
	bar->literal_batch = iterations * terms.dw_all_reduce;
	bar->literal_total =
		iterations * integrated_iteration_s(&terms, bar->compute, panel->overlap);
	return true;
}

/* There is room for a chart of each row. */
static struct figure_chart *chart_for(
	struct figures *f, const struct figure_panel *panel, uint64_t batch)
{
	struct figure_chart *last = f->n_charts ? &f->charts[f->n_charts - 1] : NULL;
	if (last && last->panel == panel)
		return last;
	f->charts[f->n_charts] = (struct figure_chart){.panel = panel,
		.batch = batch,
		.iterations = integrated_iterations(PAPER_SAMPLES, batch, true)};
	return &f->charts[f->n_charts++];
}

bool figures_compute(const struct suite_context *context, const struct csv *t, struct figures *out,
	struct err *err)
{
	struct grid_table times;
	const char *path = arena_printf(
		context->a, "%s/models/compute/knl-alexnet-figures.csv", context->data_root);
	*out = (struct figures){0};
	if (!integrated_paper(context, &out->c, err) ||
		!grid_compute_table_read(context->a, path, &times, err))
		return false;
	out->charts = arena_array(context->a, t->n_rows + 1, struct figure_chart);
	for (size_t i = 0; i < t->n_rows; i++) {
		struct figure_bar bar = {0};
		const struct figure_panel *panel;
		uint64_t batch;
		if (!find_panel(t, i, &panel, err) || !read_bar(t, i, &bar, &batch, err))
			return false;
		struct integrated_case c = place(&out->c, panel, batch, bar.grid);
		double samples = (double)batch / (bar.grid.pr * bar.grid.pc);
		if (!find_compute(&times, t, i, samples, &bar.compute, err) ||
			!compute(panel, &c, &bar, err))
			return false;
		struct figure_chart *chart = chart_for(out, panel, batch);
		arena_push(context->a, chart->bars, chart->n_bars, chart->cap_bars) = bar;
	}
	return true;
}

bool figures_read(const struct suite_context *context, struct figures *out, struct err *err)
{
	struct csv t;
	size_t column;
	const char *path = arena_printf(
		context->a, "%s/tests/golden/integrated_figures.csv", context->data_root);
	if (!csv_read(context->a, path, &t, err) || !csv_column(&t, "fig", &column, err))
		return false;
	for (size_t i = 0; integrated_figure_columns[i]; i++)
		if (!csv_column(&t, integrated_figure_columns[i], &column, err))
			return false;
	return figures_compute(context, &t, out, err);
}

const struct figure_chart *figures_find(const struct figures *f, const char *name, struct err *err)
{
	const char *bare = strncmp(name, "fig", 3) == 0 ? name + 3 : name;
	const char *names[sizeof(panels) / sizeof(*panels)];
	size_t n = 0;
	for (uint32_t i = 0; i < f->n_charts; i++) {
		if (strcmp(f->charts[i].panel->name, bare) == 0)
			return &f->charts[i];
		if (n < sizeof(names) / sizeof(*names))
			names[n++] = f->charts[i].panel->name;
	}
	const char *near = text_nearest(bare, names, n);
	if (near)
		err_set(err, ERR_USAGE, "unknown figure '%s', did you mean 'fig%s'?", name, near);
	else
		err_set(err, ERR_USAGE, "unknown figure '%s', expected fig6a to fig10d", name);
	return NULL;
}

const struct figure_bar *figure_best(const struct figure_chart *chart)
{
	const struct figure_bar *best = chart->bars;
	for (uint32_t i = 1; i < chart->n_bars; i++)
		if (chart->bars[i].our_total < best->our_total)
			best = &chart->bars[i];
	return best;
}

const struct figure_bar *figure_best_literal(const struct figure_chart *chart)
{
	const struct figure_bar *best = chart->bars;
	for (uint32_t i = 1; i < chart->n_bars; i++)
		if (chart->bars[i].literal_total < best->literal_total)
			best = &chart->bars[i];
	return chart->panel->literal ? best : NULL;
}

const struct figure_bar *figure_best_printed(const struct figure_chart *chart)
{
	const struct figure_bar *printed = NULL;
	for (uint32_t i = 0; i < chart->n_bars; i++)
		if (chart->bars[i].total_speedup > 0)
			printed = &chart->bars[i];
	return printed;
}

const char *const integrated_figure_columns[] = {"B", "P", "Pr", "Pc", "total_dig_s", "comm_dig_s",
	"pixel_s", "paper_total_speedup", "paper_comm_speedup", NULL};
