#include "run/iteration.h"

#include <assert.h>
#include <stdlib.h>

struct span {
	tick start, end; /* start: of computation only */
	uint32_t task;
	bool computes;
};

static int by_end(const void *va, const void *vb)
{
	const struct span *a = va, *b = vb;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

/* Of (from, to], what lies in no computation. One device computes one thing at a time, so that
 * the computations do not overlap. */
static tick exposed(const struct span *spans, uint32_t n, tick from, tick to)
{
	tick hidden = 0;
	for (uint32_t i = 0; i < n; i++) {
		tick a = spans[i].start > from ? spans[i].start : from;
		tick b = spans[i].end < to ? spans[i].end : to;
		if (spans[i].computes && a < b)
			hidden += b - a;
	}
	return to - from - hidden;
}

static tick duration_of(const struct prog *p, const struct prog_task *t)
{
	return t->cost == PROG_NONE ? t->duration : p->costs[t->cost].duration;
}

static void share_out(
	const struct iteration *it, struct span *spans, uint32_t n, struct iteration_times *out)
{
	tick reached = 0;
	qsort(spans, n, sizeof(*spans), by_end);
	for (uint32_t i = 0; i < n; i++) {
		tick own = spans[i].computes ? spans[i].end - spans[i].start
					     : exposed(spans, n, reached, spans[i].end);
		out->s[it->terms[spans[i].task]] += ticks_to_s(own);
		out->layer_s[it->layers[spans[i].task]] += ticks_to_s(own);
		reached = spans[i].end;
	}
}

bool run_iteration(struct arena *a, const struct iteration *it, const struct run_config *config,
	struct iteration_times *out, struct err *err)
{
	struct run_config own = *config;
	struct run_result run;
	const struct prog_role *role = &it->prog.roles[0];
	*out = (struct iteration_times){0};
	for (uint32_t i = 0; i < role->n_tasks; i++)
		if (it->layers[i] >= out->n_layers)
			out->n_layers = it->layers[i] + 1;
	out->layer_s = arena_array(a, (size_t)out->n_layers + 1, double);
	own.task_ends = true;
	if (!run_prog(a, &it->prog, &own, &run, err))
		return false;
	assert(run.n_task_ends == role->n_tasks);
	struct span *spans = arena_array(a, (size_t)role->n_tasks + 1, struct span);
	for (uint32_t i = 0; i < role->n_tasks; i++) {
		bool computes = role->tasks[i].kind == TASK_COMPUTE;
		tick end = run.task_ends[i], own_time = duration_of(&it->prog, &role->tasks[i]);
		spans[i] = (struct span){.end = end,
			.start = computes && own_time < end ? end - own_time : 0,
			.task = i,
			.computes = computes};
	}
	share_out(it, spans, role->n_tasks, out);
	out->total_s = ticks_to_s(run.end);
	out->folded = run.folded;
	out->exact = run.exact;
	return true;
}
