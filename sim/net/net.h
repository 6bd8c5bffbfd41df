/* The network: carries messages from device to device and says when the last byte arrived.
 *
 * Two models stand behind one interface. `simgrid` shares links by max-min fairness and is the
 * reference: it runs in a forked child, so that nothing it does can take the program down;
 * SimGrid is a module that is opened with the first run and initialised in children only.
 * `analytic` is the closed form: latency of the route plus bytes over its narrowest link, no
 * sharing between messages of different devices; it runs in this process. */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "des/des.h"
#include "topo/topo.h"

struct net;
struct net_msg;

typedef void net_done(struct net *net, struct net_msg *msg);

/* Owned by the sender, and must outlive its `done`. Zero bytes cost the latency. src == dst
 * arrives at once. What would take longer than a tick can hold arrives at TICK_MAX - 1. SimGrid
 * rounds to 1/1024 byte (to whole bytes on a platform file) and takes at most 8 PiB (8 EiB) per
 * message; what is more counts as that. */
struct net_msg {
	struct des_event ev; /* for the model */
	uint32_t src, dst;   /* device numbers */
	uint64_t bytes;      /* payload is bytes / divisor */
	uint64_t divisor;    /* 0 means 1 */
	uint64_t id; /* set by net_send(); messages that arrive together are done in this order */
	net_done *done;
	void *owner;
	struct net_msg *next; /* for the model */
	struct net *net;      /* set by net_send() */
};

struct net_ops {
	const char *name;
	void (*send)(struct net *net, struct net_msg *msg);
	void (*finish)(struct net *net);
};

struct net {
	const struct net_ops *ops;
	struct des *des;
	const struct topo *topo;
	uint64_t n_sent;
	double sent_bytes;  /* of messages between two devices, once each however far they go */
	double *link_bytes; /* carried by each link of the topology; NULL for a SimGrid platform */
	uint32_t *route;    /* for the model: room for one route */
	void *model;
};

/* Hands the message to the network; `done` is called from the event loop when it has arrived. */
void net_send(struct net *net, struct net_msg *msg);

/* What is run on a network. `start` schedules the first events; when nothing is left to happen
 * `finish` writes the outcome to `reply`. Under simgrid both run in a child process: what they
 * change in memory is lost, only `reply` and what finish() says come back. */
struct net_job {
	void (*start)(struct net *net, void *ctx);
	bool (*finish)(struct net *net, void *ctx, struct text *reply, struct err *err);
	void *ctx;
	/* Every (src, dst) that may be sent between, in any order, repeats allowed: only these
	 * routes are loaded into SimGrid, and a message between others is a bug (assert). NULL:
	 * between any two, which loads the whole topology. */
	const struct topo_pair *pairs;
	uint32_t n_pairs;
};

enum net_kind { NET_ANALYTIC, NET_SIMGRID };
const char *net_kind_name(enum net_kind kind);
bool net_kind_find(const char *name, enum net_kind *out);

/* Runs the job to its end. The reply lives in `a`. False: what finish() said; or ERR_INTERNAL with
 * the last message of a child that died, of a missing module or library; ERR_INPUT when SimGrid
 * refuses a platform file. */
bool net_run(struct arena *a, enum net_kind kind, const struct topo *topo,
	const struct net_job *job, struct bytes *reply, struct err *err);

/* "SimGrid 3.32.0" by asking the module in a child, or NULL with the reason in `err`. */
const char *net_simgrid_version(struct arena *a, struct err *err);

#endif
