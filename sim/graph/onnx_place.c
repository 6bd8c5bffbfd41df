#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

/* Operators whose result has other dimensions than their input: repeated, padded, resized, picked,
 * joined. */

/* Appends a step whose result has the dimensions `to`; constants are moved by the operator too. */
static bool append_given(struct onnx_reader *r, const struct onnx_node *node,
	struct onnx_step *step, const struct onnx_ints *to, struct err *err)
{
	if (to->n > GRAPH_MAX_DIMS)
		return onnx_fail(node, err, "%zu dimensions, at most %d are supported", to->n,
			GRAPH_MAX_DIMS);
	step->attrs.n_shape = (uint32_t)to->n;
	for (size_t i = 0; i < to->n; i++) {
		if (to->at[i] < 1)
			return onnx_fail(
				node, err, "dimension %zu of the result is %" PRId64, i, to->at[i]);
		step->attrs.shape[i] = (uint64_t)to->at[i];
	}
	if (!step->in) {
		step->in = node->in;
		step->n_in = 1;
	}
	return onnx_append(r, node, step, err);
}

static size_t read_dims(const struct onnx_value *v, int64_t out[GRAPH_MAX_DIMS])
{
	for (uint32_t i = 0; i < v->n_dims; i++)
		out[i] = (int64_t)v->dims[i];
	return v->n_dims;
}

/* A constant that is repeated is a constant; where it is not known, neither is the result. */
static bool repeat_constant(struct onnx_reader *r, const struct onnx_node *node,
	const struct onnx_value *wide, struct err *err)
{
	struct onnx_value *out = node->out[0];
	const struct onnx_value *in = node->in[0];
	int64_t rows[GRAPH_MAX_DIMS] = {0}, steps[GRAPH_MAX_DIMS] = {0};
	if (onnx_elements(wide) >> BUILDER_MAX_ELEMENTS_LOG2 != 0)
		return onnx_fail(node, err, "more than 2^%d elements", BUILDER_MAX_ELEMENTS_LOG2);
	onnx_row_steps(in, rows);
	for (uint32_t i = 0; i < in->n_dims; i++)
		if (in->dims[i] != 1)
			steps[wide->n_dims - in->n_dims + i] = rows[i];
	onnx_alias(out, node->in[0]);
	out->same_as = out->turned = NULL;
	out->n_dims = wide->n_dims;
	memcpy(out->dims, wide->dims, sizeof(out->dims));
	onnx_pick(r, out, in, 0, steps);
	return true;
}

bool onnx_build_expand(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_ints shape;
	struct onnx_value target = {0}, wide = {0};
	if (!onnx_int_list(node, "shape", 1, &shape, err))
		return false;
	if (shape.n > GRAPH_MAX_DIMS)
		return onnx_fail(node, err, "%zu dimensions, at most %d are supported", shape.n,
			GRAPH_MAX_DIMS);
	for (size_t i = 0; i < shape.n; i++) {
		if (shape.at[i] < 1)
			return onnx_fail(node, err, "dimension %zu is %" PRId64, i, shape.at[i]);
		target.dims[target.n_dims++] = (uint64_t)shape.at[i];
	}
	struct onnx_node pair = *node;
	pair.in = (struct onnx_value *[]){node->in[0], &target};
	pair.n_in = 2;
	if (!onnx_broadcast(&pair, &wide, err))
		return false;
	bool known = node->in[0]->ints || onnx_elements(node->in[0]) == 1 ||
		     !onnx_is_real(node->in[0]->type);
	if (node->in[0]->state == ONNX_CONSTANT && known)
		return repeat_constant(r, node, &wide, err);
	int64_t to[GRAPH_MAX_DIMS];
	size_t n = read_dims(&wide, to);
	return append_given(
		r, node, &(struct onnx_step){.kind = "expand"}, &(struct onnx_ints){to, n}, err);
}

bool onnx_build_tile(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_ints times;
	int64_t to[GRAPH_MAX_DIMS];
	size_t n = read_dims(node->in[0], to);
	if (!onnx_int_list(node, "repeats", 1, &times, err))
		return false;
	if (times.n != n)
		return onnx_fail(node, err, "%zu repeats for %zu dimensions", times.n, n);
	for (size_t i = 0; i < n; i++) {
		u128 product = (u128)(uint64_t)to[i] * (uint64_t)times.at[i];
		if (times.at[i] < 1 || product >> BUILDER_MAX_ELEMENTS_LOG2 != 0)
			return onnx_fail(node, err, "repeat %zu is %" PRId64, i, times.at[i]);
		to[i] = (int64_t)product;
	}
	return append_given(
		r, node, &(struct onnx_step){.kind = "expand"}, &(struct onnx_ints){to, n}, err);
}

/* Pads are all beginnings, then all ends; axes are named since operator set 18. */
bool onnx_build_pad(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_ints pads, axes = {0};
	int64_t to[GRAPH_MAX_DIMS];
	size_t n = read_dims(node->in[0], to);
	if (!onnx_int_list(node, "pads", 1, &pads, err) ||
		(node->n_in > 3 && !onnx_int_list(node, "axes", 3, &axes, err)))
		return false;
	size_t n_axes = axes.at ? axes.n : n;
	if (pads.n != 2 * n_axes)
		return onnx_fail(node, err, "%zu pads for %zu axes", pads.n, n_axes);
	for (size_t i = 0; i < n_axes; i++) {
		uint32_t axis;
		int64_t first = pads.at[i], last = pads.at[n_axes + i];
		if (!onnx_axis(node, axes.at ? axes.at[i] : (int64_t)i, (uint32_t)n, &axis, err))
			return false;
		if (first > INT32_MAX || first < INT32_MIN || last > INT32_MAX || last < INT32_MIN)
			return onnx_fail(node, err, "a padding of %" PRId64, first);
		to[axis] += first + last;
	}
	return append_given(
		r, node, &(struct onnx_step){.kind = "pad"}, &(struct onnx_ints){to, n}, err);
}

/* A factor or a size for each dimension, in the order of the inputs of the operator sets. */
static bool resized_dims(const struct onnx_node *node, int64_t to[GRAPH_MAX_DIMS], struct err *err)
{
	const struct onnx_value *in = node->in[0], *scales = NULL, *sizes = NULL;
	size_t at = node->n_in > 2 ? 2 : 1; /* before operator set 11 scales came second */
	if (at < node->n_in && node->in[at] && onnx_elements(node->in[at]) > 0)
		scales = node->in[at];
	if (node->n_in > 3 && node->in[3] && onnx_elements(node->in[3]) > 0)
		sizes = node->in[3];
	const struct onnx_value *given = sizes ? sizes : scales;
	const Onnx__AttributeProto *attr = onnx_attr(node->proto, "scales");
	size_t n = given ? (size_t)onnx_elements(given) : attr ? attr->n_floats : 0;
	if ((given && !onnx_is_known(given)) || n != in->n_dims || onnx_attr(node->proto, "axes"))
		return onnx_fail(node, err,
			"scales or sizes must be known from the file, one for each dimension");
	for (uint32_t i = 0; i < in->n_dims; i++) {
		double factor = given ? onnx_number(given, i) : (double)attr->floats[i];
		double side = sizes ? factor : floor((double)in->dims[i] * factor + 1e-6);
		if (!(side >= 1 && side <= (double)(UINT64_C(1) << BUILDER_MAX_ELEMENTS_LOG2)))
			return onnx_fail(node, err, "dimension %u becomes %g", i, side);
		to[i] = (int64_t)side;
	}
	return true;
}

/* Neighbours that an element is made of: 1, 2 or 4 along each side that changes. */
bool onnx_build_resize(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const char *mode = onnx_attr_text(r, node, "mode");
	int64_t to[GRAPH_MAX_DIMS] = {0};
	struct onnx_step step = {.kind = "resize"};
	uint32_t taps = strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0 ? 2
			: strcmp(mode, "cubic") == 0                                 ? 4
										     : 1;
	if (!resized_dims(node, to, err))
		return false;
	step.attrs.kernel[0] = step.attrs.kernel[1] = 1;
	for (uint32_t i = 0; i < node->in[0]->n_dims; i++)
		if (to[i] != (int64_t)node->in[0]->dims[i])
			step.attrs.kernel[0] *= taps;
	return append_given(r, node, &step, &(struct onnx_ints){to, node->in[0]->n_dims}, err);
}

/* DepthToSpace and SpaceToDepth move the same elements. */
bool onnx_build_depth(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	int64_t to[GRAPH_MAX_DIMS], size = onnx_attr_int(node, "blocksize", 0);
	bool grows = strcmp(node->proto->op_type, "DepthToSpace") == 0;
	if (read_dims(node->in[0], to) != 4 || size < 1 || size > INT16_MAX)
		return onnx_fail(node, err, "4 dimensions and a blocksize are expected");
	int64_t square = size * size;
	if (grows ? to[1] % square : to[2] % size || to[3] % size)
		return onnx_fail(node, err, "the blocksize does not divide the input");
	u128 channels = grows ? (u128)(to[1] / square) : (u128)(uint64_t)to[1] * (uint64_t)square;
	if (channels >> BUILDER_MAX_ELEMENTS_LOG2 != 0)
		return onnx_fail(node, err, "too many channels");
	to[1] = (int64_t)channels;
	to[2] = grows ? to[2] * size : to[2] / size;
	to[3] = grows ? to[3] * size : to[3] / size;
	return append_given(
		r, node, &(struct onnx_step){.kind = "move"}, &(struct onnx_ints){to, 4}, err);
}

/* ScatterND and the like: some elements of the first input become others. */
bool onnx_build_in_place(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	int64_t to[GRAPH_MAX_DIMS];
	size_t n = read_dims(node->in[0], to);
	struct onnx_step step = {.kind = "move", .in = node->in, .n_in = node->n_in};
	return append_given(r, node, &step, &(struct onnx_ints){to, n}, err);
}

/* GatherElements: a result as large as the index. */
bool onnx_build_index_shape(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	int64_t to[GRAPH_MAX_DIMS];
	size_t n = read_dims(node->in[1], to);
	struct onnx_step step = {.kind = "gather", .in = node->in, .n_in = 2};
	return append_given(r, node, &step, &(struct onnx_ints){to, n}, err);
}

/* The index's last dimension names a place in the first dimensions behind the batch ones. */
bool onnx_build_gather_nd(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0], *index = node->in[1];
	int64_t to[2 * GRAPH_MAX_DIMS], batch = onnx_attr_int(node, "batch_dims", 0);
	size_t n = 0;
	if (index->n_dims == 0 || batch < 0 || batch >= index->n_dims ||
		(uint64_t)batch + index->dims[index->n_dims - 1] > in->n_dims)
		return onnx_fail(node, err, "the index does not fit the input");
	uint64_t from = (uint64_t)batch + index->dims[index->n_dims - 1];
	for (uint32_t i = 0; i + 1 < index->n_dims; i++)
		to[n++] = (int64_t)index->dims[i];
	for (uint64_t i = from; i < in->n_dims; i++)
		to[n++] = (int64_t)in->dims[i];
	struct onnx_step step = {.kind = "gather", .in = node->in, .n_in = 2};
	return append_given(r, node, &step, &(struct onnx_ints){to, n}, err);
}

bool onnx_build_one_hot(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *index = node->in[0], *depth = node->in[1];
	int64_t to[GRAPH_MAX_DIMS + 1], axis = onnx_attr_int(node, "axis", -1);
	size_t n = read_dims(index, to);
	if (!onnx_is_known(depth) || onnx_elements(depth) != 1)
		return onnx_fail(node, err, "the depth must be known from the file");
	double d = onnx_number(depth, 0);
	axis = axis < 0 ? axis + (int64_t)n + 1 : axis;
	if (axis < 0 || axis > (int64_t)n || !(d >= 1 && d <= INT32_MAX))
		return onnx_fail(node, err, "axis %" PRId64 " or depth %g do not fit", axis, d);
	memmove(to + axis + 1, to + axis, (n - (size_t)axis) * sizeof(*to));
	to[axis] = (int64_t)d;
	return append_given(
		r, node, &(struct onnx_step){.kind = "move"}, &(struct onnx_ints){to, n + 1}, err);
}

/* The largest k along an axis, and where they were. */
bool onnx_build_top_k(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_ints k;
	int64_t to[GRAPH_MAX_DIMS];
	uint32_t axis;
	size_t n = read_dims(node->in[0], to);
	if (!onnx_axis(node, onnx_attr_int(node, "axis", -1), (uint32_t)n, &axis, err) ||
		!onnx_int_list(node, "k", 1, &k, err))
		return false;
	to[axis] = k.n == 1 ? k.at[0] : onnx_attr_int(node, "k", 0);
	for (size_t i = 0; i < 2 && i < node->n_out; i++) {
		struct onnx_step step = {.kind = "move",
			.part = i ? "places" : NULL,
			.out = &node->out[i],
			.n_out = 1};
		if (node->out[i] && !append_given(r, node, &step, &(struct onnx_ints){to, n}, err))
			return false;
	}
	return true;
}

bool onnx_build_concat(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_step step = {0};
	return onnx_axis(node, onnx_attr_int(node, "axis", 1), node->in[0]->n_dims,
		       &step.attrs.axis, err) &&
	       onnx_append(r, node, &step, err);
}
