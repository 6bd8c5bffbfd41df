#include "numeric_grid.h"

#include <string.h>

#include "suite.h"

static uint32_t larger_pr(const struct grid_case *c)
{
	return c->q.conv.pr > c->q.grid.pr ? c->q.conv.pr : c->q.grid.pr;
}

static uint32_t smaller_pr(const struct grid_case *c)
{
	return c->q.conv.pr > 0 && c->q.conv.pr < c->q.grid.pr ? c->q.conv.pr : c->q.grid.pr;
}

static uint32_t n_groups(const struct grid_case *c)
{
	return c->q.grid.pr * c->q.grid.pc / larger_pr(c);
}

uint64_t case_n_samples(const struct grid_case *c)
{
	return div_ceil(c->q.batch, n_groups(c)) * n_groups(c);
}

static uint32_t coordinate(const struct prog_grid *g, uint32_t proc, const char *dim)
{
	for (uint32_t d = 0; d < g->n_dims; d++)
		if (strcmp(g->names[d], dim) == 0)
			return prog_coord(g, proc, d);
	return 0;
}

uint32_t case_position(
	const struct grid_case *c, const struct prog_grid *g, uint32_t proc, uint32_t pr)
{
	uint32_t inner = coordinate(g, proc, "pr"), outer = coordinate(g, proc, "pr2");
	return pr == smaller_pr(c) ? inner : inner + smaller_pr(c) * outer;
}

/* Part k of those, rounded up, as far as they reach. */
static struct samples part_of(struct samples s, uint32_t n, uint32_t k)
{
	uint64_t size = div_ceil(s.s1 - s.s0, n), from = s.s0 + k * size, to = from + size;
	return (struct samples){from < s.s1 ? from : s.s1, to < s.s1 ? to : s.s1};
}

struct samples case_samples(
	const struct grid_case *c, const struct prog_grid *g, uint32_t proc, uint32_t pr)
{
	struct samples s = part_of(
		(struct samples){0, case_n_samples(c)}, n_groups(c), coordinate(g, proc, "pc"));
	if (pr == larger_pr(c))
		return s;
	s = part_of(s, larger_pr(c) / smaller_pr(c), coordinate(g, proc, "pr2"));
	if (pr == smaller_pr(c))
		return s;
	return part_of(s, smaller_pr(c), coordinate(g, proc, "pr"));
}

/* Kernels stand where their middle is: what it reads beyond a strip is no more than half of it. */
static uint32_t rows_before(const struct chain_layer *l, uint32_t end)
{
	uint32_t n = 0;
	while (n < l->out_h) {
		uint32_t middle = n * l->stride + l->kernel / 2;
		middle = middle > l->pad ? middle - l->pad : 0;
		if ((middle < l->in_h ? middle : l->in_h - 1) >= end)
			break;
		n++;
	}
	return n;
}

/* False where strips would part what is pooled together, or where strips that follow those of the
 * layer in front are lower than the halo: grid_check_layer() knows even ones only. */
static bool find_strips(struct grid_case *c, uint32_t layer)
{
	const struct chain_layer *l = &c->layers[layer];
	struct strips *s = &c->strips[layer];
	uint32_t pr = grid_of(&c->q, layer).pr;
	uint32_t low_limit = l->kernel / 2 > 0 ? l->kernel / 2 : 1;
	bool goes_on = layer > 0 && c->ways[layer - 1] == GRID_DOMAIN;
	for (uint32_t k = 0; k <= pr; k++) {
		s->in[k] = goes_on ? s[-1].next[k] : (uint32_t)numeric_cut(l->in_h, pr, k);
		s->out[k] = rows_before(l, s->in[k]);
		s->next[k] = l->pools ? s->out[k] / 2 : s->out[k];
		bool low = pr > 1 && k > 0 && s->in[k] - s->in[k - 1] < low_limit;
		if (low || (l->pools && s->out[k] % 2 != 0))
			return false;
	}
	return true;
}

static uint32_t random_outputs(struct grid_case *c, uint32_t pr)
{
	if (c->even)
		return pr < 3 ? 2 * pr : pr;
	return numeric_random(&c->rng, 2) ? pr + numeric_random(&c->rng, 3)
					  : 2 + numeric_random(&c->rng, 4);
}

static struct chain_layer random_conv(struct grid_case *c, uint32_t h, uint32_t w, uint32_t ch)
{
	uint32_t pr = c->q.conv.pr > 0 ? c->q.conv.pr : c->q.grid.pr;
	struct chain_layer l = {.in_h = h, .in_w = w, .in_c = ch, .conv = true, .groups = 1};
	l.kernel = c->even ? 1 + 2 * numeric_random(&c->rng, 2) : 1 + numeric_random(&c->rng, 5);
	l.stride = c->even ? 1 : 1 + numeric_random(&c->rng, 4) / 3;
	l.pad = c->even ? l.kernel / 2 : numeric_random(&c->rng, l.kernel / 2 + 1);
	while (h + 2 * l.pad < l.kernel || w + 2 * l.pad < l.kernel)
		l.pad++;
	l.out_h = (h + 2 * l.pad - l.kernel) / l.stride + 1;
	l.out_w = (w + 2 * l.pad - l.kernel) / l.stride + 1;
	l.out_c = random_outputs(c, pr);
	if (!c->even && ch % 2 == 0 && l.out_c % 2 == 0)
		l.groups = 1 + numeric_random(&c->rng, 2);
	l.pools = l.out_h % 2 == 0 && l.out_w % 2 == 0 && numeric_random(&c->rng, 2);
	l.image_h = h;
	l.image_w = w;
	l.image_c = ch;
	return l;
}

static void fill_layers(struct grid_case *c)
{
	uint32_t n_conv = numeric_random(&c->rng, 4), n_fc = numeric_random(&c->rng, 4);
	uint32_t pr = c->q.conv.pr > 0 ? c->q.conv.pr : c->q.grid.pr;
	uint32_t h = c->even ? 2 * pr : pr + numeric_random(&c->rng, pr + 4);
	uint32_t w = c->even ? 2 : 2 + numeric_random(&c->rng, 2);
	uint32_t ch = 1 + numeric_random(&c->rng, 3), n = n_conv + n_fc > 1 ? n_conv + n_fc : 2;
	for (uint32_t i = 0; i < n; i++) {
		struct chain_layer *l = &c->layers[i];
		*l = (struct chain_layer){1, 1, h * w * ch, 1, 1, 0, h, w, ch, 1, 1, 0, 1, 0, 0};
		if (i < n_conv)
			*l = random_conv(c, h, w, ch);
		else
			l->out_c = random_outputs(c, c->q.grid.pr);
		h = l->pools ? l->out_h / 2 : l->out_h;
		w = l->pools ? l->out_w / 2 : l->out_w;
		ch = l->out_c;
	}
	c->q.n_layers = n;
}

static bool fill_way(struct grid_case *c, uint32_t layer, const enum grid_way *asked)
{
	uint32_t first = asked ? asked[layer] : numeric_random(&c->rng, N_GRID_WAYS);
	for (uint32_t k = 0; k < N_GRID_WAYS; k++) {
		struct err err = {0};
		c->ways[layer] = (enum grid_way)((first + k) % N_GRID_WAYS);
		if (grid_check_layer(&c->q, layer, c->ways[layer], &err) &&
			(c->ways[layer] != GRID_DOMAIN || find_strips(c, layer)))
			return true;
	}
	return false;
}

bool case_fill(struct arena *a, struct grid_case *c, const enum grid_way *asked)
{
	uint32_t p = c->q.grid.pr * c->q.grid.pc;
	uint32_t least = c->q.conv.pc > c->q.grid.pc ? c->q.conv.pc : c->q.grid.pc;
	fill_layers(c);
	c->q.batch = c->even ? p : least + numeric_random(&c->rng, p + 4 - least);
	c->q.word_bytes = 4;
	c->q.layers = c->described;
	for (uint32_t i = 0; i < c->q.n_layers; i++)
		c->described[i] = chain_grid_layer(a, &c->layers[i], i);
	for (uint32_t i = 0; i < c->q.n_layers; i++)
		if (!fill_way(c, i, asked))
			return false;
	return true;
}
