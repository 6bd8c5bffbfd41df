/* Inside the suites: rows and their errors. */
#ifndef VALIDATE_INTERNAL_H
#define VALIDATE_INTERNAL_H

#include "validate/validate.h"

extern const struct suite suite_area, suite_collectives, suite_memory, suite_scalesim;

/* Appends a row; its error is relative to `reference`. */
void suite_add(struct arena *a, struct suite_report *r, const char *label, double reference,
	double ours, double tolerance);

/* Index of a column that validate_run() has checked to be there. */
size_t suite_column(const struct csv *table, const char *name);

void suite_progress(const struct suite_context *context, uint32_t done, uint32_t total);

#endif
