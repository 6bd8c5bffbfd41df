/* What becomes of the best candidates: results, scores, order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/internal.h"

static double geometric_ratio(
	const struct problem *p, const struct outcome *a, const struct outcome *b)
{
	double sum = 0, weights = 0;
	const struct search_config *config = p->config;
	for (uint32_t i = 0; i < config->n_workloads; i++) {
		double weight = config->n_workloads == 1 ? 1 : config->workloads[i].weight;
		sum += weight * log(a[i].samples_per_s / b[i].samples_per_s);
		weights += weight;
	}
	return exp(sum / weights);
}

static struct finalist make_finalist(struct run_state *run, const struct contestant *c)
{
	struct finalist f = {
		.arch = c->arch,
		.area_mm2 = arch_area_mm2(&c->arch),
		.tdp_w = arch_tdp_w(&c->arch),
		.outcomes = c->outcomes,
		.ratios = arena_array(run->arena, run->problem.config->n_baselines, double),
	};
	baseline_design(&c->arch, &f.design);
	return f;
}

/* Scores by what was simulated; references are the first baseline's simulated figures. */
static void score_finalists(struct run_state *run, struct finalist *list, uint32_t n)
{
	struct problem *p = &run->problem;
	struct arena scratch = {0};
	double *samples = arena_array(&scratch, p->config->n_workloads, double);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < p->config->n_workloads; j++)
			samples[j] = list[i].outcomes[j].samples_per_s;
		list[i].score = score_samples(p, samples, list[i].tdp_w);
		for (uint32_t j = 0; j < p->config->n_baselines; j++)
			list[i].ratios[j] = geometric_ratio(
				p, list[i].outcomes, run->out->baselines[j].outcomes);
	}
	arena_free(&scratch);
}

static int compare_finalists(const void *a, const void *b)
{
	const struct finalist *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->area_mm2 != y->area_mm2)
		return x->area_mm2 < y->area_mm2 ? -1 : 1;
	return design_compare(&x->design, &y->design);
}

static void fill_result(struct run_state *run, const struct contestant *list, uint32_t n_mined)
{
	struct search_result *out = run->out;
	struct problem *p = &run->problem;
	uint32_t n_workloads = p->config->n_workloads, n_baselines = p->config->n_baselines;
	out->finalists = arena_array(run->arena, n_mined, struct finalist);
	out->baselines = arena_array(run->arena, n_baselines, struct finalist);
	out->n_finalists = n_mined;
	for (uint32_t i = 0; i < n_mined; i++)
		out->finalists[i] = make_finalist(run, &list[i]);
	for (uint32_t i = 0; i < n_baselines; i++) {
		out->baselines[i] = make_finalist(run, &list[n_mined + i]);
		out->baselines[i].name = list[n_mined + i].arch.name;
	}
	for (uint32_t i = 0; n_baselines > 0 && i < n_workloads; i++)
		p->workloads[i].reference_samples_per_s =
			out->baselines[0].outcomes[i].samples_per_s;
	score_finalists(run, out->baselines, n_baselines);
	score_finalists(run, out->finalists, n_mined);
	qsort(out->finalists, n_mined, sizeof(*out->finalists), compare_finalists);
}

bool finalists_evaluate(struct run_state *run, const struct candidates *ranked, struct err *err)
{
	const struct search_config *config = run->problem.config;
	uint32_t n = ranked->n + config->n_baselines;
	struct contestant *list = mem_alloc(n, sizeof(*list));
	for (uint32_t i = 0; i < ranked->n; i++) {
		list[i].arch = design_arch(&ranked->list[i].design, &config->base);
		list[i].costs = ranked->list[i].costs;
	}
	for (uint32_t i = 0; i < config->n_baselines; i++) {
		list[ranked->n + i].arch = config->baselines[i];
		list[ranked->n + i].is_baseline = true;
	}
	bool ok = evaluate_all(run, list, n, err);
	if (ok)
		fill_result(run, list, ranked->n);
	free(list);
	return ok;
}
