/* A torus of one dimension. */
#include "topo/internal.h"

static const char usage[] = "ring:N[,bw=25GB/s][,lat=1us]";

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct topo_grid grid = {.wrap = {true}};
	return topo_spec_one_dim(spec, usage, err) && topo_build_grid(a, spec, &grid, out, err);
}

const struct topo_family topo_ring = {.name = "ring",
	.usage = usage,
	.keys = topo_keys_link,
	.build = build};
