/* Inside graph/: building a forward graph operator by operator. Used by the readers of workload
 * and ONNX files.
 *
 *     struct builder b;
 *     builder_init(&b, a, elem_bytes);
 *     tensor_id x = ..., w = ...;
 *     builder_add_tensor(&b, &(struct tensor){.name = "x", .class = TENSOR_INPUT, ...}, &x, err);
 *     builder_begin_layer(&b, "conv1");
 *     builder_add_op(&b, &(struct op_request){.name = "conv1", .kind = "conv", .inputs = ids, .n_inputs = 2, ...},
 *         &op, err);
 *     y = builder_output(&b, op, 0);
 *     builder_finish(&b, out, err); */
#ifndef GRAPH_INTERNAL_H
#define GRAPH_INTERNAL_H

#include "base/file.h"
#include "graph/graph.h"
#include "graph/op_kinds.h"

enum {
	BUILDER_MAX_OPS = 1 << 17,      /* more is a mistake in the file */
	BUILDER_MAX_ELEMENTS_LOG2 = 48, /* of one tensor */
	BUILDER_MAX_MACS_LOG2 = 62,     /* of one operator */
};

struct builder {
	struct arena *a;
	uint32_t elem_bytes; /* of activations */
	struct op *ops;
	uint32_t n_ops, cap_ops;
	struct tensor *tensors;
	uint32_t n_tensors, cap_tensors;
	const char **layer_names;
	uint32_t n_layers, cap_layers;
	uint64_t
		parameters; /* elements of TENSOR_PARAM added so far; a reader that slices adds the rest */
};

struct op_request {
	const char *name; /* of the operator, unique; copied */
	const char *kind; /* name of a row of op_kinds.c */
	const tensor_id *inputs;
	uint32_t n_inputs;
	struct op_attrs attrs; /* zero kernel, stride, dilation and group count as 1 */
	bool recomputable;
};

void builder_init(struct builder *b, struct arena *a, uint32_t elem_bytes);

/* Adds an input, parameter or constant; the name is copied. elem_bytes 0 means that of the
 * builder. Refuses zero dimensions and more than 2^48 elements. */
bool builder_add_tensor(struct builder *b, const struct tensor *t, tensor_id *id, struct err *err);

/* Operators added from here on belong to a new layer. There must be one before the first operator. */
void builder_begin_layer(struct builder *b, const char *name);

/* Appends an operator: infers the shapes of its outputs, makes their tensors, counts its work
 * and finds its predecessors. ERR_INPUT names the operator, its kind and the shapes of its
 * inputs; there is no file or position in front, the caller knows those. An unknown kind is
 * ERR_INPUT with the nearest known one. */
bool builder_add_op(
	struct builder *b, const struct op_request *request, op_id *id, struct err *err);

tensor_id builder_output(const struct builder *b, op_id op, uint32_t i);

/* Moves everything into `out` (name, source, path, batch, tokens_per_sample and tp are the
 * caller's to set). ERR_INPUT when there is no operator or two have one name. */
bool builder_finish(struct builder *b, struct graph *out, struct err *err);

/* "[8,512,1024]" */
const char *tensor_shape_text(struct arena *a, const struct tensor *t);

/* The unfused operators behind `op`: its parts, or itself. */
const struct op *op_parts(const struct op *op, uint32_t *n);

#endif
