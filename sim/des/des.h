/* The event engine: one clock and one queue.
 *
 * An event lives inside the thing that it will wake (a core, a flow, a barrier), so scheduling
 * allocates nothing and cancelling needs no search. Events fire in order of (at, seq); seq counts
 * calls of des_at(), which makes the order total and every run of one input the same run. */
#ifndef DES_DES_H
#define DES_DES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

struct des;
struct des_event;

typedef void des_fire(struct des *des, struct des_event *ev);

/* All-zero but for `fire` is a valid event that is not scheduled. */
struct des_event {
	des_fire *fire;
	size_t place; /* 1 + index in the queue; 0 while not scheduled */
};

struct des_entry {
	tick at;
	uint64_t seq;
	struct des_event *ev;
};

/* Lets the world outside the queue run until `until` at the latest (TICK_MAX: as long as it
 * likes) and says when it stopped, never later than `until`. The default jumps straight there; a
 * network that simulates transfers of its own stops early when one of them ends. */
typedef tick des_wait(void *ctx, tick until);

struct des {
	tick now;
	uint64_t n_fired;
	uint64_t next_seq;
	struct des_entry *queue; /* a 4-ary heap; the keys are inline to spare cache misses */
	size_t n_queue, cap_queue;
	uint64_t n_outside; /* things in flight outside the queue that may still schedule events */
	des_wait *wait;
	void *wait_ctx;
};

#define des_owner(ev, type, member) ((type *)(void *)((char *)(ev)-offsetof(type, member)))

void des_init(struct des *des);
/* Frees the queue; events that are still in it are not touched. */
void des_finish(struct des *des);

/* Schedules `ev` for `at`, which must not be in the past; moves it if it is scheduled already. */
void des_at(struct des *des, struct des_event *ev, tick at);

/* Takes `ev` out of the queue; does nothing if it is not in it. */
void des_cancel(struct des *des, struct des_event *ev);

/* Moves on to the next event and fires it; when the world outside stops first, moves only that
 * far. Returns false when nothing is left to happen: nothing is in the queue, and either nothing
 * is in flight outside or what is will never end (n_outside stays above 0: a deadlock, and `now`
 * stays where it was). */
bool des_step(struct des *des);

#endif
