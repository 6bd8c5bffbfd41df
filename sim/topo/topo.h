/* What connects: devices, switches, links and routes; families of topologies, files, SimGrid
 * platforms. */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"

/* Nodes 0 .. n_devices-1 are devices, the rest are switches. */
struct topo_node {
	const char *name; /* unique */
};

/* One direction of a cable: full duplex means two links. Bandwidth is per direction. */
struct topo_link {
	const char *name; /* unique: "d0-d1", "d1-d0" */
	uint32_t from, to;
	uint64_t bytes_per_s; /* at least 1 */
	tick latency;
};

/* Figures of a graph. Bisection: bytes/s that the first n/2 devices can send to the others at
 * once. */
struct topo_figures {
	uint32_t cables;   /* pairs of links */
	uint32_t diameter; /* hops between devices, links counted */
	uint64_t bisection_bytes_per_s;
	double mean_hops;
};

struct topo {
	const char *name;    /* as the user gave it, or the file's name */
	const char *family;  /* "ring", ...; "file", "platform", "nccl", "simai", "cluster" */
	const char *summary; /* one line with all parameters, defaults included */
	uint32_t n_devices, n_nodes, n_links;
	struct topo_node *nodes;
	struct topo_link *links;
	/* Links from `src` to `dst` (devices, different), in order, at most max_hops of them; the
	 * shortest way, ties always broken alike. Returns their number. Present unless the
	 * topology is a SimGrid platform. */
	uint32_t (*route)(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links);
	uint32_t max_hops;        /* longest route in links */
	uint32_t n_dims, dims[8]; /* ring, torus; 0 otherwise */
	const void *family_data;
	/* Closed form of the family; bisection 0 where the middle cuts through a row or a subtree.
	 * NULL for files, and once a single link was changed. */
	const struct topo_figures *formula;
	/* Links were failed or degraded one by one: what the family promises of symmetry is gone. */
	bool altered;
	const char *const *warnings; /* what is odd in the file, for people */
	uint32_t n_warnings;
	/* A SimGrid platform file, taken as it is (NULL otherwise): its text; devices are its
	 * hosts in order of appearance. Links and routes stay SimGrid's business: n_links is what
	 * the file spells out, `links` is NULL. */
	const char *platform_xml;
	/* The platform's file, whose folder its profiles are relative to; NULL otherwise. */
	const char *platform_path;
};

struct topo_spec; /* parsed "FAMILY:AxB|key=value,...": topo/internal.h */

struct topo_key;

struct topo_family {
	const char *name;
	const char *usage; /* "ring:N[,bw=25GB/s][,lat=1us]" */
	const struct topo_key *keys;
	bool dims_by_keys; /* "hierarchical:nodes=4,devices=8" */
	bool (*build)(
		struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err);
};

/* All families, sorted by name, NULL at the end. */
extern const struct topo_family *const topo_families[];

/* "torus:4x4,bw=50GB/s,lat=1us". Unknown family or key: ERR_USAGE with the nearest; value out of
 * range: ERR_INPUT (zero or negative bandwidth, zero devices). Defaults: bw=25GB/s, lat=1us. One
 * value for each dimension: "bw=50GB/s/25GB/s" or "bw0=50GB/s,bw1=25GB/s". */
bool topo_parse(struct arena *a, const char *text, struct topo *out, struct err *err);

/* A topology file, told apart by content:
 * - JSON: a family and its parameters, explicit nodes and links, or nodes joined by a fabric
 *   (topo/file.c, topo/cluster.c say how);
 * - a SimGrid platform, checked with expat first: well-formed, known units, positive bandwidth, no
 *   negative latency, unique names, routes that name hosts and links that exist, a host at least;
 * - NCCL's topology XML (topo/nccl.c);
 * - SimAI's topology text (topo/simai.c). */
bool topo_read(struct arena *a, const char *path, struct topo *out, struct err *err);

/* True for "FAMILY:..." of a known-looking form rather than a name or a path. */
bool topo_is_spec(const char *text);

/* What if. A link is "A-B" (names of its nodes, or numbers of devices): both directions of all
 * cables between them, or of one, "A-B#1"; a degraded one is "A-B=0.5". */
struct topo_changes {
	const char *const *fail;
	const char *const *degrade;
	uint32_t n_fail, n_degrade;
	double bw_scale, lat_scale; /* of all links; 0: as they are */
};

/* Changes the topology, and its summary. Routes that lost a link are searched anew, the others
 * stay. ERR_ANSWER names two devices that have no way any more; ERR_USAGE an unknown link, or a
 * SimGrid platform, which is taken as it is. */
bool topo_change(
	struct arena *a, const struct topo_changes *changes, struct topo *t, struct err *err);

/* The device of each of `*n` ranks: "linear", "random:SEED" (a permutation of all devices), or a
 * file of device names or numbers, one rank after the other, '#' up to the end of the line being a
 * comment. A device can carry one rank. */
bool topo_map_ranks(struct arena *a, const struct topo *t, const char *how, uint32_t **devices,
	uint32_t *n, struct err *err);

/* SimGrid platform XML. With `pairs` (n_pairs of (src, dst)) only the hosts and links on their
 * routes, and those routes; with pairs == NULL everything, for a person to keep: all routes as
 * long as they have at most 2 million links together, otherwise one route per link and SimGrid's
 * own search for the shortest way, which may break ties otherwise than ours. Host names are the
 * device names. A topology that is a platform is written as it is, but for its <config>: models and
 * settings are ours. */
struct topo_pair {
	uint32_t src, dst;
};
void topo_write_platform(
	const struct topo *t, const struct topo_pair *pairs, uint32_t n_pairs, struct text *out);

/* Counted on the graph, not assumed: the bisection is the maximum flow through links and switches;
 * without switches the sum of the links that cross. With more than 2,048 devices the mean is taken
 * over the routes of 2,048 of them, evenly spaced; the diameter is the longest route. */
/* False (ERR_INTERNAL) for a SimGrid platform, whose links only SimGrid knows. */
bool topo_measure(const struct topo *t, struct topo_figures *out, struct err *err);

#endif
