#include "coll/internal.h"

/* Trees over ceil(log2 n) rounds with the root at position 0. Towards the leaves the distance
 * falls, towards the root it grows. */

static struct coll_frame frame_whole(const struct coll_call *c)
{
	return (struct coll_frame){log2_ceil(c->n_ranks), c->n_ranks, 1, 1};
}

static struct coll_frame frame_parts(const struct coll_call *c)
{
	return (struct coll_frame){log2_ceil(c->n_ranks), c->n_ranks, c->n_ranks, c->n_ranks};
}

static struct coll_frame frame_twice(const struct coll_call *c)
{
	return (struct coll_frame){2 * log2_ceil(c->n_ranks), 2 * (uint64_t)c->n_ranks, 1, 1};
}

static struct tree tree_of(const struct coll_call *c, bool up, bool whole)
{
	return (struct tree){.n_ranks = c->n_ranks,
		.bytes = c->bytes,
		.up = up,
		.whole = whole,
		.reduce = up && whole,
		.n_parts = 1};
}

static void add_round(const struct coll_call *c, const struct tree *t, uint32_t r, struct steps *s)
{
	steps_tree_level(s, t, UINT32_C(1) << (t->up ? r : log2_ceil(c->n_ranks) - 1 - r));
}

static void broadcast(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct tree t = tree_of(c, false, true);
	add_round(c, &t, r, s);
}

static void reduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct tree t = tree_of(c, true, true);
	add_round(c, &t, r, s);
}

static void gather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct tree t = tree_of(c, true, false);
	add_round(c, &t, r, s);
}

static void scatter(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct tree t = tree_of(c, false, false);
	add_round(c, &t, r, s);
}

/* To rank 0 and back. */
static void allreduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n_levels = log2_ceil(c->n_ranks);
	struct tree t = tree_of(c, r < n_levels, true);
	add_round(c, &t, r < n_levels ? r : r - n_levels, s);
}

const struct coll_algo coll_broadcast_binomial = {.name = "binomial",
	.kind = COLL_BROADCAST,
	.frame = frame_whole,
	.round = broadcast};
const struct coll_algo coll_reduce_binomial = {.name = "binomial",
	.kind = COLL_REDUCE,
	.frame = frame_whole,
	.round = reduce};
const struct coll_algo coll_gather_binomial = {.name = "binomial",
	.kind = COLL_GATHER,
	.frame = frame_parts,
	.round = gather};
const struct coll_algo coll_scatter_binomial = {.name = "binomial",
	.kind = COLL_SCATTER,
	.frame = frame_parts,
	.round = scatter};
const struct coll_algo coll_allreduce_redbcast = {.name = "redbcast",
	.kind = COLL_ALLREDUCE,
	.frame = frame_twice,
	.round = allreduce};
