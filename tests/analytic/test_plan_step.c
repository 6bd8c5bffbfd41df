#include <stdio.h>
#include <stdlib.h>

#include "analytic/plan_step.h"
#include "suite.h"

/* A plan of two even stages by hand. */
enum { MICRO = 5, MEBI = 1 << 20 };

static struct plan hand_plan(struct arena *a, uint32_t tp, enum schedule schedule)
{
	struct prog_grid grid = {.n_dims = 3, .names = {"tp", "dp", "pp"}, .sizes = {tp, 1, 2}};
	struct prog_builder *b = prog_build(a, &grid);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t lo[3] = {0, 0, i}, hi[3] = {tp - 1, 0, i};
		prog_add_role(b, i == 0 ? "s0" : "s1", lo, hi);
		for (uint32_t m = 0; m < MICRO && tp > 1; m++)
			prog_add_task(b, &(struct prog_task){.kind = TASK_COLL,
						 .stream = 1,
						 .cost = PROG_NONE,
						 .coll = COLL_ALLREDUCE,
						 .group = prog_add_group(b, 1),
						 .bytes = MEBI});
	}
	struct plan plan = {.stages = arena_array(a, 2, struct stage),
		.n_stages = 2,
		.n_micro_batches = MICRO,
		.schedule = schedule};
	for (uint32_t i = 0; i < 2; i++)
		plan.stages[i] = (struct stage){.forward = 300000000,
			.backward = 600000000,
			.update = 7000000,
			.send_forward_bytes = i == 0 ? MEBI : 0};
	prog_finish(b, &plan.prog);
	return plan;
}

static void test_without_network(void)
{
	struct arena a = {0};
	struct plan plan = hand_plan(&a, 1, SCHEDULE_1F1B);
	struct degrees d = {2, 1, 1, MICRO, 1};
	struct analytic_estimate e = analytic_plan_step(&a, &plan, &d, NULL);
	CU_ASSERT_EQUAL(e.total, UINT64_C(900000000) * (MICRO + 1) + 7000000);
	CU_ASSERT_EQUAL(e.transfer, 0);
	arena_free(&a);
}

/* Messages of 1 MiB over one link of a ring, 1 us and 1 GB/s. */
static void test_transfers(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo ring = {0};
	CU_ASSERT_TRUE_FATAL(topo_parse(&a, "ring:4,bw=1GB/s,lat=1us", &ring, &err));
	struct degrees d = {2, 1, 1, MICRO, 1};
	struct plan plan = hand_plan(&a, 1, SCHEDULE_GPIPE);
	tick hop = 1000000 + UINT64_C(1000) * MEBI;
	struct analytic_estimate e = analytic_plan_step(&a, &plan, &d, &ring);
	CU_ASSERT_EQUAL(e.transfer, 2 * hop);
	plan = hand_plan(&a, 1, SCHEDULE_1F1B);
	e = analytic_plan_step(&a, &plan, &d, &ring);
	CU_ASSERT_EQUAL(e.transfer, 2 * hop + (MICRO - 1) * hop);
	arena_free(&a);
}

/* One all-reduce of 1 MiB over two devices a micro-batch: two steps of half of it. */
static void test_collectives(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo ring = {0};
	CU_ASSERT_TRUE_FATAL(topo_parse(&a, "ring:4,bw=1GB/s,lat=1us", &ring, &err));
	struct degrees d = {2, 2, 1, MICRO, 1};
	struct plan plan = hand_plan(&a, 2, SCHEDULE_GPIPE);
	struct analytic_estimate e = analytic_plan_step(&a, &plan, &d, &ring);
	tick reduce = 2 * (1000000 + UINT64_C(500) * MEBI);
	CU_ASSERT_EQUAL(e.compute, MICRO * (900000000 + reduce));
	CU_ASSERT_EQUAL(e.reduction, 0);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"compute alone without a network", test_without_network},
		{"messages between stages", test_transfers},
		{"collectives inside of stages", test_collectives},
		CU_TEST_INFO_NULL,
	};
	return suite_run("analytic plan step", tests);
}
