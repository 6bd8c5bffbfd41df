/* The grids of `wham plan`. */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include "analytic/integrated.h"
#include "report/report.h"

struct grid_row {
	struct process_grid grid;
	const struct integrated_rules *rules;
	struct integrated_terms terms; /* of an iteration */
	double memory_bytes;           /* of one process, weights and gradients once */
	const char *refused;           /* why this grid cannot be; NULL: it can */
};

struct grid_report {
	const char *model;
	struct integrated_case question; /* its grid does not count */
	uint32_t processes;
	const struct grid_row *rows; /* the best first, then those that cannot be */
	uint32_t n_rows;
};

json_t *report_grids_json(const struct grid_report *r);
void report_grids_table(struct arena *a, const struct grid_report *r, struct table *t);

#endif
