#include "prog/prog.h"

#include <assert.h>
#include <string.h>

#include "prog/internal.h"

static const char *const kind_names[N_COLL_KINDS] = {
	[COLL_ALLREDUCE] = "allreduce",
	[COLL_ALLGATHER] = "allgather",
	[COLL_REDUCESCATTER] = "reducescatter",
	[COLL_BROADCAST] = "broadcast",
	[COLL_REDUCE] = "reduce",
	[COLL_GATHER] = "gather",
	[COLL_SCATTER] = "scatter",
	[COLL_ALLTOALL] = "alltoall",
	[COLL_BARRIER] = "barrier",
	[COLL_HALO] = "halo",
};

const char *coll_kind_name(enum coll_kind kind)
{
	return kind_names[kind];
}

bool coll_kind_find(const char *name, enum coll_kind *out)
{
	for (unsigned i = 0; i < N_COLL_KINDS; i++)
		if (strcmp(name, kind_names[i]) == 0) {
			*out = (enum coll_kind)i;
			return true;
		}
	return false;
}

bool coll_kind_has_root(enum coll_kind kind)
{
	return kind == COLL_BROADCAST || kind == COLL_REDUCE || kind == COLL_GATHER ||
	       kind == COLL_SCATTER;
}

const char *task_kind_name(enum task_kind kind)
{
	static const char *const names[] = {"compute", "send", "recv", "coll", "wait", "mark"};
	return names[kind];
}

const char *task_phase_name(enum task_phase phase)
{
	static const char *const names[] = {"none", "forward", "backward", "optimizer"};
	return names[phase];
}

uint32_t prog_n_ranks(const struct prog *p)
{
	uint32_t n = 1;
	for (uint32_t d = 0; d < p->grid.n_dims; d++)
		n *= p->grid.sizes[d];
	return n;
}

static uint32_t stride_of(const struct prog_grid *grid, uint32_t dim)
{
	uint32_t stride = 1;
	for (uint32_t d = 0; d < dim; d++)
		stride *= grid->sizes[d];
	return stride;
}

uint32_t prog_coord(const struct prog_grid *grid, uint32_t rank, uint32_t dim)
{
	return rank / stride_of(grid, dim) % grid->sizes[dim];
}

uint32_t prog_role_size(const struct prog *p, uint32_t role)
{
	const struct prog_role *r = &p->roles[role];
	if (r->n_ranks > 0)
		return r->n_ranks;
	uint32_t n = 1;
	for (uint32_t d = 0; d < p->grid.n_dims; d++)
		n *= r->hi[d] - r->lo[d] + 1;
	return n;
}

uint32_t prog_role_rank(const struct prog *p, uint32_t role, uint32_t k)
{
	const struct prog_role *r = &p->roles[role];
	if (r->n_ranks > 0)
		return r->ranks[k];
	uint32_t rank = 0, stride = 1;
	for (uint32_t d = 0; d < p->grid.n_dims; d++) {
		uint32_t width = r->hi[d] - r->lo[d] + 1;
		rank += (r->lo[d] + k % width) * stride;
		k /= width;
		stride *= p->grid.sizes[d];
	}
	return rank;
}

uint32_t *prog_role_map(struct arena *a, const struct prog *p)
{
	uint32_t n = prog_n_ranks(p);
	uint32_t *map = arena_array(a, n, uint32_t);
	for (uint32_t r = 0; r < n; r++)
		map[r] = PROG_NONE;
	for (uint32_t role = 0; role < p->n_roles; role++) {
		uint32_t size = prog_role_size(p, role);
		for (uint32_t k = 0; k < size; k++)
			map[prog_role_rank(p, role, k)] = role;
	}
	return map;
}

static bool role_has(const struct prog *p, const struct prog_role *r, uint32_t rank)
{
	for (uint32_t k = 0; k < r->n_ranks; k++)
		if (r->ranks[k] == rank)
			return true;
	if (r->n_ranks > 0)
		return false;
	for (uint32_t d = 0; d < p->grid.n_dims; d++) {
		uint32_t c = prog_coord(&p->grid, rank, d);
		if (c < r->lo[d] || c > r->hi[d])
			return false;
	}
	return true;
}

uint32_t prog_role_of(const struct prog *p, uint32_t rank)
{
	for (uint32_t role = 0; role < p->n_roles; role++)
		if (role_has(p, &p->roles[role], rank))
			return role;
	return PROG_NONE;
}

uint32_t prog_peer_rank(const struct prog *p, uint32_t rank, const struct prog_peer *peer)
{
	if (peer->dim == PROG_NONE)
		return peer->rank < prog_n_ranks(p) ? peer->rank : PROG_NONE;
	uint32_t stride = stride_of(&p->grid, peer->dim);
	uint32_t size = p->grid.sizes[peer->dim];
	int64_t c = (int64_t)(rank / stride % size) + peer->offset;
	if (c < 0 || c >= (int64_t)size)
		return PROG_NONE;
	return (uint32_t)((int64_t)rank + (int64_t)peer->offset * stride);
}

uint32_t prog_group_size(const struct prog *p, uint32_t group)
{
	const struct prog_group *g = &p->groups[group];
	if (g->dims_mask == 0)
		return g->n_ranks;
	uint32_t n = 1;
	for (uint32_t d = 0; d < p->grid.n_dims; d++)
		if (g->dims_mask >> d & 1)
			n *= p->grid.sizes[d];
	return n;
}

uint32_t prog_group_n_teams(const struct prog *p, uint32_t group)
{
	return p->groups[group].dims_mask == 0 ? 1 : prog_n_ranks(p) / prog_group_size(p, group);
}

bool prog_group_place(
	const struct prog *p, uint32_t group, uint32_t rank, uint32_t *team, uint32_t *position)
{
	const struct prog_group *g = &p->groups[group];
	*team = *position = 0;
	if (g->dims_mask == 0) {
		while (*position < g->n_ranks && g->ranks[*position] != rank)
			++*position;
		return *position < g->n_ranks;
	}
	uint32_t team_stride = 1, stride = 1;
	for (uint32_t d = 0; d < p->grid.n_dims; d++) {
		uint32_t size = p->grid.sizes[d], c = rank % size;
		bool joined = g->dims_mask >> d & 1;
		*(joined ? position : team) += c * (joined ? stride : team_stride);
		*(joined ? &stride : &team_stride) *= size;
		rank /= size;
	}
	return true;
}

uint32_t prog_group_members(const struct prog *p, uint32_t group, uint32_t rank, uint32_t *ranks)
{
	const struct prog_group *g = &p->groups[group];
	uint32_t team, position;
	bool member = prog_group_place(p, group, rank, &team, &position);
	if (g->dims_mask == 0) {
		memcpy(ranks, g->ranks, g->n_ranks * sizeof(*ranks));
		return member ? position : PROG_NONE;
	}
	uint32_t n = 1, stride = 1;
	ranks[0] = rank;
	for (uint32_t d = 0; d < p->grid.n_dims; d++) {
		uint32_t size = p->grid.sizes[d];
		if (g->dims_mask >> d & 1) {
			for (uint32_t i = 0; i < n; i++)
				ranks[i] -= rank / stride % size * stride;
			for (uint32_t i = n; i < n * size; i++)
				ranks[i] = ranks[i - n] + stride;
			n *= size;
		}
		stride *= size;
	}
	return position;
}

bool prog_has_work(const struct prog *p)
{
	for (uint32_t role = 0; role < p->n_roles; role++)
		if (p->roles[role].n_tasks > 0)
			return true;
	return false;
}
