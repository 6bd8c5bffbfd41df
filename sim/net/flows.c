#include "net/flows.h"

#include <stdlib.h>
#include <string.h>

#include "net/flows_internal.h"

struct flow_set {
	const uint32_t *components; /* different ones */
	uint32_t n_components;
};

struct net_flows {
	struct arena a;
	enum net_kind kind;
	const struct topo *topo;
	struct name_index keys; /* the number of a key is that of its component */
	struct component *components;
	uint32_t n_components, cap_components, n_solved;
	struct flow_set *sets;
	uint32_t n_sets, cap_sets;
	uint64_t n_added;
	uint32_t *owner; /* of each link of the topology while a set is taken apart: 1 + message */
	uint32_t *local; /* of each link while a component is named: 1 + its number there */
	uint32_t *last_set;  /* per component: 1 + the set that has it already */
	uint32_t n_last_set; /* room */
};

struct net_flows *net_flows_create(enum net_kind kind, const struct topo *topo)
{
	assert(!topo->platform_xml);
	struct net_flows *f = mem_alloc(1, sizeof(*f));
	*f = (struct net_flows){.kind = kind, .topo = topo};
	f->owner = arena_array(&f->a, (size_t)topo->n_links + 1, uint32_t);
	f->local = arena_array(&f->a, (size_t)topo->n_links + 1, uint32_t);
	return f;
}

void net_flows_destroy(struct net_flows *f)
{
	if (!f)
		return;
	arena_free(&f->a);
	free(f);
}

/* A set while it is taken apart. Message i uses links[start[i] .. start[i + 1] - 1]. */
struct taking {
	struct arena a;
	const struct net_flow *list;
	uint32_t n, *start, *links, cap_links;
	uint32_t *parent; /* union-find over messages */
	uint32_t *next;   /* message of the same component, ascending; UINT32_MAX at the end */
};

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

static void find_routes(const struct net_flows *f, struct taking *t)
{
	uint32_t *route = arena_array(&t->a, (size_t)f->topo->max_hops + 1, uint32_t);
	uint32_t n_links = 0;
	t->start = arena_array(&t->a, (size_t)t->n + 1, uint32_t);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct net_flow *m = &t->list[i];
		uint32_t n = m->src == m->dst ? 0 : f->topo->route(f->topo, m->src, m->dst, route);
		for (uint32_t k = 0; k < n; k++)
			arena_push(&t->a, t->links, n_links, t->cap_links) = route[k];
		t->start[i + 1] = n_links;
	}
}

static void find_components(struct net_flows *f, struct taking *t)
{
	t->parent = arena_array(&t->a, (size_t)t->n + 1, uint32_t);
	for (uint32_t i = 0; i < t->n; i++) {
		t->parent[i] = i;
		for (uint32_t k = t->start[i]; k < t->start[i + 1]; k++) {
			uint32_t *owner = &f->owner[t->links[k]];
			if (*owner == 0)
				*owner = i + 1;
			else
				tie(t, i, *owner - 1);
		}
	}
	for (uint32_t k = 0; k < t->start[t->n]; k++)
		f->owner[t->links[k]] = 0;
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

static void draw(struct net_flows *f, struct taking *t, uint32_t first, struct component *out)
{
	struct sketch s = {.topo = f->topo, .list = t->list, .start = t->start, .links = t->links};
	uint32_t cap = 0;
	for (uint32_t i = first; i != UINT32_MAX; i = t->next[i])
		arena_push(&t->a, s.messages, s.n_messages, cap) = i;
	component_draw(&t->a, &s, f->local, out);
}

/* The number of the component, which is copied when it is new. */
static uint32_t number_of(struct net_flows *f, struct taking *t, uint32_t first)
{
	struct component c;
	draw(f, t, first, &c);
	f->n_added++;
	uint32_t number = name_index_put(&f->a, &f->keys, c.key.data, c.key.n);
	if (number == f->n_components) {
		component_copy(&f->a, &c);
		arena_push(&f->a, f->components, f->n_components, f->cap_components) = c;
	}
	text_free(&c.key);
	return number;
}

static bool seen_in_set(struct net_flows *f, uint32_t component)
{
	if (component >= f->n_last_set) {
		uint32_t n = 2 * component + 64;
		f->last_set =
			arena_grow(&f->a, f->last_set, f->n_last_set, n, sizeof(*f->last_set));
		f->n_last_set = n;
	}
	if (f->last_set[component] == f->n_sets + 1)
		return true;
	f->last_set[component] = f->n_sets + 1;
	return false;
}

uint32_t net_flows_add(struct net_flows *f, const struct net_flow *list, uint32_t n)
{
	struct taking t = {.list = list, .n = n};
	uint32_t *components = NULL, n_components = 0, cap = 0;
	find_routes(f, &t);
	find_components(f, &t);
	chain_messages(&t);
	for (uint32_t i = 0; i < n; i++) {
		if (t.parent[i] != i || list[i].src == list[i].dst)
			continue;
		uint32_t number = number_of(f, &t, i);
		if (!seen_in_set(f, number))
			arena_push(&f->a, components, n_components, cap) = number;
	}
	arena_free(&t.a);
	arena_push(&f->a, f->sets, f->n_sets, f->cap_sets) =
		(struct flow_set){components, n_components};
	return f->n_sets - 1;
}

bool net_flows_solve(struct net_flows *f, struct err *err)
{
	uint32_t n = f->n_components - f->n_solved;
	if (n > 0 && !components_simulate(f->kind, &f->components[f->n_solved], n, err))
		return false;
	f->n_solved = f->n_components;
	return true;
}

struct net_flow_times net_flows_times(const struct net_flows *f, uint32_t set)
{
	assert(set < f->n_sets);
	const struct flow_set *s = &f->sets[set];
	struct net_flow_times out = {0};
	for (uint32_t i = 0; i < s->n_components; i++) {
		assert(s->components[i] < f->n_solved);
		struct net_flow_times t = f->components[s->components[i]].times;
		out.first = i == 0 || t.first < out.first ? t.first : out.first;
		out.last = t.last > out.last ? t.last : out.last;
	}
	return out;
}

struct net_flows_counts net_flows_count(const struct net_flows *f)
{
	return (struct net_flows_counts){f->n_added, f->n_components};
}
