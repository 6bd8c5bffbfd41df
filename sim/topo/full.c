/* A cable between any two devices. */
#include "topo/internal.h"

static const char usage[] = "full:N[,bw=25GB/s][,lat=1us]";

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	links[0] = src * (t->n_devices - 1) + dst - (dst > src);
	return 1;
}

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	uint64_t n = spec->dims[0], counts[] = {n, 0, n * (n - 1)};
	struct topo_cable cable = topo_spec_cable(spec, 0);
	if (!topo_spec_one_dim(spec, usage, err) || !topo_begin(a, spec, counts, out, err))
		return false;
	for (uint32_t from = 0; from < out->n_devices; from++)
		for (uint32_t to = 0; to < out->n_devices; to++)
			if (from != to)
				topo_add_link(a, out, cable, (uint32_t[]){from, to}, 0);
	out->route = route;
	out->max_hops = out->n_devices > 1 ? 1 : 0;
	topo_set_formula(a, out, n * (n - 1) / 2, out->max_hops,
		(u128)(n / 2) * (n - n / 2) * cable.bytes_per_s);
	return true;
}

const struct topo_family topo_full = {.name = "full",
	.usage = usage,
	.keys = topo_keys_link,
	.build = build};
