#include "coll/internal.h"

/* n - 1 rounds: in round r every rank sends to the one r + 1 after it and receives from the one
 * r + 1 before it (Thakur, Rabenseifner and Gropp, 2005). The part of rank i for rank j is i n + j
 * in an all-to-all. */

static struct coll_frame frame_scatter(const struct coll_call *c)
{
	uint32_t n = c->n_ranks;
	return (struct coll_frame){n - 1, (uint64_t)n * (n - 1), n, n};
}

static struct coll_frame frame_alltoall(const struct coll_call *c)
{
	uint32_t n = c->n_ranks;
	return (struct coll_frame){n - 1, (uint64_t)n * (n - 1), n, n * n};
}

static void alltoall(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t dst = (i + r + 1) % n;
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = dst,
				     .bytes = c->bytes,
				     .range = {i * n + dst, 1}});
	}
}

static void reducescatter(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t dst = (i + r + 1) % n;
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = dst,
				     .bytes = c->bytes,
				     .range = {dst, 1},
				     .reduce = true});
	}
}

const struct coll_algo coll_alltoall_pairwise = {.name = "pairwise",
	.kind = COLL_ALLTOALL,
	.fits = fits_squared,
	.frame = frame_alltoall,
	.round = alltoall};
const struct coll_algo coll_reducescatter_pairwise = {.name = "pairwise",
	.kind = COLL_REDUCESCATTER,
	.frame = frame_scatter,
	.round = reducescatter};
