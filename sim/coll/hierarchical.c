#include "coll/internal.h"

/* Within the nodes first. Where they are equally large each rank adds up one share of its node's
 * vectors around the node's ring, the shares are reduced around rings through the nodes, and the
 * nodes put the result together: the torus of node size by number of nodes. Otherwise a binomial
 * tree of each node reduces to its first rank, the first ranks reduce around a ring, and the trees
 * spread the result.
 *
 * Nodes are those of the shape; else the first dimension of its box; else 8 ranks, the last node
 * with the rest. */
struct nodes {
	uint32_t n, size, last; /* `last`: size of the last node, when `sizes` is NULL */
	const uint32_t *sizes;
};

static struct nodes nodes_of(const struct coll_call *c)
{
	if (c->shape.n_nodes > 0)
		return (struct nodes){.n = c->shape.n_nodes, .sizes = c->shape.nodes};
	uint32_t size = c->shape.n_dims > 0 ? c->shape.dims[0] : 8;
	uint32_t n = (uint32_t)div_ceil(c->n_ranks, size);
	return (struct nodes){.n = n, .size = size, .last = c->n_ranks - (n - 1) * size};
}

static uint32_t size_of(const struct nodes *nodes, uint32_t k)
{
	if (nodes->sizes)
		return nodes->sizes[k];
	return k + 1 == nodes->n ? nodes->last : nodes->size;
}

static uint32_t largest(const struct nodes *nodes)
{
	uint32_t most = 0;
	for (uint32_t k = 0; k < nodes->n; k++)
		most = size_of(nodes, k) > most ? size_of(nodes, k) : most;
	return most;
}

/* The same over a torus when all nodes are equal. */
static bool as_torus(const struct coll_call *c, const struct nodes *nodes, struct coll_call *out)
{
	uint32_t size = size_of(nodes, 0);
	for (uint32_t k = 1; k < nodes->n; k++)
		if (size_of(nodes, k) != size)
			return false;
	*out = *c;
	out->algo = &coll_allreduce_torus;
	out->shape = (struct coll_shape){.n_dims = 2, .dims = {size, nodes->n}};
	return true;
}

static struct coll_frame frame(const struct coll_call *c)
{
	struct nodes nodes = nodes_of(c);
	struct coll_call even;
	if (as_torus(c, &nodes, &even))
		return even.algo->frame(&even);
	uint32_t rounds = 2 * log2_ceil(largest(&nodes)) + 2 * (nodes.n - 1);
	return (struct coll_frame){rounds,
		2 * (uint64_t)c->n_ranks + 2 * (uint64_t)nodes.n * (nodes.n - 1), 1, nodes.n};
}

static void add_trees(const struct coll_call *c, const struct nodes *nodes, const struct tree *like,
	struct steps *s)
{
	uint32_t n_levels = log2_ceil(largest(nodes)), first = 0;
	uint32_t r = like->up ? s->round : s->round - n_levels - 2 * (nodes->n - 1);
	for (uint32_t k = 0; k < nodes->n; k++) {
		struct tree t = *like;
		t.first = first;
		t.n_ranks = size_of(nodes, k);
		steps_tree_level(s, &t, UINT32_C(1) << (t.up ? r : n_levels - 1 - r));
		first += t.n_ranks;
	}
}

static void add_leaders(
	const struct coll_call *c, const struct nodes *nodes, uint32_t r, struct steps *s)
{
	struct arena a = {0};
	uint32_t m = nodes->n, before = s->n;
	uint32_t *leaders = arena_array(&a, m, uint32_t);
	for (uint32_t k = 1; k < m; k++)
		leaders[k] = leaders[k - 1] + size_of(nodes, k - 1);
	bool adds = r < m - 1;
	struct ring_pass p = {m, adds ? 0 : 1, div_ceil(c->bytes, m), adds};
	steps_ring(s, &p, adds ? r : r - (m - 1));
	for (uint32_t i = before; i < s->n; i++) {
		s->list[i].src = leaders[s->list[i].src];
		s->list[i].dst = leaders[s->list[i].dst];
	}
	arena_free(&a);
}

static void allreduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct nodes nodes = nodes_of(c);
	struct coll_call even;
	if (as_torus(c, &nodes, &even)) {
		even.algo->round(&even, r, s);
		return;
	}
	uint32_t n_levels = log2_ceil(largest(&nodes)), ring = 2 * (nodes.n - 1);
	struct tree t = {.bytes = c->bytes, .whole = true, .n_parts = nodes.n};
	t.up = t.reduce = r < n_levels;
	if (r < n_levels || r >= n_levels + ring)
		add_trees(c, &nodes, &t, s);
	else
		add_leaders(c, &nodes, r - n_levels, s);
}

static uint32_t like(const struct coll_call *c, uint32_t round)
{
	struct nodes nodes = nodes_of(c);
	struct coll_call even;
	if (as_torus(c, &nodes, &even))
		return even.algo->like(&even, round);
	uint32_t n_levels = log2_ceil(largest(&nodes)), ring = 2 * (nodes.n - 1);
	return round > n_levels && round < n_levels + ring ? n_levels : round;
}

const struct coll_algo coll_allreduce_hierarchical = {.name = "hierarchical",
	.kind = COLL_ALLREDUCE,
	.frame = frame,
	.round = allreduce,
	.like = like};
