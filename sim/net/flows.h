/* Sets of messages that start together: when do the first and the last of them arrive?
 *
 * In the fluid model messages interact only through the links that they share. A set falls apart
 * into components of messages that are tied by common links, and components that are equal up to
 * the names of their links last equally long: each is simulated once, on a platform of its own,
 * and remembered. That is exact, and makes the cost of a round grow with the number of its
 * messages and not with its square. A set whose messages all carry the same is taken apart once for
 * all that they may carry. */
#ifndef NET_FLOWS_H
#define NET_FLOWS_H

#include "net/net.h"

struct net_flow {
	uint32_t src, dst;       /* device numbers; src == dst takes no time */
	uint64_t bytes, divisor; /* payload is bytes / divisor; divisor at least 1 */
};

struct net_flow_times {
	tick first, last; /* arrivals, counted from the common start; both 0 for an empty set */
};

struct net_flows;

/* For a topology that knows its routes (no SimGrid platform), which must outlive the result. */
struct net_flows *net_flows_create(enum net_kind kind, const struct topo *topo);
void net_flows_destroy(struct net_flows *f);

/* Takes the set apart and returns its number. */
uint32_t net_flows_add(struct net_flows *f, const struct net_flow *list, uint32_t n);

/* Simulates the components that are not known yet, as many in one run as it takes at a time. `stop`
 * (NULL: never) is asked before each run: true ends it all with ERR_ANSWER. False as net_run() too. */
bool net_flows_solve(struct net_flows *f, bool (*stop)(void), struct err *err);

/* Of a set that was added before the last net_flows_solve(). */
struct net_flow_times net_flows_times(const struct net_flows *f, uint32_t set);

/* Adds to link_bytes[], one for each link of the topology, what sets put on it that are each carried
 * so many times. The list is sorted on the way. */
struct net_flow_use {
	uint32_t set;
	uint64_t times;
};
void net_flows_load(
	const struct net_flows *f, struct net_flow_use *list, size_t n, double *link_bytes);

/* How many components were added, and how many different ones there are. */
struct net_flows_counts {
	uint64_t components, different;
};
struct net_flows_counts net_flows_count(const struct net_flows *f);

#endif
