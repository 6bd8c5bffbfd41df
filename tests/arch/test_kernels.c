/* Products in waves of tiles, sustained rates, rows on their own cores, and rows that do not stay. */
#include "arch/arch.h"
#include "base/rng.h"
#include "suite.h"

/* Three groups of one 16x16 array, tiles of at most 32x32. */
static struct arch make_arch(void)
{
	return (struct arch){.clock_hz = 1000000000,
		.tc_count = 3,
		.tc_rows = 16,
		.tc_cols = 16,
		.dataflow = DATAFLOW_WS,
		.fold_mode = FOLD_PIPELINED,
		.vc_count = 3,
		.vc_width = 32,
		.sram_bytes = 1 << 20,
		.mac_bytes = 2,
		.kernels = {32, 32, 1, 1024, 2048, 4096}};
}

static uint64_t cycles(const struct arch *arch, uint64_t batch, uint64_t m, uint64_t n, uint64_t k)
{
	struct gemm g = {batch, m, n, k};
	return arch_tc_cycles(arch, &g, arch->tc_count).n;
}

static void tiles_go_in_waves(void)
{
	struct arch arch = make_arch();
	/* 8 tiles of 32x16 in 3 waves of (4-1) 32 + 31 + 32 + 30; 4 of 32x32 would take 2 of 317 */
	CU_ASSERT_EQUAL(cycles(&arch, 1, 64, 64, 64), 3 * 189);
	CU_ASSERT_EQUAL(cycles(&arch, 3, 32, 32, 64), 317);
	/* a tile is no larger than the product */
	CU_ASSERT_EQUAL(cycles(&arch, 1, 16, 16, 64), 125);
	CU_ASSERT_EQUAL(cycles(&arch, 1, 16, 0, 64), 0);
	/* two waves of 32x32 tiles, each (32 + 32) x 64 operands of 2 bytes */
	arch.kernels.tile_bytes_per_cycle = 1;
	CU_ASSERT_EQUAL(cycles(&arch, 1, 64, 64, 64), 2 * 8192);
	arch.kernels.tile_rows = 0;
	struct array_shape array = {16, 16, DATAFLOW_WS, FOLD_PIPELINED};
	struct gemm g = {1, 64, 64, 64};
	CU_ASSERT_EQUAL(cycles(&arch, 1, 64, 64, 64), arch_gemm_split_cycles(&array, &g, 3).n);
}

static void a_group_shares_a_tile(void)
{
	struct arch arch = make_arch();
	arch.tc_count = 12;
	arch.kernels.tile_cores = 4;
	/* a tile of 32x32 on each group: 16x16 on each core */
	CU_ASSERT_EQUAL(cycles(&arch, 3, 32, 32, 64), 125);
	/* two halves on two groups: 8x16 on each core, whose weights take as long to load as 16
	 * rows */
	CU_ASSERT_EQUAL(cycles(&arch, 1, 32, 32, 64), 3 * 16 + 31 + 8 + 30);
	/* 4 tiles on 3 groups; in halves it would be 3 waves */
	CU_ASSERT_EQUAL(cycles(&arch, 4, 32, 32, 64), 2 * 125);
}

static void efficiency_lengthens(void)
{
	struct arch arch = make_arch();
	struct gemm g = {1, 64, 64, 64};
	arch.tc_efficiency = 1;
	CU_ASSERT_EQUAL(arch_tc_cycles(&arch, &g, 3).n, 567);
	arch.tc_efficiency = 0.5;
	CU_ASSERT_EQUAL(arch_tc_cycles(&arch, &g, 3).n, 1134);
	struct gemm huge = {1, 1, UINT64_MAX, UINT64_MAX};
	CU_ASSERT_EQUAL(arch_tc_cycles(&arch, &huge, 3).n, UINT64_MAX);
}

/* Never faster than the peak, and whole groups more are never slower. */
static void waves_respect_the_peak(void)
{
	struct rng rng;
	rng_init(&rng, 11);
	for (int i = 0; i < 2000; i++) {
		struct arch arch = make_arch();
		struct gemm g = {1 + rng_below(&rng, 8), 1 + rng_below(&rng, 600),
			1 + rng_below(&rng, 600), 1 + rng_below(&rng, 600)};
		uint32_t groups = 1 + (uint32_t)rng_below(&rng, 40);
		arch.kernels.tile_cores = 1u << rng_below(&rng, 3);
		uint32_t tcs = groups * arch.kernels.tile_cores;
		uint64_t took = arch_tc_cycles(&arch, &g, tcs).n;
		CU_ASSERT_TRUE(took * tcs * 256 >= g.batch * g.m * g.n * g.k);
		CU_ASSERT_TRUE(arch_tc_cycles(&arch, &g, tcs + arch.kernels.tile_cores).n <= took);
	}
}

static void rows_spread_over_cores(void)
{
	struct vector_work rows = {VECTOR_REDUCE, 300 * 64, 64, 10};
	/* 100 rows on each of three cores; all lanes on one row at a time would take 300 (1 + 10) */
	CU_ASSERT_EQUAL(arch_vector_split_cycles(&rows, 32, 3).n, 100 * (2 + 10));
	CU_ASSERT_EQUAL(arch_vector_split_cycles(&rows, 32, 1).n, 300 * (2 + 10));
	struct vector_work one = {VECTOR_SOFTMAX, 960, 960, 10};
	CU_ASSERT_EQUAL(arch_vector_split_cycles(&one, 32, 3).n, 10 + 10 + 10 * 10);
	struct vector_work plain = {VECTOR_ELEMENTWISE, 960, 960, 4};
	CU_ASSERT_EQUAL(arch_vector_split_cycles(&plain, 32, 3).n, 40);
}

static void long_rows_do_not_stay(void)
{
	struct arch arch = make_arch();
	struct core_share share = {1, 1, 1 << 20};
	struct vector_work pass = {VECTOR_SOFTMAX, 4096, 1024, 10};
	struct work w = {.core = CORE_VC, .vector = &pass, .n_vector = 1};
	CU_ASSERT_EQUAL(arch_row_room(&arch, &w, &share), 2048);
	pass.form = VECTOR_ELEMENTWISE;
	CU_ASSERT_EQUAL(arch_row_room(&arch, &w, &share), 4096);
	arch.kernels.tile_rows = 0;
	CU_ASSERT_EQUAL(arch_row_room(&arch, &w, &share), 1 << 20);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"tiles go in waves", tiles_go_in_waves},
		{"a group shares a tile", a_group_shares_a_tile},
		{"efficiency lengthens", efficiency_lengthens},
		{"waves respect the peak", waves_respect_the_peak},
		{"rows spread over cores", rows_spread_over_cores},
		{"long rows do not stay", long_rows_do_not_stay},
		CU_TEST_INFO_NULL,
	};
	return suite_run("arch kernels", tests);
}
