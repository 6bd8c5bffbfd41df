#include "graph/op_shape.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

static struct tensor *add_like(struct op_shapes *out, const struct tensor *like)
{
	struct tensor *t = &out->out[out->n_out++];
	t->n_dims = like->n_dims;
	memcpy(t->dims, like->dims, sizeof(t->dims));
	return t;
}

static bool axis_inside(const struct op_view *v, uint32_t n_dims, struct err *err)
{
	if (v->attrs->axis < n_dims)
		return true;
	return err_set(err, ERR_INPUT, "axis %u is outside an input of %u dimensions",
		v->attrs->axis, n_dims);
}

bool shape_reshape(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	struct tensor *t = &out->out[out->n_out++];
	u128 n = 1;
	if (v->attrs->n_shape > GRAPH_MAX_DIMS)
		return err_set(err, ERR_INPUT, "more than %d dimensions", GRAPH_MAX_DIMS);
	t->n_dims = v->attrs->n_shape;
	for (uint32_t i = 0; i < t->n_dims; i++) {
		t->dims[i] = v->attrs->shape[i];
		n *= t->dims[i];
		if (n > UINT64_MAX)
			return err_set(err, ERR_INPUT, "the new shape is too large");
	}
	if (n != tensor_elements(v->in[0]))
		return err_set(err, ERR_INPUT,
			"the new shape has %" PRIu64 " elements, the input %" PRIu64, (uint64_t)n,
			tensor_elements(v->in[0]));
	return true;
}

bool shape_flatten(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	struct tensor *t = &out->out[out->n_out++];
	if (!axis_inside(v, x->n_dims + 1, err))
		return false;
	t->n_dims = 2;
	t->dims[0] = t->dims[1] = 1;
	for (uint32_t i = 0; i < x->n_dims; i++)
		t->dims[i >= v->attrs->axis] *= x->dims[i];
	return true;
}

bool shape_transpose(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	struct tensor *t = add_like(out, x);
	uint32_t seen = 0;
	for (uint32_t i = 0; i < x->n_dims; i++) {
		uint32_t from = v->attrs->perm[i];
		if (from >= x->n_dims || seen & 1u << from)
			return err_set(err, ERR_INPUT, "perm must hold each of 0 to %u once",
				x->n_dims - 1);
		seen |= 1u << from;
		t->dims[i] = x->dims[from];
	}
	return true;
}

bool shape_concat(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	struct tensor *t = add_like(out, v->in[0]);
	uint32_t axis = v->attrs->axis;
	if (!axis_inside(v, t->n_dims, err))
		return false;
	for (uint32_t i = 1; i < v->n_in; i++) {
		const struct tensor *x = v->in[i];
		if (x->n_dims != t->n_dims)
			return err_set(err, ERR_INPUT,
				"input %u has %u dimensions, the first has %u", i, x->n_dims,
				t->n_dims);
		for (uint32_t d = 0; d < t->n_dims; d++)
			if (d != axis && x->dims[d] != t->dims[d])
				return err_set(err, ERR_INPUT,
					"input %u differs in dimension %u from the first", i, d);
		t->dims[axis] += x->dims[axis];
	}
	return true;
}

bool shape_slice(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	struct tensor *t = add_like(out, v->in[0]);
	uint64_t begin = v->attrs->begin, end = v->attrs->end;
	if (!axis_inside(v, t->n_dims, err))
		return false;
	if (begin >= end || end > t->dims[v->attrs->axis])
		return err_set(err, ERR_INPUT,
			"[%" PRIu64 ", %" PRIu64 ") is not a part of a dimension of %" PRIu64,
			begin, end, t->dims[v->attrs->axis]);
	t->dims[v->attrs->axis] = div_ceil(end - begin, v->attrs->stride[0]);
	return true;
}

bool shape_split(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	u128 sum = 0;
	if (!axis_inside(v, x->n_dims, err))
		return false;
	if (v->attrs->n_shape == 0 || v->attrs->n_shape > OP_MAX_OUTPUTS)
		return err_set(err, ERR_INPUT, "1 to %d parts are expected", OP_MAX_OUTPUTS);
	for (uint32_t i = 0; i < v->attrs->n_shape; i++) {
		add_like(out, x)->dims[v->attrs->axis] = v->attrs->shape[i];
		sum += v->attrs->shape[i];
	}
	if (sum != x->dims[v->attrs->axis])
		return err_set(err, ERR_INPUT,
			"the parts do not add up to the dimension of %" PRIu64,
			x->dims[v->attrs->axis]);
	return true;
}

bool shape_mean(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	struct tensor *t = &out->out[out->n_out++];
	uint32_t first = v->attrs->axis;
	if (!axis_inside(v, x->n_dims, err))
		return false;
	uint32_t n = v->attrs->n_axes ? v->attrs->n_axes : x->n_dims - first;
	if (n > x->n_dims - first)
		return err_set(err, ERR_INPUT, "%u axes from axis %u on are more than there are", n,
			first);
	for (uint32_t i = 0; i < x->n_dims; i++)
		if (i < first || i >= first + n)
			t->dims[t->n_dims++] = x->dims[i];
		else if (v->attrs->keep_dims)
			t->dims[t->n_dims++] = 1;
	return true;
}

bool shape_gather(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	shape_same(v, out, err);
	if (v->in[0]->n_dims < 3)
		return err_set(err, ERR_INPUT, "expected [samples, sequence, features]");
	out->out[0].dims[1] *= v->attrs->group;
	return true;
}

bool shape_scatter(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	shape_same(v, out, err);
	if (v->in[0]->n_dims < 3 || v->in[0]->dims[1] % v->attrs->group != 0)
		return err_set(err, ERR_INPUT,
			"expected [samples, sequence, features] with a sequence that %u devices "
			"divide",
			v->attrs->group);
	out->out[0].dims[1] /= v->attrs->group;
	return true;
}

bool shape_arg(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!shape_mean(v, out, err))
		return false;
	out->out[0].elem_bytes = 8;
	return true;
}

bool shape_target(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	struct tensor *t = &out->out[out->n_out++];
	if (v->attrs->n_shape > GRAPH_MAX_DIMS)
		return err_set(err, ERR_INPUT, "%u dimensions, at most %d are supported",
			v->attrs->n_shape, GRAPH_MAX_DIMS);
	t->n_dims = v->attrs->n_shape;
	memcpy(t->dims, v->attrs->shape, t->n_dims * sizeof(*t->dims));
	return true;
}
