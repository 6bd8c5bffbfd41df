#include "kernels.h"

void copy_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[i];
}

void copy_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][i] += c->dy[0][i];
}

/* Where element `i` of the output comes from. */
static uint64_t transposed(const struct call *c, uint64_t i)
{
	const struct tensor *x = c->in[0].t, *y = c->out[0].t;
	uint64_t at[GRAPH_MAX_DIMS], from = 0;
	for (uint32_t d = y->n_dims; d-- > 0; i /= y->dims[d])
		at[c->op->attrs->perm[d]] = i % y->dims[d];
	for (uint32_t d = 0; d < x->n_dims; d++)
		from = from * x->dims[d] + at[d];
	return from;
}

void transpose_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[transposed(c, i)];
}

void transpose_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][transposed(c, i)] += c->dy[0][i];
}

/* `part` is the piece of `whole` that starts at `begin` of the axis: index in `whole` of its
 * element i. */
static uint64_t piece_at(const struct tensor *whole, const struct tensor *part, uint32_t axis,
	uint64_t begin, uint64_t i)
{
	struct kernel_axis w = kernel_axis(whole, axis), p = kernel_axis(part, axis);
	uint64_t before = i / (p.n * p.after), inner = i % (p.n * p.after);
	return before * w.n * w.after + begin * w.after + inner;
}

void expand_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[kernel_stretch(c->out[0].t, c->in[0].t, i)];
}

void expand_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][kernel_stretch(c->out[0].t, c->in[0].t, i)] += c->dy[0][i];
}

/* What comes from where does not matter: the input again and again. */
void repeat_forward(const struct call *c)
{
	uint64_t n = tensor_elements(c->in[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[i % n];
}

void repeat_backward(const struct call *c)
{
	uint64_t n = tensor_elements(c->in[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][i % n] += c->dy[0][i];
}

void concat_forward(const struct call *c)
{
	uint32_t axis = c->op->attrs->axis;
	uint64_t begin = 0;
	for (uint32_t j = 0; j < c->n_in; j++) {
		for (uint64_t i = 0; i < tensor_elements(c->in[j].t); i++)
			c->out[0].v[piece_at(c->out[0].t, c->in[j].t, axis, begin, i)] =
				c->in[j].v[i];
		begin += c->in[j].t->dims[axis];
	}
}

void concat_backward(const struct call *c)
{
	uint32_t axis = c->op->attrs->axis;
	uint64_t begin = 0;
	for (uint32_t j = 0; j < c->n_in; j++) {
		for (uint64_t i = 0; i < tensor_elements(c->in[j].t); i++)
			c->dx[j][i] += c->dy[0][piece_at(c->out[0].t, c->in[j].t, axis, begin, i)];
		begin += c->in[j].t->dims[axis];
	}
}

void split_forward(const struct call *c)
{
	uint32_t axis = c->op->attrs->axis;
	uint64_t begin = 0;
	for (uint32_t j = 0; j < c->n_out; j++) {
		for (uint64_t i = 0; i < tensor_elements(c->out[j].t); i++)
			c->out[j].v[i] =
				c->in[0].v[piece_at(c->in[0].t, c->out[j].t, axis, begin, i)];
		begin += c->out[j].t->dims[axis];
	}
}

void split_backward(const struct call *c)
{
	uint32_t axis = c->op->attrs->axis;
	uint64_t begin = 0;
	for (uint32_t j = 0; j < c->n_out; j++) {
		for (uint64_t i = 0; i < tensor_elements(c->out[j].t); i++)
			c->dx[0][piece_at(c->in[0].t, c->out[j].t, axis, begin, i)] += c->dy[j][i];
		begin += c->out[j].t->dims[axis];
	}
}

/* Index in the input of element i of a slice with steps. */
static uint64_t sliced(const struct call *c, uint64_t i)
{
	const struct op_attrs *a = c->op->attrs;
	struct kernel_axis x = kernel_axis(c->in[0].t, a->axis);
	struct kernel_axis y = kernel_axis(c->out[0].t, a->axis);
	uint64_t before = i / (y.n * y.after), at = i / y.after % y.n;
	return (before * x.n + a->begin + at * a->stride[0]) * x.after + i % y.after;
}

void slice_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[sliced(c, i)];
}

void slice_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][sliced(c, i)] += c->dy[0][i];
}

static uint64_t row_of(const struct call *c, uint64_t i)
{
	return kernel_index(c->in[0].v[i]) % c->in[1].t->dims[0];
}

void embedding_forward(const struct call *c)
{
	uint64_t n = c->in[1].t->dims[1];
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[1].v[row_of(c, i / n) * n + i % n];
}

void embedding_backward(const struct call *c)
{
	uint64_t n = c->in[1].t->dims[1];
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[1][row_of(c, i / n) * n + i % n] += c->dy[0][i];
}
