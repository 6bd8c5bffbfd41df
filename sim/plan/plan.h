/* Graph + accelerator + degrees -> prog: pipeline x tensor parallel x data parallel, memory check
 * included. */
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

/* Degrees of parallelism. Rank order: tp fastest, then dp, then pp. */
struct degrees {
	uint32_t pp, tp, dp;  /* at least 1 */
	uint64_t batch;       /* samples of the whole step */
	uint64_t micro_batch; /* of one pipeline pass; batch = dp * micro_batch * micro-batches */
};

enum { PLAN_MAX_MICRO_BATCHES = 1 << 20, PLAN_MAX_TASKS = 1 << 24 };

/* ERR_INPUT with the rule that is broken and its numbers: a degree of 0, batch not divisible by
 * dp * micro_batch, pp larger than the layers of the model, more devices than PROG_MAX_RANKS, more
 * micro-batches than PLAN_MAX_MICRO_BATCHES. */
bool degrees_check(const struct degrees *d, const struct graph *forward, struct err *err);

struct plan_options {
	enum schedule schedule;
	enum recompute recompute; /* AUTO: none where it fits the memory, else full */
	enum partition partition;
	enum optimizer optimizer;
	enum fidelity fidelity; /* of the device */
	bool intra_op_split;
	bool check_memory; /* otherwise memory is only reported */
	/* For the balanced partition; the prog itself carries collectives as tasks. */
	struct device_link link;
};

/* What a plan is made of. `train` is the training graph of one micro-batch, sliced by degrees->tp.
 * `archs` has one accelerator, used by all stages, or pp of them. */
struct plan_input {
	const struct graph *train;
	const struct arch *archs;
	uint32_t n_archs;
	const struct degrees *degrees;
	const struct plan_options *options;
};

/* Bytes on one device of a stage.
 *
 * By trained parameter, as mixed precision training keeps them (Micikevicius et al. 2018;
 * Megatron-LM with fp32 main gradients, 18 bytes with Adam):
 *     elements of 2 bytes: weights 2, gradients 4, optimizer 4 (fp32 copy) + SGD 0, momentum 4,
 *     Adam 8
 *     elements of 4 bytes: weights 4, gradients 4, optimizer SGD 0, momentum 4, Adam 8
 * Activations: what every micro-batch in flight keeps by recomputation (struct graph_memory: all,
 * all but the recomputable operators' own, inputs of layers only), and with recomputation once the
 * most that a single layer makes again. */
struct stage_memory {
	uint64_t weights_bytes, gradients_bytes, optimizer_bytes;
	uint64_t
		activation_bytes; /* of all micro-batches in flight, by schedule and recomputation */
	uint64_t total_bytes;
	uint64_t micro_batch_bytes; /* of activation_bytes: what one micro-batch keeps */
	uint64_t remade_bytes;      /* and what a backward pass makes again */
};

/* Layers [first_layer, end_layer) of a training graph as a stage. */
struct memory_request {
	const struct graph *train;
	uint32_t first_layer, end_layer;
	enum optimizer optimizer;
	enum recompute recompute; /* AUTO counts as none */
	uint32_t in_flight;       /* micro-batches */
};
struct stage_memory plan_stage_memory(const struct memory_request *request);

/* Pieces of micro-batches that the first stage holds under 1F1B when each device has `chunks`
 * pieces of the model and the pipeline never runs short of micro-batches: pp with one, pp chunks +
 * pp - 1 with more, which is 1 + (pp - 1) / (pp chunks) of all layers (arXiv 2205.05198, section
 * 4.2.3). */
uint32_t schedule_chunks_in_flight(uint32_t pp, uint32_t chunks);

/* What makes micro_batch_bytes of a stage, the largest first. Returns how many. */
uint32_t plan_kept_tensors(struct arena *a, const struct graph *train, uint32_t first_layer,
	uint32_t end_layer, enum recompute recompute, struct graph_kept **out);

/* Costs of one stage on its accelerator for one micro-batch, collectives left out: the sum over its
 * segments. */
struct stage {
	uint32_t first_layer, end_layer;
	tick forward, backward, update; /* update once a step; backward includes recomputation */
	uint64_t forward_cycles, backward_cycles; /* the same in cycles of its accelerator */
	double energy_j;                          /* of a whole step, one device */
	struct event_counts counts;               /* likewise; no links */
	uint64_t macs; /* of forward + backward of a micro-batch, recomputation included */
	struct stage_memory memory;
	enum recompute recompute;    /* what AUTO came to */
	uint64_t send_forward_bytes; /* to the next stage; its gradient comes back with as many */
	uint64_t gradient_bytes;     /* all-reduced over dp: fp32, 4 bytes a parameter */
	uint32_t
		in_flight; /* micro-batches whose activations are held at once: GPipe m, 1F1B min(m, pp - stage) */
	/* Tensor-parallel collectives of a micro-batch, recomputation included; 0 without tensor
	 * parallelism. */
	uint32_t forward_collectives, backward_collectives;
	uint64_t forward_collective_bytes, backward_collective_bytes;
};

struct plan {
	struct prog prog; /* roles s0 .. s(pp-1) */
	struct stage *stages;
	uint32_t n_stages;
	uint32_t n_micro_batches;
	enum schedule schedule;
};

/* Of several accelerators a balanced partition is made for the first one. The plan lives in `a` and
 * keeps nothing of the input.
 *
 * A stage's pass is cut into segments at its tensor-parallel collectives: an operator belongs to
 * the segment whose number is how many collectives stand before it on the longest way from the
 * start of the pass within the stage. The operators of a segment are priced as one device_run();
 * its collectives over "tp", all-reduces or, with sequence parallelism, all-gathers and
 * reduce-scatters, come after it, and the next segment after them. Weight gradients that no later
 * segment needs run beside the collectives of their segment. With tp = 1 a pass is one task. Equal
 * segments (same works, same dependencies) are priced once.
 * Streams: 0 compute, 1 tensor-parallel collectives, 2-5 pipeline messages (forward send, forward
 * receive, backward send, backward receive; tags "f3" and "b3" by micro-batch), 6 data-parallel
 * collectives. Cost keys: stage, pass and number of the segment, "s0.fwd.2", "s0.bwd.2", "s0.dw.2"
 * (late weight gradients), "s0.rec.2" (full recomputation), "s0.upd".
 *
 * GPipe (Huang et al. 2019): all forward passes, then the backward passes in reverse. 1F1B
 * (PipeDream-Flush, Narayanan et al. 2021): min(m, pp - stage - 1) forward passes, then one forward
 * and one backward in turn, then the remaining backward passes. After the last one the gradients
 * are all-reduced over "dp" as one message and the optimizer runs.
 * Recomputation is a part of the backward pass, after the gradient has come: full runs the forward
 * segments and their collectives again; selective runs the recomputable operators of every layer
 * again, layer by layer, ahead of the segment that needs them first.
 *
 * ERR_ANSWER: out of device memory, naming the stage, the largest parts and what would fit.
 * ERR_INPUT: as degrees_check(); a graph of another micro-batch or slicing; more than
 * PLAN_MAX_TASKS tasks. */
bool plan_build(struct arena *a, const struct plan_input *in, struct plan *out, struct err *err);

/* Layer ranges of the stages: pp + 1 boundaries; of the degrees only pp counts, of the accelerators
 * the first. Uniform: as many layers each, the first stages one more where they do not divide.
 * Balanced: the slowest stage's forward + backward time is smallest by dynamic programming; ties to
 * the earlier boundary. The time of a range of layers is taken as the sum of its layers, each
 * simulated alone, collectives included as options->link says: it leaves out what neighbouring
 * layers overlap. RECOMPUTE_AUTO counts as none here. Memory is not considered. Where a workload
 * file has cuts for pp stages (graph.h), these are the boundaries. `boundaries` has room for pp +
 * 1. ERR_INPUT: pp larger than the layers. */
bool plan_partition(
	struct arena *a, const struct plan_input *in, uint32_t *boundaries, struct err *err);

/* Prices layers [first, end) as a stage on the first accelerator, whatever the degrees, without
 * collectives and without a pipeline around it (in_flight 1, energy of one micro-batch and an
 * update). What `out` says about collectives and messages is as in plan_build(). */
void plan_price_stage(struct arena *a, const struct plan_input *in, uint32_t first_layer,
	uint32_t end_layer, struct stage *out);

#endif
