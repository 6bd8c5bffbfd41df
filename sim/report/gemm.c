/* One matrix product on one array. */
#include <inttypes.h>

#include "report/internal.h"
#include "report/report.h"

struct gemm_figures {
	struct cycles cycles;
	struct op_time time; /* alone on the device */
	struct sram_accesses sram;
	uint64_t sram_words, dram_bytes;
	double utilisation;
};

static struct gemm_figures figures_of(const struct arch *arch, const struct gemm *g)
{
	struct array_shape array = {arch->tc_rows, arch->tc_cols, arch->dataflow, arch->fold_mode};
	struct core_share share = {.tcs = 1, .vcs = 1, .sram_bytes = arch->sram_bytes};
	struct work work = {.core = CORE_TC,
		.batch = 1,
		.m = g->m,
		.n = g->n,
		.k = g->k,
		.a_bytes = g->m * g->k * arch->mac_bytes,
		.b_bytes = g->k * g->n * arch->mac_bytes,
		.c_bytes = g->m * g->n * arch->mac_bytes};
	struct op_cost cost;
	arch_op_cost(arch, &work, &share, &cost);
	struct gemm_figures f = {
		.cycles = arch_gemm_cycles(&array, g), .sram = arch_gemm_sram(&array, g)};
	arch_op_time(arch, &cost, TICK_MAX / 8, &f.time);
	f.sram_words = f.sram.input_reads + f.sram.weight_reads + f.sram.output_writes;
	f.dram_bytes = cost.dram_read_bytes + cost.dram_write_bytes;
	f.utilisation = (double)g->m * (double)g->n * (double)g->k /
			((double)f.cycles.n * arch->tc_rows * arch->tc_cols);
	return f;
}

static uint64_t in_cycles(const struct arch *arch, tick t)
{
	return (uint64_t)(((u128)t * arch->clock_hz + TICKS_PER_S - 1) / TICKS_PER_S);
}

/* From the launch until the last result is in memory. */
static tick whole_time(const struct gemm_figures *f)
{
	return f->time.overhead + f->time.fill + f->time.compute + f->time.memory;
}

json_t *report_gemm_json(const struct arch *arch, const struct gemm *g)
{
	struct gemm_figures f = figures_of(arch, g);
	json_t *root = json_object(), *sram = json_object();
	put_text(root, "accelerator", arch->name);
	put_uint(root, "m", g->m);
	put_uint(root, "n", g->n);
	put_uint(root, "k", g->k);
	put_uint(root, "rows", arch->tc_rows);
	put_uint(root, "cols", arch->tc_cols);
	put_text(root, "dataflow", dataflow_name(arch->dataflow));
	put_text(root, "fold_mode", fold_mode_name(arch->fold_mode));
	put_uint(root, "cycles", f.cycles.n);
	put_time(root, "time_s", cycles_to_ticks(f.cycles, arch->clock_hz));
	put_uint(root, "cycles_with_memory", in_cycles(arch, whole_time(&f)));
	put_time(root, "time_with_memory_s", whole_time(&f));
	put_uint(root, "fill_cycles", in_cycles(arch, f.time.fill));
	put_uint(root, "memory_cycles", in_cycles(arch, f.time.memory));
	put_uint(root, "dram_bytes", f.dram_bytes);
	put_uint(root, "sram_accesses", f.sram_words);
	put_uint(sram, "input_reads", f.sram.input_reads);
	put_uint(sram, "weight_reads", f.sram.weight_reads);
	put_uint(sram, "output_writes", f.sram.output_writes);
	put(root, "sram", sram);
	put_real(root, "utilisation", f.utilisation);
	return root;
}

void report_gemm_text(const struct arch *arch, const struct gemm *g, struct text *out)
{
	struct gemm_figures f = figures_of(arch, g);
	text_add(out,
		"%" PRIu64 "x%" PRIu64 "x%" PRIu64 " on one %ux%u array (%s, %s): %" PRIu64
		" cycles, utilisation %.1f %%\n",
		g->m, g->n, g->k, arch->tc_rows, arch->tc_cols, dataflow_name(arch->dataflow),
		fold_mode_name(arch->fold_mode), f.cycles.n, 100 * f.utilisation);
	text_add(out,
		"with memory %" PRIu64 " cycles: first and last transfer exposed for %" PRIu64
		", waiting for memory %" PRIu64 "\n",
		in_cycles(arch, whole_time(&f)), in_cycles(arch, f.time.fill),
		in_cycles(arch, f.time.memory));
	text_add(out, "DRAM %" PRIu64 " bytes, SRAM %" PRIu64 " words\n", f.dram_bytes,
		f.sram_words);
}
