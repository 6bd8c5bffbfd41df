/* What the families and readers of topo/ share. */
#ifndef TOPO_INTERNAL_H
#define TOPO_INTERNAL_H

#include "base/file.h"
#include "base/names.h"
#include "topo/topo.h"

enum {
	TOPO_MAX_DIMS = 8,
	TOPO_MAX_DEVICES = 1 << 20,
	TOPO_MAX_LINKS = 1 << 22,
};
/* Longest latency of a link, 1000 s: the sum over any route stays far below TICK_MAX. */
#define TOPO_MAX_LATENCY (1000 * TICKS_PER_S)

/* What a family is built from, checked: at least one dimension, each at least 1, the product at
 * most TOPO_MAX_DEVICES unless the family gives dims another meaning. */
struct topo_spec {
	const char *name; /* becomes topo.name */
	uint32_t n_dims, dims[TOPO_MAX_DIMS];
	uint64_t bytes_per_s;
	tick latency;
};

/* The family called `name` or NULL. */
const struct topo_family *topo_family_find(const char *name);

/* " (known families: ...)" or ", did you mean ...", for texts about an unknown family. */
const char *topo_family_hint(struct arena *a, const char *name);

/* Starts `out` with `n_devices` devices "d0", "d1", ... and `n_switches` switches "s0", ...; the
 * summary is the spec with every parameter. Refuses more devices or links than the limits. */
bool topo_begin(struct arena *a, const struct topo_spec *spec, const char *family,
	const uint64_t counts[3], struct topo *out, struct err *err);

/* Appends the link `from` -> `to` with the spec's bandwidth and latency; returns its index. */
uint32_t topo_add_link(struct arena *a, struct topo *out, const struct topo_spec *spec,
	uint32_t from, uint32_t to);

/* The families that are one number of devices refuse "AxB". `usage` shows the right form. */
bool topo_spec_one_dim(const struct topo_spec *spec, const char *usage, struct err *err);

/* A grid whose first dimension varies fastest; with `wrap` every dimension is closed to a ring. */
bool topo_build_grid(struct arena *a, const struct topo_spec *spec, const char *family, bool wrap,
	struct topo *out, struct err *err);

/* Explicit nodes and links of a JSON file. */
struct doc;
bool topo_build_file(struct arena *a, const struct doc *doc, struct topo *out, struct err *err);

/* A SimGrid platform: checks it and fills `out`. `path` is for messages. */
bool topo_build_platform(
	struct arena *a, const char *path, struct bytes text, struct topo *out, struct err *err);

/* Next-hop tables by breadth-first search, for topologies without a closed form of their routes.
 * Names the first pair without a way. Sets route, max_hops and family_data. */
bool topo_route_by_search(struct arena *a, struct topo *out, struct err *err);

#endif
