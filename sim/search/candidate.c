/* The best designs so far. */
#include <math.h>
#include <string.h>

#include "search/internal.h"

void candidates_init(struct arena *a, struct candidates *c, uint32_t cap)
{
	*c = (struct candidates){.cap = cap};
	c->list = arena_array(a, (size_t)cap + 1, struct candidate);
}

static bool better(const struct candidate *a, const struct candidate *b)
{
	if (a->score != b->score)
		return a->score > b->score;
	if (a->area_mm2 != b->area_mm2)
		return a->area_mm2 < b->area_mm2;
	return design_compare(&a->design, &b->design) < 0;
}

void candidates_add(struct candidates *c, const struct candidate *candidate)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (design_compare(&c->list[i].design, &candidate->design) == 0)
			return;
	}
	uint32_t at = c->n;
	while (at > 0 && better(candidate, &c->list[at - 1]))
		at--;
	memmove(&c->list[at + 1], &c->list[at], (c->n - at) * sizeof(*c->list));
	c->list[at] = *candidate;
	if (c->n < c->cap)
		c->n++;
}

double candidates_worst(const struct candidates *c)
{
	return c->n < c->cap ? -HUGE_VAL : c->list[c->n - 1].score;
}

struct candidate candidate_make(
	struct arena *a, const struct problem *p, const struct design *d, double score)
{
	struct arch arch = design_arch(d, &p->config->base);
	return (struct candidate){
		.design = *d,
		.score = score,
		.area_mm2 = arch_area_mm2(&arch),
		.costs = arena_array(a, p->n_stages, struct stage_cost),
		.known = arena_array(a, p->n_stages, bool),
	};
}
