/* The area model accelergy22: see area.h. */
#include "arch/area.h"

struct sized_area {
	double size, um2;
};

/* KiB. Recovered from the 29,360 configurations of Phaze's cores.json, as the rest of this file. */
static const struct sized_area l2_table[] = {
	{1, 6133.98},
	{2, 8248.43},
	{4, 12610.5},
	{8, 22139.9},
	{16, 38583.0},
	{32, 63338.4},
	{64, 115579},
	{128, 204764},
	{256, 446565},
	{512, 897890},
	{1024, 1634130},
};

/* MiB. */
static const struct sized_area glb_table[] = {
	{2, 3338220},
	{4, 6078640},
	{8, 11952400},
	{16, 23745200},
	{32, 46750900},
	{64, 88605700},
	{128, 175423000},
};

static const double tc_pe_um2 = 760.041386, vc_lane_um2 = 759.823853;
static const double pes_per_kib = 64;

static double interpolate(const struct sized_area *table, size_t n, double size)
{
	if (size < table[0].size)
		return table[0].um2 * size / table[0].size;
	size_t i = 1;
	while (i + 1 < n && size > table[i].size)
		i++;
	const struct sized_area *low = &table[i - 1], *high = &table[i];
	if (size == low->size) /* the table's own digits, not nearly them */
		return low->um2;
	double at = (size - low->size) / (high->size - low->size);
	return low->um2 + at * (high->um2 - low->um2);
}

static double core_um2(double pes, double pe_um2)
{
	double l2_kib = pes / pes_per_kib;
	if (l2_kib < 1)
		l2_kib = 1;
	return pes * pe_um2 + interpolate(l2_table, sizeof(l2_table) / sizeof(l2_table[0]), l2_kib);
}

void area_accelergy22_parts(const struct arch *arch, struct area_parts *out)
{
	double glb_mib = (double)arch->sram_bytes / (1024 * 1024);
	*out = (struct area_parts){
		.tc = 1e-6 * arch->tc_count *
		      core_um2((double)arch->tc_rows * arch->tc_cols, tc_pe_um2),
		.vc = 1e-6 * arch->vc_count * core_um2(arch->vc_width, vc_lane_um2),
		.sram = 1e-6 *
			interpolate(glb_table, sizeof(glb_table) / sizeof(glb_table[0]), glb_mib),
	};
}
