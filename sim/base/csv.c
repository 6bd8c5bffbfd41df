#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/table.h"

struct reader {
	struct arena *a;
	const char *path;
	const char *at, *end;
	size_t line; /* of `at` */
	const char **cells;
	size_t n_cells, cap_cells;
};

static bool at_line_end(const struct reader *r)
{
	return r->at == r->end || *r->at == '\n' ||
	       (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static void skip_line_end(struct reader *r)
{
	if (r->at == r->end)
		return;
	r->at += *r->at == '\r' ? 2 : 1;
	r->line++;
}

/* From the opening quote to behind the closing one; doubled quotes inside stand for one. */
static bool read_quoted(struct reader *r, struct err *err)
{
	size_t line = r->line;
	struct text cell = {0};
	for (r->at++; r->at < r->end; r->at++) {
		bool quote = *r->at == '"';
		if (quote && (r->at + 1 == r->end || r->at[1] != '"'))
			break;
		r->at += quote;
		r->line += *r->at == '\n';
		text_add_bytes(&cell, r->at, 1);
	}
	arena_push(r->a, r->cells, r->n_cells, r->cap_cells) =
		arena_strndup(r->a, cell.n > 0 ? cell.data : "", cell.n);
	text_free(&cell);
	if (r->at == r->end)
		return err_set(err, ERR_INPUT, "%s:%zu: the quote that opens here is never closed",
			r->path, line);
	r->at++;
	if (!at_line_end(r) && *r->at != ',')
		return err_set(err, ERR_INPUT,
			"%s:%zu: text after a closing quote, expected ',' or the end of the line",
			r->path, r->line);
	return true;
}

static void read_plain(struct reader *r)
{
	const char *start = r->at;
	while (!at_line_end(r) && *r->at != ',')
		r->at++;
	arena_push(r->a, r->cells, r->n_cells, r->cap_cells) =
		arena_strndup(r->a, start, (size_t)(r->at - start));
}

static bool read_row(struct reader *r, struct err *err)
{
	for (;;) {
		if (r->at < r->end && *r->at == '"') {
			if (!read_quoted(r, err))
				return false;
		} else {
			read_plain(r);
		}
		if (at_line_end(r))
			break;
		r->at++;
	}
	skip_line_end(r);
	return true;
}

/* Moves to the next line that is not empty; false at the end of the file. */
static bool find_row(struct reader *r)
{
	while (r->at < r->end && at_line_end(r))
		skip_line_end(r);
	return r->at < r->end;
}

static bool read_header(struct reader *r, struct csv *csv, struct err *err)
{
	if (!find_row(r))
		return err_set(err, ERR_INPUT,
			"%s: no header line, expected the names of the columns", r->path);
	if (!read_row(r, err))
		return false;
	csv->columns = r->cells;
	csv->n_columns = r->n_cells;
	r->cells = NULL;
	r->n_cells = r->cap_cells = 0;
	return true;
}

static bool read_rows(struct reader *r, struct csv *csv, struct err *err)
{
	size_t *lines = NULL;
	size_t n_lines = 0, cap_lines = 0;
	while (find_row(r)) {
		size_t line = r->line, start = r->n_cells;
		if (!read_row(r, err))
			return false;
		if (r->n_cells - start != csv->n_columns)
			return err_set(err, ERR_INPUT,
				"%s:%zu: %zu cells, expected %zu as in the header", r->path, line,
				r->n_cells - start, csv->n_columns);
		arena_push(r->a, lines, n_lines, cap_lines) = line;
	}
	csv->cells = r->cells;
	csv->lines = lines;
	csv->n_rows = n_lines;
	return true;
}

static size_t line_of(const char *text, const char *at)
{
	size_t line = 1;
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

bool csv_read(struct arena *a, const char *path, struct csv *csv, struct err *err)
{
	struct bytes text;
	if (!file_read(a, path, &text, err))
		return false;
	const char *nul = memchr(text.data, '\0', text.n);
	if (nul)
		return err_set(err, ERR_INPUT, "%s:%zu: a NUL byte, expected text", path,
			line_of(text.data, nul));
	struct reader r = {
		.a = a, .path = path, .at = text.data, .end = text.data + text.n, .line = 1};
	if (text.n >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0)
		r.at += 3;
	*csv = (struct csv){.path = arena_strdup(a, path)};
	return read_header(&r, csv, err) && read_rows(&r, csv, err);
}

bool csv_column(const struct csv *csv, const char *name, size_t *column, struct err *err)
{
	for (size_t c = 0; c < csv->n_columns; c++) {
		if (strcmp(csv->columns[c], name) == 0) {
			*column = c;
			return true;
		}
	}
	const char *near = text_nearest(name, (const char *const *)csv->columns, csv->n_columns);
	return err_set(err, ERR_INPUT, "%s: no column '%s'%s%s%s", csv->path, name,
		near ? ", the nearest is '" : "", near ? near : "", near ? "'" : "");
}

static bool refuse(
	const struct csv *csv, size_t row, size_t column, const char *expected, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s:%zu: column '%s': expected %s, found '%.80s'", csv->path,
		csv->lines[row], csv->columns[column], expected, csv_cell(csv, row, column));
}

static bool only_blanks(const char *s)
{
	return s[strspn(s, " \t")] == '\0';
}

bool csv_number(const struct csv *csv, size_t row, size_t column, double *out, struct err *err)
{
	const char *cell = csv_cell(csv, row, column);
	const char *s = cell + strspn(cell, " \t");
	size_t n =
		strspn(s, "0123456789+-.eE"); /* strtod() also takes hexadecimal, "inf" and "nan" */
	char *end;
	double v = strtod(s, &end);
	if (n == 0 || end != s + n || !only_blanks(end) || !isfinite(v))
		return refuse(csv, row, column, "a number", err);
	*out = v;
	return true;
}

bool csv_uint(const struct csv *csv, size_t row, size_t column, uint64_t *out, struct err *err)
{
	const char *cell = csv_cell(csv, row, column);
	const char *s = cell + strspn(cell, " \t");
	size_t n = strspn(s, "0123456789");
	errno = 0;
	unsigned long long v = strtoull(s, NULL, 10);
	if (n == 0 || !only_blanks(s + n) || errno != 0)
		return refuse(csv, row, column, "a whole number below 2^64", err);
	*out = v;
	return true;
}
