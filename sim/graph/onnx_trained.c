#include "graph/onnx_internal.h"

#include <string.h>

/* Which constants are trained. Those that an operator reads where its weights are, directly or
 * moved (a sliced and joined weight of a recurrent layer). And tables that are added to, or joined
 * with, the data: an embedding of positions, a class token. A file does not tell them from masks
 * and anchors, so they count only when they are real, of several dimensions, when operators with
 * weights follow, and when no softmax does at once. */

struct trainer_view {
	struct onnx_reader *r;
	const struct builder *b;
	bool *leads;  /* for each tensor: an operator with weights depends on it */
	bool *scores; /* a softmax reads it */
};

static bool moves(const struct op *op)
{
	return op->kind->core == CORE_NONE;
}

static bool is_table(const struct trainer_view *v, tensor_id id)
{
	const struct tensor *t = &v->b->tensors[id];
	return t->class == TENSOR_CONST && t->n_dims > 1 && v->r->notes[id].real &&
	       tensor_elements(t) > 1;
}

/* The constant that is moved into `id`, and nothing else is; GRAPH_NONE when there is none. */
static tensor_id moved_constant(const struct trainer_view *v, tensor_id id)
{
	while (v->b->tensors[id].producer != GRAPH_NONE) {
		const struct op *op = &v->b->ops[v->b->tensors[id].producer];
		if (!moves(op) || strcmp(op->kind->name, "embedding") == 0 ||
			(op->n_inputs > 1 && strcmp(op->kind->name, "gather") != 0))
			return GRAPH_NONE;
		id = op->inputs[0];
	}
	return is_table(v, id) ? id : GRAPH_NONE;
}

static void look_ahead(struct trainer_view *v)
{
	for (uint32_t i = v->b->n_ops; i-- > 0;) {
		const struct op *op = &v->b->ops[i];
		bool leads = false;
		for (uint32_t o = 0; o < op->n_outputs; o++)
			leads |= v->leads[op->outputs[o]];
		for (uint32_t k = 0; k < op->n_inputs; k++)
			leads |= v->r->notes[op->inputs[k]].weight;
		for (uint32_t k = 0; k < op->n_inputs; k++) {
			v->leads[op->inputs[k]] |= leads;
			v->scores[op->inputs[k]] |= op->kind->class == CLASS_SOFTMAX;
		}
	}
}

static void mark_tables(struct trainer_view *v, const struct op *op)
{
	bool adds = strcmp(op->kind->name, "add") == 0 || strcmp(op->kind->name, "concat") == 0;
	if (!adds || !v->leads[op->outputs[0]] || v->scores[op->outputs[0]])
		return;
	for (uint32_t k = 0; k < op->n_inputs; k++) {
		tensor_id table = moved_constant(v, op->inputs[k]);
		if (table != GRAPH_NONE)
			v->r->notes[table].trained = true;
	}
}

void onnx_find_trained(struct onnx_reader *r)
{
	const struct builder *b = &r->builder;
	struct trainer_view v = {
		.r = r,
		.b = b,
		.leads = arena_array(r->scratch, b->n_tensors + 1, bool),
		.scores = arena_array(r->scratch, b->n_tensors + 1, bool),
	};
	for (uint32_t t = 0; t < b->n_tensors; t++)
		onnx_note_of(r, t);
	for (uint32_t i = b->n_ops; i-- > 0;) {
		const struct op *op = &b->ops[i];
		bool weight = false;
		for (uint32_t o = 0; o < op->n_outputs; o++)
			weight |= r->notes[op->outputs[o]].weight;
		for (uint32_t k = 0; k < op->n_inputs && weight && moves(op); k++)
			if (strcmp(op->kind->name, "embedding") != 0 || k == 1)
				r->notes[op->inputs[k]].weight = true;
	}
	look_ahead(&v);
	for (uint32_t i = 0; i < b->n_ops; i++)
		mark_tables(&v, &b->ops[i]);
	for (uint32_t t = 0; t < b->n_tensors; t++)
		r->notes[t].trained = b->tensors[t].class == TENSOR_CONST && r->notes[t].real &&
				      (r->notes[t].trained || r->notes[t].weight);
}
