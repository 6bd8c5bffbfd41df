/* A slice of a TPU pod: a grid of chips in blocks of cube x cube x ..., within which cables are
 * electrical; what leaves a block goes through optical switches, which also close a dimension to a
 * ring when whole blocks fill it (Jouppi et al., "TPU v4: An Optically Reconfigurable
 * Supercomputer", ISCA 2023, section 2). A smaller slice is a mesh in that dimension. Pods of two
 * dimensions (TPU v2, v3) have no blocks: with cube=1, their default, every dimension wraps and
 * every cable has the latency `lat`. */
#include "topo/internal.h"

#include <inttypes.h>

static const struct topo_key keys[] = {
	{"bw", TOPO_KEY_BANDWIDTH, TOPO_KEY_PER_DIM, "50GB/s", NULL},
	{"lat", TOPO_KEY_LATENCY, TOPO_KEY_PER_DIM, "1us", NULL},
	{"cube", TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
	{"optical_lat", TOPO_KEY_LATENCY, TOPO_KEY_SINGLE, NULL, NULL},
	{NULL, TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
};

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct topo_grid grid = {0};
	uint64_t cube = topo_spec_at(spec, "cube", 0);
	if (spec->n_dims != 2 && spec->n_dims != 3)
		return err_set(err, ERR_INPUT,
			"topology '%s': %" PRIu32 " dimensions, expected 2 or 3", spec->name,
			spec->n_dims);
	if (cube == 0)
		cube = spec->n_dims == 3 ? 4 : 1;
	for (uint32_t i = 0; i < spec->n_dims; i++)
		grid.wrap[i] = spec->dims[i] % cube == 0;
	if (topo_spec_get(spec, "optical_lat")->n > 0) {
		grid.block = (uint32_t)cube;
		grid.outer_latency = topo_spec_at(spec, "optical_lat", 0);
	}
	return topo_build_grid(a, spec, &grid, out, err);
}

const struct topo_family topo_tpu_pod = {.name = "tpu_pod",
	.usage = "tpu_pod:AxB[xC][,bw=50GB/s][,lat=1us][,cube=4][,optical_lat=1us], dimensions of "
		 "whole cubes wrap",
	.keys = keys,
	.build = build};
