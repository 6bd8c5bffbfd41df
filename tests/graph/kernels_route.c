#include <math.h>

#include "kernels.h"

static uint64_t last_dim(const struct tensor *t)
{
	return t->dims[t->n_dims - 1];
}

void embedding_bag_forward(const struct call *c)
{
	uint64_t n = last_dim(c->in[1].t), pooling = last_dim(c->in[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		c->out[0].v[i] = 0;
		for (uint64_t p = 0; p < pooling; p++) {
			uint64_t row = kernel_index(c->in[0].v[i / n * pooling + p]);
			c->out[0].v[i] += c->in[1].v[row % c->in[1].t->dims[0] * n + i % n];
		}
	}
}

void embedding_bag_backward(const struct call *c)
{
	uint64_t n = last_dim(c->in[1].t), pooling = last_dim(c->in[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		for (uint64_t p = 0; p < pooling; p++) {
			uint64_t row = kernel_index(c->in[0].v[i / n * pooling + p]);
			c->dx[1][row % c->in[1].t->dims[0] * n + i % n] += c->dy[0][i];
		}
}

static bool is_taken(const double *positions, uint64_t n, uint64_t at)
{
	for (uint64_t i = 0; i < n; i++)
		if (positions[i] == (double)at)
			return true;
	return false;
}

void top_k_forward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), k = last_dim(c->out[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		const double *row = &c->in[0].v[i / k * n];
		double *positions = &c->out[1].v[i / k * k];
		uint64_t best = n;
		for (uint64_t j = 0; j < n; j++)
			if (!is_taken(positions, i % k, j) && (best == n || row[j] > row[best]))
				best = j;
		positions[i % k] = (double)best;
		c->out[0].v[i] = row[best];
	}
}

void top_k_backward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), k = last_dim(c->out[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][i / k * n + kernel_index(c->out[1].v[i])] += c->dy[0][i];
}

/* Where routed row r = token * k + rank goes does not matter to the sums: to row r of all
 * experts in order. */
void expert_dispatch_forward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), k = last_dim(c->in[1].t);
	uint64_t routed = tensor_elements(c->in[1].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = i / n < routed ? c->in[0].v[i / n / k * n + i % n] : 0;
}

void expert_dispatch_backward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), k = last_dim(c->in[1].t);
	for (uint64_t i = 0; i < tensor_elements(c->in[1].t) * n; i++)
		c->dx[0][i / n / k * n + i % n] += c->dy[0][i];
}

void expert_combine_forward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), k = last_dim(c->in[1].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		c->out[0].v[i] = 0;
		for (uint64_t r = i / n * k; r < (i / n + 1) * k; r++)
			c->out[0].v[i] += c->in[1].v[r] * c->in[0].v[r * n + i % n];
	}
}

void expert_combine_backward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), k = last_dim(c->in[1].t);
	for (uint64_t i = 0; i < tensor_elements(c->in[1].t) * n; i++) {
		uint64_t r = i / n;
		double dy = c->dy[0][r / k * n + i % n];
		c->dx[0][i] += c->in[1].v[r] * dy;
		c->dx[1][r] += c->in[0].v[i] * dy;
	}
}

/* Position in the square of the i-th element below the diagonal. */
static uint64_t below(uint64_t n, uint64_t i)
{
	uint64_t row = 1;
	while (i >= row)
		i -= row++;
	return row * n + i;
}

void lower_triangle_forward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), m = last_dim(c->out[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[i / m * n * n + below(n, i % m)];
}

void lower_triangle_backward(const struct call *c)
{
	uint64_t n = last_dim(c->in[0].t), m = last_dim(c->out[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][i / m * n * n + below(n, i % m)] += c->dy[0][i];
}
