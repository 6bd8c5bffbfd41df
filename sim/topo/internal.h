/* What the families and readers of topo/ share. */
#ifndef TOPO_INTERNAL_H
#define TOPO_INTERNAL_H

#include "base/file.h"
#include "base/names.h"
#include "topo/topo.h"

enum {
	TOPO_MAX_DIMS = 8,
	TOPO_MAX_DEVICES = 1 << 20,
	TOPO_MAX_NODES = 1 << 21, /* switches included */
	TOPO_MAX_LINKS = 1 << 22,
};
/* Longest latency of a link, 1000 s: the sum over any route stays far below TICK_MAX. */
#define TOPO_MAX_LATENCY (1000 * TICKS_PER_S)

/* What one cable carries in each direction. */
struct topo_cable {
	uint64_t bytes_per_s;
	tick latency;
};

/* What a family can be told besides its dimensions. */
enum topo_key_kind {
	TOPO_KEY_BANDWIDTH, /* above 0 B/s */
	TOPO_KEY_LATENCY,   /* at most TOPO_MAX_LATENCY */
	TOPO_KEY_COUNT,     /* a whole number from 1 to TOPO_MAX_DEVICES */
	TOPO_KEY_WORD,      /* one of `words`: its index */
};
enum topo_key_list {
	TOPO_KEY_SINGLE,
	TOPO_KEY_PER_DIM, /* "50GB/s/25GB/s", one for each dimension; also "bw0=", "bw1=" */
	TOPO_KEY_ANY,     /* "20/28", as many as there are */
};
struct topo_key {
	const char *name; /* NULL behind the last */
	enum topo_key_kind kind;
	enum topo_key_list list;
	const char *fallback;     /* NULL: stays unset */
	const char *const *words; /* NULL behind the last */
};
enum { TOPO_MAX_KEYS = 12 };

/* "bw" of 25 GB/s and "lat" of 1 us, for each dimension, and nothing else. */
extern const struct topo_key topo_keys_link[];

struct topo_value {
	uint32_t n; /* 0: not set */
	uint64_t v[TOPO_MAX_DIMS];
};

/* What a family is built from, checked: at least one dimension (unless the family can do without),
 * each at least 1; every key of the family. */
struct topo_spec {
	const char *name; /* becomes topo.name */
	const struct topo_family *family;
	uint32_t n_dims, dims[TOPO_MAX_DIMS];
	struct topo_value values[TOPO_MAX_KEYS]; /* by the family's keys */
	bool given[TOPO_MAX_KEYS];
};

/* The value of a key of the family; the one value of a list stands for all. */
const struct topo_value *topo_spec_get(const struct topo_spec *spec, const char *key);
uint64_t topo_spec_at(const struct topo_spec *spec, const char *key, uint32_t i);
/* "bw" and "lat" of dimension `dim`. */
struct topo_cable topo_spec_cable(const struct topo_spec *spec, uint32_t dim);

/* Takes "bw", "bw1" or another key of the family from its text. The text of the error has no
 * position; ERR_USAGE for an unknown key or one given twice. */
bool topo_spec_set(struct arena *a, struct topo_spec *spec, const char *key, const char *text,
	struct err *err);
/* To be called when all is set: defaults, and lists as long as there are dimensions. */
bool topo_spec_complete(struct arena *a, struct topo_spec *spec, struct err *err);
/* "torus:4x4,bw=25 GB/s,lat=1 us": every parameter. */
const char *topo_spec_text(struct arena *a, const struct topo_spec *spec);

/* The family called `name` or NULL. */
const struct topo_family *topo_family_find(const char *name);

/* " (known families: ...)" or ", did you mean ...", for texts about an unknown family. */
const char *topo_family_hint(struct arena *a, const char *name);

/* Starts `out` with `n_devices` devices "d0", "d1", ... and `n_switches` switches "s0", ...; the
 * summary is the spec with every parameter. Refuses more devices or links than the limits. */
bool topo_begin(struct arena *a, const struct topo_spec *spec, const uint64_t counts[3],
	struct topo *out, struct err *err);

/* Appends the link `from` -> `to`; returns its index. The `parallel`-th of several between the
 * same nodes, from 0, gets a name of its own: "s0-s1#1". */
uint32_t topo_add_link(struct arena *a, struct topo *out, struct topo_cable cable,
	const uint32_t ends[2], uint32_t parallel);

/* Sets topo.formula. */
void topo_set_formula(struct arena *a, struct topo *out, uint64_t cables, uint32_t diameter,
	u128 bisection_bytes_per_s);

/* The families that are one number of devices refuse "AxB". `usage` shows the right form. */
bool topo_spec_one_dim(const struct topo_spec *spec, const char *usage, struct err *err);

/* A grid whose first dimension varies fastest; a dimension that wraps is closed to a ring. Cables
 * that leave a block of `block` devices in their dimension have another latency; 0: none do. */
struct topo_grid {
	bool wrap[TOPO_MAX_DIMS];
	uint32_t block;
	tick outer_latency;
};
bool topo_build_grid(struct arena *a, const struct topo_spec *spec, const struct topo_grid *grid,
	struct topo *out, struct err *err);

/* A tree of switches, level 0 being the devices: a node of level i+1 has down[i] children, a node
 * of level i has up[i] parents and parallel[i] cables to each (PGFT: Zahavi, "D-Mod-K routing
 * providing non-blocking traffic for shift permutations on real life fat trees", 2010). Routes
 * climb to the nearest common switch; the port is the destination's number modulo their count. */
struct topo_tree {
	uint32_t n_levels, down[TOPO_MAX_DIMS], up[TOPO_MAX_DIMS], parallel[TOPO_MAX_DIMS];
	struct topo_cable cables[TOPO_MAX_DIMS];
};
bool topo_build_tree(struct arena *a, const struct topo_spec *spec, const struct topo_tree *tree,
	struct topo *out, struct err *err);

/* Explicit nodes and links of a JSON file. */
struct doc;
bool topo_build_file(struct arena *a, const struct doc *doc, struct topo *out, struct err *err);

/* Nodes of NCCL's topology files joined by a fabric. */
bool topo_build_cluster(struct arena *a, const struct doc *doc, struct topo *out, struct err *err);

/* A topology file of SimAI. */
bool topo_build_simai(
	struct arena *a, const char *path, struct bytes text, struct topo *out, struct err *err);

/* A SimGrid platform: checks it and fills `out`. `path` is for messages. */
bool topo_build_platform(
	struct arena *a, const char *path, struct bytes text, struct topo *out, struct err *err);

/* Next-hop tables by breadth-first search, for topologies without a closed form of their routes:
 * fewest links, then fewest devices on the way that forward, then the destination's number modulo
 * the count of ways. Names the first pair without a way. Returns n_devices x n_nodes links (row:
 * destination) or NULL, and the longest route. */
const uint32_t *topo_search_routes(
	struct arena *a, const struct topo *t, uint32_t *max_hops, struct err *err);
/* Appends the route to `links` from the row of its destination. */
uint32_t topo_follow(
	const struct topo *t, const uint32_t *row, const uint32_t ends[2], uint32_t *links);
/* The same as a topology's routes: sets route, max_hops and family_data. */
bool topo_route_by_search(struct arena *a, struct topo *out, struct err *err);

#endif
