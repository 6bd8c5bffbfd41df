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

struct topo {
	const char *name;    /* as the user gave it, or the file's name */
	const char *family;  /* "ring", "torus", "crossbar", "file", "platform" */
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
	/* A SimGrid platform file, taken as it is (NULL otherwise): its text; devices are its
	 * hosts in order of appearance. Links and routes stay SimGrid's business: n_links is what
	 * the file spells out, `links` is NULL. */
	const char *platform_xml;
	/* The platform's file, whose folder its profiles are relative to; NULL otherwise. */
	const char *platform_path;
};

struct topo_spec; /* parsed "FAMILY:AxB|key=value,...": topo/internal.h */

struct topo_family {
	const char *name;
	const char *usage; /* "ring:N[,bw=25GB/s][,lat=1us]" */
	bool (*build)(
		struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err);
};

/* All families, sorted by name, NULL at the end. */
extern const struct topo_family *const topo_families[];

/* "torus:4x4,bw=50GB/s,lat=1us". Unknown family or key: ERR_USAGE with the nearest; value out of
 * range: ERR_INPUT (zero or negative bandwidth, zero devices). Defaults: bw=25GB/s, lat=1us. */
bool topo_parse(struct arena *a, const char *text, struct topo *out, struct err *err);

/* topologies/NAME.json (a family and its parameters, or explicit nodes and links) or a SimGrid
 * platform (XML), told apart by content. The platform is checked with expat first: well-formed,
 * known units, positive bandwidth, no negative latency, unique names, routes that name hosts and
 * links that exist, at least one host. */
bool topo_read(struct arena *a, const char *path, struct topo *out, struct err *err);

/* True for "FAMILY:..." of a known-looking form rather than a name or a path. */
bool topo_is_spec(const char *text);

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

/* Figures of the graph: counted, not assumed. Bisection: bytes/s that the first n/2 devices can
 * send to the others at once, the maximum flow through links and switches; without switches the
 * sum of the links that cross. With more than 2,048 devices the mean is taken over the routes of
 * 2,048 of them, evenly spaced; the diameter is the longest route. */
struct topo_figures {
	uint32_t cables;   /* pairs of links */
	uint32_t diameter; /* hops between devices, links counted */
	uint64_t bisection_bytes_per_s;
	double mean_hops;
};
/* False (ERR_INTERNAL) for a SimGrid platform, whose links only SimGrid knows. */
bool topo_measure(const struct topo *t, struct topo_figures *out, struct err *err);

#endif
