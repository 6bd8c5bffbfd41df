/* The module: SimGrid as the network. The event loop runs inside one SimGrid actor, the driver. A
 * message is carried by a courier, an actor of its own that rests in a pool between messages.
 * While the queue has nothing due, the driver sleeps until the next event or the next arrival. */
#include <assert.h>
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/semaphore.h>
#include <simgrid/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xbt/config.h>

#include "net/internal.h"

enum { COURIER_STACK_KIB = 128, DRIVER_STACK_KIB = 8192 };

/* SimGrid carries whole bytes only. On our own topologies it gets all bandwidths and sizes times
 * this, which changes no time but keeps fractions of a byte. */
enum { FINENESS = 1024 };

struct courier {
	struct model *model;
	struct net_msg *msg; /* NULL while it rests */
	sg_sem_t go;
	bool asleep;          /* on `go` */
	struct courier *next; /* in model.idle */
};

struct model {
	struct net *net;
	const struct net_job *job;
	struct arena arena; /* hosts, couriers, arrived */
	sg_host_t *hosts;   /* NULL where no declared pair needs the device */
	struct courier *idle;
	struct net_msg **arrived;
	size_t n_arrived, cap_arrived;
	sg_sem_t news;
	double fineness;
	bool asleep; /* the driver, on `news` */
	bool over;   /* couriers go home */
};

static void add_arrived(struct model *m, struct net_msg *msg)
{
	arena_push(&m->arena, m->arrived, m->n_arrived, m->cap_arrived) = msg;
	if (!m->asleep)
		return;
	m->asleep = false;
	sg_sem_release(m->news);
}

/* SimGrid keeps sizes in 64 bits. */
static double size_of(const struct model *m, const struct net_msg *msg)
{
	double divisor = (double)(msg->divisor ? msg->divisor : 1);
	double size = rint((double)msg->bytes / divisor * m->fineness);
	return size < 0x1p63 ? size : 0x1p63;
}

/* Messages often follow one another at once, so a courier lets the driver have its turn before it
 * lies down: that saves waking it again. */
static struct net_msg *next_msg(struct courier *me)
{
	sg_actor_yield();
	while (!me->msg && !me->model->over) {
		me->asleep = true;
		sg_sem_acquire(me->go);
		me->asleep = false;
	}
	return me->msg;
}

static void carry(int argc, char **argv)
{
	struct courier *me = sg_actor_self_get_data();
	struct model *m = me->model;
	for (struct net_msg *msg = me->msg; msg; msg = next_msg(me)) {
		sg_host_sendto(m->hosts[msg->src], m->hosts[msg->dst], size_of(m, msg));
		me->msg = NULL;
		me->next = m->idle;
		m->idle = me;
		add_arrived(m, msg);
	}
	sg_sem_destroy(me->go);
}

static void wake(struct courier *c)
{
	if (c->asleep)
		sg_sem_release(c->go);
}

static void start_actor(sg_actor_t actor, void (*code)(int, char **), void *data)
{
	sg_actor_set_data(actor, data);
	sg_actor_start_(actor, (xbt_main_func_t)(void (*)(void))code, 0, NULL);
}

static void simgrid_send(struct net *net, struct net_msg *msg)
{
	struct model *m = net->model;
	struct courier *c = m->idle;
	assert(m->hosts[msg->src] && m->hosts[msg->dst] && "the pair is not among job.pairs");
	net_count_route(net, msg);
	net->des->n_outside++;
	if (c) {
		m->idle = c->next;
		c->msg = msg;
		wake(c);
		return;
	}
	c = arena_new(&m->arena, struct courier);
	*c = (struct courier){.model = m, .msg = msg, .go = sg_sem_init(0)};
	start_actor(sg_actor_init("courier", m->hosts[msg->src]), carry, c);
}

static tick clock_now(void)
{
	double ticks = rint(simgrid_get_clock() * (double)TICKS_PER_S);
	return ticks < (double)(TICK_MAX - 1) ? (tick)ticks : TICK_MAX - 1;
}

/* The span is taken from SimGrid's clock, not from ours, so that roundings do not add up. */
static void sleep_until(struct model *m, tick until)
{
	bool late = false;
	while (m->n_arrived == 0 && !late) {
		double span = (double)until / (double)TICKS_PER_S - simgrid_get_clock();
		m->asleep = true;
		if (until == TICK_MAX)
			sg_sem_acquire(m->news);
		else
			late = span <= 0 || sg_sem_acquire_timeout(m->news, span) != 0;
		m->asleep = false;
	}
}

static int compare_ids(const void *left, const void *right)
{
	const struct net_msg *const *a = left, *const *b = right;
	return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static tick wait_for_news(void *ctx, tick until)
{
	struct model *m = ctx;
	struct des *des = m->net->des;
	if (m->n_arrived == 0)
		sleep_until(m, until);
	if (m->n_arrived == 0)
		return until;
	tick now = clock_now();
	now = now < des->now ? des->now : now > until ? until : now;
	qsort(m->arrived, m->n_arrived, sizeof(*m->arrived), compare_ids);
	for (size_t i = 0; i < m->n_arrived; i++) {
		m->arrived[i]->ev.fire = net_deliver;
		des_at(des, &m->arrived[i]->ev, now);
	}
	des->n_outside -= m->n_arrived;
	m->n_arrived = 0;
	return now;
}

static void drive(int argc, char **argv)
{
	struct model *m = sg_actor_self_get_data();
	m->job->start(m->net, m->job->ctx);
	while (des_step(m->net->des))
		;
	m->over = true;
	for (struct courier *c = m->idle; c; c = c->next)
		wake(c);
}

/* AddressSanitizer follows threads, but not SimGrid's own switching of stacks. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_SANITIZER true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_SANITIZER true
#endif
#if !defined(UNDER_SANITIZER)
#define UNDER_SANITIZER false
#endif
static const bool under_sanitizer = UNDER_SANITIZER;

/* Plain links. The default model adds TCP's slow start, 13 times the latency and
 * acknowledgements. Its default way to save work, Lazy, overbooks links: of three messages over one
 * link of 3.32 the last arrived before the link could have carried their bytes, in one order of
 * starting them and not in the other. */
static void simgrid_load(const char *platform_path)
{
	char name[] = "wham", *argv[] = {name, NULL};
	int argc = 1, major, minor, patch;
	sg_version_get(&major, &minor, &patch);
	simgrid_init(&argc, argv);
	sg_cfg_set_string("network/model", "CM02");
	sg_cfg_set_boolean("network/crosstraffic", "no");
	sg_cfg_set_double("network/TCP-gamma", 0);
	sg_cfg_set_double("network/loopback-lat", 0);
	sg_cfg_set_string("network/optim", "Full");
	sg_cfg_set_double(major < 4 ? "surf/precision" : "precision/timing", 1e-12);
	sg_cfg_set_int("contexts/stack-size", COURIER_STACK_KIB);
	if (under_sanitizer)
		sg_cfg_set_string("contexts/factory", "thread");
	simgrid_load_platform(platform_path);
}

static void find_hosts(struct model *m, const struct topo *topo)
{
	m->hosts = arena_array(&m->arena, topo->n_devices, sg_host_t);
	for (uint32_t i = 0; i < topo->n_devices; i++)
		m->hosts[i] = sg_host_by_name(topo->nodes[i].name);
}

static void scale_links(double factor)
{
	sg_link_t *links = factor > 1 ? sg_link_list() : NULL;
	for (size_t i = 0; links && i < sg_link_count(); i++)
		if (strcmp(sg_link_get_name(links[i]), "__loopback__") != 0)
			sg_link_set_bandwidth(links[i], factor * sg_link_get_bandwidth(links[i]));
	free(links);
}

static sg_host_t first_host(const struct model *m, const struct topo *topo)
{
	for (uint32_t i = 0; i < topo->n_devices; i++)
		if (m->hosts[i])
			return m->hosts[i];
	return NULL;
}

static void simgrid_finish(struct net *net)
{
	struct model *m = net->model;
	sg_sem_destroy(m->news);
	arena_free(&m->arena);
	free(m);
	net->model = NULL;
	net->ops = NULL;
}

static const struct net_ops ops = {
	.name = "simgrid",
	.send = simgrid_send,
	.finish = simgrid_finish,
};

static bool simgrid_run_job(struct net *net, const struct net_job *job, struct err *err)
{
	struct model *m = mem_alloc(1, sizeof(*m));
	*m = (struct model){.net = net, .job = job, .news = sg_sem_init(0)};
	net->ops = &ops;
	net->model = m;
	net->des->wait = wait_for_news;
	net->des->wait_ctx = m;
	m->fineness = net->topo->platform_xml ? 1 : FINENESS;
	scale_links(m->fineness);
	find_hosts(m, net->topo);
	sg_host_t home = first_host(m, net->topo);
	if (!home)
		return err_set(
			err, ERR_INTERNAL, "SimGrid has no host of topology '%s'", net->topo->name);
	sg_actor_t driver = sg_actor_init("driver", home);
	sg_actor_set_stacksize(driver, DRIVER_STACK_KIB);
	start_actor(driver, drive, m);
	simgrid_run();
	return true;
}

static void simgrid_version(char *text, size_t n)
{
	int major, minor, patch;
	sg_version_get(&major, &minor, &patch);
	snprintf(text, n, "SimGrid %d.%d.%d", major, minor, patch);
}

extern const struct net_module net_simgrid_module __attribute__((visibility("default")));
const struct net_module net_simgrid_module = {
	.size = sizeof(struct net_module),
	.net_size = sizeof(struct net),
	.version = simgrid_version,
	.load = simgrid_load,
	.run = simgrid_run_job,
};
