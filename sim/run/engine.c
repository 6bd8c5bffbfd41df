#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "run/internal.h"

enum { WAKES_TO_STOP = 1024 }; /* config->stop is asked once in as many callbacks */
/* So many callbacks without time advancing can only be a loop: no machine does as much in one
 * instant. */
#define SAME_TIME_MAX (UINT64_C(1) << 30)

uint32_t device_of(const struct engine *e, uint32_t rank)
{
	return e->config->device_of_rank ? e->config->device_of_rank[rank] : rank;
}

const struct prog_task *task_of(const struct engine *e, uint32_t rank, uint32_t task)
{
	return &e->tables[e->ranks[rank].role].tasks[task];
}

void engine_fail(struct engine *e, enum err_kind kind, const char *fmt, ...)
{
	if (e->failure.kind != ERR_NONE)
		return;
	struct text t = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vadd(&t, fmt, ap);
	va_end(ap);
	err_set(&e->failure, kind, "%s", t.data);
	text_free(&t);
}

bool engine_wake(struct engine *e)
{
	tick now = engine_now(e);
	e->guard_n = e->guard_at == now ? e->guard_n + 1 : 0;
	e->guard_at = now;
	if (e->guard_n > SAME_TIME_MAX)
		engine_fail(e, ERR_INTERNAL, "no progress: %llu events without time advancing",
			(unsigned long long)e->guard_n);
	if (e->config->stop && ++e->n_wakes % WAKES_TO_STOP == 0 && e->config->stop())
		engine_fail(e, ERR_ANSWER, "stopped before its end");
	return e->failure.kind == ERR_NONE;
}

static void make_ready(struct engine *e, uint32_t rank, uint32_t task)
{
	arena_push(&e->a, e->ready, e->n_ready, e->cap_ready) =
		(struct ready){.rank = rank, .task = task};
}

static void release(struct engine *e, uint32_t rank, uint32_t task)
{
	uint32_t *left = &e->ranks[rank].left[task];
	assert(*left > 0 && *left < TASK_STARTED);
	if (--*left == 0)
		make_ready(e, rank, task);
}

void task_release_stream(struct engine *e, uint32_t rank, uint32_t task)
{
	uint32_t next = e->tables[e->ranks[rank].role].next[task];
	if (next != PROG_NONE)
		release(e, rank, next);
}

void task_finish(struct engine *e, uint32_t rank, uint32_t task)
{
	struct rank_state *r = &e->ranks[rank];
	const struct role_table *t = &e->tables[r->role];
	assert(r->left[task] == TASK_STARTED);
	r->left[task] = TASK_DONE;
	r->n_done++;
	r->last_done = task;
	r->sums.end = e->end = engine_now(e);
	if (r->ends)
		r->ends[task] = e->end;
	if (e->task_ends)
		e->task_ends[task] = e->end; /* time only grows: the last one stays */
	e->n_done++;
	if (t->tasks[task].kind != TASK_SEND || !t->tasks[task].eager)
		task_release_stream(e, rank, task);
	for (uint32_t k = t->succ_start[task]; k < t->succ_start[task + 1]; k++)
		release(e, rank, t->succ[k]);
}

static void set_busy(struct engine *e, uint32_t rank, const struct prog_task *t, bool busy)
{
	if (t->kind != TASK_COMPUTE || t->stream != 0)
		return;
	account(e, rank);
	e->ranks[rank].busy = busy;
	e->ranks[rank].phase = t->phase;
}

static void lane_over(struct des *des, struct des_event *ev)
{
	struct lane *lane = des_owner(ev, struct lane, ev);
	struct engine *e = lane->e;
	if (!engine_wake(e))
		return;
	set_busy(e, lane->rank, task_of(e, lane->rank, lane->task), false);
	task_finish(e, lane->rank, lane->task);
	engine_drain(e);
}

static void start_timed(struct engine *e, uint32_t rank, uint32_t task, tick duration)
{
	struct lane *lane = &e->ranks[rank].lanes[e->tables[e->ranks[rank].role].lane[task]];
	if (duration == 0) {
		task_finish(e, rank, task);
		return;
	}
	if (duration > TICK_MAX - 1 - engine_now(e)) {
		const struct prog_task *t = task_of(e, rank, task);
		engine_fail(e, ERR_INPUT,
			"%s: the run lasts longer than the 213 days that can be simulated",
			t->place ? t->place : "prog");
		return;
	}
	set_busy(e, rank, task_of(e, rank, task), true);
	*lane = (struct lane){.ev.fire = lane_over, .e = e, .rank = rank, .task = task};
	des_at(e->net->des, &lane->ev, engine_now(e) + duration);
}

tick run_compute_time(const struct run_config *config, uint32_t device, tick duration)
{
	if (!config->compute_ppm)
		return duration;
	u128 scaled = (u128)duration * config->compute_ppm[device];
	u128 rounded = (scaled + 999999) / 1000000;
	return rounded < TICK_MAX ? (tick)rounded : TICK_MAX;
}

static void start_task(struct engine *e, uint32_t rank, uint32_t task)
{
	const struct prog_task *t = task_of(e, rank, task);
	e->ranks[rank].left[task] = TASK_STARTED;
	if (e->ranks[rank].starts)
		e->ranks[rank].starts[task] = engine_now(e);
	switch (t->kind) {
	case TASK_COMPUTE:
		start_timed(e, rank, task,
			run_compute_time(e->config, device_of(e, rank),
				t->cost != PROG_NONE ? e->prog->costs[t->cost].duration
						     : t->duration));
		break;
	case TASK_WAIT:
		start_timed(e, rank, task, t->duration);
		break;
	case TASK_SEND:
		transfer_send(e, rank, task);
		break;
	case TASK_RECV:
		transfer_recv(e, rank, task);
		break;
	case TASK_COLL:
		collective_enter(e, rank, task);
		break;
	case TASK_MARK:
		task_finish(e, rank, task);
		break;
	}
}

/* A queue, not recursion: a chain of tasks that take no time may be long. */
void engine_drain(struct engine *e)
{
	if (e->draining)
		return;
	e->draining = true;
	while (e->first < e->n_ready && e->failure.kind == ERR_NONE) {
		struct ready next = e->ready[e->first++];
		start_task(e, next.rank, next.task);
	}
	e->first = e->n_ready = 0;
	e->draining = false;
}

void engine_start(struct net *net, void *ctx)
{
	struct engine *e = ctx;
	e->net = net;
	for (uint32_t rank = 0; rank < e->n_ranks; rank++) {
		const struct role_table *t = &e->tables[e->ranks[rank].role];
		for (uint32_t i = 0; i < t->n_tasks; i++)
			if (e->ranks[rank].left[i] == 0)
				make_ready(e, rank, i);
	}
	engine_drain(e);
}

bool engine_finish(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	struct engine *e = ctx;
	bool ok = e->failure.kind == ERR_NONE;
	if (!ok)
		*err = e->failure;
	else if (net->des->n_outside > 0)
		ok = err_set(err, ERR_INTERNAL, "the network stopped with %llu messages under way",
			(unsigned long long)net->des->n_outside);
	else if (e->n_done < e->n_tasks)
		ok = explain_deadlock(e, err);
	else
		outcome_write(e, reply);
	collective_free(e);
	return ok;
}
