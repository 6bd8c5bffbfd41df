/* What the files of net/ share, the module that links SimGrid included. */
#ifndef NET_INTERNAL_H
#define NET_INTERNAL_H

#include "net/net.h"

/* The seam to SimGrid, exported by the module as `net_simgrid_module`. SimGrid is initialised only
 * in a forked child, because SimGrid ends the process when it does not like its input. */
struct net_module {
	/* Of this struct and of struct net: a module of another build is refused. */
	uint32_t size, net_size;
	/* Writes "SimGrid 3.32.0". */
	void (*version)(char *text, size_t n);
	/* Makes the settings and loads the platform, once per process. */
	void (*load)(const char *platform_path);
	/* Sets net->ops, calls job->start() and runs the event loop of net->des to its end. */
	bool (*run)(struct net *net, const struct net_job *job, struct err *err);
};

#define NET_MODULE_FILE "wham-simgrid.so"

/* Opens the module or says where it was looked for. It stays open until the process ends. */
const struct net_module *net_module_open(struct err *err);

/* A forked child. `main` runs there; it calls net_child_mark() when what the user's file can be
 * blamed for is over. `blame` is the path of that file, or NULL. */
struct net_child_pipe {
	int fd;
};
typedef bool net_child_main(
	void *ctx, struct net_child_pipe *pipe, struct text *reply, struct err *err);
struct net_child {
	net_child_main *main;
	void *ctx;
	const char *blame;
};
void net_child_mark(struct net_child_pipe *pipe);

/* Runs the child and hands back its reply; or false with its error, or with how it died and the
 * last thing it said: ERR_INPUT before the mark when there is a file to blame, ERR_INTERNAL
 * otherwise. */
bool net_child_run(
	struct arena *a, const struct net_child *child, struct bytes *reply, struct err *err);

/* The line of SimGrid's stderr that says why it died: the first critical one or error, otherwise
 * the last that is not part of a backtrace. "" when there is none. */
const char *net_last_message(struct arena *a, const char *text);

/* Counts `msg` on the links of its route, which is left in net->route. Returns its length; 0 on a
 * SimGrid platform. */
uint32_t net_count_route(struct net *net, const struct net_msg *msg);

/* des_fire of a message that has arrived. */
void net_deliver(struct des *des, struct des_event *ev);

/* Everything that a run needs around its model. */
struct net_world {
	struct arena a;
	struct des des;
	struct net net;
};
void net_world_init(struct net_world *w, const struct topo *topo);
void net_world_finish(struct net_world *w);

void net_analytic_run(struct net *net, const struct net_job *job);

#endif
