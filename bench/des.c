/* The hold model (Jones, 1986): a queue of N events, each of which schedules itself again when
 * it fires. Runs it on the event engine and on a plain binary heap of pointers to events, which
 * allocates each one, checks that both fire the same events at the same times, and prints events
 * a second and their ratio.
 * usage: bench_des [PENDING [FIRED]] */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "base/rng.h"
#include "des/des.h"

struct result {
	double s;
	uint64_t n_fired;
	uint64_t digest; /* over the times and names of all that fired, in order */
};

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void note(struct result *r, tick at, uint64_t id)
{
	r->n_fired++;
	r->digest = (r->digest ^ at ^ (id << 40)) * UINT64_C(0x100000001b3);
}

/* The next pause of an event; few enough values that ties are common. */
static tick next_pause(struct rng *rng)
{
	return 1 + rng_below(rng, 1 << 20);
}

struct hold {
	struct des_event ev;
	uint64_t id;
	struct rng *rng;
	struct result *result;
};

static void hold_fire(struct des *des, struct des_event *ev)
{
	struct hold *h = des_owner(ev, struct hold, ev);
	note(h->result, des->now, h->id);
	des_at(des, ev, des->now + next_pause(h->rng));
}

static struct result run_des(size_t n_pending, uint64_t n_fire)
{
	struct result r = {0};
	struct rng rng;
	struct des des;
	struct hold *h = mem_alloc(n_pending, sizeof(*h));
	rng_init(&rng, 1);
	des_init(&des);
	for (size_t i = 0; i < n_pending; i++) {
		h[i] = (struct hold){.ev.fire = hold_fire, .id = i, .rng = &rng, .result = &r};
		des_at(&des, &h[i].ev, next_pause(&rng));
	}
	r.s = now_s();
	while (r.n_fired < n_fire)
		des_step(&des);
	r.s = now_s() - r.s;
	assert(des.n_fired == n_fire && des.n_queue == n_pending);
	des_finish(&des);
	free(h);
	return r;
}

struct plain_event {
	tick at;
	uint64_t seq, id;
};

struct plain_heap {
	struct plain_event **events;
	size_t n;
	uint64_t seq;
};

static bool before(const struct plain_event *a, const struct plain_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void plain_push(struct plain_heap *heap, tick at, uint64_t id)
{
	struct plain_event *e = mem_alloc(1, sizeof(*e));
	*e = (struct plain_event){.at = at, .seq = heap->seq++, .id = id};
	size_t i = heap->n++;
	for (; i > 0 && before(e, heap->events[(i - 1) / 2]); i = (i - 1) / 2)
		heap->events[i] = heap->events[(i - 1) / 2];
	heap->events[i] = e;
}

static struct plain_event *plain_pop(struct plain_heap *heap)
{
	struct plain_event *first = heap->events[0];
	struct plain_event *last = heap->events[--heap->n];
	size_t i = 0;
	for (size_t child = 1; child < heap->n; child = 2 * i + 1) {
		if (child + 1 < heap->n && before(heap->events[child + 1], heap->events[child]))
			child++;
		if (!before(heap->events[child], last))
			break;
		heap->events[i] = heap->events[child];
		i = child;
	}
	heap->events[i] = last;
	return first;
}

static struct result run_plain(size_t n_pending, uint64_t n_fire)
{
	struct result r = {0};
	struct rng rng;
	struct plain_heap heap = {.events = mem_alloc(n_pending, sizeof(*heap.events))};
	rng_init(&rng, 1);
	for (size_t i = 0; i < n_pending; i++)
		plain_push(&heap, next_pause(&rng), i);
	r.s = now_s();
	while (r.n_fired < n_fire) {
		struct plain_event *e = plain_pop(&heap);
		note(&r, e->at, e->id);
		plain_push(&heap, e->at + next_pause(&rng), e->id);
		free(e);
	}
	r.s = now_s() - r.s;
	assert(heap.n == n_pending);
	while (heap.n > 0)
		free(plain_pop(&heap));
	free(heap.events);
	return r;
}

int main(int argc, char **argv)
{
	size_t n_pending = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	uint64_t n_fire = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000;
	assert(n_pending > 0 && n_fire > 0);
	struct result des = run_des(n_pending, n_fire);
	struct result plain = run_plain(n_pending, n_fire);
	assert(des.n_fired == n_fire && plain.n_fired == n_fire && des.digest == plain.digest);
	printf("%zu pending, %" PRIu64 " fired\n", n_pending, n_fire);
	printf("event engine     %6.2f Mevent/s\n", (double)n_fire / des.s * 1e-6);
	printf("heap of pointers %6.2f Mevent/s\n", (double)n_fire / plain.s * 1e-6);
	printf("ratio            %6.2f\n", plain.s / des.s);
	return 0;
}
