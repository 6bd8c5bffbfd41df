#include "coll/internal.h"

/* Trees over ceil(log2 n) rounds with the root at position 0: the rank at i + dist hangs below
 * i, where 2 dist divides i, and stands for itself and the dist - 1 ranks after it. Towards the
 * leaves dist falls, towards the root it grows. */

struct tree {
	uint32_t n_ranks;
	uint64_t bytes;
	bool up;     /* to the root */
	bool reduce; /* adds on the way */
	bool whole;  /* the whole vector moves, otherwise the part of each rank below */
};

static void add_level(struct steps *s, const struct tree *t, uint32_t dist)
{
	for (uint32_t i = 0; i + dist < t->n_ranks; i += 2 * dist) {
		uint32_t child = i + dist;
		uint32_t below = dist < t->n_ranks - child ? dist : t->n_ranks - child;
		struct coll_step step = {
			.src = t->up ? child : i,
			.dst = t->up ? i : child,
			.bytes = t->whole ? t->bytes : t->bytes * below,
			.range = {t->whole ? 0 : child, t->whole ? 1 : below},
			.reduce = t->reduce,
		};
		steps_add(s, &step);
	}
}

static struct coll_schedule build_tree(struct arena *a, const struct tree *t)
{
	struct steps s = {.a = a};
	uint32_t n_rounds = log2_ceil(t->n_ranks);
	for (uint32_t r = 0; r < n_rounds; r++, s.round++)
		add_level(&s, t, UINT32_C(1) << (t->up ? r : n_rounds - 1 - r));
	uint32_t n_parts = t->whole ? 1 : t->n_ranks;
	return steps_finish(&s, n_parts, n_parts);
}

static struct coll_schedule broadcast(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct tree t = {.n_ranks = n_ranks, .bytes = bytes, .whole = true};
	return build_tree(a, &t);
}

static struct coll_schedule reduce(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct tree t = {
		.n_ranks = n_ranks, .bytes = bytes, .up = true, .reduce = true, .whole = true};
	return build_tree(a, &t);
}

static struct coll_schedule gather(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct tree t = {.n_ranks = n_ranks, .bytes = bytes, .up = true};
	return build_tree(a, &t);
}

static struct coll_schedule scatter(struct arena *a, uint32_t n_ranks, uint64_t bytes)
{
	struct tree t = {.n_ranks = n_ranks, .bytes = bytes};
	return build_tree(a, &t);
}

const struct coll_algo coll_broadcast_binomial = {.name = "binomial",
	.kind = COLL_BROADCAST,
	.build = broadcast};
const struct coll_algo coll_reduce_binomial = {.name = "binomial",
	.kind = COLL_REDUCE,
	.build = reduce};
const struct coll_algo coll_gather_binomial = {.name = "binomial",
	.kind = COLL_GATHER,
	.build = gather};
const struct coll_algo coll_scatter_binomial = {.name = "binomial",
	.kind = COLL_SCATTER,
	.build = scatter};
