#include "des/des.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"

enum { ARITY = 4, CAP_MIN = 64 };

static tick jump(void *ctx, tick until)
{
	return until;
}

void des_init(struct des *des)
{
	*des = (struct des){.wait = jump};
}

void des_finish(struct des *des)
{
	free(des->queue);
	*des = (struct des){0};
}

static bool before(const struct des_entry *a, const struct des_entry *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void put(struct des *des, size_t i, struct des_entry e)
{
	des->queue[i] = e;
	e.ev->place = i + 1;
}

/* Places `e` at the hole `i` or above it. */
static void sift_up(struct des *des, size_t i, struct des_entry e)
{
	while (i > 0) {
		size_t parent = (i - 1) / ARITY;
		if (!before(&e, &des->queue[parent]))
			break;
		put(des, i, des->queue[parent]);
		i = parent;
	}
	put(des, i, e);
}

/* Index of the earliest child of `i`, or n_queue when it has none. */
static size_t earliest_child(const struct des *des, size_t i)
{
	size_t first = ARITY * i + 1;
	size_t end = first + ARITY < des->n_queue ? first + ARITY : des->n_queue;
	if (first >= end)
		return des->n_queue;
	for (size_t c = first + 1; c < end; c++)
		if (before(&des->queue[c], &des->queue[first]))
			first = c;
	return first;
}

/* Places `e` at the hole `i` or below it. */
static void sift_down(struct des *des, size_t i, struct des_entry e)
{
	for (;;) {
		size_t child = earliest_child(des, i);
		if (child == des->n_queue || !before(&des->queue[child], &e))
			break;
		put(des, i, des->queue[child]);
		i = child;
	}
	put(des, i, e);
}

static void place_near(struct des *des, size_t i, struct des_entry e)
{
	if (i > 0 && before(&e, &des->queue[(i - 1) / ARITY]))
		sift_up(des, i, e);
	else
		sift_down(des, i, e);
}

void des_cancel(struct des *des, struct des_event *ev)
{
	if (ev->place == 0)
		return;
	size_t hole = ev->place - 1;
	assert(hole < des->n_queue && des->queue[hole].ev == ev);
	struct des_entry last = des->queue[--des->n_queue];
	ev->place = 0;
	if (last.ev != ev)
		place_near(des, hole, last);
}

void des_at(struct des *des, struct des_event *ev, tick at)
{
	assert(at >= des->now);
	struct des_entry e = {.at = at, .seq = des->next_seq++, .ev = ev};
	if (ev->place > 0) {
		assert(ev->place <= des->n_queue && des->queue[ev->place - 1].ev == ev);
		place_near(des, ev->place - 1, e);
		return;
	}
	if (des->n_queue == des->cap_queue) {
		des->cap_queue = des->cap_queue ? 2 * des->cap_queue : CAP_MIN;
		des->queue = mem_grow(des->queue, des->cap_queue, sizeof(*des->queue));
	}
	sift_up(des, des->n_queue++, e);
}

/* Lets time pass until the first event or until the world outside stops before it. Returns false
 * when the end of time came first: what is in flight outside will never schedule anything. */
static bool pass_time(struct des *des)
{
	tick until = des->n_queue > 0 ? des->queue[0].at : TICK_MAX;
	if (until == des->now)
		return true;
	tick stop = des->wait(des->wait_ctx, until);
	assert(stop >= des->now && stop <= until);
	if (stop == TICK_MAX && des->n_queue == 0)
		return false;
	des->now = stop;
	return true;
}

bool des_step(struct des *des)
{
	if (des->n_queue == 0 && des->n_outside == 0)
		return false;
	if (!pass_time(des))
		return false;
	if (des->n_queue == 0 || des->queue[0].at > des->now)
		return true; /* the world outside stopped first; the next step looks again */
	struct des_event *ev = des->queue[0].ev;
	assert(des->queue[0].at == des->now);
	des_cancel(des, ev);
	des->n_fired++;
	ev->fire(des, ev);
	return true;
}
