/* The bars and printed speedups of the paper's figures as rows of suite `integrated`. */
#include "validate/integrated_figures.h"

#include <math.h>

#include "validate/integrated.h"

/* Bars of T_batch alone, Eq. 4, which nothing in the rules was calibrated for: 2 %. */
static void add_batch_bar(struct arena *a, const struct figure_panel *panel,
	const struct figure_bar *bar, struct suite_report *out)
{
	if (bar->grid.pr > 1 || panel->overlap)
		return;
	suite_add(a, out, arena_printf(a, "Fig. %s 1x%u: Eq. 4, epoch", panel->name, bar->grid.pc),
		bar->comm, bar->our_comm, 0.02);
}

/* Within 1.5 pixels of communication and 2 of the whole; where communication is hidden, 0.14 s
 * of the whole. */
static void add_bar(struct arena *a, const struct figure_panel *panel, const struct figure_bar *bar,
	struct suite_report *out)
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

static void add_speedup(struct arena *a, const struct figure_panel *panel, const char *what,
	double printed, double ours, struct suite_report *out)
{
	if (printed > 0)
		suite_add(a, out,
			arena_printf(a, "Fig. %s: speedup of %s to one decimal, calibrated",
				panel->name, what),
			printed, round(10 * ours) / 10, 0);
}

static void add_best(struct arena *a, const struct figure_chart *chart, struct suite_report *out)
{
	const struct figure_bar *best = figure_best_literal(chart);
	const struct figure_bar *printed = figure_best_printed(chart);
	if (!best || !printed)
		return;
	const char *label = arena_printf(
		a, "Fig. %s: Pr of the best grid, %s", chart->panel->name, chart->panel->literal);
	if (chart->panel->held)
		suite_add(a, out, label, printed->grid.pr, best->grid.pr, 0);
	else
		suite_show(a, out, label, printed->grid.pr, best->grid.pr, NULL);
}

static void add_chart(struct arena *a, const struct figure_chart *chart, struct suite_report *out)
{
	const struct figure_bar *first = chart->bars;
	for (uint32_t i = 0; i < chart->n_bars; i++) {
		const struct figure_bar *bar = &chart->bars[i];
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
	struct figures figures;
	if (!figures_compute(context, t, &figures, err))
		return false;
	for (uint32_t i = 0; i < figures.n_charts; i++)
		add_chart(context->a, &figures.charts[i], out);
	return true;
}
