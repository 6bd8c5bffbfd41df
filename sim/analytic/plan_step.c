#include "analytic/plan_step.h"

#include <string.h>

/* What a message between two devices costs: latency of the route, its narrowest link. */
struct path {
	tick latency;
	uint64_t bytes_per_s;
};

static void worsen(struct path *worst, struct path p)
{
	if (p.latency > worst->latency)
		worst->latency = p.latency;
	if (worst->bytes_per_s == 0 || p.bytes_per_s < worst->bytes_per_s)
		worst->bytes_per_s = p.bytes_per_s;
}

static struct path path_between(
	struct arena *a, const struct topo *topo, uint32_t src, uint32_t dst)
{
	struct path p = {0};
	uint32_t *links = arena_array(a, topo->max_hops + 1, uint32_t);
	uint32_t n = src == dst ? 0 : topo->route(topo, src, dst, links);
	for (uint32_t i = 0; i < n; i++) {
		const struct topo_link *l = &topo->links[links[i]];
		p.latency += l->latency;
		if (p.bytes_per_s == 0 || l->bytes_per_s < p.bytes_per_s)
			p.bytes_per_s = l->bytes_per_s;
	}
	return p;
}

/* The worst step of a ring over the group that `rank` belongs to. */
static struct path ring_path(struct arena *a, const struct plan *plan, const struct topo *topo,
	uint32_t group, uint32_t rank)
{
	struct path worst = {0};
	uint32_t n = prog_group_size(&plan->prog, group);
	uint32_t *members = arena_array(a, n, uint32_t);
	prog_group_members(&plan->prog, group, rank, members);
	for (uint32_t i = 0; i < n; i++)
		worsen(&worst, path_between(a, topo, members[i], members[(i + 1) % n]));
	return worst;
}

static tick coll_time(const struct prog_task *t, struct path p, uint32_t n)
{
	if (n < 2 || p.bytes_per_s == 0)
		return 0;
	uint64_t steps = (t->coll == COLL_ALLREDUCE ? 2 : 1) * (uint64_t)(n - 1);
	return steps * (p.latency + ticks_ceil(div_ceil(t->bytes, n), p.bytes_per_s));
}

/* Sums of the collectives of one stage over the whole step: those inside the layers, and the
 * gradient reduction. */
static void stage_collectives(struct arena *a, const struct plan *plan, const struct topo *topo,
	uint32_t stage, tick *inside, tick *reduction)
{
	const struct prog *p = &plan->prog;
	uint32_t rank = 0;
	while (prog_role_of(p, rank) != stage)
		rank++;
	struct path *paths = arena_array(a, p->n_groups + 1, struct path);
	for (uint32_t g = 0; g < p->n_groups; g++)
		paths[g] = ring_path(a, plan, topo, g, rank);
	for (uint32_t i = 0; i < p->roles[stage].n_tasks; i++) {
		const struct prog_task *t = &p->roles[stage].tasks[i];
		if (t->kind != TASK_COLL)
			continue;
		tick time = coll_time(t, paths[t->group], prog_group_size(p, t->group));
		*(strcmp(p->groups[t->group].name, "tp") == 0 ? inside : reduction) += time;
	}
}

static struct path stage_path(
	struct arena *a, const struct plan *plan, const struct degrees *d, const struct topo *topo)
{
	struct path worst = {0};
	uint32_t per_stage = d->tp * d->dp;
	for (uint32_t i = 0; i + 1 < plan->n_stages; i++)
		worsen(&worst, path_between(a, topo, i * per_stage, (i + 1) * per_stage));
	return worst;
}

struct analytic_estimate analytic_plan_step(
	struct arena *a, const struct plan *plan, const struct degrees *d, const struct topo *topo)
{
	struct analytic_stage *stages = arena_array(a, plan->n_stages, struct analytic_stage);
	bool routes = topo && !topo->platform_xml;
	struct path between = {.latency = 0, .bytes_per_s = 0};
	if (routes)
		between = stage_path(a, plan, d, topo);
	for (uint32_t i = 0; i < plan->n_stages; i++) {
		const struct stage *s = &plan->stages[i];
		tick inside = 0, reduction = 0;
		if (routes)
			stage_collectives(a, plan, topo, i, &inside, &reduction);
		stages[i] = (struct analytic_stage){
			.forward = s->forward + inside / plan->n_micro_batches,
			.backward = s->backward,
			.update = s->update,
			.gradient_reduction = reduction,
			.send_bytes = between.bytes_per_s > 0 ? s->send_forward_bytes : 0};
	}
	struct analytic_step step = {.stages = stages,
		.n_stages = plan->n_stages,
		.n_micro_batches = plan->n_micro_batches,
		.link_latency = between.latency,
		.one_f_one_b = plan->schedule == SCHEDULE_1F1B,
		.link_bytes_per_s = between.bytes_per_s > 0 ? between.bytes_per_s : 1};
	return analytic_step_time(&step);
}
