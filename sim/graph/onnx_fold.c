#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

/* Content that is kept, if it is: of a constant that is no longer than ONNX_MAX_INTS. */
static int64_t *new_ints(struct onnx_reader *r, uint64_t n)
{
	return n <= ONNX_MAX_INTS ? arena_array(r->scratch, n + 1, int64_t) : NULL;
}

static bool all_constant(const struct onnx_node *node)
{
	for (size_t i = 0; i < node->n_in; i++)
		if (node->in[i] && node->in[i]->state != ONNX_CONSTANT)
			return false;
	return true;
}

bool onnx_fold_constant(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	struct onnx_value *out = node->out[0];
	const Onnx__AttributeProto *attr;
	*done = true;
	if ((attr = onnx_attr(node->proto, "value")) && attr->t) {
		if (!onnx_set_constant(r, out, attr->t, err))
			return err_prefix(err, "node '%s' (Constant): ", node->name);
		return true;
	}
	if ((attr = onnx_attr(node->proto, "value_int")) && attr->has_i)
		return onnx_set_ints(out, &attr->i, 1, true), true;
	if ((attr = onnx_attr(node->proto, "value_ints")) && attr->n_ints > 0)
		return onnx_set_ints(out, attr->ints, attr->n_ints, false), true;
	out->state = ONNX_CONSTANT;
	out->type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
	if ((attr = onnx_attr(node->proto, "value_float")) && attr->has_f)
		return true;
	if ((attr = onnx_attr(node->proto, "value_floats"))) {
		out->n_dims = 1;
		out->dims[0] = attr->n_floats;
		return true;
	}
	return onnx_fail(node, err, "a value of numbers is expected");
}

/* ConstantOfShape: the element is the single one of the attribute, 0.0f without it. */
bool onnx_fold_filled(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	struct onnx_value *out = node->out[0],
			  element = {.type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT};
	struct onnx_ints shape;
	*done = true;
	if (!onnx_int_list(node, "shape", 0, &shape, err))
		return false;
	if (shape.n > GRAPH_MAX_DIMS)
		return onnx_fail(node, err, "%zu dimensions, at most %d are supported", shape.n,
			GRAPH_MAX_DIMS);
	const Onnx__AttributeProto *attr = onnx_attr(node->proto, "value");
	if (attr && attr->t && !onnx_set_constant(r, &element, attr->t, err))
		return err_prefix(err, "node '%s' (ConstantOfShape): value: ", node->name);
	out->state = ONNX_CONSTANT;
	out->type = element.type;
	out->n_dims = (uint32_t)shape.n;
	for (size_t i = 0; i < shape.n; i++) {
		if (shape.at[i] < 0)
			return onnx_fail(node, err, "dimension %zu is %" PRId64, i, shape.at[i]);
		out->dims[i] = (uint64_t)shape.at[i];
	}
	if (onnx_elements(out) >> BUILDER_MAX_ELEMENTS_LOG2 != 0)
		return onnx_fail(node, err, "more than 2^%d elements", BUILDER_MAX_ELEMENTS_LOG2);
	if (!element.ints || onnx_elements(&element) != 1)
		return true;
	int64_t *ints = new_ints(r, onnx_elements(out));
	for (uint64_t i = 0; ints && i < onnx_elements(out); i++)
		ints[i] = element.ints[0];
	out->ints = ints;
	return true;
}

bool onnx_fold_identity(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	*done = true;
	onnx_alias(node->out[0], node->in[0]);
	return true;
}

static bool is_whole(int64_t type)
{
	return type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
	       type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
}

/* Nothing is computed where only the type changes; of real numbers no content is kept. */
bool onnx_fold_cast(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	int64_t to = onnx_attr_int(node, "to", 0);
	*done = true;
	onnx_alias(node->out[0], node->in[0]);
	if (node->in[0]->state == ONNX_CONSTANT && !is_whole(to))
		node->out[0]->ints = NULL;
	node->out[0]->type = to > 0 && to < INT32_MAX ? (int32_t)to : 0;
	return true;
}

bool onnx_fold_shape(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	const struct onnx_value *in = node->in[0];
	int64_t n = in->n_dims, start = onnx_attr_int(node, "start", 0);
	int64_t end = onnx_attr_int(node, "end", n);
	*done = true;
	start = start < 0 ? start + n : start;
	end = end < 0 ? end + n : end;
	start = start < 0 ? 0 : start > n ? n : start;
	end = end < start ? start : end > n ? n : end;
	int64_t *ints = new_ints(r, GRAPH_MAX_DIMS);
	for (int64_t i = start; i < end; i++)
		ints[i - start] = (int64_t)in->dims[i];
	onnx_set_ints(node->out[0], ints, (size_t)(end - start), false);
	return true;
}

/* An operator that computes real numbers element by element, on a constant. */
bool onnx_fold_same(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	struct onnx_value *out = node->out[0];
	if (!all_constant(node))
		return true;
	*done = true;
	onnx_alias(out, node->in[0]);
	out->same_as = out->turned = NULL;
	out->ints = NULL;
	return true;
}

static bool broadcast(const struct onnx_node *node, struct onnx_value *out, struct err *err)
{
	const struct onnx_value *a = node->in[0], *b = node->in[1];
	uint32_t n = a->n_dims > b->n_dims ? a->n_dims : b->n_dims;
	out->n_dims = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t da = i < n - a->n_dims ? 1 : a->dims[i - (n - a->n_dims)];
		uint64_t db = i < n - b->n_dims ? 1 : b->dims[i - (n - b->n_dims)];
		if (da != db && da != 1 && db != 1)
			return onnx_fail(node, err,
				"dimensions %" PRIu64 " and %" PRIu64 " differ and neither is 1",
				da, db);
		out->dims[i] = da == 1 ? db : da;
	}
	return true;
}

/* Whole numbers wrap around as they do at run time. */
typedef bool whole_op(int64_t a, int64_t b, int64_t *out);

static bool whole_add(int64_t a, int64_t b, int64_t *out)
{
	*out = (int64_t)((uint64_t)a + (uint64_t)b);
	return true;
}

static bool whole_sub(int64_t a, int64_t b, int64_t *out)
{
	*out = (int64_t)((uint64_t)a - (uint64_t)b);
	return true;
}

static bool whole_mul(int64_t a, int64_t b, int64_t *out)
{
	*out = (int64_t)((uint64_t)a * (uint64_t)b);
	return true;
}

static bool whole_div(int64_t a, int64_t b, int64_t *out)
{
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	*out = a / b;
	return true;
}

static bool fold_binary(
	struct onnx_reader *r, const struct onnx_node *node, whole_op *compute, struct err *err)
{
	const struct onnx_value *a = node->in[0], *b = node->in[1];
	struct onnx_value *out = node->out[0];
	if (!broadcast(node, out, err))
		return false;
	out->state = ONNX_CONSTANT;
	out->type = a->type;
	uint64_t n = onnx_elements(out), na = onnx_elements(a), nb = onnx_elements(b);
	if (!a->ints || !b->ints || n > ONNX_MAX_INTS || (na != n && na != 1) ||
		(nb != n && nb != 1))
		return true;
	int64_t *ints = new_ints(r, n);
	for (uint64_t i = 0; i < n; i++)
		if (!compute(a->ints[na == 1 ? 0 : i], b->ints[nb == 1 ? 0 : i], &ints[i]))
			return onnx_fail(node, err, "a division that has no result");
	out->ints = ints;
	return true;
}

bool onnx_fold_add(struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	*done = all_constant(node);
	return !*done || fold_binary(r, node, whole_add, err);
}

bool onnx_fold_sub(struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	*done = all_constant(node);
	return !*done || fold_binary(r, node, whole_sub, err);
}

bool onnx_fold_mul(struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	*done = all_constant(node);
	return !*done || fold_binary(r, node, whole_mul, err);
}

bool onnx_fold_div(struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	*done = all_constant(node);
	return !*done || fold_binary(r, node, whole_div, err);
}

/* Lists of whole numbers, one after the other: how exporters put shapes together. */
bool onnx_fold_concat(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	uint64_t n = 0;
	if (!all_constant(node))
		return true;
	for (size_t i = 0; i < node->n_in; i++) {
		const struct onnx_value *v = node->in[i];
		if (!v || !v->ints || v->n_dims != 1)
			return true;
		n += v->dims[0];
	}
	int64_t *ints = new_ints(r, n);
	if (!ints)
		return true;
	*done = true;
	size_t at = 0;
	for (size_t i = 0; i < node->n_in; i++)
		for (uint64_t j = 0; j < node->in[i]->dims[0]; j++)
			ints[at++] = node->in[i]->ints[j];
	onnx_set_ints(node->out[0], ints, at, false);
	return true;
}

bool onnx_fold_gather(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	const struct onnx_value *data = node->in[0], *index = node->in[1];
	if (!data->ints || !index->ints || data->n_dims != 1 || index->n_dims > 1)
		return true;
	*done = true;
	int64_t size = (int64_t)data->dims[0];
	size_t n = (size_t)onnx_elements(index);
	int64_t *ints = new_ints(r, n);
	for (size_t i = 0; i < n; i++) {
		int64_t at = index->ints[i] < 0 ? index->ints[i] + size : index->ints[i];
		if (at < 0 || at >= size)
			return onnx_fail(node, err,
				"index %" PRId64 " is outside a list of %" PRId64, index->ints[i],
				size);
		ints[i] = data->ints[at];
	}
	onnx_set_ints(node->out[0], ints, n, index->n_dims == 0);
	return true;
}
