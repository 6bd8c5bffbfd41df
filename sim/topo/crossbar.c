/* One non-blocking switch: every device has an up link and a down link, so that a message between
 * two devices meets no one but those who share its ends, and its latency is twice that of a
 * link. */
#include "topo/internal.h"

static const char usage[] = "crossbar:N[,bw=25GB/s][,lat=1us]";

/* Up links are even, down links odd. */
static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	links[0] = 2 * src;
	links[1] = 2 * dst + 1;
	return 2;
}

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	uint64_t n = spec->dims[0], counts[] = {n, 1, 2 * n};
	if (!topo_spec_one_dim(spec, usage, err) ||
		!topo_begin(a, spec, "crossbar", counts, out, err))
		return false;
	for (uint32_t i = 0; i < out->n_devices; i++) {
		topo_add_link(a, out, spec, i, out->n_devices);
		topo_add_link(a, out, spec, out->n_devices, i);
	}
	out->route = route;
	out->max_hops = out->n_devices > 1 ? 2 : 0;
	return true;
}

const struct topo_family topo_crossbar = {.name = "crossbar", .usage = usage, .build = build};
