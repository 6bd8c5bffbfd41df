/* What-ifs of the command line: links that fail or slow down, stragglers, ranks elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "cli/internal.h"

bool load_faults(struct request *q, struct topo *topo, struct err *err)
{
	struct topo_changes c = {.fail = q->fail_links.items,
		.n_fail = q->fail_links.n,
		.degrade = q->degraded.items,
		.n_degrade = q->degraded.n};
	return topo_change(q->a, &c, topo, err);
}

bool load_changes(struct request *q, struct topo *topo, struct err *err)
{
	struct topo_changes c = {.fail = q->fail_links.items,
		.n_fail = q->fail_links.n,
		.degrade = q->degraded.items,
		.n_degrade = q->degraded.n,
		.bw_scale = q->bw_scale,
		.lat_scale = q->lat_scale};
	return topo_change(q->a, &c, topo, err);
}

static bool find_device(const struct topo *topo, const char *name, uint32_t *device)
{
	char *end;
	for (uint32_t i = 0; i < topo->n_devices; i++)
		if (strcmp(topo->nodes[i].name, name) == 0) {
			*device = i;
			return true;
		}
	unsigned long v = strtoul(name, &end, 10);
	*device = (uint32_t)v;
	return name[0] >= '0' && name[0] <= '9' && *end == '\0' && v < topo->n_devices;
}

static bool slow_down(struct request *q, const struct topo *topo, const char *text, uint32_t *ppm,
	struct err *err)
{
	const char *equals = strrchr(text, '=');
	char *end = NULL;
	double by = equals ? strtod(equals + 1, &end) : 0;
	uint32_t device;
	if (!equals || end == equals + 1 || *end != '\0' || !(by >= 1e-6) || by > 1000)
		return err_set(err, ERR_USAGE,
			"--straggler: '%s', expected DEVICE=X such as d0=1.3, X up to 1000", text);
	const char *name = arena_strndup(q->a, text, (size_t)(equals - text));
	if (!find_device(topo, name, &device))
		return err_set(err, ERR_USAGE,
			"--straggler: %s has no device '%s', expected a name such as %s or a "
			"number "
			"below %u",
			topo->name, name, topo->nodes[0].name, topo->n_devices);
	ppm[device] = (uint32_t)(by * 1e6 + 0.5);
	return true;
}

bool load_placement(struct request *q, const struct topo *topo, uint32_t n_ranks,
	struct placement *out, struct err *err)
{
	*out = (struct placement){0};
	if (q->map) {
		uint32_t *devices, n;
		if (!topo_map_ranks(q->a, topo, q->map, &devices, &n, err))
			return err_prefix(err, "--map: ");
		if (n < n_ranks)
			return err_set(err, ERR_INPUT, "--map %s: %u devices for %u ranks", q->map,
				n, n_ranks);
		out->device_of_rank = devices;
	}
	if (q->stragglers.n == 0)
		return true;
	uint32_t *ppm = arena_array(q->a, topo->n_devices, uint32_t);
	for (uint32_t i = 0; i < topo->n_devices; i++)
		ppm[i] = 1000000;
	for (uint32_t i = 0; i < q->stragglers.n; i++)
		if (!slow_down(q, topo, q->stragglers.items[i], ppm, err))
			return false;
	out->compute_ppm = ppm;
	return true;
}
