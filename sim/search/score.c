/* From times to the metric. */
#include <math.h>

#include "search/internal.h"

/* One workload: the share of the floor that is missing, as a negative number, orders designs
 * below it by throughput. */
static double apply_metric(const struct search_config *config, double samples_per_s,
	double floor_samples_per_s, double watts)
{
	switch (config->metric) {
	case METRIC_THROUGHPUT:
		return samples_per_s;
	case METRIC_PERF_PER_TDP:
		if (samples_per_s < floor_samples_per_s * (1 - 1e-12))
			return samples_per_s / floor_samples_per_s - 1;
		return samples_per_s / watts;
	}
	assert(false);
	return 0;
}

static double samples_per_s(uint64_t batch, tick step)
{
	return step > 0 ? (double)batch / ticks_to_s(step) : 0;
}

double score_stage(
	const struct search_config *config, const struct search_stage *s, tick step, double tdp_w)
{
	double reference = samples_per_s(s->batch, s->reference);
	return apply_metric(config, samples_per_s(s->batch, step), config->budget.floor * reference,
		tdp_w * s->n_devices);
}

static uint32_t n_devices(const struct degrees *d)
{
	return d->pp * d->tp * d->dp;
}

double score_samples(const struct problem *p, const double *samples, double tdp_w)
{
	const struct search_config *config = p->config;
	const struct problem_workload *w = p->workloads;
	if (config->n_workloads == 1)
		return apply_metric(config, samples[0],
			config->budget.floor * w->reference_samples_per_s,
			tdp_w * n_devices(&w->degrees));
	double sum = 0, weights = 0;
	for (uint32_t i = 0; i < config->n_workloads; i++) {
		double reference = w[i].reference_samples_per_s;
		double ratio = samples[i] / (reference > 0 ? reference : 1);
		sum += config->workloads[i].weight * log(ratio);
		weights += config->workloads[i].weight;
	}
	double reference_w = config->n_baselines > 0 ? arch_tdp_w(&config->baselines[0]) : 1;
	bool has_floor = config->n_baselines > 0;
	return apply_metric(config, exp(sum / weights), has_floor ? config->budget.floor : 0,
		tdp_w / reference_w);
}

struct analytic_estimate score_step(
	const struct problem *p, uint32_t workload, const struct stage_cost *costs)
{
	const struct problem_workload *w = &p->workloads[workload];
	struct arena scratch = {0};
	struct analytic_stage *stages = arena_array(&scratch, w->n_stages, struct analytic_stage);
	for (uint32_t i = 0; i < w->n_stages; i++) {
		const struct stage_cost *c = &costs[w->stages[i].distinct];
		stages[i] = (struct analytic_stage){
			.forward = c->time[PHASE_IN_FORWARD],
			.backward = c->time[PHASE_IN_BACKWARD],
			.update = c->time[PHASE_IN_UPDATE],
			.gradient_reduction = w->stages[i].gradient_reduction,
			.send_bytes = w->stages[i].send_bytes,
		};
	}
	struct analytic_step step = {
		.stages = stages,
		.n_stages = w->n_stages,
		.n_micro_batches = w->n_micro_batches,
		.link_latency = w->link_latency,
		.link_bytes_per_s = w->link_bytes_per_s,
		.one_f_one_b = w->options.schedule == SCHEDULE_1F1B,
	};
	struct analytic_estimate estimate = analytic_step_time(&step);
	arena_free(&scratch);
	return estimate;
}

double score_design(const struct problem *p, const struct stage_cost *costs, double tdp_w)
{
	struct arena scratch = {0};
	double *samples = arena_array(&scratch, p->config->n_workloads, double);
	for (uint32_t i = 0; i < p->config->n_workloads; i++)
		samples[i] =
			samples_per_s(p->workloads[i].degrees.batch, score_step(p, i, costs).total);
	double score = score_samples(p, samples, tdp_w);
	arena_free(&scratch);
	return score;
}

bool score_improves(double a, double b, double eps)
{
	return isinf(b) ? a > b : a > b + eps * fabs(b);
}
