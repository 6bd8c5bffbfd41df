/* How kernels cut work on a GPU: waves of output tiles, rows that do not stay inside. */
#include "arch/arch.h"
#include "arch/internal.h"

static bool has_kernels(const struct arch *arch)
{
	return arch->kernels.tile_rows > 0;
}

/* One tile of m x n over all of k, on the cores of one group. */
static uint64_t tile_cycles(
	const struct arch *arch, const struct gemm *tile, uint32_t cores_of_group)
{
	struct array_shape array = {arch->tc_rows, arch->tc_cols, arch->dataflow, arch->fold_mode};
	u128 operands = ((u128)tile->m + tile->n) * tile->k * arch->mac_bytes;
	uint64_t feed = div_ceil(clamp_u64(operands), arch->kernels.tile_bytes_per_cycle);
	return max_u64(arch_gemm_split_cycles(&array, tile, cores_of_group).n, feed);
}

/* All waves of tiles of this size on `tcs` cores. */
static uint64_t wave_cycles(
	const struct arch *arch, const struct gemm *g, uint32_t tcs, uint64_t rows, uint64_t cols)
{
	uint32_t cores = tcs < arch->kernels.tile_cores ? tcs : arch->kernels.tile_cores;
	uint32_t groups = tcs / cores;
	struct gemm tile = {1, min_u64(rows, g->m), min_u64(cols, g->n), g->k};
	u128 tiles = (u128)clamp_u64((u128)div_ceil(g->m, rows) * div_ceil(g->n, cols)) * g->batch;
	u128 waves = tiles / groups + (tiles % groups != 0);
	return clamp_u64((u128)clamp_u64(waves) * tile_cycles(arch, &tile, cores));
}

static uint64_t best_wave_cycles(const struct arch *arch, const struct gemm *g, uint32_t tcs)
{
	uint64_t best = UINT64_MAX;
	for (uint64_t rows = arch->kernels.tile_rows;; rows /= 2) {
		for (uint64_t cols = arch->kernels.tile_cols;; cols /= 2) {
			best = min_u64(best, wave_cycles(arch, g, tcs, rows, cols));
			if (cols / 2 < arch->tc_cols)
				break;
		}
		if (rows / 2 < arch->tc_rows)
			return best;
	}
}

struct cycles arch_tc_cycles(const struct arch *arch, const struct gemm *gemm, uint32_t tcs)
{
	struct array_shape array = {arch->tc_rows, arch->tc_cols, arch->dataflow, arch->fold_mode};
	bool empty = gemm->batch == 0 || gemm->m == 0 || gemm->n == 0 || gemm->k == 0;
	uint64_t cycles = !empty && has_kernels(arch) ? best_wave_cycles(arch, gemm, tcs)
						      : arch_gemm_split_cycles(&array, gemm, tcs).n;
	if (arch->tc_efficiency <= 0 || arch->tc_efficiency >= 1)
		return (struct cycles){cycles};
	double longer = (double)cycles / arch->tc_efficiency;
	return (struct cycles){longer < 0x1p63 ? (uint64_t)longer : UINT64_MAX};
}

uint64_t arch_row_room(
	const struct arch *arch, const struct work *work, const struct core_share *share)
{
	bool softmax = false;
	if (!has_kernels(arch))
		return share->sram_bytes;
	for (uint32_t i = 0; i < work->n_vector; i++)
		softmax = softmax || work->vector[i].form == VECTOR_SOFTMAX;
	return softmax ? arch->kernels.softmax_row_bytes : arch->kernels.norm_row_bytes;
}
