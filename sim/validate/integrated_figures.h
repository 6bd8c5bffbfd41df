/* The bar charts of Gholami et al. 2018 (arXiv 1712.04432v3, Fig. 6 to 10), digitised to a pixel,
 * with what the closed forms give for each bar. Times are seconds of an epoch of 1.2 million
 * images unless said otherwise. */
#ifndef VALIDATE_INTEGRATED_FIGURES_H
#define VALIDATE_INTEGRATED_FIGURES_H

#include "analytic/integrated.h"
#include "base/table.h"
#include "validate/validate.h"

/* What a panel shows. `literal` are the equations as printed, NULL where no single variant is;
 * `fit` the same with the constants that its bars need. */
struct figure_panel {
	const char *name; /* "7d" */
	const char *literal, *fit;
	/* The convolutions' own Pc, where the grid shown is only the connected layers'; or 0. */
	uint32_t conv_pc;
	bool overlap;
	bool held; /* the literal best grid, to the printed one */
};

struct figure_bar {
	struct process_grid grid;
	double total, comm, pixel;          /* digitised */
	double batch;                       /* of it, over Pc; 0 where the table has it not */
	double total_speedup, comm_speedup; /* printed, to the first bar; 0: not */
	double compute;                     /* of an iteration, read off the bars */
	/* Calibrated; literal: 0 without literal equations. */
	double our_total, our_comm, our_batch;
	double literal_total, literal_comm, literal_batch;
};

struct figure_chart {
	const struct figure_panel *panel;
	uint64_t batch;
	double iterations; /* of an epoch, rounded up */
	struct figure_bar *bars;
	uint32_t n_bars, cap_bars;
};

struct figures {
	struct integrated_case c; /* the paper's; batch and grids are those of a bar */
	struct figure_chart *charts;
	uint32_t n_charts;
};

/* Bars in the order of the table, which has the columns of the shipped one. */
bool figures_compute(const struct suite_context *context, const struct csv *t, struct figures *out,
	struct err *err);

/* Those of tests/golden/integrated_figures.csv below the data root. */
bool figures_read(const struct suite_context *context, struct figures *out, struct err *err);

/* "7d", "fig7d"; ERR_USAGE with the nearest. */
const struct figure_chart *figures_find(const struct figures *f, const char *name, struct err *err);

/* The case with batch and grids of one bar. */
struct integrated_case figure_case(
	const struct figures *f, const struct figure_chart *chart, const struct figure_bar *bar);

/* The bar of the least total or literal total; NULL without literal equations. */
const struct figure_bar *figure_best(const struct figure_chart *chart);
const struct figure_bar *figure_best_literal(const struct figure_chart *chart);
/* The one with a printed speedup, or NULL. */
const struct figure_bar *figure_best_printed(const struct figure_chart *chart);

#endif
