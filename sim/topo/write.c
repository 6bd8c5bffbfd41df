/* Topologies as SimGrid platforms. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/internal.h"

/* Above so many links on routes a platform is written as a graph instead of all its routes. */
enum { MAX_REFERENCES = 2000000 };

static void add_escaped(struct text *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			text_add(out, "&amp;");
			break;
		case '<':
			text_add(out, "&lt;");
			break;
		case '"':
			text_add(out, "&quot;");
			break;
		default:
			text_add_bytes(out, s, 1);
		}
	}
}

static void add_named(struct text *out, const char *before, const char *name, const char *after)
{
	text_add(out, "%s\"", before);
	add_escaped(out, name);
	text_add(out, "\"%s", after);
}

/* Seconds in decimal digits: SimGrid reads the nearest double, which ticks times 1e-12 might not
 * be. */
static void add_link(const struct topo_link *link, struct text *out)
{
	add_named(out, "<link id=", link->name, " ");
	text_add(out, "bandwidth=\"%" PRIu64 "Bps\" latency=\"%" PRIu64 ".%012" PRIu64 "s\"/>\n",
		link->bytes_per_s, link->latency / TICKS_PER_S, link->latency % TICKS_PER_S);
}

static void add_node(const struct topo *t, uint32_t node, struct text *out)
{
	if (node < t->n_devices)
		add_named(out, "<host id=", t->nodes[node].name, " speed=\"1Gf\"/>\n");
	else
		add_named(out, "<router id=", t->nodes[node].name, "/>\n");
}

static void add_route(const struct topo *t, const uint32_t ends[2], const uint32_t *links,
	uint32_t n, struct text *out)
{
	add_named(out, "<route src=", t->nodes[ends[0]].name, "");
	add_named(out, " dst=", t->nodes[ends[1]].name, " symmetrical=\"NO\">");
	for (uint32_t i = 0; i < n; i++)
		add_named(out, "<link_ctn id=", t->links[links[i]].name, "/>");
	text_add(out, "</route>\n");
}

static void begin(const char *routing, struct text *out)
{
	text_add(out,
		"<?xml version='1.0'?>\n"
		"<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
		"<platform version=\"4.1\">\n<zone id=\"wham\" routing=\"%s\">\n",
		routing);
}

/* What the routes of some pairs need. */
struct used {
	bool *devices, *links;
	uint32_t *route;
};

static void mark_used(
	const struct topo *t, const struct topo_pair *pairs, uint32_t n_pairs, struct used *used)
{
	if (n_pairs == 0)
		used->devices[0] = true;
	for (uint32_t i = 0; i < n_pairs; i++) {
		used->devices[pairs[i].src] = used->devices[pairs[i].dst] = true;
		uint32_t n = pairs[i].src == pairs[i].dst
				     ? 0
				     : t->route(t, pairs[i].src, pairs[i].dst, used->route);
		for (uint32_t k = 0; k < n; k++)
			used->links[used->route[k]] = true;
	}
}

static int compare_pairs(const void *left, const void *right)
{
	const struct topo_pair *a = left, *b = right;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* SimGrid refuses the second route of a pair. */
static void add_pairs(const struct topo *t, struct topo_pair *pairs, uint32_t n_pairs,
	struct used *used, struct text *out)
{
	if (n_pairs > 0)
		qsort(pairs, n_pairs, sizeof(*pairs), compare_pairs);
	for (uint32_t i = 0; i < n_pairs; i++) {
		uint32_t ends[] = {pairs[i].src, pairs[i].dst};
		bool again = i > 0 && compare_pairs(&pairs[i - 1], &pairs[i]) == 0;
		if (ends[0] != ends[1] && !again)
			add_route(t, ends, used->route, t->route(t, ends[0], ends[1], used->route),
				out);
	}
}

static void write_pairs(
	const struct topo *t, const struct topo_pair *pairs, uint32_t n_pairs, struct text *out)
{
	struct arena work = {0};
	struct used used = {
		.devices = arena_array(&work, t->n_devices, bool),
		.links = arena_array(&work, (size_t)t->n_links + 1, bool),
		.route = arena_array(&work, (size_t)t->max_hops + 1, uint32_t),
	};
	mark_used(t, pairs, n_pairs, &used);
	begin("Full", out);
	for (uint32_t i = 0; i < t->n_devices; i++)
		if (used.devices[i])
			add_node(t, i, out);
	for (uint32_t i = 0; i < t->n_links; i++)
		if (used.links[i])
			add_link(&t->links[i], out);
	struct topo_pair *sorted = arena_array(&work, (size_t)n_pairs + 1, struct topo_pair);
	if (n_pairs > 0)
		memcpy(sorted, pairs, n_pairs * sizeof(*pairs));
	add_pairs(t, sorted, n_pairs, &used, out);
	text_add(out, "</zone>\n</platform>\n");
	arena_free(&work);
}

static void write_routes(const struct topo *t, struct text *out)
{
	struct arena work = {0};
	uint32_t *route = arena_array(&work, (size_t)t->max_hops + 1, uint32_t);
	begin("Full", out);
	for (uint32_t i = 0; i < t->n_devices; i++)
		add_node(t, i, out);
	for (uint32_t i = 0; i < t->n_links; i++)
		add_link(&t->links[i], out);
	for (uint32_t src = 0; src < t->n_devices; src++)
		for (uint32_t dst = 0; dst < t->n_devices; dst++)
			if (src != dst)
				add_route(t, (uint32_t[]){src, dst}, route,
					t->route(t, src, dst, route), out);
	text_add(out, "</zone>\n</platform>\n");
	arena_free(&work);
}

static void write_graph(const struct topo *t, struct text *out)
{
	begin("DijkstraCache", out);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		add_node(t, i, out);
	for (uint32_t i = 0; i < t->n_links; i++)
		add_link(&t->links[i], out);
	for (uint32_t i = 0; i < t->n_links; i++)
		add_route(t, (uint32_t[]){t->links[i].from, t->links[i].to}, &i, 1, out);
	text_add(out, "</zone>\n</platform>\n");
}

void topo_write_platform(
	const struct topo *t, const struct topo_pair *pairs, uint32_t n_pairs, struct text *out)
{
	uint64_t all = (uint64_t)t->n_devices * t->n_devices * t->max_hops;
	if (t->platform_xml)
		text_add(out, "%s", t->platform_xml);
	else if (pairs)
		write_pairs(t, pairs, n_pairs, out);
	else if (all <= MAX_REFERENCES)
		write_routes(t, out);
	else
		write_graph(t, out);
}
