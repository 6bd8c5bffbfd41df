/* Mirror conflict resolution: adds the core that the operators on the critical path wait for.
 *
 * Start with one core of each kind. Among the operators that started after their ALAP because
 * the cores of their kind were busy, every operator is counted together with the operators that
 * mirror it (recomputation, dX, dW, update), each as often as it runs in a step; the kind whose
 * operator lost most is grown by one core, both kinds for fused operators. A kind that brings
 * nothing is set aside until another one has. When none brings anything but conflicts remain,
 * the step may be too short to matter (n equal operators gain nothing before a divisor of n is
 * reached), so each kind is tried once at as many cores as fit; and when the budget is what
 * stops it, one core more is tried for less of the other kind. At the end cores that nothing is
 * lost without are taken away again. */
#include <math.h>
#include <string.h>

#include "search/internal.h"

/* Least gain of a step of the climb, as a share. */
static const double mcr_eps = 1e-5;

enum { N_KINDS = 3 };

struct kind {
	enum core core;
	uint32_t tc, vc; /* cores to add */
};

static const struct kind kinds[N_KINDS] = {
	{CORE_TC, 1, 0},
	{CORE_TC_VC, 1, 1},
	{CORE_VC, 0, 1},
};

struct climb {
	const struct problem *p;
	const struct search_stage *stage;
	struct oracle oracle;
	struct design at;
	struct stage_cost cost;
	double score;
	tick *delays; /* by forward operator and kind; all zero between uses */
};

static double price(struct climb *c, const struct design *d, struct stage_cost *cost)
{
	oracle_price(&c->oracle, d->tc, d->vc, cost);
	struct arch arch = design_arch(d, &c->p->config->base);
	return score_stage(c->p->config, c->stage, stage_step(c->stage, cost), arch_tdp_w(&arch));
}

/* Moves to `d` when it fits and is better by more than `eps` (negative: no worse). */
static bool try_move(struct climb *c, const struct design *d, double eps)
{
	struct stage_cost cost;
	if (!design_fits(c->p->config, d))
		return false;
	double score = price(c, d, &cost);
	if (eps < 0 ? score < c->score : !score_improves(score, c->score, eps))
		return false;
	c->at = *d;
	c->cost = cost;
	c->score = score;
	return true;
}

static int kind_of(enum core core)
{
	for (int i = 0; i < N_KINDS; i++) {
		if (kinds[i].core == core)
			return i;
	}
	return -1;
}

/* The largest delay of one operator with its mirrors, for each kind. */
static void worst_delays(struct climb *c, tick worst[N_KINDS])
{
	memset(worst, 0, N_KINDS * sizeof(*worst));
	for (uint32_t part = 0; part < c->stage->n_parts; part++) {
		const struct part_run *run = oracle_part(&c->oracle, part, c->at.tc, c->at.vc);
		for (uint32_t i = 0; i < run->n_conflicts; i++) {
			int kind = kind_of(run->conflicts[i].core);
			if (kind < 0)
				continue;
			tick *sum =
				&c->delays[run->conflicts[i].forward * N_KINDS + (uint32_t)kind];
			*sum += run->conflicts[i].delay;
			worst[kind] = *sum > worst[kind] ? *sum : worst[kind];
		}
	}
	memset(c->delays, 0, (size_t)c->stage->graph->n_ops * N_KINDS * sizeof(tick));
}

/* Kinds with conflicts, the largest delay first. Fused operators may lack only one of their
 * cores, so either kind stands behind them. */
static int order_kinds(const tick worst[N_KINDS], int order[N_KINDS])
{
	tick key[N_KINDS];
	memcpy(key, worst, sizeof(key));
	int fused = kind_of(CORE_TC_VC), n = 0;
	for (int i = 0; i < N_KINDS; i++) {
		if (key[fused] > 0 && key[i] == 0)
			key[i] = 1;
	}
	for (int i = 0; i < N_KINDS; i++) {
		int at = n;
		if (key[i] == 0)
			continue;
		for (; at > 0 && key[order[at - 1]] < key[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
		n++;
	}
	return n;
}

static bool grow_by_one(struct climb *c, const int *order, int n)
{
	for (int i = 0; i < n; i++) {
		struct design d = c->at;
		d.tc += kinds[order[i]].tc;
		d.vc += kinds[order[i]].vc;
		if (try_move(c, &d, mcr_eps))
			return true;
	}
	return false;
}

/* As many cores of the kind as fit. */
static bool grow_far(struct climb *c, const int *order, int n)
{
	const struct search_config *config = c->p->config;
	for (int i = 0; i < n; i++) {
		struct design d = c->at;
		if (kinds[order[i]].tc > 0)
			d.tc = design_max_tc(config, &d);
		if (kinds[order[i]].vc > 0)
			d.vc = design_max_vc(config, &d);
		if ((d.tc > c->at.tc + 1 || d.vc > c->at.vc + 1) && try_move(c, &d, mcr_eps))
			return true;
	}
	return false;
}

/* One core more of a kind for as many of the other as that takes, when the budget is used up. */
static bool exchange(struct climb *c, const int *order, int n)
{
	const struct search_config *config = c->p->config;
	for (int i = 0; i < n; i++) {
		struct design d = c->at;
		const struct kind *kind = &kinds[order[i]];
		if (kind->tc == kind->vc)
			continue;
		d.tc += kind->tc;
		d.vc += kind->vc;
		if (design_fits(config, &d))
			continue;
		uint32_t *other = kind->tc ? &d.vc : &d.tc;
		*other = kind->tc ? design_max_vc(config, &d) : design_max_tc(config, &d);
		if (*other > 0 && try_move(c, &d, mcr_eps))
			return true;
	}
	return false;
}

static void trim(struct climb *c, bool vc)
{
	for (;;) {
		struct design d = c->at;
		uint32_t *count = vc ? &d.vc : &d.tc;
		if (*count == 1)
			return;
		--*count;
		if (!try_move(c, &d, -1))
			return;
	}
}

static void climb_run(struct climb *c)
{
	for (;;) {
		tick worst[N_KINDS];
		int order[N_KINDS];
		worst_delays(c, worst);
		int n = order_kinds(worst, order);
		if (!grow_by_one(c, order, n) && !grow_far(c, order, n) && !exchange(c, order, n))
			break;
	}
	trim(c, true);
	trim(c, false);
}

void mcr_run(const struct problem *p, uint32_t stage, uint32_t point, struct point_result *out)
{
	struct climb c = {.p = p, .stage = &p->stages[stage], .score = -HUGE_VAL};
	struct design start = lattice_design(&p->lattice, point);
	*out = (struct point_result){.fits = design_fits(p->config, &start)};
	if (!out->fits)
		return;
	struct arch arch = design_arch(&start, &p->config->base);
	oracle_open(&c.oracle, c.stage, &arch);
	c.delays = arena_array(&c.oracle.arena, (size_t)c.stage->graph->n_ops * N_KINDS, tick);
	c.at = start;
	c.score = price(&c, &start, &c.cost);
	climb_run(&c);
	out->design = c.at;
	out->score = c.score;
	out->costs[0] = c.cost;
	out->calls = c.oracle.calls;
	oracle_close(&c.oracle);
}
