#include "run/internal.h"

static tick *busy_share(struct rank_state *r)
{
	switch (r->phase) {
	case PHASE_FORWARD:
		return &r->sums.forward;
	case PHASE_BACKWARD:
		return &r->sums.backward;
	case PHASE_OPTIMIZER:
		return &r->sums.optimizer;
	case PHASE_NONE:
		return &r->sums.other_compute;
	}
	return &r->sums.other_compute;
}

static tick *idle_share(struct rank_state *r)
{
	if (r->n_under_way[CAUSE_TP] > 0)
		return &r->sums.tp_exposed;
	if (r->n_under_way[CAUSE_DP] > 0)
		return &r->sums.dp_exposed;
	if (r->n_under_way[CAUSE_PP] > 0)
		return &r->sums.pp_exposed;
	return &r->sums.bubble;
}

void account(struct engine *e, uint32_t rank)
{
	struct rank_state *r = &e->ranks[rank];
	tick now = engine_now(e);
	*(r->busy ? busy_share(r) : idle_share(r)) += now - r->since;
	r->since = now;
}

void account_under_way(struct engine *e, uint32_t rank, enum cause cause, int change)
{
	account(e, rank);
	e->ranks[rank].n_under_way[cause] += (uint32_t)change;
}
