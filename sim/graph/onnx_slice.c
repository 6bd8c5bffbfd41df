#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

/* Slice and Gather: parts of a tensor. */

struct cut {
	uint64_t begin, end; /* of one axis; elements begin, begin + step, ... below end */
	uint32_t step;
	bool backwards; /* the same elements, the last first */
};

/* A start or end within 0 .. dim; with a negative step one before the first counts as -1. */
static int64_t clamp(int64_t at, uint64_t dim, bool backwards)
{
	int64_t size = (int64_t)dim; /* dimensions are below 2^48 */
	int64_t least = backwards ? -1 : 0, most = backwards ? size - 1 : size;
	if (at < 0)
		at = at < -size ? -1 : at + size;
	return at < least ? least : at > most ? most : at;
}

static bool read_cut(const struct onnx_node *node, uint32_t axis, const int64_t range[3],
	struct cut *cut, struct err *err)
{
	uint64_t dim = node->in[0]->dims[axis];
	int64_t step = range[2];
	if (step == 0 || step > INT32_MAX || step < -INT32_MAX)
		return onnx_fail(node, err, "a step of %" PRId64, step);
	bool backwards = step < 0;
	int64_t begin = clamp(range[0], dim, backwards), end = clamp(range[1], dim, backwards);
	if (backwards ? begin <= end : begin >= end)
		return onnx_fail(node, err, "nothing is left of dimension %u", axis);
	uint32_t width = (uint32_t)(backwards ? -step : step);
	if (backwards) {
		uint64_t n = div_ceil((uint64_t)(begin - end), width);
		end = begin + 1;
		begin -= (int64_t)((n - 1) * width);
	}
	*cut = (struct cut){(uint64_t)begin, (uint64_t)end, width, backwards};
	return true;
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
		cuts[i] = (struct cut){0, in->dims[i], 1, false};
	for (size_t i = 0; i < starts.n; i++) {
		uint32_t axis;
		const int64_t range[3] = {starts.at[i], ends.at[i], steps.at ? steps.at[i] : 1};
		if (!onnx_axis(node, axes.at ? axes.at[i] : (int64_t)i, in->n_dims, &axis, err) ||
			!read_cut(node, axis, range, &cuts[axis], err))
			return false;
	}
	return true;
}

static uint64_t cut_length(const struct cut *cut)
{
	return div_ceil(cut->end - cut->begin, cut->step);
}

static bool is_whole_axis(const struct cut *cut, uint64_t dim)
{
	return cut->begin == 0 && cut->end == dim && cut->step == 1;
}

static void slice_constant(
	struct onnx_reader *r, const struct onnx_node *node, const struct cut *cuts)
{
	struct onnx_value *out = node->out[0];
	const struct onnx_value *in = node->in[0];
	int64_t rows[GRAPH_MAX_DIMS] = {0}, steps[GRAPH_MAX_DIMS] = {0}, first = 0;
	onnx_row_steps(in, rows);
	onnx_alias(out, node->in[0]);
	out->same_as = out->turned = NULL;
	for (uint32_t i = 0; i < out->n_dims; i++) {
		uint64_t n = cut_length(&cuts[i]);
		int64_t begin = (int64_t)cuts[i].begin;
		steps[i] = rows[i] * (int64_t)cuts[i].step;
		if (cuts[i].backwards) {
			begin += (int64_t)((n - 1) * cuts[i].step);
			steps[i] = -steps[i];
		}
		first += rows[i] * begin;
		out->dims[i] = n;
	}
	onnx_pick(r, out, in, first, steps);
}

/* A part of a table stays a part of that table, because the table may be trained. */
static bool is_part_of_table(const struct onnx_value *v)
{
	return v->state != ONNX_CONSTANT || (onnx_is_real(v->type) && v->n_dims > 1 && !v->reals) ||
	       (onnx_is_real(v->type) && v->n_dims > 1 && onnx_elements(v) > GRAPH_MAX_DIMS);
}

/* One operator for each axis that loses something. */
bool onnx_build_slice(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct cut cuts[GRAPH_MAX_DIMS] = {0};
	if (!read_cuts(node, cuts, err))
		return false;
	bool all = true;
	for (uint32_t i = 0; i < node->in[0]->n_dims; i++)
		all &= is_whole_axis(&cuts[i], node->in[0]->dims[i]) && !cuts[i].backwards;
	if (!is_part_of_table(node->in[0]) && !all)
		return slice_constant(r, node, cuts), true;
	struct onnx_value *now = node->in[0];
	for (uint32_t i = 0; i < node->in[0]->n_dims; i++) {
		if (is_whole_axis(&cuts[i], node->in[0]->dims[i]))
			continue;
		struct onnx_value *next = onnx_new_value(r);
		struct onnx_step step = {
			.kind = "slice",
			.part = arena_printf(r->scratch, "axis%u", i),
			.in = &now,
			.n_in = 1,
			.out = &next,
			.n_out = 1,
			.attrs = {.axis = i,
				.begin = cuts[i].begin,
				.end = cuts[i].end,
				.stride = {cuts[i].step, 1}},
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
	int64_t at = node->in[1]->ints[0], to[GRAPH_MAX_DIMS];
	if (at < -(int64_t)in->dims[axis] || at >= (int64_t)in->dims[axis])
		return onnx_fail(node, err, "index %" PRId64 " is outside a dimension of %" PRIu64,
			at, in->dims[axis]);
	uint64_t begin = (uint64_t)(at < 0 ? at + (int64_t)in->dims[axis] : at);
	struct onnx_value *part = onnx_new_value(r);
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
	size_t n = 0;
	for (uint32_t i = 0; i < in->n_dims; i++)
		if (i != axis)
			to[n++] = (int64_t)in->dims[i];
	if (!onnx_reshaped(r, node, NULL, &part, &(struct onnx_ints){to, n}, err))
		return false;
	onnx_alias(node->out[0], part);
	return true;
}

bool onnx_build_gather(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_value *table = node->in[0], *index = node->in[1];
	uint32_t axis, n = 0;
	if (!onnx_axis(node, onnx_attr_int(node, "axis", 0), table->n_dims, &axis, err))
		return false;
	if (table->n_dims == 2 && axis == 0 && index->n_dims > 0 && onnx_is_real(table->type)) {
		struct onnx_value *in[2] = {index, table};
		struct onnx_step step = {.kind = "embedding", .in = in, .n_in = 2};
		return onnx_append(r, node, &step, err);
	}
	if (index->ints && index->n_dims == 0)
		return gather_one(r, node, axis, err);
	if (table->n_dims - 1 + index->n_dims > GRAPH_MAX_DIMS)
		return onnx_fail(node, err, "more than %d dimensions", GRAPH_MAX_DIMS);
	struct onnx_step step = {.kind = "gather", .in = node->in, .n_in = 2};
	for (uint32_t i = 0; i < axis; i++)
		step.attrs.shape[n++] = table->dims[i];
	for (uint32_t i = 0; i < index->n_dims; i++)
		step.attrs.shape[n++] = index->dims[i];
	for (uint32_t i = axis + 1; i < table->n_dims; i++)
		step.attrs.shape[n++] = table->dims[i];
	step.attrs.n_shape = n;
	return onnx_append(r, node, &step, err);
}
