#include "plan/internal.h"

enum { BACKWARD = 1u << PASS_BACKWARD_DATA | 1u << PASS_BACKWARD_WEIGHT };

/* What the functions here hand to each other. */
struct work_order {
	struct arena *a;
	struct pricer *pricer;
	const struct stage_request *request;
};

static void price_add(struct price *sum, const struct price *p)
{
	sum->duration += p->duration;
	sum->energy_j += p->energy_j;
	sum->macs += p->macs;
	event_counts_add(&sum->counts, &p->counts, 1);
}

static struct price price_ops(const struct work_order *o, const op_id *ids, uint32_t n)
{
	return pricer_price(o->pricer, o->request->arch, ids, n);
}

static struct step price_segment(const struct work_order *o, const struct segment *segment)
{
	struct link *colls = arena_array(o->a, segment->n_links, struct link);
	for (uint32_t i = 0; i < segment->n_links; i++) {
		const struct work *w = &o->request->graph->ops[segment->links[i]].work;
		colls[i] = (struct link){w->link, w->collective_bytes};
	}
	return (struct step){
		.computes = segment->n_ids > 0,
		.cost = price_ops(o, segment->ids, segment->n_ids),
		.is_late = segment->n_late > 0,
		.late = price_ops(o, segment->late, segment->n_late),
		.colls = colls,
		.n_colls = segment->n_links,
	};
}

static struct priced_pass price_pass(
	const struct work_order *o, const struct pass *pass, const char *name)
{
	struct priced_pass out = {
		.steps = arena_array(o->a, pass->n_segments, struct step),
		.n_steps = pass->n_segments,
	};
	for (uint32_t i = 0; i < pass->n_segments; i++) {
		out.steps[i] = price_segment(o, &pass->segments[i]);
		out.steps[i].pass = name;
		out.steps[i].number = i;
	}
	return out;
}

static void pass_sum(struct priced_pass *pass)
{
	for (uint32_t i = 0; i < pass->n_steps; i++) {
		const struct step *s = &pass->steps[i];
		price_add(&pass->sum, &s->cost);
		price_add(&pass->sum, &s->late);
		pass->n_colls += s->n_colls;
		for (uint32_t c = 0; c < s->n_colls; c++)
			pass->coll_bytes += s->colls[c].bytes;
	}
}

static struct pass cut(const struct work_order *o, uint32_t mask)
{
	const struct graph *g = o->request->graph;
	return plan_cut(o->a, g, o->request->layers, mask, g->tp > 1);
}

/* `again` before `pass`, as one; where no collective stands between them the two steps are one
 * task. */
static struct priced_pass pass_join(
	struct arena *a, const struct priced_pass *again, const struct priced_pass *pass)
{
	if (again->n_steps == 0 || pass->n_steps == 0)
		return *pass;
	struct priced_pass out = {
		.steps = arena_array(a, (size_t)again->n_steps + pass->n_steps, struct step)};
	for (uint32_t i = 0; i < again->n_steps; i++)
		out.steps[out.n_steps++] = again->steps[i];
	struct step *last = &out.steps[out.n_steps - 1];
	struct step first = pass->steps[0];
	if (last->n_colls == 0) {
		first.computes = first.computes || last->computes;
		price_add(&first.cost, &last->cost);
		out.n_steps--;
	}
	out.steps[out.n_steps++] = first;
	for (uint32_t i = 1; i < pass->n_steps; i++)
		out.steps[out.n_steps++] = pass->steps[i];
	return out;
}

/* Whether the segment goes back through a recomputable operator of the layer. */
static bool needs_again(const struct graph *g, const struct segment *segment, uint32_t layer)
{
	for (uint32_t i = 0; i < segment->n_ids; i++) {
		const struct op *op = &g->ops[segment->ids[i]];
		if (op->layer == layer && op->forward != GRAPH_NONE &&
			g->ops[op->forward].recomputable)
			return true;
	}
	return false;
}

static struct price price_recomputable(const struct work_order *o, uint32_t layer)
{
	const struct graph *g = o->request->graph;
	op_id *ids = NULL;
	uint32_t n = graph_select(o->a, g, layer, layer + 1, 1u << PASS_FORWARD, &ids), kept = 0;
	for (uint32_t i = 0; i < n; i++)
		if (g->ops[ids[i]].recomputable)
			ids[kept++] = ids[i];
	return price_ops(o, ids, kept);
}

static void add_selective(
	const struct work_order *o, const struct pass *pass, struct priced_pass *backward)
{
	for (uint32_t l = o->request->layers.first; l < o->request->layers.end; l++) {
		struct price again = price_recomputable(o, l);
		uint32_t s = 0;
		while (s < pass->n_segments &&
			!needs_again(o->request->graph, &pass->segments[s], l))
			s++;
		if (s < pass->n_segments)
			price_add(&backward->steps[s].cost, &again);
	}
}

static struct priced_pass price_backward(const struct work_order *o)
{
	struct pass pass = cut(o, BACKWARD);
	struct priced_pass backward = price_pass(o, &pass, "bwd");
	if (o->request->recompute == RECOMPUTE_SELECTIVE)
		add_selective(o, &pass, &backward);
	if (o->request->recompute == RECOMPUTE_FULL) {
		struct pass forward = cut(o, 1u << PASS_FORWARD);
		struct priced_pass again = price_pass(o, &forward, "rec");
		backward = pass_join(o->a, &again, &backward);
	}
	return backward;
}

struct stage_costs stage_price(
	struct arena *a, struct pricer *pricer, const struct stage_request *request)
{
	struct work_order o = {a, pricer, request};
	struct pass forward = cut(&o, 1u << PASS_FORWARD);
	struct stage_costs out = {
		.forward = price_pass(&o, &forward, "fwd"),
		.backward = price_backward(&o),
	};
	pass_sum(&out.forward);
	pass_sum(&out.backward);
	op_id *ids = NULL;
	uint32_t n = graph_select(a, request->graph, request->layers.first, request->layers.end,
		1u << PASS_UPDATE, &ids);
	out.updates = n > 0;
	out.update = price_ops(&o, ids, n);
	return out;
}

/* Ticks were rounded up from whole cycles, so that cutting the fraction gives them back. */
static uint64_t cycles_of(tick t, uint64_t hz)
{
	return (uint64_t)((u128)t * hz / TICKS_PER_S);
}

void stage_fill(struct stage *stage, const struct stage_costs *costs, const struct arch *arch,
	uint32_t n_micro_batches)
{
	const struct price *forward = &costs->forward.sum, *backward = &costs->backward.sum;
	stage->forward = forward->duration;
	stage->backward = backward->duration;
	stage->update = costs->update.duration;
	stage->forward_cycles = cycles_of(stage->forward, arch->clock_hz);
	stage->backward_cycles = cycles_of(stage->backward, arch->clock_hz);
	stage->energy_j =
		n_micro_batches * (forward->energy_j + backward->energy_j) + costs->update.energy_j;
	stage->counts = costs->update.counts;
	event_counts_add(&stage->counts, &forward->counts, n_micro_batches);
	event_counts_add(&stage->counts, &backward->counts, n_micro_batches);
	stage->macs = forward->macs + backward->macs;
	stage->forward_collectives = costs->forward.n_colls;
	stage->forward_collective_bytes = costs->forward.coll_bytes;
	stage->backward_collectives = costs->backward.n_colls;
	stage->backward_collective_bytes = costs->backward.coll_bytes;
}

void plan_price_stage(struct arena *a, const struct plan_input *in, uint32_t first_layer,
	uint32_t end_layer, struct stage *out)
{
	const struct arch *arch = &in->archs[0];
	struct arena scratch = {0};
	struct device_options device = {
		.fidelity = in->options->fidelity, .intra_op_split = in->options->intra_op_split};
	*out = (struct stage){.first_layer = first_layer, .end_layer = end_layer, .in_flight = 1};
	stage_place(out, in->train, arch, in->options);
	struct stage_request request = {
		.graph = in->train,
		.layers = {first_layer, end_layer},
		.recompute = out->recompute,
	};
	struct pricer *pricer = pricer_create(&scratch, in->train, arch, &device);
	struct stage_costs costs = stage_price(&scratch, pricer, &request);
	stage_fill(out, &costs, arch, 1);
	arena_free(&scratch);
}
