/* GEMMs on an A100 as measured by LLMCompass (validation/llmcompass_matmul.csv). Nothing in the
 * model was fitted on them; below 4096 columns the measured times are mostly launch and host
 * time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "device/device.h"
#include "make.h"
#include "suite.h"

enum column { M, N, K, MS, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {
	"M", "N_as_listed", "K_as_listed", "measured_ms"};

static double simulate_ms(struct arena *a, const struct arch *arch, const double *row)
{
	struct graph g = make_graph(a, 1);
	struct device_options options = {.intra_op_split = true};
	struct device_result r;
	make_gemm(&g.ops[0], (uint64_t)row[M], (uint64_t)row[N], (uint64_t)row[K]);
	struct graph_part ops = make_part(a, &g, 1);
	device_run(a, arch, &ops, &options, &r);
	return ticks_to_s(r.makespan) * 1e3;
}

static void compare(struct arena *a, const struct arch *arch, const struct csv *csv)
{
	struct err err;
	double sum = 0;
	int n = 0;
	for (size_t i = 0; i < csv->n_rows; i++) {
		double row[N_COLUMNS];
		for (int c = 0; c < N_COLUMNS; c++) {
			size_t column;
			CU_ASSERT_TRUE_FATAL(csv_column(csv, column_names[c], &column, &err) &&
					     csv_number(csv, i, column, &row[c], &err));
		}
		if (strcmp(csv_cell(csv, i, 0), "A100") != 0 || row[N] < 4096)
			continue;
		double error = simulate_ms(a, arch, row) / row[MS] - 1;
		CU_ASSERT_TRUE(fabs(error) < 0.2);
		sum += fabs(error);
		n++;
	}
	CU_ASSERT_EQUAL(n, 14);
	printf("mean error %.1f %%\n", 100 * sum / n);
	CU_ASSERT_TRUE(sum / n < 0.12);
}

static void large_gemms_of_an_a100(void)
{
	struct arena a = {0};
	struct err err;
	struct arch arch;
	struct csv csv;
	const char *shared = getenv("WHAM_SHARED"), *root = getenv("WHAM_SOURCE_ROOT");
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	if (!shared) {
		printf("skipped: WHAM_SHARED not set\n");
		return;
	}
	CU_ASSERT_TRUE_FATAL(arch_read(
		&a, arena_printf(&a, "%s/models/accelerators/a100-80.json", root), &arch, &err));
	CU_ASSERT_TRUE_FATAL(csv_read(
		&a, arena_printf(&a, "%s/validation/llmcompass_matmul.csv", shared), &csv, &err));
	compare(&a, &arch, &csv);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"large GEMMs of an A100", large_gemms_of_an_a100},
		CU_TEST_INFO_NULL,
	};
	return suite_run("device measured", tests);
}
