/* The closed form: latency of the route plus bytes over its narrowest link. Nobody shares
 * anything. */
#include <assert.h>

#include "net/internal.h"

static tick arrival(struct net *net, const struct net_msg *msg)
{
	uint32_t n = net_count_route(net, msg);
	assert(n > 0);
	u128 latency = 0;
	uint64_t narrowest = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const struct topo_link *link = &net->topo->links[net->route[i]];
		latency += link->latency;
		narrowest = link->bytes_per_s < narrowest ? link->bytes_per_s : narrowest;
	}
	u128 amount = (u128)msg->bytes * TICKS_PER_S;
	u128 per_tick = (u128)narrowest * (msg->divisor ? msg->divisor : 1);
	u128 at = net->des->now + latency + amount / per_tick + (amount % per_tick != 0);
	return at < TICK_MAX ? (tick)at : TICK_MAX - 1;
}

static void analytic_send(struct net *net, struct net_msg *msg)
{
	msg->ev.fire = net_deliver;
	des_at(net->des, &msg->ev, arrival(net, msg));
}

static void analytic_finish(struct net *net)
{
	net->ops = NULL;
}

static const struct net_ops ops = {
	.name = "analytic",
	.send = analytic_send,
	.finish = analytic_finish,
};

void net_analytic_run(struct net *net, const struct net_job *job)
{
	net->ops = &ops;
	job->start(net, job->ctx);
	while (des_step(net->des))
		;
}
