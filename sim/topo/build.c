/* What every family does to start a topology and to add links to it. */
#include <assert.h>
#include <inttypes.h>

#include "topo/internal.h"

bool topo_begin(struct arena *a, const struct topo_spec *spec, const uint64_t counts[3],
	struct topo *out, struct err *err)
{
	uint64_t n_devices = counts[0], n_nodes = counts[0] + counts[1], n_links = counts[2];
	if (n_nodes > TOPO_MAX_NODES || n_devices > TOPO_MAX_DEVICES || n_links > TOPO_MAX_LINKS)
		return err_set(err, ERR_INPUT,
			"topology '%s': %" PRIu64 " devices and %" PRIu64
			" links are too many, expected at most %d and %d",
			spec->name, n_devices, n_links, TOPO_MAX_DEVICES, TOPO_MAX_LINKS);
	*out = (struct topo){
		.name = spec->name,
		.family = spec->family->name,
		.summary = topo_spec_text(a, spec),
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

uint32_t topo_add_link(struct arena *a, struct topo *out, struct topo_cable cable,
	const uint32_t ends[2], uint32_t parallel)
{
	uint32_t from = ends[0], to = ends[1];
	assert(from < out->n_nodes && to < out->n_nodes && from != to);
	const char *name = arena_printf(a, "%s-%s", out->nodes[from].name, out->nodes[to].name);
	if (parallel > 0)
		name = arena_printf(a, "%s#%" PRIu32, name, parallel);
	out->links[out->n_links] = (struct topo_link){
		.name = name,
		.from = from,
		.to = to,
		.bytes_per_s = cable.bytes_per_s,
		.latency = cable.latency,
	};
	return out->n_links++;
}

void topo_set_formula(struct arena *a, struct topo *out, uint64_t cables, uint32_t diameter,
	u128 bisection_bytes_per_s)
{
	struct topo_figures *f = arena_new(a, struct topo_figures);
	*f = (struct topo_figures){
		.cables = (uint32_t)cables,
		.diameter = diameter,
		.bisection_bytes_per_s = bisection_bytes_per_s > UINT64_MAX
						 ? UINT64_MAX
						 : (uint64_t)bisection_bytes_per_s,
	};
	out->formula = f;
}

bool topo_spec_one_dim(const struct topo_spec *spec, const char *usage, struct err *err)
{
	if (spec->n_dims == 1)
		return true;
	return err_set(err, ERR_INPUT,
		"topology '%s': %" PRIu32 " dimensions, expected one as in '%s'", spec->name,
		spec->n_dims, usage);
}
