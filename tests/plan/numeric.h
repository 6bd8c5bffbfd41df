/* Arrays of whole numbers spread over processes, and collectives on them: a process can read only
 * what it holds, and what moves is counted in words. */
#ifndef TESTS_PLAN_NUMERIC_H
#define TESTS_PLAN_NUMERIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/rng.h"
#include "prog/prog.h"

/* Of one element on one process. */
enum numeric_state {
	NUMERIC_NONE,
	NUMERIC_PART, /* a summand of the value */
	NUMERIC_HELD,
};

struct spread {
	const char *name;
	uint32_t n_procs;
	uint64_t n;      /* elements */
	int64_t *values; /* by process, then element */
	uint8_t *states;
};

struct spread spread_new(struct arena *a, const char *name, uint32_t n_procs, uint64_t n);
bool spread_holds(const struct spread *s, uint32_t proc, uint64_t i);
int64_t spread_get(const struct spread *s, uint32_t proc, uint64_t i); /* fails if not held */
void spread_put(struct spread *s, uint32_t proc, uint64_t i, int64_t value);
void spread_add(struct spread *s, uint32_t proc, uint64_t i, int64_t value); /* to a summand */
void spread_drop(struct spread *s, uint32_t proc, uint64_t i);
void spread_settle(struct spread *s, uint32_t proc); /* its summands are the sums */
void spread_open(struct spread *s, uint32_t proc);   /* its values are summands again */

/* The processes of one collective, in order. */
struct team {
	uint32_t *ranks;
	uint32_t n;
};

/* Which elements a process is to have in the end. */
struct wish {
	bool (*wants)(const void *what, uint32_t proc, uint64_t i);
	const void *what;
};

struct moved {
	uint64_t words; /* of the whole collective: gathered, reduced, or sent by all together */
	uint64_t most;  /* of one process: given to a gather, sent in an exchange with its own
			 * part, or to one neighbour */
	uint64_t fresh; /* values that their receivers did not have */
};

/* Everybody gets what all of them want; each element is somebody's. */
struct moved spread_gather(struct spread *s, const struct team *t, const struct wish *w);
/* The sum of everybody's summands for everybody. */
struct moved spread_reduce(struct spread *s, const struct team *t, const struct wish *w);
/* The same for the one that wants it, of all elements that anybody in the team wants. */
struct moved spread_reduce_scatter(struct spread *s, const struct team *t, const struct wish *w);
/* Everybody gets what it wants from who has it. */
struct moved spread_exchange(struct spread *s, const struct team *t, const struct wish *w);
/* The same from the two neighbours in the team only. */
struct moved spread_halo(struct spread *s, const struct team *t, const struct wish *w);

/* The group of a task that `rank` belongs to, in the arena. */
struct team team_of(
	struct arena *a, const struct prog *p, const struct prog_task *task, uint32_t rank);

uint32_t numeric_random(struct rng *rng, uint32_t end); /* 0 .. end - 1 */
int64_t numeric_small(struct rng *rng);                 /* -2 .. 2 */

/* Part `k` of `n`: from cut to the next one, as even as can be. */
uint64_t numeric_cut(uint64_t whole, uint32_t n, uint32_t k);

#endif
