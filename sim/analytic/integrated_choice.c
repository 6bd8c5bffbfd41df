/* A way for each layer, by dynamic programming. */
#include <math.h>

#include "analytic/integrated.h"

struct best {
	double s;             /* of all layers up to this one, which goes this way */
	enum grid_way before; /* of the layer in front */
};

static const enum grid_way all_ways[] = {GRID_BATCH, GRID_MODEL, GRID_DOMAIN};

static double layer_s(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t layer, enum grid_way way)
{
	struct err err;
	if (!grid_check_layer(&c->q, layer, way, &err))
		return (double)INFINITY;
	struct integrated_terms t = integrated_layer_terms(c, rules, layer, way);
	return integrated_terms_s(&t);
}

static struct best best_of(const struct integrated_case *c, const struct integrated_rules *rules,
	const struct best *front, uint32_t layer, enum grid_way way, double own)
{
	struct best best = {(double)INFINITY, GRID_BATCH};
	for (uint32_t b = 0; b < N_GRID_WAYS; b++) {
		double s = front[b].s + own +
			   integrated_redistribute_s(c, rules, layer, all_ways[b], way);
		if (s < best.s)
			best = (struct best){s, all_ways[b]};
	}
	return best;
}

struct integrated_terms integrated_ways_layer(const struct integrated_case *c,
	const struct integrated_rules *rules, const enum grid_way *ways, uint32_t layer)
{
	struct integrated_terms t = integrated_layer_terms(c, rules, layer, ways[layer]);
	if (layer > 0)
		t.redistribute =
			integrated_redistribute_s(c, rules, layer, ways[layer - 1], ways[layer]);
	return t;
}

struct integrated_terms integrated_ways_comm(const struct integrated_case *c,
	const struct integrated_rules *rules, const enum grid_way *ways)
{
	struct integrated_terms sum = {0};
	for (uint32_t i = 0; i < c->q.n_layers; i++) {
		struct integrated_terms t = integrated_ways_layer(c, rules, ways, i);
		integrated_add(&sum, &t);
	}
	return sum;
}

bool integrated_choose(struct arena *a, const struct integrated_case *c,
	const struct integrated_rules *rules, const double *compute_s, enum grid_way *ways,
	struct integrated_terms *out)
{
	struct best *best = arena_array(a, (size_t)c->q.n_layers * N_GRID_WAYS, struct best);
	for (uint32_t i = 0; i < c->q.n_layers; i++) {
		struct best *row = best + (size_t)i * N_GRID_WAYS;
		for (uint32_t w = 0; w < N_GRID_WAYS; w++) {
			double own = layer_s(c, rules, i, all_ways[w]);
			if (compute_s)
				own += compute_s[(size_t)i * N_GRID_WAYS + w];
			row[w] = i == 0 ? (struct best){own, GRID_BATCH}
					: best_of(c, rules, row - N_GRID_WAYS, i, all_ways[w], own);
		}
	}
	const struct best *last = best + (size_t)(c->q.n_layers - 1) * N_GRID_WAYS;
	enum grid_way way = GRID_BATCH;
	for (uint32_t w = 1; w < N_GRID_WAYS; w++)
		if (last[w].s < last[way].s)
			way = all_ways[w];
	if (isinf(last[way].s))
		return false;
	for (uint32_t i = c->q.n_layers; i-- > 0;) {
		ways[i] = way;
		way = best[(size_t)i * N_GRID_WAYS + way].before;
	}
	*out = integrated_ways_comm(c, rules, ways);
	return true;
}
