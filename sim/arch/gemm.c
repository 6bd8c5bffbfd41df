/* Cycles and SRAM accesses of GEMMs on a systolic array. */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/internal.h"

/* How a GEMM lies on the array: how often it is filled, and how many rows of operands then stream
 * through. */
struct mapping {
	uint64_t folds, stream;
};

static struct mapping map_gemm(const struct array_shape *array, const struct gemm *g)
{
	uint64_t rows = array->rows, cols = array->cols;
	switch (array->dataflow) {
	case DATAFLOW_OS:
		return (struct mapping){
			clamp_u64((u128)div_ceil(g->m, rows) * div_ceil(g->n, cols)), g->k};
	case DATAFLOW_WS:
		return (struct mapping){
			clamp_u64((u128)div_ceil(g->k, rows) * div_ceil(g->n, cols)), g->m};
	case DATAFLOW_IS:
		return (struct mapping){
			clamp_u64((u128)div_ceil(g->k, rows) * div_ceil(g->m, cols)), g->n};
	}
	abort(); /* not a value of the enum */
}

static uint64_t fit_beside(const struct array_shape *array, uint64_t on_rows, uint64_t on_cols)
{
	return max_u64(1, min_u64(array->rows / on_rows, array->cols / on_cols));
}

uint64_t gemms_at_once(const struct array_shape *array, const struct gemm *g)
{
	if (array->fold_mode == FOLD_SERIAL)
		return 1;
	switch (array->dataflow) {
	case DATAFLOW_OS:
		return fit_beside(array, g->m, g->n);
	case DATAFLOW_WS:
		return fit_beside(array, g->k, g->n);
	case DATAFLOW_IS:
		return fit_beside(array, g->k, g->m);
	}
	abort(); /* not a value of the enum */
}

static uint64_t serial_cycles(const struct array_shape *array, struct mapping map)
{
	uint64_t fill = array->dataflow == DATAFLOW_OS ? 0 : array->rows;
	uint64_t skew = (uint64_t)array->rows + array->cols - 2;
	return clamp_u64(map.folds * ((u128)map.stream + fill + skew));
}

static uint64_t pipelined_cycles(const struct array_shape *array, struct mapping map)
{
	uint64_t rows = array->rows;
	uint64_t fill = array->dataflow == DATAFLOW_OS ? 0 : 2 * rows - 1;
	uint64_t skew = rows + array->cols - 2;
	return clamp_u64((map.folds - 1) * (u128)max_u64(map.stream, rows) + fill +
			 max_u64(map.stream, 4) + skew);
}

struct cycles arch_gemm_cycles(const struct array_shape *array, const struct gemm *gemm)
{
	assert(array->rows > 0 && array->cols > 0);
	if (gemm->batch == 0 || gemm->m == 0 || gemm->n == 0 || gemm->k == 0)
		return (struct cycles){0};
	struct mapping map = map_gemm(array, gemm);
	map.folds = clamp_u64((u128)map.folds * div_ceil(gemm->batch, gemms_at_once(array, gemm)));
	switch (array->fold_mode) {
	case FOLD_SERIAL:
		return (struct cycles){serial_cycles(array, map)};
	case FOLD_PIPELINED:
		return (struct cycles){pipelined_cycles(array, map)};
	}
	abort(); /* not a value of the enum */
}

static uint64_t words(uint64_t batch, uint64_t a, uint64_t b, uint64_t times)
{
	uint64_t once = clamp_u64((u128)a * b);
	return clamp_u64((u128)clamp_u64((u128)once * times) * batch);
}

struct sram_accesses arch_gemm_sram(const struct array_shape *array, const struct gemm *g)
{
	uint64_t row_folds_k = div_ceil(g->k, array->rows);
	switch (array->dataflow) {
	case DATAFLOW_OS:
		return (struct sram_accesses){
			.input_reads = words(g->batch, g->m, g->k, div_ceil(g->n, array->cols)),
			.weight_reads = words(g->batch, g->k, g->n, div_ceil(g->m, array->rows)),
			.output_writes = words(g->batch, g->m, g->n, 1),
		};
	case DATAFLOW_WS:
		return (struct sram_accesses){
			.input_reads = words(g->batch, g->m, g->k, div_ceil(g->n, array->cols)),
			.weight_reads = words(g->batch, g->k, g->n, 1),
			.output_writes = words(g->batch, g->m, g->n, row_folds_k),
		};
	case DATAFLOW_IS:
		return (struct sram_accesses){
			.input_reads = words(g->batch, g->m, g->k, 1),
			.weight_reads = words(g->batch, g->k, g->n, div_ceil(g->m, array->cols)),
			.output_writes = words(g->batch, g->m, g->n, row_folds_k),
		};
	}
	abort(); /* not a value of the enum */
}
