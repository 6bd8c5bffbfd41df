#include "run/internal.h"

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

static bool same_shape(const struct coll_shape *x, const struct coll_shape *y)
{
	for (uint32_t i = 0; i < x->n_dims && i < y->n_dims; i++)
		if (x->dims[i] != y->dims[i])
			return false;
	return x->n_dims == y->n_dims && x->nodes == y->nodes && x->rings == y->rings;
}

static bool build(struct plans *plans, struct coll_plan *p, struct err *err)
{
	const struct run_config *config = plans->config;
	bool all = p->n_ranks == prog_n_ranks(plans->prog);
	struct coll_call call = {.algo = p->algo,
		.n_ranks = p->n_ranks,
		.bytes = p->bytes,
		.shape = p->shape,
		.chunk_bytes = config->chunk_bytes,
		.counts = all && p->algo->kind == COLL_ALLTOALL ? config->counts : NULL};
	if (!coll_build(plans->a, &call, &p->schedule, err))
		return false;
	index_steps(plans->a, p);
	return true;
}

const struct coll_algo *plan_algo(struct plans *plans, const struct prog_task *t, struct err *err)
{
	const struct coll_algo *algo = plan_pick(plans, t, err);
	uint32_t n_ranks = prog_group_size(plans->prog, t->group);
	if (!algo || coll_fits(algo, n_ranks))
		return algo;
	err_set(err, t->algo ? ERR_INPUT : ERR_USAGE, "%s: %s by %s does not work on %u ranks",
		t->place ? t->place : "prog", coll_kind_name(t->coll), algo->name, n_ranks);
	return NULL;
}

const struct coll_plan *plan_get(struct plans *plans, const struct prog_task *t, struct err *err)
{
	const struct coll_algo *algo = plan_algo(plans, t, err);
	if (!algo)
		return NULL;
	uint32_t n_ranks = prog_group_size(plans->prog, t->group);
	struct coll_shape shape = plan_shape(plans, t->group, algo);
	uint64_t hash = (t->bytes * 31 + n_ranks) * 31 + (uint64_t)t->coll;
	struct coll_plan **bucket = &plans->buckets[(hash ^ hash >> 20) % PLAN_BUCKETS];
	for (struct coll_plan *p = *bucket; p; p = p->next)
		if (p->algo == algo && p->n_ranks == n_ranks && p->bytes == t->bytes &&
			same_shape(&p->shape, &shape))
			return p;
	struct coll_plan *p = arena_new(plans->a, struct coll_plan);
	*p = (struct coll_plan){.id = plans->n++,
		.algo = algo,
		.n_ranks = n_ranks,
		.bytes = t->bytes,
		.shape = shape,
		.next = *bucket};
	if (!build(plans, p, err)) {
		err_prefix(err, "%s: ", t->place ? t->place : "prog");
		return NULL;
	}
	*bucket = p;
	return p;
}
