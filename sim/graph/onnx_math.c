#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

/* Operators that compute. */

bool onnx_build_all(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	return onnx_append(r, node, &(struct onnx_step){0}, err);
}

bool onnx_build_first(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	return onnx_append(r, node, &(struct onnx_step){.in = node->in, .n_in = 1}, err);
}

bool onnx_build_conv(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_step step = {0};
	int64_t group = onnx_attr_int(node, "group", 1);
	if (group < 1 || group > UINT32_MAX)
		return onnx_fail(node, err, "group is %" PRId64, group);
	step.attrs.group = (uint32_t)group;
	return onnx_window(node, node->in[0], node->in[1], &step.attrs, err) &&
	       onnx_append(r, node, &step, err);
}

bool onnx_build_pool(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_step step = {0};
	return onnx_window(node, node->in[0], NULL, &step.attrs, err) &&
	       onnx_append(r, node, &step, err);
}

/* A transposed weight is read where it lies, so that it stays one tensor with its other uses. */
static struct onnx_value *unturned(struct onnx_value *v, bool *transpose)
{
	for (; v->turned; v = v->turned)
		*transpose = !*transpose;
	return v;
}

bool onnx_build_gemm(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_step step = {
		.attrs.transpose_a = onnx_attr_int(node, "transA", 0) != 0,
		.attrs.transpose_b = onnx_attr_int(node, "transB", 0) != 0,
	};
	struct onnx_value *in[3] = {node->in[0]};
	in[1] = unturned(node->in[1], &step.attrs.transpose_b);
	in[2] = node->n_in > 2 ? node->in[2] : NULL;
	step.in = in;
	step.n_in = 3;
	return onnx_append(r, node, &step, err);
}

/* A weight on the right-hand side makes it a GEMM with all leading dimensions as rows. */
bool onnx_build_matmul(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *left = node->in[0], *right = node->in[1];
	struct onnx_step step = {.kind = "matmul"};
	if (right->state != ONNX_CONSTANT || right->n_dims != 2 || left->n_dims < 2)
		return onnx_append(r, node, &step, err);
	struct onnx_value *in[2] = {node->in[0]};
	in[1] = unturned(node->in[1], &step.attrs.transpose_b);
	step.kind = "gemm";
	step.in = in;
	step.n_in = 2;
	return onnx_append(r, node, &step, err);
}

bool onnx_build_sum(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_value *sum = node->in[0];
	for (size_t i = 1; i < node->n_in; i++) {
		bool last = i + 1 == node->n_in;
		struct onnx_value *next =
			last ? node->out[0] : arena_new(r->scratch, struct onnx_value);
		struct onnx_value *in[2] = {sum, node->in[i]};
		struct onnx_step step = {
			.part = last ? NULL : arena_printf(r->scratch, "%zu", i),
			.in = in,
			.n_in = 2,
			.out = &next,
			.n_out = 1,
		};
		if (!in[1])
			return onnx_fail(node, err, "input %zu is missing", i);
		if (!onnx_append(r, node, &step, err))
			return false;
		sum = next;
	}
	if (node->n_in == 1)
		onnx_alias(node->out[0], sum);
	return true;
}

bool onnx_build_lrn(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	int64_t size = onnx_attr_int(node, "size", 0);
	if (size < 1 || size > UINT16_MAX)
		return onnx_fail(
			node, err, "size must be from 1 to %d, it is %" PRId64, UINT16_MAX, size);
	struct onnx_step step = {.attrs.kernel = {(uint32_t)size, 1}};
	return onnx_append(r, node, &step, err);
}

bool onnx_build_layer_norm(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_step step = {0};
	if (!onnx_axis(node, onnx_attr_int(node, "axis", -1), node->in[0]->n_dims, &step.attrs.axis,
		    err))
		return false;
	if (step.attrs.axis == 0)
		return onnx_fail(node, err, "a norm over all dimensions is not supported");
	return onnx_append(r, node, &step, err);
}

bool onnx_build_reduce_mean(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_step step = {.in = node->in, .n_in = 1};
	struct onnx_ints axes;
	uint32_t mask = 0, axis, first = 0, n = 0;
	if (!onnx_int_list(node, "axes", 1, &axes, err))
		return false;
	for (size_t i = 0; i < axes.n; i++) {
		if (!onnx_axis(node, axes.at[i], in->n_dims, &axis, err))
			return false;
		mask |= 1u << axis;
	}
	if (axes.n == 0)
		mask = (1u << in->n_dims) - 1;
	while (first < in->n_dims && !(mask & 1u << first))
		first++;
	while (mask & 1u << (first + n))
		n++;
	if (mask >> (first + n) != 0)
		return onnx_fail(node, err, "only neighbouring axes can be reduced together");
	step.attrs.axis = first;
	step.attrs.n_axes = n;
	step.attrs.keep_dims = onnx_attr_int(node, "keepdims", 1) != 0;
	return onnx_append(r, node, &step, err);
}

static bool reshape_part(struct onnx_reader *r, const struct onnx_node *node, const char *part,
	struct onnx_value *pair[2], struct err *err)
{
	struct onnx_step step = {
		.kind = "reshape",
		.part = part,
		.in = &pair[0],
		.n_in = 1,
		.out = &pair[1],
		.n_out = 1,
		.attrs.n_shape = pair[1]->n_dims,
	};
	memcpy(step.attrs.shape, pair[1]->dims, pair[1]->n_dims * sizeof(*pair[1]->dims));
	return onnx_append(r, node, &step, err);
}

/* Before operator set 13 a softmax runs over all dimensions from `axis` on, as over one. */
static bool softmax_flat(
	struct onnx_reader *r, const struct onnx_node *node, uint32_t axis, struct err *err)
{
	struct onnx_value *in = node->in[0], *out = node->out[0];
	struct onnx_value *flat = arena_new(r->scratch, struct onnx_value);
	struct onnx_value *soft = arena_new(r->scratch, struct onnx_value);
	flat->n_dims = 2;
	flat->dims[0] = flat->dims[1] = 1;
	for (uint32_t i = 0; i < in->n_dims; i++)
		flat->dims[i >= axis] *= in->dims[i];
	out->n_dims = in->n_dims;
	memcpy(out->dims, in->dims, sizeof(out->dims));
	struct onnx_step step = {.in = &flat, .n_in = 1, .out = &soft, .n_out = 1, .attrs.axis = 1};
	return reshape_part(r, node, "flat", (struct onnx_value *[]){in, flat}, err) &&
	       onnx_append(r, node, &step, err) &&
	       reshape_part(r, node, "shape", (struct onnx_value *[]){soft, out}, err);
}

bool onnx_build_softmax(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_step step = {.in = node->in, .n_in = 1};
	if (!onnx_axis(node, onnx_attr_int(node, "axis", r->opset < 13 ? 1 : -1), in->n_dims,
		    &step.attrs.axis, err))
		return false;
	uint64_t behind = 1;
	for (uint32_t i = step.attrs.axis + 1; i < in->n_dims; i++)
		behind *= in->dims[i];
	if (r->opset < 13 && behind > 1)
		return softmax_flat(r, node, step.attrs.axis, err);
	return onnx_append(r, node, &step, err);
}
