/* A grid of any number of dimensions with open ends. */
#include "topo/internal.h"

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	return topo_build_grid(a, spec, "mesh", false, out, err);
}

const struct topo_family topo_mesh = {.name = "mesh",
	.usage = "mesh:AxB[xC...][,bw=25GB/s][,lat=1us]",
	.build = build};
