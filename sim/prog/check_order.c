#include "prog/internal.h"

#include <stdlib.h>

/* Who comes before whom in one role: `after` lists, and the task written before on the same
 * stream. */
struct order {
	const struct prog_role *role;
	uint32_t *before; /* index of the task before on the stream, or PROG_NONE */
	uint32_t *next;   /* how many of the task's predecessors have been followed */
	uint32_t *path; /* tasks on the way of the search, each a predecessor of the one under it */
	uint32_t n_path;
	unsigned char *state; /* of each task */
};
enum { UNSEEN, ON_PATH, DONE };

static int by_stream(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Sorts (stream, index) pairs, so that neighbours of one stream are each other's predecessors. */
static void link_streams(struct arena *a, struct order *o)
{
	uint32_t n = o->role->n_tasks;
	uint64_t *keys = arena_array(a, n, uint64_t);
	for (uint32_t i = 0; i < n; i++)
		keys[i] = (uint64_t)o->role->tasks[i].stream << 32 | i;
	qsort(keys, n, sizeof(*keys), by_stream);
	for (uint32_t i = 0; i < n; i++) {
		bool first = i == 0 || keys[i - 1] >> 32 != keys[i] >> 32;
		o->before[(uint32_t)keys[i]] = first ? PROG_NONE : (uint32_t)keys[i - 1];
	}
}

/* The k-th predecessor of a task; PROG_NONE beyond the last. The stream's comes first, if any. */
static uint32_t predecessor(const struct order *o, uint32_t task, uint32_t k)
{
	const struct prog_task *t = &o->role->tasks[task];
	if (o->before[task] != PROG_NONE && k-- == 0)
		return o->before[task];
	return k < t->n_after ? t->after[k] : PROG_NONE;
}

/* Depth first from `start`; false when it comes back to a task of its path, which is then on top
 * twice. */
static bool search(struct order *o, uint32_t start)
{
	o->path[0] = start;
	o->n_path = 1;
	o->state[start] = ON_PATH;
	while (o->n_path > 0) {
		uint32_t task = o->path[o->n_path - 1];
		uint32_t p = predecessor(o, task, o->next[task]++);
		if (p == PROG_NONE) {
			o->state[task] = DONE;
			o->n_path--;
			continue;
		}
		if (o->state[p] == DONE)
			continue;
		o->path[o->n_path++] = p;
		if (o->state[p] == ON_PATH)
			return false;
		o->state[p] = ON_PATH;
	}
	return true;
}

static bool report_cycle(
	const struct prog *p, uint32_t role, const struct order *o, struct err *err)
{
	enum { SHOWN = 8 };
	struct text ids = {0};
	uint32_t end = o->n_path - 1, start = 0;
	while (o->path[start] != o->path[end])
		start++;
	text_add(&ids, "%u", o->role->tasks[o->path[start]].id);
	for (uint32_t i = start + 1; i < end && i <= start + SHOWN; i++)
		text_add(&ids, " waits for %u", o->role->tasks[o->path[i]].id);
	if (end - start > SHOWN + 1)
		text_add(&ids, " ... (%u more)", end - start - SHOWN - 1);
	const struct prog_task *first = &o->role->tasks[o->path[start]];
	err_set(err, ERR_INPUT,
		"%s: tasks of role '%s' wait for each other: %s waits for %u (a task also waits "
		"for the "
		"one before it on its stream)",
		task_place(p, role, first), o->role->name, ids.data, first->id);
	text_free(&ids);
	return false;
}

bool check_order(const struct prog *p, uint32_t role, struct err *err)
{
	struct arena a = {0};
	uint32_t n = p->roles[role].n_tasks;
	struct order o = {
		.role = &p->roles[role],
		.before = arena_array(&a, n, uint32_t),
		.next = arena_array(&a, n, uint32_t),
		.path = arena_array(&a, (size_t)n + 1, uint32_t),
		.state = arena_alloc(&a, n, 1),
	};
	link_streams(&a, &o);
	bool ok = true;
	for (uint32_t i = 0; i < n && ok; i++)
		if (o.state[i] == UNSEEN)
			ok = search(&o, i) || report_cycle(p, role, &o, err);
	arena_free(&a);
	return ok;
}
