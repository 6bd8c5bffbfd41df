/* Collectives as schedules: who sends which bytes to whom, after what. The same description is
 * executed by a network, costed in closed form and verified by moving symbolic sets. An algorithm
 * says what happens in one round; to add one, write its file with a `const struct coll_algo` in it
 * and name it in coll.c. */
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
	const struct coll_step
		*steps; /* ascending by (round, src, dst, range); in the caller's arena */
	uint32_t n_steps, n_rounds;
	/* The payload of a step is bytes / bytes_divisor; 1 where whole bytes move. */
	uint64_t bytes_divisor;
	uint32_t n_parts; /* that the vector is cut into, for verification */
};

/* What a group looks like. All-zero: nothing is known, and an algorithm that depends on it takes
 * the default that it names. */
struct coll_shape {
	/* A box, the first dimension varies fastest; the product is the number of ranks. */
	uint32_t n_dims, dims[PROG_MAX_DIMS];
	/* So many consecutive ranks share a node; the sum is the number of ranks. */
	uint32_t n_nodes;
	const uint32_t *nodes;
	/* Orders of the ranks around rings that share no link: n_rings x n_ranks. */
	uint32_t n_rings;
	const uint32_t *rings;
};

/* One collective: what an algorithm makes a schedule of. */
struct coll_call {
	const struct coll_algo *algo;
	uint32_t n_ranks;
	/* By nccl-tests' convention: all-reduce, reduce-scatter, broadcast and reduce the full
	 * vector of each rank; all-gather and gather the full gathered vector; scatter the full
	 * vector of the root; all-to-all all that one rank sends, its own part included; halo what
	 * goes to each neighbour. At most PROG_MAX_BYTES, and PROG_MAX_RANKS ranks. The root is
	 * position 0. */
	uint64_t bytes;
	struct coll_shape shape;
	uint64_t chunk_bytes; /* pieces of pipelined algorithms (chain, dbtree); 0: 256 KiB */
	/* All-to-all of uneven parts: bytes from i to j at [i * n_ranks + j]; a message of nothing
	 * is not sent. NULL: bytes / n_ranks each. */
	const uint64_t *counts;
};

struct coll_frame {
	uint32_t n_rounds; /* 0 for one rank */
	uint64_t n_steps;  /* at most */
	uint64_t bytes_divisor;
	uint32_t n_parts;
};

struct steps;

struct coll_algo {
	const char *name; /* "ring", "bruck", "rabenseifner" */
	enum coll_kind kind;
	bool (*fits)(uint32_t n_ranks); /* NULL: any number from 1 */
	struct coll_frame (*frame)(const struct coll_call *c);
	/* Adds the steps of one round, in any order. */
	void (*round)(const struct coll_call *c, uint32_t round, struct steps *out);
	/* The first round that has the same messages as this one, so that a network need not
	 * carry them twice. NULL: none that is known. */
	uint32_t (*like)(const struct coll_call *c, uint32_t round);
	/* Lists what a step moves where that is no range: step->range.count parts. NULL: it is. */
	void (*parts)(const struct coll_call *c, const struct coll_step *step, uint32_t *list);
	bool wants_rings;    /* of the shape; they take time to find */
	uint32_t only_ranks; /* read from a file for so many ranks; 0: see `fits` */
	const void *data;    /* of an algorithm that was read from a file */
};

bool coll_fits(const struct coll_algo *algo, uint32_t n_ranks);

/* What coll_build() accepts: 2 x 8192 x 8191 steps and a few more, five GB. */
enum { COLL_MAX_STEPS = 1 << 27 };

/* The whole schedule in `a`. ERR_INPUT when the algorithm does not work for so many ranks, the
 * shape is one of another number, or there are more steps than memory is for. */
bool coll_build(
	struct arena *a, const struct coll_call *c, struct coll_schedule *out, struct err *err);

/* The same, one round at a time, in any order, in the memory of one round. */
struct coll_rounds {
	struct coll_call call;
	struct coll_frame frame;
	struct arena a;
	struct steps *steps;
};
bool coll_rounds_begin(struct coll_rounds *r, const struct coll_call *c, struct err *err);
/* Ascending by (src, dst); lives until the next call. */
const struct coll_step *coll_rounds_get(struct coll_rounds *r, uint32_t round, uint32_t *n_steps);
/* The first round that is known to have the same (src, dst, bytes): `round` itself when none is. */
uint32_t coll_rounds_like(const struct coll_rounds *r, uint32_t round);
void coll_rounds_end(struct coll_rounds *r);

/* Sorted by (kind, name), NULL at the end. */
extern const struct coll_algo *const coll_algos[];

/* NULL `name`: the default of the kind: ring, where there is one, else binomial, pairwise,
 * dissemination or neighbors. NULL when there is none of that name. */
const struct coll_algo *coll_find(enum coll_kind kind, const char *name);

/* By the one-word names of published tables: "ar_rab", "ag_bruck", "a2a_pair", as in
 * analytic/analytic.h. NULL when there is none of that name. */
const struct coll_algo *coll_find_short(const char *name);

/* ERR_USAGE with what exists and the nearest name. */
const struct coll_algo *coll_get(enum coll_kind kind, const char *name, struct err *err);

/* How the algorithm of a collective is found, beside a fixed one. */
enum coll_policy {
	COLL_FIXED,
	COLL_AUTO, /* "auto": all that work are measured, the cheapest is taken */
	COLL_NCCL, /* "nccl": by size, see coll_nccl_pick() */
};

/* "allreduce=ring,allgather=auto" of the command line: one algorithm per kind (NULL: default) or a
 * policy. */
struct coll_choice {
	const struct coll_algo *algo[N_COLL_KINDS];
	enum coll_policy policy[N_COLL_KINDS];
};
bool coll_parse_choice(const char *text, struct coll_choice *choice, struct err *err);
bool coll_policy_find(const char *name, enum coll_policy *out);

/* As NCCL chooses: what it has (ring; for all-reduce also the double binary tree, for broadcast
 * and reduce the chain, for all-to-all direct sends), the cheaper of the two by coll_time() of a
 * message that costs alpha_s + bytes x beta_s. Kinds that NCCL does not have: the default. */
const struct coll_algo *coll_nccl_pick(
	enum coll_kind kind, uint32_t n_ranks, uint64_t bytes, double alpha_s, double beta_s);

/* An algorithm from an MSCCL XML file (<algo><gpu><tb><step>), of whose threadblocks and
 * dependencies the rounds are made: a message is in the round that counts the messages on the
 * longest chain before it. minBytes, maxBytes and outofplace may be missing. The file is
 * executed with symbolic chunks. ERR_INPUT: not such a file, an unknown step, a chunk outside
 * its buffer. ERR_ANSWER: a deadlock, with the steps of the cycle; a send that nobody receives
 * or a receive that nobody sends; a rank that ends without what the collective promises. */
bool coll_read_msccl(
	struct arena *a, const char *path, const struct coll_algo **out, struct err *err);

/* coll_get(), or for a name that ends in ".xml" coll_read_msccl(), whose kind must be this one. */
const struct coll_algo *coll_load(
	struct arena *a, enum coll_kind kind, const char *name, struct err *err);

/* Moves symbolic sets through the schedule and says whether every rank ends with every part
 * exactly once. */
bool coll_verify(const struct coll_algo *algo, uint32_t n_ranks, struct err *err);
bool coll_verify_call(const struct coll_call *c, struct err *err);

/* Critical path in seconds when each rank has one full-duplex port: the steps of one round share
 * the ports of their ends, so that each costs alpha_s + beta_s x the larger of what its source
 * sends and its destination receives in that round; a step waits as said at struct coll_step.
 * The Hockney model; exact for a non-blocking crossbar where the messages of a round are alike. */
double coll_time(const struct coll_schedule *s, uint32_t n_ranks, double alpha_s, double beta_s);

/* The same without a schedule in memory. */
double coll_call_time(const struct coll_call *c, double alpha_s, double beta_s);

/* Rings over ranks 0 .. n_ranks-1 that share no link, as many as a bounded search finds (a start at
 * rank 0, deepest first): `lanes` [i * n_ranks + j] is how many links lead from i to j. Written to
 * shape->rings in `a`, the n_rings of them; 0 where no ring closes. At most 32 ranks. */
void coll_find_rings(
	struct arena *a, const uint32_t *lanes, uint32_t n_ranks, struct coll_shape *shape);

/* busbw = algbw * factor (nccl-tests PERFORMANCE.md): all-reduce 2(n-1)/n, all-gather and
 * reduce-scatter (n-1)/n, ... */
double coll_busbw_factor(enum coll_kind kind, uint32_t n_ranks);

#endif
