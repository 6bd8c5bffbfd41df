/* Groups of routers, all routers of a group joined to each other, every pair of groups by as many
 * cables as its routers have left (Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable
 * Dragonfly Topology", ISCA 2008). Routes are minimal: to the router with a cable to the other
 * group, over it, to the destination's router; of several cables the one with the fewest other
 * hops, then the destination's number modulo their count. */
#include "topo/internal.h"

#include <assert.h>
#include <inttypes.h>

static const struct topo_key keys[] = {
	{"bw", TOPO_KEY_BANDWIDTH, TOPO_KEY_SINGLE, "25GB/s", NULL},
	{"lat", TOPO_KEY_LATENCY, TOPO_KEY_SINGLE, "1us", NULL},
	{"global_bw", TOPO_KEY_BANDWIDTH, TOPO_KEY_SINGLE, NULL, NULL},
	{"global_lat", TOPO_KEY_LATENCY, TOPO_KEY_SINGLE, NULL, NULL},
	{"global", TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
	{NULL, TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
};

enum { MAX_PER_PAIR = 1024 }; /* a route looks at all of them */

struct dragonfly {
	uint32_t groups, routers, devices;  /* devices of a router */
	uint32_t global;                    /* ports of a router for cables between groups */
	uint32_t per_pair;                  /* cables between two groups */
	uint32_t first_local, first_global; /* links */
};

/* The router of group `g` that holds cable `k` to group `h`. */
static uint32_t gateway(const struct dragonfly *f, uint32_t g, uint32_t h, uint32_t k)
{
	uint32_t peer = (h + f->groups - g - 1) % f->groups;
	return (k * (f->groups - 1) + peer) / f->global;
}

static uint32_t local_link(const struct dragonfly *f, uint32_t g, uint32_t from, uint32_t to)
{
	return f->first_local + (g * f->routers + from) * (f->routers - 1) + to - (to > from);
}

static uint32_t global_link(const struct dragonfly *f, uint32_t g, uint32_t h, uint32_t k)
{
	return f->first_global + (g * (f->groups - 1) + h - (h > g)) * f->per_pair + k;
}

/* Links within the groups on the way from one router to the other over cable `k`. */
static uint32_t local_hops(
	const struct dragonfly *f, const uint32_t group[2], const uint32_t router[2], uint32_t k)
{
	bool first = gateway(f, group[0], group[1], k) != router[0];
	bool last = gateway(f, group[1], group[0], k) != router[1];
	return first + (uint32_t)last;
}

static uint32_t choose_cable(
	const struct dragonfly *f, const uint32_t group[2], const uint32_t router[2], uint32_t dst)
{
	uint32_t best = 3, n_best = 0, k = 0;
	for (; k < f->per_pair; k++) {
		uint32_t hops = local_hops(f, group, router, k);
		n_best = hops < best ? 1 : n_best + (hops == best);
		best = hops < best ? hops : best;
	}
	uint32_t skip = n_best ? dst % n_best : 0;
	for (k = 0; local_hops(f, group, router, k) != best || skip-- > 0;)
		k++;
	return k;
}

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	const struct dragonfly *f = t->family_data;
	uint32_t per_group = f->routers * f->devices;
	uint32_t group[] = {src / per_group, dst / per_group};
	uint32_t router[] = {src / f->devices % f->routers, dst / f->devices % f->routers};
	uint32_t n = 0, at = router[0];
	links[n++] = 2 * src;
	if (group[0] != group[1]) {
		uint32_t k = choose_cable(f, group, router, dst);
		uint32_t out = gateway(f, group[0], group[1], k);
		if (out != at)
			links[n++] = local_link(f, group[0], at, out);
		links[n++] = global_link(f, group[0], group[1], k);
		at = gateway(f, group[1], group[0], k);
	}
	if (at != router[1])
		links[n++] = local_link(f, group[1], at, router[1]);
	links[n++] = 2 * dst + 1;
	return n;
}

static bool read_shape(const struct topo_spec *spec, struct dragonfly *f, struct err *err)
{
	if (spec->n_dims != 3)
		return err_set(err, ERR_INPUT,
			"topology '%s': %" PRIu32
			" dimensions, expected GROUPSxROUTERSxDEVICES as in 'dragonfly:9x4x2'",
			spec->name, spec->n_dims);
	*f = (struct dragonfly){
		.groups = spec->dims[0], .routers = spec->dims[1], .devices = spec->dims[2]};
	uint32_t others = f->groups - 1;
	f->global = (uint32_t)topo_spec_at(spec, "global", 0);
	if (f->global == 0)
		f->global = others ? (uint32_t)div_ceil(others, f->routers) : 1;
	uint64_t ports = (uint64_t)f->global * f->routers;
	if (ports < others)
		return err_set(err, ERR_INPUT,
			"topology '%s': a group has %" PRIu64
			" global ports, expected at least %" PRIu32 ", one for each other group",
			spec->name, ports, others);
	uint64_t per_pair = others ? ports / others : 0;
	if (per_pair > MAX_PER_PAIR || (uint64_t)f->groups * f->routers > TOPO_MAX_NODES ||
		(uint64_t)f->groups * others > TOPO_MAX_LINKS)
		return err_set(err, ERR_INPUT, "topology '%s': too many links", spec->name);
	f->per_pair = (uint32_t)per_pair;
	return true;
}

static void add_devices(
	struct arena *a, const struct topo_spec *spec, struct dragonfly *f, struct topo *out)
{
	for (uint32_t i = 0; i < out->n_devices; i++) {
		uint32_t router = out->n_devices + i / f->devices;
		topo_add_link(a, out, topo_spec_cable(spec, 0), (uint32_t[]){i, router}, 0);
		topo_add_link(a, out, topo_spec_cable(spec, 0), (uint32_t[]){router, i}, 0);
	}
	f->first_local = out->n_links;
	for (uint32_t g = 0; g < f->groups; g++)
		for (uint32_t from = 0; from < f->routers; from++)
			for (uint32_t to = 0; to < f->routers; to++) {
				uint32_t first = out->n_devices + g * f->routers;
				if (from != to)
					topo_add_link(a, out, topo_spec_cable(spec, 0),
						(uint32_t[]){first + from, first + to}, 0);
			}
}

static struct topo_cable global_cable(const struct topo_spec *spec)
{
	struct topo_cable cable = topo_spec_cable(spec, 0);
	if (topo_spec_get(spec, "global_bw")->n > 0)
		cable.bytes_per_s = topo_spec_at(spec, "global_bw", 0);
	if (topo_spec_get(spec, "global_lat")->n > 0)
		cable.latency = topo_spec_at(spec, "global_lat", 0);
	return cable;
}

/* Routers ascend with the cable's number, so that parallel cables follow one another. */
static void add_pair(struct arena *a, const struct topo_spec *spec, const struct dragonfly *f,
	struct topo *out, const uint32_t group[2])
{
	uint32_t last[2] = {0, 0}, parallel = 0;
	for (uint32_t k = 0; k < f->per_pair; k++) {
		uint32_t ends[2];
		for (int i = 0; i < 2; i++)
			ends[i] = out->n_devices + group[i] * f->routers +
				  gateway(f, group[i], group[!i], k);
		bool again = k > 0 && ends[0] == last[0] && ends[1] == last[1];
		parallel = again ? parallel + 1 : 0;
		last[0] = ends[0];
		last[1] = ends[1];
		topo_add_link(a, out, global_cable(spec), ends, parallel);
	}
}

static void add_globals(
	struct arena *a, const struct topo_spec *spec, struct dragonfly *f, struct topo *out)
{
	f->first_global = out->n_links;
	for (uint32_t g = 0; g < f->groups; g++)
		for (uint32_t h = 0; h < f->groups; h++)
			if (g != h)
				add_pair(a, spec, f, out, (uint32_t[]){g, h});
}

/* Are there two groups and a router in each that no cable between them ends at? */
static bool needs_locals(const struct dragonfly *f, uint32_t g, uint32_t h, uint32_t *most)
{
	uint32_t group[] = {g, h};
	for (uint32_t from = 0; from < f->routers && *most < 2; from++)
		for (uint32_t to = 0; to < f->routers; to++) {
			uint32_t router[] = {from, to}, k = choose_cable(f, group, router, 0);
			uint32_t hops = local_hops(f, group, router, k);
			*most = hops > *most ? hops : *most;
		}
	return *most == 2;
}

/* Device links, the global one, and the local ones of the worst pair of routers; by symmetry group
 * 0 stands for all. */
static uint32_t diameter(const struct dragonfly *f)
{
	uint32_t n_devices = f->groups * f->routers * f->devices, most = 0;
	for (uint32_t h = 1; h < f->groups && !needs_locals(f, 0, h, &most);)
		h++;
	if (f->groups > 1)
		return 3 + most;
	return n_devices == 1 ? 0 : f->routers > 1 ? 3 : 2;
}

/* Half of the groups face the other half: the cables between them, if devices can fill them and
 * the cables within a group do not come first, as in the balanced network of the paper. */
static u128 bisection(const struct topo_spec *spec, const struct dragonfly *f)
{
	uint64_t half = f->groups / 2;
	u128 rate = topo_spec_at(spec, "bw", 0);
	if (f->groups == 1)
		return f->routers == 1 ? f->devices / 2 * rate : 0;
	if (f->groups % 2 != 0)
		return 0;
	u128 devices = (u128)half * f->routers * f->devices * rate;
	u128 cables = (u128)half * half * f->per_pair * global_cable(spec).bytes_per_s;
	/* Every router can send out what its own devices and its global ports hold. */
	bool direct = f->per_pair * (f->groups - 1) == f->global * f->routers &&
		      (u128)f->global * global_cable(spec).bytes_per_s <= f->devices * rate;
	if (cables <= devices && direct)
		return cables;
	return 0;
}

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct dragonfly *f = arena_new(a, struct dragonfly);
	if (!read_shape(spec, f, err))
		return false;
	uint64_t n_routers = (uint64_t)f->groups * f->routers, n = n_routers * f->devices;
	uint64_t local = n_routers * (f->routers - 1);
	uint64_t global = (uint64_t)f->groups * (f->groups - 1) * f->per_pair;
	uint64_t counts[] = {n, n_routers, 2 * n + local + global};
	if (!topo_begin(a, spec, counts, out, err))
		return false;
	add_devices(a, spec, f, out);
	add_globals(a, spec, f, out);
	assert(out->n_links == counts[2]);
	out->route = route;
	out->max_hops = diameter(f);
	out->family_data = f;
	topo_set_formula(a, out, counts[2] / 2, out->max_hops, bisection(spec, f));
	return true;
}

const struct topo_family topo_dragonfly = {.name = "dragonfly",
	.usage = "dragonfly:GROUPSxROUTERSxDEVICES[,global=H][,bw=25GB/s][,lat=1us][,global_bw=]"
		 "[,global_lat=], DEVICES of each router, H global ports of each router",
	.keys = keys,
	.build = build};
