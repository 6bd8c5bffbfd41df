/* Rings that share no link, found in a matrix of links. */
#include <stdlib.h>
#include <string.h>

#include "coll/internal.h"

enum { MAX_RANKS = 32, MAX_VISITS = 1 << 20 };

/* A depth-first search. Rings leave rank 0 one after the other; to take as many as there are, a
 * ring takes the widest link that is left first, and what turned out too greedy is taken back
 * while the budget of visits lasts. */
struct search {
	uint32_t n, n_rings, n_best, most;
	uint32_t widest; /* link */
	uint32_t left[MAX_RANKS][MAX_RANKS];
	uint32_t path[MAX_RANKS * MAX_RANKS], best[MAX_RANKS * MAX_RANKS];
	bool used[MAX_RANKS]; /* by the ring at hand */
	uint32_t visits;
};

static bool extend(struct search *s, uint32_t at);

static bool close_ring(struct search *s, uint32_t last)
{
	if (s->left[last][0] == 0)
		return false;
	s->left[last][0]--;
	s->n_rings++;
	if (s->n_rings > s->n_best) {
		s->n_best = s->n_rings;
		memcpy(s->best, s->path, sizeof(s->best));
	}
	bool outer[MAX_RANKS];
	memcpy(outer, s->used, sizeof(outer));
	memset(s->used, 0, sizeof(s->used));
	bool done = s->n_best == s->most || extend(s, 0);
	memcpy(s->used, outer, sizeof(outer));
	s->n_rings--;
	s->left[last][0]++;
	return done;
}

/* True when the search is over: as many rings as rank 0 has links, or the budget is spent. */
static bool extend(struct search *s, uint32_t at)
{
	uint32_t *ring = s->path + (size_t)s->n_rings * s->n;
	if (s->visits++ > MAX_VISITS)
		return true;
	if (at == s->n)
		return close_ring(s, ring[s->n - 1]);
	if (at == 0) {
		ring[0] = 0;
		s->used[0] = true;
		return extend(s, 1);
	}
	for (uint32_t width = s->widest; width > 0; width--)
		for (uint32_t next = 1; next < s->n; next++) {
			uint32_t *lane = &s->left[ring[at - 1]][next];
			if (s->used[next] || *lane != width)
				continue;
			s->used[next] = true;
			--*lane;
			ring[at] = next;
			bool done = extend(s, at + 1);
			++*lane;
			s->used[next] = false;
			if (done)
				return true;
		}
	return false;
}

/* More lanes than there are ranks are no use. */
static uint32_t limited(uint32_t lanes, uint32_t *widest)
{
	lanes = lanes < MAX_RANKS ? lanes : MAX_RANKS;
	*widest = lanes > *widest ? lanes : *widest;
	return lanes;
}

void coll_find_rings(
	struct arena *a, const uint32_t *lanes, uint32_t n_ranks, struct coll_shape *shape)
{
	shape->n_rings = 0;
	if (n_ranks < 2 || n_ranks > MAX_RANKS)
		return;
	struct search *s = mem_alloc(1, sizeof(*s));
	*s = (struct search){.n = n_ranks};
	for (uint32_t i = 0; i < n_ranks; i++)
		for (uint32_t j = 0; j < n_ranks; j++)
			s->left[i][j] = i == j ? 0 : limited(lanes[i * n_ranks + j], &s->widest);
	for (uint32_t j = 1; j < n_ranks; j++)
		s->most += s->left[0][j];
	s->most = s->most < MAX_RANKS ? s->most : MAX_RANKS;
	if (s->most > 0)
		extend(s, 0);
	uint32_t *rings = arena_array(a, (size_t)s->n_best * n_ranks + 1, uint32_t);
	memcpy(rings, s->best, (size_t)s->n_best * n_ranks * sizeof(*rings));
	shape->rings = rings;
	shape->n_rings = s->n_best;
	free(s);
}
