#include <assert.h>
#include <stdlib.h>

#include "run/internal.h"

/* Nothing is left to happen, yet tasks are. A rank is held up by tasks that have started and
 * cannot end: a recv whose send was never posted, a collective that somebody has not entered.
 * What they wait for is a task of another rank that comes, directly or not, after one that is
 * held up itself, or it does not exist. Following that from task to task ends where nobody is
 * waited for, or comes back to itself: the cycle. */

enum { LINES_SHOWN = 4, RANGES_SHOWN = 4 };

struct hold {
	uint32_t rank, task;       /* started, cannot end */
	uint32_t on_rank, on_task; /* what it waits for; on_task PROG_NONE: there is no such task */
	uint32_t behind;           /* the task of on_rank that holds on_task up */
};

static const struct prog_role *role_of(const struct engine *e, uint32_t rank)
{
	return &e->prog->roles[e->ranks[rank].role];
}

static uint32_t first_started(const struct engine *e, uint32_t rank)
{
	const struct rank_state *r = &e->ranks[rank];
	for (uint32_t i = 0; i < e->tables[r->role].n_tasks; i++)
		if (r->left[i] == TASK_STARTED && !(task_of(e, rank, i)->kind == TASK_SEND))
			return i;
	return PROG_NONE;
}

/* The first send of `from` that would match. */
static uint32_t find_send(const struct engine *e, uint32_t from, uint32_t to, const char *tag)
{
	const struct rank_state *r = &e->ranks[from];
	const struct role_table *t = &e->tables[r->role];
	for (uint32_t i = 0; i < t->n_tasks; i++)
		if (t->tasks[i].kind == TASK_SEND && r->left[i] < TASK_STARTED &&
			t->tasks[i].tag == tag &&
			prog_peer_rank(e->prog, from, &t->tasks[i].peer) == to)
			return i;
	return PROG_NONE;
}

static uint32_t find_collective(const struct engine *e, uint32_t rank, uint32_t group, uint32_t seq)
{
	const struct role_table *t = &e->tables[e->ranks[rank].role];
	for (uint32_t i = 0; i < t->n_tasks; i++)
		if (t->tasks[i].kind == TASK_COLL && t->tasks[i].group == group && t->seq[i] == seq)
			return i;
	return PROG_NONE;
}

/* From a task that has not started up to one that has and holds it up. */
static uint32_t walk_back(const struct engine *e, uint32_t rank, uint32_t task)
{
	const struct rank_state *r = &e->ranks[rank];
	const struct role_table *t = &e->tables[r->role];
	while (r->left[task] < TASK_STARTED) {
		uint32_t before = t->prev[task];
		if (before != PROG_NONE && r->left[before] == TASK_DONE)
			before = PROG_NONE;
		for (uint32_t k = 0; k < t->tasks[task].n_after && before == PROG_NONE; k++)
			if (r->left[t->tasks[task].after[k]] != TASK_DONE)
				before = t->tasks[task].after[k];
		assert(before != PROG_NONE);
		task = before;
	}
	return task;
}

/* Prefers a member for whom there is no such collective, then the first that has not entered. */
static void find_missing(struct engine *e, struct hold *h)
{
	const struct instance *i = collective_find(e, h->rank, h->task);
	assert(i);
	for (uint32_t k = 0; k < i->plan->n_ranks; k++) {
		uint32_t position = (k + i->plan->n_ranks - i->root) % i->plan->n_ranks;
		if (i->members[position].task != PROG_NONE)
			continue;
		uint32_t rank = i->team->ranks[k];
		uint32_t task = find_collective(e, rank, i->group, i->seq);
		if (h->on_rank == PROG_NONE || task == PROG_NONE) {
			h->on_rank = rank;
			h->on_task = task;
		}
		if (task == PROG_NONE)
			return;
	}
	assert(h->on_rank != PROG_NONE);
}

static struct hold look(struct engine *e, uint32_t rank, uint32_t task)
{
	const struct prog_task *t = task_of(e, rank, task);
	struct hold h = {.rank = rank, .task = task, .on_rank = PROG_NONE, .behind = PROG_NONE};
	if (t->kind == TASK_RECV) {
		h.on_rank = prog_peer_rank(e->prog, rank, &t->peer);
		h.on_task = find_send(e, h.on_rank, rank, t->tag);
	} else {
		find_missing(e, &h);
	}
	if (h.on_task != PROG_NONE)
		h.behind = walk_back(e, h.on_rank, h.on_task);
	return h;
}

static void add_task(struct text *out, const struct engine *e, uint32_t rank, uint32_t task)
{
	const struct prog_task *t = task_of(e, rank, task);
	text_add(out, "task %u %s", t->id, task_kind_name(t->kind));
	if (t->kind == TASK_COLL)
		text_add(out, " %s on '%s'", coll_kind_name(t->coll),
			e->prog->groups[t->group].name);
	if (t->tag)
		text_add(out, " tag %s", t->tag);
	if (t->place)
		text_add(out, " (%s)", t->place);
}

static void add_last(struct text *out, const struct engine *e, uint32_t role, uint32_t last)
{
	if (last == PROG_NONE) {
		text_add(out, "; nothing completed");
		return;
	}
	const struct prog_task *t = &e->tables[role].tasks[last];
	text_add(out, "; last completed task %u %s", t->id, task_kind_name(t->kind));
	if (t->place)
		text_add(out, " (%s)", t->place);
}

static void add_hold(struct text *out, const struct engine *e, const struct hold *h)
{
	text_add(out, "\n  rank %u (role '%s') waits in ", h->rank, role_of(e, h->rank)->name);
	add_task(out, e, h->rank, h->task);
	if (h->on_task == PROG_NONE) {
		bool recv = task_of(e, h->rank, h->task)->kind == TASK_RECV;
		text_add(out, " for a %s that rank %u (role '%s') does not have",
			recv ? "send" : "collective", h->on_rank, role_of(e, h->on_rank)->name);
		if (role_of(e, h->on_rank)->place)
			text_add(out, " (%s)", role_of(e, h->on_rank)->place);
	} else {
		text_add(out, " for rank %u's ", h->on_rank);
		add_task(out, e, h->on_rank, h->on_task);
	}
	add_last(out, e, e->ranks[h->rank].role, e->ranks[h->rank].last_done);
}

/* Ranks that wait in the same task of the same role and have come as far. */
struct waiter {
	uint32_t role, task, last, rank;
};

static int compare_waiters(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;
	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool alike(const struct waiter *x, const struct waiter *y)
{
	return x->role == y->role && x->task == y->task && x->last == y->last;
}

static void add_ranges(struct text *out, const struct waiter *w, size_t n)
{
	text_add(out, n == 1 ? "rank" : "ranks");
	size_t n_ranges = 0;
	for (size_t i = 0, last; i < n; i = last + 1, n_ranges++) {
		for (last = i; last + 1 < n && w[last + 1].rank == w[last].rank + 1;)
			last++;
		if (n_ranges == RANGES_SHOWN) {
			text_add(out, " and %zu more", n - i);
			return;
		}
		text_add(out, "%s%u", n_ranges > 0 ? ", " : " ", w[i].rank);
		if (last > i)
			text_add(out, "..%u", w[last].rank);
	}
}

static void add_waiters(struct text *out, const struct engine *e, struct waiter *w, size_t n)
{
	size_t n_lines = 0;
	if (n > 0)
		qsort(w, n, sizeof(*w), compare_waiters);
	for (size_t i = 0, end; i < n; i = end) {
		if (n_lines++ == LINES_SHOWN) {
			text_add(out, "\n  and %zu more ranks wait", n - i);
			return;
		}
		for (end = i + 1; end < n && alike(&w[end], &w[i]);)
			end++;
		text_add(out, "\n  also waiting: ");
		add_ranges(out, w + i, end - i);
		text_add(out, " (role '%s') in ", e->prog->roles[w[i].role].name);
		add_task(out, e, w[i].rank, w[i].task);
		add_last(out, e, w[i].role, w[i].last);
	}
}

/* Holds from the first waiting rank on, until one is met again or nobody is waited for. Returns
 * where the cycle begins, or the index of the last hold. `seen` has one number per rank and
 * task: 1 + its index in the chain. */
static size_t follow(struct engine *e, struct arena *a, struct hold **chain, size_t *n)
{
	uint32_t **seen = arena_array(a, e->n_ranks, uint32_t *);
	size_t cap = 0;
	uint32_t rank = 0;
	while (first_started(e, rank) == PROG_NONE)
		rank++;
	uint32_t task = first_started(e, rank);
	for (;;) {
		if (!seen[rank])
			seen[rank] =
				arena_array(a, e->tables[e->ranks[rank].role].n_tasks, uint32_t);
		if (seen[rank][task] != 0)
			return seen[rank][task] - 1;
		struct hold h = look(e, rank, task);
		arena_push(a, *chain, *n, cap) = h;
		seen[rank][task] = (uint32_t)*n;
		if (h.on_task == PROG_NONE)
			return *n - 1;
		rank = h.on_rank;
		task = h.behind;
	}
}

static size_t list_waiters(const struct engine *e, struct arena *a, const struct hold *shown,
	size_t n_shown, struct waiter **out)
{
	size_t n = 0, cap = 0;
	bool *hidden = arena_array(a, e->n_ranks, bool);
	for (size_t i = 0; i < n_shown; i++)
		hidden[shown[i].rank] = true;
	for (uint32_t rank = 0; rank < e->n_ranks; rank++) {
		uint32_t task = first_started(e, rank);
		if (hidden[rank] || task == PROG_NONE)
			continue;
		arena_push(a, *out, n, cap) =
			(struct waiter){e->ranks[rank].role, task, e->ranks[rank].last_done, rank};
	}
	return n;
}

bool explain_deadlock(struct engine *e, struct err *err)
{
	struct arena a = {0};
	struct text t = {0};
	struct hold *chain = NULL;
	struct waiter *waiters = NULL;
	size_t n = 0, first = follow(e, &a, &chain, &n);
	assert(chain && n > 0);
	bool cycle = chain[n - 1].on_task != PROG_NONE;
	size_t n_waiters = list_waiters(e, &a, chain + first, n - first, &waiters);
	char when[UNIT_TEXT];
	text_add(&t, "deadlock at %s: %llu of %llu tasks are done; ",
		unit_print(when, UNIT_TIME, engine_now(e)), (unsigned long long)e->n_done,
		(unsigned long long)e->n_tasks);
	if (cycle && n - first == 1)
		text_add(&t, "a rank waits for itself:");
	else if (cycle)
		text_add(&t, "%zu wait for each other in a cycle:", n - first);
	else
		text_add(&t, "what is waited for is missing:");
	for (size_t i = first; i < n && i < first + LINES_SHOWN; i++)
		add_hold(&t, e, &chain[i]);
	if (n - first > LINES_SHOWN)
		text_add(&t, "\n  ... and %zu more in the cycle", n - first - LINES_SHOWN);
	add_waiters(&t, e, waiters, n_waiters);
	err_set(err, ERR_ANSWER, "%s", t.data);
	text_free(&t);
	arena_free(&a);
	return false;
}
