#include "prog/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* "pp+1", "pp-2" or a rank. */
static bool read_peer(struct reader *r, struct prog_task *t)
{
	const struct prog_grid *grid = &r->b->grid;
	const struct word *w;
	uint64_t n;
	if (!read_word(r, "a peer such as pp+1 or a rank", &w))
		return false;
	if (word_to_uint(w, PROG_MAX_RANKS, &n)) {
		t->peer = (struct prog_peer){.dim = PROG_NONE, .rank = (uint32_t)n};
		return true;
	}
	size_t len = strcspn(w->s, "+-");
	struct word digits = {.s = w->s + len + 1, .n = (uint32_t)(w->n - len - 1)};
	if (w->quoted || len == 0 || len >= w->n || !word_to_uint(&digits, PROG_MAX_RANKS, &n))
		return read_fail(r, w, "'%s' is not a peer, expected such as pp+1 or a rank", w->s);
	uint32_t dim = grid_find_dim(grid, w->s, len);
	if (dim == PROG_NONE)
		return read_fail(r, w, "'%s': the grid has no such dimension", w->s);
	t->peer = (struct prog_peer){
		.dim = dim, .offset = w->s[len] == '-' ? -(int32_t)n : (int32_t)n};
	return true;
}

static bool read_message(struct reader *r, struct prog_task *t)
{
	return read_peer(r, t) && read_quantity(r, UNIT_BYTES, PROG_MAX_BYTES, &t->bytes);
}

static bool read_compute(struct reader *r, struct prog_task *t)
{
	const struct word *w;
	if (!read_word(r, "a cost or a time", &w))
		return false;
	if (!w->quoted && *w->s >= '0' && *w->s <= '9') {
		r->at--;
		return read_quantity(r, UNIT_TIME, TICK_MAX, &t->duration);
	}
	t->cost = name_index_find(&r->b->cost_keys, w->s, w->n);
	if (t->cost != PROG_NONE)
		return true;
	const char *near = text_nearest(w->s, r->b->cost_keys.items, r->b->cost_keys.n);
	return read_fail(r, w, "no cost '%s'%s%s%s", w->s, near ? ", did you mean '" : "",
		near ? near : "", near ? "'?" : "");
}

/* "tp", "cp*dp" or the name of an explicit group. */
static bool read_group_ref(struct reader *r, struct prog_task *t)
{
	const struct word *w;
	if (!read_word(r, "a group such as tp", &w))
		return false;
	t->group = name_index_find(&r->b->group_names, w->s, w->n);
	if (t->group != PROG_NONE)
		return true;
	uint32_t mask = w->quoted ? 0 : grid_find_mask(&r->b->grid, w->s);
	if (mask == 0)
		return read_fail(r, w, "'%s' is neither a group nor dimensions of the grid", w->s);
	t->group = prog_add_group(r->b, mask);
	return true;
}

static bool read_coll(struct reader *r, struct prog_task *t)
{
	const struct word *w;
	if (!read_word(r, "a kind of collective", &w))
		return false;
	if (w->quoted || !coll_kind_find(w->s, &t->coll)) {
		const char *names[N_COLL_KINDS];
		for (unsigned i = 0; i < N_COLL_KINDS; i++)
			names[i] = coll_kind_name((enum coll_kind)i);
		const char *near = text_nearest(w->s, names, N_COLL_KINDS);
		return read_fail(r, w, "unknown collective '%s', expected such as %s", w->s,
			near ? near : "allreduce");
	}
	return read_group_ref(r, t) && read_quantity(r, UNIT_BYTES, PROG_MAX_BYTES, &t->bytes);
}

static bool read_wait(struct reader *r, struct prog_task *t)
{
	return read_quantity(r, UNIT_TIME, TICK_MAX, &t->duration);
}

static bool read_label(struct reader *r, struct prog_task *t)
{
	const struct word *w;
	if (!read_word(r, "a label", &w))
		return false;
	t->label = w->s;
	return true;
}

static bool read_after(struct reader *r, struct prog_task *t)
{
	uint32_t *list = NULL, n = 0;
	uint64_t id;
	for (uint32_t i = r->at;
		i < r->lex.n_words && word_to_uint(&r->lex.words[i], UINT32_MAX, &id); i++)
		n++;
	if (n == 0)
		return read_uint(r, "a task's number", UINT32_MAX, &id) && false;
	list = arena_array(r->lex.a, n, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		const struct word *w = &r->lex.words[r->at++];
		bool number = word_to_uint(w, UINT32_MAX, &id);
		assert(number);
		arena_push(r->lex.a, r->refs, r->n_refs, r->cap_refs) =
			(struct after_ref){.list = list,
				.slot = i,
				.id = (uint32_t)id,
				.line = r->lex.line,
				.col = w->col};
	}
	t->after = list;
	t->n_after = n;
	return true;
}

static bool read_algo(struct reader *r, struct prog_task *t)
{
	const struct word *w;
	if (!read_word(r, "an algorithm such as ring", &w))
		return false;
	t->algo = w->s;
	return true;
}

static bool read_eager(struct reader *r, struct prog_task *t)
{
	t->eager = true;
	return true;
}

static bool read_phase(struct reader *r, struct prog_task *t)
{
	const struct word *w;
	if (!read_word(r, "a phase", &w))
		return false;
	for (unsigned i = PHASE_FORWARD; i <= PHASE_OPTIMIZER; i++)
		if (word_is(w, task_phase_name((enum task_phase)i))) {
			t->phase = (enum task_phase)i;
			return true;
		}
	return read_fail(r, w, "unknown phase '%s', expected forward, backward or optimizer", w->s);
}

static bool read_root(struct reader *r, struct prog_task *t)
{
	uint64_t root;
	const struct word *w = &r->lex.words[r->at - 1];
	if (!coll_kind_has_root(t->coll))
		return read_fail(r, w, "%s has no root", coll_kind_name(t->coll));
	if (!read_uint(r, "a root, counted in the group", PROG_MAX_RANKS, &root))
		return false;
	t->root = (uint32_t)root;
	return true;
}

static bool read_stream(struct reader *r, struct prog_task *t)
{
	uint64_t stream;
	if (!read_uint(r, "a stream", UINT32_MAX, &stream))
		return false;
	t->stream = (uint32_t)stream;
	return true;
}

static bool read_tag(struct reader *r, struct prog_task *t)
{
	const struct word *w;
	if (!read_word(r, "a tag", &w))
		return false;
	t->tag = w->s;
	return true;
}

enum {
	ON_COMPUTE = 1 << TASK_COMPUTE,
	ON_SEND = 1 << TASK_SEND,
	ON_RECV = 1 << TASK_RECV,
	ON_COLL = 1 << TASK_COLL,
	ON_WAIT = 1 << TASK_WAIT,
	ON_MARK = 1 << TASK_MARK,
	ON_ALL = ON_COMPUTE | ON_SEND | ON_RECV | ON_COLL | ON_WAIT | ON_MARK,
};

static const struct option {
	const char *name;
	unsigned on;
	bool (*read)(struct reader *r, struct prog_task *t);
} options[] = {
	{"after", ON_ALL, read_after},
	{"algo", ON_COLL, read_algo},
	{"eager", ON_SEND, read_eager},
	{"name", ON_ALL & ~ON_MARK, read_label},
	{"phase", ON_COMPUTE, read_phase},
	{"root", ON_COLL, read_root},
	{"stream", ON_ALL, read_stream},
	{"tag", ON_SEND | ON_RECV, read_tag},
};
enum { N_OPTIONS = sizeof(options) / sizeof(*options) };

static bool read_option(struct reader *r, struct prog_task *t, unsigned *seen)
{
	const struct word *w = &r->lex.words[r->at++];
	if (!w->quoted && *w->s == '@') {
		t->place = w->s + 1;
		return w->n > 1 || read_fail(r, w, "expected a place after '@'");
	}
	for (unsigned i = 0; i < N_OPTIONS; i++) {
		if (!word_is(w, options[i].name))
			continue;
		if (!(options[i].on >> t->kind & 1))
			return read_fail(
				r, w, "'%s' does not go with %s", w->s, task_kind_name(t->kind));
		if (*seen >> i & 1)
			return read_fail(r, w, "'%s' appears twice", w->s);
		*seen |= 1U << i;
		return options[i].read(r, t);
	}
	return read_fail(r, w,
		"'%s' is not known here, expected after, stream, name, @PLACE or an "
		"option of %s",
		w->s, task_kind_name(t->kind));
}

static bool read_kind(struct reader *r, struct prog_task *t)
{
	static bool (*const readers[])(struct reader * r, struct prog_task * t) = {
		[TASK_COMPUTE] = read_compute,
		[TASK_SEND] = read_message,
		[TASK_RECV] = read_message,
		[TASK_COLL] = read_coll,
		[TASK_WAIT] = read_wait,
		[TASK_MARK] = read_label,
	};
	const struct word *w;
	if (!read_word(r, "compute, send, recv, coll, wait or mark", &w))
		return false;
	for (unsigned i = 0; i <= TASK_MARK; i++)
		if (word_is(w, task_kind_name((enum task_kind)i))) {
			t->kind = (enum task_kind)i;
			return readers[i](r, t);
		}
	return read_fail(
		r, w, "unknown task '%s', expected compute, send, recv, coll, wait or mark", w->s);
}

bool read_task(struct reader *r)
{
	struct prog_task t = {.cost = PROG_NONE, .peer.dim = PROG_NONE};
	const struct build_role *role = &r->b->roles[r->b->n_roles - 1];
	const struct word *first = &r->lex.words[0];
	uint64_t id;
	unsigned seen = 0;
	if (!read_uint(r, "a task's number", UINT32_MAX, &id))
		return false;
	if (role->n_tasks > 0 && id <= role->tasks[role->n_tasks - 1].id)
		return read_fail(r, first,
			"task %u comes after task %u, expected numbers that ascend", (uint32_t)id,
			role->tasks[role->n_tasks - 1].id);
	t.id = (uint32_t)id;
	if (!read_kind(r, &t))
		return false;
	while (r->at < r->lex.n_words)
		if (!read_option(r, &t, &seen))
			return false;
	if (!t.place)
		t.place = arena_printf(r->lex.a, "%s:%u", r->lex.path, r->lex.line);
	build_put_task(r->b, &t);
	return true;
}
