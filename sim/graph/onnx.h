/* ONNX files.
 *
 * A file is read as it comes: weights as initialisers, as Constant or as ConstantOfShape
 * nodes, shapes inferred here and not taken from the file. What is trained: constants that feed
 * weight and bias of convolutions, GEMMs and matrix products, scale and shift of
 * normalisations, and per-channel operands of Add and Mul. Running statistics and every other
 * constant are not. Shape arithmetic on constants is folded away. Every operator that uses a
 * tensor core starts a new pipeline layer. */
#ifndef GRAPH_ONNX_H
#define GRAPH_ONNX_H

#include "base/file.h"
#include "graph/graph.h"

/* Builds the graph of the model in `data`, which is the content of `path`. `options->batch`
 * replaces the first dimension of every input of the model that is open, or equal to that of
 * the first input; Reshape targets that start with the old batch follow. `options->dims` give
 * the open dimensions by name ("INPUT.AXIS" where the file has no name for one).
 *
 * ERR_INPUT names file, node and operator: not an ONNX model, cut off, unknown operators (all of
 * them, with counts), control flow, open dimensions, shapes that do not fit, content that would be
 * needed and lies in another file. ERR_USAGE: a dimension that the file does not have, or a
 * tensor-parallel degree above 1. */
bool onnx_read(struct arena *a, const char *path, struct bytes data,
	const struct graph_options *options, struct graph *out, struct err *err);

#endif
