/* Compute cycles and SRAM accesses of GEMMs and convolutions on systolic arrays, against
 * SCALE-Sim v3 (commit 1d62b68). Its compute cycles are the rows of its demand matrix; the total
 * that it prints is one less. SRAM accesses are compared on tables that have them; its ofmap
 * count for os carries a stray term (its issue list), the right one is M N. */
#include <string.h>

#include "arch/arch.h"
#include "validate/internal.h"

struct columns {
	size_t layer, m, n, k, rows, cols, dataflow, cycles;
};

static struct columns find_columns(const struct csv *t)
{
	return (struct columns){.layer = suite_column(t, "layer"),
		.m = suite_column(t, "M"),
		.n = suite_column(t, "N"),
		.k = suite_column(t, "K"),
		.rows = suite_column(t, "array_rows"),
		.cols = suite_column(t, "array_cols"),
		.dataflow = suite_column(t, "dataflow"),
		.cycles = suite_column(t, "compute_cycles")};
}

static bool read_case(const struct csv *t, size_t row, const struct columns *c, struct gemm *gemm,
	struct array_shape *array, struct err *err)
{
	uint64_t v[5];
	const size_t columns[5] = {c->m, c->n, c->k, c->rows, c->cols};
	for (int i = 0; i < 5; i++) {
		if (!csv_uint(t, row, columns[i], &v[i], err))
			return false;
		if (v[i] == 0 || v[i] > 1u << 30)
			return err_set(err, ERR_INPUT, "%s: row %zu: dimensions are from 1 to %u",
				t->path, row + 1, 1u << 30);
	}
	*gemm = (struct gemm){.batch = 1, .m = v[0], .n = v[1], .k = v[2]};
	*array = (struct array_shape){
		.rows = (uint32_t)v[3], .cols = (uint32_t)v[4], .fold_mode = FOLD_SERIAL};
	if (!dataflow_find(csv_cell(t, row, c->dataflow), &array->dataflow))
		return err_set(err, ERR_INPUT,
			"%s: row %zu: unknown dataflow '%s', expected ws, os or is", t->path,
			row + 1, csv_cell(t, row, c->dataflow));
	return true;
}

static const char *const sram_columns[] = {
	"sram_ifmap_reads", "sram_filter_reads", "sram_ofmap_writes"};
enum { N_SRAM = sizeof(sram_columns) / sizeof(*sram_columns) };

/* Which of the columns of access counts the table has. */
struct sram_table {
	bool has[N_SRAM];
	size_t column[N_SRAM];
};

static struct sram_table find_sram(const struct csv *t)
{
	struct sram_table s = {0};
	struct err ignored;
	for (int i = 0; i < N_SRAM; i++)
		s.has[i] = csv_column(t, sram_columns[i], &s.column[i], &ignored);
	return s;
}

/* Counts of row `row` where they are given. */
static void add_sram(const struct suite_context *context, const struct csv *t, size_t row,
	const struct array_shape *array, const struct gemm *gemm, struct suite_report *out)
{
	const struct sram_table s = find_sram(t);
	const struct sram_accesses ours = arch_gemm_sram(array, gemm);
	const uint64_t counts[N_SRAM] = {ours.input_reads, ours.weight_reads, ours.output_writes};
	const char *label = out->rows[out->n_rows - 1].label;
	struct err ignored;
	for (int i = 0; i < N_SRAM; i++) {
		double reference = 0;
		if (!s.has[i] || !csv_number(t, row, s.column[i], &reference, &ignored))
			continue;
		if (i == N_SRAM - 1 && array->dataflow == DATAFLOW_OS)
			reference = (double)gemm->m * (double)gemm->n;
		suite_add(context->a, out,
			arena_printf(context->a, "%s %s", label, sram_columns[i]), reference,
			(double)counts[i], 0);
	}
}

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	struct columns c = find_columns(t);
	uint32_t exact = 0;
	for (size_t row = 0; row < t->n_rows; row++) {
		struct gemm gemm = {0};
		struct array_shape array = {0};
		double reference = 0;
		if (!read_case(t, row, &c, &gemm, &array, err) ||
			!csv_number(t, row, c.cycles, &reference, err))
			return false;
		const char *label =
			arena_printf(context->a, "%s %s %ux%u", csv_cell(t, row, c.layer),
				dataflow_name(array.dataflow), array.rows, array.cols);
		suite_add(context->a, out, label, reference,
			(double)arch_gemm_cycles(&array, &gemm).n, 0);
		exact += out->rows[out->n_rows - 1].pass;
		add_sram(context, t, row, &array, &gemm, out);
	}
	out->note = arena_printf(context->a,
		"compute cycles with serial folds: %u of %zu rows exact; the others count SRAM "
		"accesses; "
		"no tolerance",
		exact, t->n_rows);
	return true;
}

static const char *const columns_needed[] = {
	"layer", "M", "N", "K", "array_rows", "array_cols", "dataflow", "compute_cycles", NULL};

const struct suite suite_scalesim = {
	.name = "scalesim",
	.summary = "cycles and SRAM accesses of matrix products on systolic arrays, against "
		   "SCALE-Sim v3",
	.table = "scalesim_cycles.csv",
	.columns = columns_needed,
	.run = run,
};
