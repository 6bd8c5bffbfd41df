/* Kernels that compare: the larger one, one of two, the place of the largest; and running sums. */
#include "kernels.h"

void compare_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		double a = c->in[0].v[kernel_stretch(c->out[0].t, c->in[0].t, i)];
		double b = c->n_in > 1 ? c->in[1].v[kernel_stretch(c->out[0].t, c->in[1].t, i)] : 0;
		c->out[0].v[i] = a > b;
	}
}

void compare_backward(const struct call *c)
{
}

/* Which of inputs 1 and 2 element i comes from. */
static uint32_t chosen(const struct call *c, uint64_t i)
{
	double mask = c->in[0].v[kernel_stretch(c->out[0].t, c->in[0].t, i)];
	return kernel_index(mask) % 2 ? 1 : 2;
}

void where_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		uint32_t j = chosen(c, i);
		c->out[0].v[i] = c->in[j].v[kernel_stretch(c->out[0].t, c->in[j].t, i)];
	}
}

void where_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		uint32_t j = chosen(c, i);
		c->dx[j][kernel_stretch(c->out[0].t, c->in[j].t, i)] += c->dy[0][i];
	}
}

/* Where in the input the largest element of row `i` lies; rows run along one axis. */
static uint64_t largest(const struct call *c, uint64_t i, uint64_t *place)
{
	struct kernel_axis a = kernel_axis(c->in[0].t, c->op->attrs->axis);
	uint64_t first = i / a.after * a.n * a.after + i % a.after, best = first;
	*place = 0;
	for (uint64_t k = 1; k < a.n; k++)
		if (c->in[0].v[first + k * a.after] > c->in[0].v[best]) {
			best = first + k * a.after;
			*place = k;
		}
	return best;
}

void max_forward(const struct call *c)
{
	uint64_t place;
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[largest(c, i, &place)];
}

void max_backward(const struct call *c)
{
	uint64_t place;
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][largest(c, i, &place)] += c->dy[0][i];
}

void arg_max_forward(const struct call *c)
{
	uint64_t place;
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		largest(c, i, &place);
		c->out[0].v[i] = (double)place;
	}
}

void arg_max_backward(const struct call *c)
{
}

void cum_sum_forward(const struct call *c)
{
	struct kernel_axis a = kernel_axis(c->in[0].t, c->op->attrs->axis);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		bool starts = i / a.after % a.n == 0;
		c->out[0].v[i] = c->in[0].v[i] + (starts ? 0 : c->out[0].v[i - a.after]);
	}
}

void cum_sum_backward(const struct call *c)
{
	struct kernel_axis a = kernel_axis(c->in[0].t, c->op->attrs->axis);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		for (uint64_t k = 0; k <= i / a.after % a.n; k++)
			c->dx[0][i - k * a.after] += c->dy[0][i];
}
