/* Designs drawn at random among those that fit: dimensions uniformly, then counts uniformly
 * within the budget. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "search/internal.h"

enum { WAVE = 64, DEFAULT_CALLS = 1000, MAX_MISSES = 10000 };

struct job {
	const struct problem *p;
	struct design designs[WAVE];
};

static bool design_item(void *ctx, uint32_t i, void *result, struct err *err)
{
	const struct job *job = ctx;
	struct point_result *r = result;
	struct arch arch = design_arch(&job->designs[i], &job->p->config->base);
	r->fits = true;
	r->design = job->designs[i];
	for (uint32_t j = 0; j < job->p->n_stages; j++) {
		struct oracle o;
		oracle_open(&o, &job->p->stages[j], &arch);
		oracle_price(&o, arch.tc_count, arch.vc_count, &r->costs[j]);
		r->calls += o.calls;
		oracle_close(&o);
	}
	r->score = score_design(job->p, r->costs, arch_tdp_w(&arch));
	return true;
}

static bool draw(const struct problem *p, struct rng *rng, struct design *d)
{
	*d = lattice_design(&p->lattice, (uint32_t)rng_below(rng, p->lattice.n_points));
	uint32_t most = design_max_tc(p->config, d);
	if (most == 0)
		return false;
	d->tc = 1 + (uint32_t)rng_below(rng, most);
	d->vc = 1 + (uint32_t)rng_below(rng, design_max_vc(p->config, d));
	return true;
}

struct drawn {
	struct design *list;
	uint32_t n, cap;
};

static bool seen(const struct drawn *drawn, const struct design *d)
{
	for (uint32_t i = 0; i < drawn->n; i++) {
		if (design_compare(&drawn->list[i], d) == 0)
			return true;
	}
	return false;
}

/* New designs, at most `n`; fewer only when MAX_MISSES draws in a row brought none. */
static uint32_t draw_wave(const struct run_state *run, struct rng *rng, struct drawn *drawn,
	struct design *wave, uint32_t n)
{
	uint32_t got = 0;
	for (uint32_t misses = 0; got < n && misses < MAX_MISSES; misses++) {
		struct design d;
		if (!draw(&run->problem, rng, &d) || seen(drawn, &d))
			continue;
		arena_push(run->arena, drawn->list, drawn->n, drawn->cap) = d;
		wave[got++] = d;
		misses = 0;
	}
	return got;
}

/* Designs that may still be priced: every one costs a call per stage. */
static uint32_t wave_size(const struct run_state *run, uint64_t limit)
{
	uint64_t left = (limit - run->out->oracle_calls) / run->problem.n_stages;
	return left > WAVE ? WAVE : (uint32_t)left;
}

static bool random_propose(struct run_state *run, struct candidates *found, struct err *err)
{
	struct problem *p = &run->problem;
	struct job job = {.p = p};
	struct drawn drawn = {0};
	struct rng rng;
	rng_init(&rng, p->config->seed);
	uint64_t limit = p->config->max_calls ? p->config->max_calls : DEFAULT_CALLS;
	limit = limit > p->n_stages ? limit : p->n_stages;
	size_t size = sizeof(struct point_result) + p->n_stages * sizeof(struct stage_cost);
	char *results = mem_alloc(WAVE, size);
	struct worker_map map = {
		.fn = design_item, .ctx = &job, .jobs = p->config->jobs, .size = size};
	candidates_init(run->arena, found, p->config->top_k + p->config->n_baselines);
	bool ok = true;
	while (ok && (map.n = wave_size(run, limit)) > 0 &&
		(map.n = draw_wave(run, &rng, &drawn, job.designs, map.n)) > 0) {
		ok = workers_run(&map, results, err);
		for (uint32_t i = 0; ok && i < map.n; i++)
			search_keep(run, found, (const void *)(results + i * size));
	}
	free(results);
	return ok;
}

static bool random_run(struct arena *a, const struct search_config *config,
	struct search_result *out, struct err *err)
{
	return search_drive(a, config, random_propose, out, err);
}

const struct search_algo search_random = {"random", random_run};
