/* What computes: the accelerator template, operator -> cycles and bytes, area and TDP. */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/units.h"
#include "graph/graph.h"

enum dataflow { DATAFLOW_WS, DATAFLOW_OS, DATAFLOW_IS };
enum fold_mode { FOLD_SERIAL, FOLD_PIPELINED };

enum dram_kind { DRAM_HBM, DRAM_DDR, DRAM_LPDDR };

struct area_model; /* "chip", "accelergy22": arch/area.h */

/* How a GPU's kernels cut work, where the array alone does not say it. tile_rows 0: not such a
 * machine; work spreads over the cores as finely as it likes. */
struct kernels {
	/* A product is cut into output tiles of at most this size, each computed over all of k
	 * by `tile_cores` tensor cores that share a scheduler and its memory (an SM, a CU).
	 * Tiles go in waves over all such groups, so a last wave that is not full costs as much
	 * as a full one. */
	uint32_t tile_rows, tile_cols, tile_cores;
	uint64_t tile_bytes_per_cycle; /* operands from the global buffer into one group */
	/* The longest row that a softmax, or a norm, keeps inside a group between its passes
	 * over it; longer ones come from DRAM again. */
	uint64_t softmax_row_bytes, norm_row_bytes;
};

/* Time from the call of an operator on the host to its kernel, when the host waits for each result:
 * what measurements of single operators hold. A step of training hides it: launch_overhead. All 0
 * where nobody measured it. */
struct host_times {
	tick gemm, softmax, norm, elementwise;
};

/* An accelerator. Read from models/accelerators/NAME.json, where every value carries its unit, or
 * written in one line. Copy and change fields freely: costs, area and TDP are functions of the
 * fields. */
struct arch {
	const char *name, *source;
	uint64_t clock_hz;
	uint32_t tc_count, tc_rows, tc_cols; /* rows x cols MACs each */
	enum dataflow dataflow;
	enum fold_mode fold_mode;
	uint32_t vc_count, vc_width; /* lanes */
	uint64_t sram_bytes;         /* global buffer */
	uint64_t sram_bytes_per_cycle;
	enum dram_kind dram;
	uint64_t hbm_bytes, hbm_bytes_per_s;
	tick hbm_latency;
	uint32_t hbm_stacks;   /* DDR: channels */
	double hbm_efficiency; /* achievable share of hbm_bytes_per_s, 0 < e <= 1 */
	/* Share of the peak that a long product reaches: clock under load, issue slots. 0 < e <=
	 * 1; 0 in an arch made by hand counts as 1. Peak figures are without it. */
	double tc_efficiency;
	tick launch_overhead; /* of every operator */
	struct kernels kernels;
	struct host_times host;
	uint32_t links;            /* to other devices */
	uint64_t link_bytes_per_s; /* of each, per direction */
	uint32_t pcie_lanes;
	uint32_t node_nm;   /* 65, 28, 16, 7, 5 */
	uint32_t mac_bytes; /* operand width: 1 (int8), 2 (bf16), 4 (fp32) */
	const struct area_model *area_model;
};

/* Reads an accelerator file. Every missing, zero, negative, contradictory or unknown value is
 * refused by name, line and column. All keys are required:
 *   name, source               texts
 *   clock                      "700 MHz"; at least 1 MHz
 *   process_node               "5 nm", "7 nm", "16 nm", "28 nm" or "65 nm"
 *   mac                        "bf16", "fp16", "fp32" or "int8"
 *   pcie_lanes                 whole number, or "none"
 *   area_model                 "chip" or "accelergy22", see arch/area.h
 *   tensor_cores               {count, rows, cols, dataflow: "ws"|"os"|"is",
 *                              folds: "pipelined"|"serial", source}
 *   vector_cores               {count, width, source}
 *   sram                       {size: "32 MiB", bytes_per_cycle: "24 KiB", source}; only power
 *                              depends on bytes_per_cycle
 *   hbm                        {kind: "hbm"|"ddr"|"lpddr", size, bandwidth: "700 GB/s",
 *                              latency: "700 ns", stacks, source}; size above that of the SRAM
 *   links                      {count, bandwidth of each in one direction, source}, or "none"
 *   efficiency                 {hbm_bandwidth and tensor_cores: achievable shares in (0, 1],
 *                              launch_overhead: "0 ns", source}; this zero is legal
 *   kernels                    {tile_rows, tile_cols, tile_cores, tile_bytes_per_cycle: "48 B",
 *                              softmax_row: "2 KiB", norm_row: "16 KiB", source}, or "none"; see
 *                              struct kernels. tile_cores divides the count of tensor cores
 *   host                       {gemm: "27 us", softmax, norm, elementwise, source}, or "none";
 *                              see struct host_times
 * `out` and its texts live in `a`. */
bool arch_read(struct arena *a, const char *path, struct arch *out, struct err *err);

/* "TC=2x128x128,VC=2x128,SRAM=32MiB[,HBM=700GB/s][,clock=700MHz]": counts and dimensions as given;
 * what is left out comes from `base`. Keys in any case and order, each once. What is wrong is
 * ERR_USAGE. */
bool arch_parse(struct arena *a, const char *text, const struct arch *base, struct arch *out,
	struct err *err);
/* True when `text` is of that form rather than a name or a path. */
bool arch_is_spec(const char *text);

bool dataflow_find(const char *name, enum dataflow *out);   /* "ws", "os", "is" */
bool fold_mode_find(const char *name, enum fold_mode *out); /* "serial", "pipelined" */
const char *dataflow_name(enum dataflow d);
const char *fold_mode_name(enum fold_mode f);

struct gemm {
	uint64_t batch, m, n, k;
};

struct array_shape {
	uint32_t rows, cols;
	enum dataflow dataflow;
	enum fold_mode fold_mode;
};

/* Cycles of the GEMMs, one after the other, on one array.
 * serial: folds x cycles per fold, exact against SCALE-Sim v3. With cd the ceiling division,
 *   os  cd(M,R) cd(N,C) x (K + R + C - 2)
 *   ws  cd(K,R) cd(N,C) x (M + 2R + C - 2)
 *   is  cd(K,R) cd(M,C) x (N + 2R + C - 2)
 * pipelined: the next fold's operands load while this one is in use. With F the folds of all
 * batches,
 *   os  (F-1) max(K,R) + max(K,4) + R + C - 2; nothing to preload, and R rows of outputs
 *       drain while the next fold streams
 *   ws  (2R-1) + (F-1) max(M,R) + max(M,4) + R + C - 2, the rule of ONNXim's SystolicWS
 *   is  the same with N for M
 * GEMMs so small that several fit the array (groups of a convolution: ws k <= R/2 and n <= C/2, os
 * m and n, is k and m) lie along its diagonal and run together, with zeros around them. */
struct cycles arch_gemm_cycles(const struct array_shape *array, const struct gemm *gemm);

/* A GEMM on several equal arrays: batch x m x n x k of them, each with an equal part, rounded up. */
struct gemm_split {
	uint64_t batch, m, n, k;
	struct cycles array;     /* of the longest part */
	struct cycles reduction; /* k > 1: vector cycles, after the arrays, to add up their sums */
};

/* The fastest grid of at most `tcs` arrays (at least 1) that cuts the batch (by 1 or by as many as
 * it can use), k (by a power of two), m (by a power of two, or by all that are left) and n (by the
 * rest). Of equal ones the one that cuts k less. Adding up takes (k-1) ceil(batch m n / lanes)
 * cycles; with 0 lanes k stays whole. */
void arch_gemm_split(const struct array_shape *array, const struct gemm *gemm, uint32_t tcs,
	uint64_t lanes, struct gemm_split *out);

/* Array cycles of the above with k whole. */
struct cycles arch_gemm_split_cycles(
	const struct array_shape *array, const struct gemm *gemm, uint32_t tcs);

/* As above on `tcs` cores of this accelerator: in waves of tiles where it has kernels (the fastest
 * tile among the largest and its halves in either direction, down to the array; a tile lasts no
 * less than its operands take to arrive), and longer by its tc_efficiency. */
struct cycles arch_tc_cycles(const struct arch *arch, const struct gemm *gemm, uint32_t tcs);

/* Cycles of one pass on `lanes` lanes (at least 1), by the forms at `struct vector_work`. */
struct cycles arch_vector_cycles(const struct vector_work *v, uint64_t lanes);

/* As above on `vcs` cores (at least 1) of `width` lanes: all lanes on one row at a time, or each
 * core on its own rows, whichever is faster. */
struct cycles arch_vector_split_cycles(const struct vector_work *v, uint32_t width, uint32_t vcs);

/* Words moved between the array and its SRAM. Exact against SCALE-Sim (os outputs are M*N; its
 * printed count is a known fault). */
struct sram_accesses {
	uint64_t input_reads, weight_reads, output_writes;
};
struct sram_accesses arch_gemm_sram(const struct array_shape *array, const struct gemm *gemm);

/* Off-chip traffic of GEMMs through a buffer, by the cheapest legal tiling: arch/traffic.c. */
enum tile_order {
	TILES_WHOLE,  /* all operands fit */
	TILES_OUTPUT, /* tiles of c stay, a and b stream */
	TILES_A,      /* tiles of a stay, b and c stream */
	TILES_B,
	TILES_NONE, /* not even a slab fits: no reuse */
};

struct tiling {
	enum tile_order order;
	uint64_t a_times, b_times; /* how often each operand is read */
	uint64_t partial_times;    /* how often all partial sums are written and read again */
	uint64_t partial_bytes;    /* of all partial sums, once */
	uint64_t read_bytes, write_bytes;
};

/* `work` has a GEMM (batch, m, n and k at least 1). */
void arch_gemm_tiling(const struct work *work, uint64_t sram_bytes, struct tiling *out);

/* The steps in which an operator computes: what a tile simulation steps through, and what decides
 * how much of the first and the last transfer is exposed. Of a GEMM, the folds of its arrays, each
 * with at most 8 R rows streaming; of vector work, chunks of 64 KiB of traffic. Steps are merged
 * until there are at most ARCH_MAX_STEPS. They do not depend on the buffer. */
enum { ARCH_MAX_STEPS = 1024 };

struct step_grid {
	uint64_t batch, m, n, k; /* vector work counts in m */
};

uint64_t step_grid_size(const struct step_grid *grid); /* at least 1 */

/* What one operator costs. */
struct op_cost {
	struct cycles tc, vc; /* busy cycles of the cores it holds */
	/* Compute time, memory aside. A fused operator's vector passes are pipelined behind the
	 * array, one element deep, so they add the sum of their lane_cycles (WHAM's rule); but no
	 * faster than the vector core can keep up: max(tc + sum of lane_cycles, vc). */
	struct cycles cycles;
	uint64_t dram_read_bytes, dram_write_bytes;
	/* Read before the first step can compute, written after the last has. */
	uint64_t first_bytes, last_bytes;
	struct step_grid steps;
	struct sram_accesses sram;
	uint64_t macs, lane_ops; /* work done, for energy */
};

/* Where the time of an operator goes when it is alone on the device; the parts add up. */
struct op_time {
	tick overhead; /* launch */
	tick compute;
	tick fill;   /* first access to memory, first transfer in, last transfer out */
	tick memory; /* waiting for memory beyond that */
};

/* How many cores an operator is spread over (1 and 1: WHAM's rule). A GEMM is split by
 * arch_gemm_split(), vector work along its elements. An operator without vector work has vector
 * cycles when its GEMM is split along k. */
struct core_share {
	uint32_t tcs, vcs;
	uint64_t sram_bytes; /* its share of the global buffer */
};

/* The longest row that stays on the chip until a softmax or a norm has read all of it: the share
 * of the global buffer, or what the file's kernels keep. `work` with a longer row reads its
 * again_bytes too. */
uint64_t arch_row_room(
	const struct arch *arch, const struct work *work, const struct core_share *share);

/* CORE_NONE and CORE_LINK operators cost no cycles here. */
void arch_op_cost(const struct arch *arch, const struct work *work, const struct core_share *share,
	struct op_cost *out);

/* With B(x) the time of x bytes at the achievable bandwidth, C the compute time, S the steps and
 * double buffering between them, the operator takes launch overhead + HBM latency +
 *   max(B(first) + C + B(last), B(read) + C / S + B(last), B(read + write)).
 * Each part saturates at `longest`; false when one did. */
bool arch_op_time(
	const struct arch *arch, const struct op_cost *cost, tick longest, struct op_time *out);

double arch_area_mm2(const struct arch *arch);
double arch_tdp_w(const struct arch *arch);
/* Idle power and joules by event counts (models/accelerators' node): see arch/energy.h for the
 * sources of each constant. */
double arch_idle_w(const struct arch *arch);
double arch_op_energy_j(const struct arch *arch, const struct op_cost *cost);

/* Peak multiply-accumulates and lane operations in a second. */
double arch_peak_macs_per_s(const struct arch *arch);

/* Achievable DRAM bandwidth: hbm_bytes_per_s x hbm_efficiency. */
uint64_t arch_dram_bytes_per_s(const struct arch *arch);

#endif
