#include "device/device.h"

#include "make.h"
#include "suite.h"

static const struct device_options plain = {.link = {.ranks = 4, .bytes_per_s = 1000000000000}};

static struct device_result run(struct arena *a, const struct arch *arch, const struct graph *g)
{
	struct device_result r;
	struct graph_part ops = make_part(a, g, g->n_ops);
	device_run(a, arch, &ops, &plain, &r);
	return r;
}

static void one_operator_is_the_closed_form(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	arch.launch_overhead = 5000;
	arch.hbm_latency = 700;
	struct graph g = make_graph(&a, 1);
	make_gemm(&g.ops[0], 100, 100, 100);
	/* 7 x 7 folds of 100 + 2 x 16 + 16 - 2 cycles of 1000 ticks, each a step; a byte takes a
	 * tick. A seventh of a and a 49th of b come first, a seventh of c goes last. */
	const tick first = 2858 + 409, last = 2858;
	struct device_result r = run(&a, &arch, &g);
	CU_ASSERT_EQUAL(r.makespan, 5000 + 700 + first + 49 * 146 * 1000 + last);
	CU_ASSERT_EQUAL(r.critical_path, r.makespan);
	CU_ASSERT_EQUAL(r.tc_busy, r.makespan);
	CU_ASSERT_EQUAL(r.vc_busy, 0);
	CU_ASSERT_EQUAL(r.runs[0].tc, 0);
	CU_ASSERT_EQUAL(r.runs[0].vc, UINT32_MAX);
	CU_ASSERT_EQUAL(r.runs[0].memory_stall, 700 + first + last);
	CU_ASSERT_EQUAL(r.times[0].overhead, 5000);
	CU_ASSERT_EQUAL(r.times[0].compute, 49 * 146 * 1000);
	CU_ASSERT_EQUAL(r.times[0].fill, 700 + first + last);
	CU_ASSERT_EQUAL(r.times[0].memory, 0);
	CU_ASSERT_FALSE(r.runs[0].conflict);
	CU_ASSERT_EQUAL(r.dram_bytes, 60000);
	CU_ASSERT_EQUAL(r.macs, 1000000);
	CU_ASSERT_DOUBLE_EQUAL(r.energy_j,
		arch_op_energy_j(&arch, &r.costs[0]) + arch_idle_w(&arch) * ticks_to_s(r.makespan),
		1e-15);

	make_vector(&a, &g.ops[0], 10, 12345678);
	r = run(&a, &arch, &g);
	/* 189 chunks; the last is computed when all has come */
	CU_ASSERT_EQUAL(r.makespan, 5000 + 700 + 12345678 + 53);
	CU_ASSERT_EQUAL(r.runs[0].memory_stall, 700 + 12345678 + 53 - 10000);
	CU_ASSERT_EQUAL(r.times[0].fill, 700 + 65322);
	arena_free(&a);
}

static void near(tick value, tick expected)
{
	CU_ASSERT_TRUE(value + 2 >= expected && value <= expected + 2);
}

/* 1 TB/s is one byte per tick. An operator of a cycle computes its last chunk when all is there:
 * 1000 ticks over 16 chunks of the million, over 46 of three. */
static void memory_is_shared_fairly(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	arch.vc_count = 3;
	struct graph g = make_graph(&a, 2);
	make_vector(&a, &g.ops[0], 1, 1000000);
	make_vector(&a, &g.ops[1], 1, 3000000);
	struct device_result r = run(&a, &arch, &g);
	near(r.runs[0].end, 2000000); /* at half the bandwidth */
	near(r.runs[1].end, 4000015); /* all bytes at its full speed */
	near(device_contention(&r, 0), 2000000 - 1000063);

	/* A quarter of the bandwidth is less than the equal share: no delay; the other one gets the
	 * rest. 62,500 bytes come before there is anything to compute. */
	make_vector(&a, &g.ops[0], 4000, 1000000);
	r = run(&a, &arch, &g);
	CU_ASSERT_EQUAL(r.runs[0].end, 4062500);
	near(r.runs[1].end, UINT64_C(3000000) * 4062500 / 3062500);
	CU_ASSERT_EQUAL(r.runs[0].memory_stall, 62500);
	CU_ASSERT_EQUAL(device_contention(&r, 0), 0);

	/* Three: a tenth as it asks, the others half of the rest each. */
	g = make_graph(&a, 3);
	make_vector(&a, &g.ops[0], 10000, 1000000);
	make_vector(&a, &g.ops[1], 1, 900000);
	make_vector(&a, &g.ops[2], 1, 900000);
	r = run(&a, &arch, &g);
	CU_ASSERT_EQUAL(r.runs[0].end, 10062500);
	near(r.runs[1].end, UINT64_C(1800000) * 10062500 / 9062500);
	CU_ASSERT_EQUAL(r.runs[1].end, r.runs[2].end);
	arena_free(&a);
}

static void start_order_is_by_mobility(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	struct graph g = make_graph(&a, 4);
	make_vector(&a, &g.ops[0], 10, 0);
	make_vector(&a, &g.ops[1], 20, 0);
	make_vector(&a, &g.ops[2], 20, 0);
	make_vector(&a, &g.ops[3], 30, 0);
	make_preds(&a, &g.ops[3], (op_id[]){2}, 1);
	struct device_result r = run(&a, &arch, &g);
	/* mobilities 40, 30, 0, 0 */
	CU_ASSERT_EQUAL(r.runs[2].start, 0);
	CU_ASSERT_EQUAL(r.runs[3].start, 20000);
	CU_ASSERT_EQUAL(r.runs[1].start, 50000);
	CU_ASSERT_EQUAL(r.runs[0].start, 70000);
	CU_ASSERT_TRUE(r.runs[0].conflict && r.runs[1].conflict);
	CU_ASSERT_FALSE(r.runs[3].conflict);
	CU_ASSERT_EQUAL(r.critical_path, 50000);
	CU_ASSERT_EQUAL(r.makespan, 80000);
	arena_free(&a);
}

static void what_ends_together_is_seen_together(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	arch.vc_count = 2;
	struct graph g = make_graph(&a, 5);
	make_vector(&a, &g.ops[0], 10, 0);
	make_vector(&a, &g.ops[1], 10, 0);
	make_vector(&a, &g.ops[2], 5, 0);
	make_vector(&a, &g.ops[3], 50, 0);
	make_vector(&a, &g.ops[4], 40, 0);
	make_preds(&a, &g.ops[2], (op_id[]){0}, 1);
	make_preds(&a, &g.ops[3], (op_id[]){1}, 1);
	make_preds(&a, &g.ops[4], (op_id[]){0, 1}, 2);
	struct device_result r = run(&a, &arch, &g);
	CU_ASSERT_EQUAL(r.runs[3].start, 10000);
	CU_ASSERT_EQUAL(r.runs[4].start, 10000);
	CU_ASSERT_EQUAL(r.runs[2].start, 50000);
	arena_free(&a);
}

static void annotation_is_whams(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	struct graph g = make_graph(&a, 5);
	make_vector(&a, &g.ops[0], 10, 0);
	make_vector(&a, &g.ops[1], 20, 0);
	make_vector(&a, &g.ops[2], 50, 0);
	g.ops[3].work.core = CORE_NONE;
	make_vector(&a, &g.ops[4], 5, 0);
	make_preds(&a, &g.ops[1], (op_id[]){0}, 1);
	make_preds(&a, &g.ops[2], (op_id[]){0}, 1);
	make_preds(&a, &g.ops[3], (op_id[]){1}, 1);
	make_preds(&a, &g.ops[4], (op_id[]){2, 3}, 2);
	struct op_timing t[5];
	struct graph_part ops = make_part(&a, &g, 5);
	device_annotate(&a, &arch, &ops, &plain, t);
	static const struct op_timing expected[5] = {
		{10000, 0, 0, 0, 1},
		{20000, 10000, 40000, 30000, 2},
		{50000, 10000, 10000, 0, 2},
		{0, 30000, 60000, 30000, 3},
		{5000, 60000, 60000, 0, 4},
	};
	for (int i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(t[i].duration, expected[i].duration);
		CU_ASSERT_EQUAL(t[i].asap, expected[i].asap);
		CU_ASSERT_EQUAL(t[i].alap, expected[i].alap);
		CU_ASSERT_EQUAL(t[i].mobility, expected[i].mobility);
		CU_ASSERT_EQUAL(t[i].depth, expected[i].depth);
	}
	/* Operators 1 and 4 alone: what comes before is done. */
	ops = (struct graph_part){&g, (op_id[]){1, 4}, 2};
	device_annotate(&a, &arch, &ops, &plain, t);
	CU_ASSERT_EQUAL(t[0].asap, 0);
	CU_ASSERT_EQUAL(t[1].asap, 0);
	CU_ASSERT_EQUAL(t[1].alap, 15000);
	arena_free(&a);
}

static void collectives_run_one_at_a_time(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	struct graph g = make_graph(&a, 3);
	g.ops[0].work = (struct work){.core = CORE_LINK, .collective_bytes = 4000};
	g.ops[1].work = g.ops[0].work;
	make_vector(&a, &g.ops[2], 3, 0);
	struct device_options options = {
		.link = {.ranks = 4, .bytes_per_s = TICKS_PER_S, .latency = 50}};
	struct device_result r;
	struct graph_part ops = make_part(&a, &g, 3);
	device_run(&a, &arch, &ops, &options, &r);
	tick one = 2 * 3 * (50 + 1000);
	CU_ASSERT_EQUAL(device_link_time(&options.link, 4000), one);
	CU_ASSERT_EQUAL(r.runs[0].end, one);
	CU_ASSERT_EQUAL(r.runs[1].start, one);
	CU_ASSERT_EQUAL(r.makespan, 2 * one);
	CU_ASSERT_EQUAL(r.link_busy, 2 * one);
	CU_ASSERT_EQUAL(r.runs[2].end, 3000);
	options.link.ranks = 1;
	device_run(&a, &arch, &ops, &options, &r);
	CU_ASSERT_EQUAL(r.makespan, 3000);
	arena_free(&a);
}

static void split_operators_take_all_cores(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	arch.tc_count = 4;
	arch.vc_count = 2;
	struct graph g = make_graph(&a, 2);
	make_gemm(&g.ops[0], 64, 64, 16);
	make_vector(&a, &g.ops[1], 10, 0);
	make_preds(&a, &g.ops[1], (op_id[]){0}, 1);
	struct device_options options = {.intra_op_split = true};
	struct device_result r;
	struct graph_part ops = make_part(&a, &g, 2);
	device_run(&a, &arch, &ops, &options, &r);
	/* n over four cores: one fold each of 64 + 2 x 16 + 16 - 2 cycles, between all of a and b
	 * and all of c; half the elements on each VC */
	tick gemm = 4096 + 110000 + 8192;
	CU_ASSERT_EQUAL(r.runs[0].end, gemm);
	CU_ASSERT_EQUAL(r.makespan, gemm + 5000);
	CU_ASSERT_EQUAL(r.tc_busy, 4 * gemm);
	CU_ASSERT_EQUAL(r.vc_busy, 2 * 5000);
	arena_free(&a);
}

/* 16 x 16 x 4096: only k is left to split over eight cores, and the vector core adds up. */
static void a_split_k_holds_the_vector_core(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	arch.tc_count = 8;
	struct graph g = make_graph(&a, 2);
	make_gemm(&g.ops[0], 16, 16, 4096);
	make_vector(&a, &g.ops[1], 10, 0);
	struct device_options options = {.intra_op_split = true};
	struct device_result r;
	struct graph_part ops = make_part(&a, &g, 2);
	device_run(&a, &arch, &ops, &options, &r);
	CU_ASSERT_EQUAL(r.costs[0].vc.n, 7 * 16);
	CU_ASSERT_EQUAL(r.costs[0].cycles.n, 32 * 62 + 7 * 16);
	CU_ASSERT_EQUAL(r.runs[0].tc, 0);
	CU_ASSERT_EQUAL(r.runs[0].vc, 0);
	CU_ASSERT_TRUE(r.runs[1].start == r.runs[0].end || r.runs[0].start == r.runs[1].end);
	CU_ASSERT_EQUAL(r.makespan, r.vc_busy);
	arena_free(&a);
}

static void too_long_is_said(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	arch.clock_hz = 1000000;
	struct graph g = make_graph(&a, 2);
	make_vector(&a, &g.ops[0], UINT64_C(1) << 58, 0);
	make_vector(&a, &g.ops[1], UINT64_C(1) << 58, 0);
	make_preds(&a, &g.ops[1], (op_id[]){0}, 1);
	struct device_result r = run(&a, &arch, &g);
	CU_ASSERT_TRUE(r.clamped);
	arena_free(&a);
}

static void nothing_to_do_takes_no_time(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	struct graph g = make_graph(&a, 0);
	CU_ASSERT_EQUAL(run(&a, &arch, &g).makespan, 0);
	g = make_graph(&a, 3);
	make_preds(&a, &g.ops[2], (op_id[]){0, 1}, 2);
	struct device_result r = run(&a, &arch, &g);
	CU_ASSERT_EQUAL(r.makespan, 0);
	CU_ASSERT_EQUAL(r.runs[2].tc, UINT32_MAX);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"one operator is the closed form", one_operator_is_the_closed_form},
		{"memory is shared fairly", memory_is_shared_fairly},
		{"start order is by mobility", start_order_is_by_mobility},
		{"what ends together is seen together", what_ends_together_is_seen_together},
		{"annotation is WHAM's", annotation_is_whams},
		{"collectives run one at a time", collectives_run_one_at_a_time},
		{"split operators take all cores", split_operators_take_all_cores},
		{"a split k holds the vector core", a_split_k_holds_the_vector_core},
		{"too long is said", too_long_is_said},
		{"nothing to do takes no time", nothing_to_do_takes_no_time},
		CU_TEST_INFO_NULL,
	};
	return suite_run("device", tests);
}
