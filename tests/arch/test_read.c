/* Accelerator files and one-line accelerators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/area.h"
#include "base/file.h"
#include "suite.h"

static const char *const shipped[] = {"a100-40", "a100-80", "eyeriss", "h100", "mi210", "nvdla",
	"nvdla-2048", "tpuv1", "tpuv2", "tpuv3", "tpuv4", "tpuv4i", "v100"};
enum { N_SHIPPED = sizeof(shipped) / sizeof(shipped[0]) };

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
	for (size_t i = 0; i < N_SHIPPED; i++)
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
	CU_ASSERT_TRUE(v2.tc_efficiency >= 1 && v2.dram == DRAM_HBM);
	CU_ASSERT_TRUE(v2.kernels.tile_rows == 0 && v2.host.gemm == 0);
	CU_ASSERT_TRUE(v2.links == 4 && v2.link_bytes_per_s == 62000000000);
	CU_ASSERT_TRUE(v2.pcie_lanes == 16 && v2.node_nm == 16 && v2.mac_bytes == 2);
	CU_ASSERT_STRING_EQUAL(area_model_name(v2.area_model), "chip");
	/* 46 and 312 TFLOP/s */
	CU_ASSERT_DOUBLE_EQUAL(2e-12 * arch_peak_macs_per_s(&v2), 45.9, 0.05);
	struct arch a100 = read_arch(&a, "a100-80");
	CU_ASSERT_DOUBLE_EQUAL(2e-12 * arch_peak_macs_per_s(&a100), 311.9, 0.05);
	CU_ASSERT_TRUE(a100.kernels.tile_rows == 128 && a100.kernels.tile_cols == 256 &&
		       a100.kernels.tile_cores == 4 && a100.kernels.tile_bytes_per_cycle == 47 &&
		       a100.kernels.softmax_row_bytes == 2048 &&
		       a100.kernels.norm_row_bytes == 16384);
	CU_ASSERT_TRUE(a100.host.gemm == 27000000 && a100.host.softmax == 13000000 &&
		       a100.host.norm == 46000000 && a100.host.elementwise == 44000000);
	struct arch v1 = read_arch(&a, "tpuv1");
	CU_ASSERT_TRUE(v1.links == 0 && v1.dram == DRAM_DDR && v1.mac_bytes == 1);
	CU_ASSERT_TRUE(read_arch(&a, "eyeriss").pcie_lanes == 0);
	arena_free(&a);
}

/* Peak rates that the data sheets print, in TFLOP/s or TOPS. */
static void peaks_are_those_of_the_data_sheets(void)
{
	static const struct {
		const char *name;
		double peak, tolerance;
	} peaks[] = {{"a100-40", 312, 0.5}, {"a100-80", 312, 0.5}, {"eyeriss", 0.0672, 1e-9},
		{"h100", 989.4, 0.5}, {"mi210", 181, 0.5}, {"nvdla-2048", 4.096, 1e-9},
		{"tpuv1", 92, 0.5}, {"tpuv3", 123, 0.5}, {"tpuv4", 275, 0.5}, {"tpuv4i", 138, 0.5},
		{"v100", 125, 0.5}};
	struct arena a = {0};
	for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++) {
		struct arch arch = read_arch(&a, peaks[i].name);
		CU_ASSERT_DOUBLE_EQUAL(
			2e-12 * arch_peak_macs_per_s(&arch), peaks[i].peak, peaks[i].tolerance);
	}
	arena_free(&a);
}

/* Reads `text` as an accelerator file. Returns whether it was accepted. */
static bool read_text(struct arena *a, const char *text, struct err *err)
{
	struct arch arch;
	char path[] = "/tmp/wham-arch-XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	bool ok = arch_read(a, path, &arch, err);
	unlink(path);
	return ok;
}

static const char *model_text(struct arena *a, const char *name)
{
	struct bytes text;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(file_read(a, model_path(a, name), &text, &err));
	return arena_printf(a, "%.*s", (int)text.n, text.data);
}

/* `text` with `to` in place of the `n` bytes at `at`. */
static const char *splice(
	struct arena *a, const char *text, const char *at, size_t n, const char *to)
{
	return arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + n);
}

/* Reads `text` with one line changed: it must be refused with a word `told`, and where `line` is
 * not 0 at that line. */
static void must_refuse(struct arena *a, const char *text, int line, const char *told)
{
	struct err err = {0};
	char place[16];
	snprintf(place, sizeof(place), ":%d:", line);
	bool ok = read_text(a, text, &err);
	bool good = !ok && err.kind == ERR_INPUT && strstr(err.text, told) &&
		    (line == 0 || strstr(err.text, place));
	if (!good)
		printf("expected '%s' at line %d: %s\n", told, line, ok ? "accepted" : err.text);
	CU_ASSERT_TRUE(good);
}

/* Each edit of a file, and what the message must hold beside the line. */
static const struct {
	const char *file, *from, *to, *text;
} bad_edits[] = {
	{"tpuv2", "\"700 MHz\"", "700", "MHz"},
	{"tpuv2", "\"700 MHz\"", "\"700 GB/s\"", "MHz"},
	{"tpuv2", "\"16 nm\"", "\"12 nm\"", "12 nm"},
	{"tpuv2", "\"bf16\"", "\"fp8\"", "fp8"},
	{"tpuv2", "\"chip\"", "\"die\"", "accelergy22 or chip"},
	{"tpuv2", "\"count\": 2,", "\"count\": 2.5,", "count"},
	{"tpuv2", "\"rows\": 128", "\"rows\": 1e9", "rows"},
	{"tpuv2", "\"ws\"", "\"rs\"", "is, os or ws"},
	{"tpuv2", "\"pipelined\"", "\"parallel\"", "pipelined or serial"},
	{"tpuv2", "\"size\": \"16 GiB\"", "\"size\": \"32 MiB\"", "SRAM"},
	{"tpuv2", "\"714 ns\"", "\"714\"", "latency"},
	{"tpuv2", "\"kind\": \"hbm\"", "\"kind\": \"gddr\"", "ddr, hbm or lpddr"},
	{"tpuv2", "\"stacks\": 4", "\"stacks\": \"4\"", "stacks"},
	{"tpuv2", "0.9", "1.5", "hbm_bandwidth"},
	{"tpuv2", "\"0 ns\"", "\"2 s\"", "launch overhead"},
	{"tpuv2", "\"links\": {", "\"links\": [], \"x\": {", ""},
	{"tpuv2", "\"count\": 4,", "\"count\": 4, \"count\": 4,", "duplicate"},
	{"tpuv1", "\"links\": \"none\"", "\"links\": \"few\"", "links"},
	{"tpuv1", "\"kernels\": \"none\"", "\"kernels\": null", "object"},
	{"tpuv1", "\"pcie_lanes\": 16", "\"pcie_lanes\": \"some\"", "pcie_lanes"},
	{"a100-80", "\"kernels\": {", "\"kernels\": {\"tile_depth\": 3,", "tile_depth"},
};

static int line_of(const char *text, const char *at)
{
	int line = 1;
	for (const char *c = text; c < at; c++)
		line += *c == '\n';
	return line;
}

static void bad_values_are_named(void)
{
	struct arena a = {0};
	for (size_t i = 0; i < sizeof(bad_edits) / sizeof(bad_edits[0]); i++) {
		const char *text = model_text(&a, bad_edits[i].file);
		const char *at = strstr(text, bad_edits[i].from);
		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		must_refuse(&a, splice(&a, text, at, strlen(bad_edits[i].from), bad_edits[i].to),
			line_of(text, at), bad_edits[i].text);
	}
	struct err err = {0};
	struct arch arch;
	CU_ASSERT_FALSE(arch_read(&a, "/nonexistent/x.json", &arch, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	arena_free(&a);
}

/* Values that contradict each other: the section is named by its place. */
static void contradictions_are_named(void)
{
	static const struct {
		const char *from, *to, *told;
	} bad[] = {
		{"\"tile_rows\": 128", "\"tile_rows\": 8", "smaller than the array"},
		{"\"tile_cores\": 4", "\"tile_cores\": 5", "does not divide"},
		{"\"gemm\": \"27 us\"", "\"gemm\": \"27 s\"", "more than a second"},
		{"\"size\": \"40 MiB\"", "\"size\": \"80 GiB\"", "no larger than the SRAM"},
	};
	struct arena a = {0};
	const char *text = model_text(&a, "a100-80");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *at = strstr(text, bad[i].from);
		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		must_refuse(
			&a, splice(&a, text, at, strlen(bad[i].from), bad[i].to), 0, bad[i].told);
	}
	arena_free(&a);
}

/* One line `"key": value[,]` of a file. */
struct entry {
	const char *key, *value; /* copies without quotes and comma */
	const char *key_at, *value_at;
	size_t n_value;
	bool is_text, last;
};

static bool find_entry(struct arena *a, const char *line, struct entry *out)
{
	const char *key = line + strspn(line, "\t");
	size_t n_line = strcspn(line, "\n");
	if (*key != '"' || line[n_line - 1] == '{')
		return false;
	const char *colon = strstr(key, "\": ");
	out->key_at = key + 1;
	out->key = arena_printf(a, "%.*s", (int)(colon - key - 1), key + 1);
	out->value_at = colon + 3;
	out->last = line[n_line - 1] != ',';
	out->n_value = (size_t)(line + n_line - out->value_at) - !out->last;
	out->is_text = *out->value_at == '"';
	out->value = arena_printf(
		a, "%.*s", (int)out->n_value - 2 * out->is_text, out->value_at + out->is_text);
	return true;
}

/* The entry's value changed to 0, to its negative, to nothing and to another type. */
static void bad_values_of(struct arena *a, const char *text, int line, const struct entry *e)
{
	bool number = !e->is_text || (*e->value >= '0' && *e->value <= '9');
	const char *quote = e->is_text ? "\"" : "";
	const char *unit = e->value + strspn(e->value, "0123456789.");
	bool plain = strcmp(e->key, "name") == 0 || strcmp(e->key, "source") == 0;
	const char *told = plain ? "expected" : e->key;
	const char *zero = arena_printf(a, "%s0%s%s", quote, unit, quote);
	const char *negative = arena_printf(a, "%s-%s%s", quote, e->value, quote);
	if (number && !plain && strcmp(e->key, "process_node") != 0) {
		if (strcmp(e->key, "launch_overhead") != 0)
			must_refuse(a, splice(a, text, e->value_at, e->n_value, zero), line, told);
		must_refuse(a, splice(a, text, e->value_at, e->n_value, negative), line, told);
	}
	must_refuse(a, splice(a, text, e->value_at, e->n_value, "\"\""), line, "");
	must_refuse(a, splice(a, text, e->value_at, e->n_value, "null"), line, "expected");
	must_refuse(a, splice(a, text, e->value_at, e->n_value, "[1]"), line, "expected");
}

/* Every value of every shipped file: missing, zero, negative, unknown, of another type. */
static void no_value_can_be_wrong(void)
{
	uint32_t n_entries = 0;
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct arena a = {0};
		const char *text = model_text(&a, shipped[i]);
		int line = 1;
		for (const char *at = text; *at; at += strcspn(at, "\n") + 1, line++) {
			struct entry e;
			if (!find_entry(&a, at, &e))
				continue;
			n_entries++;
			/* the last one leaves the comma of the one before */
			const char *from = e.last ? at - 2 : at;
			size_t n = strcspn(at, "\n") + (e.last ? 2 : 1);
			must_refuse(&a, splice(&a, text, from, n, ""), 0,
				arena_printf(&a, "'%s'", e.key));
			must_refuse(&a, splice(&a, text, e.key_at, 1, "x_"), line, "'x_");
			bad_values_of(&a, text, line, &e);
		}
		arena_free(&a);
	}
	CU_ASSERT_TRUE(n_entries > 30 * N_SHIPPED);
}

/* A section that is not there, or under a wrong name. */
static void no_section_can_be_left_out(void)
{
	static const char *const sections[] = {"tensor_cores", "vector_cores", "sram", "hbm",
		"links", "efficiency", "kernels", "host"};
	struct arena a = {0};
	const char *text = model_text(&a, "a100-80");
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const char *at = strstr(text, arena_printf(&a, "\"%s\": {", sections[i]));
		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		const char *end = strchr(at, '}');
		bool last = i + 1 == sizeof(sections) / sizeof(sections[0]);
		const char *from =
			last ? strrchr(arena_printf(&a, "%.*s", (int)(at - text), text), ',')
			     : NULL;
		size_t cut = from ? strlen(from) : 0;
		must_refuse(&a,
			splice(&a, text, at - cut, (size_t)(end - at) + cut + (last ? 1 : 2), ""),
			0, sections[i]);
		must_refuse(&a, splice(&a, text, at + 1, 1, "x_"), line_of(text, at), "'x_");
	}
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
		{"peaks are those of the data sheets", peaks_are_those_of_the_data_sheets},
		{"bad values are named", bad_values_are_named},
		{"contradictions are named", contradictions_are_named},
		{"no value can be wrong", no_value_can_be_wrong},
		{"no section can be left out", no_section_can_be_left_out},
		{"one line changes the base", one_line_changes_the_base},
		{"bad lines are refused", bad_lines_are_refused},
		CU_TEST_INFO_NULL,
	};
	return suite_run("arch read", tests);
}
