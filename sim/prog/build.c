#include "prog/internal.h"

#include <assert.h>
#include <string.h>

struct prog_builder *prog_build(struct arena *a, const struct prog_grid *grid)
{
	struct prog_builder *b = arena_new(a, struct prog_builder);
	assert(grid->n_dims >= 1 && grid->n_dims <= PROG_MAX_DIMS);
	b->a = a;
	b->grid.n_dims = grid->n_dims;
	uint64_t n = 1;
	for (uint32_t d = 0; d < grid->n_dims; d++) {
		b->grid.names[d] = arena_strdup(a, grid->names[d]);
		b->grid.sizes[d] = grid->sizes[d];
		n *= grid->sizes[d];
		assert(n >= 1 && n <= PROG_MAX_RANKS);
	}
	return b;
}

const char *build_string(struct prog_builder *b, const char *s)
{
	if (!s)
		return NULL;
	uint32_t i = name_index_put(b->a, &b->strings, s, strlen(s));
	return b->strings.items[i];
}

uint32_t prog_add_cost(struct prog_builder *b, const char *key, tick duration, double energy_j)
{
	uint32_t i = name_index_put(b->a, &b->cost_keys, key, strlen(key));
	if (i == b->n_costs)
		arena_push(b->a, b->costs, b->n_costs, b->cap_costs) = (struct prog_cost){
			.key = b->cost_keys.items[i], .duration = duration, .energy_j = energy_j};
	assert(b->costs[i].duration == duration);
	return i;
}

const char *grid_mask_name(struct arena *a, const struct prog_grid *grid, uint32_t mask)
{
	const char *name = "";
	for (uint32_t d = 0; d < grid->n_dims; d++)
		if (mask >> d & 1)
			name = arena_printf(a, "%s%s%s", name, *name ? "*" : "", grid->names[d]);
	return name;
}

uint32_t prog_add_group(struct prog_builder *b, uint32_t dims_mask)
{
	assert(dims_mask > 0 && dims_mask < UINT32_C(1) << b->grid.n_dims);
	const char *name = grid_mask_name(b->a, &b->grid, dims_mask);
	uint32_t i = name_index_put(b->a, &b->group_names, name, strlen(name));
	if (i == b->n_groups)
		arena_push(b->a, b->groups, b->n_groups, b->cap_groups) = (struct prog_group){
			.name = b->group_names.items[i], .dims_mask = dims_mask};
	return i;
}

static const uint32_t *copy_ranks(struct arena *a, const uint32_t *ranks, uint32_t n)
{
	uint32_t *copy = arena_array(a, n, uint32_t);
	memcpy(copy, ranks, n * sizeof(*copy));
	return copy;
}

uint32_t prog_add_group_list(
	struct prog_builder *b, const char *name, const uint32_t *ranks, uint32_t n_ranks)
{
	assert(n_ranks > 0);
	uint32_t i = name_index_put(b->a, &b->group_names, name, strlen(name));
	if (i == b->n_groups)
		arena_push(b->a, b->groups, b->n_groups, b->cap_groups) =
			(struct prog_group){.name = b->group_names.items[i],
				.ranks = copy_ranks(b->a, ranks, n_ranks),
				.n_ranks = n_ranks};
	assert(b->groups[i].dims_mask == 0 && b->groups[i].n_ranks == n_ranks);
	return i;
}

static struct build_role *open_role(struct prog_builder *b, const char *name)
{
	struct build_role r = {.role.name = arena_strdup(b->a, name)};
	for (uint32_t d = 0; d < b->grid.n_dims; d++)
		r.role.hi[d] = b->grid.sizes[d] - 1;
	arena_push(b->a, b->roles, b->n_roles, b->cap_roles) = r;
	return &b->roles[b->n_roles - 1];
}

void prog_add_role(struct prog_builder *b, const char *name, const uint32_t *lo, const uint32_t *hi)
{
	struct prog_role *r = &open_role(b, name)->role;
	memcpy(r->lo, lo, b->grid.n_dims * sizeof(*lo));
	memcpy(r->hi, hi, b->grid.n_dims * sizeof(*hi));
}

void prog_add_role_list(
	struct prog_builder *b, const char *name, const uint32_t *ranks, uint32_t n_ranks)
{
	assert(n_ranks > 0);
	struct prog_role *r = &open_role(b, name)->role;
	r->ranks = copy_ranks(b->a, ranks, n_ranks);
	r->n_ranks = n_ranks;
}

uint32_t build_put_task(struct prog_builder *b, const struct prog_task *task)
{
	assert(b->n_roles > 0);
	struct build_role *r = &b->roles[b->n_roles - 1];
	struct prog_task t = *task;
	t.tag = build_string(b, t.tag);
	t.label = build_string(b, t.label);
	t.algo = build_string(b, t.algo);
	t.place = build_string(b, t.place);
	arena_push(b->a, r->tasks, r->n_tasks, r->cap_tasks) = t;
	return r->n_tasks - 1;
}

uint32_t prog_add_task(struct prog_builder *b, const struct prog_task *task)
{
	struct prog_task t = *task;
	assert(b->n_roles > 0);
	t.id = b->roles[b->n_roles - 1].n_tasks + 1;
	t.after = t.n_after > 0 ? copy_ranks(b->a, t.after, t.n_after) : NULL;
	return build_put_task(b, &t);
}

void prog_finish(struct prog_builder *b, struct prog *out)
{
	struct prog_role *roles = arena_array(b->a, b->n_roles, struct prog_role);
	for (uint32_t i = 0; i < b->n_roles; i++) {
		roles[i] = b->roles[i].role;
		roles[i].tasks = b->roles[i].tasks;
		roles[i].n_tasks = b->roles[i].n_tasks;
	}
	*out = (struct prog){
		.grid = b->grid,
		.costs = b->costs,
		.n_costs = b->n_costs,
		.groups = b->groups,
		.n_groups = b->n_groups,
		.roles = roles,
		.n_roles = b->n_roles,
	};
}
