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

static bool is_channel(const struct onnx_value *v)
{
	uint32_t wide = 0;
	for (uint32_t i = 0; i < v->n_dims; i++)
		wide += v->dims[i] != 1;
	return v->n_dims > 0 && wide <= 1;
}

static bool is_trained(enum onnx_trained rule, const struct onnx_value *v, size_t position)
{
	if (!onnx_is_real(v->type))
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

tensor_id onnx_tensor(const struct onnx_value *v)
{
	while (v->same_as)
		v = v->same_as;
	return v->tensor;
}

struct onnx_note *onnx_note_of(struct onnx_reader *r, tensor_id id)
{
	while (r->n_notes <= id)
		arena_push(r->scratch, r->notes, r->n_notes, r->cap_notes) = (struct onnx_note){0};
	return &r->notes[id];
}

struct onnx_value *onnx_new_value(struct onnx_reader *r)
{
	struct onnx_value *v = arena_new(r->scratch, struct onnx_value);
	v->name = "";
	v->tensor = GRAPH_NONE;
	return v;
}

static bool make_constant(struct onnx_reader *r, const struct onnx_node *node, uint32_t n_dims,
	struct onnx_value *v, struct err *err)
{
	struct tensor t = {
		.name = v->name,
		.class = TENSOR_CONST,
		.n_dims = v->n_dims,
		.producer = GRAPH_NONE,
	};
	memcpy(t.dims, v->dims, sizeof(t.dims));
	if (n_dims == 4 && v->n_dims == 3) { /* a window of one dimension is one of two */
		t.n_dims = 4;
		t.dims[3] = t.dims[2];
		t.dims[2] = 1;
	}
	if (!builder_add_tensor(&r->builder, &t, &v->tensor, err))
		return err_prefix(err, "node '%s' (%s): ", node->name, node->proto->op_type);
	struct onnx_note *note = onnx_note_of(r, v->tensor);
	note->real = onnx_is_real(v->type);
	note->has_scalar = onnx_is_known(v) && onnx_elements(v) == 1;
	if (note->has_scalar)
		note->scalar = onnx_number(v, 0);
	return true;
}

static bool need_tensor(struct onnx_reader *r, const struct onnx_node *node, size_t position,
	struct onnx_value *v, struct err *err)
{
	bool constant = v->state == ONNX_CONSTANT;
	bool trained = is_trained(node->op->trained, v, position);
	bool widens = position == 1 && node->op->build == onnx_build_conv;
	if (constant && onnx_tensor(v) == GRAPH_NONE) {
		while (v->same_as)
			v = v->same_as;
		if (!make_constant(r, node, widens ? 4 : v->n_dims, v, err))
			return false;
	}
	if (trained && (constant || node->op->trained != TRAINED_CHANNEL))
		onnx_note_of(r, onnx_tensor(v))->weight = true;
	return true;
}

/* Real numbers unless the row or the first input says otherwise. */
static int32_t type_of_result(const struct onnx_reader *r, const struct onnx_node *node, op_id op)
{
	const char *kind = r->builder.ops[op].kind->name;
	if (strcmp(kind, "compare") == 0)
		return ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
	if (strcmp(kind, "arg_max") == 0)
		return ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	if (strcmp(kind, "embedding") != 0 && strcmp(kind, "where") != 0 && node->n_in > 0 &&
		node->in[0] && node->in[0]->type != 0)
		return node->in[0]->type;
	return ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
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
		if (out[i]->type == 0)
			out[i]->type = type_of_result(r, node, op);
		onnx_note_of(r, out[i]->tensor)->real = onnx_is_real(out[i]->type);
	}
}

/* Every operator on a tensor core opens a layer; what comes before the first one belongs to its
 * layer. */
static void choose_layer(
	struct onnx_reader *r, const struct op_kind *kind, const char *name, bool stays)
{
	bool starts = kind && kind->class == CLASS_COMPLEX && !stays;
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
		ids[n++] = onnx_tensor(in[i]);
	}
	struct op_request request = {
		.name = step->part ? arena_printf(r->scratch, "%s.%s", node->name, step->part)
				   : node->name,
		.kind = step->kind ? step->kind : node->op->kind,
		.inputs = ids,
		.n_inputs = (uint32_t)n,
		.attrs = step->attrs,
	};
	choose_layer(r, op_kind_find(request.kind), request.name, step->stays);
	op_id op;
	if (!builder_add_op(&r->builder, &request, &op, err))
		return false;
	make_outputs(r, node, step, op);
	return true;
}

bool onnx_reshaped(struct onnx_reader *r, const struct onnx_node *node, const char *part,
	struct onnx_value **v, const struct onnx_ints *to, struct err *err)
{
	struct onnx_value *next = onnx_new_value(r);
	struct onnx_step step = {.kind = "reshape",
		.part = part,
		.in = v,
		.n_in = 1,
		.out = &next,
		.n_out = 1,
		.attrs.n_shape = (uint32_t)to->n};
	next->type = (*v)->type;
	for (size_t i = 0; i < to->n; i++)
		step.attrs.shape[i] = (uint64_t)to->at[i];
	if (!onnx_append(r, node, &step, err))
		return false;
	*v = next;
	return true;
}
