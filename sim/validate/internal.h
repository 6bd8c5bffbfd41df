/* Inside the suites: rows and their errors. */
#ifndef VALIDATE_INTERNAL_H
#define VALIDATE_INTERNAL_H

#include "validate/validate.h"

extern const struct suite suite_allreduce, suite_area, suite_collectives, suite_gemm,
	suite_integrated, suite_memory, suite_onnxim, suite_scalesim, suite_tile, suite_traces;

/* Appends a row; its error is relative to `reference`. */
void suite_add(struct arena *a, struct suite_report *r, const char *label, double reference,
	double ours, double tolerance);

/* |errors| collected. */
struct suite_mean {
	double sum;
	uint32_t n;
};

/* A row that is printed and not held to anything; its |error| goes to `mean`, unless that is
 * NULL: then it stays out of the figures of the report too. */
void suite_show(struct arena *a, struct suite_report *r, const char *label, double reference,
	double ours, struct suite_mean *mean);

/* A row that holds a mean to a tolerance; none when nothing was collected. */
void suite_add_mean(struct arena *a, struct suite_report *r, const char *label,
	const struct suite_mean *mean, double tolerance);

/* Index of a column that validate_run() has checked to be there. */
size_t suite_column(const struct csv *table, const char *name);

/* Suites with several tables tell them apart by a column that only one of them has. */
struct suite_table {
	const char *column;
	const char *const *needed; /* the other columns; NULL-terminated */
	bool (*run)(const struct suite_context *context, const struct csv *table,
		struct suite_report *out, struct err *err);
};

bool suite_run_table(const struct suite_table *tables, size_t n,
	const struct suite_context *context, const struct csv *table, struct suite_report *out,
	struct err *err);

void suite_progress(const struct suite_context *context, uint32_t done, uint32_t total);

#endif
