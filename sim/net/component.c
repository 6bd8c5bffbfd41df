/* Names for components: equal ones get equal keys, whatever the numbers of their links. Messages
 * are sorted by colours that are refined with those of the links that they use, and the other way
 * round, a few times. Where equal components still get different keys they are only simulated
 * twice; different ones never share a key, for the key spells out everything. */
#include <stdlib.h>
#include <string.h>

#include "net/flows_internal.h"

enum { REFINEMENTS = 3 };

struct coloured {
	uint64_t colour;
	uint32_t message; /* index in sketch.messages */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 29;
}

/* Numbers the links as they come; `order` gets the topology's numbers. */
static uint32_t list_links(
	struct arena *a, const struct sketch *s, uint32_t *local, uint32_t **order)
{
	uint32_t n = 0, cap = 0;
	*order = NULL;
	for (uint32_t i = 0; i < s->n_messages; i++) {
		uint32_t m = s->messages[i];
		for (uint32_t k = s->start[m]; k < s->start[m + 1]; k++) {
			if (local[s->links[k]] > 0)
				continue;
			arena_push(a, *order, n, cap) = s->links[k];
			local[s->links[k]] = n;
		}
	}
	return n;
}

static void forget_links(uint32_t *local, const uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		local[order[i]] = 0;
}

/* What a message sees of its links does not depend on their order: the route is a set. */
static void refine(const struct sketch *s, const uint32_t *local, struct coloured *messages,
	uint64_t *links, uint64_t *sums, uint32_t n_links)
{
	memset(sums, 0, n_links * sizeof(*sums));
	for (uint32_t i = 0; i < s->n_messages; i++) {
		uint32_t m = s->messages[i];
		uint64_t sum = 0;
		for (uint32_t k = s->start[m]; k < s->start[m + 1]; k++)
			sum += mix(links[local[s->links[k]] - 1], 1);
		messages[i].colour = mix(messages[i].colour, sum);
		for (uint32_t k = s->start[m]; k < s->start[m + 1]; k++)
			sums[local[s->links[k]] - 1] += mix(messages[i].colour, 2);
	}
	for (uint32_t l = 0; l < n_links; l++)
		links[l] = mix(links[l], sums[l]);
}

static int compare_colours(const void *a, const void *b)
{
	const struct coloured *x = a, *y = b;
	if (x->colour != y->colour)
		return x->colour < y->colour ? -1 : 1;
	return (x->message > y->message) - (x->message < y->message);
}

static bool all_alike(const struct sketch *s)
{
	const struct net_flow *first = &s->list[s->messages[0]];
	for (uint32_t i = 1; i < s->n_messages; i++) {
		const struct net_flow *m = &s->list[s->messages[i]];
		if (m->bytes != first->bytes || m->divisor != first->divisor)
			return false;
	}
	return true;
}

static struct coloured *sort_messages(
	struct arena *a, const struct sketch *s, bool alike, uint32_t *local)
{
	uint32_t *order, n_links = list_links(a, s, local, &order);
	struct coloured *messages = arena_array(a, s->n_messages, struct coloured);
	uint64_t *links = arena_array(a, n_links, uint64_t);
	uint64_t *sums = arena_array(a, n_links, uint64_t);
	for (uint32_t l = 0; l < n_links; l++) {
		const struct topo_link *link = &s->topo->links[order[l]];
		links[l] = mix(link->bytes_per_s, link->latency);
	}
	for (uint32_t i = 0; i < s->n_messages; i++) {
		const struct net_flow *m = &s->list[s->messages[i]];
		messages[i] = (struct coloured){alike ? 0 : mix(m->bytes, m->divisor), i};
	}
	for (int round = 0; round < REFINEMENTS; round++)
		refine(s, local, messages, links, sums, n_links);
	qsort(messages, s->n_messages, sizeof(*messages), compare_colours);
	forget_links(local, order, n_links);
	return messages;
}

static void add_hex(struct text *t, uint64_t value, char end)
{
	char digits[17];
	size_t at = sizeof(digits);
	digits[--at] = end;
	do
		digits[--at] = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	text_add_bytes(t, digits + at, sizeof(digits) - at);
}

static void spell(struct component *c)
{
	for (uint32_t i = 0; i < c->n_flows; i++) {
		const struct component_flow *f = &c->flows[i];
		add_hex(&c->key, f->bytes, '/');
		add_hex(&c->key, f->divisor, ':');
		for (uint32_t k = 0; k < f->n_links; k++)
			add_hex(&c->key, c->routes[f->first_link + k], ',');
	}
	for (uint32_t i = 0; i < c->n_links; i++) {
		add_hex(&c->key, c->links[i].bytes_per_s, '@');
		add_hex(&c->key, c->links[i].latency, ';');
	}
}

/* Links get new numbers in the order in which the sorted messages use them. */
struct renaming {
	struct arena *a;
	const struct sketch *sketch;
	bool alike;
	uint32_t *local;
	struct component_link *links;
	uint32_t *order; /* the topology's numbers, by new number */
	uint32_t *routes;
	uint32_t n_links, cap_links, n_order, cap_order, n_routes, cap_routes;
};

static uint32_t new_number(struct renaming *r, uint32_t link)
{
	const struct topo_link *l = &r->sketch->topo->links[link];
	if (r->local[link] == 0) {
		arena_push(r->a, r->links, r->n_links, r->cap_links) =
			(struct component_link){l->bytes_per_s, l->latency};
		arena_push(r->a, r->order, r->n_order, r->cap_order) = link;
		r->local[link] = r->n_links;
	}
	return r->local[link] - 1;
}

static struct component_flow rename_route(struct renaming *r, uint32_t message)
{
	const struct sketch *s = r->sketch;
	struct component_flow flow = {
		.first_link = r->n_routes, .n_links = s->start[message + 1] - s->start[message]};
	if (!r->alike) {
		flow.bytes = s->list[message].bytes;
		flow.divisor = s->list[message].divisor;
	}
	for (uint32_t k = s->start[message]; k < s->start[message + 1]; k++) {
		uint32_t number = new_number(r, s->links[k]);
		arena_push(r->a, r->routes, r->n_routes, r->cap_routes) = number;
	}
	return flow;
}

void component_draw(struct arena *a, const struct sketch *s, uint32_t *local, struct component *out)
{
	bool alike = all_alike(s);
	const struct net_flow *first = &s->list[s->messages[0]];
	struct coloured *sorted = sort_messages(a, s, alike, local);
	struct component_flow *flows = arena_array(a, s->n_messages, struct component_flow);
	struct renaming r = {.a = a, .sketch = s, .alike = alike, .local = local};
	for (uint32_t i = 0; i < s->n_messages; i++)
		flows[i] = rename_route(&r, s->messages[sorted[i].message]);
	forget_links(local, r.order, r.n_order);
	*out = (struct component){.bytes = alike ? first->bytes : 0,
		.divisor = alike ? first->divisor : 0,
		.flows = flows,
		.n_flows = s->n_messages,
		.routes = r.routes,
		.n_routes = r.n_routes,
		.links = r.links,
		.n_links = r.n_links};
	spell(out);
}

void component_draw_one(struct arena *a, const struct component_link *link, struct component *out)
{
	struct component_flow *flow = arena_new(a, struct component_flow);
	struct component_link *copy = arena_new(a, struct component_link);
	flow->n_links = 1;
	*copy = *link;
	*out = (struct component){.flows = flow,
		.n_flows = 1,
		.routes = arena_new(a, uint32_t),
		.n_routes = 1,
		.links = copy,
		.n_links = 1};
	spell(out);
}

void component_copy(struct arena *a, struct component *c)
{
	c->flows = arena_grow(a, c->flows, c->n_flows, c->n_flows, sizeof(*c->flows));
	c->routes = arena_grow(a, c->routes, c->n_routes, c->n_routes, sizeof(*c->routes));
	c->links = arena_grow(a, c->links, c->n_links, c->n_links, sizeof(*c->links));
}
