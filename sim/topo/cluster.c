/* Nodes joined by a fabric:
 *
 *     {"name": "four", "source": "...",
 *      "nodes": [{"file": "ndv4-topo.xml", "count": 4}],
 *      "fabric": "fattree:8x4,bw=25GB/s,lat=1us"}
 *
 * Each node is an NCCL topology file (relative to this file); its names get a prefix "n0.", "n1.",
 * .... The ports of all NICs, node after node in the order of their files, are the devices of the
 * fabric, a spec or another topology file: port k takes the place of device k, and a link of the
 * fabric that ends at a port is no faster than the NIC. Switches of the fabric get the prefix "f.".
 * Routes are searched over all of it: the nearest NIC, then the shortest way. */
#include <inttypes.h>
#include <string.h>

#include "base/doc.h"
#include "topo/graph.h"

static const char *const cluster_keys[] = {"fabric", "name", "nodes", "source", NULL};
static const char *const node_keys[] = {"count", "file", NULL};

static const char *beside(struct arena *a, const char *path, const char *file)
{
	const char *slash = strrchr(path, '/');
	if (file[0] == '/' || !slash)
		return file;
	return arena_printf(a, "%.*s%s", (int)(slash - path + 1), path, file);
}

static bool add_nodes(struct topo_graph *g, struct doc_at at, uint32_t *n_nodes, struct err *err)
{
	struct doc_at file_at, count_at;
	const char *file;
	uint64_t count = 1;
	struct bytes text;
	if (!doc_object(at, node_keys, err) || !doc_get(&at, "file", &file_at, err) ||
		!doc_string(file_at, &file, err) ||
		(doc_find(&at, "count", &count_at) &&
			!doc_uint(count_at, 1, TOPO_MAX_DEVICES, &count, err)))
		return false;
	const char *path = beside(g->a, at.doc->path, file);
	if (!file_read(g->a, path, &text, err))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (g->n_nodes > TOPO_MAX_NODES)
			return doc_fail(at, err, "more than %d nodes", TOPO_MAX_NODES);
		const char *prefix = arena_printf(g->a, "n%" PRIu32 ".", (*n_nodes)++);
		if (!topo_add_nccl(g, path, text, prefix, err))
			return false;
	}
	return true;
}

static bool read_fabric(
	struct topo_graph *g, struct doc_at at, struct topo *fabric, struct err *err)
{
	const char *text;
	if (!doc_string(at, &text, err))
		return false;
	text = arena_strdup(g->a, text);
	bool ok = topo_is_spec(text)
			  ? topo_parse(g->a, text, fabric, err)
			  : topo_read(g->a, beside(g->a, at.doc->path, text), fabric, err);
	if (!ok) {
		struct err inner = *err;
		return doc_fail(at, err, "%s", inner.text);
	}
	if (fabric->platform_xml)
		return doc_fail(
			at, err, "a SimGrid platform cannot be a fabric: its links are SimGrid's");
	if (fabric->n_devices < g->n_ports)
		return doc_fail(at, err,
			"the fabric has %" PRIu32 " ports, but the nodes have %" PRIu32 " NICs",
			fabric->n_devices, g->n_ports);
	return true;
}

/* The graph's node that stands for node `i` of the fabric. Its unused ports stay as they are. */
static void add_fabric(struct topo_graph *g, const struct topo *fabric)
{
	uint32_t *place = arena_array(g->a, fabric->n_nodes, uint32_t), n_ports = g->n_ports;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		place[i] = i < n_ports ? g->ports[i].node
				       : topo_graph_node(g,
						 arena_printf(g->a, "f.%s", fabric->nodes[i].name),
						 false);
	for (uint32_t i = 0; i < fabric->n_links; i++) {
		const struct topo_link *link = &fabric->links[i];
		struct topo_cable cable = {link->bytes_per_s, link->latency};
		const uint32_t ends[] = {link->from, link->to};
		for (int k = 0; k < 2; k++) {
			uint64_t most = ends[k] < n_ports ? g->ports[ends[k]].bytes_per_s : 0;
			if (most > 0 && most < cable.bytes_per_s)
				cable.bytes_per_s = most;
		}
		topo_graph_link(g, place[link->from], place[link->to], cable);
	}
}

bool topo_build_cluster(struct arena *a, const struct doc *doc, struct topo *out, struct err *err)
{
	struct topo_graph g = {.a = a};
	struct doc_at root = doc_root(doc), nodes, at;
	struct topo fabric;
	uint32_t n_nodes = 0;
	if (!doc_object(root, cluster_keys, err) || !doc_get(&root, "nodes", &nodes, err) ||
		!doc_array(nodes, 1, err))
		return false;
	for (size_t i = 0; i < doc_length(nodes); i++)
		if (!add_nodes(&g, doc_item(&nodes, i), &n_nodes, err))
			return false;
	if (!doc_get(&root, "fabric", &at, err) || !read_fabric(&g, at, &fabric, err))
		return false;
	add_fabric(&g, &fabric);
	return topo_graph_finish(&g, "cluster", out, err) || err_prefix(err, "%s: ", doc->path);
}
