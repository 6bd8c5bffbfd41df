#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "suite.h"

static const double gelu_c = 0.79788456080286535588; /* sqrt(2 / pi) */
static const double gelu_a = 0.044715;

static double phi(double x)
{
	return 0.39894228040143267794 * exp(-x * x / 2); /* 1 / sqrt(2 pi) */
}

static double normal(double x)
{
	return 0.5 * (1 + erf(x * 0.70710678118654752440));
}

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

static double clip(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

static double f_erf(double x)
{
	return erf(x);
}

static double d_erf(double x, double y)
{
	return 1.12837916709551257390 * exp(-x * x); /* 2 / sqrt(pi) */
}

static double d_exp(double x, double y)
{
	return y;
}

static double f_gelu(double x)
{
	return x * normal(x);
}

static double d_gelu(double x, double y)
{
	return normal(x) + x * phi(x);
}

static double f_gelu_tanh(double x)
{
	return 0.5 * x * (1 + tanh(gelu_c * x * (1 + gelu_a * x * x)));
}

static double d_gelu_tanh(double x, double y)
{
	double t = tanh(gelu_c * x * (1 + gelu_a * x * x));
	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_c * (1 + 3 * gelu_a * x * x);
}

static double f_hard_sigmoid(double x)
{
	return clip(x / 6 + 0.5, 0, 1);
}

static double d_hard_sigmoid(double x, double y)
{
	return x > -3 && x < 3 ? 1.0 / 6 : 0;
}

static double f_hard_swish(double x)
{
	return x * f_hard_sigmoid(x);
}

static double d_hard_swish(double x, double y)
{
	return f_hard_sigmoid(x) + x * d_hard_sigmoid(x, 0);
}

static double f_hard_tanh(double x)
{
	return clip(x, -1, 1);
}

static double d_hard_tanh(double x, double y)
{
	return x > -1 && x < 1;
}

static double d_log(double x, double y)
{
	return 1 / x;
}

static double f_neg(double x)
{
	return -x;
}

static double d_neg(double x, double y)
{
	return -1;
}

static double f_relu(double x)
{
	return x > 0 ? x : 0;
}

static double d_relu(double x, double y)
{
	CU_ASSERT_FALSE(isnan(y));
	return y > 0;
}

static double d_sigmoid(double x, double y)
{
	return y * (1 - y);
}

static double f_silu(double x)
{
	return x * logistic(x);
}

static double d_silu(double x, double y)
{
	double s = logistic(x);
	return s + x * s * (1 - s);
}

static double d_sin(double x, double y)
{
	return cos(x);
}

static double d_cos(double x, double y)
{
	return -sin(x);
}

static double d_sqrt(double x, double y)
{
	return 0.5 / y;
}

static double d_tanh(double x, double y)
{
	return 1 - y * y;
}

static double d_abs(double x, double y)
{
	return x < 0 ? -1 : 1;
}

static double f_elu(double x)
{
	return x > 0 ? x : expm1(x);
}

static double d_elu(double x, double y)
{
	return y > 0 ? 1 : y + 1;
}

static double f_reciprocal(double x)
{
	return 1 / x;
}

static double d_reciprocal(double x, double y)
{
	return -y * y;
}

static double d_round(double x, double y)
{
	return 0;
}

static double f_softplus(double x)
{
	return log1p(exp(x));
}

static double d_softplus(double x, double y)
{
	return logistic(x);
}

static const struct unary {
	const char *name;
	double (*f)(double x);
	double (*d)(double x, double y);
} unaries[] = {{"abs", fabs, d_abs}, {"elu", f_elu, d_elu},
	{"reciprocal", f_reciprocal, d_reciprocal}, {"round", floor, d_round},
	{"softplus", f_softplus, d_softplus}, {"cos", cos, d_cos}, {"erf", f_erf, d_erf},
	{"exp", exp, d_exp}, {"gelu", f_gelu, d_gelu}, {"gelu_tanh", f_gelu_tanh, d_gelu_tanh},
	{"hard_sigmoid", f_hard_sigmoid, d_hard_sigmoid},
	{"hard_swish", f_hard_swish, d_hard_swish}, {"hard_tanh", f_hard_tanh, d_hard_tanh},
	{"log", log, d_log}, {"neg", f_neg, d_neg}, {"relu", f_relu, d_relu},
	{"sigmoid", logistic, d_sigmoid}, {"silu", f_silu, d_silu}, {"sin", sin, d_sin},
	{"sqrt", sqrt, d_sqrt}, {"tanh", tanh, d_tanh}};

static const struct unary *unary_of(const struct call *c)
{
	for (size_t i = 0; i < sizeof(unaries) / sizeof(unaries[0]); i++)
		if (strcmp(unaries[i].name, c->op->kind->name) == 0)
			return &unaries[i];
	abort();
}

void unary_forward(const struct call *c)
{
	const struct unary *u = unary_of(c);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = u->f(c->in[0].v[i]);
}

void unary_backward(const struct call *c)
{
	const struct unary *u = unary_of(c);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][i] += c->dy[0][i] * u->d(c->in[0].v[i], c->out[0].v[i]);
}

/* a op b with its two derivatives */
struct binary {
	double y, da, db;
};

static struct binary binary_of(const char *name, double a, double b)
{
	if (strcmp(name, "add") == 0)
		return (struct binary){a + b, 1, 1};
	if (strcmp(name, "sub") == 0)
		return (struct binary){a - b, 1, -1};
	if (strcmp(name, "mul") == 0)
		return (struct binary){a * b, b, a};
	if (strcmp(name, "div") == 0)
		return (struct binary){a / b, 1 / b, -a / (b * b)};
	if (strcmp(name, "maximum") == 0)
		return (struct binary){a > b ? a : b, a > b, !(a > b)};
	if (strcmp(name, "prelu") == 0)
		return (struct binary){a > 0 ? a : a * b, a > 0 ? 1 : b, a > 0 ? 0 : a};
	CU_ASSERT_STRING_EQUAL(name, "pow");
	return (struct binary){pow(a, b), b * pow(a, b - 1), pow(a, b) * log(a)};
}

static double second(const struct call *c, uint64_t i)
{
	if (c->n_in < 2)
		return 2; /* the exponent of a pow that carries none */
	return c->in[1].v[kernel_stretch(c->out[0].t, c->in[1].t, i)];
}

void binary_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		double a = c->in[0].v[kernel_stretch(c->out[0].t, c->in[0].t, i)];
		c->out[0].v[i] = binary_of(c->op->kind->name, a, second(c, i)).y;
	}
}

void binary_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		uint64_t at = kernel_stretch(c->out[0].t, c->in[0].t, i);
		struct binary r = binary_of(c->op->kind->name, c->in[0].v[at], second(c, i));
		c->dx[0][at] += c->dy[0][i] * r.da;
		if (c->n_in > 1)
			c->dx[1][kernel_stretch(c->out[0].t, c->in[1].t, i)] += c->dy[0][i] * r.db;
	}
}

void mul_add_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		double v[3];
		for (uint32_t j = 0; j < 3; j++)
			v[j] = c->in[j].v[kernel_stretch(c->out[0].t, c->in[j].t, i)];
		c->out[0].v[i] = v[0] * v[1] + v[2];
	}
}

void mul_add_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		uint64_t at[3];
		for (uint32_t j = 0; j < 3; j++)
			at[j] = kernel_stretch(c->out[0].t, c->in[j].t, i);
		c->dx[0][at[0]] += c->dy[0][i] * c->in[1].v[at[1]];
		c->dx[1][at[1]] += c->dy[0][i] * c->in[0].v[at[0]];
		c->dx[2][at[2]] += c->dy[0][i];
	}
}

/* Drops elements 1, 4, 7, ... */
void dropout_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		c->out[1].v[i] = i % 3 != 1;
		c->out[0].v[i] = c->in[0].v[i] * c->out[1].v[i] * 1.5;
	}
}

void dropout_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][i] += c->dy[0][i] * c->out[1].v[i] * 1.5;
}

void masked_fill_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		double mask = c->in[1].v[kernel_stretch(c->out[0].t, c->in[1].t, i)];
		c->out[0].v[i] = mask > 0 ? -7 : c->in[0].v[i];
	}
}

void masked_fill_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		double mask = c->in[1].v[kernel_stretch(c->out[0].t, c->in[1].t, i)];
		CU_ASSERT_FALSE(isnan(mask));
		if (!(mask > 0))
			c->dx[0][i] += c->dy[0][i];
	}
}

/* Feature j turns with feature j + half, by an angle that the tables give, or position /
 * 10000^(2j/features). */
struct turn {
	uint64_t pair;
	double cosine, sine; /* y = x cosine + x[pair] sine */
};

static struct turn turn_of(const struct call *c, uint64_t i)
{
	const struct tensor *x = c->in[0].t;
	uint64_t n = x->dims[x->n_dims - 1], half = n / 2, rows = x->dims[x->n_dims - 2];
	uint64_t j = i % n;
	double angle = (double)(i / n % rows) * pow(10000, -2.0 * (double)(j % half) / (double)n);
	struct turn t = {j < half ? i + half : i - half, cos(angle), sin(angle)};
	if (c->n_in == 3) {
		t.cosine = c->in[1].v[kernel_stretch(x, c->in[1].t, i)];
		t.sine = c->in[2].v[kernel_stretch(x, c->in[2].t, i)];
	}
	if (j < half)
		t.sine = -t.sine;
	return t;
}

void rotary_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		struct turn t = turn_of(c, i);
		c->out[0].v[i] = c->in[0].v[i] * t.cosine + c->in[0].v[t.pair] * t.sine;
	}
}

void rotary_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		struct turn t = turn_of(c, i);
		c->dx[0][i] += c->dy[0][i] * t.cosine;
		c->dx[0][t.pair] += c->dy[0][i] * t.sine;
	}
}
