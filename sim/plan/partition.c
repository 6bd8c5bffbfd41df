#include <inttypes.h>

#include "plan/internal.h"

/* Forward + backward of one layer alone, its collectives on options->link. */
static tick price_layer(
	struct pricer *pricer, const struct graph *g, uint32_t layer, enum recompute recompute)
{
	struct arena scratch = {0};
	op_id *forward = NULL, *backward = NULL;
	uint32_t n_forward =
		graph_select(&scratch, g, layer, layer + 1, 1u << PASS_FORWARD, &forward);
	uint32_t n_backward = graph_select(&scratch, g, layer, layer + 1,
		1u << PASS_BACKWARD_DATA | 1u << PASS_BACKWARD_WEIGHT, &backward);
	tick once = pricer_price(pricer, 0, forward, n_forward).duration;
	tick sum = once + pricer_price(pricer, 0, backward, n_backward).duration;
	if (recompute == RECOMPUTE_FULL)
		sum += once;
	if (recompute == RECOMPUTE_SELECTIVE) {
		uint32_t kept = 0;
		for (uint32_t i = 0; i < n_forward; i++)
			if (g->ops[forward[i]].recomputable)
				forward[kept++] = forward[i];
		sum += pricer_price(pricer, 0, forward, kept).duration;
	}
	arena_free(&scratch);
	return sum;
}

/* before[l]: time of all layers before l. */
static tick *price_layers(struct arena *a, const struct graph *g, const struct arch *arch,
	const struct plan_options *options)
{
	struct device_options device = {.fidelity = options->fidelity,
		.intra_op_split = options->intra_op_split,
		.link = options->link};
	struct pricer *pricer = pricer_create(a, g, arch, &device);
	tick *before = arena_array(a, (size_t)g->n_layers + 1, tick);
	for (uint32_t l = 0; l < g->n_layers; l++)
		before[l + 1] = before[l] + price_layer(pricer, g, l, options->recompute);
	return before;
}

static tick larger(tick a, tick b)
{
	return a > b ? a : b;
}

struct table {
	uint32_t n;    /* layers */
	tick *best;    /* best[k * (n + 1) + l]: slowest of k + 1 stages over the first l layers */
	uint32_t *cut; /* where the last of them starts */
};

/* The last of the stages takes layers [start, end). A later start makes it shorter and the ones
 * before it no shorter, so the search ends where it alone is slower than the best. */
static void fill_cell(struct table *t, const tick *before, uint32_t stage, uint32_t end)
{
	const tick *previous = &t->best[(size_t)(stage - 1) * (t->n + 1)];
	size_t cell = (size_t)stage * (t->n + 1) + end;
	t->best[cell] = TICK_MAX;
	for (uint32_t start = end - 1; start >= stage; start--) {
		tick last = before[end] - before[start];
		if (last > t->best[cell])
			break;
		tick slowest = larger(previous[start], last);
		if (slowest <= t->best[cell]) {
			t->best[cell] = slowest;
			t->cut[cell] = start;
		}
	}
}

static void partition_balanced(
	struct arena *a, const tick *before, uint32_t n, uint32_t pp, uint32_t *boundaries)
{
	struct table t = {
		.n = n,
		.best = arena_array(a, (size_t)pp * (n + 1), tick),
		.cut = arena_array(a, (size_t)pp * (n + 1), uint32_t),
	};
	for (uint32_t end = 1; end <= n; end++)
		t.best[end] = before[end];
	for (uint32_t stage = 1; stage < pp; stage++)
		for (uint32_t end = stage + 1; end <= n; end++)
			fill_cell(&t, before, stage, end);
	boundaries[pp] = n;
	for (uint32_t stage = pp; stage-- > 1;)
		boundaries[stage] = t.cut[(size_t)stage * (n + 1) + boundaries[stage + 1]];
	boundaries[0] = 0;
}

static void partition_uniform(uint32_t n, uint32_t pp, uint32_t *boundaries)
{
	boundaries[0] = 0;
	for (uint32_t i = 0; i < pp; i++)
		boundaries[i + 1] = boundaries[i] + n / pp + (i < n % pp ? 1 : 0);
}

/* Where the workload file wants the stages to begin. */
static void partition_cut(const struct graph *g, uint32_t *boundaries)
{
	boundaries[0] = 0;
	for (uint32_t i = 0; i < g->n_cuts; i++)
		boundaries[i + 1] = g->cuts[i];
	boundaries[g->n_cuts + 1] = g->n_layers;
}

bool plan_partition(
	struct arena *a, const struct plan_input *in, uint32_t *boundaries, struct err *err)
{
	const struct graph *train = in->train;
	uint32_t pp = in->degrees->pp;
	if (pp == 0)
		return err_set(err, ERR_INPUT, "pp is 0, expected at least 1");
	if (pp > train->n_layers)
		return err_set(err, ERR_INPUT,
			"pp %" PRIu32 " is larger than the %" PRIu32 " layers of %s", pp,
			train->n_layers, train->name);
	if (pp > 1 && train->n_cuts == pp - 1) {
		partition_cut(train, boundaries);
		return true;
	}
	struct arena scratch = {0};
	switch (in->options->partition) {
	case PARTITION_UNIFORM:
		partition_uniform(train->n_layers, pp, boundaries);
		break;
	case PARTITION_BALANCED:
		partition_balanced(&scratch, price_layers(&scratch, train, in->archs, in->options),
			train->n_layers, pp, boundaries);
		break;
	}
	arena_free(&scratch);
	return true;
}
