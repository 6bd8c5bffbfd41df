/* Graph + accelerator + degrees -> prog: pipeline x tensor parallel x data parallel, memory check included. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/arena.h"
#include "base/err.h"
#include "device/device.h"
#include "graph/graph.h"
#include "prog/prog.h"

enum schedule { SCHEDULE_GPIPE, SCHEDULE_1F1B };
enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, RECOMPUTE_AUTO };
enum partition { PARTITION_UNIFORM, PARTITION_BALANCED };

bool schedule_find(const char *name, enum schedule *out); /* "gpipe", "1f1b" */
bool recompute_find(
	const char *name, enum recompute *out); /* "none", "selective", "full", "auto" */
bool partition_find(const char *name, enum partition *out); /* "uniform", "balanced" */
const char *schedule_name(enum schedule s);
const char *recompute_name(enum recompute r);
const char *partition_name(enum partition p);

/* Degrees of parallelism. Rank order: tp fastest, then dp, then pp. */
struct degrees {
	uint32_t pp, tp, dp;  /* at least 1 */
	uint64_t batch;       /* samples of the whole step */
	uint64_t micro_batch; /* of one pipeline pass; batch = dp * micro_batch * micro-batches */
};

/* ERR_INPUT with the rule that is broken: batch not divisible by dp * micro_batch, pp larger than the layers of the model. */
bool degrees_check(const struct degrees *d, const struct graph *forward, struct err *err);

struct plan_options {
	enum schedule schedule;
	enum recompute recompute; /* AUTO: none where it fits the memory, else full */
	enum partition partition;
	enum optimizer optimizer;
	bool intra_op_split;
	bool check_memory; /* otherwise memory is only reported */
	/* For pricing of a stage alone (partition, search); the prog itself carries collectives as tasks. */
	struct device_link link;
};

/* Bytes on one device of a stage. */
struct stage_memory {
	uint64_t weights_bytes, gradients_bytes, optimizer_bytes;
	uint64_t
		activation_bytes; /* of all micro-batches in flight, by schedule and recomputation */
	uint64_t total_bytes;
};

/* Costs of one stage on its accelerator for one micro-batch, collectives left out. */
struct stage {
	uint32_t first_layer, end_layer;
	tick forward, backward, update; /* update once a step; backward includes recomputation */
	uint64_t forward_cycles, backward_cycles; /* the same in cycles of its accelerator */
	double energy_j;                          /* of a whole step, one device */
	uint64_t macs; /* of forward + backward of a micro-batch, recomputation included */
	struct stage_memory memory;
	enum recompute recompute;    /* what AUTO came to */
	uint64_t send_forward_bytes; /* to the next stage; its gradient comes back with as many */
	uint64_t gradient_bytes;     /* all-reduced over dp */
	uint32_t in_flight;          /* micro-batches whose activations are held at once */
};

struct plan {
	struct prog prog; /* roles s0 .. s(pp-1) */
	struct stage *stages;
	uint32_t n_stages;
	uint32_t n_micro_batches;
};

/* `train` is the training graph of one micro-batch, sliced by d->tp. `archs` has one accelerator, used by all stages, or pp of them.
 *
 * A stage's pass is cut into segments at its tensor-parallel collectives; operators between two of them are priced as one device_run().
 * Weight gradients that no later segment needs run beside the collective of their segment. Identical segments are priced once. Streams: 0 compute, 1
 * tensor-parallel collectives, 2-5 pipeline messages (forward send, forward receive, backward send, backward receive), 6 data-parallel collectives.
 *
 * ERR_ANSWER: out of device memory, naming the stage, the largest parts and what would fit. Else as degrees_check(). */
bool plan_build(struct arena *a, const struct graph *train, const struct arch *archs,
	uint32_t n_archs, const struct degrees *d, const struct plan_options *options,
	struct plan *out, struct err *err);

/* Layer ranges of the stages: pp + 1 boundaries. Uniform: as many layers each, the first stages one more where they do not divide. Balanced: the slowest stage's
 * forward + backward time is smallest (dynamic programming over simulated times); ties to the earlier boundary. */
bool plan_partition(struct arena *a, const struct graph *train, const struct arch *arch,
	uint32_t pp, const struct plan_options *options, uint32_t *boundaries, struct err *err);

/* Prices layers [first, end) as a stage, without collectives and without a pipeline around it (in_flight 1). */
void plan_price_stage(struct arena *a, const struct graph *train, const struct arch *arch,
	uint32_t first_layer, uint32_t end_layer, const struct plan_options *options,
	struct stage *out);

#endif
