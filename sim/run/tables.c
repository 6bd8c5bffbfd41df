#include <stdlib.h>

#include "run/internal.h"

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Sorting (stream, index) makes neighbours of those that follow each other on a stream. */
static void link_streams(struct arena *a, struct role_table *t)
{
	uint64_t *keys = arena_array(a, (size_t)t->n_tasks + 1, uint64_t);
	for (uint32_t i = 0; i < t->n_tasks; i++)
		keys[i] = (uint64_t)t->tasks[i].stream << 32 | i;
	qsort(keys, t->n_tasks, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < t->n_tasks; i++) {
		uint32_t task = (uint32_t)keys[i];
		t->prev[task] = t->next[task] = PROG_NONE;
		if (i == 0 || keys[i - 1] >> 32 != keys[i] >> 32) {
			t->n_lanes++;
		} else {
			t->prev[task] = (uint32_t)keys[i - 1];
			t->next[t->prev[task]] = task;
		}
		t->lane[task] = t->n_lanes - 1;
	}
}

static void list_successors(struct arena *a, struct role_table *t)
{
	uint32_t n_edges = 0;
	t->succ_start = arena_array(a, (size_t)t->n_tasks + 2, uint32_t);
	for (uint32_t i = 0; i < t->n_tasks; i++)
		for (uint32_t k = 0; k < t->tasks[i].n_after; k++, n_edges++)
			t->succ_start[t->tasks[i].after[k] + 2]++;
	for (uint32_t i = 2; i < t->n_tasks + 2; i++)
		t->succ_start[i] += t->succ_start[i - 1];
	t->succ = arena_array(a, (size_t)n_edges + 1, uint32_t);
	for (uint32_t i = 0; i < t->n_tasks; i++)
		for (uint32_t k = 0; k < t->tasks[i].n_after; k++)
			t->succ[t->succ_start[t->tasks[i].after[k] + 1]++] = i;
}

/* Sorting (group, index) counts the collectives of each group. */
static void number_collectives(struct arena *a, struct role_table *t)
{
	uint64_t *keys = arena_array(a, (size_t)t->n_tasks + 1, uint64_t);
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->n_tasks; i++)
		if (t->tasks[i].kind == TASK_COLL)
			keys[n++] = (uint64_t)t->tasks[i].group << 32 | i;
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < n; i++) {
		bool first = i == 0 || keys[i - 1] >> 32 != keys[i] >> 32;
		t->seq[(uint32_t)keys[i]] = first ? 0 : t->seq[(uint32_t)keys[i - 1]] + 1;
	}
}

void role_order_build(struct arena *a, const struct prog_role *role, struct role_table *t)
{
	struct arena scratch = {0};
	uint32_t n = role->n_tasks;
	*t = (struct role_table){.tasks = role->tasks,
		.n_tasks = n,
		.lane = arena_array(a, (size_t)n + 1, uint32_t),
		.prev = arena_array(a, (size_t)n + 1, uint32_t),
		.next = arena_array(a, (size_t)n + 1, uint32_t)};
	link_streams(&scratch, t);
	list_successors(a, t);
	arena_free(&scratch);
}

static bool build_table(struct plans *plans, uint32_t role, struct role_table *t, struct err *err)
{
	struct arena *a = plans->a;
	struct arena scratch = {0};
	uint32_t n = plans->prog->roles[role].n_tasks;
	role_order_build(a, &plans->prog->roles[role], t);
	t->seq = arena_array(a, (size_t)n + 1, uint32_t);
	t->plan = arena_array(a, (size_t)n + 1, const struct coll_plan *);
	number_collectives(&scratch, t);
	arena_free(&scratch);
	for (uint32_t i = 0; i < n; i++) {
		if (t->tasks[i].kind != TASK_COLL)
			continue;
		t->plan[i] = plan_get(plans, &t->tasks[i], err);
		if (!t->plan[i])
			return false;
	}
	return true;
}

bool role_tables_build(struct arena *a, const struct prog *p, const struct run_config *config,
	struct role_table **out, struct err *err)
{
	struct plans *plans = arena_new(a, struct plans);
	*plans = (struct plans){.a = a,
		.prog = p,
		.config = config,
		.teams = arena_array(a, (size_t)p->n_groups + 1, struct plan_team)};
	*out = arena_array(a, (size_t)p->n_roles + 1, struct role_table);
	for (uint32_t role = 0; role < p->n_roles; role++)
		if (!build_table(plans, role, &(*out)[role], err))
			return false;
	return true;
}
