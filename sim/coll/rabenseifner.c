#include "coll/internal.h"

/* Rabenseifner, "Optimization of collective reduction operations", 2004: reduce-scatter by
 * halving the vector and the distance, then all-gather by doubling both, or a gather to the root.
 * Other numbers of ranks are folded. */

static struct coll_frame frame_allreduce(const struct coll_call *c)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t rounds = 2 * log2_ceil(f.p) + (f.n_extra > 0 ? 2 : 0);
	return (struct coll_frame){rounds, (uint64_t)rounds * c->n_ranks, f.p, f.p};
}

/* Partners `dist` apart: each gives the half that the other keeps. */
static void halve(const struct coll_call *c, const struct fold *f, uint32_t dist, struct steps *s)
{
	for (uint32_t k = 0; k < f->p; k++)
		steps_add(s, &(struct coll_step){.src = fold_rank(f, k),
				     .dst = fold_rank(f, k ^ dist),
				     .bytes = c->bytes * dist,
				     .range = {(k ^ dist) & ~(dist - 1), dist},
				     .reduce = true});
}

static void allreduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t before = f.n_extra > 0, n_levels = log2_ceil(f.p);
	if (r < before) {
		steps_fold(s, &f, c->bytes * f.p, f.p);
	} else if (r < before + n_levels) {
		halve(c, &f, f.p >> (r - before + 1), s);
	} else if (r == before + 2 * n_levels) {
		steps_unfold(s, &f, c->bytes * f.p, f.p);
	} else {
		uint32_t dist = UINT32_C(1) << (r - before - n_levels);
		for (uint32_t k = 0; k < f.p; k++)
			steps_add(s, &(struct coll_step){.src = fold_rank(&f, k),
					     .dst = fold_rank(&f, k ^ dist),
					     .bytes = c->bytes * dist,
					     .range = {k & ~(dist - 1), dist}});
	}
}

static struct coll_frame frame_reduce(const struct coll_call *c)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t rounds = 2 * log2_ceil(f.p) + (f.n_extra > 0 ? 1 : 0);
	return (struct coll_frame){rounds, (uint64_t)rounds * c->n_ranks, f.p, f.p};
}

/* One place on where ranks are folded, so that the root stays in. */
static void turn(const struct coll_call *c, const struct fold *f, struct steps *s, uint32_t first)
{
	for (uint32_t i = first; f->n_extra > 0 && i < s->n; i++) {
		s->list[i].src = (s->list[i].src + c->n_ranks - 1) % c->n_ranks;
		s->list[i].dst = (s->list[i].dst + c->n_ranks - 1) % c->n_ranks;
	}
}

static void reduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t before = f.n_extra > 0, n_levels = log2_ceil(f.p), first = s->n;
	if (r < before) {
		steps_fold(s, &f, c->bytes * f.p, f.p);
	} else if (r < before + n_levels) {
		halve(c, &f, f.p >> (r - before + 1), s);
	} else {
		uint32_t dist = UINT32_C(1) << (r - before - n_levels);
		for (uint32_t k = dist; k < f.p; k += 2 * dist)
			steps_add(s, &(struct coll_step){.src = fold_rank(&f, k),
					     .dst = fold_rank(&f, k - dist),
					     .bytes = c->bytes * dist,
					     .range = {k, dist}});
	}
	turn(c, &f, s, first);
}

const struct coll_algo coll_allreduce_rabenseifner = {.name = "rabenseifner",
	.kind = COLL_ALLREDUCE,
	.frame = frame_allreduce,
	.round = allreduce};
const struct coll_algo coll_reduce_rabenseifner = {.name = "rabenseifner",
	.kind = COLL_REDUCE,
	.frame = frame_reduce,
	.round = reduce};
