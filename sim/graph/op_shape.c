#include "graph/op_shape.h"

#include <inttypes.h>
#include <string.h>

static struct tensor *add_output(struct op_shapes *out)
{
	return &out->out[out->n_out++];
}

static struct tensor *add_like(struct op_shapes *out, const struct tensor *like)
{
	struct tensor *t = add_output(out);
	t->n_dims = like->n_dims;
	memcpy(t->dims, like->dims, sizeof(t->dims));
	return t;
}

static bool need_dims(const struct tensor *t, uint32_t min, uint32_t max, struct err *err)
{
	if (t->n_dims >= min && t->n_dims <= max)
		return true;
	return err_set(err, ERR_INPUT,
		"an input of %u to %u dimensions is expected, this one has %u", min, max,
		t->n_dims);
}

static bool need_axis(const struct op_view *v, struct err *err)
{
	if (v->attrs->axis < v->in[0]->n_dims)
		return true;
	return err_set(err, ERR_INPUT, "axis %u is outside an input of %u dimensions",
		v->attrs->axis, v->in[0]->n_dims);
}

/* Every input but the first is a vector of `n` elements. */
static bool need_vectors(const struct op_view *v, uint64_t n, struct err *err)
{
	for (uint32_t i = 1; i < v->n_in; i++)
		if (tensor_elements(v->in[i]) != n)
			return err_set(err, ERR_INPUT,
				"input %u must have %" PRIu64 " elements, it has %" PRIu64, i, n,
				tensor_elements(v->in[i]));
	return true;
}

bool shape_same(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	add_like(out, v->in[0]);
	return true;
}

bool shape_mask(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	add_like(out, v->in[0]);
	add_like(out, v->in[0])->elem_bytes = 1;
	return true;
}

bool shape_softmax(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	add_like(out, v->in[0]);
	return need_axis(v, err);
}

static bool broadcast_dims(const struct tensor *a, const struct tensor *b, uint32_t drop,
	struct tensor *to, struct err *err)
{
	uint32_t na = a->n_dims - drop, nb = b->n_dims - drop, n = na > nb ? na : nb;
	to->n_dims = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t da = i < n - na ? 1 : a->dims[i - (n - na)];
		uint64_t db = i < n - nb ? 1 : b->dims[i - (n - nb)];
		if (da != db && da != 1 && db != 1)
			return err_set(err, ERR_INPUT,
				"dimensions %" PRIu64 " and %" PRIu64 " differ and neither is 1",
				da, db);
		to->dims[i] = da == 1 ? db : da;
	}
	return true;
}

bool shape_broadcast(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	struct tensor *t = add_like(out, v->in[0]);
	for (uint32_t i = 1; i < v->n_in; i++) {
		struct tensor so_far = *t;
		if (!broadcast_dims(&so_far, v->in[i], 0, t, err))
			return false;
	}
	return true;
}

/* Inputs after the first stretch to its shape and do not stretch it. */
bool shape_masked(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	if (!shape_broadcast(v, out, err))
		return false;
	if (out->out[0].n_dims != x->n_dims || tensor_elements(&out->out[0]) != tensor_elements(x))
		return err_set(err, ERR_INPUT, "the inputs after the first must not enlarge it");
	return true;
}

bool shape_masked_softmax(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	return need_axis(v, err) && shape_masked(v, out, err);
}

bool shape_rotary(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	if (v->n_in == 2)
		return err_set(err, ERR_INPUT,
			"a table of cosines and one of sines are expected, or none");
	if (x->n_dims < 2 || x->dims[x->n_dims - 1] % 2 != 0)
		return err_set(err, ERR_INPUT,
			"an input of [..., positions, features] with an even number of features "
			"is expected");
	return shape_masked(v, out, err);
}

bool shape_compare(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!shape_broadcast(v, out, err))
		return false;
	out->out[0].elem_bytes = 1;
	return true;
}

bool shape_batch_norm(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	add_like(out, v->in[0]);
	return need_dims(v->in[0], 2, GRAPH_MAX_DIMS, err) &&
	       need_vectors(v, v->in[0]->dims[1], err);
}

bool shape_last_norm(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = add_like(out, v->in[0]);
	uint32_t from = v->attrs->axis ? v->attrs->axis : x->n_dims - 1;
	uint64_t n = 1;
	if (!need_dims(x, 1, GRAPH_MAX_DIMS, err) || !need_axis(v, err))
		return false;
	for (uint32_t i = from; i < x->n_dims; i++)
		n *= x->dims[i];
	return need_vectors(v, n, err);
}

bool shape_gemm(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0], *w = v->in[1];
	bool ta = v->attrs->transpose_a, tb = v->attrs->transpose_b;
	if (!need_dims(x, 1, ta ? 2 : GRAPH_MAX_DIMS, err) || !need_dims(w, 2, 2, err))
		return false;
	uint32_t last = x->n_dims - 1;
	bool swap = ta && x->n_dims == 2;
	uint64_t k = x->dims[swap ? 0 : last], k_weight = w->dims[tb ? 1 : 0],
		 n = w->dims[tb ? 0 : 1];
	if (k != k_weight)
		return err_set(err, ERR_INPUT,
			"inner dimensions %" PRIu64 " and %" PRIu64 " differ", k, k_weight);
	if (v->n_in > 2 && tensor_elements(v->in[2]) != n && tensor_elements(v->in[2]) != 1)
		return err_set(err, ERR_INPUT,
			"a bias of %" PRIu64 " elements is expected, it has %" PRIu64, n,
			tensor_elements(v->in[2]));
	struct tensor *t = add_like(out, x);
	if (swap)
		t->dims[0] = x->dims[1];
	t->dims[last] = n;
	return true;
}

bool shape_matmul(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0], *y = v->in[1];
	if (!need_dims(x, 2, GRAPH_MAX_DIMS, err) || !need_dims(y, 2, GRAPH_MAX_DIMS, err))
		return false;
	const uint64_t *dx = &x->dims[x->n_dims - 2], *dy = &y->dims[y->n_dims - 2];
	uint64_t m = dx[v->attrs->transpose_a], k = dx[!v->attrs->transpose_a];
	uint64_t k_right = dy[v->attrs->transpose_b], n = dy[!v->attrs->transpose_b];
	if (k != k_right)
		return err_set(err, ERR_INPUT,
			"inner dimensions %" PRIu64 " and %" PRIu64 " differ", k, k_right);
	struct tensor *t = add_output(out);
	if (!broadcast_dims(x, y, 2, t, err))
		return false;
	t->dims[t->n_dims++] = m;
	t->dims[t->n_dims++] = n;
	return true;
}

/* Size of a window's output along one spatial axis, 0 when the window does not fit. */
static uint64_t window_output(const struct op_attrs *a, uint32_t axis, uint64_t in)
{
	uint64_t reach = (uint64_t)a->dilation[axis] * (a->kernel[axis] - 1) + 1;
	uint64_t padded = in + a->pad_begin[axis] + a->pad_end[axis];
	return padded < reach ? 0 : (padded - reach) / a->stride[axis] + 1;
}

static bool window_dims(
	const struct op_view *v, uint64_t channels, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	struct tensor *t = add_like(out, x);
	t->dims[1] = channels;
	for (uint32_t i = 0; i < 2; i++) {
		t->dims[2 + i] = window_output(v->attrs, i, x->dims[2 + i]);
		if (!t->dims[2 + i])
			return err_set(err, ERR_INPUT,
				"a window of %ux%u does not fit into %" PRIu64 "x%" PRIu64
				" with its padding",
				v->attrs->kernel[0], v->attrs->kernel[1], x->dims[2], x->dims[3]);
	}
	return true;
}

bool shape_conv(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0], *w = v->in[1];
	uint32_t group = v->attrs->group;
	if (!need_dims(x, 4, 4, err) || !need_dims(w, 4, 4, err))
		return false;
	if (x->dims[1] % group || w->dims[0] % group)
		return err_set(err, ERR_INPUT,
			"%" PRIu64 " input and %" PRIu64
			" output channels are not divisible by %u groups",
			x->dims[1], w->dims[0], group);
	if (w->dims[1] != x->dims[1] / group)
		return err_set(err, ERR_INPUT,
			"the weight takes %" PRIu64 " channels a group, the input has %" PRIu64,
			w->dims[1], x->dims[1] / group);
	if (w->dims[2] != v->attrs->kernel[0] || w->dims[3] != v->attrs->kernel[1])
		return err_set(err, ERR_INPUT,
			"the kernel is %ux%u, the weight's is %" PRIu64 "x%" PRIu64,
			v->attrs->kernel[0], v->attrs->kernel[1], w->dims[2], w->dims[3]);
	if (v->n_in > 2 && tensor_elements(v->in[2]) != w->dims[0])
		return err_set(
			err, ERR_INPUT, "a bias of %" PRIu64 " elements is expected", w->dims[0]);
	return window_dims(v, w->dims[0], out, err);
}

bool shape_conv_transpose(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0], *w = v->in[1];
	const struct op_attrs *a = v->attrs;
	if (!need_dims(x, 4, 4, err) || !need_dims(w, 4, 4, err))
		return false;
	if (w->dims[0] != x->dims[1] || w->dims[0] % a->group)
		return err_set(err, ERR_INPUT,
			"a weight of %" PRIu64 " input channels does not fit %" PRIu64
			" in %u groups",
			w->dims[0], x->dims[1], a->group);
	struct tensor *t = add_like(out, x);
	t->dims[1] = w->dims[1] * a->group;
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t side = (x->dims[2 + i] - 1) * a->stride[i] +
				(uint64_t)a->dilation[i] * (a->kernel[i] - 1) + 1;
		uint64_t pads = (uint64_t)a->pad_begin[i] + a->pad_end[i];
		if (w->dims[2 + i] != a->kernel[i] || side <= pads)
			return err_set(err, ERR_INPUT,
				"the kernel is not the weight's, or the padding takes all");
		t->dims[2 + i] = side - pads;
	}
	if (v->n_in > 2 && tensor_elements(v->in[2]) != t->dims[1])
		return err_set(
			err, ERR_INPUT, "a bias of %" PRIu64 " elements is expected", t->dims[1]);
	return true;
}

bool shape_pool(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	return need_dims(v->in[0], 4, 4, err) && window_dims(v, v->in[0]->dims[1], out, err);
}

bool shape_max_pool(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!shape_pool(v, out, err))
		return false;
	add_like(out, &out->out[0])->elem_bytes = 1;
	return true;
}

bool shape_global_pool(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!need_dims(v->in[0], 3, GRAPH_MAX_DIMS, err))
		return false;
	struct tensor *t = add_like(out, v->in[0]);
	for (uint32_t i = 2; i < t->n_dims; i++)
		t->dims[i] = 1;
	return true;
}

bool shape_likelihood(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	if (!need_dims(x, 2, GRAPH_MAX_DIMS, err))
		return false;
	uint64_t rows = tensor_elements(x) / x->dims[x->n_dims - 1];
	if (v->n_in > 1 && tensor_elements(v->in[1]) != rows)
		return err_set(err, ERR_INPUT,
			"%" PRIu64 " labels are expected, there are %" PRIu64, rows,
			tensor_elements(v->in[1]));
	add_like(out, x)->n_dims = x->n_dims - 1;
	return true;
}

bool shape_loss(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!shape_likelihood(v, out, err))
		return false;
	add_like(out, v->in[0])->elem_bytes = 4;
	return true;
}

bool shape_embedding(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!need_dims(v->in[0], 1, GRAPH_MAX_DIMS - 1, err) || !need_dims(v->in[1], 2, 2, err))
		return false;
	struct tensor *t = add_like(out, v->in[0]);
	t->dims[t->n_dims++] = v->in[1]->dims[1];
	return true;
}
