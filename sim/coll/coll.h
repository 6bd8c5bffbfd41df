/* Collectives as schedules: who sends which bytes to whom, after what. The same description is
 * executed by a network, costed in closed form and verified by moving symbolic sets. To add one,
 * write its file with a `const struct coll_algo` in it and name it in coll.c. */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "prog/prog.h"

/* A range of the vector in parts: parts first .. first+count-1, modulo n_parts. */
struct coll_range {
	uint32_t first, count;
};

/* One message. A rank may send it once everything that reached it in earlier rounds of its own
 * steps has arrived: a step waits for all steps of smaller `round` whose `src` or `dst` is its
 * own src (or dst, for the receive to be posted). */
struct coll_step {
	uint32_t src, dst; /* positions within the group */
	uint32_t round;
	uint64_t bytes; /* payload is bytes / parts of the schedule: exact fractions of a byte */
	struct coll_range range; /* what moves, for verification */
	bool reduce;             /* the receiver adds; otherwise it replaces */
};

struct coll_schedule {
	const struct coll_step *steps; /* ascending by (round, src, dst); in the caller's arena */
	uint32_t n_steps, n_rounds;
	/* The payload of a step is bytes / bytes_divisor; 1 where whole bytes move. */
	uint64_t bytes_divisor;
	uint32_t n_parts; /* that the vector is cut into, for verification */
};

struct coll_algo {
	const char *name; /* "ring", "bruck", "rabenseifner" */
	enum coll_kind kind;
	bool (*fits)(uint32_t n_ranks); /* NULL: any number from 1 */
	/* `bytes` by nccl-tests' convention: all-reduce, reduce-scatter, broadcast and reduce
	 * the full vector of each rank; all-gather and gather the full gathered vector; scatter
	 * the full vector of the root; all-to-all all that one rank sends, its own part
	 * included. At most PROG_MAX_BYTES, and PROG_MAX_RANKS ranks. The root is position 0.
	 * One rank: an empty schedule. */
	struct coll_schedule (*build)(struct arena *a, uint32_t n_ranks, uint64_t bytes);
};

/* Sorted by (kind, name), NULL at the end. */
extern const struct coll_algo *const coll_algos[];

/* NULL `name`: the default of the kind (ring, else the first of the kind). NULL when there is
 * none of that name. */
const struct coll_algo *coll_find(enum coll_kind kind, const char *name);

/* ERR_USAGE with what exists and the nearest name. */
const struct coll_algo *coll_get(enum coll_kind kind, const char *name, struct err *err);

/* "allreduce=ring,allgather=bruck" of the command line: one algorithm per kind (NULL: default). */
struct coll_choice {
	const struct coll_algo *algo[N_COLL_KINDS];
};
bool coll_parse_choice(const char *text, struct coll_choice *choice, struct err *err);

/* Moves symbolic sets through the schedule and says whether every rank ends with every part
 * exactly once. */
bool coll_verify(const struct coll_algo *algo, uint32_t n_ranks, struct err *err);

/* Critical path in seconds when each rank has one full-duplex port: a step costs alpha_s +
 * payload x beta_s and waits as said at struct coll_step. The Hockney model; exact for a
 * non-blocking crossbar. */
double coll_time(const struct coll_schedule *s, uint32_t n_ranks, double alpha_s, double beta_s);

/* busbw = algbw * factor (nccl-tests PERFORMANCE.md): all-reduce 2(n-1)/n, all-gather and
 * reduce-scatter (n-1)/n, ... */
double coll_busbw_factor(enum coll_kind kind, uint32_t n_ranks);

#endif
