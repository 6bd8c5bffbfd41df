#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

/* Operators that only move or rename data. On a constant they make a constant. */

static struct onnx_value *view_of(const struct onnx_node *node)
{
	struct onnx_value *out = node->out[0];
	onnx_alias(out, node->in[0]);
	out->same_as = out->turned = NULL;
	return out;
}

/* Gives the first input the dimensions `to`, which have as many elements. */
static bool view_as(struct onnx_reader *r, const struct onnx_node *node, const uint64_t *to,
	uint32_t n, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	if (n == in->n_dims && memcmp(to, in->dims, n * sizeof(*to)) == 0) {
		onnx_alias(node->out[0], node->in[0]);
		return true;
	}
	if (in->state == ONNX_CONSTANT) {
		struct onnx_value *out = view_of(node);
		out->n_dims = n;
		memcpy(out->dims, to, n * sizeof(*to));
		return true;
	}
	struct onnx_step step = {
		.kind = "reshape",
		.in = node->in,
		.n_in = 1,
		.attrs = {.n_shape = n},
	};
	memcpy(step.attrs.shape, to, n * sizeof(*to));
	return onnx_append(r, node, &step, err);
}

/* Replaces 0 (copy) and -1 (the rest); false when the elements do not add up. */
static bool resolve_shape(
	const struct onnx_node *node, const int64_t *target, uint32_t n, uint64_t *to)
{
	const struct onnx_value *in = node->in[0];
	bool copies = onnx_attr_int(node, "allowzero", 0) == 0;
	uint64_t total = onnx_elements(in);
	u128 known = 1;
	uint32_t open = n;
	for (uint32_t i = 0; i < n; i++) {
		if (target[i] < -1 || (target[i] == -1 && open < n) ||
			(target[i] == 0 && copies && i >= in->n_dims))
			return false;
		to[i] = target[i] == 0 && copies ? in->dims[i] : (uint64_t)target[i];
		if (target[i] == -1)
			open = i;
		else
			known *= to[i];
		if (known > UINT64_MAX)
			return false;
	}
	if (open == n)
		return known == total;
	if (known == 0 || total % (uint64_t)known != 0)
		return false;
	to[open] = total / (uint64_t)known;
	return true;
}

static bool blame_shape(const struct onnx_reader *r, const struct onnx_node *node,
	const struct onnx_ints *target, struct err *err)
{
	struct text text = {0};
	const struct onnx_value *in = node->in[0];
	text_add(&text, "[");
	for (uint32_t i = 0; i < in->n_dims; i++)
		text_add(&text, "%s%" PRIu64, i ? "," : "", in->dims[i]);
	text_add(&text, "] does not fit into [");
	for (size_t i = 0; i < target->n; i++)
		text_add(&text, "%s%" PRId64, i ? "," : "", target->at[i]);
	text_add(&text, "]");
	if (r->batch != r->file_batch && r->file_batch != 0)
		text_add(&text, "; the file is written for a batch of %" PRIu64, r->file_batch);
	onnx_fail(node, err, "%s", text.data);
	text_free(&text);
	return false;
}

/* A fixed target that starts with the batch of the file follows the batch that was asked for. */
bool onnx_build_reshape(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_ints target;
	uint64_t to[GRAPH_MAX_DIMS] = {0};
	int64_t moved[GRAPH_MAX_DIMS];
	if (!onnx_int_list(node, "shape", 1, &target, err))
		return false;
	if (!target.at)
		return onnx_fail(node, err, "the new shape is missing");
	if (target.n > GRAPH_MAX_DIMS)
		return onnx_fail(node, err, "%zu dimensions, at most %d are supported", target.n,
			GRAPH_MAX_DIMS);
	uint32_t n = (uint32_t)target.n;
	bool fits = false;
	if (n > 0 && node->in[0]->state == ONNX_TENSOR && r->batch != r->file_batch &&
		r->file_batch != 0 && target.at[0] == (int64_t)r->file_batch) {
		memcpy(moved, target.at, n * sizeof(*moved));
		moved[0] = (int64_t)r->batch;
		fits = resolve_shape(node, moved, n, to);
	}
	if (!fits && !resolve_shape(node, target.at, n, to))
		return blame_shape(r, node, &target, err);
	return view_as(r, node, to, n, err);
}

bool onnx_build_flatten(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	int64_t axis = onnx_attr_int(node, "axis", 1);
	axis = axis < 0 ? axis + in->n_dims : axis;
	if (axis < 0 || axis > in->n_dims)
		return onnx_fail(node, err, "axis %" PRId64 " is outside an input of %u dimensions",
			axis, in->n_dims);
	uint64_t to[2] = {1, 1};
	for (uint32_t i = 0; i < in->n_dims; i++)
		to[i >= axis] *= in->dims[i];
	return view_as(r, node, to, 2, err);
}

bool onnx_build_squeeze(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_ints axes;
	uint32_t drop = 0, n = 0, axis;
	if (!onnx_int_list(node, "axes", 1, &axes, err))
		return false;
	for (size_t i = 0; i < axes.n; i++) {
		if (!onnx_axis(node, axes.at[i], in->n_dims, &axis, err))
			return false;
		if (in->dims[axis] != 1)
			return onnx_fail(node, err, "dimension %u is %" PRIu64 " and not 1", axis,
				in->dims[axis]);
		drop |= 1u << axis;
	}
	uint64_t to[GRAPH_MAX_DIMS] = {0};
	for (uint32_t i = 0; i < in->n_dims; i++)
		if (axes.at ? !(drop & 1u << i) : in->dims[i] != 1)
			to[n++] = in->dims[i];
	return view_as(r, node, to, n, err);
}

bool onnx_build_unsqueeze(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_ints axes;
	uint32_t added = 0, from = 0, axis;
	if (!onnx_int_list(node, "axes", 1, &axes, err))
		return false;
	if (axes.n > GRAPH_MAX_DIMS - in->n_dims)
		return onnx_fail(node, err, "more than %d dimensions", GRAPH_MAX_DIMS);
	uint32_t n = in->n_dims + (uint32_t)axes.n;
	for (size_t i = 0; i < axes.n; i++) {
		if (!onnx_axis(node, axes.at[i], n, &axis, err))
			return false;
		if (added & 1u << axis)
			return onnx_fail(node, err, "axis %u is named twice", axis);
		added |= 1u << axis;
	}
	uint64_t to[GRAPH_MAX_DIMS] = {0};
	for (uint32_t i = 0; i < n; i++)
		to[i] = added & 1u << i ? 1 : in->dims[from++];
	return view_as(r, node, to, n, err);
}

bool onnx_build_transpose(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_step step = {.kind = "transpose", .in = node->in, .n_in = 1};
	struct onnx_ints perm;
	uint32_t seen = 0;
	if (!onnx_int_list(node, "perm", SIZE_MAX, &perm, err))
		return false;
	if (perm.at && perm.n != in->n_dims)
		return onnx_fail(
			node, err, "perm has %zu numbers for %u dimensions", perm.n, in->n_dims);
	for (uint32_t i = 0; i < in->n_dims; i++) {
		uint32_t *from = &step.attrs.perm[i];
		*from = in->n_dims - 1 - i;
		if (perm.at && !onnx_axis(node, perm.at[i], in->n_dims, from, err))
			return false;
		if (seen & 1u << *from)
			return onnx_fail(node, err, "perm holds %u twice", *from);
		seen |= 1u << *from;
	}
	if (in->state != ONNX_CONSTANT)
		return onnx_append(r, node, &step, err);
	int64_t steps[GRAPH_MAX_DIMS] = {0}, turned[GRAPH_MAX_DIMS] = {0};
	struct onnx_value *out = view_of(node);
	onnx_row_steps(in, steps);
	if (in->n_dims == 2 && step.attrs.perm[0] == 1)
		out->turned = node->in[0];
	for (uint32_t i = 0; i < in->n_dims; i++) {
		out->dims[i] = in->dims[step.attrs.perm[i]];
		turned[i] = steps[step.attrs.perm[i]];
	}
	onnx_pick(r, out, in, 0, turned);
	return true;
}

bool onnx_build_split(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_step step = {.in = node->in, .n_in = 1};
	struct onnx_ints sizes;
	struct op_attrs *attrs = &step.attrs;
	if (!onnx_axis(node, onnx_attr_int(node, "axis", 0), in->n_dims, &attrs->axis, err) ||
		!onnx_int_list(node, "split", 1, &sizes, err))
		return false;
	size_t n = sizes.at ? sizes.n : node->n_out;
	if (n == 0)
		return onnx_fail(node, err, "there are no parts");
	if (n != node->n_out || n > OP_MAX_OUTPUTS)
		return onnx_fail(node, err, "%zu parts into %zu outputs, at most %d are supported",
			n, node->n_out, OP_MAX_OUTPUTS);
	uint64_t left = in->dims[attrs->axis], even = (left + n - 1) / n;
	attrs->n_shape = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		if (sizes.at && sizes.at[i] < 1)
			return onnx_fail(
				node, err, "part %zu has a size of %" PRId64, i, sizes.at[i]);
		attrs->shape[i] = sizes.at ? (uint64_t)sizes.at[i] : left < even ? left : even;
		left -= sizes.at ? 0 : attrs->shape[i];
	}
	return onnx_append(r, node, &step, err);
}
