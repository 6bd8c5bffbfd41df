#include "prog/internal.h"

#include <stdlib.h>

/* Collectives are compared role with role: each role's list of them, group by group, is the same
 * for all its ranks. */
struct colls {
	uint32_t *tasks; /* indices, ascending by (group, index) */
	uint32_t n;
};

struct check {
	const struct prog *p;
	const uint32_t *role_of;
	struct colls *of_role;
	struct err *err;
	uint32_t last[3]; /* the (role, role, group) that was compared last and agreed */
};

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static struct colls list_colls(struct arena *a, const struct prog_role *r)
{
	struct colls c = {0};
	uint64_t *keys = NULL;
	uint32_t cap = 0;
	for (uint32_t i = 0; i < r->n_tasks; i++)
		if (r->tasks[i].kind == TASK_COLL)
			arena_push(a, keys, c.n, cap) = (uint64_t)r->tasks[i].group << 32 | i;
	if (c.n > 0)
		qsort(keys, c.n, sizeof(*keys), by_key);
	c.tasks = arena_array(a, c.n, uint32_t);
	for (uint32_t i = 0; i < c.n; i++)
		c.tasks[i] = (uint32_t)keys[i];
	return c;
}

/* The tasks of `role` on `group`. */
static struct colls on_group(const struct check *c, uint32_t role, uint32_t group)
{
	const struct colls *all = &c->of_role[role];
	const struct prog_task *tasks = c->p->roles[role].tasks;
	uint32_t lo = 0, hi = all->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (tasks[all->tasks[mid]].group < group)
			lo = mid + 1;
		else
			hi = mid;
	}
	struct colls found = {.tasks = all->tasks + lo};
	while (lo + found.n < all->n && tasks[found.tasks[found.n]].group == group)
		found.n++;
	return found;
}

static bool agree(const struct prog_task *x, const struct prog_task *y)
{
	return x->coll == y->coll && x->bytes == y->bytes &&
	       (!coll_kind_has_root(x->coll) || x->root == y->root);
}

static void describe(
	struct text *out, const struct check *c, uint32_t rank, const struct prog_task *t)
{
	uint32_t role = c->role_of[rank];
	text_add(out, "rank %u (role '%s', %s) ", rank, c->p->roles[role].name,
		task_place(c->p, role, t));
	if (!t) {
		text_add(out, "has none");
		return;
	}
	text_add(
		out, "has %s of %llu bytes", coll_kind_name(t->coll), (unsigned long long)t->bytes);
	if (coll_kind_has_root(t->coll))
		text_add(out, " with root %u", t->root);
}

static bool compare(struct check *c, uint32_t group, uint32_t first, uint32_t rank)
{
	uint32_t ra = c->role_of[first], rb = c->role_of[rank];
	if (ra == rb || (c->last[0] == ra && c->last[1] == rb && c->last[2] == group))
		return true;
	struct colls a = on_group(c, ra, group), b = on_group(c, rb, group);
	for (uint32_t i = 0; i < a.n || i < b.n; i++) {
		const struct prog_task *x = i < a.n ? &c->p->roles[ra].tasks[a.tasks[i]] : NULL;
		const struct prog_task *y = i < b.n ? &c->p->roles[rb].tasks[b.tasks[i]] : NULL;
		if (x && y && agree(x, y))
			continue;
		struct text t = {0};
		describe(&t, c, first, x);
		text_add(&t, ", but ");
		describe(&t, c, rank, y);
		err_set(c->err, ERR_ANSWER, "%s: mismatched collective %u of group '%s': %s",
			task_place(c->p, x ? ra : rb, x ? x : y), i + 1, c->p->groups[group].name,
			t.data);
		text_free(&t);
		return false;
	}
	c->last[0] = ra;
	c->last[1] = rb;
	c->last[2] = group;
	return true;
}

static bool check_list_group(struct check *c, uint32_t group)
{
	const struct prog_group *g = &c->p->groups[group];
	for (uint32_t i = 1; i < g->n_ranks; i++)
		if (!compare(c, group, g->ranks[0], g->ranks[i]))
			return false;
	return true;
}

/* The member of rank's team whose joined coordinates are all 0. */
static uint32_t leader(const struct prog *p, uint32_t mask, uint32_t rank)
{
	uint32_t first = rank, stride = 1;
	for (uint32_t d = 0; d < p->grid.n_dims; d++) {
		if (mask >> d & 1)
			first -= rank / stride % p->grid.sizes[d] * stride;
		stride *= p->grid.sizes[d];
	}
	return first;
}

static bool check_dims_group(struct check *c, uint32_t group)
{
	uint32_t n = prog_n_ranks(c->p);
	for (uint32_t r = 0; r < n; r++)
		if (!compare(c, group, leader(c->p, c->p->groups[group].dims_mask, r), r))
			return false;
	return true;
}

bool check_collectives(const struct prog *p, const uint32_t *role_of, struct err *err)
{
	struct arena a = {0};
	struct check c = {.p = p,
		.role_of = role_of,
		.of_role = arena_array(&a, p->n_roles, struct colls),
		.err = err,
		.last = {PROG_NONE}};
	for (uint32_t role = 0; role < p->n_roles; role++)
		c.of_role[role] = list_colls(&a, &p->roles[role]);
	bool ok = true;
	for (uint32_t g = 0; g < p->n_groups && ok; g++)
		ok = p->groups[g].dims_mask == 0 ? check_list_group(&c, g)
						 : check_dims_group(&c, g);
	arena_free(&a);
	return ok;
}
