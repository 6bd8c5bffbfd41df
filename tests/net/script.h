/* A job that sends a list of messages and replies with a line per arrival. */
#ifndef TESTS_NET_SCRIPT_H
#define TESTS_NET_SCRIPT_H

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/net.h"

enum { SCRIPT_MAX = 4096 };

struct script_msg {
	tick at;
	uint32_t src, dst;
	uint64_t bytes, divisor;
};

struct script_step {
	struct des_event ev;
	struct net_msg msg;
	struct script *script;
};

struct script {
	const struct script_msg *list;
	uint32_t n;
	bool with_links; /* the reply ends with the bytes of every link */
	struct net *net;
	struct text log; /* "index ticks\n" in order of arrival */
	struct script_step steps[SCRIPT_MAX];
};

static inline void script_done(struct net *net, struct net_msg *msg)
{
	struct script_step *step = msg->owner;
	text_add(
		&step->script->log, "%td %" PRIu64 "\n", step - step->script->steps, net->des->now);
}

static inline void script_fire(struct des *des, struct des_event *ev)
{
	struct script_step *step = des_owner(ev, struct script_step, ev);
	net_send(step->script->net, &step->msg);
}

static inline void script_start(struct net *net, void *ctx)
{
	struct script *s = ctx;
	s->net = net;
	assert(s->n <= SCRIPT_MAX);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct script_msg *m = &s->list[i];
		s->steps[i] = (struct script_step){
			.ev.fire = script_fire,
			.script = s,
			.msg = {.src = m->src,
				.dst = m->dst,
				.bytes = m->bytes,
				.divisor = m->divisor,
				.done = script_done,
				.owner = &s->steps[i]},
		};
		des_at(net->des, &s->steps[i].ev, m->at);
	}
}

static inline bool script_finish(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	struct script *s = ctx;
	text_add_bytes(reply, s->log.data, s->log.n);
	for (uint32_t i = 0; s->with_links && i < net->topo->n_links; i++)
		text_add(reply, "%s %.3f\n", net->topo->links[i].name, net->link_bytes[i]);
	text_free(&s->log);
	return true;
}

/* Runs `list`; the reply is NULL on failure. */
static inline const char *script_run(struct arena *a, enum net_kind kind, const struct topo *t,
	const struct script_msg *list, uint32_t n, struct err *err)
{
	struct script *s = arena_new(a, struct script);
	struct topo_pair *pairs = arena_array(a, n + 1, struct topo_pair);
	s->list = list;
	s->n = n;
	for (uint32_t i = 0; i < n; i++)
		pairs[i] = (struct topo_pair){list[i].src, list[i].dst};
	struct net_job job = {script_start, script_finish, s, pairs, n};
	struct bytes reply;
	return net_run(a, kind, t, &job, &reply, err) ? reply.data : NULL;
}

/* Arrival of message `index` as the reply tells it. */
static inline tick script_arrival(const char *reply, uint32_t index)
{
	while (reply && *reply) {
		uint32_t i;
		uint64_t at;
		if (sscanf(reply, "%" SCNu32 " %" SCNu64, &i, &at) == 2 && i == index)
			return at;
		reply = strchr(reply, '\n');
		reply = reply ? reply + 1 : NULL;
	}
	return TICK_MAX;
}

#endif
