/* Mining accelerators: the WHAM search (arXiv 2404.14632) and its references, on one oracle.
 *
 * A design is <#TC, TC rows x cols, #VC, VC width, SRAM>. A workload is a training graph with its
 * degrees. It is cut into pipeline stages as its plan does it on the base accelerator; stages with
 * the same operators are one. The oracle prices a design on a stage by list-scheduling the stage's
 * forward, backward and update operators on the device simulator, one core for an operator (WHAM's
 * rule; plan_options.intra_op_split does not count here): that is one oracle call.
 *
 *   wham        per stage: a tree of dimensions, each child with one of rows, cols, width or SRAM
 *               halved; at every point mirror conflict resolution finds the counts; branches end
 *               after `hysteresis` levels without gain, or when their bound cannot beat the k-th
 *               best. The bound: a part of a step lasts at least max(critical path at infinite
 *               cores, work / most cores in the budget, DRAM bytes / bandwidth).
 *   exhaustive  every point with all counts, without those that are proven to change nothing
 *   random      `max_calls` designs within the budget
 *
 * The union of the stages' best and the baselines that fit the budget (their counts and sizes, on
 * the base's clock, memory and links) is then priced on all stages and ranked by the closed form of
 * the pipeline; the best k and the baselines are simulated, and ranked by that. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/arena.h"
#include "base/err.h"
#include "coll/coll.h"
#include "graph/graph.h"
#include "net/net.h"
#include "plan/plan.h"
#include "topo/topo.h"

enum metric { METRIC_THROUGHPUT, METRIC_PERF_PER_TDP };
enum search_mode { MODE_INDIVIDUAL, MODE_COMMON };
bool metric_find(const char *name, enum metric *out);           /* "throughput", "perf-per-tdp" */
bool search_mode_find(const char *name, enum search_mode *out); /* "individual", "common" */

struct design {
	uint32_t tc, rows, cols, vc, width;
	uint64_t sram_bytes;
};

/* Powers of two within the bounds, both ends included. */
struct search_space {
	uint32_t min_dim, max_dim;               /* rows, cols, VC width: 4 .. 256 by default */
	uint32_t max_count;                      /* of cores of a kind: 4096 */
	uint64_t min_sram_bytes, max_sram_bytes; /* 2 .. 128 MiB */
	uint32_t max_width; /* of vector cores where it is not max_dim; 0: max_dim */
};

struct search_budget {
	double area_mm2, tdp_w; /* upper limits */
	/* perf-per-tdp: least samples/s relative to the reference accelerator (1.0: no slower);
	 * 0: none */
	double floor;
};

struct workload {
	const char *name;
	const struct graph *train; /* of one micro-batch, fused, sliced by degrees.tp */
	struct degrees degrees;
	struct plan_options options;
	double weight; /* in `common`; 1 */
};

struct search_config {
	const struct workload *workloads;
	uint32_t n_workloads;
	struct arch base; /* clock, HBM, links, node, area model, dataflow of every design */
	/* Printed beside the designs; candidates of the final ranking where they fit. The first is
	 * what floors, and scores over several workloads, are relative to. */
	const struct arch *baselines;
	uint32_t n_baselines;
	enum metric metric;
	enum search_mode mode; /* individual: exactly one workload, the caller repeats the search */
	struct search_space space;
	struct search_budget budget;
	uint32_t top_k;           /* designs kept per stage and reported: 10 */
	uint32_t hysteresis;      /* levels without improvement before a branch is left: 2 */
	uint64_t seed, max_calls; /* max_calls 0: no limit (random: 1000) */
	uint32_t jobs;            /* forked workers; the result is the same for any number */
	const struct topo *topo;  /* NULL: one accelerator, or pure analytic pipeline */
	enum net_kind net;
	struct coll_choice choice;
	const uint32_t *device_of_rank, *compute_ppm; /* as in struct run_config */
	/* Now and then, with the best score so far (of one stage for wham); may be NULL. */
	void (*progress)(void *ctx, uint64_t calls, double best);
	void *progress_ctx;
	/* Asked between points; true ends the proposals, and what was found is ranked. NULL: never. */
	bool (*stop)(void);
};

/* One workload on one design, by the full simulator where there is a topology. */
struct outcome {
	double samples_per_s;
	tick step;             /* simulated */
	tick uncontended_step; /* the same plan on the analytic network: no link is shared */
	tick analytic_step;    /* closed form of the same step */
	double energy_j_per_sample;
	double tc_utilisation,
		vc_utilisation; /* busy share over the compute time of the slowest stage */
};

struct finalist {
	struct design design;
	struct arch arch;
	const char *name; /* of a baseline; NULL for a mined design */
	double area_mm2, tdp_w;
	struct outcome *outcomes; /* one per workload */
	/* throughput: samples/s. perf-per-tdp: samples/s per TDP watt of all devices; below the
	 * floor the share of it that is missing, as a negative number. For several workloads the
	 * weighted geometric mean relative to the first baseline. */
	double score;
	double *ratios; /* samples/s relative to each baseline (geometric mean over workloads) */
};

struct search_result {
	struct finalist *finalists; /* best first, at most top_k; mined designs only */
	uint32_t n_finalists;
	struct finalist
		/* n_baselines, evaluated alike (also when they break the budget or lack device
		 * memory) */
		*baselines;
	uint64_t oracle_calls; /* designs priced on a stage while searching */
	uint64_t simulations; /* steps run on the network: finalists and baselines, each workload */
	uint64_t pruned_points; /* dimension points and roots of subtrees cut by their bounds */
};

struct search_algo {
	const char *name; /* "exhaustive", "random", "wham" */
	bool (*run)(struct arena *a, const struct search_config *config, struct search_result *out,
		struct err *err);
};

/* Sorted by name, NULL at the end. */
extern const struct search_algo *const search_algos[];
const struct search_algo *search_algo_get(
	const char *name, struct err *err); /* ERR_USAGE with the nearest */

/* ERR_ANSWER when nothing fits the budget: says the smallest design and what it would need. */
bool search_run(struct arena *a, const struct search_algo *algo, const struct search_config *config,
	struct search_result *out, struct err *err);

struct arch design_arch(const struct design *d, const struct arch *base);

#endif
