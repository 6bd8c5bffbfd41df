/* A grid of any number of dimensions with open ends. */
#include "topo/internal.h"

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct topo_grid grid = {0};
	return topo_build_grid(a, spec, &grid, out, err);
}

const struct topo_family topo_mesh = {.name = "mesh",
	.usage =
		"mesh:AxB[xC...][,bw=25GB/s[/...]][,lat=1us[/...]], one value or one per dimension",
	.keys = topo_keys_link,
	.build = build};
