#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

/* Operators that make one number of many: means, sums, maxima, their places. */

/* The axes as bits: from the attribute `axes` or input 1; all of them where there are none. */
static bool read_axes(const struct onnx_node *node, uint32_t *mask, bool *nothing, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_ints axes;
	uint32_t axis;
	*mask = 0;
	if (!onnx_int_list(node, "axes", 1, &axes, err))
		return false;
	for (size_t i = 0; i < axes.n; i++) {
		if (!onnx_axis(node, axes.at[i], in->n_dims, &axis, err))
			return false;
		*mask |= 1u << axis;
	}
	*nothing = axes.n == 0 && onnx_attr_int(node, "noop_with_empty_axes", 0) != 0;
	if (axes.n == 0)
		*mask = (1u << in->n_dims) - 1;
	return true;
}

/* One run of neighbouring axes after the other, the last first, so that the others keep their
 * numbers. */
static bool reduce_runs(struct onnx_reader *r, const struct onnx_node *node, uint32_t mask,
	bool keep, struct err *err)
{
	struct onnx_value *now = node->in[0];
	for (uint32_t end = now->n_dims; end > 0 && mask != 0; end--) {
		uint32_t first = end;
		while (first > 0 && mask & 1u << (first - 1))
			first--;
		if (first == end)
			continue;
		mask &= (1u << first) - 1;
		struct onnx_value *next = mask ? onnx_new_value(r) : node->out[0];
		struct onnx_step step = {.in = &now,
			.n_in = 1,
			.part = mask ? arena_printf(r->scratch, "axis%u", first) : NULL,
			.out = &next,
			.n_out = 1,
			.attrs = {.axis = first, .n_axes = end - first, .keep_dims = keep}};
		if (!onnx_append(r, node, &step, err))
			return false;
		now = next;
		end = first + 1;
	}
	return true;
}

bool onnx_build_reduce(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	uint32_t mask;
	bool nothing, keep = onnx_attr_int(node, "keepdims", 1) != 0;
	const char *type = node->proto->op_type;
	if (strcmp(type, "ArgMax") == 0 || strcmp(type, "ArgMin") == 0) {
		uint32_t axis;
		if (!onnx_axis(
			    node, onnx_attr_int(node, "axis", 0), node->in[0]->n_dims, &axis, err))
			return false;
		return reduce_runs(r, node, 1u << axis, keep, err);
	}
	if (!read_axes(node, &mask, &nothing, err))
		return false;
	if (nothing || mask == 0) {
		onnx_alias(node->out[0], node->in[0]);
		return true;
	}
	return reduce_runs(r, node, mask, keep, err);
}
