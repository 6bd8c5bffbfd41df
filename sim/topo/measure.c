/* Figures of a topology's graph. The bisection is a maximum flow (Dinic, 1970). */
#include <stdlib.h>

#include "topo/internal.h"

enum { MAX_SOURCES = 2048 };
static const uint32_t far = UINT32_MAX;

struct end {
	uint32_t low, high;
	bool up;
};

static int compare_ends(const void *left, const void *right)
{
	const struct end *a = left, *b = right;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	return (int)a->up - (int)b->up;
}

/* Pairs of opposite links, and links without an opposite. */
static uint32_t count_cables(struct arena *work, const struct topo *t)
{
	struct end *ends = arena_array(work, (size_t)t->n_links + 1, struct end);
	for (uint32_t i = 0; i < t->n_links; i++) {
		uint32_t from = t->links[i].from, to = t->links[i].to;
		bool up = from < to;
		ends[i] = (struct end){up ? from : to, up ? to : from, up};
	}
	qsort(ends, t->n_links, sizeof(*ends), compare_ends);
	uint32_t cables = 0;
	for (uint32_t i = 0; i < t->n_links;) {
		uint32_t n[2] = {0}, first = i;
		for (; i < t->n_links && ends[i].low == ends[first].low &&
			ends[i].high == ends[first].high;
			i++)
			n[ends[i].up]++;
		cables += n[0] > n[1] ? n[0] : n[1];
	}
	return cables;
}

static void count_hops(struct arena *work, const struct topo *t, struct topo_figures *out)
{
	uint32_t *route = arena_array(work, (size_t)t->max_hops + 1, uint32_t);
	uint32_t n_sources = t->n_devices < MAX_SOURCES ? t->n_devices : MAX_SOURCES;
	uint64_t sum = 0, n_routes = 0;
	out->diameter = n_sources < t->n_devices ? t->max_hops : 0;
	for (uint32_t i = 0; i < n_sources; i++) {
		uint32_t src = (uint32_t)((uint64_t)i * t->n_devices / n_sources);
		for (uint32_t dst = 0; dst < t->n_devices; dst++) {
			if (src == dst)
				continue;
			uint32_t hops = t->route(t, src, dst, route);
			out->diameter = hops > out->diameter ? hops : out->diameter;
			sum += hops;
			n_routes++;
		}
	}
	out->mean_hops = n_routes > 0 ? (double)sum / (double)n_routes : 0;
}

/* An arc and its opposite are neighbours: arc ^ 1. */
struct flow {
	const struct topo *t;
	uint32_t n_low;          /* devices below are sources, the other devices sinks */
	uint32_t *first, *arcs;  /* arcs that leave node n: [first[n], first[n+1]) */
	uint64_t *room;          /* of each arc */
	uint32_t *level, *tried; /* of each node; `tried` counts from first[] */
	uint32_t *queue;
};

static uint32_t arc_head(const struct flow *f, uint32_t arc)
{
	const struct topo_link *link = &f->t->links[arc / 2];
	return arc % 2 ? link->from : link->to;
}

static bool is_sink(const struct flow *f, uint32_t node)
{
	return node >= f->n_low && node < f->t->n_devices;
}

static void init_flow(struct arena *work, const struct topo *t, struct flow *f)
{
	uint32_t n = t->n_nodes, n_arcs = 2 * t->n_links;
	*f = (struct flow){
		.t = t,
		.n_low = t->n_devices / 2,
		.first = arena_array(work, (size_t)n + 2, uint32_t),
		.arcs = arena_array(work, (size_t)n_arcs + 1, uint32_t),
		.room = arena_array(work, (size_t)n_arcs + 1, uint64_t),
		.level = arena_array(work, n, uint32_t),
		.tried = arena_array(work, n, uint32_t),
		.queue = arena_array(work, n, uint32_t),
	};
	for (uint32_t arc = 0; arc < n_arcs; arc++)
		f->first[arc_head(f, arc ^ 1) + 2]++;
	for (uint32_t i = 0; i < n; i++)
		f->first[i + 2] += f->first[i + 1];
	for (uint32_t arc = 0; arc < n_arcs; arc++) {
		f->arcs[f->first[arc_head(f, arc ^ 1) + 1]++] = arc;
		f->room[arc] = arc % 2 ? 0 : t->links[arc / 2].bytes_per_s;
	}
}

/* Levels by distance from the sources through arcs with room. False when no sink is in reach. */
static bool find_levels(struct flow *f)
{
	uint32_t n_queue = 0;
	bool reached = false;
	for (uint32_t node = 0; node < f->t->n_nodes; node++) {
		f->level[node] = node < f->n_low ? 0 : far;
		f->tried[node] = f->first[node];
		if (node < f->n_low)
			f->queue[n_queue++] = node;
	}
	for (uint32_t i = 0; i < n_queue; i++) {
		uint32_t node = f->queue[i];
		reached = reached || is_sink(f, node);
		for (uint32_t k = f->first[node]; k < f->first[node + 1]; k++) {
			uint32_t arc = f->arcs[k], head = arc_head(f, arc);
			if (f->room[arc] == 0 || f->level[head] != far)
				continue;
			f->level[head] = f->level[node] + 1;
			f->queue[n_queue++] = head;
		}
	}
	return reached;
}

/* Pushes at most `want` from `node` towards the sinks along rising levels. */
static uint64_t push(struct flow *f, uint32_t node, uint64_t want)
{
	if (is_sink(f, node))
		return want;
	uint64_t sent = 0;
	for (; f->tried[node] < f->first[node + 1] && sent < want; f->tried[node]++) {
		uint32_t arc = f->arcs[f->tried[node]], head = arc_head(f, arc);
		if (f->room[arc] == 0 || f->level[head] != f->level[node] + 1)
			continue;
		uint64_t left = want - sent, room = f->room[arc];
		uint64_t got = push(f, head, left < room ? left : room);
		f->room[arc] -= got;
		f->room[arc ^ 1] += got;
		sent += got;
		if (sent == want)
			break; /* the arc may have room left */
	}
	return sent;
}

static uint64_t find_bisection(struct arena *work, const struct topo *t)
{
	struct flow f;
	u128 total = 0;
	init_flow(work, t, &f);
	while (find_levels(&f))
		for (uint32_t node = 0; node < f.n_low; node++)
			total += push(&f, node, UINT64_MAX);
	return total > UINT64_MAX ? UINT64_MAX : (uint64_t)total;
}

bool topo_measure(const struct topo *t, struct topo_figures *out, struct err *err)
{
	*out = (struct topo_figures){0};
	if (t->platform_xml)
		return err_set(err, ERR_INTERNAL,
			"topology '%s' is a SimGrid platform: only SimGrid knows its links",
			t->name);
	struct arena work = {0};
	out->cables = count_cables(&work, t);
	count_hops(&work, t, out);
	out->bisection_bytes_per_s = find_bisection(&work, t);
	arena_free(&work);
	return true;
}
