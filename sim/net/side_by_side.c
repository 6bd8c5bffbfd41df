/* Components on one platform, each on links of its own: they cannot disturb each other, so one run
 * tells the times of all. Message i of the run goes from device 2i to device 2i + 1. */
#include <stdlib.h>
#include <string.h>

#include "net/flows_internal.h"

struct carried {
	struct net_msg msg;
	struct net_flow_times *times; /* of its component */
};

struct stage {
	struct arena a;
	struct component *list;
	uint32_t n;
	struct topo topo;
	uint32_t n_flows;
	uint32_t *first_route; /* n_flows + 1: in routes */
	uint32_t *routes;      /* numbers of topo.links */
	struct carried *carried;
	struct net_flow_times *times; /* per component */
	struct topo_pair *pairs;
};

static uint32_t route(const struct topo *topo, uint32_t src, uint32_t dst, uint32_t *links)
{
	const struct stage *s = topo->family_data;
	uint32_t i = src / 2, n = s->first_route[i + 1] - s->first_route[i];
	assert(src % 2 == 0 && dst == src + 1);
	memcpy(links, &s->routes[s->first_route[i]], n * sizeof(*links));
	return n;
}

static void add_links(struct stage *s, const struct component *c, uint32_t *n_links)
{
	for (uint32_t l = 0; l < c->n_links; l++, ++*n_links)
		s->topo.links[*n_links] =
			(struct topo_link){.name = arena_printf(&s->a, "l%u", *n_links),
				.bytes_per_s = c->links[l].bytes_per_s,
				.latency = c->links[l].latency};
}

static void add_flows(struct stage *s, uint32_t number, uint32_t base, uint32_t *flow)
{
	const struct component *c = &s->list[number];
	for (uint32_t i = 0; i < c->n_flows; i++, ++*flow) {
		const struct component_flow *f = &c->flows[i];
		uint32_t *at = &s->routes[s->first_route[*flow]];
		for (uint32_t k = 0; k < f->n_links; k++)
			at[k] = base + c->routes[f->first_link + k];
		s->first_route[*flow + 1] = s->first_route[*flow] + f->n_links;
		if (f->n_links > s->topo.max_hops)
			s->topo.max_hops = f->n_links;
		s->pairs[*flow] = (struct topo_pair){2 * *flow, 2 * *flow + 1};
		s->carried[*flow] = (struct carried){.times = &s->times[number],
			.msg = {.src = 2 * *flow,
				.dst = 2 * *flow + 1,
				.bytes = c->divisor ? c->bytes : f->bytes,
				.divisor = c->divisor ? c->divisor : f->divisor}};
	}
}

static void name_devices(struct stage *s)
{
	s->topo.n_devices = s->topo.n_nodes = 2 * s->n_flows;
	s->topo.nodes = arena_array(&s->a, s->topo.n_nodes, struct topo_node);
	for (uint32_t i = 0; i < s->topo.n_nodes; i++)
		s->topo.nodes[i].name = arena_printf(&s->a, "d%u", i);
}

static void set_up(struct stage *s)
{
	uint32_t n_routes = 0, n_links = 0, flow = 0, base = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		s->n_flows += s->list[i].n_flows;
		n_routes += s->list[i].n_routes;
		n_links += s->list[i].n_links;
	}
	s->first_route = arena_array(&s->a, (size_t)s->n_flows + 1, uint32_t);
	s->routes = arena_array(&s->a, (size_t)n_routes + 1, uint32_t);
	s->carried = arena_array(&s->a, s->n_flows, struct carried);
	s->pairs = arena_array(&s->a, s->n_flows, struct topo_pair);
	s->times = arena_array(&s->a, s->n, struct net_flow_times);
	s->topo = (struct topo){.name = "components",
		.family = "components",
		.summary = "",
		.links = arena_array(&s->a, (size_t)n_links + 1, struct topo_link),
		.n_links = n_links,
		.route = route,
		.family_data = s};
	for (uint32_t i = 0, at = 0; i < s->n; i++, base = at) {
		add_links(s, &s->list[i], &at);
		add_flows(s, i, base, &flow);
	}
	name_devices(s);
}

static void arrived(struct net *net, struct net_msg *msg)
{
	struct carried *c = msg->owner;
	tick now = net->des->now;
	if (c->times->last == 0)
		c->times->first = now;
	c->times->last = now;
}

static void start(struct net *net, void *ctx)
{
	struct stage *s = ctx;
	for (uint32_t i = 0; i < s->n_flows; i++) {
		s->carried[i].msg.done = arrived;
		s->carried[i].msg.owner = &s->carried[i];
		net_send(net, &s->carried[i].msg);
	}
}

static bool finish(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	const struct stage *s = ctx;
	text_add_bytes(reply, s->times, s->n * sizeof(*s->times));
	return true;
}

bool components_simulate(enum net_kind kind, struct component *list, uint32_t n, struct err *err)
{
	struct stage s = {.list = list, .n = n};
	struct bytes reply;
	set_up(&s);
	struct net_job job = {.start = start,
		.finish = finish,
		.ctx = &s,
		.pairs = s.pairs,
		.n_pairs = s.n_flows};
	bool ok = net_run(&s.a, kind, &s.topo, &job, &reply, err);
	for (uint32_t i = 0; ok && i < n; i++)
		memcpy(&list[i].times, reply.data + i * sizeof(list[i].times),
			sizeof(list[i].times));
	arena_free(&s.a);
	return ok;
}
