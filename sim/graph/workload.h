/* Workload files: a model as operators, templates and repeats, in JSON.
 *
 *     { "name": "bert-large", "source": "where the figures come from",
 *       "parameter_count": 335141888,            what it adds up to with default parameters; checked
 *       "parameters": {"layers": 24, "hidden": 1024, "ffn": "4*hidden", "seq": 512},
 *       "divisible": [["heads", "tp"]],          the first must be a multiple of the second
 *       "micro_batch": 8,                        samples of a pass unless the caller says otherwise (1)
 *       "tokens_per_sample": "seq",              0 or absent: samples are not sequences
 *       "sequence_parallel": true,               whether norms, dropouts and residuals can work on slices of dimension 1
 *       "inputs": {"ids": {"shape": ["batch", "seq"], "bytes": 8}, "scale": {"shape": [1], "constant": true}},
 *       "templates": {"block": {"inputs": ["x"], "parameters": ["width"], "ops": [ITEM, ...]}},
 *       "layers": [ITEM, ...],
 *       "variants": {"18.4b": {"parameter_count": 18449756160, "parameters": {"layers": 40}, "micro_batch": 8}} }
 *
 * Numbers are whole numbers or expressions (graph/expr.h) over the parameters above them,
 * `batch` (micro-batch), `tp` and `sp` (tp with sequence parallelism, else 1). Overrides replace
 * a parameter; what depends on it follows. A variant, named after the colon of
 * "megatron-gpt:18.4b", does the same for several at once and has its own parameter_count;
 * micro_batch and source when it says so.
 *
 * ITEM is one of
 *   {"op": KIND, "name": N, "in": NAME or [NAME, ...], attributes}   an operator; in `ops` only
 *   {"use": TEMPLATE, "name": N, "in": ..., "with": {"width": 64}}   an instance of a template
 *   {"ops": [ITEM, ...], "name": N}                                  a group
 *   {"parameter": N, "shape": [...], "sliced": AXIS, "frozen": true} a weight by itself, for operators that take it as an
 *                                    input; in `ops` only. Sliced: tp devices share that axis. Frozen: not trained
 * Every item takes "if": 0 leaves it out; so of several items of one name one may be chosen by a
 * parameter. Uses and groups take "repeat" (instances N.0, N.1, ...; the result of one is the
 * first input of the next). An item of `layers` is a unit of pipeline partition, each repetition
 * one; "glue": "next" or "previous" joins it to its neighbour; "cut": true lets a pipeline stage
 * begin with it, a number one with each so many-th repetition. Cuts are the boundaries of a plan
 * that has one stage more than there are cuts. "recompute": true of a use or a group goes for
 * all in it. A name means the result of an earlier item of the same list, an input of the
 * template, an input of the model, or for a group anything that its list sees; "N.1" is the
 * second result of an operator. Without "in" an item reads the result of the item before it, the
 * first of a template the template's first input. The result of a list is that of its last item.
 *
 * Attributes, where the operator's row in op_kinds.c allows them:
 *   features, bias (true/false, default false), rows, weight (full name of an earlier item's parameter, used
 *   transposed: tied), kernel, stride, dilation (number or [h, w]), pad (number, [h, w] or [top, left, bottom,
 *   right]), group, size, axis (default: the last; flatten: 1), axes, keep_dims, shape, perm, parts, begin, end, transpose_a,
 *   transpose_b, recompute (true: part of the attention core that selective recomputation runs again), and
 *   shard (Megatron's slicing over tp devices, arXiv 1909.08053):
 *     "column"  gemm: features / tp of them here; a tp_copy in front, whose gradient is all-reduced; with
 *               sequence parallelism an all-gather (sp_gather), whose gradient is reduce-scattered
 *     "row"     gemm, embedding: input features or rows / tp of them here; a tp_reduce behind, an all-reduce;
 *               with sequence parallelism a reduce-scatter (sp_scatter), whose gradient is all-gathered.
 *               cross_entropy: over sliced classes; the per-row sums are all-reduced
 *   tp_copy and tp_reduce may also stand by themselves; over one device they are their input.
 *   k (top_k), experts (expert_dispatch), gates (recurrent: 4, an LSTM).
 *   pad_to  (embedding) with tp > 1, rows are padded to a multiple of this as Megatron-LM does; the parameter count
 *           stays that of the model.
 *
 * Work given outright, for programs that are no networks. What comes "in", if anything, only has
 * to have ended before:
 *   {"op": "gemm", "m": M, "n": N, "k": K, ...}           a product; batch (1), a_bytes, b_bytes, c_bytes
 *   {"op": "vector", "elements": E, "cycles": C, ...}     C lane cycles for each element; backward_cycles (C),
 *                                                         read_bytes, write_bytes (one element each)
 *   Both take "bytes" of an element and "shape" of the result. The gradient of a product goes into its first two inputs. */
#ifndef GRAPH_WORKLOAD_H
#define GRAPH_WORKLOAD_H

#include "base/file.h"
#include "graph/graph.h"

/* ERR_INPUT: path:line:column, operator and rule. ERR_USAGE: an override or a variant that the
 * file does not have. */
bool workload_read(struct arena *a, const char *path, struct bytes content,
	const struct graph_options *options, struct graph *out, struct err *err);

/* Names of the variants in the file. */
bool workload_variants(struct arena *a, const char *path, struct bytes content,
	struct graph_variants *out, struct err *err);

#endif
