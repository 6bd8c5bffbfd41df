#include "coll/internal.h"

/* Rabenseifner, "Optimization of collective reduction operations", 2004: reduce-scatter by
 * halving the vector and the distance, all-gather by doubling both. Other numbers of ranks are
 * folded. */
static struct coll_schedule allreduce(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	struct fold f = fold_of(n_ranks);
	steps_fold(&s, &f, bytes * f.p, f.p);
	for (uint32_t dist = f.p / 2; dist > 0; dist /= 2, s.round++)
		for (uint32_t k = 0; k < f.p; k++)
			steps_add(&s, &(struct coll_step){.src = fold_rank(&f, k),
					      .dst = fold_rank(&f, k ^ dist),
					      .bytes = bytes * dist,
					      .range = {(k ^ dist) & ~(dist - 1), dist},
					      .reduce = true});
	for (uint32_t dist = 1; dist < f.p; dist *= 2, s.round++)
		for (uint32_t k = 0; k < f.p; k++)
			steps_add(&s, &(struct coll_step){.src = fold_rank(&f, k),
					      .dst = fold_rank(&f, k ^ dist),
					      .bytes = bytes * dist,
					      .range = {k & ~(dist - 1), dist}});
	steps_unfold(&s, &f, bytes * f.p, f.p);
	return steps_finish(&s, f.p, f.p);
}

const struct coll_algo coll_allreduce_rabenseifner = {.name = "rabenseifner",
	.kind = COLL_ALLREDUCE,
	.build = allreduce};
