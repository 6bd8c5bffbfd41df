/* What the algorithms share. */
#ifndef COLL_INTERNAL_H
#define COLL_INTERNAL_H

#include "coll/coll.h"

extern const struct coll_algo coll_allgather_bruck;
extern const struct coll_algo coll_allgather_recdbl;
extern const struct coll_algo coll_allgather_ring;
extern const struct coll_algo coll_allreduce_rabenseifner;
extern const struct coll_algo coll_allreduce_recdbl;
extern const struct coll_algo coll_allreduce_ring;
extern const struct coll_algo coll_alltoall_pairwise;
extern const struct coll_algo coll_barrier_dissemination;
extern const struct coll_algo coll_broadcast_binomial;
extern const struct coll_algo coll_gather_binomial;
extern const struct coll_algo coll_reduce_binomial;
extern const struct coll_algo coll_reducescatter_ring;
extern const struct coll_algo coll_scatter_binomial;

/* A schedule that is being written: steps in any order within a round, rounds ascending. */
struct steps {
	struct arena *a;
	struct coll_step *list;
	uint32_t n, cap;
	uint32_t round;
};

void steps_add(struct steps *s, const struct coll_step *step); /* `round` is filled in */
/* Room for `n` steps in one piece; worth it where there are many. Before the first is added. */
void steps_reserve(struct steps *s, size_t n);
/* Sorts and closes the schedule; s->round is the number of rounds. */
struct coll_schedule steps_finish(struct steps *s, uint64_t bytes_divisor, uint32_t n_parts);

/* For algorithms of n rounds with n steps each: as many ranks as a schedule in memory allows (8192,
 * two to five GB). */
bool fits_squared(uint32_t n_ranks);

/* n_ranks - 1 rounds around the ring: in round r, rank i sends part i + shift - r to rank i + 1. */
void steps_ring(struct steps *s, uint32_t n_ranks, uint32_t shift, uint64_t bytes, bool reduce);

uint32_t pow2_floor(uint32_t n); /* largest power of two <= n */
uint32_t log2_ceil(uint32_t n);

/* Groups of other sizes than powers of two, as MPICH does it: of the first 2 (n - p) ranks, p =
 * pow2_floor(n), the even ones add their vector to the odd ones' and sit out until they get the
 * result. */
struct fold {
	uint32_t p, n_extra;
};
struct fold fold_of(uint32_t n_ranks);
uint32_t fold_rank(const struct fold *f, uint32_t k); /* the rank that plays 0 <= k < p */
void steps_fold(struct steps *s, const struct fold *f, uint64_t bytes, uint32_t n_parts);
void steps_unfold(struct steps *s, const struct fold *f, uint64_t bytes, uint32_t n_parts);

#endif
