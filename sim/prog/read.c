#include "prog/internal.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

bool read_fail(struct reader *r, const struct word *w, const char *fmt, ...)
{
	va_list ap;
	struct text t = {0};
	va_start(ap, fmt);
	text_vadd(&t, fmt, ap);
	va_end(ap);
	lex_fail(&r->lex, w->col, r->err, "%s", t.data);
	text_free(&t);
	return false;
}

bool word_is(const struct word *w, const char *keyword)
{
	return !w->quoted && strcmp(w->s, keyword) == 0;
}

bool word_to_uint(const struct word *w, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;
	if (w->quoted || w->n == 0 || w->n > 19)
		return false;
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->s[i] < '0' || w->s[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(w->s[i] - '0');
	}
	*out = v;
	return v <= max;
}

bool read_word(struct reader *r, const char *what, const struct word **out)
{
	if (r->at == r->lex.n_words) {
		const struct word *last = &r->lex.words[r->lex.n_words - 1];
		lex_fail(&r->lex, last->col + last->n, r->err, "expected %s after '%s'", what,
			last->s);
		return false;
	}
	*out = &r->lex.words[r->at++];
	return true;
}

bool read_uint(struct reader *r, const char *what, uint64_t max, uint64_t *out)
{
	const struct word *w;
	if (!read_word(r, what, &w))
		return false;
	if (!word_to_uint(w, max, out))
		return read_fail(r, w, "'%s' is not %s, expected a whole number up to %llu", w->s,
			what, (unsigned long long)max);
	return true;
}

static bool quantity_of(
	struct reader *r, const struct word *w, enum unit_dim dim, uint64_t max, uint64_t *out)
{
	struct err e = {0};
	if (w->quoted)
		return read_fail(r, w, "expected a quantity instead of a word in quotes");
	if (!unit_parse(w->s, dim, out, &e))
		return read_fail(r, w, "%s", e.text);
	char buf[UNIT_TEXT];
	if (*out > max)
		return read_fail(r, w, "'%s' is more than %s", w->s, unit_print(buf, dim, max));
	return true;
}

bool read_quantity(struct reader *r, enum unit_dim dim, uint64_t max, uint64_t *out)
{
	const struct word *w;
	return read_word(
		       r, dim == UNIT_TIME ? "a time such as 100us" : "bytes such as 16MiB", &w) &&
	       quantity_of(r, w, dim, max, out);
}

uint32_t grid_find_dim(const struct prog_grid *grid, const char *name, size_t n)
{
	for (uint32_t d = 0; d < grid->n_dims; d++)
		if (strncmp(grid->names[d], name, n) == 0 && grid->names[d][n] == '\0')
			return d;
	return PROG_NONE;
}

uint32_t grid_find_mask(const struct prog_grid *grid, const char *name)
{
	uint32_t mask = 0;
	for (const char *s = name; s; s = strchr(s, '*') ? strchr(s, '*') + 1 : NULL) {
		uint32_t dim = grid_find_dim(grid, s, strcspn(s, "*"));
		if (dim == PROG_NONE || mask >> dim & 1)
			return 0;
		mask |= UINT32_C(1) << dim;
	}
	return mask;
}

static bool number_before(const char *s, const char *end, uint64_t *out)
{
	struct word w = {.s = s, .n = (uint32_t)(end - s)};
	return word_to_uint(&w, UINT32_MAX, out);
}

/* "3" or "0..7". */
static bool parse_range(const char *s, const char *end, uint64_t *lo, uint64_t *hi)
{
	const char *dots = strstr(s, "..");
	if (!dots)
		return number_before(s, end, lo) && number_before(s, end, hi);
	return number_before(s, dots, lo) && number_before(dots + 2, end, hi) && *lo <= *hi;
}

bool read_ranks(struct reader *r, const uint32_t **ranks, uint32_t *n_ranks)
{
	uint32_t *list = NULL, n = 0, cap = 0;
	uint32_t n_grid = 1;
	for (uint32_t d = 0; d < r->b->grid.n_dims; d++)
		n_grid *= r->b->grid.sizes[d];
	const struct word *w;
	do {
		uint64_t lo, hi;
		if (!read_word(r, "ranks such as 0 or 0..3", &w))
			return false;
		if (w->quoted || !parse_range(w->s, w->s + w->n, &lo, &hi))
			return read_fail(
				r, w, "'%s' is not a rank, expected such as 0 or 0..3", w->s);
		if (hi >= n_grid)
			return read_fail(
				r, w, "rank %u is outside the grid of %u", (uint32_t)hi, n_grid);
		if (hi - lo >= n_grid - n)
			return read_fail(r, w, "more ranks than the grid has (%u)", n_grid);
		for (uint64_t k = lo; k <= hi; k++)
			arena_push(r->lex.a, list, n, cap) = (uint32_t)k;
	} while (r->at < r->lex.n_words);
	*ranks = list;
	*n_ranks = n;
	return true;
}

static bool is_name(const char *s, const char *end)
{
	if (s == end || isdigit((unsigned char)*s))
		return false;
	for (; s < end; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static bool read_grid_dim(struct reader *r, struct prog_grid *grid, uint64_t *n_ranks)
{
	const struct word *w;
	if (!read_word(r, "a dimension such as tp=2", &w))
		return false;
	const char *eq = strchr(w->s, '=');
	uint64_t size;
	if (w->quoted || !eq || !is_name(w->s, eq) || !number_before(eq + 1, w->s + w->n, &size))
		return read_fail(r, w, "'%s' is not a dimension, expected such as tp=2", w->s);
	if (grid->n_dims == PROG_MAX_DIMS)
		return read_fail(r, w, "more than %d dimensions", PROG_MAX_DIMS);
	if (grid_find_dim(grid, w->s, (size_t)(eq - w->s)) != PROG_NONE)
		return read_fail(r, w, "dimension '%s' appears twice", w->s);
	*n_ranks *= size;
	if (size == 0 || *n_ranks > PROG_MAX_RANKS)
		return read_fail(r, w, "the grid has %llu ranks, expected 1 to %d",
			(unsigned long long)*n_ranks, PROG_MAX_RANKS);
	grid->names[grid->n_dims] = arena_strndup(r->lex.a, w->s, (size_t)(eq - w->s));
	grid->sizes[grid->n_dims++] = (uint32_t)size;
	return true;
}

static bool read_grid(struct reader *r)
{
	if (r->has_grid)
		return read_fail(r, &r->lex.words[0], "a second grid");
	struct prog_grid grid = {0};
	uint64_t n_ranks = 1;
	do {
		if (!read_grid_dim(r, &grid, &n_ranks))
			return false;
	} while (r->at < r->lex.n_words);
	r->b = prog_build(r->lex.a, &grid);
	r->has_grid = true;
	return true;
}

static bool read_energy(struct reader *r, double *energy_j)
{
	const struct word *w = &r->lex.words[r->at++];
	char *end;
	if (w->quoted || strncmp(w->s, "energy=", 7) != 0)
		return read_fail(r, w, "'%s' is not known here, expected energy=0.5J", w->s);
	*energy_j = strtod(w->s + 7, &end);
	if (end == w->s + 7 || strcmp(end, "J") != 0 || !(*energy_j >= 0 && *energy_j < 1e300))
		return read_fail(r, w, "'%s' is not an energy, expected such as energy=0.5J", w->s);
	return true;
}

static bool read_end(struct reader *r)
{
	if (r->at == r->lex.n_words)
		return true;
	const struct word *w = &r->lex.words[r->at];
	return read_fail(r, w, "'%s' is too much, expected the end of the line", w->s);
}

static bool read_cost(struct reader *r)
{
	const struct word *key, *eq;
	tick duration;
	double energy_j = 0;
	if (!read_word(r, "a cost's name", &key) || !read_word(r, "'='", &eq))
		return false;
	if (!key->quoted && !word_is_plain(key->s))
		return read_fail(r, key, "'%s' is not a name; put it in quotes", key->s);
	if (!word_is(eq, "="))
		return read_fail(r, eq, "'%s' instead of '='", eq->s);
	if (!read_quantity(r, UNIT_TIME, TICK_MAX, &duration))
		return false;
	if (r->at < r->lex.n_words && !read_energy(r, &energy_j))
		return false;
	if (name_index_find(&r->b->cost_keys, key->s, key->n) != PROG_NONE)
		return read_fail(r, key, "cost '%s' is defined twice", key->s);
	prog_add_cost(r->b, key->s, duration, energy_j);
	return read_end(r);
}

static bool read_group(struct reader *r)
{
	const struct word *name;
	const uint32_t *ranks = NULL;
	uint32_t n = 0;
	if (!read_word(r, "a group's name", &name) || !read_ranks(r, &ranks, &n))
		return false;
	if (!name->quoted && !word_is_plain(name->s))
		return read_fail(r, name, "'%s' is not a name; put it in quotes", name->s);
	if (grid_find_mask(&r->b->grid, name->s) != 0)
		return read_fail(
			r, name, "'%s' would be taken for dimensions of the grid", name->s);
	if (name_index_find(&r->b->group_names, name->s, name->n) != PROG_NONE)
		return read_fail(r, name, "group '%s' is defined twice", name->s);
	prog_add_group_list(r->b, name->s, ranks, n);
	return true;
}

static bool read_role_range(struct reader *r, uint32_t *lo, uint32_t *hi, uint32_t *seen)
{
	const struct prog_grid *grid = &r->b->grid;
	const struct word *w = &r->lex.words[r->at++];
	const char *eq = strchr(w->s, '=');
	uint64_t first, last;
	if (w->quoted || !eq || !parse_range(eq + 1, w->s + w->n, &first, &last))
		return read_fail(
			r, w, "'%s' is not a range, expected such as pp=0 or pp=1..2", w->s);
	uint32_t d = grid_find_dim(grid, w->s, (size_t)(eq - w->s));
	if (d == PROG_NONE)
		return read_fail(r, w, "'%s': the grid has no such dimension", w->s);
	if (last >= grid->sizes[d])
		return read_fail(r, w, "'%s' is outside the grid, where %s=%u", w->s,
			grid->names[d], grid->sizes[d]);
	if (*seen >> d & 1)
		return read_fail(r, w, "dimension %s appears twice", grid->names[d]);
	*seen |= UINT32_C(1) << d;
	lo[d] = (uint32_t)first;
	hi[d] = (uint32_t)last;
	return true;
}

/* Turns the ids of the open role's `after` lists into indices. Ids ascend, so a binary search
 * finds them. */
static bool close_role(struct reader *r)
{
	if (r->n_refs == 0)
		return true;
	struct build_role *role = &r->b->roles[r->b->n_roles - 1];
	for (uint32_t i = 0; i < r->n_refs; i++) {
		struct after_ref *ref = &r->refs[i];
		uint32_t lo = 0, hi = role->n_tasks;
		while (lo < hi) {
			uint32_t mid = lo + (hi - lo) / 2;
			*(role->tasks[mid].id < ref->id ? &lo : &hi) =
				mid + (role->tasks[mid].id < ref->id);
		}
		if (lo == role->n_tasks || role->tasks[lo].id != ref->id) {
			r->lex.line = ref->line;
			return lex_fail(&r->lex, ref->col, r->err, "no task %u in role '%s'",
				ref->id, role->role.name);
		}
		ref->list[ref->slot] = lo;
	}
	r->n_refs = 0;
	return true;
}

static bool read_role(struct reader *r)
{
	const struct word *name;
	if (!close_role(r) || !read_word(r, "a role's name", &name))
		return false;
	if (!name->quoted && !word_is_plain(name->s))
		return read_fail(r, name, "'%s' is not a name; put it in quotes", name->s);
	if (r->at < r->lex.n_words && word_is(&r->lex.words[r->at], "ranks")) {
		const uint32_t *ranks = NULL;
		uint32_t n = 0;
		r->at++;
		if (!read_ranks(r, &ranks, &n))
			return false;
		prog_add_role_list(r->b, name->s, ranks, n);
	} else {
		uint32_t lo[PROG_MAX_DIMS] = {0}, hi[PROG_MAX_DIMS] = {0}, seen = 0;
		for (uint32_t d = 0; d < r->b->grid.n_dims; d++)
			hi[d] = r->b->grid.sizes[d] - 1;
		while (r->at < r->lex.n_words)
			if (!read_role_range(r, lo, hi, &seen))
				return false;
		prog_add_role(r->b, name->s, lo, hi);
	}
	r->b->roles[r->b->n_roles - 1].role.place =
		arena_printf(r->lex.a, "%s:%u", r->lex.path, r->lex.line);
	return true;
}

static bool read_statement(struct reader *r)
{
	static const struct statement {
		const char *name;
		bool (*read)(struct reader *r);
	} statements[] = {{"cost", read_cost}, {"grid", read_grid}, {"group", read_group},
		{"role", read_role}};
	const struct word *w = &r->lex.words[0];
	if (!r->has_grid && !word_is(w, "grid"))
		return read_fail(
			r, w, "'%s' before the grid, expected such as: grid tp=2 pp=4", w->s);
	if (*w->s >= '0' && *w->s <= '9' && !w->quoted) {
		if (r->b->n_roles == 0)
			return read_fail(r, w, "a task before the first role");
		return read_task(r) && read_end(r);
	}
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		if (word_is(w, statements[i].name)) {
			r->at = 1;
			return statements[i].read(r);
		}
	return read_fail(r, w,
		"'%s' is not known, expected cost, grid, group, role or a task's number", w->s);
}

static bool read_header(struct reader *r)
{
	struct lexer *lex = &r->lex;
	if (!lex_line(lex, r->err)) {
		lex->line = 1;
		return r->err->kind == ERR_NONE
			       ? lex_fail(lex, 1, r->err, "empty, expected 'wham-prog 1'")
			       : false;
	}
	if (!word_is(&lex->words[0], "wham-prog"))
		return read_fail(r, &lex->words[0], "not a prog, expected 'wham-prog 1'");
	if (lex->n_words != 2 || !word_is(&lex->words[1], "1"))
		return read_fail(r, &lex->words[0], "unknown version, expected 'wham-prog 1'");
	return true;
}

bool prog_parse(struct arena *a, const char *path, const char *data, size_t n, struct prog *out,
	struct err *err)
{
	struct err mine = {0};
	struct reader r = {.lex = {.a = a, .path = path, .data = data, .n = n}, .err = &mine};
	bool ok = read_header(&r);
	while (ok && lex_line(&r.lex, r.err)) {
		r.at = 0;
		ok = read_statement(&r);
	}
	ok = ok && mine.kind == ERR_NONE;
	if (ok && !r.has_grid)
		ok = lex_fail(&r.lex, 1, r.err, "no grid, expected such as: grid tp=2 pp=4");
	if (!ok || !close_role(&r)) {
		*err = mine;
		return false;
	}
	prog_finish(r.b, out);
	out->path = arena_strdup(a, path);
	return true;
}

bool prog_read(struct arena *a, const char *path, struct prog *out, struct err *err)
{
	struct bytes bytes;
	return file_read(a, path, &bytes, err) &&
	       prog_parse(a, path, bytes.data, bytes.n, out, err);
}
