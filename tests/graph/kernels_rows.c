#include <math.h>

#include "kernels.h"

static const double epsilon = 1e-3; /* of the norms; large, so that it takes part in the gradient */

/* Element `i` of row `row` along an axis. */
static uint64_t axis_at(struct kernel_axis s, uint64_t row, uint64_t i)
{
	return row / s.after * s.n * s.after + i * s.after + row % s.after;
}

static double log_sum_exp(const double *x, struct kernel_axis s, uint64_t row)
{
	double sum = 0;
	for (uint64_t i = 0; i < s.n; i++)
		sum += exp(x[axis_at(s, row, i)]);
	return log(sum);
}

void softmax_forward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->op->attrs->axis);
	for (uint64_t row = 0; row < s.before * s.after; row++) {
		double total = log_sum_exp(c->in[0].v, s, row);
		for (uint64_t i = 0; i < s.n; i++)
			c->out[0].v[axis_at(s, row, i)] =
				exp(c->in[0].v[axis_at(s, row, i)] - total);
	}
}

/* dx = y (dy - sum dy y) */
void softmax_backward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->op->attrs->axis);
	const double *y = c->out[0].v, *dy = c->dy[0];
	for (uint64_t row = 0; row < s.before * s.after; row++) {
		double sum = 0;
		for (uint64_t i = 0; i < s.n; i++)
			sum += dy[axis_at(s, row, i)] * y[axis_at(s, row, i)];
		for (uint64_t i = 0; i < s.n; i++) {
			uint64_t at = axis_at(s, row, i);
			c->dx[0][at] += y[at] * (dy[at] - sum);
		}
	}
}

void log_softmax_forward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->op->attrs->axis);
	for (uint64_t row = 0; row < s.before * s.after; row++) {
		double total = log_sum_exp(c->in[0].v, s, row);
		for (uint64_t i = 0; i < s.n; i++)
			c->out[0].v[axis_at(s, row, i)] = c->in[0].v[axis_at(s, row, i)] - total;
	}
}

/* dx = dy - exp(y) sum dy */
void log_softmax_backward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->op->attrs->axis);
	for (uint64_t row = 0; row < s.before * s.after; row++) {
		double sum = 0;
		for (uint64_t i = 0; i < s.n; i++)
			sum += c->dy[0][axis_at(s, row, i)];
		for (uint64_t i = 0; i < s.n; i++) {
			uint64_t at = axis_at(s, row, i);
			c->dx[0][at] += c->dy[0][at] - exp(c->out[0].v[at]) * sum;
		}
	}
}

/* What the mask marks takes no part, but the first element of a row always does. */
void masked_softmax_forward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->op->attrs->axis);
	for (uint64_t row = 0; row < s.before * s.after; row++) {
		double sum = 0;
		for (uint64_t i = 0; i < s.n; i++) {
			uint64_t at = axis_at(s, row, i);
			double mask = c->in[1].v[kernel_stretch(c->in[0].t, c->in[1].t, at)];
			c->out[0].v[at] = mask > 0 && i > 0 ? 0 : exp(c->in[0].v[at]);
			sum += c->out[0].v[at];
		}
		for (uint64_t i = 0; i < s.n; i++)
			c->out[0].v[axis_at(s, row, i)] /= sum;
	}
}

/* The class of a row: its label, or in turn where none is given. */
static uint64_t label_of(const struct call *c, uint64_t row, uint64_t classes)
{
	return c->n_in > 1 ? kernel_index(c->in[1].v[row]) % classes : row % classes;
}

void cross_entropy_forward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->in[0].t->n_dims - 1);
	for (uint64_t row = 0; row < s.before; row++) {
		double total = log_sum_exp(c->in[0].v, s, row);
		const double *x = c->in[0].v + row * s.n;
		for (uint64_t i = 0; i < s.n; i++)
			c->out[1].v[row * s.n + i] = exp(x[i] - total);
		c->out[0].v[row] = total - x[label_of(c, row, s.n)];
	}
}

void cross_entropy_backward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->in[0].t->n_dims - 1);
	for (uint64_t row = 0; row < s.before; row++)
		for (uint64_t i = 0; i < s.n; i++) {
			double hit = i == label_of(c, row, s.n);
			c->dx[0][row * s.n + i] +=
				c->dy[0][row] * (c->out[1].v[row * s.n + i] - hit);
		}
}

void nll_forward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->in[0].t->n_dims - 1);
	for (uint64_t row = 0; row < s.before; row++)
		c->out[0].v[row] = -c->in[0].v[row * s.n + label_of(c, row, s.n)];
}

void nll_backward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, c->in[0].t->n_dims - 1);
	for (uint64_t row = 0; row < s.before; row++)
		c->dx[0][row * s.n + label_of(c, row, s.n)] -= c->dy[0][row];
}

/* Sums over axes [axis, axis + n_axes) as one. */
static struct kernel_axis reduced(const struct call *c)
{
	const struct tensor *x = c->in[0].t;
	uint32_t first = c->op->attrs->axis, n = c->op->attrs->n_axes;
	struct kernel_axis s = {1, 1, 1};
	if (n == 0)
		n = x->n_dims - first;
	for (uint32_t d = 0; d < x->n_dims; d++)
		*(d < first ? &s.before : d < first + n ? &s.n : &s.after) *= x->dims[d];
	return s;
}

static void reduce(const struct call *c, double scale)
{
	struct kernel_axis s = reduced(c);
	for (uint64_t row = 0; row < s.before * s.after; row++) {
		c->out[0].v[row] = 0;
		for (uint64_t i = 0; i < s.n; i++)
			c->out[0].v[row] += c->in[0].v[axis_at(s, row, i)] * scale;
	}
}

static void spread(const struct call *c, double scale)
{
	struct kernel_axis s = reduced(c);
	for (uint64_t row = 0; row < s.before * s.after; row++)
		for (uint64_t i = 0; i < s.n; i++)
			c->dx[0][axis_at(s, row, i)] += c->dy[0][row] * scale;
}

void mean_forward(const struct call *c)
{
	reduce(c, 1.0 / (double)reduced(c).n);
}

void mean_backward(const struct call *c)
{
	spread(c, 1.0 / (double)reduced(c).n);
}

void sum_forward(const struct call *c)
{
	reduce(c, 1);
}

void sum_backward(const struct call *c)
{
	spread(c, 1);
}

/* What a norm takes its statistics over: element `i` of set `set` is at set_at(); `gain` is the
 * index into its parameters. */
struct norm {
	uint64_t sets, n;
	uint64_t inner;   /* batch norm: elements of an image's channel; 0 otherwise */
	bool centred;     /* the mean is taken off */
	double mean, rms; /* of the set at hand */
};

static uint64_t set_at(const struct norm *m, uint64_t set, uint64_t i)
{
	if (m->inner == 0)
		return set * m->n + i;
	return i / m->inner * m->sets * m->inner + set * m->inner + i % m->inner;
}

static uint64_t gain_at(const struct norm *m, uint64_t set, uint64_t i)
{
	return m->inner == 0 ? i : set;
}

static void measure(struct norm *m, const double *x, uint64_t set)
{
	double sum = 0, squares = 0;
	for (uint64_t i = 0; i < m->n; i++)
		sum += x[set_at(m, set, i)];
	m->mean = m->centred ? sum / (double)m->n : 0;
	for (uint64_t i = 0; i < m->n; i++) {
		double d = x[set_at(m, set, i)] - m->mean;
		squares += d * d;
	}
	m->rms = sqrt(squares / (double)m->n + epsilon);
}

static double gain_of(const struct call *c, uint64_t at)
{
	return c->n_in > 1 ? c->in[1].v[at] : 1;
}

static void norm_forward(const struct call *c, struct norm m)
{
	for (uint64_t set = 0; set < m.sets; set++) {
		measure(&m, c->in[0].v, set);
		for (uint64_t i = 0; i < m.n; i++) {
			uint64_t at = set_at(&m, set, i), gain = gain_at(&m, set, i);
			c->out[0].v[at] = (c->in[0].v[at] - m.mean) / m.rms * gain_of(c, gain) +
					  (c->n_in > 2 ? c->in[2].v[gain] : 0);
		}
	}
}

/* With h the normalised input and g = dy gain: dx = (g - mean(g) - h mean(g h)) / rms, without
 * mean(g) where the mean stays. */
static void norm_backward(const struct call *c, struct norm m)
{
	for (uint64_t set = 0; set < m.sets; set++) {
		double g_sum = 0, gh_sum = 0;
		measure(&m, c->in[0].v, set);
		for (uint64_t i = 0; i < m.n; i++) {
			uint64_t at = set_at(&m, set, i), gain = gain_at(&m, set, i);
			double h = (c->in[0].v[at] - m.mean) / m.rms, dy = c->dy[0][at];
			g_sum += dy * gain_of(c, gain);
			gh_sum += dy * gain_of(c, gain) * h;
			if (c->n_in > 1)
				c->dx[1][gain] += dy * h;
			if (c->n_in > 2)
				c->dx[2][gain] += dy;
		}
		for (uint64_t i = 0; i < m.n; i++) {
			uint64_t at = set_at(&m, set, i);
			double h = (c->in[0].v[at] - m.mean) / m.rms;
			double g = c->dy[0][at] * gain_of(c, gain_at(&m, set, i));
			double mean = m.centred ? g_sum / (double)m.n : 0;
			c->dx[0][at] += (g - mean - h * gh_sum / (double)m.n) / m.rms;
		}
	}
}

static struct norm last_norm(const struct call *c, bool centred)
{
	const struct tensor *x = c->in[0].t;
	uint64_t n = 1;
	for (uint32_t i = c->op->attrs->axis ? c->op->attrs->axis : x->n_dims - 1; i < x->n_dims;
		i++)
		n *= x->dims[i];
	return (struct norm){.sets = tensor_elements(c->in[0].t) / n, .n = n, .centred = centred};
}

static struct norm channel_norm(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, 1);
	return (struct norm){
		.sets = s.n, .n = s.before * s.after, .inner = s.after, .centred = true};
}

void batch_norm_forward(const struct call *c)
{
	norm_forward(c, channel_norm(c));
}

void batch_norm_backward(const struct call *c)
{
	norm_backward(c, channel_norm(c));
}

void layer_norm_forward(const struct call *c)
{
	norm_forward(c, last_norm(c, true));
}

void layer_norm_backward(const struct call *c)
{
	norm_backward(c, last_norm(c, true));
}

void rms_norm_forward(const struct call *c)
{
	norm_forward(c, last_norm(c, false));
}

void rms_norm_backward(const struct call *c)
{
	norm_backward(c, last_norm(c, false));
}
