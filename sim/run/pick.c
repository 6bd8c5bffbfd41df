/* Which algorithm a collective gets. */
#include <stdlib.h>
#include <string.h>

#include "run/internal.h"

/* "auto" does not measure algorithms of more messages: minutes each. */
enum { MAX_MEASURED = 1 << 20 };

/* How many of the slowest direct link fit into those from one device to another. */
static uint32_t *count_lanes(
	struct arena *a, const struct topo *topo, const uint32_t *devices, uint32_t n)
{
	uint64_t least = UINT64_MAX;
	uint32_t *lanes = arena_array(a, (size_t)n * n, uint32_t);
	uint32_t *position = arena_array(a, topo->n_nodes, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		position[devices[i]] = i + 1;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t l = 0; l < topo->n_links; l++) {
			const struct topo_link *link = &topo->links[l];
			uint32_t from = position[link->from], to = position[link->to];
			if (from == 0 || to == 0)
				continue;
			if (pass == 0)
				least = link->bytes_per_s < least ? link->bytes_per_s : least;
			else
				lanes[(from - 1) * n + to - 1] +=
					(uint32_t)(link->bytes_per_s / least);
		}
	return lanes;
}

static bool is_all_in_order(const struct topo *topo, const uint32_t *devices, uint32_t n)
{
	uint64_t product = 1;
	for (uint32_t i = 0; i < topo->n_dims; i++)
		product *= topo->dims[i];
	if (n != topo->n_devices || topo->n_dims == 0 || product != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (devices[i] != i)
			return false;
	return true;
}

static struct coll_shape shape_of(
	struct plans *plans, uint32_t group, const uint32_t *devices, uint32_t n)
{
	const struct run_config *config = plans->config;
	const struct topo *topo = config->topo;
	const struct prog_grid *grid = &plans->prog->grid;
	struct coll_shape shape = {0};
	if (config->shape && n == prog_n_ranks(plans->prog)) {
		shape = *config->shape;
	} else if (is_all_in_order(topo, devices, n)) {
		shape.n_dims = topo->n_dims;
		memcpy(shape.dims, topo->dims, sizeof(shape.dims));
	} else {
		for (uint32_t d = 0; d < grid->n_dims; d++)
			if (plans->prog->groups[group].dims_mask >> d & 1)
				shape.dims[shape.n_dims++] = grid->sizes[d];
		/* One dimension says nothing of how the ranks lie. */
		shape.n_dims = shape.n_dims > 1 ? shape.n_dims : 0;
	}
	return shape;
}

struct coll_shape plan_shape(struct plans *plans, uint32_t group, const struct coll_algo *algo)
{
	struct plan_team *team = plan_team(plans, group);
	uint32_t n = prog_group_size(plans->prog, group);
	if (algo->wants_rings && !team->searched && team->shape.n_rings == 0 &&
		plans->config->topo->links && n <= 32) {
		struct arena a = {0};
		coll_find_rings(plans->a, count_lanes(&a, plans->config->topo, team->devices, n), n,
			&team->rings);
		arena_free(&a);
	}
	team->searched = team->searched || algo->wants_rings;
	struct coll_shape shape = team->shape;
	if (algo->wants_rings && shape.n_rings == 0) {
		shape.n_rings = team->rings.n_rings;
		shape.rings = team->rings.rings;
	}
	return shape;
}

struct plan_team *plan_team(struct plans *plans, uint32_t group)
{
	struct plan_team *team = &plans->teams[group];
	const struct prog *p = plans->prog;
	const uint32_t *device_of_rank = plans->config->device_of_rank;
	if (team->devices)
		return team;
	uint32_t n = prog_group_size(p, group), team_index, position, rank = 0;
	while (!prog_group_place(p, group, rank, &team_index, &position))
		rank++;
	team->devices = arena_array(plans->a, n, uint32_t);
	prog_group_members(p, group, rank, team->devices);
	for (uint32_t i = 0; i < n && device_of_rank; i++)
		team->devices[i] = device_of_rank[team->devices[i]];
	team->shape = shape_of(plans, group, team->devices, n);
	return team;
}

static uint64_t n_steps(const struct coll_algo *algo, const struct prog_task *t, uint32_t n)
{
	struct coll_call call = {.algo = algo, .n_ranks = n, .bytes = t->bytes};
	return algo->frame(&call).n_steps;
}

/* Runs every algorithm that works on the first of the task's groups; the first of the cheapest. */
static const struct coll_algo *measure(
	struct plans *plans, const struct prog_task *t, struct err *err)
{
	const struct plan_team *team = plan_team(plans, t->group);
	struct coll_request request = {.devices = team->devices,
		.n_devices = prog_group_size(plans->prog, t->group),
		.bytes = t->bytes};
	struct run_config config = {.topo = plans->config->topo,
		.net = plans->config->net,
		.fold = RUN_FOLD_AUTO,
		.shape = &team->shape,
		.chunk_bytes = plans->config->chunk_bytes,
		.reduce_bytes_per_s = plans->config->reduce_bytes_per_s};
	const struct coll_algo *best = NULL;
	tick least = TICK_MAX;
	for (size_t i = 0; coll_algos[i]; i++) {
		const struct coll_algo *algo = coll_algos[i];
		struct arena a = {0};
		struct run_result result;
		if (algo->kind != t->coll || !coll_fits(algo, request.n_devices) ||
			n_steps(algo, t, request.n_devices) > MAX_MEASURED)
			continue;
		request.algo = algo;
		bool ok = run_coll(&a, &request, &config, &result, err);
		if (ok && (!best || result.end < least)) {
			best = algo;
			least = result.end;
		}
		arena_free(&a);
		if (!ok)
			return NULL;
	}
	return best ? best : coll_find(t->coll, NULL);
}

static const struct coll_algo *pick_measured(
	struct plans *plans, const struct prog_task *t, struct err *err)
{
	for (const struct plan_pick *p = plans->picks; p; p = p->next)
		if (p->kind == t->coll && p->group == t->group && p->bytes == t->bytes)
			return p->algo;
	const struct coll_algo *algo = measure(plans, t, err);
	if (!algo)
		return NULL;
	struct plan_pick *p = arena_new(plans->a, struct plan_pick);
	*p = (struct plan_pick){t->coll, t->group, t->bytes, algo, plans->picks};
	plans->picks = p;
	return algo;
}

/* By the latency and the narrowest link between the first two devices. */
static const struct coll_algo *pick_nccl(struct plans *plans, const struct prog_task *t)
{
	const struct topo *topo = plans->config->topo;
	const struct plan_team *team = plan_team(plans, t->group);
	uint32_t n = prog_group_size(plans->prog, t->group);
	if (n < 2 || !topo->links || team->devices[0] == team->devices[1])
		return coll_find(t->coll, NULL);
	struct arena a = {0};
	uint32_t *links = arena_array(&a, topo->max_hops + 1, uint32_t);
	uint32_t n_links = topo->route(topo, team->devices[0], team->devices[1], links);
	uint64_t least = UINT64_MAX;
	tick latency = 0;
	for (uint32_t i = 0; i < n_links; i++) {
		const struct topo_link *l = &topo->links[links[i]];
		latency += l->latency;
		least = l->bytes_per_s < least ? l->bytes_per_s : least;
	}
	arena_free(&a);
	return coll_nccl_pick(t->coll, n, t->bytes, ticks_to_s(latency), 1 / (double)least);
}

const struct coll_algo *plan_pick(struct plans *plans, const struct prog_task *t, struct err *err)
{
	const struct coll_choice *choice = &plans->config->choice;
	enum coll_policy policy = choice->policy[t->coll];
	if (t->algo)
		coll_policy_find(t->algo, &policy);
	switch (policy) {
	case COLL_AUTO:
		return pick_measured(plans, t, err);
	case COLL_NCCL:
		return pick_nccl(plans, t);
	case COLL_FIXED:
		break;
	}
	if (!t->algo && choice->algo[t->coll])
		return choice->algo[t->coll];
	const struct coll_algo *algo = coll_get(t->coll, t->algo, err);
	if (!algo) {
		err->kind = ERR_INPUT;
		err_prefix(err, "%s: ", t->place ? t->place : "prog");
	}
	return algo;
}
