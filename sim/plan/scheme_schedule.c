/* An iteration of a scheme as a prog. */
#include "plan/scheme_internal.h"

enum { STREAM_COMPUTE, STREAM_COMM };

static const char *algo_of(const struct scheme_algos *a, enum coll_kind kind)
{
	switch (kind) {
	case COLL_ALLGATHER:
		return a->all_gather ? a->all_gather : "bruck";
	case COLL_ALLREDUCE:
		return a->all_reduce ? a->all_reduce : "rabenseifner";
	case COLL_REDUCESCATTER:
		return a->reduce_scatter ? a->reduce_scatter : "halving";
	case COLL_ALLTOALL:
		return a->all_to_all ? a->all_to_all : "pairwise";
	case COLL_BROADCAST:
	case COLL_REDUCE:
	case COLL_GATHER:
	case COLL_SCATTER:
	case COLL_BARRIER:
	case COLL_HALO:
		break;
	}
	return NULL;
}

static uint32_t dims_of(const struct scheme_emitter *e, uint32_t over)
{
	uint32_t mask = 0, n_group = e->grid.n_dims - 1;
	for (uint32_t i = 0; i < n_group; i++)
		if (over & (UINT32_C(1) << i))
			mask |= UINT32_C(1) << (e->first_dim + i);
	if (over & OVER_REPLICAS)
		mask |= UINT32_C(1) << (e->first_dim > 0 ? 0 : n_group);
	return mask;
}

static uint32_t ranks_of(const struct scheme_emitter *e, uint32_t mask)
{
	uint32_t n = 1;
	for (uint32_t i = 0; i < e->grid.n_dims; i++)
		n *= mask & (UINT32_C(1) << i) ? e->grid.sizes[i] : 1;
	return n;
}

static void add(struct scheme_emitter *e, uint32_t layer, enum iteration_term term,
	const struct prog_task *task)
{
	struct prog_task t = *task;
	uint32_t n_terms = e->n_tasks, n_layers = e->n_tasks;
	t.label = arena_printf(
		e->a, "%s %s", e->q->model->layers[layer].grid.name, iteration_term_name(term));
	t.cost = PROG_NONE;
	t.peer.dim = PROG_NONE;
	t.after = &e->front;
	t.n_after = e->n_tasks > 0 ? 1 : 0;
	arena_push(e->a, e->terms, n_terms, e->cap_terms) = term;
	arena_push(e->a, e->layers, n_layers, e->cap_layers) = layer;
	e->n_tasks++;
	e->front = prog_add_task(e->builder, &t);
}

void scheme_emit(struct scheme_emitter *e, uint32_t layer, const struct scheme_move *m)
{
	uint32_t dims = dims_of(e, m->over);
	if (ranks_of(e, dims) == 1 || m->words == 0)
		return;
	struct prog_task task = {
		.kind = TASK_COLL,
		.stream = STREAM_COMM,
		.coll = m->kind,
		.group = prog_add_group(e->builder, dims),
		.bytes = m->words * e->q->word_bytes,
		.algo = m->algo ? m->algo : algo_of(&e->q->algos, m->kind),
	};
	add(e, layer, m->term, &task);
}

void scheme_emit_compute(struct scheme_emitter *e, uint32_t layer, enum task_phase phase)
{
	const struct grid_times *times = e->q->times;
	if (!times)
		return;
	const struct grid_times *t = &times[layer];
	bool first = e->q->model->layers[layer].grid.first;
	struct prog_task task = {
		.kind = TASK_COMPUTE,
		.phase = phase,
		.stream = STREAM_COMPUTE,
		.duration = phase == PHASE_FORWARD ? t->forward : t->dw + (first ? 0 : t->dx),
	};
	add(e, layer, TERM_COMPUTE, &task);
}

void scheme_emit_gradient(struct scheme_emitter *e, uint32_t layer, uint32_t over, uint32_t parts)
{
	scheme_emit(e, layer,
		&(struct scheme_move){.term = TERM_DW_ALL_REDUCE,
			.kind = COLL_ALLREDUCE,
			.over = over,
			.words = div_ceil(e->q->model->layers[layer].grid.weights, parts)});
}

static void add_replicas(struct prog_grid *g, uint32_t at, uint32_t size)
{
	for (uint32_t i = g->n_dims; i > at; i--) {
		g->names[i] = g->names[i - 1];
		g->sizes[i] = g->sizes[i - 1];
	}
	g->names[at] = "pc";
	g->sizes[at] = size;
	g->n_dims++;
}

static void begin(struct scheme_emitter *e)
{
	uint32_t lo[PROG_MAX_DIMS] = {0}, hi[PROG_MAX_DIMS] = {0};
	e->scheme->dims(e->q, &e->grid);
	e->first_dim = e->q->pc_fastest ? 1 : 0;
	add_replicas(&e->grid, e->q->pc_fastest ? 0 : e->grid.n_dims, e->q->pc);
	for (uint32_t d = 0; d < e->grid.n_dims; d++)
		hi[d] = e->grid.sizes[d] - 1;
	e->builder = prog_build(e->a, &e->grid);
	prog_add_role(e->builder, "all", lo, hi);
}

bool scheme_schedule(struct arena *a, const struct scheme *s, const struct scheme_question *q,
	struct iteration *out, struct err *err)
{
	struct scheme_emitter e = {.scheme = s, .q = q, .a = a};
	uint32_t n = q->model->n_layers;
	if (!scheme_check(s, q, err))
		return false;
	begin(&e);
	for (uint32_t i = 0; i < n; i++)
		s->forward(&e, i);
	for (uint32_t i = n; i-- > 0;)
		s->backward(&e, i);
	if (s->finish)
		s->finish(&e);
	prog_finish(e.builder, &out->prog);
	out->terms = e.terms;
	out->layers = e.layers;
	return true;
}
