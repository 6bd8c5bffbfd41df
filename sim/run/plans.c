#include "run/internal.h"

static const struct coll_algo *choose(
	const struct prog_task *t, const struct coll_choice *choice, struct err *err)
{
	const struct coll_algo *chosen = choice->algo[t->coll];
	if (!t->algo && chosen)
		return chosen;
	const struct coll_algo *algo = coll_get(t->coll, t->algo, err);
	if (!algo) {
		err->kind = ERR_INPUT;
		err_prefix(err, "%s: ", t->place ? t->place : "prog");
	}
	return algo;
}

/* Counting sort of the steps by position; their order by round stays. */
static void index_steps(struct arena *a, struct coll_plan *plan)
{
	const struct coll_schedule *s = &plan->schedule;
	uint32_t n = plan->n_ranks;
	plan->start = arena_array(a, (size_t)n + 2, uint32_t);
	plan->steps = arena_array(a, 2 * (size_t)s->n_steps + 1, uint32_t);
	for (uint32_t i = 0; i < s->n_steps; i++) {
		plan->start[s->steps[i].src + 2]++;
		plan->start[s->steps[i].dst + 2]++;
	}
	for (uint32_t k = 2; k < n + 2; k++)
		plan->start[k] += plan->start[k - 1];
	for (uint32_t i = 0; i < s->n_steps; i++) {
		plan->steps[plan->start[s->steps[i].src + 1]++] = i;
		plan->steps[plan->start[s->steps[i].dst + 1]++] = i;
	}
}

const struct coll_plan *plan_get(struct plans *plans, const struct prog_task *t, uint32_t n_ranks,
	const struct coll_choice *choice, struct err *err)
{
	const struct coll_algo *algo = choose(t, choice, err);
	if (!algo)
		return NULL;
	if (algo->fits && !algo->fits(n_ranks)) {
		err_set(err, t->algo ? ERR_INPUT : ERR_USAGE,
			"%s: %s by %s does not work on %u ranks", t->place ? t->place : "prog",
			coll_kind_name(t->coll), algo->name, n_ranks);
		return NULL;
	}
	uint64_t hash = (t->bytes * 31 + n_ranks) * 31 + (uint64_t)t->coll;
	struct coll_plan **bucket = &plans->buckets[(hash ^ hash >> 20) % PLAN_BUCKETS];
	for (struct coll_plan *p = *bucket; p; p = p->next)
		if (p->algo == algo && p->n_ranks == n_ranks && p->bytes == t->bytes)
			return p;
	struct coll_plan *p = arena_new(plans->a, struct coll_plan);
	*p = (struct coll_plan){.id = plans->n++,
		.algo = algo,
		.n_ranks = n_ranks,
		.bytes = t->bytes,
		.schedule = algo->build(plans->a, n_ranks, t->bytes),
		.next = *bucket};
	index_steps(plans->a, p);
	*bucket = p;
	return p;
}
