#include "prog/internal.h"

#include <stdlib.h>
#include <string.h>

const char *task_place(const struct prog *p, uint32_t role, const struct prog_task *t)
{
	if (t && t->place)
		return t->place;
	if (p->roles[role].place)
		return p->roles[role].place;
	return p->path ? p->path : "prog";
}

/* Sets "place: task ID of role 'NAME': " and the message; returns false. */
static bool bad_task(const struct prog *p, uint32_t role, const struct prog_task *t,
	struct err *err, const char *what)
{
	return err_set(err, ERR_INPUT, "%s: task %u of role '%s': %s", task_place(p, role, t),
		t->id, p->roles[role].name, what);
}

static bool check_grid(const struct prog *p, struct err *err)
{
	const char *path = p->path ? p->path : "prog";
	uint64_t n = 1;
	for (uint32_t d = 0; d < p->grid.n_dims; d++) {
		n *= p->grid.sizes[d];
		if (n == 0 || n > PROG_MAX_RANKS)
			return err_set(err, ERR_INPUT, "%s: the grid must have 1 to %d ranks", path,
				PROG_MAX_RANKS);
	}
	if (p->grid.n_dims == 0 || p->grid.n_dims > PROG_MAX_DIMS)
		return err_set(err, ERR_INPUT, "%s: the grid must have 1 to %d dimensions", path,
			PROG_MAX_DIMS);
	return true;
}

/* Marks the ranks of `g` in `seen`, which holds the number of the last group that had each rank. */
static bool check_group(const struct prog *p, uint32_t g, uint32_t *seen, struct err *err)
{
	const struct prog_group *group = &p->groups[g];
	const char *path = p->path ? p->path : "prog";
	if (group->dims_mask >> p->grid.n_dims != 0 ||
		(group->dims_mask == 0 && group->n_ranks == 0))
		return err_set(err, ERR_INPUT, "%s: group '%s' has no ranks", path, group->name);
	for (uint32_t i = 0; i < group->n_ranks; i++) {
		uint32_t rank = group->ranks[i];
		if (rank >= prog_n_ranks(p))
			return err_set(err, ERR_INPUT,
				"%s: group '%s': rank %u is outside the grid of %u", path,
				group->name, rank, prog_n_ranks(p));
		if (seen[rank] == g + 1)
			return err_set(err, ERR_INPUT, "%s: group '%s' has rank %u twice", path,
				group->name, rank);
		seen[rank] = g + 1;
	}
	return true;
}

static bool check_groups(const struct prog *p, struct err *err)
{
	struct arena a = {0};
	uint32_t *seen = arena_array(&a, prog_n_ranks(p), uint32_t);
	bool ok = true;
	for (uint32_t g = 0; g < p->n_groups && ok; g++)
		ok = check_group(p, g, seen, err);
	arena_free(&a);
	return ok;
}

static bool check_role_ranks(const struct prog *p, uint32_t role, struct err *err)
{
	const struct prog_role *r = &p->roles[role];
	const char *place = task_place(p, role, NULL);
	for (uint32_t d = 0; d < p->grid.n_dims && r->n_ranks == 0; d++)
		if (r->lo[d] > r->hi[d] || r->hi[d] >= p->grid.sizes[d])
			return err_set(err, ERR_INPUT,
				"%s: role '%s': %s=%u..%u is outside the grid, where %s=%u", place,
				r->name, p->grid.names[d], r->lo[d], r->hi[d], p->grid.names[d],
				p->grid.sizes[d]);
	for (uint32_t k = 0; k < r->n_ranks; k++)
		if (r->ranks[k] >= prog_n_ranks(p))
			return err_set(err, ERR_INPUT,
				"%s: role '%s': rank %u is outside the grid of %u", place, r->name,
				r->ranks[k], prog_n_ranks(p));
	return true;
}

/* Every rank has exactly one role. */
static bool check_cover(const struct prog *p, uint32_t *role_of, struct err *err)
{
	uint32_t n = prog_n_ranks(p);
	for (uint32_t r = 0; r < n; r++)
		role_of[r] = PROG_NONE;
	for (uint32_t role = 0; role < p->n_roles; role++) {
		uint32_t size = prog_role_size(p, role);
		for (uint32_t k = 0; k < size; k++) {
			uint32_t rank = prog_role_rank(p, role, k);
			if (role_of[rank] != PROG_NONE)
				return err_set(err, ERR_INPUT,
					"%s: rank %u has two roles: '%s' (%s) and '%s'",
					task_place(p, role, NULL), rank,
					p->roles[role_of[rank]].name,
					task_place(p, role_of[rank], NULL), p->roles[role].name);
			role_of[rank] = role;
		}
	}
	for (uint32_t r = 0; r < n; r++)
		if (role_of[r] == PROG_NONE)
			return err_set(err, ERR_INPUT, "%s: rank %u has no role",
				p->path ? p->path : "prog", r);
	return true;
}

static bool check_peer(
	const struct prog *p, uint32_t role, const struct prog_task *t, struct err *err)
{
	const struct prog_peer *peer = &t->peer;
	const struct prog_role *r = &p->roles[role];
	if (peer->dim == PROG_NONE && peer->rank < prog_n_ranks(p))
		return true;
	if (peer->dim != PROG_NONE && peer->dim >= p->grid.n_dims)
		return bad_task(p, role, t, err, "its peer's dimension does not exist");
	if (peer->dim == PROG_NONE)
		return err_set(err, ERR_INPUT,
			"%s: task %u of role '%s': no rank %u in a grid of %u",
			task_place(p, role, t), t->id, r->name, peer->rank, prog_n_ranks(p));
	uint32_t size = prog_role_size(p, role), bad = PROG_NONE;
	if (r->n_ranks == 0) {
		int64_t low = (int64_t)r->lo[peer->dim] + peer->offset;
		int64_t high = (int64_t)r->hi[peer->dim] + peer->offset;
		if (low >= 0 && high < (int64_t)p->grid.sizes[peer->dim])
			return true;
	}
	for (uint32_t k = 0; k < size && bad == PROG_NONE; k++)
		if (prog_peer_rank(p, prog_role_rank(p, role, k), peer) == PROG_NONE)
			bad = prog_role_rank(p, role, k);
	if (bad == PROG_NONE)
		return true;
	return err_set(err, ERR_INPUT,
		"%s: task %u of role '%s': rank %u has no peer %s%+d in the grid, where %s=%u",
		task_place(p, role, t), t->id, r->name, bad, p->grid.names[peer->dim],
		(int)peer->offset, p->grid.names[peer->dim], p->grid.sizes[peer->dim]);
}

/* Every rank of the role is a member. */
static bool check_membership(
	const struct prog *p, uint32_t role, const struct prog_task *t, struct err *err)
{
	uint32_t size = p->groups[t->group].dims_mask == 0 ? prog_role_size(p, role) : 0;
	for (uint32_t k = 0; k < size; k++) {
		uint32_t rank = prog_role_rank(p, role, k), team, position;
		if (!prog_group_place(p, t->group, rank, &team, &position))
			return err_set(err, ERR_INPUT,
				"%s: task %u of role '%s': rank %u is not in group '%s'",
				task_place(p, role, t), t->id, p->roles[role].name, rank,
				p->groups[t->group].name);
	}
	return true;
}

static bool check_coll(
	const struct prog *p, uint32_t role, const struct prog_task *t, struct err *err)
{
	if (t->group >= p->n_groups)
		return bad_task(p, role, t, err, "its group does not exist");
	if (coll_kind_has_root(t->coll) && t->root >= prog_group_size(p, t->group))
		return bad_task(p, role, t, err, "its root is not in the group");
	return check_membership(p, role, t, err);
}

static bool check_task(
	const struct prog *p, uint32_t role, const struct prog_task *t, struct err *err)
{
	if (t->bytes > PROG_MAX_BYTES)
		return bad_task(p, role, t, err, "more than 64 TiB");
	for (uint32_t i = 0; i < t->n_after; i++)
		if (t->after[i] >= p->roles[role].n_tasks)
			return bad_task(p, role, t, err, "comes after a task that does not exist");
	switch (t->kind) {
	case TASK_COMPUTE:
		if (t->cost != PROG_NONE && t->cost >= p->n_costs)
			return bad_task(p, role, t, err, "its cost does not exist");
		return true;
	case TASK_SEND:
	case TASK_RECV:
		return check_peer(p, role, t, err);
	case TASK_COLL:
		return check_coll(p, role, t, err);
	case TASK_WAIT:
	case TASK_MARK:
		return true;
	}
	return bad_task(p, role, t, err, "of no known kind");
}

static bool check_form(const struct prog *p, uint32_t *role_of, struct err *err)
{
	if (!check_groups(p, err))
		return false;
	for (uint32_t role = 0; role < p->n_roles; role++)
		if (!check_role_ranks(p, role, err))
			return false;
	if (!check_cover(p, role_of, err))
		return false;
	for (uint32_t role = 0; role < p->n_roles; role++) {
		const struct prog_role *r = &p->roles[role];
		for (uint32_t i = 0; i < r->n_tasks; i++)
			if (!check_task(p, role, &r->tasks[i], err))
				return false;
		if (!check_order(p, role, err))
			return false;
	}
	return true;
}

bool prog_check_form(const struct prog *p, struct err *err)
{
	if (!check_grid(p, err))
		return false;
	struct arena a = {0};
	bool ok = check_form(p, arena_array(&a, prog_n_ranks(p), uint32_t), err);
	arena_free(&a);
	return ok;
}

bool prog_check(const struct prog *p, struct err *err)
{
	if (!check_grid(p, err))
		return false;
	struct arena a = {0};
	uint32_t *role_of = arena_array(&a, prog_n_ranks(p), uint32_t);
	bool ok = check_form(p, role_of, err) && check_messages(p, role_of, err) &&
		  check_collectives(p, role_of, err);
	arena_free(&a);
	return ok;
}
