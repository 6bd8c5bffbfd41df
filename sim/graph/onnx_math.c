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

/* Appends a window operator. One of a single dimension is one of two dimensions whose first is 1,
 * between two views. */
static bool append_window(struct onnx_reader *r, const struct onnx_node *node,
	struct op_attrs *attrs, struct err *err)
{
	struct onnx_value *in[3] = {node->in[0], node->n_in > 1 ? node->in[1] : NULL,
		node->n_in > 2 ? node->in[2] : NULL};
	struct onnx_value *wide = onnx_new_value(r);
	struct onnx_step step = {.in = in, .n_in = 3, .attrs = *attrs};
	const uint64_t *d = node->in[0]->dims;
	if (node->in[0]->n_dims == 4)
		return onnx_append(r, node, &step, err);
	int64_t to[4] = {(int64_t)d[0], (int64_t)d[1], 1, (int64_t)d[2]};
	step.part = "window";
	step.out = &wide;
	step.n_out = 1;
	if (!onnx_reshaped(r, node, "wide", &in[0], &(struct onnx_ints){to, 4}, err) ||
		!onnx_append(r, node, &step, err))
		return false;
	to[0] = (int64_t)wide->dims[0];
	to[1] = (int64_t)wide->dims[1];
	to[2] = (int64_t)wide->dims[3];
	if (!onnx_reshaped(r, node, NULL, &wide, &(struct onnx_ints){to, 3}, err))
		return false;
	onnx_alias(node->out[0], wide);
	return true;
}

static bool read_group(const struct onnx_node *node, struct op_attrs *attrs, struct err *err)
{
	int64_t group = onnx_attr_int(node, "group", 1);
	if (group < 1 || group > UINT32_MAX)
		return onnx_fail(node, err, "group is %" PRId64, group);
	attrs->group = (uint32_t)group;
	return true;
}

bool onnx_build_conv(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct op_attrs attrs = {0};
	return read_group(node, &attrs, err) &&
	       onnx_window(node, node->in[0], node->in[1], &attrs, err) &&
	       append_window(r, node, &attrs, err);
}

bool onnx_build_conv_transpose(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct op_attrs attrs = {0};
	return read_group(node, &attrs, err) &&
	       onnx_window_transposed(node, node->in[0], node->in[1], &attrs, err) &&
	       append_window(r, node, &attrs, err);
}

bool onnx_build_pool(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct op_attrs attrs = {0};
	return onnx_window(node, node->in[0], NULL, &attrs, err) &&
	       append_window(r, node, &attrs, err);
}

/* approximate = "tanh" since operator set 20. */
bool onnx_build_gelu(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	bool curved = strcmp(onnx_attr_text(r, node, "approximate"), "tanh") == 0;
	return onnx_append(
		r, node, &(struct onnx_step){.kind = curved ? "gelu_tanh" : "gelu"}, err);
}

/* An exporter writes a group norm as an instance norm with a gain of ones and a shift of zeros,
 * which are no weights. */
static bool is_neutral(const struct onnx_value *v, double number)
{
	if (!onnx_is_known(v))
		return false;
	for (uint64_t i = 0; i < onnx_elements(v); i++)
		if (onnx_number(v, i) > number || onnx_number(v, i) < number)
			return false;
	return true;
}

/* The statistics are those of one channel of one sample: a norm over the sides. */
bool onnx_build_norm(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	bool neutral = is_neutral(node->in[1], 1) && is_neutral(node->in[2], 0);
	struct onnx_value *now = node->in[0];
	if (now->n_dims < 3 || now->n_dims > GRAPH_MAX_DIMS)
		return onnx_fail(node, err, "an input of at least 3 dimensions is expected");
	for (uint32_t i = 0; i < (neutral ? 1 : 3); i++) {
		static const char *const kinds[] = {"layer_norm", "mul", "add"};
		static const char *const parts[] = {NULL, "gain", "shift"};
		struct onnx_value *next = onnx_new_value(r), *in[2] = {now, NULL};
		struct onnx_step step = {.kind = kinds[i],
			.part = parts[i],
			.in = in,
			.n_in = 2,
			.out = &next,
			.n_out = 1};
		step.attrs.axis = i == 0 ? 2 : 0;
		if (i > 0) {
			int64_t to[GRAPH_MAX_DIMS] = {(int64_t)now->dims[1], 1, 1, 1, 1, 1, 1, 1};
			in[1] = node->in[i];
			if (!onnx_reshaped(r, node, i == 1 ? "gains" : "shifts", &in[1],
				    &(struct onnx_ints){to, now->n_dims - 1}, err))
				return false;
			onnx_note_of(r, onnx_tensor(in[1]))->weight = true;
		}
		if (!onnx_append(r, node, &step, err))
			return false;
		now = next;
	}
	onnx_alias(node->out[0], now);
	return true;
}

/* A window as large as the image. */
bool onnx_build_global_max(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	struct onnx_step step = {.kind = "max_pool"};
	if (in->n_dims != 4 || in->dims[2] > INT16_MAX || in->dims[3] > INT16_MAX)
		return onnx_fail(
			node, err, "an image of at most %d elements a side is expected", INT16_MAX);
	step.attrs.kernel[0] = (uint32_t)in->dims[2];
	step.attrs.kernel[1] = (uint32_t)in->dims[3];
	return onnx_append(r, node, &step, err);
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

/* A vector is a matrix of one row or one column, which the result has not. */
static bool matmul_vector(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct onnx_value *in[2] = {node->in[0], node->in[1]}, *out = onnx_new_value(r);
	struct onnx_step step = {
		.kind = "matmul", .part = "product", .in = in, .n_in = 2, .out = &out, .n_out = 1};
	int64_t to[GRAPH_MAX_DIMS];
	bool row = in[0]->n_dims == 1, column = in[1]->n_dims == 1;
	if (in[0]->n_dims == 0 || in[1]->n_dims == 0)
		return onnx_fail(node, err, "an input has no dimensions");
	to[0] = to[1] = 1;
	to[row] = row ? (int64_t)in[0]->dims[0] : 1;
	if (row && !onnx_reshaped(r, node, "row", &in[0], &(struct onnx_ints){to, 2}, err))
		return false;
	to[0] = (int64_t)in[1]->dims[0];
	to[1] = 1;
	if (column && !onnx_reshaped(r, node, "column", &in[1], &(struct onnx_ints){to, 2}, err))
		return false;
	if (!onnx_append(r, node, &step, err))
		return false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < out->n_dims; i++)
		if (!(row && i + 2 == out->n_dims) && !(column && i + 1 == out->n_dims))
			to[n++] = (int64_t)out->dims[i];
	if (!onnx_reshaped(r, node, NULL, &out, &(struct onnx_ints){to, n}, err))
		return false;
	onnx_alias(node->out[0], out);
	return true;
}

/* A weight on the right-hand side makes it a GEMM with all leading dimensions as rows. */
bool onnx_build_matmul(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	const struct onnx_value *left = node->in[0], *right = node->in[1];
	struct onnx_step step = {.kind = "matmul"};
	if (left->n_dims == 1 || right->n_dims == 1)
		return matmul_vector(r, node, err);
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
		struct onnx_value *next = last ? node->out[0] : onnx_new_value(r);
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
	if (step.attrs.axis == 0 && node->in[0]->n_dims > 1)
		return onnx_fail(node, err, "a norm over all dimensions is not supported");
	return onnx_append(r, node, &step, err);
}

/* Before operator set 13 a softmax runs over all dimensions from `axis` on, as over one. */
static bool softmax_flat(
	struct onnx_reader *r, const struct onnx_node *node, uint32_t axis, struct err *err)
{
	struct onnx_value *flat = node->in[0], *soft = onnx_new_value(r);
	int64_t to[2] = {1, 1}, back[GRAPH_MAX_DIMS];
	for (uint32_t i = 0; i < flat->n_dims; i++) {
		back[i] = (int64_t)flat->dims[i];
		to[i >= axis] *= back[i];
	}
	uint32_t n = flat->n_dims;
	struct onnx_step step = {.in = &flat, .n_in = 1, .out = &soft, .n_out = 1, .attrs.axis = 1};
	if (!onnx_reshaped(r, node, "flat", &flat, &(struct onnx_ints){to, 2}, err) ||
		!onnx_append(r, node, &step, err) ||
		!onnx_reshaped(r, node, "shape", &soft, &(struct onnx_ints){back, n}, err))
		return false;
	onnx_alias(node->out[0], soft);
	return true;
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
