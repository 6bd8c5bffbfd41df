#include <assert.h>

#include "run/internal.h"

/* Messages between ranks, matched by (from, to, tag) in the order in which their ends are
 * posted. The table holds ends that wait for the other; of one (from, to, tag) either sends wait
 * or receives. */

enum { BUCKETS_MIN = 256 };

static uint32_t bucket_of(const struct engine *e, const struct transfer *t)
{
	uint64_t h = ((uint64_t)t->from << 32 | t->to) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ (uint64_t)(uintptr_t)t->tag) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32) & (e->n_buckets - 1);
}

static void append(struct engine *e, struct transfer *t)
{
	struct bucket *b = &e->buckets[bucket_of(e, t)];
	t->next = NULL;
	if (b->tail)
		b->tail->next = t;
	else
		b->head = t;
	b->tail = t;
}

/* Doubling keeps the order within each (from, to, tag), which is all that counts. */
static void grow(struct engine *e)
{
	struct bucket *old = e->buckets;
	uint32_t n_old = e->n_buckets;
	e->n_buckets = n_old ? 2 * n_old : BUCKETS_MIN;
	e->buckets = arena_array(&e->a, e->n_buckets, struct bucket);
	for (uint32_t i = 0; i < n_old; i++)
		for (struct transfer *t = old[i].head, *next; t; t = next) {
			next = t->next;
			append(e, t);
		}
}

static void put(struct engine *e, struct transfer *t)
{
	if (e->n_waiting >= e->n_buckets)
		grow(e);
	append(e, t);
	e->n_waiting++;
}

/* Takes the first out that waits for this end: for a recv when `sent` is false. */
static struct transfer *take(struct engine *e, const struct transfer *like, bool sent)
{
	if (e->n_waiting == 0)
		return NULL;
	struct bucket *b = &e->buckets[bucket_of(e, like)];
	struct transfer *before = NULL, *t = b->head;
	for (; t; before = t, t = t->next)
		if (t->from == like->from && t->to == like->to && t->tag == like->tag)
			break;
	if (!t || (t->send_task != PROG_NONE) != sent)
		return NULL;
	*(before ? &before->next : &b->head) = t->next;
	if (b->tail == t)
		b->tail = before;
	e->n_waiting--;
	return t;
}

static struct transfer *create(struct engine *e, const struct transfer *like)
{
	struct transfer *t = e->free_transfers;
	if (t)
		e->free_transfers = t->next;
	else
		t = arena_new(&e->a, struct transfer);
	*t = *like;
	return t;
}

static void destroy(struct engine *e, struct transfer *t)
{
	t->next = e->free_transfers;
	e->free_transfers = t;
}

/* A send on the compute stream keeps its rank waiting like a recv does. */
static bool send_blocks(const struct prog_task *t)
{
	return t->stream == 0 && !t->eager;
}

static void arrived(struct net *net, struct net_msg *msg)
{
	struct transfer *t = msg->owner;
	struct engine *e = t->e;
	if (!engine_wake(e))
		return;
	t->arrived = true;
	if (send_blocks(task_of(e, t->from, t->send_task)))
		account_under_way(e, t->from, CAUSE_PP, -1);
	task_finish(e, t->from, t->send_task);
	if (t->recv_task != PROG_NONE) {
		account_under_way(e, t->to, CAUSE_PP, -1);
		task_finish(e, t->to, t->recv_task);
		destroy(e, t);
	}
	engine_drain(e);
}

void transfer_send(struct engine *e, uint32_t rank, uint32_t task)
{
	const struct prog_task *s = task_of(e, rank, task);
	struct transfer like = {.e = e,
		.from = rank,
		.to = prog_peer_rank(e->prog, rank, &s->peer),
		.tag = s->tag,
		.send_task = task,
		.recv_task = PROG_NONE};
	struct transfer *t = take(e, &like, false);
	if (t) {
		t->send_task = task;
		account_under_way(e, t->to, CAUSE_PP, 1);
	} else {
		t = create(e, &like);
		put(e, t);
	}
	if (send_blocks(s))
		account_under_way(e, rank, CAUSE_PP, 1);
	e->p2p_bytes += s->bytes;
	t->msg = (struct net_msg){.src = device_of(e, rank),
		.dst = device_of(e, t->to),
		.bytes = s->bytes,
		.done = arrived,
		.owner = t};
	net_send(e->net, &t->msg);
	if (s->eager)
		task_release_stream(e, rank, task);
}

void transfer_recv(struct engine *e, uint32_t rank, uint32_t task)
{
	const struct prog_task *r = task_of(e, rank, task);
	struct transfer like = {.e = e,
		.from = prog_peer_rank(e->prog, rank, &r->peer),
		.to = rank,
		.tag = r->tag,
		.send_task = PROG_NONE,
		.recv_task = task};
	struct transfer *t = take(e, &like, true);
	if (!t) {
		put(e, create(e, &like));
	} else if (t->arrived) {
		destroy(e, t);
		task_finish(e, rank, task);
	} else {
		t->recv_task = task;
		account_under_way(e, rank, CAUSE_PP, 1);
	}
}
