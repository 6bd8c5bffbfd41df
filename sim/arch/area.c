#include "arch/area.h"

#include <stdlib.h>
#include <string.h>

static const struct area_model models[] = {
	{"accelergy22", area_accelergy22_parts},
	{"chip", area_chip_parts},
};

static const struct process_node nodes[] = {
	{5, "5 nm", 138.2, 0.021},
	{7, "7 nm", 96.3, 0.027},
	{16, "16 nm", 28.9, 0.074},
	{28, "28 nm", 15.3, 0.127},
	{65, "65 nm", 3.3, 0.525},
};

enum {
	N_MODELS = sizeof(models) / sizeof(models[0]),
	N_NODES = sizeof(nodes) / sizeof(nodes[0]),
};

static const double die_overhead = 0.46;
static const double sram_array_efficiency = 0.27;
static const double pe_layout_density = 0.75, lane_layout_density = 0.5;
static const double lane_mtr = 0.4;
static const double hbm_phy_mm2 = 10.45, hbm_mtr_per_gb_s = 1.355;
static const double ddr_channel_mm2 = 5.0;
static const double link_phy_mm2 = 1.888, link_mtr = 74.6, phy_gb_s = 25;
static const double pcie_phy_mm2 = 0.48, pcie_mtr = 3.96;

const struct area_model *area_model_find(const char *name)
{
	for (size_t i = 0; i < N_MODELS; i++) {
		if (strcmp(models[i].name, name) == 0)
			return &models[i];
	}
	return NULL;
}

const struct area_model *area_model_list(size_t *n)
{
	*n = N_MODELS;
	return models;
}

const char *area_model_name(const struct area_model *model)
{
	return model ? model->name : "chip";
}

const struct process_node *process_node_find(uint32_t nm)
{
	for (size_t i = 0; i < N_NODES; i++) {
		if (nodes[i].nm == nm)
			return &nodes[i];
	}
	return NULL;
}

const struct process_node *process_node_list(size_t *n)
{
	*n = N_NODES;
	return nodes;
}

static double pe_mtr(uint32_t mac_bytes)
{
	return mac_bytes == 1 ? 0.009 : mac_bytes == 2 ? 0.033 : 0.060;
}

static double dram_mm2(const struct arch *arch, double density)
{
	double gb_s = (double)arch->hbm_bytes_per_s / 1e9;
	switch (arch->dram) {
	case DRAM_HBM:
		return arch->hbm_stacks * hbm_phy_mm2 + hbm_mtr_per_gb_s * gb_s / density;
	case DRAM_DDR:
		return arch->hbm_stacks * ddr_channel_mm2;
	case DRAM_LPDDR:
		return 0;
	}
	abort(); /* not a value of the enum */
}

void area_chip_parts(const struct arch *arch, struct area_parts *out)
{
	const struct process_node *node = process_node_find(arch->node_nm);
	assert(node);
	double density = node->density_mtr_per_mm2;
	double pes = (double)arch->tc_count * arch->tc_rows * arch->tc_cols;
	double lanes = (double)arch->vc_count * arch->vc_width;
	double link_gb_s = (double)arch->links * (double)arch->link_bytes_per_s / 1e9;
	*out = (struct area_parts){
		.tc = pes * pe_mtr(arch->mac_bytes) / (pe_layout_density * density),
		.vc = lanes * lane_mtr / (lane_layout_density * density),
		.sram = node->sram_cell_um2 * 1e-6 * 8 * (double)arch->sram_bytes /
			sram_array_efficiency,
		.hbm = dram_mm2(arch, density),
		.links = link_gb_s / phy_gb_s * (link_phy_mm2 + link_mtr / density),
		.pcie = arch->pcie_lanes * (pcie_phy_mm2 + pcie_mtr / density),
	};
	out->other = area_parts_sum(out) * die_overhead / (1 - die_overhead);
}

void arch_area_parts(const struct arch *arch, struct area_parts *out)
{
	if (arch->area_model)
		arch->area_model->parts(arch, out);
	else
		area_chip_parts(arch, out);
}

double area_parts_sum(const struct area_parts *p)
{
	return p->tc + p->vc + p->sram + p->hbm + p->links + p->pcie + p->other;
}

double arch_area_mm2(const struct arch *arch)
{
	struct area_parts parts;
	arch_area_parts(arch, &parts);
	return area_parts_sum(&parts);
}
