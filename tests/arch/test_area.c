/* Area, power and energy of the shipped accelerators against public figures and the models'
 * published values. */
#include <stdlib.h>
#include <string.h>

#include "arch/area.h"
#include "arch/energy.h"
#include "base/rng.h"
#include "suite.h"

static struct arch read_arch(struct arena *a, const char *name)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	struct err err = {0};
	struct arch arch = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	bool ok = arch_read(
		a, arena_printf(a, "%s/models/accelerators/%s.json", root, name), &arch, &err);
	if (!ok)
		printf("%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	CU_ASSERT_STRING_EQUAL(arch.name, name);
	return arch;
}

/* Parts of the compact model as published with it (mm2; W before the factor), to the digits printed
 * there. */
static const struct {
	const char *name;
	double area[6], die, power[5];
} published[] = {
	{"tpuv2", {49.9, 56.7, 73.6, 74.6, 44.3, 9.9}, 572, {30.4, 11.7, 72.2, 28.0, 23.8}},
	{"tpuv3", {99.8, 56.7, 73.6, 84.0, 58.6, 9.9}, 708, {81.7, 15.7, 97.0, 36.0, 31.5}},
	{"tpuv4i", {29.9, 8.5, 120.8, 29.5, 10.7, 8.3}, 385, {59.4, 5.7, 22.6, 24.6, 8.0}},
};

static void chip_model_is_the_published_one(void)
{
	struct arena a = {0};
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		struct arch arch = read_arch(&a, published[i].name);
		struct area_parts p;
		struct power_parts w;
		arch_area_parts(&arch, &p);
		arch_power_parts(&arch, &w);
		double area[6] = {p.tc, p.vc, p.sram, p.hbm, p.links, p.pcie};
		double power[5] = {w.tc, w.vc, w.sram, w.hbm, w.links};
		for (int k = 0; k < 6; k++)
			CU_ASSERT_DOUBLE_EQUAL(area[k], published[i].area[k], 0.0501);
		CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&arch), published[i].die, 0.5);
		/* SRAM within 0.5 %: its access energy was rounded there */
		for (int k = 0; k < 5; k++)
			CU_ASSERT_DOUBLE_EQUAL(
				power[k], published[i].power[k], k == 2 ? 0.5 : 0.0501);
	}
	arena_free(&a);
}

static void chips_are_near_public_figures(void)
{
	static const struct {
		const char *name;
		double die_mm2, tdp_w;
	} chips[] = {{"tpuv2", 611, 280}, {"tpuv3", 648, 450}, {"tpuv4i", 400, 175}};
	struct arena a = {0};
	for (int i = 0; i < 3; i++) {
		struct arch arch = read_arch(&a, chips[i].name);
		CU_ASSERT_DOUBLE_EQUAL(
			arch_area_mm2(&arch), chips[i].die_mm2, 0.15 * chips[i].die_mm2);
		CU_ASSERT_DOUBLE_EQUAL(arch_tdp_w(&arch), chips[i].tdp_w, 0.25 * chips[i].tdp_w);
	}
	/* TPUv1 lies outside: its power factor is that of 16 nm. */
	struct arch v1 = read_arch(&a, "tpuv1");
	CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&v1), 331, 0.15 * 331);
	CU_ASSERT_DOUBLE_EQUAL(arch_idle_w(&v1), 28, 0.15 * 28);
	/* TPUv4: "below 600 mm2", no TDP published */
	struct arch v4 = read_arch(&a, "tpuv4");
	CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&v4), 590, 0.5);
	/* With idle power from the public die, TPUv2 comes out at 276 W. */
	struct arch v2 = read_arch(&a, "tpuv2");
	double idle = arch_idle_w(&v2);
	CU_ASSERT_DOUBLE_EQUAL(arch_tdp_w(&v2) - idle + idle * 611 / arch_area_mm2(&v2), 276, 0.5);
	CU_ASSERT_DOUBLE_EQUAL(idle, 1.2e-4 * arch_area_mm2(&v2) * 700, 1e-9);
	arena_free(&a);
}

static struct arch accelergy(
	uint32_t tcs, uint32_t tc_dim, uint32_t vcs, uint32_t width, uint64_t mib)
{
	return (struct arch){.tc_count = tcs,
		.tc_rows = tc_dim,
		.tc_cols = tc_dim,
		.vc_count = vcs,
		.vc_width = width,
		.sram_bytes = mib << 20,
		.area_model = area_model_find("accelergy22")};
}

static void accelergy22_is_exact(void)
{
	struct arch arch = accelergy(2, 128, 2, 128, 32);
	CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&arch), 72.76, 0.005);
	arch = accelergy(4, 128, 2, 128, 32);
	CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&arch), 98.56, 0.005);
	arch = accelergy(8, 128, 2, 128, 128);
	CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&arch), 278.826676, 1e-6);
	arch = accelergy(1, 256, 1, 256, 32);
	CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&arch), 98.40, 0.005);
	/* smallest: L2 of 1 KiB each */
	arch = accelergy(1, 4, 1, 4, 2);
	CU_ASSERT_DOUBLE_EQUAL(arch_area_mm2(&arch),
		1e-6 * (16 * 760.041386 + 6133.98 + 4 * 759.823853 + 6133.98 + 3338220), 1e-9);
}

static void accelergy22_interpolates(void)
{
	struct arch low = accelergy(1, 4, 1, 4, 2), high = accelergy(1, 4, 1, 4, 4);
	struct arch middle = accelergy(1, 4, 1, 4, 3);
	CU_ASSERT_DOUBLE_EQUAL(
		arch_area_mm2(&middle), (arch_area_mm2(&low) + arch_area_mm2(&high)) / 2, 1e-9);
	double last = 0;
	for (uint64_t mib = 1; mib < 300; mib++) {
		struct arch arch = accelergy(1, 4, 1, 4, mib);
		CU_ASSERT_TRUE(arch_area_mm2(&arch) > last);
		last = arch_area_mm2(&arch);
	}
	/* beyond the table by its last segment */
	struct arch beyond = accelergy(1, 4, 1, 4, 192), end = accelergy(1, 4, 1, 4, 128);
	CU_ASSERT_DOUBLE_EQUAL(
		arch_area_mm2(&beyond) - arch_area_mm2(&end), 1e-6 * (175423000 - 88605700), 1e-9);
}

static void more_is_larger_and_hotter(void)
{
	struct arena a = {0};
	struct arch base = read_arch(&a, "tpuv2");
	for (int i = 0; i < 6; i++) {
		struct arch more = base;
		switch (i) {
		case 0:
			more.tc_count++;
			break;
		case 1:
			more.vc_width *= 2;
			more.sram_bytes_per_cycle *= 2;
			break;
		case 2:
			more.sram_bytes *= 2;
			break;
		case 3:
			more.hbm_bytes_per_s *= 2;
			break;
		case 4:
			more.links++;
			break;
		default:
			more.mac_bytes = 4;
			break;
		}
		CU_ASSERT_TRUE(arch_area_mm2(&more) > arch_area_mm2(&base));
		CU_ASSERT_TRUE(arch_tdp_w(&more) > arch_tdp_w(&base));
	}
	/* few lanes cannot use all ports */
	struct arch narrow = base;
	narrow.vc_width = 128;
	struct power_parts few, all;
	arch_power_parts(&narrow, &few);
	arch_power_parts(&base, &all);
	CU_ASSERT_DOUBLE_EQUAL(few.sram / all.sram, (256 * 12 + 2 * 768) / 24576.0, 1e-9);
	arena_free(&a);
}

static void energy_counts_events(void)
{
	struct arena a = {0};
	struct arch arch = read_arch(&a, "tpuv2");
	CU_ASSERT_DOUBLE_EQUAL(energy_mac_j(&arch) * 1e12, 1.33, 0.005);
	CU_ASSERT_DOUBLE_EQUAL(energy_sram_byte_j(&arch) * 1e12, 4.2, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(energy_dram_byte_j(&arch) * 1e12, 40, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(energy_link_byte_j(&arch) * 1e12, 48, 1e-9);
	struct op_cost cost = {.dram_read_bytes = 3,
		.dram_write_bytes = 4,
		.sram = {10, 20, 30},
		.macs = 1000,
		.lane_ops = 50};
	double expected = 7 * 40e-12 + (30 * 2 + 30 * 4) * energy_sram_byte_j(&arch) +
			  1000 * energy_mac_j(&arch) + 50 * energy_lane_op_j(&arch);
	CU_ASSERT_DOUBLE_EQUAL(arch_op_energy_j(&arch, &cost), expected, 1e-18);
	CU_ASSERT_DOUBLE_EQUAL(
		energy_dram_byte_j(&(struct arch){.dram = DRAM_DDR}) * 1e12, 160, 1e-9);
	arch.node_nm = 7;
	CU_ASSERT_DOUBLE_EQUAL(energy_link_byte_j(&arch) * 1e12, 40, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(energy_mac_j(&arch) * 1e12, 0.86, 0.005);
	CU_ASSERT_DOUBLE_EQUAL(energy_sram_byte_j(&arch) * 1e12, 1.75, 0.01);
	arch.mac_bytes = 4;
	CU_ASSERT_DOUBLE_EQUAL(energy_mac_j(&arch) * 1e12, 2.13, 0.005);
	arch.mac_bytes = 1;
	CU_ASSERT_DOUBLE_EQUAL(energy_mac_j(&arch) * 1e12, 0.31, 0.007);
	arena_free(&a);
}

/* Counts of operators at random, split in two in every way: the parts of the sum are the sums of
 * the parts, and with idle power over both times they are the energy of the whole. */
static void energy_is_additive(void)
{
	struct arena a = {0};
	struct rng rng;
	rng_init(&rng, 5);
	struct arch arch = read_arch(&a, "tpuv3");
	for (int i = 0; i < 200; i++) {
		struct event_counts sum = {0};
		struct energy_parts whole, part;
		double joules = 0, seconds = 0;
		for (int k = 0; k < 5; k++) {
			struct op_cost cost = {.dram_read_bytes = rng_below(&rng, 1 << 30),
				.dram_write_bytes = rng_below(&rng, 1 << 30),
				.sram = {rng_below(&rng, 1 << 30), rng_below(&rng, 1 << 30),
					rng_below(&rng, 1 << 30)},
				.macs = rng_below(&rng, UINT64_C(1) << 40),
				.lane_ops = rng_below(&rng, 1 << 30)};
			struct event_counts counts = event_counts_of(&arch, &cost);
			double took = 1e-6 * (double)rng_below(&rng, 1000);
			uint64_t times = 1 + rng_below(&rng, 4);
			counts.link_bytes = rng_below(&rng, 1 << 20);
			event_counts_add(&sum, &counts, times);
			energy_parts_of(&arch, &counts, took, &part);
			joules += (double)times * energy_parts_sum(&part);
			seconds += (double)times * took;
			CU_ASSERT_DOUBLE_EQUAL(energy_parts_sum(&part),
				arch_op_energy_j(&arch, &cost) +
					(double)counts.link_bytes * energy_link_byte_j(&arch) +
					took * arch_idle_w(&arch),
				1e-12);
		}
		energy_parts_of(&arch, &sum, seconds, &whole);
		CU_ASSERT_DOUBLE_EQUAL(energy_parts_sum(&whole), joules, 1e-9 * joules);
	}
	struct event_counts most = {.macs = UINT64_MAX};
	event_counts_add(&most, &most, UINT64_MAX);
	CU_ASSERT_EQUAL(most.macs, UINT64_MAX);
	arena_free(&a);
}

static void tables_are_sorted_and_complete(void)
{
	const struct energy_row *rows = energy_table();
	for (int i = 0; i < N_ENERGY_CONSTANTS; i++) {
		CU_ASSERT_TRUE_FATAL(rows[i].name && rows[i].unit && rows[i].source);
		CU_ASSERT_TRUE(rows[i].value > 0);
		CU_ASSERT_TRUE(i == 0 || strcmp(rows[i - 1].name, rows[i].name) < 0);
	}
	size_t n;
	const struct area_model *models = area_model_list(&n);
	for (size_t i = 1; i < n; i++)
		CU_ASSERT_TRUE(strcmp(models[i - 1].name, models[i].name) < 0);
	CU_ASSERT_PTR_NULL(area_model_find("cacti"));
	CU_ASSERT_STRING_EQUAL(area_model_name(NULL), "chip");
	const struct process_node *nodes = process_node_list(&n);
	for (size_t i = 1; i < n; i++)
		CU_ASSERT_TRUE(nodes[i - 1].nm < nodes[i].nm);
	CU_ASSERT_PTR_NULL(process_node_find(12));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"chip model is the published one", chip_model_is_the_published_one},
		{"chips are near public figures", chips_are_near_public_figures},
		{"accelergy22 is exact", accelergy22_is_exact},
		{"accelergy22 interpolates", accelergy22_interpolates},
		{"more is larger and hotter", more_is_larger_and_hotter},
		{"energy counts events", energy_counts_events},
		{"energy is additive", energy_is_additive},
		{"tables are sorted and complete", tables_are_sorted_and_complete},
		CU_TEST_INFO_NULL,
	};
	return suite_run("arch area", tests);
}
