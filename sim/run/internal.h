/* What the files of run/ share and nobody else needs. */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include "run/run.h"

/* A schedule with, for every position, the steps that it sends or receives in. */
struct coll_plan {
	uint32_t id;
	const struct coll_algo *algo;
	uint32_t n_ranks;
	uint64_t bytes;
	struct coll_shape shape;
	struct coll_schedule schedule;
	uint32_t *start;        /* n_ranks + 1: where in `steps` a position's begin */
	uint32_t *steps;        /* ascending by round */
	struct coll_plan *next; /* of the same bucket */
};

/* The first of the groups of a family: where its algorithms are measured. */
struct plan_team {
	uint32_t *devices; /* NULL: not asked for yet */
	struct coll_shape shape;
	bool searched; /* for rings that share no link: */
	struct coll_shape rings;
};

/* What was chosen by measuring. */
struct plan_pick {
	enum coll_kind kind;
	uint32_t group;
	uint64_t bytes;
	const struct coll_algo *algo;
	struct plan_pick *next;
};

enum { PLAN_BUCKETS = 1024 };
struct plans {
	struct arena *a;
	const struct prog *prog;
	const struct run_config *config;
	struct plan_team *teams; /* by group */
	struct plan_pick *picks;
	struct coll_plan *buckets[PLAN_BUCKETS];
	uint32_t n;
};
/* The plan for the task's collective over its group. ERR_INPUT at the task's place, or ERR_USAGE
 * when it is the configuration's algorithm that does not fit. */
const struct coll_plan *plan_get(struct plans *plans, const struct prog_task *t, struct err *err);

/* The algorithm of a task, which works on so many ranks; NULL with `err` as above. */
const struct coll_algo *plan_algo(struct plans *plans, const struct prog_task *t, struct err *err);

/* pick.c: by name, by default or by policy; NULL with `err`. */
const struct coll_algo *plan_pick(struct plans *plans, const struct prog_task *t, struct err *err);
struct plan_team *plan_team(struct plans *plans, uint32_t group);
struct coll_shape plan_shape(struct plans *plans, uint32_t group, const struct coll_algo *algo);

/* What all ranks of a role have in common. Indices of tasks; PROG_NONE where there is none. */
struct role_table {
	const struct prog_task *tasks;
	uint32_t n_tasks, n_lanes;
	uint32_t *lane;        /* the task's stream, numbered from 0 */
	uint32_t *prev, *next; /* on its stream */
	uint32_t
		*succ_start; /* n_tasks + 1: where in `succ` those begin that come after the task */
	uint32_t *succ;
	uint32_t *seq; /* collectives: how many come before it on its group */
	const struct coll_plan **plan;
};
bool role_tables_build(struct arena *a, const struct prog *p, const struct run_config *config,
	struct role_table **out, struct err *err);
/* Of one role, but for seq and plan. */
void role_order_build(struct arena *a, const struct prog_role *role, struct role_table *t);

/* A task that takes a fixed time, under way on one stream of one rank. */
struct lane {
	struct des_event ev;
	struct engine *e;
	uint32_t rank, task;
};

#define TASK_STARTED (UINT32_MAX - 1) /* values of rank_state.left */
#define TASK_DONE UINT32_MAX

/* What may keep a rank waiting while its compute stream idles, first counts first. */
enum cause { CAUSE_TP, CAUSE_DP, CAUSE_PP };
enum { N_CAUSES = 3 };

struct rank_state {
	uint32_t role;
	uint32_t *left;      /* per task: predecessors that are not done; TASK_STARTED; TASK_DONE */
	tick *starts, *ends; /* per task, when spans are kept */
	struct lane *lanes;
	uint32_t n_done, last_done; /* PROG_NONE: nothing yet */
	tick since;                 /* up to here the time is accounted for */
	bool busy;                  /* computes on stream 0 ... */
	enum task_phase phase;      /* ... for this */
	uint32_t n_under_way[N_CAUSES];
	tick adds_until; /* what it has received in steps that reduce */
	struct run_rank sums;
};

struct ready {
	uint32_t rank, task;
};

/* A message of the prog: it waits here for its other end, send or recv. */
struct transfer {
	struct net_msg msg;
	struct engine *e;
	uint32_t from, to;
	const char *tag;
	uint32_t send_task, recv_task; /* PROG_NONE while not posted */
	bool arrived;
	struct transfer *next; /* in its bucket, or in the free list */
};
struct bucket {
	struct transfer *head, *tail;
};

struct member {
	uint32_t task;   /* PROG_NONE: not entered */
	uint32_t cursor; /* in plan->steps: behind the open round */
	uint32_t open;   /* steps of the open round that are not done */
	bool left;
};

/* One collective of one team, from the first rank that enters to the last that leaves. Members
 * are counted from the root. */
struct instance {
	struct instance *next; /* in team.live */
	struct team *team;
	const struct prog_task *first; /* the task of the rank that entered first */
	uint32_t first_rank, group, seq, root, n_entered, n_left;
	const struct coll_plan *plan;
	tick first_entered, all_entered;
	struct member *members;
	unsigned char *ready; /* per step: how many of its two ends have come to its round */
};

struct step_msg {
	struct net_msg msg;
	struct des_event added; /* to what its receiver has */
	struct engine *e;
	struct instance *of;
	uint32_t step;
	struct step_msg *next; /* in the free list */
};

/* Ranks of one group of a family, by position; filled in when first used. */
struct team {
	uint32_t *ranks;
	struct instance *live;
};
struct group_state {
	uint32_t size;
	enum cause cause;
	struct team *teams;
};

struct engine {
	struct arena a;
	const struct prog *prog;
	const struct run_config *config;
	struct net *net; /* while it runs */
	struct role_table *tables;
	struct rank_state *ranks;
	uint32_t n_ranks;
	uint64_t n_tasks, n_done; /* over all ranks */
	struct group_state *groups;
	struct ready *ready; /* a queue: first .. n_ready-1 */
	size_t first, n_ready, cap_ready;
	bool draining;
	struct bucket *buckets; /* of transfers that wait for their other end */
	uint32_t n_buckets, n_waiting;
	struct transfer *free_transfers;
	struct step_msg *free_msgs;
	struct run_coll *colls;
	uint32_t *coll_groups; /* the group of each */
	uint32_t n_colls, cap_colls, cap_groups;
	uint64_t coll_bytes[N_COLL_KINDS], p2p_bytes;
	tick end, *task_ends; /* NULL: not asked for */
	tick guard_at;        /* callbacks since time last advanced */
	uint64_t guard_n;
	uint32_t n_wakes;
	struct err failure;
};

/* Called first by everything that the event loop calls: false when the run has failed and
 * nothing more is to happen. */
bool engine_wake(struct engine *e);
void engine_fail(struct engine *e, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Called last: starts what has become ready. */
void engine_drain(struct engine *e);
void task_finish(struct engine *e, uint32_t rank, uint32_t task);
void task_release_stream(struct engine *e, uint32_t rank, uint32_t task);
static inline tick engine_now(const struct engine *e)
{
	return e->net->des->now;
}

void engine_start(struct net *net, void *ctx);
bool engine_finish(struct net *net, void *ctx, struct text *reply, struct err *err);

uint32_t device_of(const struct engine *e, uint32_t rank);
const struct prog_task *task_of(const struct engine *e, uint32_t rank, uint32_t task);

void transfer_send(struct engine *e, uint32_t rank, uint32_t task);
void transfer_recv(struct engine *e, uint32_t rank, uint32_t task);

void collective_enter(struct engine *e, uint32_t rank, uint32_t task);
struct instance *collective_find(struct engine *e, uint32_t rank, uint32_t task);
void collective_free(struct engine *e);

/* Adds the time since the last call to where it went; to be called before `busy` or what is
 * under way changes. */
void account(struct engine *e, uint32_t rank);
void account_under_way(struct engine *e, uint32_t rank, enum cause cause, int change);

/* Who waits for whom, when tasks are left; always false, kind ERR_ANSWER. */
bool explain_deadlock(struct engine *e, struct err *err);

struct topo_pair *pairs_build(struct engine *e, uint32_t *n_pairs);

/* A straggler computes longer. */
tick run_compute_time(const struct run_config *config, uint32_t device, tick duration);
/* To add what a step brings; no more than TICK_MAX - 1. */
tick run_reduce_time(uint64_t bytes, uint64_t divisor, uint64_t bytes_per_s);
enum cause run_cause(const struct prog *p, uint32_t group);

/* One task on one role: the collective, once for each group; rank r is request->devices[r]. */
void lone_prog(struct arena *a, const struct coll_request *request, struct prog *out);

/* A collective that is to be folded. */
struct fold_question {
	const struct coll_algo *algo;
	uint32_t layout; /* of its devices: fold_layout() */
	uint64_t bytes, chunk_bytes, reduce_bytes_per_s;
	const struct coll_shape *shape;
	bool usual_shape;       /* it follows from the devices, and counts only when asked first */
	const uint64_t *counts; /* NULL, or see struct coll_call */
};

/* A round that other rounds are like, itself included. */
struct fold_kind {
	uint32_t set; /* in the flows of the memo */
	uint32_t times;
	tick reduction;      /* of the rank that adds most */
	uint64_t n_messages; /* of one */
	double sent_bytes;   /* of one */
};

/* What is known of it. `sum` holds once the memo is solved, `links` on demand. */
struct folded {
	struct fold_kind *kinds;
	uint32_t n_kinds, cap_kinds;
	bool starts_together; /* every message of a round at the end of the round before */
	bool leaves_together; /* all ranks at the end of the last */
	bool summed, has_links;
	uint64_t n_messages;
	double sent_bytes;
	tick time;
	bool exact; /* in fold's sense; for what comes after it leaves_together counts too */
	struct run_link *links;
	uint32_t n_links;
};

bool memo_is_of(const struct run_memo *m, const struct run_config *config);

/* The devices of groups of the same size, one group after the other, as a number; they are copied.
 */
uint32_t fold_layout(
	struct run_memo *m, const uint32_t *devices, uint32_t n_devices, uint32_t n_groups);
bool fold_knows(const struct run_memo *m, const struct fold_question *q);
/* Lives as long as the memo. NULL with `err`. */
struct folded *fold_add(struct run_memo *m, const struct fold_question *q, struct err *err);
/* Finds out how long what was added takes; then fold_sum() fills in the rest. */
bool fold_solve(struct run_memo *m, bool (*stop)(void), struct err *err);
void fold_sum(const struct run_memo *m, struct folded *f);
/* Adds what they all put on each link; some may be NULL. */
void fold_load(
	const struct run_memo *m, struct folded *const *list, uint32_t n, double *link_bytes);
/* Fills f->links in, once. */
void fold_find_links(struct run_memo *m, struct folded *f);

/* The collective round by round; `exact` when that is its time without doubt. */
bool fold_coll(struct arena *a, const struct coll_request *request, const struct run_config *config,
	struct run_result *out, bool *exact, struct err *err);

/* The prog, whose form is checked, task by task; *done when config->fold has it so. */
bool fold_prog(struct arena *a, const struct prog *p, const struct run_config *config,
	struct run_result *out, bool *done, struct err *err);
/* The tasks of a prog in lockstep in their order; NULL with the reason, which starts with the
 * place of a task where there is one. */
uint32_t *lockstep_order(struct arena *a, const struct prog *p, const struct run_config *config,
	struct text *reason);

/* Those that carried something, the busiest first, at most `max`. */
struct run_link *links_busiest(struct arena *a, const struct topo *topo, const double *link_bytes,
	tick end, uint32_t max, uint32_t *n);
enum { LINKS_MAX = 10 }; /* unless all are asked for */
double prog_energy_j(const struct prog *p);

void outcome_write(struct engine *e, struct text *out);
bool outcome_read(struct arena *a, const struct prog *p, struct bytes reply, struct run_result *out,
	struct err *err);

#endif
