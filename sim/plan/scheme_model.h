/* What a scheme of parallelism has to know of a model, read off its forward graph: the layers with
 * weights, the pairs of them that can be split without a collective in between, attention, and
 * banks of experts. Nothing here is particular to one model. */
#ifndef PLAN_SCHEME_MODEL_H
#define PLAN_SCHEME_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "graph/graph.h"
#include "plan/grid.h"

/* How Megatron (Shoeybi et al. 2019, arXiv 1909.08053, section 3) splits a layer. */
enum scheme_slice {
	SLICE_NONE,   /* every device has the whole layer: a router, a pooler */
	SLICE_COLUMN, /* by outputs: what follows, up to a row layer or the loss, works on parts */
	SLICE_ROW,    /* by inputs: its outputs are sums over the devices */
};

/* Counts are per sample. */
struct scheme_layer {
	struct grid_layer grid;
	uint32_t in_features; /* of a row of the input; grid.outputs are those of the output */
	uint32_t banks;       /* 1; of experts: as many matrices, each for its own rows */
	bool recurrent;
	uint32_t depth; /* layers on the longest way to it, itself included */
	/* Layers that read the same tensor (q, k and v; gate and up) share what moves it. */
	bool first_reader, last_reader;
	enum scheme_slice slice;
	bool first_column, last_column; /* a column layer: of those that read the same tensor */
	/* Activations that all devices of a Megatron group need: what a column layer, or the
	 * dispatch to experts in front of it, reads; what a row layer, or the combination of
	 * experts behind it, writes. */
	uint64_t column_in, row_out;
	uint64_t shares; /* weights of that combination, whose gradient is a sum too; mostly 0 */
};

struct scheme_attention {
	uint32_t after; /* the last layer in front of it, where keys and values are there */
	uint32_t heads, kv_heads;
	uint64_t q, k, v, out;           /* elements of one sample */
	uint64_t q_positions, positions; /* lengths of the sequences of q, and of k and v */
};

struct scheme_experts {
	uint32_t first, last; /* layers */
	uint32_t n;
	uint64_t routed; /* elements of a sample that go to experts: tokens x top-k x features */
};

struct scheme_model {
	const char *name;
	const struct scheme_layer *layers;
	uint32_t n_layers;
	const struct scheme_attention *attentions; /* in order */
	uint32_t n_attentions;
	const struct scheme_experts *experts;
	uint32_t n_experts;
	uint64_t tokens_per_sample;
};

/* Layers are those of grid_layers(), under the same indices: look-ups, norms and biases are left
 * out, as they are of the integrated grid. `forward` is not fused, with tp 1; `out` keeps its
 * names.
 *
 * Row layers are found by following features: between a column layer and its row layer stand only
 * operators that work on each feature or each head by itself. Where a norm, a sum with something
 * that is not split, or a second row layer would need them whole, all layers of the pair are
 * SLICE_NONE; so is a layer behind which neither a row layer nor the loss comes. */
void scheme_read_model(struct arena *a, const struct graph *forward, struct scheme_model *out);

#endif
