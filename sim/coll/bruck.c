#include "coll/internal.h"

/* Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing
 * systems", 1997. */

static struct coll_frame frame_gather(const struct coll_call *c)
{
	uint32_t n = c->n_ranks, rounds = log2_ceil(n);
	return (struct coll_frame){rounds, (uint64_t)rounds * n, n, n};
}

/* In round k every rank sends all it has, at most what is still missing, to the rank 2^k before
 * it. */
static void allgather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks, have = UINT32_C(1) << r;
	uint32_t count = have < n - have ? have : n - have;
	for (uint32_t i = 0; i < n; i++)
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = (i + n - have) % n,
				     .bytes = c->bytes * count,
				     .range = {i, count}});
}

static struct coll_frame frame_alltoall(const struct coll_call *c)
{
	uint32_t n = c->n_ranks, rounds = log2_ceil(n);
	return (struct coll_frame){rounds, (uint64_t)rounds * n, n, n * n};
}

/* The part for the j-th rank after its origin travels by the bits of j: in round k what has bit k
 * goes 2^k ahead. */
static void alltoall(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks, dist = UINT32_C(1) << r, count = 0;
	for (uint32_t j = 1; j < n; j++)
		count += (j & dist) != 0;
	for (uint32_t i = 0; i < n; i++)
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = (i + dist) % n,
				     .bytes = c->bytes * count,
				     .range = {0, count}});
}

/* What is at rank i in round k came by the lower bits of j. */
static void alltoall_parts(const struct coll_call *c, const struct coll_step *step, uint32_t *list)
{
	uint32_t n = c->n_ranks, dist = UINT32_C(1) << step->round, k = 0;
	for (uint32_t j = 1; j < n; j++)
		if (j & dist) {
			uint32_t origin = (step->src + n - (j & (dist - 1))) % n;
			list[k++] = origin * n + (origin + j) % n;
		}
}

const struct coll_algo coll_allgather_bruck = {.name = "bruck",
	.kind = COLL_ALLGATHER,
	.frame = frame_gather,
	.round = allgather};
const struct coll_algo coll_alltoall_bruck = {.name = "bruck",
	.kind = COLL_ALLTOALL,
	.fits = fits_squared,
	.frame = frame_alltoall,
	.round = alltoall,
	.parts = alltoall_parts};
