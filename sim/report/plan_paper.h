/* A figure of Gholami et al. 2018 beside ours. */
#ifndef REPORT_PLAN_PAPER_H
#define REPORT_PLAN_PAPER_H

#include "report/plan.h"
#include "validate/integrated_figures.h"

struct paper_bar {
	const struct figure_bar *bar;
	struct grid_seconds simulated; /* of an iteration */
	bool is_simulated;
	const char *reason; /* why it was not, or NULL */
};

struct paper_report {
	const struct figures *figures;
	const struct figure_chart *chart;
	struct paper_bar *bars; /* as many as the chart has */
	double model_literal_s; /* communication of an epoch at Pr = P by the printed equations */
	const char *network;    /* that was simulated; NULL: none was */
	bool csv;               /* all columns under their long names, whatever they hold */
};

json_t *report_paper_json(const struct paper_report *r);
void report_paper_table(struct arena *a, const struct paper_report *r, struct table *t);
/* Conventions, best grids, and what cannot be had from the printed equations. */
void report_paper_text(const struct paper_report *r, struct text *out);
/* Digitised, calibrated and literal bars side by side, where there are any. */
void report_paper_stacks(struct arena *a, const struct paper_report *r, struct stacks *out);

#endif
