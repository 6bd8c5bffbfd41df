#include <assert.h>
#include <stdlib.h>

#include "coll/internal.h"

void steps_add(struct steps *s, const struct coll_step *step)
{
	struct coll_step copy = *step;
	copy.round = s->round;
	arena_push(s->a, s->list, s->n, s->cap) = copy;
}

void steps_reserve(struct steps *s, size_t n)
{
	assert(s->n == 0 && n <= UINT32_MAX);
	s->list = arena_array(s->a, n + 1, struct coll_step);
	s->cap = (uint32_t)n;
}

static int compare_steps(const void *a, const void *b)
{
	const struct coll_step *x = a, *y = b;
	if (x->round != y->round)
		return x->round < y->round ? -1 : 1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return (x->dst > y->dst) - (x->dst < y->dst);
}

static bool is_sorted(const struct steps *s)
{
	for (uint32_t i = 1; i < s->n; i++)
		if (compare_steps(&s->list[i - 1], &s->list[i]) > 0)
			return false;
	return true;
}

struct coll_schedule steps_finish(struct steps *s, uint64_t bytes_divisor, uint32_t n_parts)
{
	if (!is_sorted(s))
		qsort(s->list, s->n, sizeof(*s->list), compare_steps);
	return (struct coll_schedule){
		.steps = s->list,
		.n_steps = s->n,
		.n_rounds = s->round,
		.bytes_divisor = bytes_divisor,
		.n_parts = n_parts,
	};
}

bool fits_squared(uint32_t n_ranks)
{
	return n_ranks <= 8192;
}

void steps_ring(struct steps *s, uint32_t n_ranks, uint32_t shift, uint64_t bytes, bool reduce)
{
	for (uint32_t r = 0; r + 1 < n_ranks; r++, s->round++)
		for (uint32_t i = 0; i < n_ranks; i++)
			steps_add(s, &(struct coll_step){
					     .src = i,
					     .dst = (i + 1) % n_ranks,
					     .bytes = bytes,
					     .range = {(i + shift + n_ranks - r) % n_ranks, 1},
					     .reduce = reduce,
				     });
}

uint32_t pow2_floor(uint32_t n)
{
	uint32_t p = 1;
	while (p <= n / 2)
		p *= 2;
	return p;
}

uint32_t log2_ceil(uint32_t n)
{
	uint32_t k = 0;
	while ((UINT64_C(1) << k) < n)
		k++;
	return k;
}

struct fold fold_of(uint32_t n_ranks)
{
	uint32_t p = pow2_floor(n_ranks);
	return (struct fold){.p = p, .n_extra = n_ranks - p};
}

uint32_t fold_rank(const struct fold *f, uint32_t k)
{
	return k < f->n_extra ? 2 * k + 1 : k + f->n_extra;
}

void steps_fold(struct steps *s, const struct fold *f, uint64_t bytes, uint32_t n_parts)
{
	for (uint32_t k = 0; k < f->n_extra; k++)
		steps_add(s, &(struct coll_step){.src = 2 * k,
				     .dst = 2 * k + 1,
				     .bytes = bytes,
				     .range = {0, n_parts},
				     .reduce = true});
	s->round += f->n_extra > 0;
}

void steps_unfold(struct steps *s, const struct fold *f, uint64_t bytes, uint32_t n_parts)
{
	for (uint32_t k = 0; k < f->n_extra; k++)
		steps_add(s, &(struct coll_step){.src = 2 * k + 1,
				     .dst = 2 * k,
				     .bytes = bytes,
				     .range = {0, n_parts}});
	s->round += f->n_extra > 0;
}
