/* Model, batch and domain parallelism on a grid of Pr x Pc processes: what each process holds and
 * sends. Gholami, Azad, Jin, Keutzer, Buluc, "Integrated Model, Batch and Domain Parallelism in
 * Training Neural Networks" (SPAA 2018, arXiv 1712.04432v3), section 2 and Fig. 5. */
#ifndef PLAN_GRID_H
#define PLAN_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "graph/graph.h"
#include "plan/iteration.h"

/* A layer with weights; counts are per sample. */
struct grid_layer {
	const char *name;
	bool conv;        /* false: fully connected */
	uint64_t weights; /* without biases; of all groups together */
	uint64_t d_in,
		d_out; /* activations that it reads and writes, before any pooling that follows */
	/* Height, width and channels; a fully connected layer knows those of the image that was
	 * flattened for it, or has zeros. */
	uint32_t in_h, in_w, in_c, out_h, out_w, out_c;
	uint32_t kernel_h, kernel_w;
	uint32_t outputs; /* channels or features, which model parallelism shares out */
	op_id op;         /* in the forward graph */
	bool first; /* nothing trained comes before it: nobody wants the gradient of its input */
};

/* Convolutions and products with a trained matrix, in order; names are the graph's. Returns how
 * many. */
uint32_t grid_layers(struct arena *a, const struct graph *forward, struct grid_layer **out);

/* What the Pr dimension of the grid does to a layer. */
enum grid_way {
	GRID_BATCH, /* further samples: all P processes hold all weights */
	GRID_MODEL, /* parts of the outputs, so parts of the weights */
	/* Strips of the image's height; convolutions only. A row of the output stands where the
	 * middle row of its kernel does, so that strips of outputs follow those of inputs. */
	GRID_DOMAIN,
};
enum { N_GRID_WAYS = 3 };
const char *grid_way_name(enum grid_way way); /* "batch" */

struct process_grid {
	uint32_t pr, pc; /* P = pr x pc */
};

struct grid_question {
	const struct grid_layer *layers;
	uint32_t n_layers;
	uint64_t batch;           /* samples of an iteration over all processes */
	struct process_grid grid; /* of all layers, */
	struct process_grid conv; /* unless convolutions have their own of as many: pr > 0 */
	uint32_t word_bytes;
};

struct process_grid grid_of(const struct grid_question *q, uint32_t layer);

/* ERR_INPUT with the layer and the rule: Pr above a layer's outputs, a halo higher than the
 * strip that a process has, a fully connected layer in strips, fewer samples than processes. Strips
 * count as even here, though those that follow a layer that takes rows away need not be. */
bool grid_check_layer(
	const struct grid_question *q, uint32_t layer, enum grid_way way, struct err *err);
/* Pr x Pc != `processes`, fewer samples than Pc, activations of 1e18 bytes or more; layers are
 * not looked at. */
bool grid_check(const struct grid_question *q, uint32_t processes, struct err *err);

/* Bytes of the collectives of one layer, by nccl-tests' convention; groups of Pc take
 * ceil(batch / Pc) samples. */
uint64_t grid_output_bytes(
	const struct grid_question *q, uint32_t layer); /* gathered over Pr: samples x d_out */
uint64_t grid_input_bytes(
	const struct grid_question *q, uint32_t layer); /* reduced over Pr: samples x d_in */
/* Reduced over Pc: ceil(|W| / Pr) words; over all P where the weights are whole. */
uint64_t grid_weight_bytes(const struct grid_question *q, uint32_t layer, enum grid_way way);
/* To each of two neighbours: floor(kernel height / 2) rows of the input, or of the output for the
 * gradient. Strips are cut along the height, so that kernel_h counts. 0: no message. These are the
 * rows that Eq. 9 counts. Fewer would do for a gradient with strides, for an even kernel on one
 * side, and behind a layer that left the neighbour's rows here already; a pooling whose windows
 * reach over the end of a strip would need more. */
uint64_t grid_halo_bytes(const struct grid_question *q, uint32_t layer, bool forward);

/* What has to move between `layer` and the one in front of it because they go different ways or
 * over different grids, among the Pr processes of `grid`. A process has, and wants:
 *   batch   its own samples
 *   model   the samples of its group, whole (forward gathered, backward all-reduced)
 *   domain  a strip of the samples of its group
 * of activations in the forward pass, of their gradient in the backward pass. To have a part of
 * what one has costs nothing. */
enum grid_move_kind {
	GRID_GATHER,   /* to the samples of a group: all-gather (Eq. 6) */
	GRID_EXCHANGE, /* from samples to strips or back: all-to-all of what one process holds */
};
struct grid_move {
	enum grid_move_kind kind;
	struct process_grid grid;
	uint64_t bytes; /* of its samples x d_in; a Pr-th of that for an exchange, rounded up */
};
enum { GRID_MAX_MOVES = 2 };
/* In order; returns how many, 0 for layer 0. Between two grids each step goes by the samples of
 * single processes, which are the same ones on any grid; a gather out of model parallelism on a
 * smaller Pr takes 1 / Pr of all from each process, though some have more; one into it, backward,
 * brings the gradient of all outputs, of which a process needs those of its weights. */
uint32_t grid_moves(const struct grid_question *q, uint32_t layer, enum grid_way before,
	enum grid_way way, bool forward, struct grid_move out[GRID_MAX_MOVES]);

/* Computation of one process for a layer and what follows it up to the next one. */
struct grid_times {
	tick forward, dx, dw;
};

struct grid_options {
	const char *all_gather, *all_reduce; /* NULL: "bruck", "rabenseifner" */
	const struct grid_times *times;      /* n_layers of them; NULL: no computation */
	/* The gradients of weights are reduced on a stream of their own, behind the computation
	 * of the layers in front; halos behind the layer that needs them. Otherwise one thing
	 * after the other. */
	bool overlap;
	bool pc_fastest; /* neighbours in rank order share Pc; otherwise Pr */
};

/* One iteration: forward, per layer, what moves, the halo, the layer, its all-gather; backward the
 * halo, dW and its all-reduce, dX (but for `first` layers) and its all-reduce. Groups of one
 * process send nothing. ERR_INPUT where a layer cannot go its way, or where of two grids neither
 * Pr divides the other. */
bool grid_schedule(struct arena *a, const struct grid_question *q, const enum grid_way *ways,
	const struct grid_options *options, struct iteration *out, struct err *err);

/* Bytes of one process: `copies` of its weights (2: with gradients, 3: with momentum) and both
 * activations of each layer. */
double grid_memory_bytes(const struct grid_question *q, const enum grid_way *ways, uint32_t copies);

#endif
