/* Cycles and SRAM accesses against SCALE-Sim v3 (golden/scalesim_cycles.csv: 282 rows of its demand
 * matrices). */
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/rng.h"
#include "base/table.h"
#include "suite.h"

enum column { M, N, K, ROWS, COLS, CYCLES, INPUT, WEIGHT, OUTPUT, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {"M", "N", "K", "array_rows", "array_cols",
	"compute_cycles", "sram_ifmap_reads", "sram_filter_reads", "sram_ofmap_writes"};

static bool read_row(const struct csv *csv, size_t row, uint64_t *values, struct array_shape *array)
{
	struct err err;
	size_t column;
	for (int i = 0; i < N_COLUMNS; i++) {
		if (!csv_column(csv, column_names[i], &column, &err) ||
			!csv_uint(csv, row, column, &values[i], &err))
			return false;
	}
	*array = (struct array_shape){.rows = (uint32_t)values[ROWS],
		.cols = (uint32_t)values[COLS],
		.fold_mode = FOLD_SERIAL};
	return csv_column(csv, "dataflow", &column, &err) &&
	       dataflow_find(csv_cell(csv, row, column), &array->dataflow);
}

static void check_rows(const struct csv *csv, size_t *same_cycles, size_t *same_sram)
{
	*same_cycles = *same_sram = 0;
	for (size_t row = 0; row < csv->n_rows; row++) {
		uint64_t v[N_COLUMNS];
		struct array_shape array;
		CU_ASSERT_FATAL(read_row(csv, row, v, &array));
		struct gemm gemm = {1, v[M], v[N], v[K]};
		struct sram_accesses sram = arch_gemm_sram(&array, &gemm);
		/* Its os output count has a stray sum: the right number is M N. */
		uint64_t output = array.dataflow == DATAFLOW_OS ? v[M] * v[N] : v[OUTPUT];
		*same_cycles += arch_gemm_cycles(&array, &gemm).n == v[CYCLES];
		*same_sram += sram.input_reads == v[INPUT] && sram.weight_reads == v[WEIGHT] &&
			      sram.output_writes == output;
	}
}

static void check_file(struct arena *a, const char *path)
{
	struct csv csv;
	struct err err;
	size_t same_cycles, same_sram;
	if (!csv_read(a, path, &csv, &err)) {
		CU_FAIL("golden file");
		return;
	}
	CU_ASSERT_EQUAL(csv.n_rows, 282);
	check_rows(&csv, &same_cycles, &same_sram);
	CU_ASSERT_EQUAL(same_cycles, csv.n_rows);
	CU_ASSERT_EQUAL(same_sram, csv.n_rows);
}

static void serial_is_scalesim(void)
{
	struct arena a = {0};
	const char *root = getenv("WHAM_SOURCE_ROOT");
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	check_file(&a, arena_printf(&a, "%s/tests/golden/scalesim_cycles.csv", root));
	arena_free(&a);
}

static void serial_is_scalesim_in_full(void)
{
	struct arena a = {0};
	const char *shared = getenv("WHAM_SHARED");
	if (shared)
		check_file(&a, arena_printf(&a, "%s/golden/scalesim_cycles.csv", shared));
	else
		printf("skipped: WHAM_SHARED not set\n");
	arena_free(&a);
}

static uint64_t cycles(enum dataflow d, enum fold_mode f, uint32_t dim, struct gemm gemm)
{
	struct array_shape array = {dim, dim, d, f};
	return arch_gemm_cycles(&array, &gemm).n;
}

static void pipelined_folds_overlap(void)
{
	struct gemm cube = {1, 1024, 1024, 1024};
	/* 64 folds: 255 + 63 x 1024 + 1024 + 254 */
	CU_ASSERT_EQUAL(cycles(DATAFLOW_WS, FOLD_PIPELINED, 128, cube), 66045);
	CU_ASSERT_EQUAL(cycles(DATAFLOW_IS, FOLD_PIPELINED, 128, cube), 66045);
	/* no stationary operand to load */
	CU_ASSERT_EQUAL(cycles(DATAFLOW_OS, FOLD_PIPELINED, 128, cube), 65790);
	/* m of 8 is shorter than the loading of the next weights: 8 folds of 32 rows, 63 + 7 x 32 +
	 * 8 + 62 */
	struct gemm flat = {1, 8, 32, 256};
	CU_ASSERT_EQUAL(cycles(DATAFLOW_WS, FOLD_PIPELINED, 32, flat), 357);
	/* m below 4 */
	struct gemm one = {1, 1, 32, 32};
	CU_ASSERT_EQUAL(cycles(DATAFLOW_WS, FOLD_PIPELINED, 32, one), 63 + 4 + 62);
	/* is streams n and folds over m and k */
	struct gemm skew = {1, 70, 1000, 40};
	CU_ASSERT_EQUAL(cycles(DATAFLOW_IS, FOLD_PIPELINED, 32, skew), 63 + 5 * 1000 + 1000 + 62);
}

static void batches_follow_each_other(void)
{
	struct gemm one = {1, 100, 100, 100}, ten = {10, 100, 100, 100};
	static const enum dataflow all[] = {DATAFLOW_WS, DATAFLOW_OS, DATAFLOW_IS};
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(cycles(all[i], FOLD_SERIAL, 32, ten),
			10 * cycles(all[i], FOLD_SERIAL, 32, one));
		/* 16 folds each, one more every 100 cycles */
		CU_ASSERT_EQUAL(cycles(all[i], FOLD_PIPELINED, 32, ten),
			cycles(all[i], FOLD_PIPELINED, 32, one) + 9 * 16 * 100);
	}
	struct array_shape array = {32, 32, DATAFLOW_WS, FOLD_SERIAL};
	CU_ASSERT_EQUAL(arch_gemm_sram(&array, &ten).output_writes, 10 * 100 * 100 * 4);
	struct gemm none = {0, 100, 100, 100};
	CU_ASSERT_EQUAL(cycles(DATAFLOW_WS, FOLD_PIPELINED, 32, none), 0);
}

/* No array does more than rows x cols MACs in a cycle, and serial is never faster than pipelined
 * plus one fill. */
static void peak_is_never_exceeded(void)
{
	struct rng rng;
	rng_init(&rng, 7);
	int bad = 0;
	for (int i = 0; i < 20000; i++) {
		struct gemm g = {1 + rng_below(&rng, 3), 1 + rng_below(&rng, 3000),
			1 + rng_below(&rng, 3000), 1 + rng_below(&rng, 3000)};
		struct array_shape array = {4u << rng_below(&rng, 7), 4u << rng_below(&rng, 7),
			(enum dataflow)rng_below(&rng, 3), FOLD_SERIAL};
		uint64_t macs = g.batch * g.m * g.n * g.k;
		uint64_t peak = (uint64_t)array.rows * array.cols;
		uint64_t serial = arch_gemm_cycles(&array, &g).n;
		array.fold_mode = FOLD_PIPELINED;
		uint64_t pipelined = arch_gemm_cycles(&array, &g).n;
		bad += serial < div_ceil(macs, peak) || pipelined < div_ceil(macs, peak);
		bad += pipelined > serial + array.rows + 3;
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void split_takes_the_fastest_grid(void)
{
	struct array_shape array = {16, 16, DATAFLOW_WS, FOLD_PIPELINED};
	struct gemm wide = {1, 64, 64, 16}, batch = {8, 16, 16, 16};
	CU_ASSERT_EQUAL(
		arch_gemm_split_cycles(&array, &wide, 1).n, arch_gemm_cycles(&array, &wide).n);
	/* over n: one fold of 64 rows each */
	CU_ASSERT_EQUAL(arch_gemm_split_cycles(&array, &wide, 4).n, 31 + 64 + 30);
	CU_ASSERT_EQUAL(arch_gemm_split_cycles(&array, &batch, 8).n, 31 + 16 + 30);
	CU_ASSERT_EQUAL(arch_gemm_split_cycles(&array, &batch, 4).n, 31 + 16 + 16 + 30);
	/* batch over 8 and m over 2 */
	struct gemm tall = {8, 64, 16, 16};
	CU_ASSERT_EQUAL(arch_gemm_split_cycles(&array, &tall, 16).n, 31 + 32 + 30);
}

static void more_cores_are_never_slower(void)
{
	struct rng rng;
	rng_init(&rng, 8);
	int bad = 0;
	for (int i = 0; i < 3000; i++) {
		struct gemm g = {1 + rng_below(&rng, 20), 1 + rng_below(&rng, 2000),
			1 + rng_below(&rng, 2000), 1 + rng_below(&rng, 500)};
		struct array_shape array = {
			16, 16, (enum dataflow)rng_below(&rng, 3), FOLD_PIPELINED};
		uint64_t one = arch_gemm_split_cycles(&array, &g, 1).n;
		uint32_t cores = 2 + (uint32_t)rng_below(&rng, 60);
		uint64_t many = arch_gemm_split_cycles(&array, &g, cores).n;
		uint64_t twice = arch_gemm_split_cycles(&array, &g, 2 * cores).n;
		bad += many > one || twice > many;
		bad += many < div_ceil(g.batch * g.m * g.n * g.k, 256 * cores);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void huge_sizes_do_not_wrap(void)
{
	struct gemm g = {
		UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 40};
	CU_ASSERT_EQUAL(cycles(DATAFLOW_WS, FOLD_SERIAL, 4, g), UINT64_MAX);
	CU_ASSERT_EQUAL(cycles(DATAFLOW_OS, FOLD_PIPELINED, 4, g), UINT64_MAX);
	struct array_shape array = {4, 4, DATAFLOW_IS, FOLD_SERIAL};
	CU_ASSERT_EQUAL(arch_gemm_sram(&array, &g).input_reads, UINT64_MAX);
}

static void names_are_found(void)
{
	enum dataflow d;
	enum fold_mode f;
	static const char *const dataflows[] = {"ws", "os", "is"}, *const modes[] = {
									   "serial", "pipelined"};
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_TRUE_FATAL(dataflow_find(dataflows[i], &d));
		CU_ASSERT_STRING_EQUAL(dataflow_name(d), dataflows[i]);
	}
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_TRUE_FATAL(fold_mode_find(modes[i], &f));
		CU_ASSERT_STRING_EQUAL(fold_mode_name(f), modes[i]);
	}
	CU_ASSERT_FALSE(dataflow_find("rs", &d));
	CU_ASSERT_FALSE(fold_mode_find("", &f));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"serial is SCALE-Sim", serial_is_scalesim},
		{"serial is SCALE-Sim in full", serial_is_scalesim_in_full},
		{"pipelined folds overlap", pipelined_folds_overlap},
		{"batches follow each other", batches_follow_each_other},
		{"peak is never exceeded", peak_is_never_exceeded},
		{"split takes the fastest grid", split_takes_the_fastest_grid},
		{"more cores are never slower", more_cores_are_never_slower},
		{"huge sizes do not wrap", huge_sizes_do_not_wrap},
		{"names are found", names_are_found},
		CU_TEST_INFO_NULL,
	};
	return suite_run("arch gemm", tests);
}
