#include "arch/energy.h"

#include <math.h>

#include "arch/area.h"
#include "arch/internal.h"

enum {
	SRAM_BANK_BYTES = 1024 * 1024,
	RESULT_BYTES = 4,   /* what leaves a core: fp32 or int32 */
	LANE_BYTES = 3 * 4, /* two operands and a result */
	LANE_STARTS = 2,    /* operations that a lane starts in a cycle */
};

static const struct energy_row constants[N_ENERGY_CONSTANTS] = {
	[ENERGY_DRAM_BIT] = {"dram_bit", 5, "pJ",
		"HBM2, within 3.9 (O'Connor et al., MICRO 2017) to 7.0 (Jouppi et al., ISCA 2021, "
		"table 2)"},
	[ENERGY_IDLE] = {"idle", 1.2e-4, "W/(mm2 MHz)", "fitted on idle power of TPUv2 to TPUv4"},
	[ENERGY_LANE_OP] = {"lane_op", 7, "pJ at 45 nm",
		"fp32 multiply-add 4.6 pJ (Horowitz, ISSCC 2014) and its register file accesses"},
	[ENERGY_MAC_BF16] = {"mac_bf16", 2.27, "pJ at 45 nm",
		"Horowitz, ISSCC 2014, and 0.009 pJ for each register bit (Aladdin)"},
	[ENERGY_MAC_FP32] = {"mac_fp32", 5.60, "pJ at 45 nm",
		"3.7 + 0.9 pJ (Horowitz, ISSCC 2014), and registers as for bf16"},
	[ENERGY_MAC_INT8] = {"mac_int8", 0.80, "pJ at 45 nm",
		"Horowitz, ISSCC 2014, with an int32 accumulator, and registers as for bf16"},
	[ENERGY_NODE_EXPONENT] = {"node_exponent", 0.52, "of n/45",
		"from 45 nm (Horowitz, ISSCC 2014) to 7 nm (Jouppi et al., ISCA 2021, table 2)"},
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
	return 8e-12 * value(ENERGY_DRAM_BIT);
}

double energy_link_byte_j(const struct arch *arch)
{
	const struct process_node *node = process_node_find(arch->node_nm);
	assert(node);
	return 8e-12 * node->link_pj_per_bit;
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
	const struct process_node *node = process_node_find(arch->node_nm);
	assert(node);
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
		.factor = node->power_factor,
	};
}

double arch_tdp_w(const struct arch *arch)
{
	struct power_parts p;
	arch_power_parts(arch, &p);
	return p.idle + p.factor * (p.tc + p.vc + p.sram + p.hbm + p.links);
}

double arch_op_energy_j(const struct arch *arch, const struct op_cost *cost)
{
	double operand_bytes = ((double)cost->sram.input_reads + (double)cost->sram.weight_reads) *
			       arch->mac_bytes;
	double result_bytes = (double)cost->sram.output_writes * RESULT_BYTES;
	double dram_bytes = (double)cost->dram_read_bytes + (double)cost->dram_write_bytes;
	return (double)cost->macs * energy_mac_j(arch) +
	       (double)cost->lane_ops * energy_lane_op_j(arch) +
	       (operand_bytes + result_bytes) * energy_sram_byte_j(arch) +
	       dram_bytes * energy_dram_byte_j(arch);
}
