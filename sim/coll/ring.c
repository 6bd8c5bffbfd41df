#include "coll/internal.h"

/* Chunks of ceil(bytes / n_ranks) travel around the ring. Patarasu and Yuan, "Bandwidth optimal
 * all-reduce algorithms for clusters of workstations", 2009: n - 1 steps that add, n - 1 that
 * copy. */

static struct coll_schedule allreduce(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	uint64_t chunk = div_ceil(bytes, n_ranks);
	steps_reserve(&s, 2 * (size_t)n_ranks * (n_ranks - 1));
	steps_ring(&s, n_ranks, 0, chunk, true);
	steps_ring(&s, n_ranks, 1, chunk, false);
	return steps_finish(&s, 1, n_ranks);
}

static struct coll_schedule allgather(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	steps_reserve(&s, (size_t)n_ranks * (n_ranks - 1));
	steps_ring(&s, n_ranks, 0, div_ceil(bytes, n_ranks), false);
	return steps_finish(&s, 1, n_ranks);
}

/* Part i ends at rank i. */
static struct coll_schedule reducescatter(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct steps s = {.a = a};
	steps_reserve(&s, (size_t)n_ranks * (n_ranks - 1));
	steps_ring(&s, n_ranks, n_ranks - 1, div_ceil(bytes, n_ranks), true);
	return steps_finish(&s, 1, n_ranks);
}

const struct coll_algo coll_allreduce_ring = {.name = "ring",
	.kind = COLL_ALLREDUCE,
	.fits = fits_squared,
	.build = allreduce};
const struct coll_algo coll_allgather_ring = {.name = "ring",
	.kind = COLL_ALLGATHER,
	.fits = fits_squared,
	.build = allgather};
const struct coll_algo coll_reducescatter_ring = {.name = "ring",
	.kind = COLL_REDUCESCATTER,
	.fits = fits_squared,
	.build = reducescatter};
