#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

/* Larger windows are mistakes; it keeps every sum below far from overflow. */
enum { WINDOW_MAX = 1 << 15 };

enum auto_pad { PAD_EXPLICIT, PAD_SAME_LOWER, PAD_SAME_UPPER, PAD_VALID };

static bool read_auto_pad(const struct onnx_node *node, enum auto_pad *out, struct err *err)
{
	static const struct {
		const char *name;
		enum auto_pad pad;
	} names[] = {
		{"NOTSET", PAD_EXPLICIT},
		{"SAME_LOWER", PAD_SAME_LOWER},
		{"SAME_UPPER", PAD_SAME_UPPER},
		{"VALID", PAD_VALID},
	};
	const Onnx__AttributeProto *attr = onnx_attr(node->proto, "auto_pad");
	*out = PAD_EXPLICIT;
	if (!attr)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i].name);
		if (attr->s.len == n && memcmp(attr->s.data, names[i].name, n) == 0) {
			*out = names[i].pad;
			return true;
		}
	}
	return onnx_fail(node, err,
		"auto_pad must be NOTSET, SAME_LOWER, SAME_UPPER or VALID, it is '%.*s'",
		(int)(attr->s.len < 40 ? attr->s.len : 40), (const char *)attr->s.data);
}

/* A list of one number for each of `n_axes` sides (of two numbers for pads: all beginnings, then
 * all ends) into pairs; a single side is the second of two. Nothing where it is absent. */
static bool read_list(const struct onnx_node *node, const char *name, int64_t min, uint32_t out[],
	size_t n_axes, struct err *err)
{
	struct onnx_ints list;
	size_t n = strcmp(name, "pads") == 0 ? 2 * n_axes : n_axes;
	if (!onnx_int_list(node, name, SIZE_MAX, &list, err))
		return false;
	if (!list.at)
		return true;
	if (list.n != n)
		return onnx_fail(node, err,
			"%s must have %zu numbers (windows of one and two dimensions are "
			"supported), it has %zu",
			name, n, list.n);
	for (size_t i = 0; i < n; i++) {
		if (list.at[i] < min || list.at[i] > WINDOW_MAX)
			return onnx_fail(node, err,
				"%s must be from %" PRId64 " to %d, it has %" PRId64, name, min,
				WINDOW_MAX, list.at[i]);
		out[n_axes == 2 ? i : 2 * i + 1] = (uint32_t)list.at[i];
	}
	return true;
}

static uint64_t window_reach(const struct op_attrs *a, uint32_t axis)
{
	return (uint64_t)a->dilation[axis] * (a->kernel[axis] - 1) + 1;
}

/* SAME: the output is ceil(in / stride); the odd element of the padding goes to the end for
 * UPPER and to the beginning for LOWER (ONNX operator reference, Conv). */
static void pad_same(struct op_attrs *a, uint32_t axis, uint64_t in, bool upper)
{
	uint64_t need =
		(div_ceil(in, a->stride[axis]) - 1) * a->stride[axis] + window_reach(a, axis);
	uint32_t pad = need > in ? (uint32_t)(need - in) : 0;
	a->pad_begin[axis] = upper ? pad / 2 : pad - pad / 2;
	a->pad_end[axis] = pad - a->pad_begin[axis];
}

/* ceil_mode: one more position where the last stride is not whole, provided that it starts
 * inside the input or the padding before it (ONNX operator reference, MaxPool). */
static void pad_ceil(struct op_attrs *a, uint32_t axis, uint64_t in)
{
	uint64_t padded = in + a->pad_begin[axis] + a->pad_end[axis], reach = window_reach(a, axis);
	if (padded < reach || (padded - reach) % a->stride[axis] == 0)
		return;
	uint64_t last = div_ceil(padded - reach, a->stride[axis]) * a->stride[axis];
	if (last < in + a->pad_begin[axis])
		a->pad_end[axis] += (uint32_t)(last + reach - padded);
}

static bool read_kernel(const struct onnx_node *node, const struct onnx_value *weight, size_t n,
	struct op_attrs *attrs, struct err *err)
{
	if (!weight && !onnx_attr(node->proto, "kernel_shape"))
		return onnx_fail(node, err, "kernel_shape is missing");
	for (uint32_t i = 0; weight && i < n; i++) {
		if (weight->dims[2 + i] < 1 || weight->dims[2 + i] > WINDOW_MAX)
			return onnx_fail(node, err, "a kernel must have 1 to %d elements a side",
				WINDOW_MAX);
		attrs->kernel[2 - n + i] = (uint32_t)weight->dims[2 + i];
	}
	return read_list(node, "kernel_shape", 1, attrs->kernel, n, err);
}

/* Kernel, stride and dilation. */
static bool read_sides(const struct onnx_node *node, const struct onnx_value *in,
	const struct onnx_value *weight, struct op_attrs *attrs, struct err *err)
{
	if (in->n_dims < 3 || in->n_dims > 4 || (weight && weight->n_dims != in->n_dims))
		return onnx_fail(node, err,
			"an input of 3 or 4 dimensions and a weight of as many are supported, it "
			"has "
			"%u",
			in->n_dims);
	for (uint32_t i = 0; i < 2; i++)
		attrs->kernel[i] = attrs->stride[i] = attrs->dilation[i] = 1;
	return read_kernel(node, weight, in->n_dims - 2, attrs, err) &&
	       read_list(node, "strides", 1, attrs->stride, in->n_dims - 2, err) &&
	       read_list(node, "dilations", 1, attrs->dilation, in->n_dims - 2, err);
}

bool onnx_window(const struct onnx_node *node, const struct onnx_value *in,
	const struct onnx_value *weight, struct op_attrs *attrs, struct err *err)
{
	uint32_t pads[4] = {0};
	enum auto_pad auto_pad;
	if (!read_sides(node, in, weight, attrs, err) || !read_auto_pad(node, &auto_pad, err) ||
		!read_list(node, "pads", 0, pads, in->n_dims - 2, err))
		return false;
	for (uint32_t i = in->n_dims == 4 ? 0 : 1; i < 2; i++) {
		uint64_t side = in->dims[in->n_dims - 2 + i];
		if (auto_pad == PAD_SAME_LOWER || auto_pad == PAD_SAME_UPPER)
			pad_same(attrs, i, side, auto_pad == PAD_SAME_UPPER);
		if (auto_pad == PAD_EXPLICIT) {
			attrs->pad_begin[i] = pads[i];
			attrs->pad_end[i] = pads[2 + i];
		}
		if (onnx_attr_int(node, "ceil_mode", 0) != 0 && auto_pad != PAD_SAME_LOWER &&
			auto_pad != PAD_SAME_UPPER)
			pad_ceil(attrs, i, side);
	}
	return true;
}

/* One side of a transposed convolution's output, before its padding; that comes from pads and
 * output_padding, or from the size that the file asks for (ONNX operator reference,
 * ConvTranspose). */
static bool pad_transposed(const struct onnx_node *node, uint32_t axis, const uint64_t sides[2],
	const uint32_t pads[4], struct op_attrs *attrs, struct err *err)
{
	const uint64_t full = sides[0], target = sides[1], most = UINT64_C(2) * WINDOW_MAX;
	uint64_t total = (uint64_t)pads[axis] + pads[2 + axis];
	if (target > 0)
		total = full > target ? full - target : 0;
	if (total >= full || total > most || target > full)
		return onnx_fail(node, err,
			"an output of %" PRIu64 " is asked for where %" PRIu64 " are made", target,
			full);
	attrs->pad_begin[axis] = target > 0 ? (uint32_t)(total / 2) : pads[axis];
	attrs->pad_end[axis] = (uint32_t)(total - attrs->pad_begin[axis]);
	return true;
}

/* output_padding makes the end of the padding smaller. */
bool onnx_window_transposed(const struct onnx_node *node, const struct onnx_value *in,
	const struct onnx_value *weight, struct op_attrs *attrs, struct err *err)
{
	uint32_t pads[4] = {0}, more[2] = {0}, shape[2] = {0};
	enum auto_pad auto_pad;
	if (!read_sides(node, in, weight, attrs, err) || !read_auto_pad(node, &auto_pad, err) ||
		!read_list(node, "pads", 0, pads, in->n_dims - 2, err) ||
		!read_list(node, "output_padding", 0, more, in->n_dims - 2, err) ||
		!read_list(node, "output_shape", 1, shape, in->n_dims - 2, err))
		return false;
	for (uint32_t i = in->n_dims == 4 ? 0 : 1; i < 2; i++) {
		uint64_t side = in->dims[in->n_dims - 2 + i], target = shape[i];
		if (side == 0 || side >> BUILDER_MAX_ELEMENTS_LOG2)
			return onnx_fail(node, err, "a side of %" PRIu64, side);
		uint64_t full = (side - 1) * attrs->stride[i] + window_reach(attrs, i);
		if (auto_pad == PAD_SAME_LOWER || auto_pad == PAD_SAME_UPPER)
			target = side * attrs->stride[i];
		if (auto_pad == PAD_VALID)
			pads[i] = pads[2 + i] = 0;
		if (more[i] > pads[2 + i])
			return onnx_fail(node, err,
				"output_padding of %u above the padding of %u is not supported",
				more[i], pads[2 + i]);
		pads[2 + i] -= more[i];
		if (!pad_transposed(node, i, (const uint64_t[]){full, target}, pads, attrs, err))
			return false;
	}
	return true;
}
