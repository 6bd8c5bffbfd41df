/* A fat tree of k levels: A devices on a leaf switch, B leaves in a pod, C pods. Every switch but
 * the topmost has as many cables upwards as downwards, divided by the oversubscription of its
 * level; each upward cable leads to a switch of its own (a k-ary n-tree; Leiserson, "Fat-trees",
 * 1985; Petrini and Vanneschi, 1997). */
#include "topo/internal.h"

#include <inttypes.h>

static const struct topo_key keys[] = {
	{"bw", TOPO_KEY_BANDWIDTH, TOPO_KEY_PER_DIM, "25GB/s", NULL},
	{"lat", TOPO_KEY_LATENCY, TOPO_KEY_PER_DIM, "1us", NULL},
	{"oversubscription", TOPO_KEY_COUNT, TOPO_KEY_ANY, "1", NULL},
	{NULL, TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
};

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct topo_tree tree = {.n_levels = spec->n_dims};
	for (uint32_t i = 0; i < spec->n_dims; i++) {
		uint32_t over = i > 0 ? (uint32_t)topo_spec_at(spec, "oversubscription", i - 1) : 1;
		tree.down[i] = spec->dims[i];
		tree.parallel[i] = 1;
		tree.up[i] = i > 0 ? spec->dims[i - 1] / over : 1;
		tree.cables[i] = topo_spec_cable(spec, i);
		if (i > 0 && spec->dims[i - 1] % over != 0)
			return err_set(err, ERR_INPUT,
				"topology '%s': oversubscription %" PRIu32
				" does not divide the %" PRIu32
				" cables that switches of level %" PRIu32 " have downwards",
				spec->name, over, spec->dims[i - 1], i);
	}
	return topo_build_tree(a, spec, &tree, out, err);
}

const struct topo_family topo_fattree = {.name = "fattree",
	.usage = "fattree:AxB[xC...][,oversubscription=1[/...]][,bw=25GB/s[/...]][,lat=1us[/...]], "
		 "A devices a leaf, B leaves a pod, ...",
	.keys = keys,
	.build = build};
