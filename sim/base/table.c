#include "base/table.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/internal.h"

void table_cell(struct table *t, const char *fmt, ...)
{
	struct text text = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vadd(&text, fmt, ap);
	va_end(ap);
	arena_push(t->a, t->cells, t->n_cells, t->cap_cells) = arena_strdup(t->a, text.data);
	text_free(&text);
}

static size_t count_rows(const struct table *t)
{
	assert(t->n_columns > 0);
	return (t->n_cells + t->n_columns - 1) / t->n_columns;
}

/* What the cell holds; "" where the last row is short. */
static const char *cell_at(const struct table *t, size_t row, size_t column)
{
	size_t i = row * t->n_columns + column;
	return i < t->n_cells ? t->cells[i] : "";
}

static bool means_nothing(const char *s)
{
	return *s == '\0' || strcmp(s, "-") == 0;
}

/* "12", "-3.5e-7", "45 %", "812.4 us", "12.5GB/s": a number, perhaps with one word without digits. */
static bool looks_like_number(const char *s)
{
	s += *s == '-' || *s == '+';
	if (!isdigit((unsigned char)*s))
		return false;
	s += strspn(s, "0123456789.");
	size_t sign = *s && (s[1] == '-' || s[1] == '+');
	if ((*s == 'e' || *s == 'E') && isdigit((unsigned char)s[1 + sign]))
		s += 1 + sign + strspn(s + 1 + sign, "0123456789");
	s += *s == ' ';
	return s[strcspn(s, " 0123456789")] == '\0';
}

struct layout {
	size_t width;
	bool right;
};

static struct layout lay_out(const struct table *t, size_t column, size_t n_rows)
{
	const char *heading = t->columns[column];
	struct layout l = {.width = utf8_count(heading, strlen(heading)), .right = n_rows > 0};
	bool some = false;
	for (size_t row = 0; row < n_rows; row++) {
		const char *cell = cell_at(t, row, column);
		size_t width = utf8_count(cell, strlen(cell));
		if (width > l.width)
			l.width = width;
		if (means_nothing(cell))
			continue;
		some = true;
		l.right = l.right && looks_like_number(cell);
	}
	l.right = l.right && some;
	return l;
}

static void print_cell(struct text *out, const char *cell, struct layout l, bool last)
{
	int pad = (int)(l.width - utf8_count(cell, strlen(cell)));
	if (l.right)
		text_add(out, "%*s%s", pad, "", cell);
	else
		text_add(out, "%s%*s", cell, last ? 0 : pad, "");
	text_add(out, "%s", last ? "\n" : "  ");
}

static void trim_line(struct text *out)
{
	while (out->n > 1 && out->data[out->n - 2] == ' ')
		out->n--;
	out->data[out->n - 1] = '\n';
	out->data[out->n] = '\0';
}

void table_print(const struct table *t, struct text *out, size_t max_rows)
{
	size_t n_rows = count_rows(t);
	size_t shown = max_rows > 0 && max_rows < n_rows ? max_rows : n_rows;
	struct layout *layout = mem_alloc(t->n_columns, sizeof(*layout));
	for (size_t c = 0; c < t->n_columns; c++)
		layout[c] = lay_out(t, c, shown);
	for (size_t row = 0; row <= shown; row++) {
		for (size_t c = 0; c < t->n_columns; c++) {
			const char *cell = row == 0 ? t->columns[c] : cell_at(t, row - 1, c);
			print_cell(out, cell, layout[c], c + 1 == t->n_columns);
		}
		trim_line(out);
	}
	free(layout);
	if (shown < n_rows)
		text_add(out, "... and %zu more row%s\n", n_rows - shown,
			n_rows - shown == 1 ? "" : "s");
}

static void print_csv_cell(struct text *out, const char *cell, bool alone)
{
	bool quoted = strpbrk(cell, ",\"\r\n") || (alone && *cell == '\0');
	if (!quoted) {
		text_add(out, "%s", cell);
		return;
	}
	text_add(out, "\"");
	for (const char *c = cell; *c; c++) {
		if (*c == '"')
			text_add_bytes(out, c, 1);
		text_add_bytes(out, c, 1);
	}
	text_add(out, "\"");
}

void table_print_csv(const struct table *t, struct text *out)
{
	size_t n_rows = count_rows(t);
	for (size_t row = 0; row <= n_rows; row++) {
		for (size_t c = 0; c < t->n_columns; c++) {
			const char *cell = row == 0 ? t->columns[c] : cell_at(t, row - 1, c);
			text_add(out, "%s", c > 0 ? "," : "");
			print_csv_cell(out, cell, t->n_columns == 1);
		}
		text_add(out, "\n");
	}
}
