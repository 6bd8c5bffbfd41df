/* Writes small ONNX models, so that the reader is tested without files from elsewhere.
 *
 *     struct onnx_maker m;
 *     maker_init(&m, &arena);
 *     maker_input(&m, "x", (const int64_t[]){1, 3, 8, 8}, 4);
 *     maker_weight(&m, "w", (const int64_t[]){4, 3, 3, 3}, 4);
 *     maker_node(&m, "Conv", "conv", "x w", "y");
 *     maker_ints(&m, "pads", (const int64_t[]){1, 1, 1, 1}, 4);
 *     maker_output(&m, "y");
 *     struct bytes file = maker_pack(&m);
 */
#ifndef TESTS_GRAPH_ONNX_MAKER_H
#define TESTS_GRAPH_ONNX_MAKER_H

#include "base/arena.h"
#include "base/file.h"
#include "graph/onnx.pb-c.h"

struct onnx_maker {
	struct arena *a;
	Onnx__ModelProto model;
	Onnx__GraphProto graph;
	Onnx__OperatorSetIdProto set;
	Onnx__OperatorSetIdProto *sets[1];
	Onnx__NodeProto *node;             /* the last one: attributes go there */
	Onnx__GraphProto *into;            /* where nodes and outputs go */
	size_t outer_nodes, outer_outputs; /* capacities of the model's graph, meanwhile */
	size_t cap_nodes, cap_weights, cap_inputs, cap_outputs, cap_attrs;
};

/* An empty model of operator set 9. Everything lives in `a`. */
void maker_init(struct onnx_maker *m, struct arena *a);
/* A dimension of -1 is open and has no name. Real numbers. */
void maker_input(struct onnx_maker *m, const char *name, const int64_t *dims, size_t n);
/* Gives dimension `axis` of the last input a name and no value. */
void maker_open(struct onnx_maker *m, size_t axis, const char *name);
void maker_output(struct onnx_maker *m, const char *name);

/* Initialisers: one whose content is left out, and a list of whole numbers. */
Onnx__TensorProto *maker_weight(
	struct onnx_maker *m, const char *name, const int64_t *dims, size_t n);
Onnx__TensorProto *maker_list(
	struct onnx_maker *m, const char *name, const int64_t *values, size_t n);
/* Real numbers whose content is there. */
Onnx__TensorProto *maker_reals(
	struct onnx_maker *m, const char *name, const double *values, size_t n);
/* A real number of no dimension. */
void maker_scalar(struct onnx_maker *m, const char *name, double value);

/* Names of inputs and outputs are separated by blanks; "-" is one that is left out. */
void maker_node(struct onnx_maker *m, const char *op, const char *name, const char *inputs,
	const char *outputs);
void maker_int(struct onnx_maker *m, const char *name, int64_t value);
void maker_ints(struct onnx_maker *m, const char *name, const int64_t *values, size_t n);
void maker_string(struct onnx_maker *m, const char *name, const char *value);
void maker_tensor(struct onnx_maker *m, const char *name, const int64_t *dims, size_t n);
void maker_graph(struct onnx_maker *m, const char *name, Onnx__GraphProto *graph);
/* Nodes and outputs go to `graph` from here on; to the model's again with NULL. */
void maker_inside(struct onnx_maker *m, Onnx__GraphProto *graph);

struct bytes maker_pack(struct onnx_maker *m);

/* A residual network of 2 convolutions, the second in two groups, and a classifier: batch 1,
 * images of 3x16x16, weights as initialisers, from a Constant and from a ConstantOfShape node. */
void maker_small_model(struct onnx_maker *m);

#endif
