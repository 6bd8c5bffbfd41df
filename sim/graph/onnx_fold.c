#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Content that is kept, if it is: of a constant that is no longer than ONNX_MAX_INTS. */
static int64_t *new_ints(struct onnx_reader *r, uint64_t n)
{
	return onnx_keeps(r, n) ? arena_array(r->scratch, n + 1, int64_t) : NULL;
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
	if ((attr = onnx_attr(node->proto, "value_float")) && attr->has_f) {
		double *content = arena_new(r->scratch, double);
		*content = (double)attr->f;
		out->reals = content;
		return true;
	}
	if ((attr = onnx_attr(node->proto, "value_floats"))) {
		Onnx__TensorProto floats = ONNX__TENSOR_PROTO__INIT;
		int64_t n = (int64_t)attr->n_floats;
		floats.data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
		floats.n_float_data = attr->n_floats;
		floats.float_data = attr->floats;
		floats.n_dims = 1;
		floats.dims = &n;
		return onnx_set_constant(r, out, &floats, err);
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
	static const double zero[1];
	if (!attr)
		element.reals = zero;
	if (onnx_elements(&element) == 1)
		onnx_pick(r, out, &element, 0, (int64_t[GRAPH_MAX_DIMS]){0});
	return true;
}

bool onnx_fold_identity(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	*done = true;
	onnx_alias(node->out[0], node->in[0]);
	return true;
}

/* A real number that becomes a whole one is cut off; one that does not fit has no content. */
static void cast_content(struct onnx_reader *r, struct onnx_value *v, int64_t to)
{
	size_t n = (size_t)onnx_elements(v);
	if (v->ints && onnx_is_real(to)) {
		double *reals = arena_array(r->scratch, n + 1, double);
		for (size_t i = 0; i < n; i++)
			reals[i] = (double)v->ints[i];
		v->reals = reals;
	}
	if (v->ints && to == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL) {
		int64_t *ints = arena_array(r->scratch, n + 1, int64_t);
		for (size_t i = 0; i < n; i++)
			ints[i] = v->ints[i] != 0;
		v->ints = ints;
	}
	if (v->reals && onnx_is_whole(to)) {
		int64_t *ints = arena_array(r->scratch, n + 1, int64_t);
		for (size_t i = 0; ints && i < n; i++)
			if (v->reals[i] > -9e18 && v->reals[i] < 9e18)
				ints[i] = (int64_t)v->reals[i];
			else
				ints = NULL;
		v->ints = ints;
	}
	if (!onnx_is_real(to))
		v->reals = NULL;
	if (!onnx_is_whole(to))
		v->ints = NULL;
}

/* Nothing is computed where only the type changes. CastLike takes the type of its second input. */
bool onnx_fold_cast(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	struct onnx_value *out = node->out[0];
	int64_t to = onnx_attr_int(node, "to", node->n_in > 1 ? node->in[1]->type : 0);
	*done = true;
	onnx_alias(out, node->in[0]);
	if (out->state == ONNX_CONSTANT)
		cast_content(r, out, to);
	out->type = to > 0 && to < INT32_MAX ? (int32_t)to : 0;
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
	for (int64_t i = start; ints && i < end; i++)
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
	out->reals = NULL;
	return true;
}

bool onnx_fold_size(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	int64_t *n = arena_new(r->scratch, int64_t);
	*done = true;
	*n = (int64_t)onnx_elements(node->in[0]);
	if (*n < 0)
		return onnx_fail(node, err, "its input is too large");
	onnx_set_ints(node->out[0], n, 1, true);
	return true;
}

/* How many numbers a Range makes; SIZE_MAX when that is not known. */
static bool range_length(const struct onnx_node *node, size_t *n, struct err *err)
{
	double v[3];
	for (size_t i = 0; i < 3; i++) {
		if (!onnx_is_known(node->in[i]) || onnx_elements(node->in[i]) != 1)
			return onnx_fail(node, err,
				"'%s' must be a number that is known from the file",
				node->in[i]->name);
		v[i] = onnx_number(node->in[i], 0);
	}
	double length = v[2] == 0 ? (double)NAN : ceil((v[1] - v[0]) / v[2]);
	if (!(length <= (double)(UINT64_C(1) << BUILDER_MAX_ELEMENTS_LOG2)))
		return onnx_fail(node, err, "a range from %g to %g by %g", v[0], v[1], v[2]);
	*n = length > 0 ? (size_t)length : 0;
	return true;
}

bool onnx_fold_range(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	struct onnx_value *out = node->out[0];
	size_t n = 0;
	*done = true;
	if (!range_length(node, &n, err))
		return false;
	out->state = ONNX_CONSTANT;
	out->type = node->in[0]->type;
	out->n_dims = 1;
	out->dims[0] = n;
	int64_t *ints = node->in[0]->ints && node->in[2]->ints ? new_ints(r, n) : NULL;
	for (size_t i = 0; ints && i < n; i++)
		ints[i] = (int64_t)((uint64_t)node->in[0]->ints[0] +
				    (uint64_t)i * (uint64_t)node->in[2]->ints[0]);
	out->ints = ints;
	return true;
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
	for (size_t i = 0; ints && i < n; i++) {
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
