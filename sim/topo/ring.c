/* N devices in a circle. */
#include "topo/internal.h"

static const char usage[] = "ring:N[,bw=25GB/s][,lat=1us]";

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	return topo_spec_one_dim(spec, usage, err) &&
	       topo_build_grid(a, spec, "ring", true, out, err);
}

const struct topo_family topo_ring = {.name = "ring", .usage = usage, .build = build};
