/* Components of messages that share links: how they are named and simulated. */
#ifndef NET_FLOWS_INTERNAL_H
#define NET_FLOWS_INTERNAL_H

#include "base/names.h"
#include "net/flows.h"

struct component_link {
	uint64_t bytes_per_s;
	tick latency;
};

struct component_flow {
	uint64_t bytes, divisor;      /* 0 / 0 where all messages of the component carry the same */
	uint32_t first_link, n_links; /* in component.routes */
};

/* In an order of messages and links that does not depend on their names, nor on what each message
 * carries where all carry the same. */
struct component {
	struct text key;         /* equal for equal components, up to what all messages carry */
	uint32_t shape;          /* the number of the key */
	uint64_t bytes, divisor; /* that all messages carry; 0 / 0 where they differ */
	const struct component_flow *flows;
	uint32_t n_flows;
	const uint32_t *routes; /* numbers of links, flow by flow */
	uint32_t n_routes;
	const struct component_link *links;
	uint32_t n_links;
	struct net_flow_times times; /* once simulated */
};

/* Messages of one component within a set: message m uses links[start[m] .. start[m + 1] - 1]. */
struct sketch {
	const struct topo *topo;
	const struct net_flow *list;
	const uint32_t *start, *links;
	uint32_t *messages, n_messages; /* ascending */
};

/* How much a set puts on a link. */
struct flow_load {
	uint32_t link;
	double amount;
};

/* A set while it is taken apart. Message i uses links[start[i] .. start[i + 1] - 1]. */
struct taking {
	struct arena a;
	const struct topo *topo;
	const struct net_flow *list;
	uint32_t n, *start, *links, cap_links;
	uint32_t *parent; /* union-find over messages: the first of a component is its root */
	uint32_t *next;   /* message of the same component, ascending; UINT32_MAX at the end */
	struct flow_load *loads; /* by link as they are met first; amount: messages */
	uint32_t n_loads, cap_loads;
};

/* `owner` has one zero for each link of the topology, and has again afterwards. */
void taking_begin(struct taking *t, uint32_t *owner);
struct sketch taking_sketch(struct taking *t, uint32_t first);
void taking_end(struct taking *t);

/* Two messages or more. `local` has one zero for each link of the topology, and has again
 * afterwards. The key is the caller's to free, the rest lives in `a`. */
void component_draw(
	struct arena *a, const struct sketch *s, uint32_t *local, struct component *out);

/* A message alone: the latency of its route and its narrowest link are all that counts. What it
 * carries is left open. */
void component_draw_one(struct arena *a, const struct component_link *link, struct component *out);

/* Copies what the component points at, but for the key, into `a`. */
void component_copy(struct arena *a, struct component *c);

/* One run on a platform on which the components lie side by side. Sets their times. */
bool components_simulate(enum net_kind kind, struct component *list, uint32_t n, struct err *err);

#endif
