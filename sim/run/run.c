#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "run/internal.h"

static bool check_devices(const struct prog *p, const struct run_config *config, struct err *err)
{
	uint32_t n_ranks = prog_n_ranks(p), n_devices = config->topo->n_devices;
	if (!config->device_of_rank && n_devices < n_ranks)
		return err_set(err, ERR_INPUT, "topology '%s' has %u devices, but %s has %u ranks",
			config->topo->name, n_devices, p->path ? p->path : "the prog", n_ranks);
	for (uint32_t r = 0; config->device_of_rank && r < n_ranks; r++)
		if (config->device_of_rank[r] >= n_devices)
			return err_set(err, ERR_INPUT,
				"rank %u is placed on device %u, but topology '%s' has %u devices",
				r, config->device_of_rank[r], config->topo->name, n_devices);
	return true;
}

/* Tensor-parallel groups are those that join a dimension called "tp". */
enum cause run_cause(const struct prog *p, uint32_t group)
{
	const struct prog_group *g = &p->groups[group];
	for (uint32_t d = 0; d < p->grid.n_dims; d++)
		if ((g->dims_mask >> d & 1) && strcmp(p->grid.names[d], "tp") == 0)
			return CAUSE_TP;
	return strcmp(g->name, "tp") == 0 ? CAUSE_TP : CAUSE_DP;
}

static void set_up_groups(struct engine *e)
{
	const struct prog *p = e->prog;
	e->groups = arena_array(&e->a, (size_t)p->n_groups + 1, struct group_state);
	for (uint32_t g = 0; g < p->n_groups; g++)
		e->groups[g] = (struct group_state){.size = prog_group_size(p, g),
			.cause = run_cause(p, g),
			.teams = arena_array(&e->a, prog_group_n_teams(p, g), struct team)};
}

static void set_up_rank(struct engine *e, uint32_t rank, uint32_t role)
{
	const struct role_table *t = &e->tables[role];
	struct rank_state *r = &e->ranks[rank];
	size_t n = (size_t)t->n_tasks + 1;
	*r = (struct rank_state){.role = role,
		.left = arena_array(&e->a, n, uint32_t),
		.lanes = arena_array(&e->a, (size_t)t->n_lanes + 1, struct lane),
		.last_done = PROG_NONE};
	if (e->config->keep_spans) {
		r->starts = arena_array(&e->a, n, tick);
		r->ends = arena_array(&e->a, n, tick);
	}
	for (uint32_t i = 0; i < t->n_tasks; i++)
		r->left[i] = t->tasks[i].n_after + (t->prev[i] != PROG_NONE);
	e->n_tasks += t->n_tasks;
}

static bool set_up(struct engine *e, struct err *err)
{
	const struct prog *p = e->prog;
	if (!role_tables_build(&e->a, p, e->config, &e->tables, err))
		return false;
	set_up_groups(e);
	e->n_ranks = prog_n_ranks(p);
	e->ranks = arena_array(&e->a, e->n_ranks, struct rank_state);
	if (e->config->task_ends && p->n_roles == 1)
		e->task_ends = arena_array(&e->a, (size_t)p->roles[0].n_tasks + 1, tick);
	uint32_t *role_of = prog_role_map(&e->a, p);
	for (uint32_t rank = 0; rank < e->n_ranks; rank++)
		set_up_rank(e, rank, role_of[rank]);
	if (e->config->keep_spans && e->n_tasks > UINT32_MAX)
		return err_set(err, ERR_INPUT, "a timeline of %llu tasks is too long",
			(unsigned long long)e->n_tasks);
	return true;
}

static bool execute(struct arena *a, struct engine *e, struct run_result *out, struct err *err)
{
	struct net_job job = {.start = engine_start, .finish = engine_finish, .ctx = e};
	struct bytes reply;
	if (e->config->net == NET_SIMGRID)
		job.pairs = pairs_build(e, &job.n_pairs);
	return net_run(a, e->config->net, e->config->topo, &job, &reply, err) &&
	       outcome_read(a, e->prog, reply, out, err);
}

bool run_prog(struct arena *a, const struct prog *p, const struct run_config *config,
	struct run_result *out, struct err *err)
{
	bool done = false;
	if (!prog_check_form(p, err) || !check_devices(p, config, err) ||
		!fold_prog(a, p, config, out, &done, err))
		return false;
	if (done)
		return true;
	struct engine *e = mem_alloc(1, sizeof(*e));
	*e = (struct engine){.prog = p, .config = config};
	bool ok = set_up(e, err) && execute(a, e, out, err);
	arena_free(&e->a);
	free(e);
	return ok;
}
