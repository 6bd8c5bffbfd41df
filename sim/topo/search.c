/* Routes by breadth-first search: fewest links, then fewest devices that forward what is not
 * theirs; among equal ways a device's number picks one, modulo their count, so that traffic to
 * many devices spreads over parallel paths (d-mod-k). */
#include <inttypes.h>
#include <string.h>

#include "topo/internal.h"

static const uint32_t no_link = UINT32_MAX;

struct search {
	const struct topo *t;
	uint32_t *first_in, *links_in; /* incoming links of node n: [first_in[n], first_in[n+1]) */
	uint32_t *first_out, *links_out; /* the same for outgoing ones */
	uint32_t *distance, *queue;
	uint32_t *forwards; /* fewest devices between the node and the destination */
	uint32_t *next;     /* n_devices x n_nodes: first link from the node towards the device */
};

uint32_t topo_follow(
	const struct topo *t, const uint32_t *row, const uint32_t ends[2], uint32_t *links)
{
	uint32_t n = 0;
	for (uint32_t at = ends[0]; at != ends[1]; at = t->links[links[n++]].to)
		links[n] = row[at];
	return n;
}

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	const uint32_t *row = (const uint32_t *)t->family_data + (size_t)dst * t->n_nodes;
	return topo_follow(t, row, (uint32_t[]){src, dst}, links);
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

/* What node `node` adds to `forwards` of those that send through it. */
static uint32_t forwards_through(const struct search *s, uint32_t node, uint32_t dst)
{
	return s->forwards[node] + (node < s->t->n_devices && node != dst);
}

static bool leads_nearer(const struct search *s, uint32_t node, uint32_t link)
{
	return s->distance[s->t->links[link].to] + 1 == s->distance[node];
}

/* Nearer nodes have theirs already: the queue is in order of distance. */
static void count_forwards(struct search *s, uint32_t n_queue, uint32_t dst)
{
	s->forwards[dst] = 0;
	for (uint32_t i = 1; i < n_queue; i++) {
		uint32_t node = s->queue[i], least = UINT32_MAX;
		for (uint32_t k = s->first_out[node]; k < s->first_out[node + 1]; k++) {
			uint32_t link = s->links_out[k];
			if (!leads_nearer(s, node, link))
				continue;
			uint32_t n = forwards_through(s, s->t->links[link].to, dst);
			least = n < least ? n : least;
		}
		s->forwards[node] = least;
	}
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
	count_forwards(s, n_queue, dst);
}

/* The (dst mod k)-th of the k best links of `node` towards `dst`. */
static uint32_t choose_link(const struct search *s, uint32_t node, uint32_t dst)
{
	uint32_t n_ways = 0, chosen = no_link;
	for (uint32_t pass = 0; pass < 2; pass++) {
		uint32_t skip = n_ways ? dst % n_ways : 0;
		for (uint32_t k = s->first_out[node]; k < s->first_out[node + 1]; k++) {
			uint32_t link = s->links_out[k];
			if (!leads_nearer(s, node, link) ||
				forwards_through(s, s->t->links[link].to, dst) != s->forwards[node])
				continue;
			n_ways += pass == 0;
			if (pass == 1 && skip-- == 0)
				chosen = link;
		}
	}
	return chosen;
}

static bool route_to(struct search *s, uint32_t dst, uint32_t *max_hops, struct err *err)
{
	const struct topo *t = s->t;
	measure_distances(s, dst);
	uint32_t *next = s->next + (size_t)dst * t->n_nodes;
	for (uint32_t node = 0; node < t->n_nodes; node++) {
		next[node] = no_link;
		uint32_t d = s->distance[node];
		if (node < t->n_devices && d == UINT32_MAX)
			return err_set(err, ERR_INPUT, "device '%s' has no way to device '%s'",
				t->nodes[node].name, t->nodes[dst].name);
		if (node < t->n_devices && d > *max_hops)
			*max_hops = d;
		if (d != UINT32_MAX && d > 0)
			next[node] = choose_link(s, node, dst);
	}
	return true;
}

const uint32_t *topo_search_routes(
	struct arena *a, const struct topo *t, uint32_t *max_hops, struct err *err)
{
	uint64_t cells = (uint64_t)t->n_devices * t->n_nodes;
	if (cells > UINT64_C(1) << 24) {
		err_set(err, ERR_INPUT,
			"%" PRIu32 " devices and %" PRIu32
			" nodes are too many to search their routes, expected a product of at most "
			"2^24",
			t->n_devices, t->n_nodes);
		return NULL;
	}
	struct arena work = {0};
	struct search s = {.t = t, .next = arena_array(a, cells, uint32_t)};
	index_links(&work, &s, true);
	index_links(&work, &s, false);
	s.distance = arena_array(&work, t->n_nodes, uint32_t);
	s.queue = arena_array(&work, t->n_nodes, uint32_t);
	s.forwards = arena_array(&work, t->n_nodes, uint32_t);
	bool ok = true;
	*max_hops = 0;
	for (uint32_t dst = 0; dst < t->n_devices && ok; dst++)
		ok = route_to(&s, dst, max_hops, err);
	arena_free(&work);
	return ok ? s.next : NULL;
}

bool topo_route_by_search(struct arena *a, struct topo *out, struct err *err)
{
	out->family_data = topo_search_routes(a, out, &out->max_hops, err);
	out->route = route;
	return out->family_data != NULL;
}
