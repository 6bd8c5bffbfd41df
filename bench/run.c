/* Task and message rate of run_prog() on the closed-form network: a pipeline of 8 stages, 1,024
 * ranks and about a million tasks, with a data-parallel all-reduce at the end.
 * usage: bench_run */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "run/run.h"

enum { TP = 4, DP = 32, PP = 8, MICRO_BATCHES = 166 };

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Receives, computes and passes on; without a neighbour on that side the first or the last is
 * left out. */
static void add_micro_batch(struct prog_builder *b, uint32_t cost, int32_t from, int32_t to)
{
	struct prog_task t = {.kind = TASK_RECV,
		.cost = PROG_NONE,
		.stream = 2,
		.bytes = 1 << 20,
		.tag = cost == 0 ? "forward" : "backward",
		.peer = {.dim = 2, .offset = from}};
	uint32_t after = 0;
	if (from != 0)
		after = prog_add_task(b, &t);
	struct prog_task c = {.kind = TASK_COMPUTE,
		.cost = cost,
		.phase = cost == 0 ? PHASE_FORWARD : PHASE_BACKWARD,
		.after = &after,
		.n_after = from != 0};
	after = prog_add_task(b, &c);
	t.kind = TASK_SEND;
	t.stream = 3;
	t.peer.offset = to;
	t.after = &after;
	t.n_after = 1;
	if (to != 0)
		prog_add_task(b, &t);
}

static uint64_t build(struct arena *a, struct prog *p)
{
	struct prog_grid grid = {.n_dims = 3, .names = {"tp", "dp", "pp"}, .sizes = {TP, DP, PP}};
	struct prog_builder *b = prog_build(a, &grid);
	prog_add_cost(b, "f", 100 * (tick)1000000, 0);
	prog_add_cost(b, "b", 200 * (tick)1000000, 0);
	struct prog_task sync = {.kind = TASK_COLL,
		.cost = PROG_NONE,
		.coll = COLL_ALLREDUCE,
		.group = prog_add_group(b, 2),
		.bytes = 64 << 20};
	for (uint32_t s = 0; s < PP; s++) {
		uint32_t lo[] = {0, 0, s}, hi[] = {TP - 1, DP - 1, s};
		int32_t before = s > 0 ? -1 : 0, behind = s < PP - 1 ? 1 : 0;
		prog_add_role(b, "stage", lo, hi);
		for (uint32_t m = 0; m < MICRO_BATCHES; m++)
			add_micro_batch(b, 0, before, behind);
		for (uint32_t m = 0; m < MICRO_BATCHES; m++)
			add_micro_batch(b, 1, behind, before);
		prog_add_task(b, &sync);
	}
	prog_finish(b, p);
	uint64_t n = 0;
	for (uint32_t role = 0; role < p->n_roles; role++)
		n += (uint64_t)p->roles[role].n_tasks * prog_role_size(p, role);
	return n;
}

int main(void)
{
	struct arena a = {0};
	struct prog p;
	struct topo topo;
	struct run_result r;
	struct err err = {0};
	struct run_config config = {.topo = &topo, .net = NET_ANALYTIC};
	uint64_t n = build(&a, &p);
	double start = cpu_s();
	if (!prog_check(&p, &err) || !topo_parse(&a, "crossbar:1024", &topo, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	double checked = cpu_s();
	if (!run_prog(&a, &p, &config, &r, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	double ran = cpu_s();
	printf("%" PRIu64 " tasks, %" PRIu64 " messages: checked in %.3f s, run in %.3f s, "
	       "%.2f million tasks/s\n",
		n, r.n_messages, checked - start, ran - checked, (double)n / (ran - checked) / 1e6);
	arena_free(&a);
	return 0;
}
