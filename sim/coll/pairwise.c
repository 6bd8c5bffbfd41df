#include "coll/internal.h"

/* n - 1 rounds: in round r every rank sends to the r-th after it and receives from the r-th
 * before it. The part of rank i for rank j is i n + j. */
static struct coll_schedule alltoall(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	steps_reserve(&s, (size_t)n_ranks * (n_ranks - 1));
	for (uint32_t r = 1; r < n_ranks; r++, s.round++)
		for (uint32_t i = 0; i < n_ranks; i++) {
			uint32_t dst = (i + r) % n_ranks;
			steps_add(&s, &(struct coll_step){.src = i,
					      .dst = dst,
					      .bytes = bytes,
					      .range = {i * n_ranks + dst, 1}});
		}
	return steps_finish(&s, n_ranks, n_ranks * n_ranks);
}

const struct coll_algo coll_alltoall_pairwise = {.name = "pairwise",
	.kind = COLL_ALLTOALL,
	.fits = fits_squared,
	.build = alltoall};
