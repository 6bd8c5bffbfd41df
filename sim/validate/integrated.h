/* Parts of suite `integrated`. */
#ifndef VALIDATE_INTEGRATED_H
#define VALIDATE_INTEGRATED_H

#include "analytic/integrated.h"
#include "validate/internal.h"

/* The paper's iteration: AlexNet from models/workloads, words of 4 bytes, a latency of 2 us;
 * batch, grid and bandwidth are the caller's. */
bool integrated_paper(
	const struct suite_context *context, struct integrated_case *out, struct err *err);
/* The paper's bandwidth, decimal or binary: its figures use the binary one. */
double integrated_paper_beta(bool binary); /* s per byte */

enum { PAPER_SAMPLES = 1200000 }; /* of an epoch */

/* Bars and printed speedups of the paper's figures. */
bool integrated_run_figures(const struct suite_context *context, const struct csv *table,
	struct suite_report *out, struct err *err);
extern const char *const integrated_figure_columns[];

/* The schedule of plan/grid.h on SimGrid beside the exact closed forms: layer by layer on a
 * crossbar, where they are held to be the same; on a ring, a torus and a fat tree, where the
 * difference and the best grid are shown. */
bool integrated_run_schedules(const struct suite_context *context,
	const struct integrated_case *paper, struct suite_report *out, struct err *err);

#endif
