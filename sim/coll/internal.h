/* What the algorithms share. */
#ifndef COLL_INTERNAL_H
#define COLL_INTERNAL_H

#include "coll/coll.h"

extern const struct coll_algo coll_allgather_bruck;
extern const struct coll_algo coll_allgather_direct;
extern const struct coll_algo coll_allgather_neighbor;
extern const struct coll_algo coll_allgather_recdbl;
extern const struct coll_algo coll_allgather_ring;
extern const struct coll_algo coll_allreduce_biring;
extern const struct coll_algo coll_allreduce_colours;
extern const struct coll_algo coll_allreduce_dbtree;
extern const struct coll_algo coll_allreduce_direct;
extern const struct coll_algo coll_allreduce_hierarchical;
extern const struct coll_algo coll_allreduce_rabenseifner;
extern const struct coll_algo coll_allreduce_recdbl;
extern const struct coll_algo coll_allreduce_redbcast;
extern const struct coll_algo coll_allreduce_ring;
extern const struct coll_algo coll_allreduce_rings;
extern const struct coll_algo coll_allreduce_torus;
extern const struct coll_algo coll_alltoall_bruck;
extern const struct coll_algo coll_alltoall_direct;
extern const struct coll_algo coll_alltoall_pairwise;
extern const struct coll_algo coll_alltoall_twolevel;
extern const struct coll_algo coll_barrier_dissemination;
extern const struct coll_algo coll_broadcast_binomial;
extern const struct coll_algo coll_broadcast_chain;
extern const struct coll_algo coll_broadcast_vandegeijn;
extern const struct coll_algo coll_gather_binomial;
extern const struct coll_algo coll_gather_chain;
extern const struct coll_algo coll_gather_direct;
extern const struct coll_algo coll_halo_line;
extern const struct coll_algo coll_halo_neighbors;
extern const struct coll_algo coll_reduce_binomial;
extern const struct coll_algo coll_reduce_chain;
extern const struct coll_algo coll_reduce_rabenseifner;
extern const struct coll_algo coll_reducescatter_direct;
extern const struct coll_algo coll_reducescatter_halving;
extern const struct coll_algo coll_reducescatter_pairwise;
extern const struct coll_algo coll_reducescatter_ring;
extern const struct coll_algo coll_scatter_binomial;
extern const struct coll_algo coll_scatter_chain;
extern const struct coll_algo coll_scatter_direct;

/* Steps that are being written, rounds ascending. */
struct steps {
	struct arena *a;
	struct coll_step *list;
	uint32_t n, cap;
	uint32_t round;
};

void steps_add(struct steps *s, const struct coll_step *step); /* `round` is filled in */
/* Room for `n` steps in one piece, before the first is added. */
void steps_reserve(struct steps *s, size_t n);
void steps_sort(struct coll_step *list, size_t n);

/* The frame after ERR_INPUT for what does not go together. */
bool call_check(const struct coll_call *c, struct coll_frame *frame, struct err *err);
/* Adds the round: sorted, uneven counts filled in. */
void call_round(
	const struct coll_call *c, const struct coll_frame *f, uint32_t round, struct steps *out);
/* Writes what a step moves, step->range.count parts. */
void call_parts(
	const struct coll_call *c, uint32_t n_parts, const struct coll_step *step, uint32_t *list);
/* The shape's box, or the two factors of n_ranks that are nearest to each other, the smaller one
 * first. */
struct coll_shape call_box(const struct coll_call *c);
/* How many pieces a pipelined algorithm makes of `bytes`: at most 64, and 4096 where the call says
 * how large they are. */
uint32_t call_chunks(const struct coll_call *c, uint64_t bytes);

/* For algorithms that have n^2 parts, or as many steps in one round. */
bool fits_squared(uint32_t n_ranks);

/* Round r of n_ranks - 1 around a ring: rank i sends part i + shift - r to rank i + 1. */
struct ring_pass {
	uint32_t n_ranks, shift;
	uint64_t bytes;
	bool reduce;
};
void steps_ring(struct steps *s, const struct ring_pass *p, uint32_t r);

uint32_t pow2_floor(uint32_t n); /* largest power of two <= n */
uint32_t log2_ceil(uint32_t n);
/* Level `dist` of a binomial tree over consecutive ranks: the one at i + dist hangs below i, where
 * 2 dist divides i, and stands for itself and the dist - 1 ranks after it. */
struct tree {
	uint32_t first, n_ranks; /* the root is `first` */
	uint64_t bytes;          /* of the vector, or of a part when not `whole` */
	bool up;                 /* to the root */
	bool reduce;             /* adds on the way */
	bool whole;              /* `n_parts` move, otherwise the part of each rank below */
	uint32_t n_parts;
};
void steps_tree_level(struct steps *s, const struct tree *t, uint32_t dist);

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
