#include "coll/internal.h"

/* Barnett et al., "Building a high-performance collective communication library", 1994 (van de
 * Geijn): the root scatters the vector over a binomial tree, then an all-gather around the ring
 * puts it together everywhere. */

static struct coll_frame frame(const struct coll_call *c)
{
	uint32_t n = c->n_ranks;
	return (struct coll_frame){log2_ceil(n) + n - 1, (uint64_t)n + (uint64_t)n * (n - 1), n, n};
}

static void broadcast(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks, n_levels = log2_ceil(n);
	if (r < n_levels) {
		struct tree t = {.n_ranks = n, .bytes = c->bytes};
		steps_tree_level(s, &t, UINT32_C(1) << (n_levels - 1 - r));
		return;
	}
	struct ring_pass p = {n, 0, div_ceil(c->bytes, n) * n, false};
	steps_ring(s, &p, r - n_levels);
}

static uint32_t like(const struct coll_call *c, uint32_t round)
{
	uint32_t n_levels = log2_ceil(c->n_ranks);
	return round < n_levels ? round : n_levels;
}

const struct coll_algo coll_broadcast_vandegeijn = {.name = "vandegeijn",
	.kind = COLL_BROADCAST,
	.frame = frame,
	.round = broadcast,
	.like = like};
