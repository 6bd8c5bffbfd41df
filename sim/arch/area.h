/* Silicon area. Two models, chosen by name in the accelerator file.
 *
 * chip: whole dies. With D the logic density of the node (Mtransistor/mm2) and b its 6T SRAM cell
 * (um2):
 *   PE            T / (0.75 D), T = 9 k (int8), 33 k (bf16 with fp32 accumulator and registers),
 *                 60 k (fp32) transistors
 *   vector lane   400 k / (0.5 D): fp32 and integer ALU, registers, share of the permute unit
 *   SRAM          b * 8 * 2^20 / 0.27 per MiB; 0.27 from the unified buffer of TPUv1 (24 MiB in
 *                 29 % of 331 mm2)
 *   HBM           10.45 mm2 of PHY per stack and 1.355 Mtransistor of controller per GB/s
 *                 (LLMCompass, HBM2e)
 *                 DDR: 5 mm2 per channel (TPUv1's floor plan: two in 3 % of 331 mm2). LPDDR: none,
 *                 it belongs to the system on chip around
 *   links         (GB/s per direction / 25) * (1.888 mm2 + 74.6 Mtransistor) (LLMCompass, NVLink 3)
 *   PCIe          0.48 mm2 + 3.96 Mtransistor per lane (LLMCompass, PCIe 4)
 *   other         0.46 of the die: NoC, scalar core, DMA, test, white space
 * Logic densities: ttm-cas (Khan and Mann, AI Chips). SRAM cells: the foundries' published 6T
 * cells. Against public dies: TPUv2 572 of 611 mm2, TPUv3 708 of 648, TPUv4i 385 of 400, TPUv1
 * 365 of 331, TPUv4 590 of 600. 0.27, 0.46 and two constants of the power model were fitted on
 * these same chips, so this is a calibration and not a validation: +-15 % for TPU-like dies. It
 * knows no GPU control logic (an A100 comes out at 593 of 826 mm2 and 457 of 400 W, a V100 at
 * 534 of 300 W): no claims there.
 *
 * accelergy22: exact closed form of the 29,360 configurations published with Phaze (Accelergy and
 * CACTI, 22 nm, 16-bit integer MACs), the arrays and buffers alone: no HBM PHY, links, NoC or
 * controllers.
 *   nTC (R C 760.041386 + L2(R C / 64 KiB)) + nVC (W 759.823853 + L2(W / 64 KiB)) + GLB   um2
 * with L2 of at least 1 KiB. L2 and GLB are tables at powers of two; sizes between are interpolated
 * linearly, sizes beyond the ends follow the first (through zero) or last segment. Clock, node, HBM
 * and links play no role in it. */
#ifndef ARCH_AREA_H
#define ARCH_AREA_H

#include <stddef.h>

#include "arch/arch.h"

/* Of all cores of a kind together, in mm2. What a model does not know is 0. */
struct area_parts {
	double tc, vc, sram, hbm, links, pcie, other;
};

struct area_model {
	const char *name;
	void (*parts)(const struct arch *arch, struct area_parts *out);
};

/* NULL when there is no such model. The list is sorted by name. */
const struct area_model *area_model_find(const char *name);
const struct area_model *area_model_list(size_t *n);
const char *area_model_name(const struct area_model *model);

/* By the arch's model; NULL there means chip. */
void arch_area_parts(const struct arch *arch, struct area_parts *out);
double area_parts_sum(const struct area_parts *parts);

void area_chip_parts(const struct arch *arch, struct area_parts *out);
void area_accelergy22_parts(const struct arch *arch, struct area_parts *out);

/* What the models know of a process node. */
struct process_node {
	uint32_t nm;
	const char *name;           /* "16 nm" */
	double density_mtr_per_mm2; /* logic */
	double sram_cell_um2;       /* 6T */
};

/* NULL when the node is not one of 65, 28, 16, 7 and 5 nm. */
const struct process_node *process_node_find(uint32_t nm);
/* Sorted by nm. */
const struct process_node *process_node_list(size_t *n);

#endif
