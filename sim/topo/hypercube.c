/* 2^K devices, a cable wherever two numbers differ in one bit; routes correct the lowest bit
 * first. */
#include "topo/internal.h"

#include <inttypes.h>

static const char usage[] = "hypercube:K[,bw=25GB/s][,lat=1us], 2^K devices";

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	uint32_t n = 0;
	for (uint32_t bit = 0; bit < t->max_hops; bit++) {
		uint32_t mask = UINT32_C(1) << bit;
		if ((src ^ dst) & mask) {
			links[n++] = src * t->max_hops + bit;
			src ^= mask;
		}
	}
	return n;
}

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	uint32_t k = spec->dims[0];
	struct topo_cable cable = topo_spec_cable(spec, 0);
	if (!topo_spec_one_dim(spec, usage, err))
		return false;
	if (k > 20)
		return err_set(err, ERR_INPUT,
			"topology '%s': 2^%" PRIu32 " devices are too many, expected at most 2^20",
			spec->name, k);
	uint64_t n = UINT64_C(1) << k, counts[] = {n, 0, n * k};
	if (!topo_begin(a, spec, counts, out, err))
		return false;
	for (uint32_t from = 0; from < out->n_devices; from++)
		for (uint32_t bit = 0; bit < k; bit++)
			topo_add_link(
				a, out, cable, (uint32_t[]){from, from ^ (UINT32_C(1) << bit)}, 0);
	out->route = route;
	out->max_hops = k;
	topo_set_formula(a, out, n / 2 * k, k, (u128)(n / 2) * cable.bytes_per_s);
	return true;
}

const struct topo_family topo_hypercube = {.name = "hypercube",
	.usage = usage,
	.keys = topo_keys_link,
	.build = build};
