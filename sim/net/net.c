#include "net/net.h"

#include <assert.h>
#include <string.h>

#include "net/internal.h"

void net_deliver(struct des *des, struct des_event *ev)
{
	struct net_msg *msg = des_owner(ev, struct net_msg, ev);
	msg->done(msg->net, msg);
}

void net_send(struct net *net, struct net_msg *msg)
{
	assert(msg->src < net->topo->n_devices && msg->dst < net->topo->n_devices);
	msg->net = net;
	msg->id = net->n_sent++;
	if (msg->src != msg->dst) {
		net->sent_bytes += (double)msg->bytes / (double)(msg->divisor ? msg->divisor : 1);
		net->ops->send(net, msg);
		return;
	}
	msg->ev.fire = net_deliver;
	des_at(net->des, &msg->ev, net->des->now);
}

uint32_t net_count_route(struct net *net, const struct net_msg *msg)
{
	if (!net->link_bytes)
		return 0;
	uint32_t n = net->topo->route(net->topo, msg->src, msg->dst, net->route);
	double bytes = (double)msg->bytes / (double)(msg->divisor ? msg->divisor : 1);
	for (uint32_t i = 0; i < n; i++)
		net->link_bytes[net->route[i]] += bytes;
	return n;
}

void net_world_init(struct net_world *w, const struct topo *topo)
{
	*w = (struct net_world){.net.topo = topo};
	des_init(&w->des);
	w->net.des = &w->des;
	if (topo->platform_xml)
		return;
	w->net.link_bytes = arena_array(&w->a, (size_t)topo->n_links + 1, double);
	w->net.route = arena_array(&w->a, (size_t)topo->max_hops + 1, uint32_t);
}

void net_world_finish(struct net_world *w)
{
	if (w->net.ops)
		w->net.ops->finish(&w->net);
	des_finish(&w->des);
	arena_free(&w->a);
}

static const char *const kind_names[] = {
	[NET_ANALYTIC] = "analytic",
	[NET_SIMGRID] = "simgrid",
};

const char *net_kind_name(enum net_kind kind)
{
	return kind_names[kind];
}

bool net_kind_find(const char *name, enum net_kind *out)
{
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
		if (strcmp(kind_names[i], name) != 0)
			continue;
		*out = (enum net_kind)i;
		return true;
	}
	return false;
}
