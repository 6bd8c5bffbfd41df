/* Layers, attentions and banks of experts of a forward graph. */
#include "plan/scheme_model.h"

#include <string.h>

#include "graph/op_kinds.h"
#include "plan/scheme_features.h"

struct reader {
	struct arena *a;
	const struct graph *g;
	struct scheme_layer *layers;
	uint32_t n_layers;
	uint32_t *layer_of; /* by operator; GRAPH_NONE: no layer */
	struct scheme_attention *attentions;
	uint32_t n_attentions, cap_attentions;
	struct scheme_experts *experts;
	uint32_t n_experts, cap_experts;
};

static uint64_t per_sample(const struct graph *g, tensor_id id)
{
	return tensor_elements(&g->tensors[id]) / g->batch;
}

/* The tensor behind views that only give it another shape. */
static tensor_id behind_views(const struct graph *g, tensor_id id)
{
	for (;;) {
		const struct tensor *t = &g->tensors[id];
		if (t->producer == GRAPH_NONE)
			return id;
		const struct op *op = &g->ops[t->producer];
		bool view = op->work.core == CORE_NONE && op->n_inputs == 1 &&
			    tensor_elements(&g->tensors[op->inputs[0]]) == tensor_elements(t);
		if (!view)
			return id;
		id = op->inputs[0];
	}
}

static void read_layer(struct reader *r, uint32_t layer, const struct grid_layer *grid)
{
	const struct op *op = &r->g->ops[grid->op];
	const struct tensor *w = &r->g->tensors[op->inputs[1]];
	r->layer_of[grid->op] = layer;
	r->layers[layer] = (struct scheme_layer){
		.grid = *grid,
		.in_features = (uint32_t)op->work.k,
		.banks = !grid->conv && w->n_dims > 2 ? (uint32_t)w->dims[0] : 1,
		.recurrent = op->kind->params == PARAMS_RECURRENT,
		.first_reader = true,
		.last_reader = true,
		.column_in = grid->d_in,
		.row_out = grid->d_out,
	};
}

static void read_layers(struct reader *r)
{
	struct grid_layer *grid = NULL;
	r->n_layers = grid_layers(r->a, r->g, &grid);
	r->layers = arena_array(r->a, r->n_layers, struct scheme_layer);
	r->layer_of = arena_array(r->a, r->g->n_ops, uint32_t);
	for (uint32_t i = 0; i < r->g->n_ops; i++)
		r->layer_of[i] = GRAPH_NONE;
	for (uint32_t i = 0; i < r->n_layers; i++)
		read_layer(r, i, &grid[i]);
}

static tensor_id *find_readers(struct reader *r)
{
	tensor_id *read = arena_array(r->a, r->n_layers, tensor_id);
	for (uint32_t i = 0; i < r->n_layers; i++) {
		read[i] = behind_views(r->g, r->g->ops[r->layers[i].grid.op].inputs[0]);
		for (uint32_t j = i; j-- > 0;)
			if (read[j] == read[i]) {
				r->layers[i].first_reader = false;
				r->layers[j].last_reader = false;
				break;
			}
	}
	return read;
}

static void find_columns(struct reader *r, const tensor_id *read)
{
	for (uint32_t i = 0; i < r->n_layers; i++) {
		struct scheme_layer *l = &r->layers[i];
		l->first_column = l->last_column = l->slice == SLICE_COLUMN;
		for (uint32_t j = i; l->first_column && j-- > 0;)
			if (read[j] == read[i] && r->layers[j].slice == SLICE_COLUMN)
				l->first_column = r->layers[j].last_column = false;
	}
}

static bool multiplies_activations(const struct graph *g, const struct op *op)
{
	return op->kind->class == CLASS_COMPLEX && op->n_inputs == 2 &&
	       g->tensors[op->inputs[0]].producer != GRAPH_NONE &&
	       g->tensors[op->inputs[1]].producer != GRAPH_NONE;
}

/* The larger of what an operator combines: scores rather than their mask. */
static op_id main_producer(const struct graph *g, const struct op *op)
{
	op_id best = GRAPH_NONE;
	uint64_t most = 0;
	for (uint32_t i = 0; i < op->n_inputs; i++) {
		const struct tensor *t = &g->tensors[op->inputs[i]];
		if (t->producer == GRAPH_NONE || tensor_elements(t) <= most)
			continue;
		most = tensor_elements(t);
		best = t->producer;
	}
	return best;
}

/* The product of queries and keys behind a softmax whose result `op` multiplies with values. */
static const struct op *find_scores(const struct reader *r, const struct op *op)
{
	bool softmax = false;
	op_id at = r->g->tensors[op->inputs[0]].producer;
	while (at != GRAPH_NONE) {
		const struct op *here = &r->g->ops[at];
		if (multiplies_activations(r->g, here) && r->layer_of[at] == GRAPH_NONE)
			return softmax ? here : NULL;
		if (here->work.batch > 0)
			return NULL;
		softmax |= here->kind->class == CLASS_SOFTMAX;
		at = main_producer(r->g, here);
	}
	return NULL;
}

static uint64_t heads_of(uint64_t elements, uint64_t positions, uint64_t features)
{
	return positions * features > 0 ? elements / positions / features : 0;
}

/* The last layer of those before an operator; there is one, since queries are made. */
static bool layer_before(const struct reader *r, op_id op, uint32_t *out)
{
	for (uint32_t i = r->n_layers; i-- > 0;)
		if (r->layers[i].grid.op < op) {
			*out = i;
			return true;
		}
	return false;
}

static void read_attention(struct reader *r, op_id id)
{
	const struct graph *g = r->g;
	const struct op *op = &g->ops[id];
	const struct op *scores = find_scores(r, op);
	uint32_t after;
	if (!scores || !layer_before(r, id, &after))
		return;
	const struct tensor *q = &g->tensors[scores->inputs[0]];
	const struct tensor *k = &g->tensors[scores->inputs[1]];
	if (q->n_dims < 3 || k->n_dims < 3 || q->dims[0] % g->batch != 0)
		return;
	struct scheme_attention at = {
		.after = after,
		.q = per_sample(g, scores->inputs[0]),
		.k = per_sample(g, scores->inputs[1]),
		.v = per_sample(g, op->inputs[1]),
		.out = per_sample(g, op->outputs[0]),
		.q_positions = q->dims[q->n_dims - (scores->attrs->transpose_a ? 1 : 2)],
		.positions = scores->work.n,
	};
	at.heads = (uint32_t)heads_of(at.q, at.q_positions, scores->work.k);
	at.kv_heads = (uint32_t)heads_of(at.k, at.positions, scores->work.k);
	if (at.heads > 0 && at.kv_heads > 0)
		arena_push(r->a, r->attentions, r->n_attentions, r->cap_attentions) = at;
}

/* What goes to experts comes from a dispatch, and back through a combination. */
static const struct op *find_dispatch(const struct graph *g, const struct op *op)
{
	op_id at = g->tensors[op->inputs[0]].producer;
	const struct op *from = at == GRAPH_NONE ? NULL : &g->ops[at];
	return from && strcmp(op_kind_name(from->kind), "expert_dispatch") == 0 ? from : NULL;
}

static void read_dispatched(struct reader *r, uint32_t layer)
{
	const struct graph *g = r->g;
	struct scheme_layer *l = &r->layers[layer];
	const struct op *dispatch = find_dispatch(g, &g->ops[l->grid.op]);
	if (!dispatch)
		return;
	const struct tensor *tokens = &g->tensors[dispatch->inputs[0]];
	uint64_t routes = per_sample(g, dispatch->inputs[1]);
	l->column_in = per_sample(g, dispatch->inputs[0]);
	if (!l->first_reader)
		return;
	arena_push(r->a, r->experts, r->n_experts, r->cap_experts) = (struct scheme_experts){
		.first = layer,
		.last = layer,
		.n = l->banks,
		.routed = routes * tokens->dims[tokens->n_dims - 1],
	};
}

static void read_combined(struct reader *r, const struct op *op)
{
	const struct graph *g = r->g;
	op_id at = g->tensors[op->inputs[0]].producer;
	uint32_t layer = at == GRAPH_NONE ? GRAPH_NONE : r->layer_of[at];
	if (layer == GRAPH_NONE || strcmp(op_kind_name(op->kind), "expert_combine") != 0)
		return;
	r->layers[layer].row_out = per_sample(g, op->outputs[0]);
	r->layers[layer].shares = per_sample(g, op->inputs[1]);
	if (r->n_experts > 0)
		r->experts[r->n_experts - 1].last = layer;
}

static void read_operators(struct reader *r)
{
	for (uint32_t i = 0; i < r->g->n_ops; i++) {
		const struct op *op = &r->g->ops[i];
		if (r->layer_of[i] != GRAPH_NONE)
			read_dispatched(r, r->layer_of[i]);
		else if (multiplies_activations(r->g, op))
			read_attention(r, i);
		else if (op->n_inputs == 2)
			read_combined(r, op);
	}
}

void scheme_read_model(struct arena *a, const struct graph *forward, struct scheme_model *out)
{
	struct reader r = {.a = a, .g = forward};
	read_layers(&r);
	tensor_id *read = find_readers(&r);
	scheme_follow_features(a, forward, r.layer_of, r.layers, r.n_layers);
	find_columns(&r, read);
	read_operators(&r);
	*out = (struct scheme_model){
		.name = forward->name,
		.layers = r.layers,
		.n_layers = r.n_layers,
		.attentions = r.attentions,
		.n_attentions = r.n_attentions,
		.experts = r.experts,
		.n_experts = r.n_experts,
		.tokens_per_sample = forward->tokens_per_sample,
	};
}
