/* Split GEMMs, GEMMs side by side, small arrays; steps, and time with memory. */
#include "arch/arch.h"
#include "base/rng.h"
#include "suite.h"

static struct arch make_arch(void)
{
	return (struct arch){.clock_hz = 1000000000,
		.tc_count = 1,
		.tc_rows = 16,
		.tc_cols = 16,
		.dataflow = DATAFLOW_WS,
		.fold_mode = FOLD_PIPELINED,
		.vc_count = 1,
		.vc_width = 128,
		.sram_bytes = 32 << 20,
		.hbm_bytes_per_s = TICKS_PER_S, /* a byte takes a tick */
		.hbm_efficiency = 1,
		.mac_bytes = 2,
		.node_nm = 16};
}

static struct work make_gemm(uint64_t batch, uint64_t m, uint64_t n, uint64_t k)
{
	return (struct work){
		.core = CORE_TC,
		.batch = batch,
		.m = m,
		.n = n,
		.k = k,
		.a_bytes = 2 * batch * m * k,
		.b_bytes = 2 * batch * k * n,
		.c_bytes = 2 * batch * m * n,
	};
}

static void k_is_split_where_nothing_else_is_left(void)
{
	struct array_shape array = {16, 16, DATAFLOW_WS, FOLD_PIPELINED};
	struct gemm deep = {1, 16, 16, 4096}, wide = {1, 16, 128, 4096};
	struct gemm_split s;
	arch_gemm_split(&array, &deep, 8, 128, &s);
	CU_ASSERT_EQUAL(s.k, 8);
	/* 32 folds of 16 rows; 256 sums of 8 parts on 128 lanes */
	CU_ASSERT_EQUAL(s.array.n, 31 + 31 * 16 + 16 + 30);
	CU_ASSERT_EQUAL(s.reduction.n, 2 * 7);
	arch_gemm_split(&array, &deep, 8, 0, &s);
	CU_ASSERT_EQUAL(s.k, 1);
	/* all that m gives is a shorter last fold */
	CU_ASSERT_EQUAL(s.array.n, 31 + 255 * 16 + 4 + 30);
	CU_ASSERT_EQUAL(arch_gemm_split_cycles(&array, &deep, 8).n, s.array.n);
	/* n has a part for every core */
	arch_gemm_split(&array, &wide, 8, 128, &s);
	CU_ASSERT_EQUAL(s.n, 8);
	CU_ASSERT_EQUAL(s.k, 1);
	CU_ASSERT_EQUAL(s.reduction.n, 0);
}

static void a_split_k_costs_vector_cycles(void)
{
	struct arch arch = make_arch();
	struct work w = make_gemm(1, 16, 16, 4096);
	struct core_share share = {8, 1, arch.sram_bytes};
	struct op_cost whole, split;
	arch_op_cost(&arch, &w, &(struct core_share){1, 1, arch.sram_bytes}, &whole);
	arch_op_cost(&arch, &w, &share, &split);
	CU_ASSERT_EQUAL(split.tc.n, 573);
	CU_ASSERT_EQUAL(split.vc.n, 14);
	CU_ASSERT_EQUAL(split.cycles.n, 573 + 14);
	CU_ASSERT_EQUAL(split.lane_ops, 256 * 7);
	CU_ASSERT_EQUAL(split.macs, whole.macs);
	CU_ASSERT_EQUAL(split.dram_read_bytes, whole.dram_read_bytes);
	CU_ASSERT_EQUAL(split.sram.output_writes, whole.sram.output_writes + 256 * 7);
	CU_ASSERT_EQUAL(split.sram.input_reads, whole.sram.input_reads + 256 * 8);
}

static void splitting_is_never_slower(void)
{
	struct rng rng;
	int slower = 0, beyond = 0, too_many = 0;
	rng_init(&rng, 31);
	for (int i = 0; i < 2000; i++) {
		struct array_shape array = {4u << rng_below(&rng, 5), 4u << rng_below(&rng, 5),
			(enum dataflow)rng_below(&rng, 3), (enum fold_mode)rng_below(&rng, 2)};
		struct gemm g = {1 + rng_below(&rng, 9), 1 + rng_below(&rng, 600),
			1 + rng_below(&rng, 600), 1 + rng_below(&rng, 9000)};
		uint32_t tcs = 1 + (uint32_t)rng_below(&rng, 40);
		struct gemm_split one, some, twice;
		arch_gemm_split(&array, &g, 1, 64, &one);
		arch_gemm_split(&array, &g, tcs, 64, &some);
		arch_gemm_split(&array, &g, 2 * tcs, 64, &twice);
		uint64_t t = some.array.n + some.reduction.n;
		slower += t > one.array.n || twice.array.n + twice.reduction.n > t;
		too_many += some.batch * some.m * some.n * some.k > tcs;
		beyond += some.array.n < div_ceil(g.batch * g.m * g.n * g.k,
						 (uint64_t)array.rows * array.cols * tcs);
	}
	CU_ASSERT_EQUAL(slower, 0);
	CU_ASSERT_EQUAL(too_many, 0);
	CU_ASSERT_EQUAL(beyond, 0);
}

/* A depthwise convolution: one column of 9 rows for each channel, 14 channels along the diagonal. */
static void small_groups_lie_side_by_side(void)
{
	struct array_shape array = {128, 128, DATAFLOW_WS, FOLD_PIPELINED};
	struct gemm depthwise = {32, 1000, 1, 9};
	CU_ASSERT_EQUAL(arch_gemm_cycles(&array, &depthwise).n, 255 + 2 * 1000 + 1000 + 254);
	array.dataflow = DATAFLOW_IS; /* 14 groups of 9 rows, but only one of 1000 columns */
	CU_ASSERT_EQUAL(arch_gemm_cycles(&array, &depthwise).n, 255 + (32 * 8 - 1) * 128 + 4 + 254);
	array.dataflow = DATAFLOW_OS;
	struct gemm flat = {32, 60, 60, 500}; /* two by two */
	CU_ASSERT_EQUAL(arch_gemm_cycles(&array, &flat).n, 15 * 500 + 500 + 254);
	array.dataflow = DATAFLOW_WS;
	array.fold_mode = FOLD_SERIAL; /* as SCALE-Sim: one after the other */
	CU_ASSERT_EQUAL(arch_gemm_cycles(&array, &depthwise).n, 32 * (1000 + 256 + 128 - 2));
}

static void small_and_oblong_arrays(void)
{
	static const enum dataflow flows[] = {DATAFLOW_OS, DATAFLOW_WS, DATAFLOW_IS};
	/* 5 x 6 x 7 on 1x1, 1x3, 3x1: folds x (stream + rows to load + rows + cols - 2) */
	static const struct {
		uint32_t rows, cols;
		uint64_t serial[3];
	} cases[] = {
		{1, 1, {30 * 7, 42 * (5 + 1), 35 * (6 + 1)}},
		{1, 3, {10 * (7 + 2), 14 * (5 + 3), 14 * (6 + 3)}},
		{3, 1, {12 * (7 + 2), 18 * (5 + 5), 15 * (6 + 5)}},
	};
	struct gemm g = {1, 5, 6, 7};
	for (int i = 0; i < 3; i++) {
		for (int f = 0; f < 3; f++) {
			struct array_shape array = {
				cases[i].rows, cases[i].cols, flows[f], FOLD_SERIAL};
			CU_ASSERT_EQUAL(arch_gemm_cycles(&array, &g).n, cases[i].serial[f]);
			array.fold_mode = FOLD_PIPELINED;
			uint64_t pipelined = arch_gemm_cycles(&array, &g).n;
			CU_ASSERT_TRUE(pipelined <= cases[i].serial[f]);
			CU_ASSERT_TRUE(pipelined * array.rows * array.cols >= 210);
		}
	}
}

static tick whole(const struct op_time *t)
{
	return t->overhead + t->compute + t->fill + t->memory;
}

static void time_by_hand(void)
{
	struct arch arch = make_arch();
	struct work w = make_gemm(1, 256, 32, 32);
	struct core_share share = {1, 1, arch.sram_bytes};
	struct op_cost cost;
	struct op_time t;
	arch.hbm_latency = 50;
	arch.launch_overhead = 7;
	/* 2 x 2 folds, each in two steps of 128 rows */
	arch_op_cost(&arch, &w, &share, &cost);
	CU_ASSERT_EQUAL(step_grid_size(&cost.steps), 8);
	CU_ASSERT_EQUAL(cost.first_bytes, 2 * (128 * 16 + 16 * 16));
	CU_ASSERT_EQUAL(cost.last_bytes, 2 * 128 * 16);
	uint64_t cycles = 31 + 3 * 256 + 256 + 30;
	CU_ASSERT_EQUAL(cost.cycles.n, cycles);
	CU_ASSERT_TRUE(arch_op_time(&arch, &cost, TICK_MAX / 8, &t));
	CU_ASSERT_EQUAL(t.overhead, 7);
	CU_ASSERT_EQUAL(t.compute, cycles * 1000);
	CU_ASSERT_EQUAL(t.fill, 50 + 4608 + 4096);
	CU_ASSERT_EQUAL(t.memory, 0);
	/* a thousandth of the bandwidth: everything in and out, one after the other */
	arch.hbm_bytes_per_s /= 1000;
	CU_ASSERT_TRUE(arch_op_time(&arch, &cost, TICK_MAX / 8, &t));
	uint64_t bytes = 2 * (256 * 32 + 32 * 32 + 256 * 32);
	CU_ASSERT_EQUAL(whole(&t), 7 + 50 + bytes * 1000);
	CU_ASSERT_FALSE(arch_op_time(&arch, &cost, 1000, &t));
}

static struct work random_work(struct rng *rng)
{
	struct work w = make_gemm(1 + rng_below(rng, 8),
		1 + rng_below(rng, UINT64_C(1) << (1 + rng_below(rng, 14))),
		1 + rng_below(rng, UINT64_C(1) << (1 + rng_below(rng, 14))),
		1 + rng_below(rng, UINT64_C(1) << (1 + rng_below(rng, 14))));
	w.vector_read_bytes = rng_below(rng, 100000);
	w.vector_write_bytes = rng_below(rng, 100000);
	if (rng_below(rng, 4) == 0)
		w.core = CORE_VC;
	return w;
}

static tick time_on(const struct arch *arch, const struct work *w, struct op_cost *cost)
{
	struct core_share share = {arch->tc_count, arch->vc_count, arch->sram_bytes};
	struct op_time t;
	arch_op_cost(arch, w, &share, cost);
	CU_ASSERT_TRUE(arch_op_time(arch, cost, TICK_MAX / 8, &t));
	return whole(&t);
}

/* More buffer or bandwidth: never slower, never more traffic; never faster than the peaks, nor less
 * traffic than each operand once. */
static void more_is_never_slower(void)
{
	struct rng rng;
	int slower = 0, more = 0, under = 0;
	rng_init(&rng, 32);
	for (int i = 0; i < 2000; i++) {
		struct arch arch = make_arch();
		struct work w = random_work(&rng);
		struct op_cost cost, last;
		arch.tc_count = 1 + (uint32_t)rng_below(&rng, 9);
		arch.dataflow = (enum dataflow)rng_below(&rng, 3);
		arch.sram_bytes = 1 << 10;
		arch.hbm_bytes_per_s = 1000000000;
		tick before = time_on(&arch, &w, &last);
		for (int step = 0; step < 24; step++) {
			if (rng_below(&rng, 2))
				arch.sram_bytes += 1 + rng_below(&rng, arch.sram_bytes);
			else
				arch.hbm_bytes_per_s += rng_below(&rng, arch.hbm_bytes_per_s);
			tick now = time_on(&arch, &w, &cost);
			uint64_t bytes = cost.dram_read_bytes + cost.dram_write_bytes;
			slower += now > before;
			more += bytes > last.dram_read_bytes + last.dram_write_bytes;
			under +=
				bytes <
				w.vector_read_bytes + w.vector_write_bytes +
					(w.core == CORE_TC ? w.a_bytes + w.b_bytes + w.c_bytes : 0);
			under += now < ticks_ceil(bytes, arch_dram_bytes_per_s(&arch));
			under += cost.macs != (w.core == CORE_TC ? w.batch * w.m * w.n * w.k : 0);
			before = now;
			last = cost;
		}
	}
	CU_ASSERT_EQUAL(slower, 0);
	CU_ASSERT_EQUAL(more, 0);
	CU_ASSERT_EQUAL(under, 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"k is split where nothing else is left", k_is_split_where_nothing_else_is_left},
		{"a split k costs vector cycles", a_split_k_costs_vector_cycles},
		{"splitting is never slower", splitting_is_never_slower},
		{"small groups lie side by side", small_groups_lie_side_by_side},
		{"small and oblong arrays", small_and_oblong_arrays},
		{"time by hand", time_by_hand},
		{"more is never slower", more_is_never_slower},
		CU_TEST_INFO_NULL,
	};
	return suite_run("arch steps", tests);
}
