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
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->range.first > y->range.first) - (x->range.first < y->range.first);
}

void steps_sort(struct coll_step *list, size_t n)
{
	size_t i = 1;
	while (i < n && compare_steps(&list[i - 1], &list[i]) <= 0)
		i++;
	if (i < n)
		qsort(list, n, sizeof(*list), compare_steps);
}

bool fits_squared(uint32_t n_ranks)
{
	return n_ranks <= 8192;
}

void steps_ring(struct steps *s, const struct ring_pass *p, uint32_t r)
{
	uint32_t n = p->n_ranks;
	for (uint32_t i = 0; i < n; i++)
		steps_add(s, &(struct coll_step){
				     .src = i,
				     .dst = (i + 1) % n,
				     .bytes = p->bytes,
				     .range = {(i + p->shift + n - r) % n, 1},
				     .reduce = p->reduce,
			     });
}

void steps_tree_level(struct steps *s, const struct tree *t, uint32_t dist)
{
	for (uint32_t i = 0; i + dist < t->n_ranks; i += 2 * dist) {
		uint32_t child = i + dist;
		uint32_t below = dist < t->n_ranks - child ? dist : t->n_ranks - child;
		struct coll_step step = {
			.src = t->first + (t->up ? child : i),
			.dst = t->first + (t->up ? i : child),
			.bytes = t->whole ? t->bytes : t->bytes * below,
			.range = {t->whole ? 0 : child, t->whole ? t->n_parts : below},
			.reduce = t->reduce,
		};
		steps_add(s, &step);
	}
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
}

void steps_unfold(struct steps *s, const struct fold *f, uint64_t bytes, uint32_t n_parts)
{
	for (uint32_t k = 0; k < f->n_extra; k++)
		steps_add(s, &(struct coll_step){.src = 2 * k + 1,
				     .dst = 2 * k,
				     .bytes = bytes,
				     .range = {0, n_parts}});
}
