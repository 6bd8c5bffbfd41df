#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

/* Slice and Gather: parts of a tensor. */

struct cut {
	uint64_t begin, end; /* of one axis */
};

static uint64_t clamp(int64_t at, uint64_t dim)
{
	int64_t size = (int64_t)dim; /* dimensions are below 2^48 */
	if (at < 0)
		at = at < -size ? 0 : at + size;
	return at > size ? dim : (uint64_t)at;
}

static bool read_cuts(const struct onnx_node *node, struct cut *cuts, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_ints starts, ends, axes, steps;
	if (!onnx_int_list(node, "starts", 1, &starts, err) ||
		!onnx_int_list(node, "ends", 2, &ends, err) ||
		!onnx_int_list(node, "axes", 3, &axes, err) ||
		!onnx_int_list(node, "steps", 4, &steps, err))
		return false;
	if (!starts.at || !ends.at)
		return onnx_fail(node, err, "starts or ends are missing");
	if (starts.n != ends.n || (axes.at && axes.n != starts.n) ||
		(steps.at && steps.n != starts.n) || (!axes.at && starts.n > in->n_dims))
		return onnx_fail(node, err, "starts, ends, axes and steps differ in length");
	for (uint32_t i = 0; i < in->n_dims; i++)
		cuts[i] = (struct cut){0, in->dims[i]};
	for (size_t i = 0; i < starts.n; i++) {
		uint32_t axis;
		if (!onnx_axis(node, axes.at ? axes.at[i] : (int64_t)i, in->n_dims, &axis, err))
			return false;
		if (steps.at && steps.at[i] != 1)
			return onnx_fail(node, err,
				"a step of %" PRId64 " is not supported, only 1", steps.at[i]);
		cuts[axis] = (struct cut){
			clamp(starts.at[i], in->dims[axis]), clamp(ends.at[i], in->dims[axis])};
		if (cuts[axis].begin >= cuts[axis].end)
			return onnx_fail(node, err, "nothing is left of dimension %u", axis);
	}
	return true;
}

static void slice_constant(const struct onnx_node *node, const struct cut *cuts)
{
	struct onnx_value *out = node->out[0];
	onnx_alias(out, node->in[0]);
	out->same_as = out->turned = NULL;
	for (uint32_t i = 0; i < out->n_dims; i++)
		out->dims[i] = cuts[i].end - cuts[i].begin;
	if (out->n_dims == 1 && out->ints)
		out->ints += cuts[0].begin;
	else if (out->n_dims > 1)
		out->ints = NULL;
}

/* One operator for each axis that loses something. */
bool onnx_build_slice(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct cut cuts[GRAPH_MAX_DIMS] = {0};
	if (!read_cuts(node, cuts, err))
		return false;
	if (node->in[0]->state == ONNX_CONSTANT)
		return slice_constant(node, cuts), true;
	struct onnx_value *now = node->in[0];
	for (uint32_t i = 0; i < node->in[0]->n_dims; i++) {
		if (cuts[i].begin == 0 && cuts[i].end == node->in[0]->dims[i])
			continue;
		struct onnx_value *next = arena_new(r->scratch, struct onnx_value);
		struct onnx_step step = {
			.kind = "slice",
			.part = arena_printf(r->scratch, "axis%u", i),
			.in = &now,
			.n_in = 1,
			.out = &next,
			.n_out = 1,
			.attrs = {.axis = i, .begin = cuts[i].begin, .end = cuts[i].end},
		};
		if (!onnx_append(r, node, &step, err))
			return false;
		now = next;
	}
	onnx_alias(node->out[0], now);
	return true;
}

/* One element of an axis, which then goes away. */
static bool gather_one(
	struct onnx_reader *r, const struct onnx_node *node, uint32_t axis, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	int64_t at = node->in[1]->ints[0];
	if (at < -(int64_t)in->dims[axis] || at >= (int64_t)in->dims[axis])
		return onnx_fail(node, err, "index %" PRId64 " is outside a dimension of %" PRIu64,
			at, in->dims[axis]);
	uint64_t begin = (uint64_t)(at < 0 ? at + (int64_t)in->dims[axis] : at);
	struct onnx_value *part = arena_new(r->scratch, struct onnx_value);
	struct onnx_step slice = {
		.kind = "slice",
		.part = "slice",
		.in = node->in,
		.n_in = 1,
		.out = &part,
		.n_out = 1,
		.attrs = {.axis = axis, .begin = begin, .end = begin + 1},
	};
	if (!onnx_append(r, node, &slice, err))
		return false;
	struct onnx_step drop = {.kind = "reshape", .in = &part, .n_in = 1};
	for (uint32_t i = 0; i < in->n_dims; i++)
		if (i != axis)
			drop.attrs.shape[drop.attrs.n_shape++] = in->dims[i];
	return onnx_append(r, node, &drop, err);
}

bool onnx_build_gather(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_value *table = node->in[0], *index = node->in[1];
	uint32_t axis;
	if (!onnx_axis(node, onnx_attr_int(node, "axis", 0), table->n_dims, &axis, err))
		return false;
	if (table->n_dims == 2 && axis == 0 && index->n_dims > 0) {
		struct onnx_value *in[2] = {index, table};
		struct onnx_step step = {.kind = "embedding", .in = in, .n_in = 2};
		return onnx_append(r, node, &step, err);
	}
	if (index->ints && index->n_dims == 0)
		return gather_one(r, node, axis, err);
	return onnx_fail(node, err,
		"supported are rows of a table, and one element at a position known from the file");
}
