/* Power and energy.
 *
 * TDP = idle + factor * (sum of the units' power at full activity), where the factor is that of the
 * process node (energy_table(): power_factor):
 *   tensor cores   PEs * E_mac * clock
 *   vector cores   lanes * 2 * E_lane * clock: a lane starts two operations in a cycle
 *   SRAM           bytes/cycle * E_sram * clock; bytes/cycle is what the cores can use of
 *                  arch->sram_bytes_per_cycle:
 *                  12 bytes per lane (two operands, one result of 4) and both edges of the arrays
 *   HBM            bandwidth * E_hbm;   links: both directions * E_link
 *   idle           1.2e-4 W per mm2 and MHz: leakage and clocks, over the area of the chip model
 *                  whatever the arch's area model
 * Dynamic energy of a run has no factor: it counts operations. With the public die area TPUv2 comes
 * out at 276 of 280 W, TPUv3 427 of 450, TPUv4i 170 of 175; with the modelled one at 272, 433, 169.
 * +-25 % for TPU-like chips.
 *
 * Energy per event at node n (nm): E_mac and E_lane scale with (n/45)^0.52. E_sram per byte is the
 * logarithmic interpolation in n between 45 nm, 1.25 (S/8KiB)^0.475 pJ, and 7 nm, 0.94
 * (S/8KiB)^0.129 pJ, for banks of S = min(buffer, 1 MiB). */
#ifndef ARCH_ENERGY_H
#define ARCH_ENERGY_H

#include <stdint.h>

#include "arch/arch.h"

enum energy_constant {
	ENERGY_DRAM_DDR_BIT,
	ENERGY_DRAM_HBM_BIT,
	ENERGY_DRAM_LPDDR_BIT,
	ENERGY_IDLE,
	ENERGY_LANE_OP,
	ENERGY_LINK_16_BIT,
	ENERGY_LINK_7_BIT,
	ENERGY_MAC_BF16,
	ENERGY_MAC_FP32,
	ENERGY_MAC_INT8,
	ENERGY_NODE_EXPONENT,
	ENERGY_POWER_FACTOR_16,
	ENERGY_POWER_FACTOR_7,
	ENERGY_SRAM_45_BYTE,
	ENERGY_SRAM_45_EXPONENT,
	ENERGY_SRAM_7_BYTE,
	ENERGY_SRAM_7_EXPONENT,
	N_ENERGY_CONSTANTS,
};

struct energy_row {
	const char *name;
	double value;
	const char *unit, *source;
};

/* N_ENERGY_CONSTANTS rows in the order of the enum, which is that of the names. */
const struct energy_row *energy_table(void);

/* Joules of one event on this accelerator. */
double energy_mac_j(const struct arch *arch);
double energy_lane_op_j(const struct arch *arch);
double energy_sram_byte_j(const struct arch *arch);
double energy_dram_byte_j(const struct arch *arch);
double energy_link_byte_j(const struct arch *arch); /* at one end: sent or received */

/* What happened, in events. Add them up freely. */
struct event_counts {
	uint64_t macs, lane_ops, sram_bytes, dram_bytes;
	uint64_t link_bytes; /* sent and received */
};

/* Of one operator, without its links. Operands have the width of the MAC, results 4 bytes. */
struct event_counts event_counts_of(const struct arch *arch, const struct op_cost *cost);
/* sum += times x more, clamped to 64 bits. */
void event_counts_add(struct event_counts *sum, const struct event_counts *more, uint64_t times);

/* Joules by cause; idle is leakage and clocks over time. */
struct energy_parts {
	double macs, lane_ops, sram, dram, links, idle;
};

/* Energy is additive: the parts of a sum of counts over a sum of times are the sums of the parts. */
void energy_parts_of(const struct arch *arch, const struct event_counts *counts, double seconds,
	struct energy_parts *out);
double energy_parts_sum(const struct energy_parts *parts);

/* All in watts at full activity, without the factor. */
struct power_parts {
	double idle, tc, vc, sram, hbm, links;
	double factor;
};

void arch_power_parts(const struct arch *arch, struct power_parts *out);

#endif
