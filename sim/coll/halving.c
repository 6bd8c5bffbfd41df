#include "coll/internal.h"

/* Recursive halving (Thakur, Rabenseifner and Gropp, 2005): partners give each other the half
 * that the other keeps. Of other numbers of ranks than powers of two the even ones of the first
 * are folded into their neighbours, which keep the parts of both and hand one back at the end. A
 * half is counted as half of the bytes, also where its parts are not half of all. */

/* The divisor is p times this, so that bytes / n can be said as exactly as 64 bits allow. */
static uint64_t scale_of(const struct coll_call *c, const struct fold *f)
{
	bool room = c->bytes <= UINT64_MAX / f->p / c->n_ranks;
	return f->n_extra > 0 && room ? c->n_ranks : 1;
}

static struct coll_frame frame(const struct coll_call *c)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t rounds = log2_ceil(f.p) + (f.n_extra > 0 ? 2 : 0);
	return (struct coll_frame){
		rounds, (uint64_t)rounds * c->n_ranks, f.p * scale_of(c, &f), c->n_ranks};
}

/* The first part of those that the players from k on keep. */
static uint32_t first_part(const struct fold *f, uint32_t k)
{
	return k < f->n_extra ? 2 * k : k + f->n_extra;
}

static void hand_back(const struct coll_call *c, const struct fold *f, struct steps *s)
{
	uint64_t bytes = (uint64_t)((u128)c->bytes * f->p * scale_of(c, f) / c->n_ranks);
	for (uint32_t k = 0; k < f->n_extra; k++)
		steps_add(s, &(struct coll_step){.src = 2 * k + 1,
				     .dst = 2 * k,
				     .bytes = bytes,
				     .range = {2 * k, 1}});
}

static void reducescatter(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct fold f = fold_of(c->n_ranks);
	uint32_t before = f.n_extra > 0, n_levels = log2_ceil(f.p);
	uint64_t scale = scale_of(c, &f);
	if (r < before) {
		steps_fold(s, &f, c->bytes * f.p * scale, c->n_ranks);
		return;
	}
	if (r == before + n_levels) {
		hand_back(c, &f, s);
		return;
	}
	uint32_t dist = f.p >> (r - before + 1);
	for (uint32_t k = 0; k < f.p; k++) {
		uint32_t other = (k ^ dist) & ~(dist - 1), lo = first_part(&f, other);
		steps_add(s, &(struct coll_step){.src = fold_rank(&f, k),
				     .dst = fold_rank(&f, k ^ dist),
				     .bytes = c->bytes * dist * scale,
				     .range = {lo, first_part(&f, other + dist) - lo},
				     .reduce = true});
	}
}

const struct coll_algo coll_reducescatter_halving = {.name = "halving",
	.kind = COLL_REDUCESCATTER,
	.frame = frame,
	.round = reducescatter};
