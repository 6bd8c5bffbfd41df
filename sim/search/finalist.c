/* The best candidates and the baselines, each by the full simulator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analytic/plan_step.h"
#include "run/run.h"
#include "search/internal.h"

struct evaluation {
	const struct problem *p;
	const struct arch *archs;
};

/* Busy share of all cores of a kind on the slowest stage. */
static void measure_use(const struct problem *p, uint32_t workload, const struct arch *arch,
	const struct stage_cost *costs, struct outcome *out)
{
	const struct problem_workload *w = &p->workloads[workload];
	tick slowest = 0;
	for (uint32_t i = 0; i < w->n_stages; i++) {
		const struct stage_cost *c = &costs[w->stages[i].distinct];
		tick step = stage_step(&p->stages[w->stages[i].distinct], c);
		if (step <= slowest)
			continue;
		slowest = step;
		out->tc_utilisation = (double)c->tc_busy / ((double)step * arch->tc_count);
		out->vc_utilisation = (double)c->vc_busy / ((double)step * arch->vc_count);
	}
}

static double plan_energy_j(const struct plan *plan, const struct degrees *d)
{
	double sum = 0;
	for (uint32_t i = 0; i < plan->n_stages; i++)
		sum += plan->stages[i].energy_j;
	return sum * d->tp * d->dp;
}

static bool simulate(struct arena *scratch, const struct problem *p, const struct plan *plan,
	tick *step, struct err *err)
{
	struct run_config config = {
		.topo = p->config->topo,
		.net = p->config->net,
		.choice = p->config->choice,
	};
	struct run_result result;
	if (!run_prog(scratch, &plan->prog, &config, &result, err))
		return false;
	*step = result.end;
	return true;
}

/* Of the very plan that is simulated; without a topology by the oracle's times and the links of
 * the accelerator. */
static tick closed_form(struct arena *scratch, const struct problem *p, uint32_t workload,
	const struct plan *plan, const struct stage_cost *costs)
{
	if (!p->config->topo)
		return score_step(p, workload, costs).total;
	return analytic_plan_step(scratch, plan, &p->workloads[workload].degrees, p->config->topo)
		.total;
}

static bool evaluate_workload(const struct problem *p, uint32_t workload, const struct arch *arch,
	const struct stage_cost *costs, struct outcome *out, struct err *err)
{
	const struct problem_workload *w = &p->workloads[workload];
	struct arena scratch = {0};
	struct plan plan;
	bool ok = plan_build(&scratch, p->config->workloads[workload].train, arch, 1, &w->degrees,
		&w->options, &plan, err);
	if (ok) {
		out->analytic_step = closed_form(&scratch, p, workload, &plan, costs);
		out->step = out->analytic_step;
		out->energy_j_per_sample =
			plan_energy_j(&plan, &w->degrees) / (double)w->degrees.batch;
		measure_use(p, workload, arch, costs, out);
	}
	if (ok && p->config->topo)
		ok = simulate(&scratch, p, &plan, &out->step, err);
	if (ok && out->step > 0)
		out->samples_per_s = (double)w->degrees.batch / ticks_to_s(out->step);
	arena_free(&scratch);
	return ok;
}

static bool evaluate_item(void *ctx, uint32_t i, void *result, struct err *err)
{
	const struct evaluation *e = ctx;
	const struct arch *arch = &e->archs[i];
	struct arena scratch = {0};
	struct outcome *outcomes = result;
	struct stage_cost *costs = arena_array(&scratch, e->p->n_stages, struct stage_cost);
	for (uint32_t j = 0; j < e->p->n_stages; j++) {
		struct oracle o;
		oracle_open(&o, &e->p->stages[j], arch);
		oracle_price(&o, arch->tc_count, arch->vc_count, &costs[j]);
		oracle_close(&o);
	}
	bool ok = true;
	for (uint32_t j = 0; ok && j < e->p->config->n_workloads; j++)
		ok = evaluate_workload(e->p, j, arch, costs, &outcomes[j], err);
	arena_free(&scratch);
	return ok;
}

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

static struct finalist make_finalist(
	struct run_state *run, const struct arch *arch, const struct outcome *outcomes)
{
	const struct search_config *config = run->problem.config;
	struct finalist f = {
		.arch = *arch,
		.area_mm2 = arch_area_mm2(arch),
		.tdp_w = arch_tdp_w(arch),
		.outcomes = arena_array(run->arena, config->n_workloads, struct outcome),
		.ratios = arena_array(run->arena, config->n_baselines, double),
	};
	baseline_design(arch, &f.design);
	memcpy(f.outcomes, outcomes, config->n_workloads * sizeof(*outcomes));
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

static void fill_result(struct run_state *run, const struct arch *archs, uint32_t n_mined,
	const struct outcome *outcomes)
{
	struct search_result *out = run->out;
	struct problem *p = &run->problem;
	uint32_t n_workloads = p->config->n_workloads, n_baselines = p->config->n_baselines;
	out->finalists = arena_array(run->arena, n_mined, struct finalist);
	out->baselines = arena_array(run->arena, n_baselines, struct finalist);
	out->n_finalists = n_mined;
	for (uint32_t i = 0; i < n_mined; i++)
		out->finalists[i] =
			make_finalist(run, &archs[i], &outcomes[(size_t)i * n_workloads]);
	for (uint32_t i = 0; i < n_baselines; i++) {
		uint32_t at = n_mined + i;
		out->baselines[i] =
			make_finalist(run, &archs[at], &outcomes[(size_t)at * n_workloads]);
		out->baselines[i].name = archs[at].name;
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
	struct arch *archs = mem_alloc(n, sizeof(*archs));
	for (uint32_t i = 0; i < ranked->n; i++)
		archs[i] = design_arch(&ranked->list[i].design, &config->base);
	for (uint32_t i = 0; i < config->n_baselines; i++)
		archs[ranked->n + i] = config->baselines[i];
	struct evaluation job = {&run->problem, archs};
	struct worker_map map = {
		.fn = evaluate_item,
		.ctx = &job,
		.n = n,
		.jobs = config->jobs,
		.size = config->n_workloads * sizeof(struct outcome),
	};
	struct outcome *outcomes = mem_alloc(n, map.size);
	bool ok = workers_run(&map, outcomes, err);
	if (ok) {
		run->out->simulations = config->topo ? (uint64_t)n * config->n_workloads : 0;
		fill_result(run, archs, ranked->n, outcomes);
	}
	free(outcomes);
	free(archs);
	return ok;
}
