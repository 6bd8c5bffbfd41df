/* How a set falls apart: messages that share a link, or are tied by others that do, belong
 * together. */
#include "net/flows_internal.h"

static uint32_t root_of(struct taking *t, uint32_t i)
{
	while (t->parent[i] != i) {
		t->parent[i] = t->parent[t->parent[i]];
		i = t->parent[i];
	}
	return i;
}

/* The smaller number becomes the root, so that a component is named by its first message. */
static void tie(struct taking *t, uint32_t i, uint32_t j)
{
	uint32_t a = root_of(t, i), b = root_of(t, j);
	if (a != b)
		t->parent[a < b ? b : a] = a < b ? a : b;
}

static void find_routes(struct taking *t)
{
	const struct topo *topo = t->topo;
	uint32_t *route = arena_array(&t->a, (size_t)topo->max_hops + 1, uint32_t);
	uint32_t n_links = 0;
	t->start = arena_array(&t->a, (size_t)t->n + 1, uint32_t);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct net_flow *m = &t->list[i];
		uint32_t n = m->src == m->dst ? 0 : topo->route(topo, m->src, m->dst, route);
		for (uint32_t k = 0; k < n; k++)
			arena_push(&t->a, t->links, n_links, t->cap_links) = route[k];
		t->start[i + 1] = n_links;
	}
}

/* Counts message i on a link. The owner of a link, while they are looked for, is 1 + its place among
 * the loads; first[] keeps the first message on each. */
static void use_link(struct taking *t, uint32_t i, uint32_t link, uint32_t *owner, uint32_t *first)
{
	if (*owner == 0) {
		first[t->n_loads] = i;
		arena_push(&t->a, t->loads, t->n_loads, t->cap_loads) =
			(struct flow_load){.link = link};
		*owner = t->n_loads;
	} else {
		tie(t, i, first[*owner - 1]);
	}
	t->loads[*owner - 1].amount += 1;
}

static void find_components(struct taking *t, uint32_t *owner)
{
	uint32_t *first = arena_array(&t->a, (size_t)t->start[t->n] + 1, uint32_t);
	t->parent = arena_array(&t->a, (size_t)t->n + 1, uint32_t);
	for (uint32_t i = 0; i < t->n; i++) {
		t->parent[i] = i;
		for (uint32_t k = t->start[i]; k < t->start[i + 1]; k++)
			use_link(t, i, t->links[k], &owner[t->links[k]], first);
	}
	for (uint32_t i = 0; i < t->n_loads; i++)
		owner[t->loads[i].link] = 0;
}

/* Chains the messages of each component, first to last. */
static void chain_messages(struct taking *t)
{
	uint32_t *tail = arena_array(&t->a, (size_t)t->n + 1, uint32_t);
	t->next = arena_array(&t->a, (size_t)t->n + 1, uint32_t);
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t root = root_of(t, i);
		t->next[i] = UINT32_MAX;
		if (root != i)
			t->next[tail[root]] = i;
		tail[root] = i;
	}
}

void taking_begin(struct taking *t, uint32_t *owner)
{
	find_routes(t);
	find_components(t, owner);
	chain_messages(t);
}

struct sketch taking_sketch(struct taking *t, uint32_t first)
{
	struct sketch s = {.topo = t->topo, .list = t->list, .start = t->start, .links = t->links};
	uint32_t cap = 0;
	for (uint32_t i = first; i != UINT32_MAX; i = t->next[i])
		arena_push(&t->a, s.messages, s.n_messages, cap) = i;
	return s;
}

void taking_end(struct taking *t)
{
	arena_free(&t->a);
}
