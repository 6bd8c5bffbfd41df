/* Routes by breadth-first search: fewest links; among equally short ways a device's number picks
 * one, modulo their count, so that traffic to many devices spreads over parallel paths
 * (d-mod-k). */
#include <inttypes.h>
#include <string.h>

#include "topo/internal.h"

static const uint32_t no_link = UINT32_MAX;

struct search {
	const struct topo *t;
	uint32_t *first_in, *links_in; /* incoming links of node n: [first_in[n], first_in[n+1]) */
	uint32_t *first_out, *links_out; /* the same for outgoing ones */
	uint32_t *distance, *queue;
	uint32_t *next; /* n_devices x n_nodes: first link from the node towards the device */
};

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	const uint32_t *next = (const uint32_t *)t->family_data + (size_t)dst * t->n_nodes;
	uint32_t n = 0;
	for (uint32_t at = src; at != dst; at = t->links[links[n++]].to)
		links[n] = next[at];
	return n;
}

/* Sorts the links by one of their ends, in order of number within a node. */
static void index_links(struct arena *a, struct search *s, bool in)
{
	uint32_t n = s->t->n_nodes;
	uint32_t *first = arena_array(a, (size_t)n + 2, uint32_t);
	uint32_t *links = arena_array(a, (size_t)s->t->n_links + 1, uint32_t);
	for (uint32_t i = 0; i < s->t->n_links; i++)
		first[(in ? s->t->links[i].to : s->t->links[i].from) + 2]++;
	for (uint32_t i = 0; i < n; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < s->t->n_links; i++)
		links[first[(in ? s->t->links[i].to : s->t->links[i].from) + 1]++] = i;
	*(in ? &s->first_in : &s->first_out) = first;
	*(in ? &s->links_in : &s->links_out) = links;
}

/* distance[n] becomes the number of links from n to `dst`. */
static void measure_distances(struct search *s, uint32_t dst)
{
	uint32_t n_queue = 0;
	memset(s->distance, 0xff, s->t->n_nodes * sizeof(*s->distance));
	s->distance[dst] = 0;
	s->queue[n_queue++] = dst;
	for (uint32_t i = 0; i < n_queue; i++) {
		uint32_t node = s->queue[i];
		for (uint32_t k = s->first_in[node]; k < s->first_in[node + 1]; k++) {
			uint32_t from = s->t->links[s->links_in[k]].from;
			if (s->distance[from] != UINT32_MAX)
				continue;
			s->distance[from] = s->distance[node] + 1;
			s->queue[n_queue++] = from;
		}
	}
}

/* The (dst mod k)-th of the k links of `node` that lead nearer to `dst`. */
static uint32_t choose_link(const struct search *s, uint32_t node, uint32_t dst)
{
	uint32_t n_ways = 0, chosen = no_link;
	for (uint32_t pass = 0; pass < 2; pass++) {
		uint32_t skip = n_ways ? dst % n_ways : 0;
		for (uint32_t k = s->first_out[node]; k < s->first_out[node + 1]; k++) {
			uint32_t link = s->links_out[k];
			if (s->distance[s->t->links[link].to] + 1 != s->distance[node])
				continue;
			n_ways += pass == 0;
			if (pass == 1 && skip-- == 0)
				chosen = link;
		}
	}
	return chosen;
}

static bool route_to(struct search *s, uint32_t dst, struct topo *out, struct err *err)
{
	measure_distances(s, dst);
	uint32_t *next = s->next + (size_t)dst * out->n_nodes;
	for (uint32_t node = 0; node < out->n_nodes; node++) {
		next[node] = no_link;
		uint32_t d = s->distance[node];
		if (node < out->n_devices && d == UINT32_MAX)
			return err_set(err, ERR_INPUT, "device '%s' has no way to device '%s'",
				out->nodes[node].name, out->nodes[dst].name);
		if (node < out->n_devices && d > out->max_hops)
			out->max_hops = d;
		if (d != UINT32_MAX && d > 0)
			next[node] = choose_link(s, node, dst);
	}
	return true;
}

bool topo_route_by_search(struct arena *a, struct topo *out, struct err *err)
{
	uint64_t cells = (uint64_t)out->n_devices * out->n_nodes;
	if (cells > UINT64_C(1) << 24)
		return err_set(err, ERR_INPUT,
			"%" PRIu32 " devices and %" PRIu32
			" nodes are too many to list one by one, expected a product of at most "
			"2^24",
			out->n_devices, out->n_nodes);
	struct arena work = {0};
	struct search s = {.t = out, .next = arena_array(a, cells, uint32_t)};
	index_links(&work, &s, true);
	index_links(&work, &s, false);
	s.distance = arena_array(&work, out->n_nodes, uint32_t);
	s.queue = arena_array(&work, out->n_nodes, uint32_t);
	bool ok = true;
	out->max_hops = 0;
	for (uint32_t dst = 0; dst < out->n_devices && ok; dst++)
		ok = route_to(&s, dst, out, err);
	arena_free(&work);
	out->route = route;
	out->family_data = s.next;
	return ok;
}
