/* What one operator costs on its share of the cores. */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/internal.h"

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

/* Sums of the parts of k are written once more for each further part, and read to be added. */
static void add_reduction(const struct gemm *g, const struct gemm_split *split, struct op_cost *out)
{
	uint64_t outputs = clamp_u64((u128)clamp_u64((u128)g->batch * g->m) * g->n);
	uint64_t sums = clamp_u64((u128)outputs * (split->k - 1));
	out->vc = split->reduction;
	out->lane_ops = sums;
	if (split->k == 1)
		return;
	out->sram.input_reads = clamp_u64((u128)out->sram.input_reads + sums + outputs);
	out->sram.output_writes = clamp_u64((u128)out->sram.output_writes + sums);
}

/* The share of one of `parts` equal parts, rounded up. */
static uint64_t part_bytes(uint64_t bytes, uint64_t batch, uint64_t x, uint64_t y)
{
	return div_ceil(bytes, batch * x * y);
}

static void add_gemm(const struct arch *arch, const struct work *w, const struct core_share *share,
	struct op_cost *out)
{
	struct array_shape array = {arch->tc_rows, arch->tc_cols, arch->dataflow, arch->fold_mode};
	struct gemm gemm = {w->batch, w->m, w->n, w->k};
	struct gemm_split split;
	uint64_t lanes = arch->kernels.tile_rows > 0 ? 0 : (uint64_t)arch->vc_width * share->vcs;
	arch_gemm_split(&array, &gemm, share->tcs, lanes, &split);
	struct gemm slice = {w->batch, w->m, w->n, div_ceil(w->k, split.k)};
	out->tc = arch_tc_cycles(arch, &slice, share->tcs / (uint32_t)split.k);
	out->sram = arch_gemm_sram(&array, &gemm);
	add_reduction(&gemm, &split, out);
	out->macs =
		clamp_u64((u128)clamp_u64((u128)w->batch * w->m) * clamp_u64((u128)w->n * w->k));
	struct tiling tiling;
	arch_gemm_tiling(w, share->sram_bytes, &tiling);
	out->dram_read_bytes = tiling.read_bytes;
	out->dram_write_bytes = tiling.write_bytes;
	struct step_grid s = gemm_steps(&array, &gemm, &split);
	out->steps = s;
	out->first_bytes = clamp_u64((u128)part_bytes(w->a_bytes, s.batch, s.m, s.k) +
				     part_bytes(w->b_bytes, s.batch, s.n, s.k));
	out->last_bytes = part_bytes(w->c_bytes, s.batch, s.m, s.n);
}

/* Returns the depth of the chain: the cycles one element needs for all passes. */
static uint64_t add_vector(
	const struct arch *arch, const struct work *w, uint32_t vcs, struct op_cost *out)
{
	assert(vcs > 0);
	uint64_t depth = 0;
	for (uint32_t i = 0; i < w->n_vector; i++) {
		const struct vector_work *v = &w->vector[i];
		if (v->numel == 0)
			continue;
		out->vc.n = clamp_u64(
			(u128)out->vc.n + arch_vector_split_cycles(v, arch->vc_width, vcs).n);
		out->lane_ops = clamp_u64((u128)out->lane_ops + lane_ops(v));
		out->sram.input_reads = clamp_u64((u128)out->sram.input_reads + v->numel);
		out->sram.output_writes = clamp_u64((u128)out->sram.output_writes + v->numel);
		depth += v->lane_cycles;
	}
	return depth;
}

static void add_vector_traffic(const struct arch *arch, const struct work *w,
	const struct core_share *share, struct op_cost *out)
{
	uint64_t read = w->vector_read_bytes;
	if (w->row_bytes > arch_row_room(arch, w, share))
		read = clamp_u64((u128)read + w->again_bytes);
	out->dram_read_bytes = clamp_u64((u128)out->dram_read_bytes + read);
	out->dram_write_bytes = clamp_u64((u128)out->dram_write_bytes + w->vector_write_bytes);
	if (out->macs > 0)
		return;
	/* Compulsory bytes, so that a smaller buffer has the same steps. */
	out->steps = vector_steps(clamp_u64((u128)w->vector_read_bytes + w->vector_write_bytes));
	out->first_bytes = div_ceil(w->vector_read_bytes, out->steps.m);
	out->last_bytes = div_ceil(w->vector_write_bytes, out->steps.m);
}

void arch_op_cost(const struct arch *arch, const struct work *work, const struct core_share *share,
	struct op_cost *out)
{
	*out = (struct op_cost){.steps = {1, 1, 1, 1}};
	if (work->core == CORE_NONE || work->core == CORE_LINK)
		return;
	bool on_tc = work->core != CORE_VC && work->batch && work->m && work->n && work->k;
	if (on_tc)
		add_gemm(arch, work, share, out);
	uint64_t reduction = out->vc.n, depth = 0;
	if (work->core != CORE_TC)
		depth = add_vector(arch, work, share->vcs, out);
	add_vector_traffic(arch, work, share, out);
	out->cycles.n = on_tc ? max_u64(clamp_u64((u128)out->tc.n + reduction + depth), out->vc.n)
			      : out->vc.n;
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
