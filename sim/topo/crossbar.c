/* One non-blocking switch: every device has an up link and a down link, so that a message between
 * two devices meets no one but those who share its ends, and its latency is twice that of a
 * link. */
#include "topo/internal.h"

static const char usage[] = "crossbar:N[,bw=25GB/s][,lat=1us]";

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct topo_tree tree = {.n_levels = 1,
		.down = {spec->dims[0]},
		.up = {1},
		.parallel = {1},
		.cables = {topo_spec_cable(spec, 0)}};
	return topo_spec_one_dim(spec, usage, err) && topo_build_tree(a, spec, &tree, out, err);
}

const struct topo_family topo_crossbar = {.name = "crossbar",
	.usage = usage,
	.keys = topo_keys_link,
	.build = build};
