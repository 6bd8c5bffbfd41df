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
	uint64_t bytes, divisor;
	uint32_t first_link, n_links; /* in component.routes */
};

/* In an order of messages and links that does not depend on their names. */
struct component {
	struct text key; /* equal for equal components */
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

/* `local` has one zero for each link of the topology, and has again afterwards. The key is the
 * caller's to free, the rest lives in `a`. */
void component_draw(
	struct arena *a, const struct sketch *s, uint32_t *local, struct component *out);

/* Copies what the component points at, but for the key, into `a`. */
void component_copy(struct arena *a, struct component *c);

/* One run on a platform on which the components lie side by side. Sets their times. */
bool components_simulate(enum net_kind kind, struct component *list, uint32_t n, struct err *err);

#endif
