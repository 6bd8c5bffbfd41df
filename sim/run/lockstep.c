/* Which progs are in lockstep: all ranks do the same, one thing after the other. */
#include <assert.h>

#include "run/internal.h"

static bool same_speed(const struct prog *p, const struct run_config *config)
{
	uint32_t n = prog_n_ranks(p);
	const uint32_t *ppm = config->compute_ppm, *devices = config->device_of_rank;
	for (uint32_t r = 1; ppm && r < n; r++)
		if (ppm[devices ? devices[r] : r] != ppm[devices ? devices[0] : 0])
			return false;
	return true;
}

/* NULL, or what keeps the task from being the same for all ranks. */
static const char *find_fault(const struct prog *p, const struct prog_task *t)
{
	switch (t->kind) {
	case TASK_COMPUTE:
	case TASK_WAIT:
	case TASK_MARK:
		return NULL;
	case TASK_SEND:
	case TASK_RECV:
		return "messages between single ranks";
	case TASK_COLL:
		return prog_group_size(p, t->group) * prog_group_n_teams(p, t->group) ==
				       prog_n_ranks(p)
			       ? NULL
			       : "a group that leaves ranks out";
	}
	return NULL;
}

static void blame(struct text *reason, const struct prog_task *t, const char *what)
{
	text_add(reason, "%s: %s", t->place ? t->place : "prog", what);
}

/* At every moment one task alone can be next. */
static bool put_in_order(const struct role_table *t, struct arena *a, uint32_t *order)
{
	uint32_t *left = arena_array(a, (size_t)t->n_tasks + 1, uint32_t);
	uint32_t ready = PROG_NONE, n_ready = 0;
	for (uint32_t i = 0; i < t->n_tasks; i++) {
		left[i] = t->tasks[i].n_after + (t->prev[i] != PROG_NONE);
		if (left[i] == 0) {
			ready = i;
			n_ready++;
		}
	}
	for (uint32_t n = 0; n < t->n_tasks; n++) {
		if (n_ready != 1)
			return false;
		uint32_t task = order[n] = ready;
		n_ready = 0;
		for (uint32_t k = t->succ_start[task]; k < t->succ_start[task + 1]; k++)
			if (--left[t->succ[k]] == 0) {
				ready = t->succ[k];
				n_ready++;
			}
		if (t->next[task] != PROG_NONE && --left[t->next[task]] == 0) {
			ready = t->next[task];
			n_ready++;
		}
	}
	return true;
}

uint32_t *lockstep_order(
	struct arena *a, const struct prog *p, const struct run_config *config, struct text *reason)
{
	struct role_table table;
	if (config->topo->platform_xml || p->n_roles != 1 || !same_speed(p, config)) {
		if (config->topo->platform_xml)
			text_add(reason, "'%s' is a SimGrid platform, whose routes are not known",
				config->topo->name);
		else if (p->n_roles != 1)
			text_add(reason, "the prog has %u roles", p->n_roles);
		else
			text_add(reason, "devices compute at different speeds");
		return NULL;
	}
	const struct prog_role *role = &p->roles[0];
	for (uint32_t i = 0; i < role->n_tasks; i++) {
		const char *fault = find_fault(p, &role->tasks[i]);
		if (fault) {
			blame(reason, &role->tasks[i], fault);
			return NULL;
		}
	}
	role_order_build(a, role, &table);
	uint32_t *order = arena_array(a, (size_t)role->n_tasks + 1, uint32_t);
	if (put_in_order(&table, a, order))
		return order;
	text_add(reason, "tasks may run at the same time");
	return NULL;
}
