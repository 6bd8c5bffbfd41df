#include "coll/internal.h"

/* Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988: in round k
 * every rank tells the one 2^k after it. Nothing but the signal moves. */
static struct coll_schedule barrier(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	for (uint32_t dist = 1; dist < n_ranks; dist *= 2, s.round++)
		for (uint32_t i = 0; i < n_ranks; i++)
			steps_add(&s, &(struct coll_step){.src = i,
					      .dst = (i + dist) % n_ranks,
					      .range = {0, 1},
					      .reduce = true});
	return steps_finish(&s, 1, 1);
}

const struct coll_algo coll_barrier_dissemination = {.name = "dissemination",
	.kind = COLL_BARRIER,
	.build = barrier};
