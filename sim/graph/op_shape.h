/* Shape rules of the operators: from inputs and attributes to output dimensions. */
#ifndef GRAPH_OP_SHAPE_H
#define GRAPH_OP_SHAPE_H

#include "graph/op_kinds.h"

/* Each fills `out` or sets ERR_INPUT with the rule that is broken (no operator name, no shapes:
 * the builder puts them in front). */
bool shape_same(const struct op_view *v, struct op_shapes *out, struct err *err); /* as input 0 */
bool shape_mask(const struct op_view *v, struct op_shapes *out, struct err *err); /* and a mask */
bool shape_softmax(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_masked(const struct op_view *v, struct op_shapes *out, struct err *err); /* mask input */
bool shape_masked_softmax(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_rotary(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_likelihood(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_broadcast(const struct op_view *v, struct op_shapes *out, struct err *err); /* NumPy's */
bool shape_batch_norm(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_last_norm(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_gemm(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_matmul(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_conv(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_pool(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_max_pool(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_global_pool(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_loss(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_embedding(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_reshape(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_flatten(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_transpose(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_concat(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_slice(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_split(const struct op_view *v, struct op_shapes *out, struct err *err);
/* Dimension 1, the sequence, times or divided by `group` devices. */
bool shape_gather(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_scatter(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_mean(const struct op_view *v, struct op_shapes *out, struct err *err);
bool shape_arg(
	const struct op_view *v, struct op_shapes *out, struct err *err); /* mean's, 8 bytes */
bool shape_compare(const struct op_view *v, struct op_shapes *out, struct err *err); /* 1 byte */
bool shape_target(
	const struct op_view *v, struct op_shapes *out, struct err *err); /* attrs.shape */
/* Weight [in, out/group, kh, kw]; the padding is taken from the output. */
bool shape_conv_transpose(const struct op_view *v, struct op_shapes *out, struct err *err);

#endif
