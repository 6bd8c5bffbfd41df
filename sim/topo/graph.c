#include "topo/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t topo_graph_node(struct topo_graph *g, const char *name, bool is_device)
{
	const char *free_name = name;
	for (uint32_t i = 2; !name_index_add(g->a, &g->names, free_name); i++)
		free_name = arena_printf(g->a, "%s~%" PRIu32, name, i);
	arena_push(g->a, g->is_device, g->n_nodes, g->cap_nodes) = is_device;
	return g->n_nodes - 1;
}

void topo_graph_link(struct topo_graph *g, uint32_t from, uint32_t to, struct topo_cable cable)
{
	arena_push(g->a, g->links, g->n_links, g->cap_links) = (struct topo_link){
		.from = from,
		.to = to,
		.bytes_per_s = cable.bytes_per_s,
		.latency = cable.latency,
	};
}

void topo_graph_cable(struct topo_graph *g, uint32_t a, uint32_t b, struct topo_cable cable)
{
	topo_graph_link(g, a, b, cable);
	topo_graph_link(g, b, a, cable);
}

void topo_graph_warn(struct topo_graph *g, const char *text)
{
	arena_push(g->a, g->warnings, g->n_warnings, g->cap_warnings) = text;
}

static int by_ends(const void *left, const void *right)
{
	const struct topo_link *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static int by_ends_and_latency(const void *left, const void *right)
{
	const struct topo_link *a = left, *b = right;
	int order = by_ends(a, b);
	return order ? order : (a->latency > b->latency) - (a->latency < b->latency);
}

/* Nodes in their final order, and where each went. */
static uint32_t *place_nodes(struct topo_graph *g, struct topo *out)
{
	uint32_t *place = arena_array(g->a, (size_t)g->n_nodes + 1, uint32_t), n = 0;
	out->nodes = arena_array(g->a, (size_t)g->n_nodes + 1, struct topo_node);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < g->n_nodes; i++) {
			if (g->is_device[i] != (pass == 0))
				continue;
			out->nodes[n].name = g->names.items[i];
			place[i] = n++;
		}
		out->n_devices = pass == 0 ? n : out->n_devices;
	}
	out->n_nodes = n;
	return place;
}

static void place_links(struct topo_graph *g, const uint32_t *place, struct topo *out)
{
	out->links = g->links;
	for (uint32_t i = 0; i < g->n_links; i++) {
		g->links[i].from = place[g->links[i].from];
		g->links[i].to = place[g->links[i].to];
	}
	if (g->n_links > 0)
		qsort(g->links, g->n_links, sizeof(*g->links), by_ends_and_latency);
	for (uint32_t i = 0; i < g->n_links; i++) {
		struct topo_link *last = out->n_links ? &out->links[out->n_links - 1] : NULL;
		const struct topo_link *link = &g->links[i];
		if (last && by_ends(last, link) == 0) {
			uint64_t room = UINT64_MAX - last->bytes_per_s;
			last->bytes_per_s += link->bytes_per_s < room ? link->bytes_per_s : room;
			continue;
		}
		out->links[out->n_links] = *link;
		out->links[out->n_links++].name = arena_printf(
			g->a, "%s-%s", out->nodes[link->from].name, out->nodes[link->to].name);
	}
}

bool topo_graph_finish(struct topo_graph *g, const char *family, struct topo *out, struct err *err)
{
	if (g->n_nodes > TOPO_MAX_NODES || g->n_links > TOPO_MAX_LINKS)
		return err_set(err, ERR_INPUT, "more than %d nodes or %d links", TOPO_MAX_NODES,
			TOPO_MAX_LINKS);
	const uint32_t *place = place_nodes(g, out);
	if (out->n_devices == 0)
		return err_set(err, ERR_INPUT, "no devices, expected at least one GPU");
	place_links(g, place, out);
	out->family = family;
	out->summary = arena_printf(g->a,
		"%s: %" PRIu32 " devices, %" PRIu32 " switches, %" PRIu32 " links", out->name,
		out->n_devices, out->n_nodes - out->n_devices, out->n_links);
	out->warnings = g->warnings;
	out->n_warnings = g->n_warnings;
	return topo_route_by_search(g->a, out, err);
}
