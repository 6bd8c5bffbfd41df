/* What nccl-tests prints: comment lines with '#', then a row per size; or a JSON object. */
#include "validate/allreduce.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/file.h"

static const char *const table_columns[] = {
	"nccl_collective", "nccl_ranks", "nccl_bytes", "nccl_us"};
enum { N_COLUMNS = 4, MAX_WORDS = 32 };

struct row {
	uint64_t bytes;
	double us, algbw, busbw;
	size_t line;
};

struct table_reader {
	struct arena *a;
	const char *path;
	struct row *rows;
	uint32_t n, cap;
	uint32_t n_ranks;     /* devices listed */
	const char *kind;     /* of the program's name; NULL: not said */
	uint32_t time_column; /* words before the first time; 0: no heading yet */
};

static const char *const programs[][2] = {
	{"all_gather_perf", "allgather"},
	{"all_reduce_perf", "allreduce"},
	{"alltoall_perf", "alltoall"},
	{"broadcast_perf", "broadcast"},
	{"gather_perf", "gather"},
	{"reduce_perf", "reduce"},
	{"reduce_scatter_perf", "reducescatter"},
	{"scatter_perf", "scatter"},
};

/* The longest name that the text has: "reduce_perf" is in "all_reduce_perf". */
static void find_kind(struct table_reader *r, const char *text)
{
	size_t longest = 0;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs) && !r->kind; i++)
		longest = strstr(text, programs[i][0]) && strlen(programs[i][0]) > longest
				  ? strlen(programs[i][0])
				  : longest;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs) && longest > 0; i++)
		if (strlen(programs[i][0]) == longest && strstr(text, programs[i][0]))
			r->kind = programs[i][1];
}

static uint32_t split(char *line, char *words[MAX_WORDS])
{
	uint32_t n = 0;
	char *rest = NULL;
	for (char *w = strtok_r(line, " \t\r", &rest); w && n < MAX_WORDS;
		w = strtok_r(NULL, " \t\r", &rest))
		words[n++] = w;
	return n;
}

static bool is_number(const char *word, double *out)
{
	char *end;
	if (!word)
		return false;
	*out = strtod(word, &end);
	return end != word && *end == '\0';
}

/* "#  size  count  type  redop  root  time  algbw ...": where the time stands. */
static void read_heading(struct table_reader *r, char *line)
{
	char *words[MAX_WORDS] = {NULL};
	uint32_t n = split(line, words), first = n > 0 && strcmp(words[0], "#") == 0;
	if (n > first + 1 && strcmp(words[first], "Rank") == 0)
		r->n_ranks++;
	if (n <= first + 1 || strcmp(words[first], "size") != 0)
		return;
	for (uint32_t i = first; i < n && r->time_column == 0; i++)
		if (strcmp(words[i], "time") == 0)
			r->time_column = i - first;
}

/* "8 2 float sum -1 12.52 0.00 0.00 0 ..." behind whatever mpirun puts in front of a line. */
static void read_row(struct table_reader *r, char *line, size_t number)
{
	char *words[MAX_WORDS] = {NULL};
	uint32_t n = split(line, words), t = r->time_column;
	struct row row = {.line = number};
	double bytes, count;
	if (t < 2 || n < t + 3 || !is_number(words[0], &bytes) || !is_number(words[1], &count) ||
		!(bytes >= 1) || bytes > (double)PROG_MAX_BYTES)
		return;
	row.bytes = (uint64_t)bytes;
	if (!is_number(words[t], &row.us) || !is_number(words[t + 1], &row.algbw) ||
		!is_number(words[t + 2], &row.busbw) || !(row.us > 0))
		return;
	arena_push(r->a, r->rows, r->n, r->cap) = row;
}

/* Without "[1,0]<stdout>:" or " 0: " that mpirun may have put there. */
static char *after_prefix(char *line)
{
	char *mark = strstr(line, "<stdout>:");
	if (mark)
		return mark + strlen("<stdout>:");
	char *at = line + strspn(line, " ");
	size_t digits = strspn(at, "0123456789");
	return digits > 0 && at[digits] == ':' ? at + digits + 1 : line;
}

static void read_text(struct table_reader *r, const char *data)
{
	size_t number = 0;
	for (const char *at = data; *at;) {
		size_t n = strcspn(at, "\n");
		char *line = after_prefix(arena_strndup(r->a, at, n));
		number++;
		find_kind(r, line);
		if (line[strspn(line, " \t")] == '#')
			read_heading(r, line);
		else
			read_row(r, line, number);
		at += at[n] ? n + 1 : n;
	}
}

static double real_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void read_result(struct table_reader *r, const json_t *result)
{
	static const char *const places[] = {"out_of_place", "in_place"};
	struct row row = {0};
	double bytes = real_of(result, "size");
	for (int i = 0; i < 2 && !(row.us > 0); i++) {
		const json_t *place = json_object_get(result, places[i]);
		row.us = real_of(place, "time");
		row.algbw = real_of(place, "alg_bw");
		row.busbw = real_of(place, "bus_bw");
	}
	if (!(bytes >= 1) || bytes > (double)PROG_MAX_BYTES || !(row.us > 0))
		return;
	row.bytes = (uint64_t)bytes;
	arena_push(r->a, r->rows, r->n, r->cap) = row;
}

static bool read_json(struct table_reader *r, struct bytes text, struct err *err)
{
	struct doc doc;
	bool ok = doc_parse(&doc, r->path, text, err);
	if (ok) {
		const json_t *results = json_object_get(doc.root, "results");
		const json_t *args = json_object_get(doc.root, "args");
		if (json_is_string(args))
			find_kind(r, json_string_value(args));
		for (size_t i = 0; i < json_array_size(args); i++)
			if (json_is_string(json_array_get(args, i)))
				find_kind(r, json_string_value(json_array_get(args, i)));
		r->n_ranks = (uint32_t)json_array_size(json_object_get(doc.root, "devices"));
		for (size_t i = 0; i < json_array_size(results); i++)
			read_result(r, json_array_get(results, i));
	}
	doc_finish(&doc);
	return ok;
}

/* 2 (n - 1) / n = busbw / algbw of an all-reduce, from the largest row, whose digits are the most. */
static uint32_t ranks_from_factor(const struct table_reader *r)
{
	const struct row *last = &r->rows[r->n - 1];
	double n = last->algbw > 0 ? 2 / (2 - last->busbw / last->algbw) : 0;
	return n >= 1 && n < PROG_MAX_RANKS ? (uint32_t)llround(n) : 0;
}

static bool make_csv(struct table_reader *r, struct csv *out, struct err *err)
{
	if (r->n == 0)
		return err_set(err, ERR_INPUT, "%s: no rows of nccl-tests", r->path);
	if (r->n_ranks == 0)
		r->n_ranks = ranks_from_factor(r);
	if (r->n_ranks == 0)
		return err_set(
			err, ERR_INPUT, "%s: does not say how many ranks there were", r->path);
	*out = (struct csv){.path = r->path, .n_columns = N_COLUMNS, .n_rows = r->n};
	out->columns = arena_array(r->a, N_COLUMNS, const char *);
	memcpy(out->columns, table_columns, sizeof(table_columns));
	out->cells = arena_array(r->a, (size_t)r->n * N_COLUMNS, const char *);
	size_t *lines = arena_array(r->a, r->n, size_t);
	for (uint32_t i = 0; i < r->n; i++) {
		const char **cell = out->cells + (size_t)i * N_COLUMNS;
		lines[i] = r->rows[i].line;
		cell[0] = r->kind ? r->kind : "allreduce";
		cell[1] = arena_printf(r->a, "%u", r->n_ranks);
		cell[2] = arena_printf(r->a, "%ju", (uintmax_t)r->rows[i].bytes);
		cell[3] = arena_printf(r->a, "%.17g", r->rows[i].us);
	}
	out->lines = lines;
	return true;
}

bool nccl_table_read(struct arena *a, const char *path, struct csv *out, struct err *err)
{
	struct bytes text;
	struct table_reader r = {.a = a, .path = arena_strdup(a, path)};
	if (!file_read(a, path, &text, err))
		return false;
	const char *at = text.data;
	while (isspace((unsigned char)*at))
		at++;
	if (*at == '{')
		return read_json(&r, text, err) && make_csv(&r, out, err);
	read_text(&r, text.data);
	/* A csv has no heading with '#'. */
	return r.time_column > 0 ? make_csv(&r, out, err) : csv_read(a, path, out, err);
}
