/* Scripts for gnuplot, data included. With `file` they draw into that file by `terminal`, otherwise
 * on the screen. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Points, those of a series one after the other; or one bar for each. */
struct plot_point {
	const char *series;
	double x, y;
};
struct plot {
	const char *title, *x, *y;
	bool log_x, log_y, bars;
	struct plot_point *points;
	uint32_t n_points;
};
void report_plot(const struct plot *p, const char *file, const char *terminal, struct text *out);

enum { STACK_PARTS = 8, STACK_BARS = 4 };

/* Bars of parts on top of each other, n_bars of them side by side at each place of the x axis. */
struct stacks {
	const char *title, *x, *y;
	const char *parts[STACK_PARTS]; /* the lowest first */
	const char *bars[STACK_BARS];   /* from left to right */
	uint32_t n_parts, n_bars, n_places;
	const char **places;  /* n_places labels */
	double y_max;         /* what is higher is cut; 0: nothing is */
	const double *values; /* [place][bar][part]; a bar whose first part is NAN is not there */
};
void report_stacks(
	const struct stacks *p, const char *file, const char *terminal, struct text *out);

#endif
