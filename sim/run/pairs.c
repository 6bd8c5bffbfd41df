#include <stdlib.h>

#include "run/internal.h"

/* Which devices may send to which, as sorted keys src << 32 | dst: all that the network has to
 * know of the topology. */
struct keys {
	struct arena *a;
	uint64_t *list;
	size_t n, cap, n_sorted; /* list[0 .. n_sorted-1] has no repeats */
};

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void remove_repeats(struct keys *k)
{
	size_t n = 0;
	if (k->n > 0)
		qsort(k->list, k->n, sizeof(*k->list), compare_keys);
	for (size_t i = 0; i < k->n; i++)
		if (n == 0 || k->list[n - 1] != k->list[i])
			k->list[n++] = k->list[i];
	k->n = k->n_sorted = n;
}

static void add(struct keys *k, uint64_t src, uint64_t dst)
{
	if (src == dst)
		return;
	if (k->n == k->cap && k->n > 2 * k->n_sorted)
		remove_repeats(k);
	arena_push(k->a, k->list, k->n, k->cap) = src << 32 | dst;
}

static void add_message(
	struct keys *k, const struct engine *e, uint32_t role, const struct prog_task *t)
{
	uint32_t size = prog_role_size(e->prog, role);
	for (uint32_t i = 0; i < size; i++) {
		uint32_t rank = prog_role_rank(e->prog, role, i);
		add(k, device_of(e, rank), device_of(e, prog_peer_rank(e->prog, rank, &t->peer)));
	}
}

/* The pairs of positions that a schedule uses. */
static void list_positions(struct keys *k, const struct coll_plan *plan)
{
	k->n = k->n_sorted = 0;
	for (uint32_t i = 0; i < plan->schedule.n_steps; i++)
		add(k, plan->schedule.steps[i].src, plan->schedule.steps[i].dst);
	remove_repeats(k);
}

struct use {
	uint32_t group, root;
	const struct coll_plan *plan;
};

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	if (x->plan != y->plan)
		return x->plan->id < y->plan->id ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

static void add_use(
	struct keys *k, const struct engine *e, const struct use *use, const struct keys *positions)
{
	const struct prog *p = e->prog;
	uint32_t n = prog_group_size(p, use->group), n_ranks = e->n_ranks;
	struct arena scratch = {0};
	uint32_t *ranks = arena_array(&scratch, n, uint32_t);
	bool *seen = arena_array(&scratch, prog_group_n_teams(p, use->group), bool);
	for (uint32_t r = 0; r < n_ranks; r++) {
		uint32_t team, position;
		if (!prog_group_place(p, use->group, r, &team, &position) || seen[team])
			continue;
		seen[team] = true;
		prog_group_members(p, use->group, r, ranks);
		for (size_t i = 0; i < positions->n; i++) {
			uint32_t src = (uint32_t)(positions->list[i] >> 32);
			uint32_t dst = (uint32_t)positions->list[i];
			add(k, device_of(e, ranks[(src + use->root) % n]),
				device_of(e, ranks[(dst + use->root) % n]));
		}
		if (p->groups[use->group].dims_mask == 0)
			break;
	}
	arena_free(&scratch);
}

static void add_collectives(struct keys *k, const struct engine *e, struct arena *scratch)
{
	struct use *uses = NULL;
	size_t n = 0, cap = 0;
	for (uint32_t role = 0; role < e->prog->n_roles; role++)
		for (uint32_t i = 0; i < e->tables[role].n_tasks; i++) {
			const struct prog_task *t = &e->tables[role].tasks[i];
			struct use use = {t->group, coll_kind_has_root(t->coll) ? t->root : 0,
				e->tables[role].plan[i]};
			if (t->kind == TASK_COLL)
				arena_push(scratch, uses, n, cap) = use;
		}
	if (n > 0)
		qsort(uses, n, sizeof(*uses), compare_uses);
	struct keys positions = {.a = scratch};
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && compare_uses(&uses[i - 1], &uses[i]) == 0)
			continue;
		if (i == 0 || uses[i - 1].plan != uses[i].plan)
			list_positions(&positions, uses[i].plan);
		add_use(k, e, &uses[i], &positions);
	}
}

struct topo_pair *pairs_build(struct engine *e, uint32_t *n_pairs)
{
	struct arena scratch = {0};
	struct keys k = {.a = &scratch};
	for (uint32_t role = 0; role < e->prog->n_roles; role++)
		for (uint32_t i = 0; i < e->tables[role].n_tasks; i++)
			if (e->tables[role].tasks[i].kind == TASK_SEND)
				add_message(&k, e, role, &e->tables[role].tasks[i]);
	add_collectives(&k, e, &scratch);
	remove_repeats(&k);
	struct topo_pair *pairs = arena_array(&e->a, k.n + 1, struct topo_pair);
	for (size_t i = 0; i < k.n; i++)
		pairs[i] = (struct topo_pair){(uint32_t)(k.list[i] >> 32), (uint32_t)k.list[i]};
	*n_pairs = (uint32_t)k.n;
	arena_free(&scratch);
	return pairs;
}
