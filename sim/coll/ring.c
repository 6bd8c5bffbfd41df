#include "coll/internal.h"

/* Chunks of ceil(bytes / n_ranks) travel around the ring. Patarasu and Yuan, "Bandwidth optimal
 * all-reduce algorithms for clusters of workstations", 2009: n - 1 steps that add, n - 1 that
 * copy. */

static struct coll_frame frame_of(uint32_t n_ranks, uint32_t n_passes)
{
	uint64_t rounds = (uint64_t)n_passes * (n_ranks - 1);
	return (struct coll_frame){(uint32_t)rounds, rounds * n_ranks, 1, n_ranks};
}

static struct coll_frame once(const struct coll_call *c)
{
	return frame_of(c->n_ranks, 1);
}

static struct coll_frame twice(const struct coll_call *c)
{
	return frame_of(c->n_ranks, 2);
}

static uint32_t all_alike(const struct coll_call *c, uint32_t round)
{
	return 0;
}

static void allreduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks;
	bool adds = r < n - 1;
	struct ring_pass p = {n, adds ? 0 : 1, div_ceil(c->bytes, n), adds};
	steps_ring(s, &p, adds ? r : r - (n - 1));
}

static void allgather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct ring_pass p = {c->n_ranks, 0, div_ceil(c->bytes, c->n_ranks), false};
	steps_ring(s, &p, r);
}

/* Part i ends at rank i. */
static void reducescatter(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct ring_pass p = {c->n_ranks, c->n_ranks - 1, div_ceil(c->bytes, c->n_ranks), true};
	steps_ring(s, &p, r);
}

const struct coll_algo coll_allreduce_ring = {.name = "ring",
	.kind = COLL_ALLREDUCE,
	.frame = twice,
	.round = allreduce,
	.like = all_alike};
const struct coll_algo coll_allgather_ring = {.name = "ring",
	.kind = COLL_ALLGATHER,
	.frame = once,
	.round = allgather,
	.like = all_alike};
const struct coll_algo coll_reducescatter_ring = {.name = "ring",
	.kind = COLL_REDUCESCATTER,
	.frame = once,
	.round = reducescatter,
	.like = all_alike};
