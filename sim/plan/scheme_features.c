/* Follows features from the layers that make them to those that sum over them. */
#include "plan/scheme_features.h"

#include "graph/op_kinds.h"

enum flow_state {
	FLOW_DATA,   /* made of inputs and constants alone: masks, positions */
	FLOW_WHOLE,  /* all features */
	FLOW_SLICED, /* features, or heads, of a block: each device could have a part */
};

/* What an operator's outputs are. */
struct flow {
	enum flow_state state;
	uint32_t block; /* sliced: by the layer that opened it */
	bool heads;     /* sliced: by heads, so that a row within a head is whole */
	uint32_t depth;
};

/* Column layers that feed one row layer, joined. */
struct block {
	uint32_t parent;
	bool needs_whole; /* something needs all features at one place */
	bool reaches_loss;
	uint32_t row; /* layer, or GRAPH_NONE */
};

struct follower {
	const struct graph *g;
	const uint32_t *layer_of;
	struct scheme_layer *layers;
	struct block *blocks; /* by layer */
	struct flow *flows;   /* by operator */
};

static struct block *root(const struct follower *f, uint32_t block)
{
	while (f->blocks[block].parent != block)
		block = f->blocks[block].parent;
	return &f->blocks[block];
}

static void join(const struct follower *f, uint32_t into, uint32_t other)
{
	struct block *to = root(f, into), *from = root(f, other);
	if (to == from)
		return;
	from->parent = to->parent;
	to->needs_whole |= from->needs_whole || (to->row != GRAPH_NONE && from->row != GRAPH_NONE);
	to->reaches_loss |= from->reaches_loss;
	if (to->row == GRAPH_NONE)
		to->row = from->row;
}

static struct flow flow_of(const struct follower *f, tensor_id id)
{
	const struct tensor *t = &f->g->tensors[id];
	if (t->producer != GRAPH_NONE)
		return f->flows[t->producer];
	return (struct flow){.state = FLOW_DATA};
}

/* A mask or a bias is smaller than what it is added to; the rest of a residual sum is not. */
static bool is_small(const struct follower *f, const struct op *op, tensor_id id)
{
	const struct graph *g = f->g;
	return tensor_elements(&g->tensors[id]) < tensor_elements(&g->tensors[op->outputs[0]]);
}

/* Whether it could be done with some of the features, or of the heads. */
static bool keeps_slices(const struct op_kind *kind, bool heads)
{
	switch (kind->class) {
	case CLASS_ACTIVATION:
	case CLASS_INJECTIVE:
	case CLASS_DROPOUT:
	case CLASS_TRANSFORM:
	case CLASS_COMPLEX: /* of two activations */
		return true;
	case CLASS_SOFTMAX:
		return heads;
	case CLASS_NORM:
	case CLASS_REDUCTION:
	case CLASS_POOLING:
	case CLASS_LOSS:
	case CLASS_COLLECTIVE:
	case CLASS_GIVEN:
		return false;
	}
	return false;
}

/* Of all inputs, where no layer and no loss is at work. */
static struct flow merge(const struct follower *f, const struct op *op)
{
	struct flow out = {.state = FLOW_DATA};
	bool whole = false, beside = false;
	for (uint32_t i = 0; i < op->n_inputs; i++) {
		struct flow in = flow_of(f, op->inputs[i]);
		out.depth = in.depth > out.depth ? in.depth : out.depth;
		whole |= in.state == FLOW_WHOLE;
		beside |= in.state == FLOW_DATA && !is_small(f, op, op->inputs[i]);
		if (in.state != FLOW_SLICED)
			continue;
		if (out.state == FLOW_SLICED)
			join(f, out.block, in.block);
		out.block = in.block;
		out.heads |= in.heads;
		out.state = FLOW_SLICED;
	}
	bool attends = op->kind->class == CLASS_COMPLEX;
	if (out.state == FLOW_SLICED &&
		(whole || (beside && !out.heads) || !keeps_slices(op->kind, out.heads))) {
		root(f, out.block)->needs_whole = true;
		whole = true;
	}
	out.heads |= attends;
	if (whole || op->kind->backward == BACKWARD_LOOKUP)
		out.state = FLOW_WHOLE;
	return out;
}

static struct flow follow_loss(const struct follower *f, const struct op *op)
{
	struct flow in = flow_of(f, op->inputs[0]);
	if (in.state == FLOW_SLICED)
		root(f, in.block)->reaches_loss = true;
	return (struct flow){.state = FLOW_WHOLE, .depth = in.depth};
}

static struct flow follow_layer(const struct follower *f, const struct op *op, uint32_t layer)
{
	struct flow in = flow_of(f, op->inputs[0]);
	struct scheme_layer *l = &f->layers[layer];
	struct flow out = {.state = FLOW_SLICED, .block = layer};
	l->depth = out.depth = in.depth + 1;
	f->blocks[layer] = (struct block){.parent = layer, .row = GRAPH_NONE};
	if (in.state != FLOW_SLICED)
		return out;
	struct block *block = root(f, in.block);
	if (block->row != GRAPH_NONE || block->needs_whole) {
		block->needs_whole = true;
		return out;
	}
	block->row = layer;
	out.state = FLOW_WHOLE;
	return out;
}

static void set_slices(const struct follower *f, uint32_t n_layers)
{
	for (uint32_t i = 0; i < n_layers; i++) {
		const struct block *block = root(f, i);
		if (!block->needs_whole && (block->row != GRAPH_NONE || block->reaches_loss))
			f->layers[i].slice = SLICE_COLUMN;
	}
	for (uint32_t i = 0; i < n_layers; i++) {
		const struct block *block = root(f, i);
		if (f->layers[i].slice == SLICE_COLUMN && block->row != GRAPH_NONE)
			f->layers[block->row].slice = SLICE_ROW;
	}
}

void scheme_follow_features(struct arena *a, const struct graph *g, const uint32_t *layer_of,
	struct scheme_layer *layers, uint32_t n_layers)
{
	struct follower f = {
		.g = g,
		.layer_of = layer_of,
		.layers = layers,
		.blocks = arena_array(a, n_layers, struct block),
		.flows = arena_array(a, g->n_ops, struct flow),
	};
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		if (layer_of[i] != GRAPH_NONE)
			f.flows[i] = follow_layer(&f, op, layer_of[i]);
		else if (op->kind->class == CLASS_LOSS)
			f.flows[i] = follow_loss(&f, op);
		else
			f.flows[i] = merge(&f, op);
	}
	set_slices(&f, n_layers);
}
