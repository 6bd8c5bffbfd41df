#include "numeric_layers.h"

#include "suite.h"

uint64_t chain_inputs(const struct chain_layer *l)
{
	return (uint64_t)l->in_h * l->in_w * l->in_c;
}

uint64_t chain_outputs(const struct chain_layer *l)
{
	return (uint64_t)l->out_h * l->out_w * l->out_c;
}

static uint32_t group_inputs(const struct chain_layer *l)
{
	return l->in_c / l->groups;
}

uint64_t chain_weights(const struct chain_layer *l)
{
	return (uint64_t)l->out_c * l->kernel * l->kernel * group_inputs(l);
}

struct grid_layer chain_grid_layer(struct arena *a, const struct chain_layer *l, uint32_t index)
{
	return (struct grid_layer){
		.name = arena_printf(a, "%s%u", l->conv ? "conv" : "fc", index),
		.conv = l->conv,
		.weights = chain_weights(l),
		.d_in = chain_inputs(l),
		.d_out = chain_outputs(l),
		.in_h = l->image_h,
		.in_w = l->image_w,
		.in_c = l->image_c,
		.out_h = l->conv ? l->out_h : 0,
		.out_w = l->conv ? l->out_w : 0,
		.out_c = l->conv ? l->out_c : 0,
		.kernel_h = l->conv ? l->kernel : 0,
		.kernel_w = l->conv ? l->kernel : 0,
		.outputs = l->out_c,
		.first = index == 0,
	};
}

struct chain_arrays chain_arrays_new(
	struct arena *a, const struct chain_layer *l, uint32_t n_procs, uint64_t samples)
{
	uint64_t in = samples * chain_inputs(l), out = samples * chain_outputs(l);
	return (struct chain_arrays){
		.x = spread_new(a, "x", n_procs, in),
		.y = spread_new(a, "y", n_procs, out),
		.w = spread_new(a, "w", n_procs, chain_weights(l)),
		.dx = spread_new(a, "dx", n_procs, in),
		.dy = spread_new(a, "dy", n_procs, out),
		.dw = spread_new(a, "dw", n_procs, chain_weights(l)),
	};
}

struct place {
	uint64_t s;
	uint32_t h, w, c;
};

static struct place place_of(uint64_t i, uint32_t h, uint32_t w, uint32_t c)
{
	return (struct place){.s = i / c / w / h,
		.h = (uint32_t)(i / c / w % h),
		.w = (uint32_t)(i / c % w),
		.c = (uint32_t)(i % c)};
}

static bool in_box(const struct chain_box *b, const struct place *p)
{
	return b->s0 <= p->s && p->s < b->s1 && b->h0 <= p->h && p->h < b->h1 && b->c0 <= p->c &&
	       p->c < b->c1;
}

/* One term of the sums: an output, a weight and an input. */
struct term {
	uint64_t x, y, w;
};

/* The term of an output and a weight's row, column and input; false beside the image. */
static bool term_of(
	const struct chain_layer *l, const struct place *y, const struct place *k, struct term *out)
{
	int64_t h = (int64_t)y->h * l->stride + k->h - l->pad;
	int64_t w = (int64_t)y->w * l->stride + k->w - l->pad;
	uint32_t group = y->c / (l->out_c / l->groups);
	if (h < 0 || h >= l->in_h || w < 0 || w >= l->in_w)
		return false;
	out->x = ((y->s * l->in_h + (uint64_t)h) * l->in_w + (uint64_t)w) * l->in_c +
		 group * group_inputs(l) + k->c;
	out->y = ((y->s * l->out_h + y->h) * l->out_w + y->w) * l->out_c + y->c;
	out->w = ((y->c * l->kernel + k->h) * (uint64_t)l->kernel + k->w) * group_inputs(l) + k->c;
	return true;
}

static uint32_t kernel_size(const struct chain_layer *l)
{
	return l->kernel * l->kernel * group_inputs(l);
}

static struct place kernel_place(const struct chain_layer *l, uint32_t i)
{
	return place_of(i, l->kernel, l->kernel, group_inputs(l));
}

void chain_forward(const struct chain_layer *l, struct chain_arrays *v, uint32_t p,
	const struct chain_box *out)
{
	for (uint64_t i = 0; i < v->y.n; i++) {
		struct place y = place_of(i, l->out_h, l->out_w, l->out_c);
		struct term t;
		int64_t sum = 0;
		if (!in_box(out, &y))
			continue;
		for (uint32_t k = 0; k < kernel_size(l); k++) {
			struct place at = kernel_place(l, k);
			if (term_of(l, &y, &at, &t))
				sum += spread_get(&v->w, p, t.w) * spread_get(&v->x, p, t.x);
		}
		spread_put(&v->y, p, i, sum);
	}
}

void chain_dw(const struct chain_layer *l, struct chain_arrays *v, uint32_t p,
	const struct chain_box *out)
{
	uint32_t size = kernel_size(l);
	for (uint64_t w = 0; w < v->w.n; w++)
		if (w / size >= out->c0 && w / size < out->c1)
			spread_add(&v->dw, p, w, 0);
	for (uint64_t i = 0; i < v->y.n; i++) {
		struct place y = place_of(i, l->out_h, l->out_w, l->out_c);
		struct term t;
		if (!in_box(out, &y))
			continue;
		int64_t dy = spread_get(&v->dy, p, i);
		for (uint32_t k = 0; k < size; k++) {
			struct place at = kernel_place(l, k);
			if (term_of(l, &y, &at, &t))
				spread_add(&v->dw, p, t.w, dy * spread_get(&v->x, p, t.x));
		}
	}
}

/* The output position along one axis whose kernel has its `k` at `x`. */
static bool position(const struct chain_layer *l, uint32_t x, uint32_t k, uint32_t end, uint32_t *y)
{
	uint32_t at = x + l->pad;
	if (at < k || (at - k) % l->stride != 0 || (at - k) / l->stride >= end)
		return false;
	*y = (at - k) / l->stride;
	return true;
}

static int64_t gradient_of(const struct chain_layer *l, const struct chain_arrays *v, uint32_t p,
	const struct place *x, const struct chain_channels *out)
{
	uint32_t outputs = l->out_c / l->groups, group = x->c / group_inputs(l);
	int64_t sum = 0;
	for (uint32_t k = 0; k < l->kernel * l->kernel; k++) {
		struct place y = {.s = x->s}, at = {.h = k / l->kernel,
						      .w = k % l->kernel,
						      .c = x->c % group_inputs(l)};
		if (!position(l, x->h, at.h, l->out_h, &y.h) ||
			!position(l, x->w, at.w, l->out_w, &y.w))
			continue;
		for (y.c = group * outputs; y.c < (group + 1) * outputs; y.c++) {
			struct term t;
			if (y.c >= out->c0 && y.c < out->c1 && term_of(l, &y, &at, &t))
				sum += spread_get(&v->w, p, t.w) * spread_get(&v->dy, p, t.y);
		}
	}
	return sum;
}

void chain_dx(const struct chain_layer *l, struct chain_arrays *v, uint32_t p,
	const struct chain_box *in, const struct chain_channels *out)
{
	for (uint64_t i = 0; i < v->x.n; i++) {
		struct place x = place_of(i, l->in_h, l->in_w, l->in_c);
		if (!in_box(in, &x))
			continue;
		int64_t sum = gradient_of(l, v, p, &x, out);
		if (out->whole)
			spread_put(&v->dx, p, i, sum);
		else
			spread_add(&v->dx, p, i, sum);
	}
}

bool chain_reads(const struct chain_layer *l, uint32_t row, uint32_t h)
{
	int64_t first = (int64_t)row * l->stride - l->pad;
	return first <= h && h < first + l->kernel;
}

/* The outputs behind one input of the next layer: one, or the four that are pooled. */
static uint32_t sources_of(const struct chain_layer *front, uint64_t i, uint64_t out[4])
{
	uint32_t w = front->out_w, c = front->out_c;
	if (!front->pools) {
		out[0] = i;
		return 1;
	}
	struct place at = place_of(i, front->out_h / 2, w / 2, c);
	for (uint32_t k = 0; k < 4; k++) {
		uint32_t h = 2 * at.h + k / 2, column = 2 * at.w + k % 2;
		out[k] = ((at.s * front->out_h + h) * w + column) * c + at.c;
	}
	return 4;
}

void chain_link(
	const struct chain_layer *front, const struct spread *y, struct spread *x, uint32_t p)
{
	for (uint64_t i = 0; i < x->n; i++) {
		uint64_t from[4];
		uint32_t n = sources_of(front, i, from), held = 0;
		int64_t sum = 0;
		for (uint32_t k = 0; k < n; k++) {
			if (!spread_holds(y, p, from[k]))
				continue;
			int64_t value = spread_get(y, p, from[k]);
			sum += value < 0 ? -value : value;
			held++;
		}
		if (held == n)
			spread_put(x, p, i, sum);
	}
}

static int64_t sign_of(int64_t value)
{
	return value < 0 ? -1 : value > 0;
}

void chain_link_back(const struct chain_layer *front, const struct spread *dx,
	const struct spread *y, struct spread *dy, uint32_t p)
{
	for (uint64_t i = 0; i < dx->n; i++) {
		uint64_t to[4];
		uint32_t n = sources_of(front, i, to);
		if (!spread_holds(dx, p, i))
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (spread_holds(y, p, to[k]))
				spread_put(dy, p, to[k],
					sign_of(spread_get(y, p, to[k])) * spread_get(dx, p, i));
	}
}

/* Every term of a layer, in no order that matters: y, or dx and dw. */
static void add_terms(const struct chain_layer *l, struct chain_arrays *v, bool forward)
{
	for (uint64_t i = 0; i < v->y.n; i++) {
		struct place y = place_of(i, l->out_h, l->out_w, l->out_c);
		for (uint32_t k = 0; k < kernel_size(l); k++) {
			struct place at = kernel_place(l, k);
			struct term t;
			if (!term_of(l, &y, &at, &t))
				continue;
			if (forward) {
				v->y.values[t.y] += v->w.values[t.w] * v->x.values[t.x];
				continue;
			}
			v->dw.values[t.w] += v->dy.values[t.y] * v->x.values[t.x];
			v->dx.values[t.x] += v->dy.values[t.y] * v->w.values[t.w];
		}
	}
}

static void hold_all(struct spread *s)
{
	for (uint64_t i = 0; i < s->n; i++)
		s->states[i] = NUMERIC_HELD;
}

void chain_run(const struct chain_layer *layers, uint32_t n, struct chain_arrays *v)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			chain_link(&layers[i - 1], &v[i - 1].y, &v[i].x, 0);
		add_terms(&layers[i], &v[i], true);
		hold_all(&v[i].y);
	}
	for (uint32_t i = n; i-- > 0;) {
		if (i + 1 < n)
			chain_link_back(&layers[i], &v[i + 1].dx, &v[i].y, &v[i].dy, 0);
		add_terms(&layers[i], &v[i], false);
		hold_all(&v[i].dx);
		hold_all(&v[i].dw);
	}
}
