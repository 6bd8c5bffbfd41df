/* Outcomes of designs on all workloads, by the full simulator where there is a topology.
 *
 * The plans are made here, one after the other; their steps are simulated by the workers. Two
 * designs whose plans have the same layers, recomputation and durations end in the same prog but
 * for its energies, so that one simulation speaks for both. */
#include <stdlib.h>
#include <string.h>

#include "analytic/plan_step.h"
#include "run/run.h"
#include "search/internal.h"

/* All that tells the progs of one workload apart. */
struct signature {
	tick *words;
	uint32_t n;
};

struct simulation {
	uint32_t contestant, workload;
	struct signature signature;
};

struct evaluation {
	struct run_state *run;
	struct contestant *list;
	struct arena scratch;
	struct simulation *simulations; /* different ones */
	uint32_t n_simulations, cap_simulations;
	uint32_t *simulation_of; /* [contestant * n_workloads + workload] */
};

/* Busy share of all cores of a kind on the slowest stage. */
static void measure_use(
	const struct problem *p, uint32_t workload, const struct contestant *c, struct outcome *out)
{
	const struct problem_workload *w = &p->workloads[workload];
	tick slowest = 0;
	for (uint32_t i = 0; i < w->n_stages; i++) {
		uint32_t distinct = w->stages[i].distinct;
		const struct stage_cost *cost = &c->costs[distinct];
		tick step = stage_step(&p->stages[distinct], cost);
		if (step <= slowest)
			continue;
		slowest = step;
		out->tc_utilisation = (double)cost->tc_busy / ((double)step * c->arch.tc_count);
		out->vc_utilisation = (double)cost->vc_busy / ((double)step * c->arch.vc_count);
	}
}

static double plan_energy_j(const struct plan *plan, const struct degrees *d)
{
	double sum = 0;
	for (uint32_t i = 0; i < plan->n_stages; i++)
		sum += plan->stages[i].energy_j;
	return sum * d->tp * d->dp;
}

/* A baseline is compared even where its memory is too small. */
static bool build_plan(struct arena *a, const struct problem *p, uint32_t workload,
	const struct contestant *c, struct plan *plan, struct err *err)
{
	const struct problem_workload *w = &p->workloads[workload];
	struct plan_options options = w->options;
	options.check_memory = options.check_memory && !c->is_baseline;
	struct plan_input in = {
		p->config->workloads[workload].train, &c->arch, 1, &w->degrees, &options};
	return plan_build(a, &in, plan, err);
}

/* Of the very plan that is simulated; without a topology by the oracle's times and the links of the
 * accelerator. */
static tick closed_form(struct arena *scratch, const struct problem *p, uint32_t workload,
	const struct plan *plan, const struct contestant *c)
{
	if (!p->config->topo)
		return score_step(p, workload, c->costs).total;
	return analytic_plan_step(scratch, plan, &p->workloads[workload].degrees, p->config->topo)
		.total;
}

static struct signature sign(struct arena *a, const struct plan *plan)
{
	struct signature s = {
		arena_array(a, (size_t)plan->n_stages * 2 + plan->prog.n_costs, tick), 0};
	for (uint32_t i = 0; i < plan->n_stages; i++) {
		s.words[s.n++] = plan->stages[i].end_layer;
		s.words[s.n++] = (tick)plan->stages[i].recompute;
	}
	for (uint32_t i = 0; i < plan->prog.n_costs; i++)
		s.words[s.n++] = plan->prog.costs[i].duration;
	return s;
}

static bool same_signature(const struct signature *a, const struct signature *b)
{
	return a->n == b->n && memcmp(a->words, b->words, a->n * sizeof(*a->words)) == 0;
}

/* The simulation that speaks for this plan: an earlier one, or a new one. */
static uint32_t find_simulation(
	struct evaluation *e, uint32_t contestant, uint32_t workload, const struct plan *plan)
{
	struct signature signature = sign(&e->scratch, plan);
	for (uint32_t i = 0; i < e->n_simulations; i++) {
		const struct simulation *s = &e->simulations[i];
		if (s->workload == workload && same_signature(&s->signature, &signature))
			return i;
	}
	arena_push(&e->scratch, e->simulations, e->n_simulations, e->cap_simulations) =
		(struct simulation){contestant, workload, signature};
	return e->n_simulations - 1;
}

static bool prepare(struct evaluation *e, uint32_t i, uint32_t workload, struct err *err)
{
	const struct problem *p = &e->run->problem;
	const struct degrees *d = &p->workloads[workload].degrees;
	struct contestant *c = &e->list[i];
	struct outcome *out = &c->outcomes[workload];
	struct arena scratch = {0};
	struct plan plan;
	bool ok = build_plan(&scratch, p, workload, c, &plan, err);
	if (ok) {
		out->analytic_step = closed_form(&scratch, p, workload, &plan, c);
		out->step = out->uncontended_step = out->analytic_step;
		out->energy_j_per_sample = plan_energy_j(&plan, d) / (double)d->batch;
		measure_use(p, workload, c, out);
		e->simulation_of[i * p->config->n_workloads + workload] =
			find_simulation(e, i, workload, &plan);
	}
	arena_free(&scratch);
	return ok;
}

static void price_baseline(struct evaluation *e, struct contestant *c)
{
	const struct problem *p = &e->run->problem;
	c->costs = arena_array(e->run->arena, p->n_stages, struct stage_cost);
	for (uint32_t i = 0; i < p->n_stages; i++) {
		struct oracle o;
		oracle_open(&o, &p->stages[i], &c->arch);
		oracle_price(&o, c->arch.tc_count, c->arch.vc_count, &c->costs[i]);
		oracle_close(&o);
	}
}

/* Of one simulation: on the network asked for, and with no two messages sharing a link. */
struct steps {
	tick simulated, uncontended;
};

static bool run_both(struct arena *scratch, const struct prog *prog, struct run_config *config,
	struct steps *out, struct err *err)
{
	struct run_result run;
	if (!run_prog(scratch, prog, config, &run, err))
		return false;
	out->simulated = out->uncontended = run.end;
	if (config->net == NET_ANALYTIC || config->topo->platform_xml)
		return true;
	config->net = NET_ANALYTIC;
	if (!run_prog(scratch, prog, config, &run, err))
		return false;
	out->uncontended = run.end;
	return true;
}

static bool simulate(void *ctx, uint32_t i, void *result, struct err *err)
{
	const struct evaluation *e = ctx;
	const struct problem *p = &e->run->problem;
	const struct simulation *s = &e->simulations[i];
	struct run_config config = {
		.topo = p->config->topo,
		.net = p->config->net,
		.choice = p->config->choice,
		.device_of_rank = p->config->device_of_rank,
		.compute_ppm = p->config->compute_ppm,
	};
	struct arena scratch = {0};
	struct plan plan;
	bool ok = build_plan(&scratch, p, s->workload, &e->list[s->contestant], &plan, err) &&
		  run_both(&scratch, &plan.prog, &config, result, err);
	arena_free(&scratch);
	return ok;
}

static bool simulate_all(struct evaluation *e, uint32_t n, struct err *err)
{
	const struct search_config *config = e->run->problem.config;
	struct steps *steps = arena_array(&e->scratch, e->n_simulations, struct steps);
	struct worker_map map = {
		.fn = simulate,
		.ctx = e,
		.n = e->n_simulations,
		.jobs = config->jobs,
		.size = sizeof(*steps),
	};
	if (!workers_run(&map, steps, err))
		return false;
	e->run->out->simulations = e->n_simulations;
	for (uint32_t i = 0; i < n * config->n_workloads; i++) {
		struct contestant *c = &e->list[i / config->n_workloads];
		struct outcome *out = &c->outcomes[i % config->n_workloads];
		out->step = steps[e->simulation_of[i]].simulated;
		out->uncontended_step = steps[e->simulation_of[i]].uncontended;
	}
	return true;
}

static bool evaluate_one(struct evaluation *e, uint32_t i, struct err *err)
{
	uint32_t n_workloads = e->run->problem.config->n_workloads;
	e->list[i].outcomes = arena_array(e->run->arena, n_workloads, struct outcome);
	if (e->list[i].is_baseline)
		price_baseline(e, &e->list[i]);
	for (uint32_t w = 0; w < n_workloads; w++) {
		if (!prepare(e, i, w, err))
			return false;
	}
	return true;
}

bool evaluate_all(struct run_state *run, struct contestant *list, uint32_t n, struct err *err)
{
	const struct problem *p = &run->problem;
	uint32_t n_workloads = p->config->n_workloads;
	struct evaluation e = {.run = run, .list = list};
	e.simulation_of = arena_array(&e.scratch, (size_t)n * n_workloads, uint32_t);
	bool ok = true;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = evaluate_one(&e, i, err);
	if (ok && p->config->topo)
		ok = simulate_all(&e, n, err);
	for (uint32_t i = 0; ok && i < n * n_workloads; i++) {
		struct outcome *out = &list[i / n_workloads].outcomes[i % n_workloads];
		uint64_t batch = p->workloads[i % n_workloads].degrees.batch;
		out->samples_per_s = out->step > 0 ? (double)batch / ticks_to_s(out->step) : 0;
	}
	arena_free(&e.scratch);
	return ok;
}
