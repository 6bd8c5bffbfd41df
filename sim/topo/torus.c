/* A grid of any number of dimensions, each closed to a ring. */
#include "topo/internal.h"

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct topo_grid grid = {0};
	for (uint32_t i = 0; i < spec->n_dims; i++)
		grid.wrap[i] = true;
	return topo_build_grid(a, spec, &grid, out, err);
}

const struct topo_family topo_torus = {.name = "torus",
	.usage = "torus:AxB[xC...][,bw=25GB/s[/...]][,lat=1us[/...]], one value or one per "
		 "dimension",
	.keys = topo_keys_link,
	.build = build};
