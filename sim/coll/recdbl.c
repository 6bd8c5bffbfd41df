#include "coll/internal.h"

/* Recursive doubling: partners at distance 1, 2, 4, ... exchange what they have (Thakur,
 * Rabenseifner and Gropp, 2005). */

static struct coll_schedule allreduce(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	struct fold f = fold_of(n_ranks);
	steps_fold(&s, &f, bytes, 1);
	for (uint32_t dist = 1; dist < f.p; dist *= 2, s.round++)
		for (uint32_t k = 0; k < f.p; k++)
			steps_add(&s, &(struct coll_step){.src = fold_rank(&f, k),
					      .dst = fold_rank(&f, k ^ dist),
					      .bytes = bytes,
					      .range = {0, 1},
					      .reduce = true});
	steps_unfold(&s, &f, bytes, 1);
	return steps_finish(&s, 1, 1);
}

static struct coll_schedule allgather(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	for (uint32_t dist = 1; dist < n_ranks; dist *= 2, s.round++)
		for (uint32_t i = 0; i < n_ranks; i++)
			steps_add(&s, &(struct coll_step){.src = i,
					      .dst = i ^ dist,
					      .bytes = bytes * dist,
					      .range = {i & ~(dist - 1), dist}});
	return steps_finish(&s, n_ranks, n_ranks);
}

static bool is_power_of_two(uint32_t n_ranks)
{
	return pow2_floor(n_ranks) == n_ranks;
}

const struct coll_algo coll_allreduce_recdbl = {.name = "recdbl",
	.kind = COLL_ALLREDUCE,
	.build = allreduce};
const struct coll_algo coll_allgather_recdbl = {.name = "recdbl",
	.kind = COLL_ALLGATHER,
	.fits = is_power_of_two,
	.build = allgather};
