#include <assert.h>
#include <inttypes.h>

#include "plan/internal.h"

static uint32_t arch_index(const struct plan_input *in, uint32_t stage)
{
	return in->n_archs == 1 ? 0 : stage;
}

static bool check_graph(const struct plan_input *in, struct err *err)
{
	const struct graph *g = in->train;
	const struct degrees *d = in->degrees;
	if (!degrees_check(d, g, err))
		return false;
	if (g->tp > 0 ? g->tp != d->tp : d->tp != 1)
		return err_set(err, ERR_INPUT,
			"%s is sliced for tp %" PRIu32 ", the plan has tp %" PRIu32, g->name, g->tp,
			d->tp);
	if (g->batch > 0 && g->batch != d->micro_batch)
		return err_set(err, ERR_INPUT,
			"%s is made for %" PRIu64 " samples, the micro-batch has %" PRIu64, g->name,
			g->batch, d->micro_batch);
	return true;
}

static bool place_stages(
	const struct plan_input *in, struct arena *scratch, struct plan *plan, struct err *err)
{
	uint32_t pp = in->degrees->pp;
	uint32_t *boundaries = arena_array(scratch, (size_t)pp + 1, uint32_t);
	if (!plan_partition(scratch, in, boundaries, err))
		return false;
	for (uint32_t i = 0; i < pp; i++) {
		const struct arch *arch = &in->archs[arch_index(in, i)];
		struct stage *s = &plan->stages[i];
		s->first_layer = boundaries[i];
		s->end_layer = boundaries[i + 1];
		s->in_flight =
			schedule_in_flight(in->options->schedule, i, pp, plan->n_micro_batches);
		stage_place(s, in->train, arch, in->options);
		if (in->options->check_memory && s->memory.total_bytes > arch->hbm_bytes)
			return stage_refuse(plan, i, in->train, arch, in->options->optimizer, err);
	}
	return true;
}

static struct stage_costs *price_stages(
	const struct plan_input *in, struct arena *scratch, struct plan *plan)
{
	struct device_options device = {
		.fidelity = in->options->fidelity, .intra_op_split = in->options->intra_op_split};
	struct pricer *pricer = pricer_create(scratch, in->train, in->archs, &device);
	struct stage_costs *costs = arena_array(scratch, plan->n_stages, struct stage_costs);
	for (uint32_t i = 0; i < plan->n_stages; i++) {
		struct stage *s = &plan->stages[i];
		struct stage_request request = {
			.graph = in->train,
			.arch = arch_index(in, i),
			.layers = {s->first_layer, s->end_layer},
			.recompute = s->recompute,
		};
		costs[i] = stage_price(scratch, pricer, &request);
		stage_fill(s, &costs[i], &in->archs[request.arch], plan->n_micro_batches);
	}
	return costs;
}

static bool build(const struct plan_input *in, struct arena *a, struct arena *scratch,
	struct plan *plan, struct err *err)
{
	if (!place_stages(in, scratch, plan, err))
		return false;
	struct stage_costs *costs = price_stages(in, scratch, plan);
	uint64_t n_tasks = plan_count_tasks(plan, costs);
	if (n_tasks > PLAN_MAX_TASKS)
		return err_set(err, ERR_INPUT,
			"%" PRIu32 " micro-batches through %" PRIu32 " stages make %" PRIu64
			" tasks, at most %d are simulated: use a larger micro-batch or fewer "
			"stages",
			plan->n_micro_batches, plan->n_stages, n_tasks, (int)PLAN_MAX_TASKS);
	plan_emit(a, plan, costs, in->degrees);
	return true;
}

bool plan_build(struct arena *a, const struct plan_input *in, struct plan *out, struct err *err)
{
	const struct degrees *d = in->degrees;
	if (!check_graph(in, err))
		return false;
	assert(in->n_archs == 1 || in->n_archs == d->pp);
	*out = (struct plan){
		.stages = arena_array(a, d->pp, struct stage),
		.n_stages = d->pp,
		.n_micro_batches = (uint32_t)(d->batch / (d->dp * d->micro_batch)),
		.schedule = in->options->schedule,
	};
	struct arena scratch = {0};
	bool built = build(in, a, &scratch, out, err);
	arena_free(&scratch);
	return built;
}
