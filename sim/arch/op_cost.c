/* What one operator costs on its share of the cores. */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/internal.h"

/* One way to spread a GEMM: `over_batch` x `over_m` x `over_n` cores, each with an equal part,
 * rounded up. */
static uint64_t part_cycles(const struct array_shape *array, const struct gemm *g,
	uint64_t over_batch, uint64_t over_m, uint64_t over_n)
{
	struct gemm part = {
		.batch = div_ceil(g->batch, over_batch),
		.m = div_ceil(g->m, over_m),
		.n = div_ceil(g->n, over_n),
		.k = g->k,
	};
	return arch_gemm_cycles(array, &part).n;
}

/* Splits m by powers of two (and by all cores), and n by what is left of the cores. */
static uint64_t grid_cycles(
	const struct array_shape *array, const struct gemm *g, uint64_t over_batch, uint64_t cores)
{
	uint64_t best = UINT64_MAX;
	for (uint64_t over_m = 1;; over_m = min_u64(2 * over_m, cores)) {
		best = min_u64(best, part_cycles(array, g, over_batch, over_m, cores / over_m));
		if (over_m == cores)
			return best;
	}
}

struct cycles arch_gemm_split_cycles(
	const struct array_shape *array, const struct gemm *gemm, uint32_t tcs)
{
	assert(tcs > 0);
	if (tcs == 1 || gemm->batch == 0)
		return arch_gemm_cycles(array, gemm);
	uint64_t best = grid_cycles(array, gemm, 1, tcs);
	if (gemm->batch > 1) {
		uint64_t over_batch = min_u64(gemm->batch, tcs);
		best = min_u64(best, grid_cycles(array, gemm, over_batch, tcs / over_batch));
	}
	return (struct cycles){best};
}

struct cycles arch_vector_cycles(const struct vector_work *v, uint64_t lanes)
{
	assert(lanes > 0);
	uint64_t passes = div_ceil(v->numel, lanes);
	switch (v->form) {
	case VECTOR_ELEMENTWISE:
		return (struct cycles){clamp_u64((u128)passes * v->lane_cycles)};
	case VECTOR_SOFTMAX:
		assert(v->row > 0);
		return (struct cycles){
			clamp_u64((u128)(v->numel / v->row) * div_ceil(v->row, lanes) + 10 +
				  (u128)passes * v->lane_cycles)};
	case VECTOR_REDUCE:
		assert(v->row > 0);
		return (struct cycles){clamp_u64(
			(u128)(v->numel / v->row) * (div_ceil(v->row, lanes) + v->lane_cycles))};
	}
	abort(); /* not a value of the enum */
}

struct cycles arch_vector_split_cycles(const struct vector_work *v, uint32_t width, uint32_t vcs)
{
	uint64_t together = arch_vector_cycles(v, (uint64_t)width * vcs).n;
	if (v->form == VECTOR_ELEMENTWISE || vcs == 1)
		return (struct cycles){together};
	struct vector_work own = *v;
	own.numel = clamp_u64((u128)div_ceil(v->numel / v->row, vcs) * v->row);
	return (struct cycles){min_u64(together, arch_vector_cycles(&own, width).n)};
}

/* Elements times the cycles that a lane spends on each. */
static uint64_t lane_ops(const struct vector_work *v)
{
	switch (v->form) {
	case VECTOR_ELEMENTWISE:
		return clamp_u64((u128)v->numel * v->lane_cycles);
	case VECTOR_SOFTMAX:
		return clamp_u64((u128)v->numel * (v->lane_cycles + UINT64_C(1)));
	case VECTOR_REDUCE:
		return clamp_u64((u128)(v->numel / v->row) * v->lane_cycles + v->numel);
	}
	abort(); /* not a value of the enum */
}

static void add_gemm(const struct arch *arch, const struct work *w, const struct core_share *share,
	struct op_cost *out)
{
	struct array_shape array = {arch->tc_rows, arch->tc_cols, arch->dataflow, arch->fold_mode};
	struct gemm gemm = {w->batch, w->m, w->n, w->k};
	out->tc = arch_tc_cycles(arch, &gemm, share->tcs);
	out->sram = arch_gemm_sram(&array, &gemm);
	out->macs =
		clamp_u64((u128)clamp_u64((u128)w->batch * w->m) * clamp_u64((u128)w->n * w->k));
	struct dram_traffic traffic = gemm_traffic(w, share->sram_bytes);
	out->dram_read_bytes = traffic.read_bytes;
	out->dram_write_bytes = traffic.write_bytes;
}

/* Returns the depth of the chain: the cycles one element needs for all passes. */
static uint64_t add_vector(const struct arch *arch, const struct work *w,
	const struct core_share *share, struct op_cost *out)
{
	assert(share->vcs > 0);
	uint64_t depth = 0;
	for (uint32_t i = 0; i < w->n_vector; i++) {
		const struct vector_work *v = &w->vector[i];
		if (v->numel == 0)
			continue;
		out->vc.n = clamp_u64((u128)out->vc.n +
				      arch_vector_split_cycles(v, arch->vc_width, share->vcs).n);
		out->lane_ops = clamp_u64((u128)out->lane_ops + lane_ops(v));
		out->sram.input_reads = clamp_u64((u128)out->sram.input_reads + v->numel);
		out->sram.output_writes = clamp_u64((u128)out->sram.output_writes + v->numel);
		depth += v->lane_cycles;
	}
	out->dram_read_bytes = clamp_u64((u128)out->dram_read_bytes + w->vector_read_bytes);
	if (w->row_bytes > arch_row_room(arch, w, share))
		out->dram_read_bytes = clamp_u64((u128)out->dram_read_bytes + w->again_bytes);
	out->dram_write_bytes = clamp_u64((u128)out->dram_write_bytes + w->vector_write_bytes);
	return depth;
}

void arch_op_cost(const struct arch *arch, const struct work *work, const struct core_share *share,
	struct op_cost *out)
{
	*out = (struct op_cost){0};
	if (work->core == CORE_NONE || work->core == CORE_LINK)
		return;
	bool on_tc = work->core != CORE_VC && work->batch && work->m && work->n && work->k;
	if (on_tc)
		add_gemm(arch, work, share, out);
	uint64_t depth = 0;
	if (work->core != CORE_TC)
		depth = add_vector(arch, work, share, out);
	out->cycles.n = on_tc ? max_u64(clamp_u64((u128)out->tc.n + depth), out->vc.n) : out->vc.n;
}

double arch_peak_macs_per_s(const struct arch *arch)
{
	return (double)arch->tc_count * arch->tc_rows * arch->tc_cols * (double)arch->clock_hz;
}

uint64_t arch_dram_bytes_per_s(const struct arch *arch)
{
	double bytes_per_s = (double)arch->hbm_bytes_per_s * arch->hbm_efficiency;
	return bytes_per_s < 1.0 ? 1 : (uint64_t)bytes_per_s;
}
