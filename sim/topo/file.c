/* Topologies with explicit nodes and links:
 *
 *     {"name": "two", "source": "...", "devices": ["a", "b"], "switches": ["sw"],
 *      "links": [{"from": "a", "to": "sw", "bandwidth": "25GB/s", "latency": "1us"},
 *                {"from": "sw", "to": "b", "bandwidth": "25GB/s", "latency": "1us", "count": 2}]}
 *
 * "duplex" is "full" (two links, the default) or "one-way". "count" parallel cables act as one of
 * as many times the bandwidth. */
#include <inttypes.h>
#include <string.h>

#include "base/doc.h"
#include "topo/internal.h"

static const char *const file_keys[] = {"devices", "links", "name", "source", "switches", NULL};
static const char *const link_keys[] = {
	"bandwidth", "count", "duplex", "from", "latency", "to", NULL};

struct reader {
	struct arena *a;
	struct name_index nodes, cables; /* cables by the name of each direction */
	struct topo *out;
	uint32_t cap_links;
};

static bool read_node(struct reader *r, struct doc_at at, struct err *err)
{
	const char *name;
	if (!doc_string(at, &name, err))
		return false;
	if (!name[0])
		return doc_fail(at, err, "empty name, expected a name that is not empty");
	name = arena_strdup(r->a, name);
	if (!name_index_add(r->a, &r->nodes, name))
		return doc_fail(
			at, err, "there are two nodes called '%s', expected unique names", name);
	r->out->nodes[r->out->n_nodes++].name = name;
	return true;
}

static bool read_nodes(struct reader *r, const struct doc_at *root, struct err *err)
{
	struct doc_at devices, switches;
	if (!doc_get(root, "devices", &devices, err) || !doc_array(devices, 1, err))
		return false;
	bool has_switches = doc_find(root, "switches", &switches);
	if (has_switches && !doc_array(switches, 0, err))
		return false;
	size_t n_devices = doc_length(devices);
	size_t n_switches = has_switches ? doc_length(switches) : 0;
	if (n_devices + n_switches > TOPO_MAX_DEVICES)
		return doc_fail(*root, err, "more than %d nodes", TOPO_MAX_DEVICES);
	r->out->nodes = arena_array(r->a, n_devices + n_switches, struct topo_node);
	r->out->n_devices = (uint32_t)n_devices;
	for (size_t i = 0; i < n_devices; i++)
		if (!read_node(r, doc_item(&devices, i), err))
			return false;
	for (size_t i = 0; i < n_switches; i++)
		if (!read_node(r, doc_item(&switches, i), err))
			return false;
	return true;
}

static bool read_end(const struct reader *r, const struct doc_at *link, const char *key,
	uint32_t *node, struct err *err)
{
	struct doc_at at;
	const char *name;
	if (!doc_get(link, key, &at, err) || !doc_string(at, &name, err))
		return false;
	*node = name_index_find(&r->nodes, name, strlen(name));
	if (*node == NAME_ABSENT)
		return doc_fail(
			at, err, "'%s' is neither a device nor a switch of this file", name);
	return true;
}

static bool read_capacity(const struct doc_at *link, struct topo_link *out, struct err *err)
{
	struct doc_at bandwidth, latency, count;
	if (!doc_get(link, "bandwidth", &bandwidth, err) ||
		!doc_quantity(bandwidth, UNIT_BANDWIDTH, 1, &out->bytes_per_s, err))
		return false;
	if (!doc_get(link, "latency", &latency, err) ||
		!doc_quantity(latency, UNIT_TIME, 0, &out->latency, err))
		return false;
	if (out->latency > TOPO_MAX_LATENCY)
		return doc_fail(latency, err, "the latency is too long, expected at most 1000 s");
	uint64_t n = 1;
	if (doc_find(link, "count", &count) && !doc_uint(count, 1, 1024, &n, err))
		return false;
	if (out->bytes_per_s > UINT64_MAX / n)
		return doc_fail(
			bandwidth, err, "the bandwidth of all %" PRIu64 " cables does not fit", n);
	out->bytes_per_s *= n;
	return true;
}

static bool read_duplex(const struct doc_at *link, bool *full, struct err *err)
{
	struct doc_at at;
	const char *text;
	*full = true;
	if (!doc_find(link, "duplex", &at))
		return true;
	if (!doc_string(at, &text, err))
		return false;
	*full = strcmp(text, "full") == 0;
	if (!*full && strcmp(text, "one-way") != 0)
		return doc_fail(at, err, "'%s', expected 'full' or 'one-way'", text);
	return true;
}

static bool add_link(struct reader *r, struct topo_link link, struct doc_at at, struct err *err)
{
	struct topo *t = r->out;
	link.name = arena_printf(r->a, "%s-%s", t->nodes[link.from].name, t->nodes[link.to].name);
	if (!name_index_add(r->a, &r->cables, link.name))
		return doc_fail(at, err,
			"there are two links called '%s', expected one with \"count\"", link.name);
	arena_push(r->a, t->links, t->n_links, r->cap_links) = link;
	return true;
}

static bool read_link(struct reader *r, struct doc_at at, struct err *err)
{
	struct topo_link link = {0};
	bool full;
	if (!doc_object(at, link_keys, err) || !read_end(r, &at, "from", &link.from, err) ||
		!read_end(r, &at, "to", &link.to, err) || !read_capacity(&at, &link, err) ||
		!read_duplex(&at, &full, err))
		return false;
	if (link.from == link.to)
		return doc_fail(at, err, "the link leads from '%s' to itself",
			r->out->nodes[link.from].name);
	struct topo_link back = link;
	back.from = link.to;
	back.to = link.from;
	return add_link(r, link, at, err) && (!full || add_link(r, back, at, err));
}

bool topo_build_file(struct arena *a, const struct doc *doc, struct topo *out, struct err *err)
{
	struct reader r = {.a = a, .out = out};
	struct doc_at root = doc_root(doc), links;
	out->family = "file";
	if (!doc_object(root, file_keys, err) || !read_nodes(&r, &root, err))
		return false;
	if (!doc_get(&root, "links", &links, err) || !doc_array(links, 0, err))
		return false;
	for (size_t i = 0; i < doc_length(links); i++)
		if (!read_link(&r, doc_item(&links, i), err))
			return false;
	out->summary =
		arena_printf(a, "%s: %" PRIu32 " devices, %" PRIu32 " switches, %" PRIu32 " links",
			out->name, out->n_devices, out->n_nodes - out->n_devices, out->n_links);
	return topo_route_by_search(a, out, err) || err_prefix(err, "%s: ", doc->path);
}
