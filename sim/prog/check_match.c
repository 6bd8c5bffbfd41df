#include "prog/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Sends and receives are compared receiver by receiver. A sum of hashes over (from, tag) per
 * receiver, sends added and receives taken away, is zero where they match; only a receiver where
 * it is not is looked at message by message, so memory grows with ranks alone. */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x7fb5d329728ea185);
	x ^= x >> 27;
	x *= UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

static uint64_t tag_hash(const struct prog_task *t)
{
	return t->tag ? name_hash(t->tag, strlen(t->tag)) : 0;
}

static void add_task(
	const struct prog *p, uint32_t role, const struct prog_task *t, uint64_t *balance)
{
	uint64_t tag = tag_hash(t);
	uint32_t size = prog_role_size(p, role);
	for (uint32_t k = 0; k < size; k++) {
		uint32_t rank = prog_role_rank(p, role, k);
		uint32_t peer = prog_peer_rank(p, rank, &t->peer);
		if (t->kind == TASK_SEND)
			balance[peer] += mix(tag + mix((uint64_t)rank + 1));
		else
			balance[rank] -= mix(tag + mix((uint64_t)peer + 1));
	}
}

/* One end of a message that comes to the receiver that does not add up. */
struct end {
	uint32_t from, role;
	const struct prog_task *task;
	uint32_t order; /* makes the order total */
};

static int compare_tags(const struct prog_task *x, const struct prog_task *y)
{
	if (!x->tag || !y->tag)
		return (x->tag != NULL) - (y->tag != NULL);
	return strcmp(x->tag, y->tag);
}

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	int tags = compare_tags(x->task, y->task);
	return tags != 0 ? tags : (x->order > y->order) - (x->order < y->order);
}

struct ends {
	struct end *list;
	uint32_t n, cap;
};

static void collect(struct arena *a, const struct prog *p, uint32_t role, const struct prog_task *t,
	uint32_t to, struct ends *ends)
{
	uint32_t size = prog_role_size(p, role);
	for (uint32_t k = 0; k < size; k++) {
		uint32_t rank = prog_role_rank(p, role, k);
		uint32_t peer = prog_peer_rank(p, rank, &t->peer);
		if ((t->kind == TASK_SEND ? peer : rank) != to)
			continue;
		struct end e = {.from = t->kind == TASK_SEND ? rank : peer,
			.role = role,
			.task = t,
			.order = ends->n};
		arena_push(a, ends->list, ends->n, ends->cap) = e;
	}
}

/* `n` ends of one (from, tag) whose sends and receives differ in number. */
static bool report(const struct prog *p, const uint32_t *role_of, uint32_t to,
	const struct end *ends, uint32_t n, struct err *err)
{
	uint32_t n_sends = 0;
	const struct end *send = NULL, *recv = NULL;
	for (uint32_t i = 0; i < n; i++) {
		bool is_send = ends[i].task->kind == TASK_SEND;
		n_sends += is_send;
		*(is_send ? &send : &recv) = &ends[i];
	}
	uint32_t n_recvs = n - n_sends, from = ends->from;
	const char *tag = ends->task->tag;
	const char *sender = task_place(p, role_of[from], send ? send->task : NULL);
	const char *receiver = task_place(p, role_of[to], recv ? recv->task : NULL);
	return err_set(err, ERR_ANSWER,
		"%s: unmatched %s: rank %u (role '%s', %s) sends %u to rank %u with tag %s, which "
		"receives %u (role '%s', %s)",
		n_sends > n_recvs ? sender : receiver, n_sends > n_recvs ? "send" : "recv", from,
		p->roles[role_of[from]].name, sender, n_sends, to, tag ? tag : "(none)", n_recvs,
		p->roles[role_of[to]].name, receiver);
}

static bool explain(const struct prog *p, const uint32_t *role_of, uint32_t to, struct err *err)
{
	struct arena a = {0};
	struct ends ends = {0};
	for (uint32_t role = 0; role < p->n_roles; role++)
		for (uint32_t i = 0; i < p->roles[role].n_tasks; i++) {
			const struct prog_task *t = &p->roles[role].tasks[i];
			if (t->kind == TASK_SEND || t->kind == TASK_RECV)
				collect(&a, p, role, t, to, &ends);
		}
	assert(ends.n > 0);
	qsort(ends.list, ends.n, sizeof(*ends.list), compare_ends);
	bool ok = true;
	for (uint32_t i = 0, last; i < ends.n && ok; i = last) {
		int64_t balance = 0;
		for (last = i; last < ends.n && ends.list[last].from == ends.list[i].from &&
			       compare_tags(ends.list[last].task, ends.list[i].task) == 0;
			last++)
			balance += ends.list[last].task->kind == TASK_SEND ? 1 : -1;
		ok = balance == 0 || report(p, role_of, to, ends.list + i, last - i, err);
	}
	arena_free(&a);
	return ok;
}

bool check_messages(const struct prog *p, const uint32_t *role_of, struct err *err)
{
	struct arena a = {0};
	uint32_t n = prog_n_ranks(p);
	uint64_t *balance = arena_array(&a, n, uint64_t);
	for (uint32_t role = 0; role < p->n_roles; role++)
		for (uint32_t i = 0; i < p->roles[role].n_tasks; i++) {
			const struct prog_task *t = &p->roles[role].tasks[i];
			if (t->kind == TASK_SEND || t->kind == TASK_RECV)
				add_task(p, role, t, balance);
		}
	bool ok = true;
	for (uint32_t r = 0; r < n && ok; r++)
		ok = balance[r] == 0 || explain(p, role_of, r, err);
	arena_free(&a);
	return ok;
}
