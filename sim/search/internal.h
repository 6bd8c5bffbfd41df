/* What the files of search/ share. */
#ifndef SEARCH_INTERNAL_H
#define SEARCH_INTERNAL_H

#include "analytic/analytic.h"
#include "base/workers.h"
#include "device/device.h"
#include "search/search.h"

/* ---- space.c: the dimension points ---- */

enum { LATTICE_MAX = 32 };

/* All (rows, cols, width, SRAM): powers of two, ascending. A point is an index below n_points;
 * halving one dimension makes the index smaller, so ascending order visits every descendant of a
 * point before the point. */
struct lattice {
	uint32_t n_dim, n_width, n_sram, n_points;
	uint32_t dims[LATTICE_MAX], widths[LATTICE_MAX];
	uint64_t srams[LATTICE_MAX];
};

enum { LATTICE_AXES = 4 };

/* Positions on the axes rows, cols, width, SRAM. */
struct lattice_at {
	uint32_t at[LATTICE_AXES];
};

/* ERR_INPUT when the space holds no power of two, or no core. */
bool lattice_build(const struct search_space *space, struct lattice *out, struct err *err);
struct lattice_at lattice_locate(const struct lattice *l, uint32_t point);
uint32_t lattice_point(const struct lattice *l, const struct lattice_at *where);
/* One core of each kind. */
struct design lattice_design(const struct lattice *l, uint32_t point);
/* Halvings from the root, which is the last point. */
uint32_t lattice_depth(const struct lattice *l, uint32_t point);
/* Points that differ by one halving; returns how many. */
uint32_t lattice_children(const struct lattice *l, uint32_t point, uint32_t children[LATTICE_AXES]);
uint32_t lattice_parents(const struct lattice *l, uint32_t point, uint32_t parents[LATTICE_AXES]);

bool design_fits(const struct search_config *config, const struct design *d);
/* Most tensor (or vector) cores within the budget, the other count as it is; 0 when not even one
 * fits. Area and TDP grow with the counts, so bisection finds it. */
uint32_t design_max_tc(const struct search_config *config, const struct design *d);
uint32_t design_max_vc(const struct search_config *config, const struct design *d);
/* Total order by tc, rows, cols, vc, width, SRAM. */
int design_compare(const struct design *a, const struct design *b);

/* ---- problem.c: workloads cut into distinct stages ---- */

enum phase { PHASE_IN_FORWARD, PHASE_IN_BACKWARD, PHASE_IN_UPDATE };
enum { N_PHASES = 3 };

/* Operators that run by themselves, one list after the other. */
struct stage_part {
	const op_id *ids;
	uint32_t n_ids;
	/* In each phase: forward operators run again in the backward pass of full recomputation. */
	uint32_t repeat[N_PHASES];
	uint32_t times; /* in one step */
};

/* A layer range of a workload on one device, as the oracle runs it. */
struct search_stage {
	const struct graph *graph;
	struct stage_part *parts;
	uint32_t n_parts;
	uint32_t n_micro_batches;
	uint64_t batch;     /* samples of the whole step */
	uint32_t n_devices; /* of the whole workload */
	struct device_options device;
	/* step time of the first baseline on this stage alone; 0 without baselines */
	tick reference;
};

struct problem_stage {
	uint32_t distinct; /* index into the problem's stages */
	uint64_t send_bytes;
	tick gradient_reduction;
};

struct problem_workload {
	struct degrees degrees;
	struct plan_options options;
	uint32_t n_micro_batches;
	uint32_t *boundaries; /* pp + 1 */
	struct problem_stage *stages;
	uint32_t n_stages;
	tick link_latency;
	uint64_t link_bytes_per_s;
	double reference_samples_per_s; /* of the first baseline, by the closed form; 0 without */
};

struct problem {
	const struct search_config *config;
	struct lattice lattice;
	struct search_stage *stages; /* distinct ones of all workloads */
	uint32_t n_stages;
	struct problem_workload *workloads; /* config->n_workloads */
};

/* Stages are those of the plan on config->base; ones with the same operators and dependencies
 * are one. */
bool problem_build(
	struct arena *a, const struct search_config *config, struct problem *out, struct err *err);

/* ---- oracle.c: the price of a design on a stage ---- */

struct stage_cost {
	tick time[N_PHASES];   /* forward, backward: of one micro-batch */
	tick tc_busy, vc_busy; /* summed over cores and a whole step */
};

tick stage_step(const struct search_stage *s, const struct stage_cost *c);

/* An operator that waited for a core beyond its ALAP. */
struct conflict {
	op_id forward; /* the forward operator that it mirrors */
	enum core core;
	tick delay; /* times the number of its runs in a step */
};

struct part_run {
	uint32_t tc, vc;
	tick makespan, tc_busy, vc_busy;
	bool tc_binds, vc_binds; /* an operator may have waited for a core of this kind */
	struct conflict *conflicts;
	uint32_t n_conflicts;
	struct part_run *next;
};

/* A stage on given dimensions, any counts. Everything is priced once; a design is simulated
 * once. */
struct oracle {
	const struct search_stage *stage;
	struct device_part **parts; /* of each part of the stage */
	struct part_run **runs;
	struct arena arena;
	uint64_t calls; /* different (tc, vc) asked for */
	struct oracle_call *seen;
};

void oracle_open(struct oracle *o, const struct search_stage *s, const struct arch *arch);
void oracle_close(struct oracle *o);
/* A device schedule that never found the cores of a kind all busy is the same schedule with more
 * of them; such a part is not run again. */
void oracle_price(struct oracle *o, uint32_t tc, uint32_t vc, struct stage_cost *out);
/* The run of one part for these counts; after oracle_price() it is there already. */
const struct part_run *oracle_part(struct oracle *o, uint32_t part, uint32_t tc, uint32_t vc);

/* ---- score.c: from times to the metric ---- */

/* Higher is better. perf-per-tdp: samples/s per TDP watt of all devices, or a negative number,
 * the missing share of the throughput, for a design below the floor. */
double score_stage(
	const struct search_config *config, const struct search_stage *s, tick step, double tdp_w);
/* By the closed form over all stages of all workloads; `costs` has one entry per distinct stage. */
double score_design(const struct problem *p, const struct stage_cost *costs, double tdp_w);
/* Weighted geometric mean relative to the first baseline for several workloads. */
double score_samples(const struct problem *p, const double *samples_per_s, double tdp_w);
struct analytic_estimate score_step(
	const struct problem *p, uint32_t workload, const struct stage_cost *costs);
/* True when `a` is better than `b` by more than the share `eps`. */
bool score_improves(double a, double b, double eps);

/* ---- candidate.c ---- */

struct candidate {
	struct design design;
	double score, area_mm2;
	struct stage_cost *costs; /* one per distinct stage */
	bool *known;
};

/* The best `cap` candidates, best first: by score, then area, then design_compare(). */
struct candidates {
	struct candidate *list;
	uint32_t n, cap;
};

void candidates_init(struct arena *a, struct candidates *c, uint32_t cap);
/* Keeps it when it is among the best and its design is not there yet. */
void candidates_add(struct candidates *c, const struct candidate *candidate);
/* Score of the worst of a full list, otherwise -HUGE_VAL: what a newcomer must beat. */
double candidates_worst(const struct candidates *c);
struct candidate candidate_make(
	struct arena *a, const struct problem *p, const struct design *d, double score);

/* ---- point.c: the best counts of one dimension point ---- */

struct point_result {
	bool fits;
	uint64_t calls;
	struct design design;
	double score;
	struct stage_cost costs[]; /* one per stage asked for */
};

/* ---- mcr.c ---- */

/* Mirror conflict resolution on one stage, starting at one core of each kind. */
void mcr_run(const struct problem *p, uint32_t stage, uint32_t point, struct point_result *out);

/* ---- bound.c ---- */

struct bounds {
	double *point;   /* no counts on this point score higher */
	double *subtree; /* nor on any descendant */
};

/* Score bounds of one stage for every point:
 *
 * A part with n_tc and n_vc cores lasts at least
 *     max(critical path at infinite cores, TC work / n_tc, VC work / n_vc, DRAM bytes / bandwidth)
 * where an operator's duration is that of the device alone with the point's array (tensor-core
 * and fused operators) or vector width (vector operators), the widest vector core for fused
 * operators and the largest buffer of the space: wider lanes and larger buffers never make an
 * operator slower. A core is held at least that long, and sharing memory only stretches it. The
 * score of a point is at most the best over all (n_tc, n_vc) on the edge of the budget (perf-
 * per-tdp: with the TDP of n_tc and one vector core); that of a subtree is at most the largest
 * of its points. */
void bounds_build(struct arena *a, const struct problem *p, uint32_t stage, struct bounds *out);

/* ---- search.c, global.c, evaluate.c, finalist.c ---- */

/* A running search. */
struct run_state {
	struct arena *arena;
	struct problem problem;
	struct search_result *out;
};

/* Fills `found`, to which the driver adds the baselines, and counts its oracle calls in
 * run->out. */
typedef bool search_propose(struct run_state *run, struct candidates *found, struct err *err);
bool search_drive(struct arena *a, const struct search_config *config, search_propose *propose,
	struct search_result *out, struct err *err);

/* Counts the calls of a result that has the costs of all stages, and keeps its design. */
void search_keep(struct run_state *run, struct candidates *found, const struct point_result *r);
void search_progress(const struct run_state *s, double best);
/* True when config->max_calls is used up. */
bool search_spent(const struct run_state *s);

/* Merges the candidates' unknown stage costs by the oracle, ranks them by the closed form,
 * simulates the best k and the baselines, and fills the result. */
bool global_finish(struct run_state *s, struct candidates *found, struct err *err);

/* A design of the final ranking. */
struct contestant {
	struct arch arch;
	/* one per distinct stage; evaluate_all() prices those of baselines */
	struct stage_cost *costs;
	bool is_baseline;
	struct outcome *outcomes; /* one per workload, in the run's arena */
};

/* Fills the outcomes. Memory is not checked for baselines. */
bool evaluate_all(struct run_state *run, struct contestant *list, uint32_t n, struct err *err);
bool finalists_evaluate(struct run_state *s, const struct candidates *ranked, struct err *err);
bool problem_check_fits(const struct problem *p, struct err *err);
void baseline_design(const struct arch *arch, struct design *out);

extern const struct search_algo search_exhaustive, search_random, search_wham;

#endif
