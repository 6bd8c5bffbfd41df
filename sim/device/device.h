/* One accelerator executing (part of) a graph: list scheduling of operators on cores as discrete
 * events. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "arch/energy.h"
#include "base/arena.h"
#include "base/units.h"
#include "graph/graph.h"

/* Tensor-parallel collectives (CORE_LINK) inside the part, as a ring: 2(ranks-1) steps of
 * bytes/ranks for an all-reduce, half as many for the others. With ranks <= 1 they cost nothing. */
struct device_link {
	uint32_t ranks;
	uint64_t bytes_per_s;
	tick latency;
};

/* How long an all-reduce takes. */
tick device_link_time(const struct device_link *link, uint64_t bytes);

/* Operators `ids` of a graph, ascending. */
struct graph_part {
	const struct graph *g;
	const op_id *ids;
	uint32_t n_ids;
};

/* How memory is simulated. */
enum fidelity {
	FIDELITY_FLUID, /* bandwidth shared as a fluid: rates change at every start and end */
	FIDELITY_TILE,  /* every tile is loaded, computed and stored; see device_run() */
};
bool fidelity_find(const char *name, enum fidelity *out); /* "fluid", "tile" */

struct device_options {
	enum fidelity fidelity;
	/* An operator takes all cores of its type, so operators of a type follow each other;
	 * otherwise it takes one core (WHAM's rule). */
	bool intra_op_split;
	struct device_link link;
};

/* ASAP and ALAP start times with unlimited cores, and their difference; by WHAM's annotation
 * (released code, populate_asap/alap). */
struct op_timing {
	/* Alone on the device: max of compute and memory, plus launch overhead and first fill. */
	tick duration;
	tick asap, alap, mobility;
	uint32_t depth; /* 1 where nothing comes before */
};

struct op_run {
	tick start, end, ready; /* ready: last predecessor ended */
	uint32_t tc, vc;        /* first core held; UINT32_MAX where none */
	tick memory_stall; /* end - start beyond launch and compute time: first fill and slow memory */
	bool conflict;     /* started after it was ready because every core of its type was busy */
	/* Whose end let it start, in the order of `ids`: its last predecessor, or who gave it the
	 * core. UINT32_MAX: it started at 0. */
	uint32_t after;
};

struct device_result {
	tick makespan;
	struct op_run *runs;      /* in the order of `ids` */
	struct op_cost *costs;    /* likewise */
	struct op_time *times;    /* likewise: where the time goes when it is alone */
	struct op_timing *timing; /* likewise: mobility and its parts */
	uint32_t n;
	tick tc_busy, vc_busy, link_busy; /* summed over cores */
	uint64_t dram_bytes, macs, lane_ops;
	struct event_counts counts; /* the same and more; no links */
	double energy_j;    /* dynamic energy of the operators plus idle power over the makespan */
	tick critical_path; /* longest path at infinite cores and its own memory rate */
	uint64_t n_events;  /* fired by the event engine */
	/* Some operator would last longer than time can count (213 days over all of them): all
	 * times are too small. */
	bool clamped;
};

/* Runs the operators (predecessors outside the part count as done at 0) on a clean device. Ready
 * operators start by (mobility, ALAP, depth, id). HBM bandwidth is shared among running
 * operators: rates are recomputed at every start and finish, an operator progresses at the
 * smaller of its compute rate and its share of memory (max-min fair).
 *
 * An operator holds its cores for launch_overhead, then hbm_latency when it touches DRAM (the
 * exposed first fill), then the rest of arch_op_time() or longer when others use the memory too.
 * Operators without work (CORE_NONE, a collective among one rank) end the moment they are ready
 * and take no core. Collectives run one at a time beside the cores and leave memory alone. Each
 * operator is priced with the whole global buffer: what operators that run together take from
 * each other is not modelled.
 *
 * Tile fidelity: an operator takes the steps of arch/arch.h in the order of its tiling. What a
 * step needs and is not there is read first; reads go ahead of the computing as far as half of
 * the buffer has room (all of it when the operands fit), and what a step has made is written
 * behind it, in the same room. Memory serves operators in turn, 256 KiB each, reads before
 * writes; what is read arrives a latency later. */
void device_run(struct arena *a, const struct arch *arch, const struct graph_part *ops,
	const struct device_options *options, struct device_result *out);

/* Time that the i-th operator ran longer than alone because others used the memory. */
tick device_contention(const struct device_result *r, uint32_t i);

/* The chain of operators that made the makespan what it is, first to last, each started by the end
 * of the one before (op_run.after). `chain` has room for r->n; returns its length. */
uint32_t device_critical_chain(const struct device_result *r, uint32_t *chain);

/* As device_run(), only the annotation. `timing` has ops->n_ids elements. */
void device_annotate(struct arena *a, const struct arch *arch, const struct graph_part *ops,
	const struct device_options *options, struct op_timing *timing);

/* Costs computed once and shared: a device_run() on the same graph and dimensions but other core
 * counts can skip pricing. Prepare once per (graph part, arch dimensions), then run with any
 * tc_count and vc_count (one-core rule only). */
struct device_part;
struct device_part *device_prepare(struct arena *a, const struct arch *arch,
	const struct graph_part *ops, const struct device_options *options);
/* `scratch` may be freed after the call when only numbers of `out` are used. */
void device_run_part(struct arena *scratch, const struct device_part *part, uint32_t tc_count,
	uint32_t vc_count, struct device_result *out);
const struct op_timing *device_part_timing(const struct device_part *part);

#endif
