#include "graph/onnx_internal.h"

#include <string.h>

/* Operators that nobody knows, with graph_options.lenient: they move their inputs to their outputs
 * for nothing. */

static const Onnx__TensorShapeProto *shape_in(
	Onnx__ValueInfoProto *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		const Onnx__TypeProto *type = list[i]->type;
		if (!list[i]->name || strcmp(list[i]->name, name) != 0 || !type)
			continue;
		if (type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && type->tensor_type)
			return type->tensor_type->shape;
	}
	return NULL;
}

/* What the file says of a value, if it says all. */
static bool declared_shape(
	const struct onnx_reader *r, const struct onnx_value *v, struct op_attrs *attrs)
{
	const Onnx__GraphProto *g = r->scope->graph;
	const Onnx__TensorShapeProto *shape = shape_in(g->value_info, g->n_value_info, v->name);
	if (!shape)
		shape = shape_in(g->output, g->n_output, v->name);
	if (!shape || shape->n_dim > GRAPH_MAX_DIMS)
		return false;
	attrs->n_shape = (uint32_t)shape->n_dim;
	for (size_t i = 0; i < shape->n_dim; i++) {
		attrs->shape[i] = onnx_dim_value(r, shape->dim[i]);
		if (i == 0 && attrs->shape[0] == r->file_batch)
			attrs->shape[0] = r->batch;
		if (attrs->shape[i] == 0)
			return false;
	}
	return true;
}

/* The first input that is there; its shape is taken where the file declares none. */
static struct onnx_value *first_input(const struct onnx_node *node)
{
	for (size_t i = 0; i < node->n_in; i++)
		if (node->in[i])
			return node->in[i];
	return NULL;
}

bool onnx_build_unknown(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *first = first_input(node);
	if (!first)
		return onnx_fail(node, err, "it is not known and has no input");
	for (size_t i = 0; i < node->n_out; i++) {
		struct onnx_step step = {
			.kind = "move",
			.part = i ? arena_printf(r->scratch, "%zu", i) : NULL,
			.out = &node->out[i],
			.n_out = 1,
		};
		if (!node->out[i])
			continue;
		if (!declared_shape(r, node->out[i], &step.attrs)) {
			step.attrs.n_shape = first->n_dims;
			memcpy(step.attrs.shape, first->dims, first->n_dims * sizeof(*first->dims));
		}
		if (!onnx_append(r, node, &step, err))
			return false;
	}
	return true;
}
