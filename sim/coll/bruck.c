#include "coll/internal.h"

/* Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing
 * systems", 1997: in round k every rank sends all it has, at most what is still missing, to the
 * rank 2^k before it. */
static struct coll_schedule allgather(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	for (uint32_t have = 1; have < n_ranks; have *= 2, s.round++) {
		uint32_t count = have < n_ranks - have ? have : n_ranks - have;
		for (uint32_t i = 0; i < n_ranks; i++)
			steps_add(&s, &(struct coll_step){.src = i,
					      .dst = (i + n_ranks - have) % n_ranks,
					      .bytes = bytes * count,
					      .range = {i, count}});
	}
	return steps_finish(&s, n_ranks, n_ranks);
}

const struct coll_algo coll_allgather_bruck = {.name = "bruck",
	.kind = COLL_ALLGATHER,
	.build = allgather};
