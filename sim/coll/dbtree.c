#include "coll/internal.h"

/* Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan",
 * 2009. Two binary trees, each for half of the vector; a rank that has children in one is a leaf in
 * the other (but for one of an odd number). In the first the odd positions are the leaves: a
 * position hangs below the one that has its lowest set bit cleared and the next one set, or where
 * there is no such one, only cleared; 0 is the root. The second is the first read backwards, or for
 * an odd number of ranks turned by one.
 *
 * A half goes up and down in chunks. With trees of depth d, chunk k leaves a rank of depth x in
 * round d - x + k for its parent and in round d + x + k for its children. */

static uint32_t parent_of(uint32_t at, uint32_t n)
{
	uint32_t low = at & (~at + 1), cleared = at ^ low, next = cleared | low << 1;
	return next < n ? next : cleared;
}

static uint32_t depth_of(uint32_t at, uint32_t n)
{
	uint32_t depth = 0;
	for (; at != 0; depth++)
		at = parent_of(at, n);
	return depth;
}

static uint32_t deepest(uint32_t n)
{
	uint32_t most = 0;
	for (uint32_t at = 1; at < n; at += 2) {
		uint32_t depth = depth_of(at, n);
		most = depth > most ? depth : most;
	}
	return most;
}

static uint32_t rank_of(uint32_t tree, uint32_t at, uint32_t n)
{
	if (tree == 0)
		return at;
	return n % 2 == 0 ? n - 1 - at : (at + 1) % n;
}

static struct coll_frame frame(const struct coll_call *c)
{
	uint32_t n_chunks = call_chunks(c, c->bytes / 2), depth = deepest(c->n_ranks);
	return (struct coll_frame){2 * depth + n_chunks - 1,
		(uint64_t)4 * n_chunks * (c->n_ranks - 1), (uint64_t)2 * n_chunks, 2 * n_chunks};
}

/* The messages of one tree between `at` and its parent. */
static void add_edge(
	const struct coll_call *c, uint32_t tree, uint32_t at, uint32_t deep, struct steps *s)
{
	uint32_t n = c->n_ranks, r = s->round, n_chunks = call_chunks(c, c->bytes / 2);
	uint32_t depth = depth_of(at, n);
	uint32_t up = deep - depth, down = deep + depth - 1;
	uint32_t child = rank_of(tree, at, n), parent = rank_of(tree, parent_of(at, n), n);
	if (r >= up && r - up < n_chunks)
		steps_add(s, &(struct coll_step){.src = child,
				     .dst = parent,
				     .bytes = c->bytes,
				     .range = {tree * n_chunks + r - up, 1},
				     .reduce = true});
	if (r >= down && r - down < n_chunks)
		steps_add(s, &(struct coll_step){.src = parent,
				     .dst = child,
				     .bytes = c->bytes,
				     .range = {tree * n_chunks + r - down, 1}});
}

static void allreduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t deep = deepest(c->n_ranks);
	for (uint32_t tree = 0; tree < 2; tree++)
		for (uint32_t at = 1; at < c->n_ranks; at++)
			add_edge(c, tree, at, deep, s);
}

/* While all edges are busy both ways one round is like the other. */
static uint32_t like(const struct coll_call *c, uint32_t round)
{
	uint32_t full = 2 * deepest(c->n_ranks) - 1, n_chunks = call_chunks(c, c->bytes / 2);
	return round > full && round < n_chunks ? full : round;
}

const struct coll_algo coll_allreduce_dbtree = {.name = "dbtree",
	.kind = COLL_ALLREDUCE,
	.frame = frame,
	.round = allreduce,
	.like = like};
