#include <assert.h>
#include <inttypes.h>

#include "plan/internal.h"

/* What plan_build() was asked for. */
struct job {
	const struct graph *train;
	const struct arch *archs;
	uint32_t n_archs;
	const struct degrees *degrees;
	const struct plan_options *options;
};

static uint32_t arch_index(const struct job *job, uint32_t stage)
{
	return job->n_archs == 1 ? 0 : stage;
}

static bool check_graph(const struct job *job, struct err *err)
{
	const struct graph *g = job->train;
	const struct degrees *d = job->degrees;
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
	const struct job *job, struct arena *scratch, struct plan *plan, struct err *err)
{
	uint32_t pp = job->degrees->pp;
	uint32_t *boundaries = arena_array(scratch, (size_t)pp + 1, uint32_t);
	if (!plan_partition(scratch, job->train, &job->archs[0], pp, job->options, boundaries, err))
		return false;
	for (uint32_t i = 0; i < pp; i++) {
		const struct arch *arch = &job->archs[arch_index(job, i)];
		struct stage *s = &plan->stages[i];
		s->first_layer = boundaries[i];
		s->end_layer = boundaries[i + 1];
		s->in_flight =
			schedule_in_flight(job->options->schedule, i, pp, plan->n_micro_batches);
		stage_place(s, job->train, arch, job->options);
		if (job->options->check_memory && s->memory.total_bytes > arch->hbm_bytes)
			return stage_refuse(
				plan, i, job->train, arch, job->options->optimizer, err);
	}
	return true;
}

static struct stage_costs *price_stages(
	const struct job *job, struct arena *scratch, struct plan *plan)
{
	struct device_options device = {.intra_op_split = job->options->intra_op_split};
	struct pricer *pricer = pricer_create(scratch, job->train, job->archs, &device);
	struct stage_costs *costs = arena_array(scratch, plan->n_stages, struct stage_costs);
	for (uint32_t i = 0; i < plan->n_stages; i++) {
		struct stage *s = &plan->stages[i];
		struct stage_request request = {
			.graph = job->train,
			.arch = arch_index(job, i),
			.layers = {s->first_layer, s->end_layer},
			.recompute = s->recompute,
		};
		costs[i] = stage_price(scratch, pricer, &request);
		stage_fill(s, &costs[i], &job->archs[request.arch], plan->n_micro_batches);
	}
	return costs;
}

static bool build(const struct job *job, struct arena *a, struct arena *scratch, struct plan *plan,
	struct err *err)
{
	if (!place_stages(job, scratch, plan, err))
		return false;
	struct stage_costs *costs = price_stages(job, scratch, plan);
	uint64_t n_tasks = plan_count_tasks(plan, costs);
	if (n_tasks > PLAN_MAX_TASKS)
		return err_set(err, ERR_INPUT,
			"%" PRIu32 " micro-batches through %" PRIu32 " stages make %" PRIu64
			" tasks, at most %d are simulated: use a larger micro-batch or fewer "
			"stages",
			plan->n_micro_batches, plan->n_stages, n_tasks, (int)PLAN_MAX_TASKS);
	plan_emit(a, plan, costs, job->degrees);
	return true;
}

/* NOLINTNEXTLINE(readability-function-size): eight parameters */
bool plan_build(struct arena *a, const struct graph *train, const struct arch *archs,
	uint32_t n_archs, const struct degrees *d, const struct plan_options *options,
	struct plan *out, struct err *err)
{
	struct job job = {train, archs, n_archs, d, options};
	if (!check_graph(&job, err))
		return false;
	assert(n_archs == 1 || n_archs == d->pp);
	*out = (struct plan){
		.stages = arena_array(a, d->pp, struct stage),
		.n_stages = d->pp,
		.n_micro_batches = (uint32_t)(d->batch / (d->dp * d->micro_batch)),
		.schedule = options->schedule,
	};
	struct arena scratch = {0};
	bool built = build(&job, a, &scratch, out, err);
	arena_free(&scratch);
	return built;
}
