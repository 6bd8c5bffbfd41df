/* Suites: a reference table, how to produce our value for each of its rows, and the tolerance. */
#ifndef VALIDATE_VALIDATE_H
#define VALIDATE_VALIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/table.h"

struct topo;

struct suite_row {
	const char *label;
	double reference, ours;
	double error;     /* relative to the reference, signed; 0 where both are 0 */
	double tolerance; /* largest |error| that passes; 0: equal; NAN: printed only, always passes */
	bool pass;
	bool counts;  /* in the figures of the report */
	bool is_mean; /* `ours` is the mean |error| of rows above */
};

struct suite_report {
	const char *name, *reference; /* reference: path of the table */
	const char *note;             /* what the figures mean, what was calibrated */
	struct suite_row *rows;
	uint32_t n_rows, cap_rows, n_passed;
	double mean_error, worst_error; /* of |error|, of the rows that count */
};

struct suite_context {
	struct arena *a;
	const char *data_root; /* where models/ and topologies/ are found */
	bool simgrid; /* false: rows that need SimGrid are left out, and the note says so */
	void (*progress)(void *ctx, uint32_t done, uint32_t total);
	void *progress_ctx;
	uint32_t jobs;           /* processes for suites that simulate much; 0 and 1: this one */
	const struct topo *topo; /* that --topology names, or NULL */
};

struct suite {
	const char *name, *summary;
	const char *table; /* file in tests/golden, found below data_root; or NULL: */
	const char *const
		*more_tables; /* run after `table`, from the same place; NULL-terminated, or NULL */
	/* Tables that belong to others and are not shipped, or NULL: files in
	 * $WHAM_SHARED/validation, run after `table` one by one into one report, when
	 * WHAM_SHARED is set. NULL-terminated. */
	const char *const *foreign;
	const char *foreign_source; /* where they can be had */
	const char *const *columns; /* that each table must have; NULL-terminated */
	/* Reads a table of another form as a csv; NULL: csv_read(). */
	bool (*read)(struct arena *a, const char *path, struct csv *out, struct err *err);
	bool (*run)(const struct suite_context *context, const struct csv *table,
		struct suite_report *out, struct err *err);
};

/* Sorted by name, NULL at the end. */
extern const struct suite *const suites[];
const struct suite *suite_get(const char *name, struct err *err); /* ERR_USAGE with the nearest */

/* False when the suite's tables are not shipped and WHAM_SHARED is not set. */
bool suite_has_table(const struct suite *suite);

/* Runs the suite on its own tables, or on `reference` alone, with the columns of one of them.
 * False when it could not run; a missed tolerance is in the report (n_passed < n_rows). */
bool validate_run(const struct suite *suite, const char *reference,
	const struct suite_context *context, struct suite_report *out, struct err *err);

#endif
