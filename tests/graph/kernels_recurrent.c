#include <math.h>
#include <string.h>

#include "kernels.h"

/* Sequences x steps x n. */
struct steps {
	uint64_t sequences, steps, n;
};

static struct steps steps_of(const struct tensor *t)
{
	struct steps s = {1, t->dims[t->n_dims - 2], t->dims[t->n_dims - 1]};
	s.sequences = tensor_elements(t) / s.steps / s.n;
	return s;
}

/* The cell behind a product of its own is not part of it: here the hidden state of a step is the
 * first gate of its result, as if the cell did nothing. */
void recurrent_forward(const struct call *c)
{
	struct steps s = steps_of(c->in[0].t);
	uint64_t hidden = c->in[1].t->dims[0];
	for (uint64_t i = 0; i < s.sequences * s.steps * s.n; i++) {
		uint64_t row = i / s.n, j = i % s.n;
		double sum = c->in[0].v[i] + (c->n_in > 2 ? c->in[2].v[j] : 0);
		for (uint64_t k = 0; k < hidden && row % s.steps > 0; k++)
			sum += c->out[0].v[(row - 1) * s.n + k] * c->in[1].v[k * s.n + j];
		c->out[0].v[i] = sum;
	}
}

/* From the gradient `g` of one step to that of the hidden state before it and of the weights. */
static void recurrent_step(const struct call *c, struct steps s, uint64_t row, const double *g)
{
	uint64_t hidden = c->in[1].t->dims[0];
	double *before = row % s.steps > 0 ? &c->dx[0][(row - 1) * s.n] : NULL;
	for (uint64_t j = 0; j < s.n && c->n_in > 2; j++)
		c->dx[2][j] += g[j];
	for (uint64_t k = 0; k < hidden && before; k++)
		for (uint64_t j = 0; j < s.n; j++) {
			before[k] += g[j] * c->in[1].v[k * s.n + j];
			c->dx[1][k * s.n + j] += c->out[0].v[(row - 1) * s.n + k] * g[j];
		}
}

void recurrent_backward(const struct call *c)
{
	struct steps s = steps_of(c->in[0].t);
	for (uint64_t row = s.sequences * s.steps; row-- > 0;) {
		double *g = &c->dx[0][row * s.n];
		for (uint64_t j = 0; j < s.n; j++)
			g[j] += c->dy[0][row * s.n + j];
		recurrent_step(c, s, row, g);
	}
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* One unit at one step: input, forget, candidate and output gate. */
struct gates {
	double i, f, g, o, before; /* cell state */
};

static struct gates gates_at(const struct call *c, struct steps s, uint64_t row, uint64_t unit)
{
	uint64_t hidden = s.n / 4;
	const double *x = &c->in[0].v[row * s.n + unit];
	return (struct gates){sigmoid(x[0]), sigmoid(x[hidden]), tanh(x[2 * hidden]),
		sigmoid(x[3 * hidden]),
		row % s.steps > 0 ? c->out[1].v[(row - 1) * hidden + unit] : 0};
}

void lstm_cell_forward(const struct call *c)
{
	struct steps s = steps_of(c->in[0].t);
	uint64_t hidden = s.n / 4;
	for (uint64_t i = 0; i < s.sequences * s.steps * hidden; i++) {
		struct gates g = gates_at(c, s, i / hidden, i % hidden);
		c->out[1].v[i] = g.f * g.before + g.i * g.g;
		c->out[0].v[i] = g.o * tanh(c->out[1].v[i]);
	}
}

/* `carried`: gradient of the cell state by the steps that follow; becomes that of the step before. */
static void lstm_step(
	const struct call *c, struct steps s, uint64_t row, uint64_t unit, double *carried)
{
	uint64_t hidden = s.n / 4, at = row * hidden + unit;
	struct gates g = gates_at(c, s, row, unit);
	double *dx = &c->dx[0][row * s.n + unit], dy = c->dy[0][at];
	double t = tanh(c->out[1].v[at]), dc = *carried + dy * g.o * (1 - t * t);
	dx[0] += dc * g.g * g.i * (1 - g.i);
	dx[hidden] += dc * g.before * g.f * (1 - g.f);
	dx[2 * hidden] += dc * g.i * (1 - g.g * g.g);
	dx[3 * hidden] += dy * t * g.o * (1 - g.o);
	*carried = dc * g.f;
}

void lstm_cell_backward(const struct call *c)
{
	struct steps s = steps_of(c->in[0].t);
	for (uint64_t i = 0; i < s.sequences * s.n / 4; i++) {
		double carried = 0;
		uint64_t sequence = i / (s.n / 4), unit = i % (s.n / 4);
		for (uint64_t step = s.steps; step-- > 0;)
			lstm_step(c, s, sequence * s.steps + step, unit, &carried);
	}
}

/* z, r and n before their curves. */
static void gru_gates(const struct call *c, struct steps s, uint64_t i, double g[3])
{
	uint64_t hidden = s.n / 3;
	const double *x = &c->in[0].v[i / hidden * s.n + i % hidden];
	g[0] = sigmoid(x[0]);
	g[1] = sigmoid(x[hidden]);
	g[2] = tanh(g[1] * x[2 * hidden]);
}

static double gru_before(const struct call *c, struct steps s, uint64_t i)
{
	uint64_t hidden = s.n / 3;
	return i / hidden % s.steps > 0 ? c->out[0].v[i - hidden] : 0;
}

void gru_cell_forward(const struct call *c)
{
	struct steps s = steps_of(c->in[0].t);
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		double g[3];
		gru_gates(c, s, i, g);
		c->out[0].v[i] = (1 - g[0]) * g[2] + g[0] * gru_before(c, s, i);
	}
}

/* The gradient of each h reaches the step before through z. */
void gru_cell_backward(const struct call *c)
{
	struct steps s = steps_of(c->in[0].t);
	uint64_t hidden = s.n / 3, n = tensor_elements(c->out[0].t);
	for (uint64_t i = 0; i < n; i++) {
		double dh = c->dy[0][i];
		for (uint64_t at = i;; at -= hidden) {
			double g[3];
			double *dx = &c->dx[0][at / hidden * s.n + at % hidden];
			const double *x = &c->in[0].v[at / hidden * s.n + at % hidden];
			gru_gates(c, s, at, g);
			double dn = dh * (1 - g[0]) * (1 - g[2] * g[2]);
			dx[0] += dh * (gru_before(c, s, at) - g[2]) * g[0] * (1 - g[0]);
			dx[hidden] += dn * x[2 * hidden] * g[1] * (1 - g[1]);
			dx[2 * hidden] += dn * g[1];
			dh *= g[0];
			if (at / hidden % s.steps == 0)
				break;
		}
	}
}
