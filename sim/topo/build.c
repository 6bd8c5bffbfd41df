/* What every family does to start a topology and to add links to it. */
#include <assert.h>
#include <inttypes.h>

#include "topo/internal.h"

static const char *spec_text(struct arena *a, const struct topo_spec *spec, const char *family)
{
	struct text t = {0};
	text_add(&t, "%s:", family);
	for (uint32_t i = 0; i < spec->n_dims; i++)
		text_add(&t, "%s%" PRIu32, i ? "x" : "", spec->dims[i]);
	char bw[UNIT_TEXT], lat[UNIT_TEXT];
	text_add(&t, ",bw=%s,lat=%s", unit_print_exact(bw, UNIT_BANDWIDTH, spec->bytes_per_s),
		unit_print_exact(lat, UNIT_TIME, spec->latency));
	const char *copy = arena_strdup(a, t.data);
	text_free(&t);
	return copy;
}

bool topo_begin(struct arena *a, const struct topo_spec *spec, const char *family,
	const uint64_t counts[3], struct topo *out, struct err *err)
{
	uint64_t n_devices = counts[0], n_nodes = counts[0] + counts[1], n_links = counts[2];
	if (n_devices > TOPO_MAX_DEVICES || n_links > TOPO_MAX_LINKS)
		return err_set(err, ERR_INPUT,
			"topology '%s': %" PRIu64 " devices and %" PRIu64
			" links are too many, expected at most %d and %d",
			spec->name, n_devices, n_links, TOPO_MAX_DEVICES, TOPO_MAX_LINKS);
	*out = (struct topo){
		.name = spec->name,
		.family = family,
		.summary = spec_text(a, spec, family),
		.n_devices = (uint32_t)n_devices,
		.n_nodes = (uint32_t)n_nodes,
		.nodes = arena_array(a, n_nodes, struct topo_node),
		.links = arena_array(a, n_links, struct topo_link),
	};
	for (uint32_t i = 0; i < n_nodes; i++)
		out->nodes[i].name =
			i < n_devices ? arena_printf(a, "d%" PRIu32, i)
				      : arena_printf(a, "s%" PRIu32, i - (uint32_t)n_devices);
	return true;
}

uint32_t topo_add_link(
	struct arena *a, struct topo *out, const struct topo_spec *spec, uint32_t from, uint32_t to)
{
	assert(from < out->n_nodes && to < out->n_nodes && from != to);
	out->links[out->n_links] = (struct topo_link){
		.name = arena_printf(a, "%s-%s", out->nodes[from].name, out->nodes[to].name),
		.from = from,
		.to = to,
		.bytes_per_s = spec->bytes_per_s,
		.latency = spec->latency,
	};
	return out->n_links++;
}

bool topo_spec_one_dim(const struct topo_spec *spec, const char *usage, struct err *err)
{
	if (spec->n_dims == 1)
		return true;
	return err_set(err, ERR_INPUT,
		"topology '%s': %" PRIu32 " dimensions, expected one as in '%s'", spec->name,
		spec->n_dims, usage);
}
