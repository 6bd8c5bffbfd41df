#include "graph/onnx_internal.h"

#include <string.h>

/* The operators are appended once more, to a second builder that the graph keeps. */

struct simplifier {
	struct onnx_reader *r;
	const struct builder *from;
	struct builder to;
	bool *needed;              /* for each operator: an output of the model depends on it */
	bool *inside;              /* a pattern has taken it */
	struct onnx_match **match; /* the pattern that ends with it */
	uint32_t *n_uses; /* for each tensor: inputs of operators, and outputs of the model */
	tensor_id *map;   /* for each tensor */
};

static void find_needed(struct simplifier *s)
{
	const Onnx__GraphProto *g = s->r->graph;
	for (size_t i = 0; i < g->n_output; i++) {
		const struct onnx_value *v = onnx_find_value(s->r, g->output[i]->name);
		tensor_id id = onnx_tensor(v);
		if (id == GRAPH_NONE)
			continue;
		s->n_uses[id]++;
		if (s->from->tensors[id].producer != GRAPH_NONE)
			s->needed[s->from->tensors[id].producer] = true;
	}
	for (uint32_t i = s->from->n_ops; i-- > 0;) {
		const struct op *op = &s->from->ops[i];
		for (uint32_t p = 0; p < op->n_preds && s->needed[i]; p++)
			s->needed[op->preds[p]] = true;
	}
	for (uint32_t i = 0; i < s->from->n_ops; i++)
		for (uint32_t k = 0; k < s->from->ops[i].n_inputs && s->needed[i]; k++)
			s->n_uses[s->from->ops[i].inputs[k]]++;
}

static bool holds(const struct onnx_match *m, op_id last, op_id id)
{
	for (uint32_t i = 0; i < m->n_inner; i++)
		if (m->inner[i] == id)
			return true;
	return id == last;
}

static uint32_t uses_by(const struct op *op, tensor_id id)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < op->n_inputs; i++)
		n += op->inputs[i] == id;
	return n;
}

/* Nothing outside reads what is made inside, and no other pattern has taken a part. */
static bool is_closed(const struct simplifier *s, const struct onnx_match *m, op_id last)
{
	for (uint32_t i = 0; i < m->n_inner; i++) {
		const struct op *op = &s->from->ops[m->inner[i]];
		uint32_t n = uses_by(&s->from->ops[last], op->outputs[0]);
		for (uint32_t j = 0; j < m->n_inner; j++)
			n += uses_by(&s->from->ops[m->inner[j]], op->outputs[0]);
		if (n != s->n_uses[op->outputs[0]] || s->inside[m->inner[i]] ||
			s->match[m->inner[i]] || !holds(m, last, m->inner[i]))
			return false;
	}
	return true;
}

/* From the end, so that the longest pattern wins. */
static void find_patterns(struct simplifier *s)
{
	for (uint32_t i = s->from->n_ops; i-- > 0;) {
		struct onnx_match m = {0};
		if (!s->needed[i] || s->inside[i] || !onnx_match(s->r, i, &m) ||
			!is_closed(s, &m, i))
			continue;
		s->match[i] = arena_new(s->r->scratch, struct onnx_match);
		*s->match[i] = m;
		for (uint32_t j = 0; j < m.n_inner; j++)
			s->inside[m.inner[j]] = true;
	}
}

static bool is_kept(const struct simplifier *s, op_id id)
{
	return s->needed[id] && !s->inside[id];
}

/* Inputs of the model, and constants that an operator still reads; in their old order. */
static bool add_sources(struct simplifier *s, struct err *err)
{
	const struct builder *b = s->from;
	bool *read = arena_array(s->r->scratch, b->n_tensors + 1, bool);
	for (uint32_t i = 0; i < b->n_ops; i++) {
		if (!is_kept(s, i))
			continue;
		const tensor_id *ids = s->match[i] ? s->match[i]->inputs : b->ops[i].inputs;
		uint32_t n = s->match[i] ? s->match[i]->n_inputs : b->ops[i].n_inputs;
		for (uint32_t k = 0; k < n; k++)
			read[ids[k]] = true;
	}
	for (uint32_t t = 0; t < b->n_tensors; t++) {
		struct tensor copy = b->tensors[t];
		if (copy.class == TENSOR_ACTIVATION || (copy.class != TENSOR_INPUT && !read[t]))
			continue;
		if (s->r->notes[t].trained)
			copy.class = TENSOR_PARAM;
		if (!builder_add_tensor(&s->to, &copy, &s->map[t], err))
			return false;
	}
	return true;
}

static bool add_op(struct simplifier *s, op_id id, struct err *err)
{
	const struct op *op = &s->from->ops[id];
	const struct onnx_match *m = s->match[id];
	struct op_request request = {
		.name = op->name,
		.kind = m ? m->kind : op->kind->name,
		.attrs = m ? m->attrs : *op->attrs,
		.n_inputs = m ? m->n_inputs : op->n_inputs,
	};
	const tensor_id *old = m ? m->inputs : op->inputs;
	tensor_id *ids = arena_array(s->r->scratch, request.n_inputs + 1, tensor_id);
	for (uint32_t i = 0; i < request.n_inputs; i++)
		ids[i] = s->map[old[i]];
	request.inputs = ids;
	op_id made;
	if (!builder_add_op(&s->to, &request, &made, err))
		return false;
	for (uint32_t o = 0; o < op->n_outputs && o < s->to.ops[made].n_outputs; o++)
		s->map[op->outputs[o]] = builder_output(&s->to, made, o);
	return true;
}

static bool add_ops(struct simplifier *s, struct err *err)
{
	uint32_t layer = GRAPH_NONE;
	for (uint32_t i = 0; i < s->from->n_ops; i++) {
		if (!is_kept(s, i))
			continue;
		if (s->from->ops[i].layer != layer)
			builder_begin_layer(&s->to, s->from->layer_names[s->from->ops[i].layer]);
		layer = s->from->ops[i].layer;
		if (!add_op(s, i, err))
			return false;
	}
	return true;
}

bool onnx_simplify(struct onnx_reader *r, struct graph *out, struct err *err)
{
	uint32_t n_ops = r->builder.n_ops, n_tensors = r->builder.n_tensors;
	struct simplifier s = {
		.r = r,
		.from = &r->builder,
		.needed = arena_array(r->scratch, n_ops + 1, bool),
		.inside = arena_array(r->scratch, n_ops + 1, bool),
		.match = arena_array(r->scratch, n_ops + 1, struct onnx_match *),
		.n_uses = arena_array(r->scratch, n_tensors + 1, uint32_t),
		.map = arena_array(r->scratch, n_tensors + 1, tensor_id),
	};
	builder_init(&s.to, r->a, r->builder.elem_bytes);
	onnx_find_trained(r);
	find_needed(&s);
	r->n_uses = s.n_uses;
	find_patterns(&s);
	return add_sources(&s, err) && add_ops(&s, err) && builder_finish(&s.to, out, err);
}
