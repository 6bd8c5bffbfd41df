/* A grid of any number of dimensions, each closed to a ring. A dimension of 2 is one cable. */
#include "topo/internal.h"

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	return topo_build_grid(a, spec, "torus", true, out, err);
}

const struct topo_family topo_torus = {.name = "torus",
	.usage = "torus:AxB[xC...][,bw=25GB/s][,lat=1us]",
	.build = build};
