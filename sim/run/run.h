/* Executes a prog on a network and gathers what happened; explains a deadlock. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "coll/coll.h"
#include "net/net.h"
#include "prog/prog.h"
#include "topo/topo.h"

/* Whether collectives are carried out round by round, equal rounds and equal components of messages
 * once (net/flows.h), or message by message. AUTO folds where that is exact: all messages of a
 * round start together and end together, so that no round can run into the next.
 *
 * run_coll() folds the collective. run_prog() folds progs in lockstep: one role over all ranks that
 * computes, waits, marks and joins collectives over families of groups that cover every rank, one
 * thing after the other (each task comes after the one before, on its stream or by what it comes
 * after), with no stragglers and on no SimGrid platform. Their time is the sum of that of the
 * tasks, all groups of a family at once; exact where each collective is and its ranks leave it
 * together. What is not in lockstep is run message by message under AUTO, and refused (ERR_USAGE)
 * under ON. What is in lockstep, but not exact, is run message by message under AUTO unless it has
 * more messages than `max_messages`. */
enum run_fold { RUN_FOLD_OFF, RUN_FOLD_AUTO, RUN_FOLD_ON };
bool run_fold_find(const char *name, enum run_fold *out); /* "off", "auto", "on" */

/* What folded collectives cost on one topology and network, so that a repeated question is answered
 * at once, and one that differs in bytes only sooner. The topology must outlive it, and is known by
 * its address. Grows with what it was asked; not to be shared between threads. */
struct run_memo;
struct run_memo *run_memo_create(const struct topo *topo, enum net_kind net);
void run_memo_destroy(struct run_memo *memo);

struct run_config {
	const struct topo *topo; /* at least as many devices as the prog has ranks */
	enum net_kind net;
	struct coll_choice choice;      /* for collectives that do not name their algorithm */
	const uint32_t *device_of_rank; /* NULL: rank r on device r */
	/* For each device: compute tasks last so many millionths of their time; NULL: 1000000 each. */
	const uint32_t *compute_ppm;
	bool all_links;  /* every link that carried something, not only the 10 busiest */
	bool keep_spans; /* for timelines: memory grows with ranks x tasks */
	/* Of collectives over all ranks; NULL: the box of a topology whose devices the ranks are,
	 * one by one, else the dimensions that the group joins. `rings` without orders finds those
	 * that share no link. */
	const struct coll_shape *shape;
	uint64_t chunk_bytes;   /* see struct coll_call */
	const uint64_t *counts; /* of all-to-alls over all ranks; see struct coll_call */
	enum run_fold fold;
	struct run_memo *memo; /* of the same topology and network; NULL: none is kept */
	/* A rank adds what it receives in steps that reduce at this rate, one message after the
	 * other: the step counts as arrived for it that much later. 0: adding costs nothing. */
	uint64_t reduce_bytes_per_s;
	bool task_ends; /* when each task ended, of progs with one role */
	/* Of progs in lockstep under RUN_FOLD_AUTO: where the sum is not exact but the prog has more
	 * messages than this, the sum stays, and the result says so. 0: no limit. */
	uint64_t max_messages;
	/* Asked now and then while messages are carried, in whichever process that is: true ends
	 * the run with ERR_ANSWER. NULL: never. */
	bool (*stop)(void);
};

/* Where the time of one rank went, by its compute stream (stream 0). While that stream idles,
 * the time is exposed communication of the collective or transfer that is under way for the rank
 * (tp, then dp and other groups, then pipeline messages whose sender has posted them), else
 * bubble. A collective is under way from when its last rank has entered until this rank leaves
 * it, a message from when both ends are posted until it has arrived; a send on stream 0 that is
 * not eager keeps its sender waiting alike. `tp`: groups that join a dimension called "tp". A
 * wait on stream 0 is not busy time. The eight shares of every rank add up to the end of the
 * run. */
struct run_rank {
	tick forward, backward, optimizer, other_compute; /* busy on stream 0 */
	tick tp_exposed, dp_exposed, pp_exposed, bubble;
	tick end; /* of its last task */
};

struct run_span {
	uint32_t rank, role, task; /* task: index in the role */
	tick start, end;
};

struct run_coll {
	enum coll_kind kind;
	const char *group; /* name in the prog */
	uint32_t first_rank, n_ranks;
	uint64_t bytes;
	tick start, end; /* last rank entered; last rank left */
	tick first_entered;
};

struct run_link {
	uint32_t link; /* index in the topology */
	double bytes;
	double utilisation; /* bytes / (bandwidth x step time) */
};

struct run_result {
	tick end; /* of the last task of all ranks */
	struct run_rank *ranks;
	uint32_t n_ranks;
	/* In order of completion; of a folded prog one for each task, that of the first group. */
	struct run_coll *colls;
	uint32_t n_colls;
	uint64_t coll_bytes
		[N_COLL_KINDS]; /* payload by nccl-tests' convention, summed over instances */
	uint64_t p2p_bytes,
		n_messages; /* messages: all that the network carried, those of collectives too */
	double sent_bytes;  /* of all messages between two devices, those of collectives too */
	double energy_j;    /* of compute tasks whose cost knows it */
	struct run_link
		*links; /* the busiest first, at most 10 unless asked; none on a SimGrid platform */
	uint32_t n_links;
	struct run_span *spans; /* by (rank, start, task) when kept */
	uint32_t n_spans;
	const tick *task_ends; /* by index in the role: when the last rank ended it; when asked */
	uint32_t n_task_ends;
	/* Round by round: all ranks are alike. A collective alone has no ranks and no spans. */
	bool folded;
	/* Message by message, or folded and known to be the same; false: a sum that RUN_FOLD_ON or
	 * max_messages kept. */
	bool exact;
};

/* Tasks start when their stream is free and what they come after is done. A message leaves when
 * its send is posted, whether or not the recv is; ends match by (from, to, tag) in the order of
 * posting. The n-th collective of a group is the n-th in the order of the tasks; a step of its
 * schedule leaves when both its ranks have entered and have done their earlier rounds.
 * prog_check() is the caller's choice: what it calls ERR_INPUT is refused here too, and what it
 * calls ERR_ANSWER is run and ends in a deadlock, if it does.
 *
 * ERR_INPUT when the topology has fewer devices than the prog has ranks. ERR_ANSWER for a
 * deadlock: the cycle of waiting tasks, the waiters outside it (ranks folded into ranges), the
 * last thing each completed, and file:line of both ends. ERR_USAGE under RUN_FOLD_ON for a prog that
 * is not in lockstep, with the reason. */
bool run_prog(struct arena *a, const struct prog *p, const struct run_config *config,
	struct run_result *out, struct err *err);

/* A collective over devices[0 .. n_devices-1] in this order; with n_groups > 1 as many of them
 * at the same time, devices[g * n_devices ...] each, which compete for links. */
struct coll_request {
	const struct coll_algo *algo;
	const uint32_t *devices;
	uint32_t n_devices;
	uint64_t bytes;    /* payload by nccl-tests' convention */
	uint32_t n_groups; /* 0 means 1 */
};

/* One collective alone, all devices entering at 0: its time, folded as the configuration says.
 * ERR_INTERNAL for RUN_FOLD_ON on a SimGrid platform, whose routes only SimGrid knows. */
bool run_coll(struct arena *a, const struct coll_request *request, const struct run_config *config,
	struct run_result *out, struct err *err);

#endif
