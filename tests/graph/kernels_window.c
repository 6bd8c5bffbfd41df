#include <math.h>

#include "kernels.h"

/* Output element and window position of a convolution or pooling. */
struct window {
	uint64_t image, channel, r, s; /* of the output; position inside the window */
	uint64_t h, w;                 /* in the input, when inside */
	bool inside;
};

static bool along(const struct op_attrs *a, uint32_t axis, uint64_t out, uint64_t k, uint64_t size,
	uint64_t *at)
{
	uint64_t padded = out * a->stride[axis] + k * a->dilation[axis];
	*at = padded - a->pad_begin[axis];
	return padded >= a->pad_begin[axis] && *at < size;
}

static struct window window_at(const struct call *c, uint64_t i, uint64_t k)
{
	const struct tensor *x = c->in[0].t, *y = c->out[0].t;
	const struct op_attrs *a = c->op->attrs;
	struct window w = {.r = k / a->kernel[1], .s = k % a->kernel[1]};
	uint64_t out_w = i % y->dims[3], out_h = i / y->dims[3] % y->dims[2];
	uint64_t plane = i / (y->dims[3] * y->dims[2]);
	w.channel = plane % y->dims[1];
	w.image = plane / y->dims[1];
	bool in_h = along(a, 0, out_h, w.r, x->dims[2], &w.h);
	bool in_w = along(a, 1, out_w, w.s, x->dims[3], &w.w);
	w.inside = in_h && in_w;
	return w;
}

static uint64_t pixel(const struct tensor *x, const struct window *w, uint64_t channel)
{
	return ((w->image * x->dims[1] + channel) * x->dims[2] + w->h) * x->dims[3] + w->w;
}

static uint64_t window_size(const struct call *c)
{
	return (uint64_t)c->op->attrs->kernel[0] * c->op->attrs->kernel[1];
}

/* One output element against one input channel of its group and one place of the kernel. */
static void tap(const struct call *c, uint64_t i, uint64_t from, uint64_t k, bool back)
{
	const struct tensor *weight = c->in[1].t;
	struct window w = window_at(c, i, k);
	uint64_t per_group = weight->dims[0] / c->op->attrs->group;
	uint64_t at_w = (w.channel * weight->dims[1] + from) * window_size(c) + k;
	if (!w.inside)
		return;
	uint64_t at_x = pixel(c->in[0].t, &w, w.channel / per_group * weight->dims[1] + from);
	if (!back) {
		c->out[0].v[i] += c->in[0].v[at_x] * c->in[1].v[at_w];
		return;
	}
	c->dx[0][at_x] += c->dy[0][i] * c->in[1].v[at_w];
	c->dx[1][at_w] += c->dy[0][i] * c->in[0].v[at_x];
}

static void convolve(const struct call *c, bool back)
{
	uint64_t channels = c->in[1].t->dims[1];
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		for (uint64_t e = 0; e < channels * window_size(c); e++)
			tap(c, i, e / window_size(c), e % window_size(c), back);
}

static uint64_t channel_of(const struct call *c, uint64_t i)
{
	const struct tensor *y = c->out[0].t;
	return i / (y->dims[2] * y->dims[3]) % y->dims[1];
}

void conv_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->n_in > 2 ? c->in[2].v[channel_of(c, i)] : 0;
	convolve(c, false);
}

void conv_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t) && c->n_in > 2; i++)
		c->dx[2][channel_of(c, i)] += c->dy[0][i];
	convolve(c, true);
}

void avg_pool_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		c->out[0].v[i] = 0;
		for (uint64_t k = 0; k < window_size(c); k++) {
			struct window w = window_at(c, i, k);
			if (w.inside)
				c->out[0].v[i] += c->in[0].v[pixel(c->in[0].t, &w, w.channel)] /
						  (double)window_size(c);
		}
	}
}

void avg_pool_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		for (uint64_t k = 0; k < window_size(c); k++) {
			struct window w = window_at(c, i, k);
			if (w.inside)
				c->dx[0][pixel(c->in[0].t, &w, w.channel)] +=
					c->dy[0][i] / (double)window_size(c);
		}
}

void max_pool_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		c->out[0].v[i] = -HUGE_VAL;
		for (uint64_t k = 0; k < window_size(c); k++) {
			struct window w = window_at(c, i, k);
			double x =
				w.inside ? c->in[0].v[pixel(c->in[0].t, &w, w.channel)] : -HUGE_VAL;
			if (x > c->out[0].v[i]) {
				c->out[0].v[i] = x;
				c->out[1].v[i] = (double)k;
			}
		}
	}
}

void max_pool_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++) {
		struct window w = window_at(c, i, kernel_index(c->out[1].v[i]));
		c->dx[0][pixel(c->in[0].t, &w, w.channel)] += c->dy[0][i];
	}
}

void global_pool_forward(const struct call *c)
{
	uint64_t outputs = tensor_elements(c->out[0].t);
	uint64_t n = tensor_elements(c->in[0].t) / outputs;
	for (uint64_t i = 0; i < outputs; i++) {
		c->out[0].v[i] = 0;
		for (uint64_t j = 0; j < n; j++)
			c->out[0].v[i] += c->in[0].v[i * n + j] / (double)n;
	}
}

void global_pool_backward(const struct call *c)
{
	uint64_t outputs = tensor_elements(c->out[0].t);
	uint64_t n = tensor_elements(c->in[0].t) / outputs;
	for (uint64_t i = 0; i < outputs * n; i++)
		c->dx[0][i] += c->dy[0][i / n] / (double)n;
}

/* y = x s^-b, s = k + a sum of squares over `size` channels around */
enum { LRN_K = 2 };
static const double lrn_a = 0.1, lrn_b = 0.75;

static double lrn_scale(const struct call *c, uint64_t i)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, 1);
	uint64_t channel = i / s.after % s.n, reach = c->op->attrs->kernel[0] / 2;
	double sum = 0;
	for (uint64_t j = 0; j < s.n; j++)
		if (j + reach >= channel && j <= channel + reach) {
			double x = c->in[0].v[i - channel * s.after + j * s.after];
			sum += x * x;
		}
	return LRN_K + lrn_a * sum;
}

void lrn_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->in[0].t); i++)
		c->out[0].v[i] = c->in[0].v[i] * pow(lrn_scale(c, i), -lrn_b);
}

void lrn_backward(const struct call *c)
{
	struct kernel_axis s = kernel_axis(c->in[0].t, 1);
	uint64_t reach = c->op->attrs->kernel[0] / 2;
	for (uint64_t i = 0; i < tensor_elements(c->in[0].t); i++) {
		uint64_t channel = i / s.after % s.n;
		double scale = lrn_scale(c, i);
		double pull = 2 * lrn_a * lrn_b * c->dy[0][i] * c->out[0].v[i] / scale;
		c->dx[0][i] += c->dy[0][i] * pow(scale, -lrn_b);
		for (uint64_t j = 0; j < s.n; j++)
			if (j + reach >= channel && j <= channel + reach) {
				uint64_t at = i - channel * s.after + j * s.after;
				c->dx[0][at] -= pull * c->in[0].v[at];
			}
	}
}

/* One input element, one place of the kernel, one output channel of its group. */
static void spread(const struct call *c, uint64_t i, uint64_t k, uint64_t to, bool back)
{
	const struct tensor *x = c->in[0].t, *weight = c->in[1].t, *y = c->out[0].t;
	const struct op_attrs *a = c->op->attrs;
	uint64_t at_w = i % x->dims[3], at_h = i / x->dims[3] % x->dims[2];
	uint64_t plane = i / (x->dims[3] * x->dims[2]), channel = plane % x->dims[1];
	uint64_t image = plane / x->dims[1], group = channel / (x->dims[1] / a->group);
	uint64_t h = at_h * a->stride[0] + k / a->kernel[1] * a->dilation[0] - a->pad_begin[0];
	uint64_t w = at_w * a->stride[1] + k % a->kernel[1] * a->dilation[1] - a->pad_begin[1];
	if (h >= y->dims[2] || w >= y->dims[3]) /* below 0 wraps around */
		return;
	uint64_t out = ((image * y->dims[1] + group * weight->dims[1] + to) * y->dims[2] + h) *
			       y->dims[3] +
		       w;
	uint64_t at = (channel * weight->dims[1] + to) * window_size(c) + k;
	if (!back) {
		c->out[0].v[out] += c->in[0].v[i] * c->in[1].v[at];
		return;
	}
	c->dx[0][i] += c->dy[0][out] * c->in[1].v[at];
	c->dx[1][at] += c->dy[0][out] * c->in[0].v[i];
}

static void spread_all(const struct call *c, bool back)
{
	for (uint64_t i = 0; i < tensor_elements(c->in[0].t); i++)
		for (uint64_t k = 0; k < window_size(c); k++)
			for (uint64_t to = 0; to < c->in[1].t->dims[1]; to++)
				spread(c, i, k, to, back);
}

void conv_transpose_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->n_in > 2 ? c->in[2].v[channel_of(c, i)] : 0;
	spread_all(c, false);
}

void conv_transpose_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t) && c->n_in > 2; i++)
		c->dx[2][channel_of(c, i)] += c->dy[0][i];
	spread_all(c, true);
}

/* The nearest neighbour, rounded down. */
static uint64_t nearest(const struct tensor *x, const struct tensor *y, uint64_t i)
{
	uint64_t at[GRAPH_MAX_DIMS], from = 0;
	for (uint32_t d = y->n_dims; d-- > 0; i /= y->dims[d])
		at[d] = i % y->dims[d] * x->dims[d] / y->dims[d];
	for (uint32_t d = 0; d < x->n_dims; d++)
		from = from * x->dims[d] + at[d];
	return from;
}

void resize_forward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->out[0].v[i] = c->in[0].v[nearest(c->in[0].t, c->out[0].t, i)];
}

void resize_backward(const struct call *c)
{
	for (uint64_t i = 0; i < tensor_elements(c->out[0].t); i++)
		c->dx[0][nearest(c->in[0].t, c->out[0].t, i)] += c->dy[0][i];
}
