/* One GEMM on one core with its memory, against the cycle-level simulator ONNXim (commit
 * a1e8629, systolic_ws_128x128 of its TPUv4 configuration with one core, Ramulator 2). The
 * accelerator is that configuration: 1 GHz, fp16, 32 MiB of scratchpad, 16 channels of 32 bytes
 * at 1200 MHz. Ours is the closed form that the device prices an operator with. */
#include "arch/arch.h"
#include "validate/internal.h"

/* Latency and efficiency are not in its configuration: what streams on HBM2 usually have. */
static const struct arch onnxim = {
	.name = "onnxim",
	.clock_hz = 1000000000,
	.tc_count = 1,
	.tc_rows = 128,
	.tc_cols = 128,
	.dataflow = DATAFLOW_WS,
	.fold_mode = FOLD_PIPELINED,
	.vc_count = 1,
	.vc_width = 128,
	.sram_bytes = 32 << 20,
	.hbm_bytes_per_s = UINT64_C(16) * 32 * 1200000000,
	.hbm_latency = 100 * (TICKS_PER_S / 1000000000),
	.hbm_efficiency = 0.9,
	.mac_bytes = 2,
};

static double cycles_with_memory(const struct gemm *g)
{
	struct work work = {
		.core = CORE_TC,
		.batch = 1,
		.m = g->m,
		.n = g->n,
		.k = g->k,
		.a_bytes = g->m * g->k * onnxim.mac_bytes,
		.b_bytes = g->k * g->n * onnxim.mac_bytes,
		.c_bytes = g->m * g->n * onnxim.mac_bytes,
	};
	struct core_share share = {1, 1, onnxim.sram_bytes};
	struct op_cost cost;
	struct op_time time;
	arch_op_cost(&onnxim, &work, &share, &cost);
	arch_op_time(&onnxim, &cost, TICK_MAX / 8, &time);
	tick all = time.overhead + time.fill + time.compute + time.memory;
	return ticks_to_s(all) * (double)onnxim.clock_hz;
}

static bool read_gemm(const struct csv *t, size_t row, struct gemm *out, struct err *err)
{
	out->batch = 1;
	if (!csv_uint(t, row, suite_column(t, "M"), &out->m, err) ||
		!csv_uint(t, row, suite_column(t, "N"), &out->n, err) ||
		!csv_uint(t, row, suite_column(t, "K"), &out->k, err))
		return false;
	const uint64_t most = 1 << 20;
	if (out->m - 1 < most && out->n - 1 < most && out->k - 1 < most)
		return true;
	return err_set(err, ERR_INPUT, "%s: row %zu: dimensions are from 1 to %ju", t->path,
		row + 1, (uintmax_t)most);
}

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	for (size_t row = 0; row < t->n_rows; row++) {
		struct gemm g = {0};
		double reference = 0, tolerance = 0;
		if (!read_gemm(t, row, &g, err) ||
			!csv_number(t, row, suite_column(t, "cycles"), &reference, err) ||
			!csv_number(t, row, suite_column(t, "tolerance"), &tolerance, err))
			return false;
		suite_add(context->a, out,
			arena_printf(context->a, "%jux%jux%ju", (uintmax_t)g.m, (uintmax_t)g.n,
				(uintmax_t)g.k),
			reference, cycles_with_memory(&g), tolerance);
	}
	out->note = "M x N x K; cycles with exposed first and last transfers; nothing was fitted";
	return true;
}

static const char *const columns_needed[] = {"M", "N", "K", "cycles", "tolerance", NULL};

const struct suite suite_onnxim = {
	.name = "onnxim",
	.summary = "matrix products with their memory, against the cycle-level ONNXim",
	.table = "onnxim_gemm.csv",
	.columns = columns_needed,
	.run = run,
};
