#include "coll/internal.h"

/* Recursive doubling: partners at distance 1, 2, 4, ... exchange what they have (Thakur,
 * Rabenseifner and Gropp, 2005). */

static struct coll_frame frame_reduce(const struct coll_call *c)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t rounds = log2_ceil(f.p) + (f.n_extra > 0 ? 2 : 0);
	return (struct coll_frame){rounds, (uint64_t)rounds * c->n_ranks, 1, 1};
}

static void allreduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t before = f.n_extra > 0, n_levels = log2_ceil(f.p);
	if (r < before)
		steps_fold(s, &f, c->bytes, 1);
	else if (r == before + n_levels)
		steps_unfold(s, &f, c->bytes, 1);
	else
		for (uint32_t k = 0, dist = UINT32_C(1) << (r - before); k < f.p; k++)
			steps_add(s, &(struct coll_step){.src = fold_rank(&f, k),
					     .dst = fold_rank(&f, k ^ dist),
					     .bytes = c->bytes,
					     .range = {0, 1},
					     .reduce = true});
}

static struct coll_frame frame_gather(const struct coll_call *c)
{
	uint32_t n = c->n_ranks, rounds = log2_ceil(n);
	return (struct coll_frame){rounds, (uint64_t)rounds * n, n, n};
}

static void allgather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t dist = UINT32_C(1) << r;
	for (uint32_t i = 0; i < c->n_ranks; i++)
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = i ^ dist,
				     .bytes = c->bytes * dist,
				     .range = {i & ~(dist - 1), dist}});
}

static bool is_power_of_two(uint32_t n_ranks)
{
	return pow2_floor(n_ranks) == n_ranks;
}

const struct coll_algo coll_allreduce_recdbl = {.name = "recdbl",
	.kind = COLL_ALLREDUCE,
	.frame = frame_reduce,
	.round = allreduce};
const struct coll_algo coll_allgather_recdbl = {.name = "recdbl",
	.kind = COLL_ALLGATHER,
	.fits = is_power_of_two,
	.frame = frame_gather,
	.round = allgather};
