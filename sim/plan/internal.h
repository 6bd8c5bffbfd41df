/* What the files of plan/ share and nobody else needs. */
#ifndef PLAN_INTERNAL_H
#define PLAN_INTERNAL_H

#include "plan/plan.h"

enum { GRADIENT_BYTES = 4 };

/* A range of layers, [first, end). */
struct layers {
	uint32_t first, end;
};

/* The part of a pass between two collectives. */
struct segment {
	const op_id *ids; /* ascending, as all lists here */
	uint32_t n_ids;
	const op_id *late; /* weight gradients that may run beside the collectives */
	uint32_t n_late;
	const op_id *links; /* collectives that follow */
	uint32_t n_links;
};

struct pass {
	const struct segment *segments;
	uint32_t n_segments;
};

/* Operators of the passes in `mask`; without `cut` all of them are one segment. */
struct pass plan_cut(
	struct arena *a, const struct graph *g, struct layers layers, uint32_t mask, bool cut);

struct price {
	tick duration;
	double energy_j;
	uint64_t macs;
	struct event_counts counts;
};

/* Prices lists of operators on one of `archs`; what has the same works and dependencies as an
 * earlier list is not simulated again. Lives in `a`. */
struct pricer;
struct pricer *pricer_create(struct arena *a, const struct graph *g, const struct arch *archs,
	const struct device_options *options);
struct price pricer_price(struct pricer *p, uint32_t arch, const op_id *ids, uint32_t n_ids);
uint32_t pricer_n_runs(const struct pricer *p); /* how often it simulated */

/* A collective over the tensor-parallel group. */
struct link {
	enum link_kind kind;
	uint64_t bytes;
};

/* A segment with its costs. */
struct step {
	const char *pass; /* of the cost's key: "fwd", "bwd", "rec" */
	uint32_t number;
	bool computes, is_late; /* whether there is something in `cost`, in `late` */
	struct price cost, late;
	const struct link *colls;
	uint32_t n_colls;
};

struct priced_pass {
	struct step *steps;
	uint32_t n_steps;
	struct price sum;
	uint32_t n_colls;
	uint64_t coll_bytes;
};

struct stage_costs {
	struct priced_pass forward, backward; /* backward with recomputation */
	struct price update;
	bool updates;
};

struct stage_request {
	const struct graph *graph;
	uint32_t arch; /* index in the pricer's list */
	struct layers layers;
	enum recompute recompute; /* not AUTO */
};

struct stage_costs stage_price(
	struct arena *a, struct pricer *pricer, const struct stage_request *request);

/* Fills everything of `stage` that costs decide. `n_micro_batches` is for the energy. */
void stage_fill(struct stage *stage, const struct stage_costs *costs, const struct arch *arch,
	uint32_t n_micro_batches);

struct stage_memory stage_memory(const struct graph *g, struct layers layers,
	enum optimizer optimizer, enum recompute recompute, uint32_t in_flight);

/* Sets memory, recompute, gradient_bytes and send_forward_bytes of a stage whose layers and
 * in_flight are set. */
void stage_place(struct stage *stage, const struct graph *g, const struct arch *arch,
	const struct plan_options *options);

/* Sets the text of a stage that does not fit; returns false. */
bool stage_refuse(const struct plan *plan, uint32_t stage, const struct graph *g,
	const struct arch *arch, enum optimizer optimizer, struct err *err);

/* A turn of a stage: one micro-batch forward or backward. */
struct turn {
	bool backward;
	uint32_t micro_batch;
};

/* The k-th of the 2 m turns of a stage. */
struct turn schedule_turn(
	enum schedule schedule, uint32_t stage, uint32_t n_stages, uint32_t m, uint32_t k);
uint32_t schedule_in_flight(enum schedule schedule, uint32_t stage, uint32_t n_stages, uint32_t m);

/* Tasks of all stages of the plan into its prog. */
void plan_emit(struct arena *a, struct plan *plan, const struct stage_costs *costs,
	const struct degrees *d);

/* At least as many as plan_emit() makes. */
uint64_t plan_count_tasks(const struct plan *plan, const struct stage_costs *costs);

#endif
