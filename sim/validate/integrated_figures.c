/* The bar charts of Gholami et al. 2018 (arXiv 1712.04432v3, Fig. 6 to 10), digitised to a
 * pixel: seconds of an epoch. */
#include <math.h>
#include <string.h>

#include "validate/integrated.h"

/* What a panel shows. `literal` are the equations as printed, `fit` the same with the constants
 * that its bars need. */
static const struct panel {
	const char *name, *literal, *fit;
	uint32_t
		conv_pc; /* the convolutions' own Pc, where the grid shown is only the connected layers'; or 0 */
	bool overlap;
	bool held; /* the literal best grid, to the printed one */
} panels[] = {
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

/* Seconds of computation of an iteration by samples of a process, read off the bars; the paper
 * does not give them. */
static const struct computed {
	double samples, s;
} computed[] = {
	{0.125, 0.00363},
	{0.25, 0.00726},
	{0.5, 0.01454},
	{1, 0.02905},
	{4, 0.03803},
	{16, 0.0611},
	{64, 0.1481},
	{256, 0.4773},
};

struct bar {
	double total, comm, pixel;          /* digitised, s */
	double total_speedup, comm_speedup; /* printed; 0: not */
	double our_total, our_comm,
		literal_total; /* of an epoch; literal: 0 without literal equations */
	struct process_grid grid;
};

struct chart {
	const struct panel *panel;
	struct bar *bars;
	uint32_t n_bars, cap_bars;
};

static bool find_panel(const struct csv *t, size_t row, const struct panel **out, struct err *err)
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

static bool find_compute(
	const struct csv *t, size_t row, double samples, double *out, struct err *err)
{
	for (size_t i = 0; i < sizeof(computed) / sizeof(*computed); i++) {
		*out = computed[i].s;
		if (fabs(computed[i].samples - samples) < 1e-9)
			return true;
	}
	return err_set(err, ERR_INPUT,
		"%s:%zu: no time is known for %g samples of a process, expected 1/8 to 256 as in "
		"the figures",
		t->path, t->lines[row], samples);
}

/* A printed speedup; an empty cell is none. */
static bool read_speedup(
	const struct csv *t, size_t row, const char *name, double *out, struct err *err)
{
	size_t column = suite_column(t, name);
	*out = 0;
	return csv_cell(t, row, column)[0] == '\0' || csv_number(t, row, column, out, err);
}

static bool read_bar(
	const struct csv *t, size_t row, struct bar *bar, uint64_t *batch, struct err *err)
{
	uint64_t pr, pc, p;
	if (!csv_uint(t, row, suite_column(t, "B"), batch, err) ||
		!csv_uint(t, row, suite_column(t, "P"), &p, err) ||
		!csv_uint(t, row, suite_column(t, "Pr"), &pr, err) ||
		!csv_uint(t, row, suite_column(t, "Pc"), &pc, err) ||
		!csv_number(t, row, suite_column(t, "total_dig_s"), &bar->total, err) ||
		!csv_number(t, row, suite_column(t, "comm_dig_s"), &bar->comm, err) ||
		!csv_number(t, row, suite_column(t, "pixel_s"), &bar->pixel, err) ||
		!read_speedup(t, row, "paper_total_speedup", &bar->total_speedup, err) ||
		!read_speedup(t, row, "paper_comm_speedup", &bar->comm_speedup, err))
		return false;
	bool fits = *batch > 0 && pr > 0 && pc > 0 && pr <= UINT16_MAX && pc <= UINT16_MAX &&
		    pr * pc == p && bar->total > 0 && bar->comm > 0;
	bar->grid = (struct process_grid){(uint32_t)pr, (uint32_t)pc};
	return fits ||
	       err_set(err, ERR_INPUT, "%s:%zu: expected a batch, Pr x Pc = P and times above 0",
		       t->path, t->lines[row]);
}

/* Our own bar beside the digitised one. */
static bool compute(const struct csv *t, size_t row, const struct panel *panel,
	struct integrated_case *c, struct bar *bar, struct err *err)
{
	double seconds;
	uint32_t p = bar->grid.pr * bar->grid.pc;
	c->q.grid = bar->grid;
	c->q.conv = (struct process_grid){0};
	if (panel->conv_pc > 0 && p % panel->conv_pc == 0)
		c->q.conv = (struct process_grid){p / panel->conv_pc, panel->conv_pc};
	const struct integrated_rules *fit = integrated_variant(panel->fit, err);
	if (!fit || !find_compute(t, row, (double)c->q.batch / p, &seconds, err))
		return false;
	double iterations = integrated_iterations(PAPER_SAMPLES, c->q.batch, true);
	struct integrated_terms terms = integrated_comm(c, fit);
	bar->our_comm = iterations * integrated_terms_s(&terms);
	bar->our_total = iterations * integrated_iteration_s(&terms, seconds, panel->overlap);
	if (!panel->literal)
		return true;
	const struct integrated_rules *literal = integrated_variant(panel->literal, err);
	if (!literal)
		return false;
	terms = integrated_comm(c, literal);
	bar->literal_total = iterations * integrated_iteration_s(&terms, seconds, panel->overlap);
	return true;
}

/* Bars of T_batch alone, Eq. 4, which nothing in the rules was calibrated for: 2 %. */
static void add_batch_bar(
	struct arena *a, const struct panel *panel, const struct bar *bar, struct suite_report *out)
{
	if (bar->grid.pr > 1 || panel->overlap)
		return;
	suite_add(a, out, arena_printf(a, "Fig. %s 1x%u: Eq. 4, epoch", panel->name, bar->grid.pc),
		bar->comm, bar->our_comm, 0.02);
}

/* Within 1.5 pixels of communication and 2 of the whole; where communication is hidden, 0.14 s
 * of the whole. */
static void add_bar(
	struct arena *a, const struct panel *panel, const struct bar *bar, struct suite_report *out)
{
	const char *label = arena_printf(
		a, "Fig. %s %ux%u, calibrated", panel->name, bar->grid.pr, bar->grid.pc);
	double whole = panel->overlap ? 0.14 : 2 * bar->pixel;
	add_batch_bar(a, panel, bar, out);
	if (!panel->overlap)
		suite_add(a, out, arena_printf(a, "%s: communication", label), bar->comm,
			bar->our_comm, 1.5 * bar->pixel / bar->comm);
	suite_add(a, out, arena_printf(a, "%s: epoch", label), bar->total, bar->our_total,
		whole / bar->total);
}

static void add_speedup(struct arena *a, const struct panel *panel, const char *what,
	double printed, double ours, struct suite_report *out)
{
	if (printed > 0)
		suite_add(a, out,
			arena_printf(a, "Fig. %s: speedup of %s to one decimal, calibrated",
				panel->name, what),
			printed, round(10 * ours) / 10, 0);
}

/* The printed best grid is the one with a printed speedup. */
static void add_best(struct arena *a, const struct chart *chart, struct suite_report *out)
{
	const struct bar *best = chart->bars, *printed = NULL;
	for (uint32_t i = 0; i < chart->n_bars; i++) {
		if (chart->bars[i].literal_total < best->literal_total)
			best = &chart->bars[i];
		if (chart->bars[i].total_speedup > 0)
			printed = &chart->bars[i];
	}
	if (!chart->panel->literal || !printed)
		return;
	const char *label = arena_printf(
		a, "Fig. %s: Pr of the best grid, %s", chart->panel->name, chart->panel->literal);
	if (chart->panel->held)
		suite_add(a, out, label, printed->grid.pr, best->grid.pr, 0);
	else
		suite_show(a, out, label, printed->grid.pr, best->grid.pr, NULL);
}

static void add_chart(struct arena *a, const struct chart *chart, struct suite_report *out)
{
	const struct bar *first = chart->bars;
	for (uint32_t i = 0; i < chart->n_bars; i++) {
		const struct bar *bar = &chart->bars[i];
		add_bar(a, chart->panel, bar, out);
		add_speedup(a, chart->panel, "the epoch", bar->total_speedup,
			first->our_total / bar->our_total, out);
		add_speedup(a, chart->panel, "communication", bar->comm_speedup,
			first->our_comm / bar->our_comm, out);
	}
	add_best(a, chart, out);
}

bool integrated_run_figures(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	struct integrated_case c;
	struct chart chart = {0};
	if (!integrated_paper(context, &c, err))
		return false;
	for (size_t i = 0; i < t->n_rows; i++) {
		struct bar bar = {0};
		const struct panel *panel;
		if (!find_panel(t, i, &panel, err) || !read_bar(t, i, &bar, &c.q.batch, err) ||
			!compute(t, i, panel, &c, &bar, err))
			return false;
		if (chart.n_bars > 0 && panel != chart.panel) {
			add_chart(context->a, &chart, out);
			chart.n_bars = 0;
		}
		chart.panel = panel;
		arena_push(context->a, chart.bars, chart.n_bars, chart.cap_bars) = bar;
	}
	if (chart.n_bars > 0)
		add_chart(context->a, &chart, out);
	return true;
}

const char *const integrated_figure_columns[] = {"B", "P", "Pr", "Pc", "total_dig_s", "comm_dig_s",
	"pixel_s", "paper_total_speedup", "paper_comm_speedup", NULL};
