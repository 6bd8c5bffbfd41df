/* ONNX files, operator sets 7 to 18 (later ones as far as their operators are the same).
 *
 * A file is read as it comes: weights as initialisers, as Constant or as ConstantOfShape
 * nodes, shapes inferred here and not taken from the file. Arithmetic on constants and shapes is
 * folded away. An If whose condition is known then is replaced by the branch that it takes. What no
 * output of the model needs is left out. Norms and activations that exporters write in pieces
 * become one operator: layer_norm and rms_norm (powers or products, square roots or reciprocals),
 * gelu (erf), gelu_tanh, silu, hard_swish. A recurrent layer becomes a product for all steps, one
 * for each step and the cell; the second direction and known initial states included.
 *
 * What is trained: constants that feed weight and bias of convolutions, GEMMs, matrix products
 * and recurrent layers, scale and shift of normalisations, tables of lookups, and per-channel
 * operands of Add and Mul, directly or through operators that only move data. Tables that are
 * added to the data or joined with it count when operators with weights follow and no softmax
 * does at once: embeddings of positions, class tokens, but neither masks nor anchors. Running
 * statistics and every other constant are not trained. Every operator that uses a tensor core
 * starts a new pipeline layer. */
#ifndef GRAPH_ONNX_H
#define GRAPH_ONNX_H

#include "base/file.h"
#include "graph/graph.h"

/* Builds the graph of the model in `data`, which is the content of `path`. `options->batch`
 * replaces the first dimension of every input of the model that is open, or equal to that of
 * the first input; Reshape targets that start with the old batch follow. `options->dims` give
 * the open dimensions by name ("INPUT.AXIS" where the file has no name for one), and the values of
 * inputs that are one whole number by the name of the input.
 *
 * With `options->lenient` unknown operators cost nothing: their outputs have the shapes that the
 * file declares, or that of the first input, and out->warnings has one entry for each type.
 *
 * ERR_INPUT names file, node and operator: not an ONNX model, cut off, unknown operators (all of
 * them, with counts), control flow that is not known, open dimensions, shapes that do not fit,
 * content that would be needed and lies in another file. ERR_USAGE: a dimension that the file does
 * not have, or a tensor-parallel degree above 1. */
bool onnx_read(struct arena *a, const char *path, struct bytes data,
	const struct graph_options *options, struct graph *out, struct err *err);

#endif
