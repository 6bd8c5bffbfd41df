#include "plan/internal.h"

/* Streams of a device. */
enum stream {
	STREAM_COMPUTE,
	STREAM_TP,
	STREAM_FORWARD_SEND,
	STREAM_FORWARD_RECV,
	STREAM_BACKWARD_SEND,
	STREAM_BACKWARD_RECV,
	STREAM_DP,
};

enum { DIM_TP, DIM_DP, DIM_PP, N_DIMS };

/* A stage while its tasks are written. */
struct emitter {
	struct prog_builder *builder;
	struct arena *a; /* scratch */
	const struct plan *plan;
	uint32_t stage;
	const struct stage_costs *costs;
	uint32_t *cost_of; /* by step: forward then backward, two each (cost, late) */
	uint32_t update_cost;
	/* What the next task has to wait for. */
	uint32_t *front;
	uint32_t n_front, cap_front;
	uint32_t last_compute; /* PROG_NONE before the first */
};

static void front_push(struct emitter *e, uint32_t task)
{
	for (uint32_t i = 0; i < e->n_front; i++)
		if (e->front[i] == task)
			return;
	arena_push(e->a, e->front, e->n_front, e->cap_front) = task;
}

/* Adds a task that waits for the front. */
static uint32_t add_task(struct emitter *e, struct prog_task task)
{
	task.after = e->front;
	task.n_after = e->n_front;
	return prog_add_task(e->builder, &task);
}

static const char *micro_name(struct emitter *e, char letter, uint32_t micro_batch)
{
	return arena_printf(e->a, "%c%u", letter, (unsigned)micro_batch);
}

static uint32_t add_compute(struct emitter *e, uint32_t cost, struct turn turn)
{
	e->last_compute = add_task(
		e, (struct prog_task){
			   .kind = TASK_COMPUTE,
			   .phase = turn.backward ? PHASE_BACKWARD : PHASE_FORWARD,
			   .stream = STREAM_COMPUTE,
			   .cost = cost,
			   .label = micro_name(e, turn.backward ? 'b' : 'f', turn.micro_batch),
		   });
	return e->last_compute;
}

static enum coll_kind coll_of(enum link_kind kind)
{
	switch (kind) {
	case LINK_ALLREDUCE:
		return COLL_ALLREDUCE;
	case LINK_ALLGATHER:
		return COLL_ALLGATHER;
	case LINK_REDUCESCATTER:
		return COLL_REDUCESCATTER;
	}
	return COLL_ALLREDUCE;
}

static void emit_collectives(struct emitter *e, const struct step *step)
{
	uint32_t group = prog_add_group(e->builder, 1u << DIM_TP);
	uint32_t first = 0;
	for (uint32_t c = 0; c < step->n_colls; c++) {
		uint32_t task = add_task(e, (struct prog_task){
						    .kind = TASK_COLL,
						    .stream = STREAM_TP,
						    .cost = PROG_NONE,
						    .bytes = step->colls[c].bytes,
						    .coll = coll_of(step->colls[c].kind),
						    .group = group,
					    });
		first = c == 0 ? task : first;
	}
	e->n_front = 0;
	for (uint32_t c = 0; c < step->n_colls; c++)
		front_push(e, first + c);
}

/* Late weight gradients stand before the collectives in the list but share no stream with them:
 * both start when the segment ends. */
static void emit_step(
	struct emitter *e, const struct step *step, const uint32_t *costs, struct turn turn)
{
	if (step->computes) {
		uint32_t task = add_compute(e, costs[0], turn);
		e->n_front = 0;
		front_push(e, task);
	}
	if (step->is_late)
		add_compute(e, costs[1], turn);
	if (step->n_colls > 0)
		emit_collectives(e, step);
}

static void emit_receive(struct emitter *e, struct turn turn)
{
	bool first = e->stage == 0, last = e->stage + 1 == e->plan->n_stages;
	/* A last stage turns around: its backward pass waits for its forward pass. */
	if (turn.backward && last)
		return;
	e->n_front = 0;
	if (!turn.backward && first)
		return;
	uint64_t bytes = e->plan->stages[e->stage - (turn.backward ? 0 : 1)].send_forward_bytes;
	uint32_t task = prog_add_task(e->builder,
		&(struct prog_task){
			.kind = TASK_RECV,
			.stream = turn.backward ? STREAM_BACKWARD_RECV : STREAM_FORWARD_RECV,
			.cost = PROG_NONE,
			.bytes = bytes,
			.peer = {.dim = DIM_PP, .offset = turn.backward ? 1 : -1},
			.tag = micro_name(e, turn.backward ? 'b' : 'f', turn.micro_batch),
		});
	front_push(e, task);
}

static void emit_send(struct emitter *e, struct turn turn)
{
	bool first = e->stage == 0, last = e->stage + 1 == e->plan->n_stages;
	if (turn.backward ? first : last)
		return;
	uint64_t bytes = e->plan->stages[e->stage - (turn.backward ? 1 : 0)].send_forward_bytes;
	add_task(e, (struct prog_task){
			    .kind = TASK_SEND,
			    .stream = turn.backward ? STREAM_BACKWARD_SEND : STREAM_FORWARD_SEND,
			    .cost = PROG_NONE,
			    .bytes = bytes,
			    .peer = {.dim = DIM_PP, .offset = turn.backward ? -1 : 1},
			    .tag = micro_name(e, turn.backward ? 'b' : 'f', turn.micro_batch),
		    });
}

static void emit_turn(struct emitter *e, struct turn turn)
{
	const struct priced_pass *pass = turn.backward ? &e->costs->backward : &e->costs->forward;
	const uint32_t *costs = e->cost_of + (turn.backward ? 2 * e->costs->forward.n_steps : 0);
	emit_receive(e, turn);
	for (uint32_t i = 0; i < pass->n_steps; i++)
		emit_step(e, &pass->steps[i], costs + 2 * (size_t)i, turn);
	emit_send(e, turn);
}

/* Gradient reduction and optimizer, after everything. */
static void emit_update(struct emitter *e, const struct degrees *d)
{
	uint64_t bytes = e->plan->stages[e->stage].gradient_bytes;
	if (e->last_compute != PROG_NONE)
		front_push(e, e->last_compute);
	if (d->dp > 1 && bytes > 0) {
		uint32_t task =
			add_task(e, (struct prog_task){
					    .kind = TASK_COLL,
					    .stream = STREAM_DP,
					    .cost = PROG_NONE,
					    .bytes = bytes,
					    .coll = COLL_ALLREDUCE,
					    .group = prog_add_group(e->builder, 1u << DIM_DP),
				    });
		e->n_front = 0;
		front_push(e, task);
	}
	if (e->costs->updates)
		add_task(e, (struct prog_task){
				    .kind = TASK_COMPUTE,
				    .phase = PHASE_OPTIMIZER,
				    .stream = STREAM_COMPUTE,
				    .cost = e->update_cost,
				    .label = "update",
			    });
}

static uint32_t add_cost(
	struct emitter *e, const char *pass, uint32_t number, const struct price *price)
{
	const char *key =
		arena_printf(e->a, "s%u.%s.%u", (unsigned)e->stage, pass, (unsigned)number);
	return prog_add_cost(e->builder, key, price->duration, price->energy_j);
}

static void add_pass_costs(struct emitter *e, const struct priced_pass *pass, uint32_t *out)
{
	for (uint32_t i = 0; i < pass->n_steps; i++) {
		const struct step *s = &pass->steps[i];
		if (s->computes)
			out[2 * (size_t)i] = add_cost(e, s->pass, s->number, &s->cost);
		if (s->is_late)
			out[2 * (size_t)i + 1] = add_cost(e, "dw", s->number, &s->late);
	}
}

static void add_costs(struct emitter *e)
{
	size_t n_forward = e->costs->forward.n_steps, n_backward = e->costs->backward.n_steps;
	e->cost_of = arena_array(e->a, 2 * (n_forward + n_backward), uint32_t);
	add_pass_costs(e, &e->costs->forward, e->cost_of);
	add_pass_costs(e, &e->costs->backward, e->cost_of + 2 * n_forward);
	const char *key = arena_printf(e->a, "s%u.upd", (unsigned)e->stage);
	if (e->costs->updates)
		e->update_cost = prog_add_cost(
			e->builder, key, e->costs->update.duration, e->costs->update.energy_j);
}

static void emit_stage(struct prog_builder *builder, const struct plan *plan, uint32_t stage,
	const struct stage_costs *costs, const struct degrees *d)
{
	struct arena scratch = {0};
	struct emitter e = {
		.builder = builder,
		.a = &scratch,
		.plan = plan,
		.stage = stage,
		.costs = costs,
		.last_compute = PROG_NONE,
	};
	const uint32_t lo[N_DIMS] = {0, 0, stage}, hi[N_DIMS] = {d->tp - 1, d->dp - 1, stage};
	prog_add_role(builder, arena_printf(&scratch, "s%u", (unsigned)stage), lo, hi);
	add_costs(&e);
	for (uint32_t k = 0; k < 2 * plan->n_micro_batches; k++)
		emit_turn(&e, schedule_turn(plan->schedule, stage, plan->n_stages,
				      plan->n_micro_batches, k));
	emit_update(&e, d);
	arena_free(&scratch);
}

void plan_emit(struct arena *a, struct plan *plan, const struct stage_costs *costs,
	const struct degrees *d)
{
	struct prog_grid grid = {
		.n_dims = N_DIMS,
		.names = {"tp", "dp", "pp"},
		.sizes = {d->tp, d->dp, d->pp},
	};
	struct prog_builder *builder = prog_build(a, &grid);
	for (uint32_t i = 0; i < plan->n_stages; i++)
		emit_stage(builder, plan, i, &costs[i], d);
	prog_finish(builder, &plan->prog);
}

static uint64_t count_pass(const struct priced_pass *pass)
{
	uint64_t n = 2; /* receive and send */
	for (uint32_t i = 0; i < pass->n_steps; i++)
		n += UINT64_C(2) + pass->steps[i].n_colls;
	return n;
}

uint64_t plan_count_tasks(const struct plan *plan, const struct stage_costs *costs)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < plan->n_stages; i++)
		n += plan->n_micro_batches *
			     (count_pass(&costs[i].forward) + count_pass(&costs[i].backward)) +
		     2;
	return n;
}
