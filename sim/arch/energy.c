#include "arch/energy.h"

#include <math.h>
#include <stdlib.h>

#include "arch/area.h"
#include "arch/internal.h"

enum {
	SRAM_BANK_BYTES = 1024 * 1024,
	RESULT_BYTES = 4,   /* what leaves a core: fp32 or int32 */
	LANE_BYTES = 3 * 4, /* two operands and a result */
	LANE_STARTS = 2,    /* operations that a lane starts in a cycle */
};

static const struct energy_row constants[N_ENERGY_CONSTANTS] = {
	[ENERGY_DRAM_DDR_BIT] = {"dram_ddr_bit", 20, "pJ",
		"DDR3, 1.3 nJ for 64 bits (Horowitz, ISSCC 2014; Jouppi et al., ISCA 2021, table "
		"2)"},
	[ENERGY_DRAM_HBM_BIT] = {"dram_hbm_bit", 5, "pJ",
		"HBM2, within 3.9 (O'Connor et al., MICRO 2017) to 7.0 (Jouppi et al., ISCA 2021, "
		"table 2)"},
	[ENERGY_DRAM_LPDDR_BIT] = {"dram_lpddr_bit", 8, "pJ",
		"LPDDR4, 512 pJ for 64 bits (Accelergy's tables for Eyeriss)"},
	[ENERGY_IDLE] = {"idle", 1.2e-4, "W/(mm2 MHz)", "fitted on idle power of TPUv2 to TPUv4"},
	[ENERGY_LANE_OP] = {"lane_op", 7, "pJ at 45 nm",
		"fp32 multiply-add 4.6 pJ (Horowitz, ISSCC 2014) and its register file accesses"},
	[ENERGY_LINK_16_BIT] = {"link_16nm_bit", 6, "pJ",
		"off-package SerDes, each end, 16 nm and older: assumption within 4 to 10"},
	[ENERGY_LINK_7_BIT] = {"link_7nm_bit", 5, "pJ",
		"off-package SerDes, each end, 7 nm and newer: assumption within 4 to 10"},
	[ENERGY_MAC_BF16] = {"mac_bf16", 2.27, "pJ at 45 nm",
		"Horowitz, ISSCC 2014, and 0.009 pJ for each register bit (Aladdin)"},
	[ENERGY_MAC_FP32] = {"mac_fp32", 5.60, "pJ at 45 nm",
		"3.7 + 0.9 pJ (Horowitz, ISSCC 2014), and registers as for bf16"},
	[ENERGY_MAC_INT8] = {"mac_int8", 0.80, "pJ at 45 nm",
		"Horowitz, ISSCC 2014, with an int32 accumulator, and registers as for bf16"},
	[ENERGY_NODE_EXPONENT] = {"node_exponent", 0.52, "of n/45",
		"from 45 nm (Horowitz, ISSCC 2014) to 7 nm (Jouppi et al., ISCA 2021, table 2)"},
	[ENERGY_POWER_FACTOR_16] = {"power_factor_16nm", 1.35, "of the sum of units",
		"fitted on TPUv2 and TPUv3; 28 and 65 nm take it too (TPUv1: 93 of 75 W)"},
	[ENERGY_POWER_FACTOR_7] = {"power_factor_7nm", 1.0, "of the sum of units",
		"fitted on TPUv4i; 5 nm takes it too"},
	[ENERGY_SRAM_45_BYTE] = {"sram_45nm_byte", 1.25, "pJ at 8 KiB",
		"10 pJ for 64 bits (Horowitz, ISSCC 2014)"},
	[ENERGY_SRAM_45_EXPONENT] = {"sram_45nm_exponent", 0.475, "of S/8KiB",
		"8 KiB 10 pJ to 1 MiB 100 pJ (Horowitz, ISSCC 2014)"},
	[ENERGY_SRAM_7_BYTE] = {"sram_7nm_byte", 0.94, "pJ at 8 KiB",
		"7.5 pJ for 64 bits (Jouppi et al., ISCA 2021, table 2)"},
	[ENERGY_SRAM_7_EXPONENT] = {"sram_7nm_exponent", 0.129, "of S/8KiB",
		"8 KiB 7.5 pJ to 1 MiB 14 pJ (Jouppi et al., ISCA 2021, table 2)"},
};

const struct energy_row *energy_table(void)
{
	return constants;
}

static double value(enum energy_constant c)
{
	return constants[c].value;
}

static double node_scale(const struct arch *arch)
{
	return pow((double)arch->node_nm / 45.0, value(ENERGY_NODE_EXPONENT));
}

double energy_mac_j(const struct arch *arch)
{
	enum energy_constant c = arch->mac_bytes == 1   ? ENERGY_MAC_INT8
				 : arch->mac_bytes == 2 ? ENERGY_MAC_BF16
							: ENERGY_MAC_FP32;
	return 1e-12 * value(c) * node_scale(arch);
}

double energy_lane_op_j(const struct arch *arch)
{
	return 1e-12 * value(ENERGY_LANE_OP) * node_scale(arch);
}

double energy_sram_byte_j(const struct arch *arch)
{
	double bank = (double)min_u64(arch->sram_bytes, SRAM_BANK_BYTES) / 8192.0;
	double at_45 = value(ENERGY_SRAM_45_BYTE) * pow(bank, value(ENERGY_SRAM_45_EXPONENT));
	double at_7 = value(ENERGY_SRAM_7_BYTE) * pow(bank, value(ENERGY_SRAM_7_EXPONENT));
	double at = log(45.0 / arch->node_nm) / log(45.0 / 7.0);
	return 1e-12 * at_45 * pow(at_7 / at_45, at);
}

double energy_dram_byte_j(const struct arch *arch)
{
	switch (arch->dram) {
	case DRAM_HBM:
		return 8e-12 * value(ENERGY_DRAM_HBM_BIT);
	case DRAM_DDR:
		return 8e-12 * value(ENERGY_DRAM_DDR_BIT);
	case DRAM_LPDDR:
		return 8e-12 * value(ENERGY_DRAM_LPDDR_BIT);
	}
	abort(); /* not a value of the enum */
}

static bool is_7nm(const struct arch *arch)
{
	return arch->node_nm <= 7;
}

double energy_link_byte_j(const struct arch *arch)
{
	return 8e-12 * value(is_7nm(arch) ? ENERGY_LINK_7_BIT : ENERGY_LINK_16_BIT);
}

static double used_sram_bytes_per_cycle(const struct arch *arch)
{
	double lanes = (double)arch->vc_count * arch->vc_width;
	double edges =
		(double)arch->tc_rows * arch->mac_bytes + (double)arch->tc_cols * RESULT_BYTES;
	double used = lanes * LANE_BYTES + arch->tc_count * edges;
	return fmin(used, (double)arch->sram_bytes_per_cycle);
}

double arch_idle_w(const struct arch *arch)
{
	struct area_parts parts;
	area_chip_parts(arch, &parts);
	return value(ENERGY_IDLE) * area_parts_sum(&parts) * (double)arch->clock_hz * 1e-6;
}

void arch_power_parts(const struct arch *arch, struct power_parts *out)
{
	double hz = (double)arch->clock_hz;
	double lanes = (double)arch->vc_count * arch->vc_width;
	double link_bytes_per_s = (double)arch->links * (double)arch->link_bytes_per_s;
	*out = (struct power_parts){
		.idle = arch_idle_w(arch),
		.tc = arch_peak_macs_per_s(arch) * energy_mac_j(arch),
		.vc = lanes * LANE_STARTS * energy_lane_op_j(arch) * hz,
		.sram = used_sram_bytes_per_cycle(arch) * energy_sram_byte_j(arch) * hz,
		.hbm = (double)arch->hbm_bytes_per_s * energy_dram_byte_j(arch),
		.links = 2 * link_bytes_per_s * energy_link_byte_j(arch),
		.factor = value(is_7nm(arch) ? ENERGY_POWER_FACTOR_7 : ENERGY_POWER_FACTOR_16),
	};
}

double arch_tdp_w(const struct arch *arch)
{
	struct power_parts p;
	arch_power_parts(arch, &p);
	return p.idle + p.factor * (p.tc + p.vc + p.sram + p.hbm + p.links);
}

static uint64_t sum_of(u128 a, u128 b)
{
	return clamp_u64((u128)clamp_u64(a) + clamp_u64(b));
}

struct event_counts event_counts_of(const struct arch *arch, const struct op_cost *cost)
{
	u128 operands = ((u128)cost->sram.input_reads + cost->sram.weight_reads) * arch->mac_bytes;
	u128 results = (u128)cost->sram.output_writes * RESULT_BYTES;
	return (struct event_counts){
		.macs = cost->macs,
		.lane_ops = cost->lane_ops,
		.sram_bytes = sum_of(operands, results),
		.dram_bytes = sum_of(cost->dram_read_bytes, cost->dram_write_bytes),
	};
}

void event_counts_add(struct event_counts *sum, const struct event_counts *more, uint64_t times)
{
	sum->macs = sum_of(sum->macs, (u128)more->macs * times);
	sum->lane_ops = sum_of(sum->lane_ops, (u128)more->lane_ops * times);
	sum->sram_bytes = sum_of(sum->sram_bytes, (u128)more->sram_bytes * times);
	sum->dram_bytes = sum_of(sum->dram_bytes, (u128)more->dram_bytes * times);
	sum->link_bytes = sum_of(sum->link_bytes, (u128)more->link_bytes * times);
}

void energy_parts_of(const struct arch *arch, const struct event_counts *counts, double seconds,
	struct energy_parts *out)
{
	*out = (struct energy_parts){
		.macs = (double)counts->macs * energy_mac_j(arch),
		.lane_ops = (double)counts->lane_ops * energy_lane_op_j(arch),
		.sram = (double)counts->sram_bytes * energy_sram_byte_j(arch),
		.dram = (double)counts->dram_bytes * energy_dram_byte_j(arch),
		.links = (double)counts->link_bytes * energy_link_byte_j(arch),
		.idle = seconds * arch_idle_w(arch),
	};
}

double energy_parts_sum(const struct energy_parts *p)
{
	return p->macs + p->lane_ops + p->sram + p->dram + p->links + p->idle;
}

double arch_op_energy_j(const struct arch *arch, const struct op_cost *cost)
{
	struct event_counts counts = event_counts_of(arch, cost);
	struct energy_parts parts;
	energy_parts_of(arch, &counts, 0, &parts);
	return energy_parts_sum(&parts);
}
