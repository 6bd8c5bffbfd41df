/* A table of text cells, printed with aligned columns or as CSV (RFC 4180). */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

struct table {
	struct arena *a;
	const char *const *
		columns; /* n_columns headings; a column whose cells all look like numbers is right-aligned */
	size_t n_columns;
	const char **cells; /* row by row */
	size_t n_cells, cap_cells;
};

/* Appends one cell; rows fill from left to right. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* At most `max_rows` rows (0: all); says how many more there are. */
void table_print(const struct table *t, struct text *out, size_t max_rows);
/* Cells are quoted as RFC 4180 says; lines end in '\n'. */
void table_print_csv(const struct table *t, struct text *out);

/* A CSV file: header and cells in `a`, quotes and CRLF understood, empty lines skipped. Rows with
 * another number of cells than the header are refused with their line. */
struct csv {
	const char *path;
	const char **columns;
	size_t n_columns, n_rows;
	const char **cells;  /* n_rows x n_columns */
	const size_t *lines; /* where in the file each row starts */
};

bool csv_read(struct arena *a, const char *path, struct csv *csv, struct err *err);
/* Index of the column, or an error that names the file and the column. */
bool csv_column(const struct csv *csv, const char *name, size_t *column, struct err *err);
/* A finite decimal number, or a whole one without sign; blanks around it do not matter. The text of
 * the error names file, line and column. */
bool csv_number(const struct csv *csv, size_t row, size_t column, double *out, struct err *err);
bool csv_uint(const struct csv *csv, size_t row, size_t column, uint64_t *out, struct err *err);
static inline const char *csv_cell(const struct csv *csv, size_t row, size_t column)
{
	return csv->cells[row * csv->n_columns + column];
}

#endif
