/* From the stages' best designs to the candidates of the whole workloads. */
#include <stdlib.h>
#include <string.h>

#include "search/internal.h"

struct completion {
	const struct problem *p;
	struct candidate *list;
};

struct completed {
	uint64_t calls;
	struct stage_cost costs[];
};

/* Prices the stages that the candidate was not found on. */
static bool complete_item(void *ctx, uint32_t i, void *result, struct err *err)
{
	const struct completion *job = ctx;
	const struct candidate *c = &job->list[i];
	struct completed *out = result;
	struct arch arch = design_arch(&c->design, &job->p->config->base);
	for (uint32_t j = 0; j < job->p->n_stages; j++) {
		out->costs[j] = c->costs[j];
		if (c->known[j])
			continue;
		struct oracle o;
		oracle_open(&o, &job->p->stages[j], &arch);
		oracle_price(&o, arch.tc_count, arch.vc_count, &out->costs[j]);
		out->calls += o.calls;
		oracle_close(&o);
	}
	return true;
}

static bool complete(struct run_state *run, struct candidates *found, struct err *err)
{
	struct problem *p = &run->problem;
	struct completion job = {p, found->list};
	size_t size = sizeof(struct completed) + p->n_stages * sizeof(struct stage_cost);
	struct worker_map map = {
		.fn = complete_item,
		.ctx = &job,
		.n = found->n,
		.jobs = p->config->jobs,
		.size = size,
	};
	char *results = mem_alloc(found->n, size);
	bool ok = workers_run(&map, results, err);
	for (uint32_t i = 0; ok && i < found->n; i++) {
		const struct completed *r = (const void *)(results + i * size);
		memcpy(found->list[i].costs, r->costs, p->n_stages * sizeof(*r->costs));
		run->out->oracle_calls += r->calls;
	}
	free(results);
	return ok;
}

/* The baselines' own counts and sizes, with the clock, memory and links of the base. */
static void add_baselines(struct run_state *run, struct candidates *found)
{
	const struct search_config *config = run->problem.config;
	for (uint32_t i = 0; i < config->n_baselines; i++) {
		struct design d;
		baseline_design(&config->baselines[i], &d);
		if (!design_fits(config, &d))
			continue;
		struct candidate c = candidate_make(run->arena, &run->problem, &d, 0);
		candidates_add(found, &c);
	}
}

bool global_finish(struct run_state *run, struct candidates *found, struct err *err)
{
	struct problem *p = &run->problem;
	struct candidates all, ranked;
	candidates_init(run->arena, &all, found->n + p->config->n_baselines);
	for (uint32_t i = 0; i < found->n; i++)
		candidates_add(&all, &found->list[i]);
	add_baselines(run, &all);
	if (!complete(run, &all, err))
		return false;
	candidates_init(run->arena, &ranked, p->config->top_k);
	for (uint32_t i = 0; i < all.n; i++) {
		struct candidate *c = &all.list[i];
		struct arch arch = design_arch(&c->design, &p->config->base);
		c->score = score_design(p, c->costs, arch_tdp_w(&arch));
		candidates_add(&ranked, c);
	}
	return finalists_evaluate(run, &ranked, err);
}
