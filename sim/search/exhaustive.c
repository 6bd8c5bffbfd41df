/* Every dimension point with every pair of counts that fits and is not proven to be dominated.
 *
 * Proof of what is skipped: a list schedule in which no operator ever waited for a core of a
 * kind takes the same decisions with more cores of that kind (oracle.c). If that holds for all
 * parts of all stages at (n_tc, n_vc), then (n_tc + 1, n_vc) and all beyond it take exactly as
 * long, with more area and power: not better by any metric. If it holds for vector cores at all
 * n_tc of a row, then every later row equals this one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/internal.h"

enum { WAVE = 16 };

struct scan {
	const struct problem *p;
	struct oracle *oracles; /* one per stage */
	struct stage_cost *costs;
	struct design at;
	struct point_result *best;
};

struct binding {
	bool tc, vc;
};

/* Prices the counts at hand; what any part of any stage waits for. */
static struct binding price_all(struct scan *s)
{
	struct binding b = {0};
	for (uint32_t i = 0; i < s->p->n_stages; i++) {
		oracle_price(&s->oracles[i], s->at.tc, s->at.vc, &s->costs[i]);
		for (uint32_t part = 0; part < s->p->stages[i].n_parts; part++) {
			const struct part_run *run =
				oracle_part(&s->oracles[i], part, s->at.tc, s->at.vc);
			b.tc |= run->tc_binds;
			b.vc |= run->vc_binds;
		}
	}
	return b;
}

static void consider(struct scan *s)
{
	struct arch arch = design_arch(&s->at, &s->p->config->base);
	double score = score_design(s->p, s->costs, arch_tdp_w(&arch));
	if (!(score > s->best->score))
		return;
	s->best->score = score;
	s->best->design = s->at;
	memcpy(s->best->costs, s->costs, s->p->n_stages * sizeof(*s->costs));
}

/* All tensor-core counts for one vector-core count; true when a vector core was missing
 * somewhere. */
static bool scan_row(struct scan *s)
{
	bool vc_binds = false;
	for (s->at.tc = 1; design_fits(s->p->config, &s->at); s->at.tc++) {
		struct binding b = price_all(s);
		consider(s);
		vc_binds |= b.vc;
		if (!b.tc)
			break;
	}
	return vc_binds;
}

static void scan_point(struct scan *s)
{
	for (s->at.vc = 1;; s->at.vc++) {
		s->at.tc = 1;
		if (!design_fits(s->p->config, &s->at) || !scan_row(s))
			return;
	}
}

struct job {
	const struct problem *p;
	uint32_t first;
};

static bool point_item(void *ctx, uint32_t i, void *result, struct err *err)
{
	const struct job *job = ctx;
	struct arena scratch = {0};
	struct scan s = {.p = job->p, .best = result};
	s.at = lattice_design(&job->p->lattice, job->first + i);
	s.best->fits = design_fits(job->p->config, &s.at);
	s.best->score = -HUGE_VAL;
	if (!s.best->fits)
		return true;
	struct arch arch = design_arch(&s.at, &job->p->config->base);
	s.costs = arena_array(&scratch, job->p->n_stages, struct stage_cost);
	s.oracles = arena_array(&scratch, job->p->n_stages, struct oracle);
	for (uint32_t j = 0; j < job->p->n_stages; j++)
		oracle_open(&s.oracles[j], &job->p->stages[j], &arch);
	scan_point(&s);
	for (uint32_t j = 0; j < job->p->n_stages; j++) {
		s.best->calls += s.oracles[j].calls;
		oracle_close(&s.oracles[j]);
	}
	arena_free(&scratch);
	return true;
}

static bool exhaustive_propose(struct run_state *run, struct candidates *found, struct err *err)
{
	struct problem *p = &run->problem;
	struct job job = {.p = p};
	size_t size = sizeof(struct point_result) + p->n_stages * sizeof(struct stage_cost);
	char *results = mem_alloc(WAVE, size);
	bool ok = true;
	candidates_init(run->arena, found, p->config->top_k + p->config->n_baselines);
	for (; ok && job.first < p->lattice.n_points && !search_spent(run); job.first += WAVE) {
		uint32_t left = p->lattice.n_points - job.first;
		struct worker_map map = {
			.fn = point_item,
			.ctx = &job,
			.n = left < WAVE ? left : WAVE,
			.jobs = p->config->jobs,
			.size = size,
		};
		ok = workers_run(&map, results, err);
		for (uint32_t i = 0; ok && i < map.n; i++)
			search_keep(run, found, (const void *)(results + i * size));
	}
	free(results);
	return ok;
}

static bool exhaustive_run(struct arena *a, const struct search_config *config,
	struct search_result *out, struct err *err)
{
	return search_drive(a, config, exhaustive_propose, out, err);
}

const struct search_algo search_exhaustive = {"exhaustive", exhaustive_run};
