#include "kernels.h"

/* One matrix inside a tensor, perhaps transposed. */
static double *entry(double *base, bool transposed, const uint64_t dims[2], uint64_t r, uint64_t c)
{
	return base + (transposed ? c * dims[1] + r : r * dims[1] + c);
}

/* The product behind a gemm or matmul: for each of `count` results, which matrices of a and b. */
struct product {
	uint64_t m, n, k, count;
	uint64_t a_dims[2], b_dims[2]; /* as stored */
	bool ta, tb;
};

static struct product gemm_of(const struct call *c)
{
	const struct tensor *x = c->in[0].t, *w = c->in[1].t, *y = c->out[0].t;
	struct product p = {.count = 1, .tb = c->op->attrs->transpose_b};
	p.ta = c->op->attrs->transpose_a && x->n_dims == 2;
	p.n = y->dims[y->n_dims - 1];
	p.m = tensor_elements(y) / p.n;
	p.k = tensor_elements(x) / p.m;
	p.a_dims[0] = p.ta ? p.k : p.m;
	p.a_dims[1] = p.ta ? p.m : p.k;
	p.b_dims[0] = w->dims[0];
	p.b_dims[1] = w->dims[1];
	return p;
}

static struct product matmul_of(const struct call *c)
{
	const struct tensor *x = c->in[0].t, *w = c->in[1].t, *y = c->out[0].t;
	struct product p = {.ta = c->op->attrs->transpose_a, .tb = c->op->attrs->transpose_b};
	for (uint32_t i = 0; i < 2; i++) {
		p.a_dims[i] = x->dims[x->n_dims - 2 + i];
		p.b_dims[i] = w->dims[w->n_dims - 2 + i];
	}
	p.m = y->dims[y->n_dims - 2];
	p.n = y->dims[y->n_dims - 1];
	p.k = p.a_dims[!p.ta];
	p.count = tensor_elements(y) / (p.m * p.n);
	return p;
}

/* Where the matrix of `t` for result `i` starts. */
static uint64_t matrix_at(const struct tensor *y, const struct tensor *t, uint64_t i)
{
	struct tensor full = *y, part = *t;
	full.n_dims -= 2;
	part.n_dims = part.n_dims > 2 ? part.n_dims - 2 : 0;
	uint64_t size = tensor_elements(t) / (part.n_dims > 0 ? tensor_elements(&part) : 1);
	return kernel_stretch(&full, &part, i) * size;
}

/* Calls for every multiply-accumulate. */
static void multiply(const struct call *c, const struct product *p, uint64_t which, bool back)
{
	bool batched = p->count > 1;
	uint64_t a = batched ? matrix_at(c->out[0].t, c->in[0].t, which) : 0;
	uint64_t b = batched ? matrix_at(c->out[0].t, c->in[1].t, which) : 0;
	for (uint64_t e = 0; e < p->m * p->n * p->k; e++) {
		uint64_t i = e / (p->n * p->k), j = e / p->k % p->n, l = e % p->k;
		uint64_t y = which * p->m * p->n + i * p->n + j;
		double x = *entry(c->in[0].v + a, p->ta, p->a_dims, i, l);
		double w = *entry(c->in[1].v + b, p->tb, p->b_dims, l, j);
		if (!back) {
			c->out[0].v[y] += x * w;
			continue;
		}
		*entry(c->dx[0] + a, p->ta, p->a_dims, i, l) += c->dy[0][y] * w;
		*entry(c->dx[1] + b, p->tb, p->b_dims, l, j) += c->dy[0][y] * x;
	}
}

static void product_forward(const struct call *c, const struct product *p)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] =
			c->n_in > 2 ? c->in[2].v[i % p->n % tensor_elements(c->in[2].t)] : 0;
	for (uint64_t i = 0; i < p->count; i++)
		multiply(c, p, i, false);
}

static void product_backward(const struct call *c, const struct product *p)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t) && c->n_in > 2; i++)
		c->dx[2][i % p->n % tensor_elements(c->in[2].t)] += c->dy[0][i];
	for (uint64_t i = 0; i < p->count; i++)
		multiply(c, p, i, true);
}

void gemm_forward(const struct call *c)
{
	struct product p = gemm_of(c);
	product_forward(c, &p);
}

void gemm_backward(const struct call *c)
{
	struct product p = gemm_of(c);
	product_backward(c, &p);
}

void matmul_forward(const struct call *c)
{
	struct product p = matmul_of(c);
	product_forward(c, &p);
}

void matmul_backward(const struct call *c)
{
	struct product p = matmul_of(c);
	product_backward(c, &p);
}
