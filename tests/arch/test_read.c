/* Accelerator files and one-line accelerators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/area.h"
#include "base/file.h"
#include "suite.h"

static const char *const shipped[] = {"a100-80", "nvdla", "tpuv2", "tpuv3", "tpuv4i"};

static const char *model_path(struct arena *a, const char *name)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	return arena_printf(a, "%s/models/accelerators/%s.json", root, name);
}

static struct arch read_arch(struct arena *a, const char *name)
{
	struct err err = {0};
	struct arch arch;
	bool ok = arch_read(a, model_path(a, name), &arch, &err);
	if (!ok)
		printf("%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return arch;
}

static void shipped_files_are_good(void)
{
	struct arena a = {0};
	for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++)
		CU_ASSERT_STRING_EQUAL(read_arch(&a, shipped[i]).name, shipped[i]);
	arena_free(&a);
}

static void every_value_arrives(void)
{
	struct arena a = {0};
	struct arch v2 = read_arch(&a, "tpuv2");
	CU_ASSERT_EQUAL(v2.clock_hz, 700000000);
	CU_ASSERT_TRUE(v2.tc_count == 2 && v2.tc_rows == 128 && v2.tc_cols == 128);
	CU_ASSERT_TRUE(v2.dataflow == DATAFLOW_WS && v2.fold_mode == FOLD_PIPELINED);
	CU_ASSERT_TRUE(v2.vc_count == 2 && v2.vc_width == 1024);
	CU_ASSERT_EQUAL(v2.sram_bytes, 32 << 20);
	CU_ASSERT_EQUAL(v2.sram_bytes_per_cycle, 24576);
	CU_ASSERT_EQUAL(v2.hbm_bytes, UINT64_C(16) << 30);
	CU_ASSERT_EQUAL(v2.hbm_bytes_per_s, 700000000000);
	CU_ASSERT_EQUAL(v2.hbm_latency, 714000);
	CU_ASSERT_EQUAL(v2.hbm_stacks, 4);
	CU_ASSERT_EQUAL(arch_dram_bytes_per_s(&v2), 630000000000);
	CU_ASSERT_EQUAL(v2.launch_overhead, 0);
	CU_ASSERT_TRUE(v2.links == 4 && v2.link_bytes_per_s == 62000000000);
	CU_ASSERT_TRUE(v2.pcie_lanes == 16 && v2.node_nm == 16 && v2.mac_bytes == 2);
	CU_ASSERT_STRING_EQUAL(area_model_name(v2.area_model), "chip");
	/* 46 and 312 TFLOP/s */
	CU_ASSERT_DOUBLE_EQUAL(2e-12 * arch_peak_macs_per_s(&v2), 45.9, 0.05);
	struct arch a100 = read_arch(&a, "a100-80");
	CU_ASSERT_DOUBLE_EQUAL(2e-12 * arch_peak_macs_per_s(&a100), 311.9, 0.05);
	arena_free(&a);
}

/* Writes tpuv2.json with `from` replaced by `to` and reads it. Returns whether it was accepted. */
static bool read_edited(struct arena *a, const char *from, const char *to, struct err *err)
{
	struct bytes text;
	struct arch arch;
	CU_ASSERT_TRUE_FATAL(file_read(a, model_path(a, "tpuv2"), &text, err));
	const char *at = strstr(text.data, from);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	const char *edited = arena_printf(
		a, "%.*s%s%s", (int)(at - text.data), text.data, to, at + strlen(from));
	char path[] = "/tmp/wham-arch-XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, edited, strlen(edited)), (ssize_t)strlen(edited));
	close(fd);
	bool ok = arch_read(a, path, &arch, err);
	unlink(path);
	return ok;
}

/* Each edit of tpuv2.json, and what the message must hold. */
static const struct {
	const char *from, *to, *line, *text;
} bad_edits[] = {
	{"\"clock\": \"700 MHz\",", "", ":1:1: ", "clock"},
	{"\"700 MHz\"", "700", ":4:", "MHz"},
	{"\"700 MHz\"", "\"0 MHz\"", ":4:", "clock"},
	{"\"700 MHz\"", "\"-700 MHz\"", ":4:", "clock"},
	{"\"700 MHz\"", "\"700 GB/s\"", ":4:", "MHz"},
	{"\"clock\"", "\"clok\"", ":4:", "clock"},
	{"\"16 nm\"", "\"12 nm\"", ":5:", "12 nm"},
	{"\"16 nm\"", "16", ":5:", "process_node"},
	{"\"bf16\"", "\"fp8\"", ":6:", "fp8"},
	{"\"pcie_lanes\": 16", "\"pcie_lanes\": 0", ":7:", "pcie_lanes"},
	{"\"chip\"", "\"die\"", ":8:", "accelergy22 or chip"},
	{"\"count\": 2,", "\"count\": -2,", ":10:", "count"},
	{"\"count\": 2,", "\"count\": 2.5,", ":10:", "count"},
	{"\"rows\": 128", "\"rows\": 1e9", ":11:", "rows"},
	{"\"ws\"", "\"rs\"", ":13:", "is, os or ws"},
	{"\"pipelined\"", "\"parallel\"", ":14:", "pipelined or serial"},
	{"\"width\": 1024", "\"wdth\": 1024", ":19:", "width"},
	{"\"size\": \"32 MiB\"", "\"size\": \"32 GiB\"", ":28:", "SRAM"},
	{"\"bytes_per_cycle\": \"24 KiB\",", "", ":22:", "bytes_per_cycle"},
	{"\"700 GB/s\"", "\"0 GB/s\"", ":29:", "bandwidth"},
	{"\"714 ns\"", "\"714\"", ":30:", "latency"},
	{"\"stacks\": 4", "\"stacks\": \"4\"", ":31:", "stacks"},
	{"0.9", "1.5", ":40:", "hbm_bandwidth"},
	{"0.9", "0", ":40:", "hbm_bandwidth"},
	{"\"0 ns\"", "\"-1 ns\"", ":41:", "launch_overhead"},
	{"\"name\": \"tpuv2\"", "\"name\": \"\"", ":2:", "name"},
	{"\"links\": {", "\"links\": [], \"x\": {", ":", ""},
	{"\"count\": 4,", "\"count\": 4, \"count\": 4,", ":35:", "duplicate"},
};

static void bad_values_are_named(void)
{
	struct arena a = {0};
	for (size_t i = 0; i < sizeof(bad_edits) / sizeof(bad_edits[0]); i++) {
		struct err err = {0};
		bool ok = read_edited(&a, bad_edits[i].from, bad_edits[i].to, &err);
		bool told = !ok && err.kind == ERR_INPUT && strstr(err.text, bad_edits[i].line) &&
			    strstr(err.text, bad_edits[i].text);
		if (!told)
			printf("%s -> %s: %s\n", bad_edits[i].from, bad_edits[i].to,
				ok ? "accepted" : err.text);
		CU_ASSERT_TRUE(told);
	}
	struct err err = {0};
	struct arch arch;
	CU_ASSERT_FALSE(arch_read(&a, "/nonexistent/x.json", &arch, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	arena_free(&a);
}

static void one_line_changes_the_base(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch base = read_arch(&a, "tpuv2"), arch;
	CU_ASSERT_TRUE_FATAL(arch_parse(
		&a, "TC=4x64x32,VC=3x256,SRAM=16MiB,HBM=1TB/s,clock=1.5GHz", &base, &arch, &err));
	CU_ASSERT_TRUE(arch.tc_count == 4 && arch.tc_rows == 64 && arch.tc_cols == 32);
	CU_ASSERT_TRUE(arch.vc_count == 3 && arch.vc_width == 256);
	CU_ASSERT_EQUAL(arch.sram_bytes, 16 << 20);
	CU_ASSERT_EQUAL(arch.hbm_bytes_per_s, TICKS_PER_S);
	CU_ASSERT_EQUAL(arch.clock_hz, 1500000000);
	CU_ASSERT_EQUAL(arch.links, base.links);
	CU_ASSERT_STRING_EQUAL(arch.name, "TC=4x64x32,VC=3x256,SRAM=16MiB,HBM=1TB/s,clock=1.5GHz");
	CU_ASSERT_TRUE_FATAL(arch_parse(&a, "vc=2x128", &base, &arch, &err));
	CU_ASSERT_TRUE(arch.tc_count == 2 && arch.tc_rows == 128 && arch.vc_width == 128);
	arena_free(&a);
}

static void bad_lines_are_refused(void)
{
	static const struct {
		const char *text, *told;
	} bad[] = {
		{"TC=2x128", "COUNTxROWSxCOLS"},
		{"TC=0x128x128", "COUNTxROWSxCOLS"},
		{"TC=2x128x128x1", "COUNTxROWSxCOLS"},
		{"TC=-2x128x128", "COUNTxROWSxCOLS"},
		{"TC=2x128x99999999999999999999", "COUNTxROWSxCOLS"},
		{"VC=2", "COUNTxWIDTH"},
		{"VC=2x", "COUNTxWIDTH"},
		{"SRAM=32", "SRAM"},
		{"SRAM=0MiB", "less than"},
		{"SRAM=64GiB", "no smaller"},
		{"HBM=0GB/s", "less than"},
		{"clock=1ns", "CLOCK"},
		{"TC=2x8x8,TC=2x8x8", "twice"},
		{"TC=2x8x8,", "'='"},
		{"DC=2x8x8", "unknown key 'DC'"},
	};
	struct arena a = {0};
	struct arch base = read_arch(&a, "tpuv2"), arch;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = {0};
		bool ok = arch_parse(&a, bad[i].text, &base, &arch, &err);
		bool told = !ok && err.kind == ERR_USAGE && strstr(err.text, bad[i].told);
		if (!told)
			printf("%s: %s\n", bad[i].text, ok ? "accepted" : err.text);
		CU_ASSERT_TRUE(told);
	}
	CU_ASSERT_TRUE(arch_is_spec("TC=2x128x128"));
	CU_ASSERT_TRUE(arch_is_spec("vc=2x128,SRAM=32MiB"));
	CU_ASSERT_FALSE(arch_is_spec("tpuv2"));
	CU_ASSERT_FALSE(arch_is_spec("./a=b.json"));
	CU_ASSERT_FALSE(arch_is_spec("=2"));
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"shipped files are good", shipped_files_are_good},
		{"every value arrives", every_value_arrives},
		{"bad values are named", bad_values_are_named},
		{"one line changes the base", one_line_changes_the_base},
		{"bad lines are refused", bad_lines_are_refused},
		CU_TEST_INFO_NULL,
	};
	return suite_run("arch read", tests);
}
