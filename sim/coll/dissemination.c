#include "coll/internal.h"

static struct coll_frame frame(const struct coll_call *c)
{
	uint32_t rounds = log2_ceil(c->n_ranks);
	return (struct coll_frame){rounds, (uint64_t)rounds * c->n_ranks, 1, 1};
}

/* Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988: in round k
 * every rank tells the one 2^k after it. Nothing but the signal moves. */
static void barrier(const struct coll_call *c, uint32_t r, struct steps *s)
{
	for (uint32_t i = 0; i < c->n_ranks; i++)
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = (uint32_t)((i + (UINT64_C(1) << r)) % c->n_ranks),
				     .range = {0, 1},
				     .reduce = true});
}

const struct coll_algo coll_barrier_dissemination = {.name = "dissemination",
	.kind = COLL_BARRIER,
	.frame = frame,
	.round = barrier};
