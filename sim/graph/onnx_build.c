#include "graph/onnx_internal.h"

#include <assert.h>
#include <string.h>

void onnx_alias(struct onnx_value *out, struct onnx_value *in)
{
	const char *name = out->name;
	*out = *in;
	out->name = name;
	out->same_as = in->state == ONNX_CONSTANT ? in : NULL;
}

static bool is_real(int32_t type)
{
	return type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE;
}

static bool is_channel(const struct onnx_value *v)
{
	uint32_t wide = 0;
	for (uint32_t i = 0; i < v->n_dims; i++)
		wide += v->dims[i] != 1;
	return v->n_dims > 0 && wide <= 1;
}

static bool is_trained(enum onnx_trained rule, const struct onnx_value *v, size_t position)
{
	if (!is_real(v->type))
		return false;
	switch (rule) {
	case TRAINED_NONE:
		return false;
	case TRAINED_WEIGHTS:
		return position == 1 || position == 2;
	case TRAINED_ANY:
		return true;
	case TRAINED_CHANNEL:
		return is_channel(v);
	}
	return false;
}

/* A constant that one operator reads as data and another as a weight is a weight. */
static void promote(struct builder *b, tensor_id id)
{
	struct tensor *t = &b->tensors[id];
	if (t->class != TENSOR_CONST)
		return;
	t->class = TENSOR_PARAM;
	b->parameters += tensor_elements(t);
}

static bool need_tensor(struct onnx_reader *r, const struct onnx_node *node, size_t position,
	struct onnx_value *v, struct err *err)
{
	if (v->state != ONNX_CONSTANT)
		return true;
	bool trained = is_trained(node->op->trained, v, position);
	while (v->same_as)
		v = v->same_as;
	if (v->tensor != GRAPH_NONE) {
		if (trained)
			promote(&r->builder, v->tensor);
		return true;
	}
	struct tensor t = {
		.name = v->name,
		.class = trained ? TENSOR_PARAM : TENSOR_CONST,
		.n_dims = v->n_dims,
		.producer = GRAPH_NONE,
	};
	memcpy(t.dims, v->dims, sizeof(t.dims));
	if (!builder_add_tensor(&r->builder, &t, &v->tensor, err))
		return err_prefix(err, "node '%s' (%s): ", node->name, node->proto->op_type);
	return true;
}

static tensor_id tensor_of(const struct onnx_value *v)
{
	while (v->same_as)
		v = v->same_as;
	return v->tensor;
}

static void make_outputs(
	struct onnx_reader *r, const struct onnx_node *node, const struct onnx_step *step, op_id op)
{
	struct onnx_value *const *out = step->out ? step->out : node->out;
	size_t n_out = step->out ? step->n_out : node->n_out;
	for (size_t i = 0; i < n_out && i < r->builder.ops[op].n_outputs; i++) {
		if (!out[i])
			continue;
		out[i]->state = ONNX_TENSOR;
		out[i]->tensor = builder_output(&r->builder, op, (uint32_t)i);
		const struct tensor *t = &r->builder.tensors[out[i]->tensor];
		out[i]->n_dims = t->n_dims;
		memcpy(out[i]->dims, t->dims, sizeof(t->dims));
	}
}

/* Every operator on a tensor core opens a layer; what comes before the first one belongs to its
 * layer. */
static void choose_layer(struct onnx_reader *r, const struct op_kind *kind, const char *name)
{
	bool starts = kind && kind->core == CORE_TC;
	if (r->builder.n_layers == 0 || (starts && r->has_tensor_core_op))
		builder_begin_layer(&r->builder, name);
	else if (starts)
		r->builder.layer_names[0] = arena_strdup(r->a, name);
	r->has_tensor_core_op |= starts;
}

bool onnx_append(struct onnx_reader *r, const struct onnx_node *node, const struct onnx_step *step,
	struct err *err)
{
	struct onnx_value *const *in = step->in ? step->in : node->in;
	size_t n_in = step->in ? step->n_in : node->n_in, n = 0;
	tensor_id *ids = arena_array(r->scratch, n_in + 1, tensor_id);
	for (size_t i = 0; i < n_in; i++) {
		if (!in[i])
			continue;
		if (!need_tensor(r, node, i, in[i], err))
			return false;
		ids[n++] = tensor_of(in[i]);
	}
	struct op_request request = {
		.name = step->part ? arena_printf(r->scratch, "%s.%s", node->name, step->part)
				   : node->name,
		.kind = step->kind ? step->kind : node->op->kind,
		.inputs = ids,
		.n_inputs = (uint32_t)n,
		.attrs = step->attrs,
	};
	choose_layer(r, op_kind_find(request.kind), request.name);
	op_id op;
	if (!builder_add_op(&r->builder, &request, &op, err))
		return false;
	make_outputs(r, node, step, op);
	return true;
}
