/* Layers on the device simulator. */
#include <string.h>

#include "base/names.h"
#include "plan/grid_compute.h"
#include "plan/internal.h"

/* All that decides the times of a layer on one accelerator. */
struct local {
	enum grid_way way;
	uint32_t pr;
	uint64_t own, between; /* samples of the layer, of what follows it: ceil(own / pr) */
};

struct known {
	struct local local;
	struct grid_times times;
};

struct layer_ops {
	op_id head; /* the layer itself, in all graphs */
	op_id *ids; /* of all passes, with what lies between */
	uint32_t n_ids, cap_ids;
	struct known *known;
	uint32_t n_known, cap_known;
};

struct grid_compute {
	struct arena *a;
	struct grid_compute_input in;
	const struct graph **graphs; /* by samples, as asked for */
	uint32_t n_graphs, cap_graphs;
	struct layer_ops *layers; /* known with the first graph */
	/* Local works are priced as the only operator of a graph. */
	struct op op;
	struct graph alone;
	struct pricer *pricer;
};

struct grid_compute *grid_compute_create(struct arena *a, const struct grid_compute_input *input)
{
	struct grid_compute *c = arena_new(a, struct grid_compute);
	*c = (struct grid_compute){.a = a, .in = *input};
	c->layers = arena_array(a, c->in.n_layers, struct layer_ops);
	c->alone = (struct graph){.ops = &c->op, .n_ops = 1, .n_layers = 1};
	c->pricer = pricer_create(a, &c->alone, c->in.arch, &c->in.options);
	return c;
}

uint32_t grid_compute_n_runs(const struct grid_compute *c)
{
	return pricer_n_runs(c->pricer);
}

static bool find_heads(struct grid_compute *c, const struct graph *g, struct err *err)
{
	struct name_index names = {0};
	struct arena scratch = {0};
	struct layer_ops *layers = c->layers;
	uint32_t missing = c->in.n_layers;
	for (uint32_t i = 0; i < c->in.n_layers; i++) {
		layers[i].head = GRAPH_NONE;
		name_index_add(&scratch, &names, c->in.layers[i].name);
	}
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		uint32_t layer = name_index_find(&names, op->name, strlen(op->name));
		if (layer != NAME_ABSENT && op->pass == PASS_FORWARD && op->work.batch > 0)
			layers[layer].head = i;
	}
	for (uint32_t i = c->in.n_layers; i-- > 0;)
		if (layers[i].head == GRAPH_NONE)
			missing = i;
	arena_free(&scratch);
	return missing == c->in.n_layers ||
	       err_set(err, ERR_INPUT, "%s: no product '%s' for %llu samples, expected all layers",
		       g->path ? g->path : g->name, c->in.layers[missing].name,
		       (unsigned long long)g->batch);
}

/* Operators go with the last layer in front of their forward operator. */
static void deal_ops(struct grid_compute *c, const struct graph *g)
{
	struct arena scratch = {0};
	uint32_t *owner = arena_array(&scratch, g->n_ops, uint32_t), last = 0;
	for (uint32_t i = 0; i < c->in.n_layers; i++)
		owner[c->layers[i].head] = i + 1;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		if (owner[i] > 0)
			last = owner[i] - 1;
		owner[i] = last;
		struct layer_ops *layer = &c->layers[owner[g->ops[i].forward]];
		arena_push(c->a, layer->ids, layer->n_ids, layer->cap_ids) = i;
	}
	arena_free(&scratch);
}

static bool check_same(const struct grid_compute *c, const struct graph *g, struct err *err)
{
	bool same = g->n_ops == c->graphs[0]->n_ops;
	for (uint32_t i = 0; same && i < c->in.n_layers; i++)
		same = strcmp(g->ops[c->layers[i].head].name, c->in.layers[i].name) == 0;
	return same ||
	       err_set(err, ERR_INPUT,
		       "%s: other operators for %llu samples than for %llu, expected the same ones",
		       g->path ? g->path : g->name, (unsigned long long)g->batch,
		       (unsigned long long)c->graphs[0]->batch);
}

static const struct graph *graph_for(struct grid_compute *c, uint64_t samples, struct err *err)
{
	for (uint32_t i = 0; i < c->n_graphs; i++)
		if (c->graphs[i]->batch == samples)
			return c->graphs[i];
	struct graph *g = arena_new(c->a, struct graph);
	if (!c->in.source.read(c->in.source.context, c->a, samples, g, err))
		return NULL;
	g->batch = samples;
	bool first = c->n_graphs == 0;
	if (first ? !find_heads(c, g, err) : !check_same(c, g, err))
		return NULL;
	if (first)
		deal_ops(c, g);
	arena_push(c->a, c->graphs, c->n_graphs, c->cap_graphs) = g;
	return g;
}

static tick price_work(struct grid_compute *c, const struct work *work)
{
	static const op_id only = 0;
	c->op.work = *work;
	tick t = pricer_price(c->pricer, 0, &only, 1).duration;
	c->op.work = (struct work){0};
	return t;
}

/* A product, an update or what is fused into the product, rather than what lies behind it. */
static bool is_own(const struct op *op, op_id head)
{
	return op->forward == head &&
	       (op->pass == PASS_FORWARD || op->pass == PASS_UPDATE || op->work.batch > 0);
}

static bool count(tick *sum, tick t, const struct grid_layer *layer, struct err *err)
{
	const tick longest = GRID_LONGEST_S * TICKS_PER_S;
	if (t > longest || *sum > longest - t)
		return err_set(err, ERR_INPUT,
			"layer %s: a pass lasts longer than %d s on a process, expected less",
			layer->name, GRID_LONGEST_S);
	*sum += t;
	return true;
}

static bool price_layer(struct grid_compute *c, uint32_t layer, const struct local *local,
	struct grid_times *out, struct err *err)
{
	const struct graph *own = graph_for(c, local->own, err);
	const struct graph *between = own ? graph_for(c, local->between, err) : NULL;
	const struct grid_layer *l = &c->in.layers[layer];
	bool fits = between != NULL;
	struct arena scratch = {0};
	*out = (struct grid_times){0};
	for (uint32_t i = 0; fits && i < c->layers[layer].n_ids; i++) {
		op_id id = c->layers[layer].ids[i], head = c->layers[layer].head;
		const struct op *op = &between->ops[id];
		struct work work = op->work;
		bool mine = is_own(op, head);
		if (mine)
			grid_local_work(&scratch, l, &own->ops[id], local->way, local->pr, &work);
		bool dx = mine && op->pass == PASS_BACKWARD_DATA && !l->first;
		tick *sum = op->pass == PASS_FORWARD ? &out->forward : dx ? &out->dx : &out->dw;
		fits = count(sum, price_work(c, &work), l, err);
	}
	arena_free(&scratch);
	return fits;
}

static bool same_local(const struct local *a, const struct local *b)
{
	return a->way == b->way && a->pr == b->pr && a->own == b->own;
}

bool grid_compute_layer(struct grid_compute *c, const struct grid_question *q, uint32_t layer,
	enum grid_way way, struct grid_times *out, struct err *err)
{
	struct process_grid g = grid_of(q, layer);
	struct local local = {.way = way,
		.pr = way == GRID_BATCH ? 1 : g.pr,
		.between = div_ceil(q->batch, (uint64_t)g.pr * g.pc)};
	local.own = way == GRID_BATCH ? local.between : div_ceil(q->batch, g.pc);
	if (!grid_check_layer(q, layer, way, err))
		return false;
	struct layer_ops *l = &c->layers[layer];
	for (uint32_t i = 0; i < l->n_known; i++) {
		if (!same_local(&l->known[i].local, &local))
			continue;
		*out = l->known[i].times;
		return true;
	}
	if (!price_layer(c, layer, &local, out, err))
		return false;
	arena_push(c->a, l->known, l->n_known, l->cap_known) = (struct known){local, *out};
	return true;
}

bool grid_compute_times(struct grid_compute *c, const struct grid_question *q,
	const enum grid_way *ways, struct grid_times *out, struct err *err)
{
	for (uint32_t i = 0; i < q->n_layers; i++)
		if (!grid_compute_layer(c, q, i, ways[i], &out[i], err))
			return false;
	return true;
}
