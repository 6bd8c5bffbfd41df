#include "plan/internal.h"

struct cutter {
	const struct graph *g;
	const op_id *ids;
	uint32_t n;
	uint32_t *local;   /* by operator: its place in `ids` plus 1, 0 outside */
	uint32_t *depth;   /* collectives before it on the longest way */
	bool *movable;     /* a weight gradient that only such ones need */
	uint32_t *n_links; /* by depth */
	uint32_t n_segments;
};

static bool is_link(const struct cutter *c, uint32_t i)
{
	return c->g->ops[c->ids[i]].work.core == CORE_LINK;
}

static void find_depths(struct cutter *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct op *op = &c->g->ops[c->ids[i]];
		for (uint32_t p = 0; p < op->n_preds; p++) {
			uint32_t at = c->local[op->preds[p]];
			if (at == 0)
				continue;
			uint32_t depth = c->depth[at - 1] + (is_link(c, at - 1) ? 1 : 0);
			c->depth[i] = depth > c->depth[i] ? depth : c->depth[i];
		}
		if (c->depth[i] >= c->n_segments)
			c->n_segments = c->depth[i] + 1;
	}
}

static void find_movable(struct cutter *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->movable[i] = c->g->ops[c->ids[i]].pass == PASS_BACKWARD_WEIGHT && !is_link(c, i);
	for (uint32_t i = c->n; i-- > 0;) {
		const struct op *op = &c->g->ops[c->ids[i]];
		for (uint32_t p = 0; p < op->n_preds && !c->movable[i]; p++)
			if (c->local[op->preds[p]])
				c->movable[c->local[op->preds[p]] - 1] = false;
	}
}

enum place { PLACE_IDS, PLACE_LATE, PLACE_LINKS, N_PLACES };

static enum place place_of(const struct cutter *c, uint32_t i)
{
	if (is_link(c, i))
		return PLACE_LINKS;
	return c->movable[i] && c->n_links[c->depth[i]] > 0 ? PLACE_LATE : PLACE_IDS;
}

/* Sorts the operators by (segment, place), ids ascending within each. */
static const struct segment *fill_segments(struct arena *a, const struct cutter *c)
{
	uint32_t *starts = arena_array(a, (size_t)c->n_segments * N_PLACES + 1, uint32_t);
	for (uint32_t i = 0; i < c->n; i++)
		starts[c->depth[i] * N_PLACES + place_of(c, i) + 1]++;
	for (uint32_t s = 0; s < c->n_segments * N_PLACES; s++)
		starts[s + 1] += starts[s];
	op_id *sorted = arena_array(a, c->n, op_id);
	uint32_t *next = arena_array(a, (size_t)c->n_segments * N_PLACES, uint32_t);
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t slot = c->depth[i] * N_PLACES + place_of(c, i);
		sorted[starts[slot] + next[slot]++] = c->ids[i];
	}
	struct segment *segments = arena_array(a, c->n_segments, struct segment);
	for (uint32_t s = 0; s < c->n_segments; s++) {
		size_t first = (size_t)s * N_PLACES;
		const uint32_t *start = &starts[first], *n = &next[first];
		segments[s] = (struct segment){
			.ids = sorted + start[PLACE_IDS],
			.n_ids = n[PLACE_IDS],
			.late = sorted + start[PLACE_LATE],
			.n_late = n[PLACE_LATE],
			.links = sorted + start[PLACE_LINKS],
			.n_links = n[PLACE_LINKS],
		};
	}
	return segments;
}

static struct pass whole_pass(struct arena *a, const op_id *ids, uint32_t n)
{
	struct segment *segment = arena_new(a, struct segment);
	*segment = (struct segment){.ids = ids, .n_ids = n};
	return (struct pass){segment, 1};
}

struct pass plan_cut(
	struct arena *a, const struct graph *g, struct layers layers, uint32_t mask, bool cut)
{
	op_id *ids = NULL;
	uint32_t n = graph_select(a, g, layers.first, layers.end, mask, &ids);
	if (n == 0)
		return (struct pass){0};
	if (!cut)
		return whole_pass(a, ids, n);
	struct cutter c = {
		.g = g,
		.ids = ids,
		.n = n,
		.local = arena_array(a, g->n_ops, uint32_t),
		.depth = arena_array(a, n, uint32_t),
		.movable = arena_array(a, n, bool),
		.n_links = arena_array(a, n, uint32_t),
	};
	for (uint32_t i = 0; i < n; i++)
		c.local[ids[i]] = i + 1;
	find_depths(&c);
	find_movable(&c);
	for (uint32_t i = 0; i < n; i++)
		c.n_links[c.depth[i]] += is_link(&c, i) ? 1 : 0;
	return (struct pass){fill_segments(a, &c), c.n_segments};
}
