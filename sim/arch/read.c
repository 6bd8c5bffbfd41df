/* Reads an accelerator file: the keys are at arch_read(). */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/area.h"
#include "arch/internal.h"
#include "base/doc.h"
#include "base/text.h"

enum {
	COUNT_MAX = 65536,
	MIN_CLOCK_HZ = 1000000,
	MIN_BYTES_PER_S =
		1000000, /* slower than this is a wrong unit, and times would leave the range of a tick */
};

static const double min_efficiency = 0.01;

static const struct {
	const char *name;
	uint32_t bytes;
} mac_types[] = {{"bf16", 2}, {"fp16", 2}, {"fp32", 4}, {"int8", 1}};

static const struct {
	const char *name;
	enum dram_kind kind;
} dram_kinds[] = {{"ddr", DRAM_DDR}, {"hbm", DRAM_HBM}, {"lpddr", DRAM_LPDDR}};

enum { N_DRAM_KINDS = sizeof(dram_kinds) / sizeof(dram_kinds[0]) };

enum { N_MAC_TYPES = sizeof(mac_types) / sizeof(mac_types[0]) };

/* Puts the key's name into a message "path:line:column: what is wrong" about its value. Returns
 * false. */
static bool name_key(struct doc_at at, const char *key, struct err *err)
{
	char told[ERR_TEXT];
	size_t n = strlen(at.doc->path);
	if (strncmp(err->text, at.doc->path, n) != 0)
		return false;
	n += strspn(err->text + n, ":0123456789");
	snprintf(told, sizeof(told), "%s", err->text);
	return err_set(err, err->kind, "%.*s %s:%s", (int)n, told, key, told + n);
}

/* A section of the file: an object with these keys, one of which is its source. */
static bool get_section(const struct doc_at *root, const char *key, const char *const *keys,
	struct doc_at *out, struct err *err)
{
	struct doc_at source;
	const char *text;
	if (!doc_get(root, key, out, err) || !doc_object(*out, keys, err) ||
		!doc_get(out, "source", &source, err) || !doc_string(source, &text, err))
		return false;
	return text[0] ||
	       doc_fail(source, err, "empty source, expected where the values come from");
}

/* As get_section(), or the text "none", which sets `none`. */
static bool get_section_or_none(const struct doc_at *root, const char *key, const char *const *keys,
	struct doc_at *out, bool *none, struct err *err)
{
	struct err not_text = {0};
	const char *text;
	*none = false;
	if (!doc_get(root, key, out, err))
		return false;
	if (!doc_string(*out, &text, &not_text))
		return get_section(root, key, keys, out, err);
	*none = strcmp(text, "none") == 0;
	return *none ||
	       doc_fail(*out, err, "%s: unknown text '%.40s', expected an object or \"none\"", key,
		       text);
}

static bool get_text(const struct doc_at *object, const char *key, struct doc_at *at,
	const char **out, struct err *err)
{
	return doc_get(object, key, at, err) &&
	       (doc_string(*at, out, err) || name_key(*at, key, err));
}

static bool get_count(const struct doc_at *object, const char *key, uint32_t *out, struct err *err)
{
	struct doc_at at;
	uint64_t value;
	if (!doc_get(object, key, &at, err))
		return false;
	if (!doc_uint(at, 1, COUNT_MAX, &value, err))
		return name_key(at, key, err);
	*out = (uint32_t)value;
	return true;
}

static bool get_quantity(const struct doc_at *object, const char *key, enum unit_dim dim,
	uint64_t min, uint64_t *out, struct err *err)
{
	struct doc_at at;
	return doc_get(object, key, &at, err) &&
	       (doc_quantity(at, dim, min, out, err) || name_key(at, key, err));
}

static bool get_share(const struct doc_at *object, const char *key, double *out, struct err *err)
{
	struct doc_at at;
	return doc_get(object, key, &at, err) &&
	       (doc_number(at, min_efficiency, 1, out, err) || name_key(at, key, err));
}

static bool read_tensor_cores(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {
		"cols", "count", "dataflow", "folds", "rows", "source", NULL};
	struct doc_at at, name_at;
	const char *name;
	if (!get_section(root, "tensor_cores", keys, &at, err) ||
		!get_count(&at, "count", &out->tc_count, err) ||
		!get_count(&at, "rows", &out->tc_rows, err) ||
		!get_count(&at, "cols", &out->tc_cols, err) ||
		!get_text(&at, "dataflow", &name_at, &name, err))
		return false;
	if (!dataflow_find(name, &out->dataflow))
		return doc_fail(
			name_at, err, "unknown dataflow '%.40s', expected is, os or ws", name);
	if (!get_text(&at, "folds", &name_at, &name, err))
		return false;
	if (!fold_mode_find(name, &out->fold_mode))
		return doc_fail(name_at, err,
			"unknown fold mode '%.40s', expected pipelined or serial", name);
	return true;
}

static bool read_vector_cores(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {"count", "source", "width", NULL};
	struct doc_at at;
	return get_section(root, "vector_cores", keys, &at, err) &&
	       get_count(&at, "count", &out->vc_count, err) &&
	       get_count(&at, "width", &out->vc_width, err);
}

static bool read_sram(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {"bytes_per_cycle", "size", "source", NULL};
	struct doc_at at;
	return get_section(root, "sram", keys, &at, err) &&
	       get_quantity(&at, "size", UNIT_BYTES, 1, &out->sram_bytes, err) &&
	       get_quantity(&at, "bytes_per_cycle", UNIT_BYTES, 1, &out->sram_bytes_per_cycle, err);
}

static bool read_dram_kind(const struct doc_at *hbm, struct arch *out, struct err *err)
{
	struct doc_at at;
	const char *name;
	if (!get_text(hbm, "kind", &at, &name, err))
		return false;
	for (size_t i = 0; i < N_DRAM_KINDS; i++) {
		if (strcmp(dram_kinds[i].name, name) == 0) {
			out->dram = dram_kinds[i].kind;
			return true;
		}
	}
	return doc_fail(
		at, err, "unknown kind of memory '%.40s', expected ddr, hbm or lpddr", name);
}

static bool read_hbm(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {
		"bandwidth", "kind", "latency", "size", "source", "stacks", NULL};
	struct doc_at at, size, latency;
	if (!get_section(root, "hbm", keys, &at, err) || !read_dram_kind(&at, out, err) ||
		!get_quantity(&at, "size", UNIT_BYTES, 1, &out->hbm_bytes, err) ||
		!get_quantity(&at, "bandwidth", UNIT_BANDWIDTH, MIN_BYTES_PER_S,
			&out->hbm_bytes_per_s, err) ||
		!get_quantity(&at, "latency", UNIT_TIME, 1, &out->hbm_latency, err) ||
		!get_count(&at, "stacks", &out->hbm_stacks, err) ||
		!doc_get(&at, "size", &size, err) || !doc_get(&at, "latency", &latency, err))
		return false;
	if (out->hbm_bytes <= out->sram_bytes)
		return doc_fail(size, err,
			"HBM is no larger than the SRAM in front of it, expected more than "
			"sram.size");
	if (out->hbm_latency > TICKS_PER_S)
		return doc_fail(
			latency, err, "latency of more than a second, expected some 100 ns");
	return true;
}

static bool read_links(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {"bandwidth", "count", "source", NULL};
	struct doc_at at;
	bool none;
	if (!get_section_or_none(root, "links", keys, &at, &none, err))
		return false;
	return none || (get_count(&at, "count", &out->links, err) &&
			       get_quantity(&at, "bandwidth", UNIT_BANDWIDTH, MIN_BYTES_PER_S,
				       &out->link_bytes_per_s, err));
}

/* A launch that costs nothing is legal ("0 ns"): so it is where
 * programs are scheduled statically. */
static bool read_efficiency(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {
		"hbm_bandwidth", "launch_overhead", "source", "tensor_cores", NULL};
	struct doc_at at, place;
	if (!get_section(root, "efficiency", keys, &at, err) ||
		!get_share(&at, "hbm_bandwidth", &out->hbm_efficiency, err) ||
		!get_share(&at, "tensor_cores", &out->tc_efficiency, err) ||
		!get_quantity(&at, "launch_overhead", UNIT_TIME, 0, &out->launch_overhead, err))
		return false;
	return out->launch_overhead <= TICKS_PER_S ||
	       !doc_get(&at, "launch_overhead", &place, err) ||
	       doc_fail(place, err, "launch overhead of more than a second, expected some us");
}

static bool read_kernels(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {"norm_row", "softmax_row", "source",
		"tile_bytes_per_cycle", "tile_cols", "tile_cores", "tile_rows", NULL};
	struct kernels *k = &out->kernels;
	struct doc_at at;
	bool none;
	if (!get_section_or_none(root, "kernels", keys, &at, &none, err))
		return false;
	if (none)
		return true;
	if (!get_count(&at, "tile_rows", &k->tile_rows, err) ||
		!get_count(&at, "tile_cols", &k->tile_cols, err) ||
		!get_count(&at, "tile_cores", &k->tile_cores, err) ||
		!get_quantity(&at, "tile_bytes_per_cycle", UNIT_BYTES, 1, &k->tile_bytes_per_cycle,
			err) ||
		!get_quantity(&at, "softmax_row", UNIT_BYTES, 1, &k->softmax_row_bytes, err) ||
		!get_quantity(&at, "norm_row", UNIT_BYTES, 1, &k->norm_row_bytes, err))
		return false;
	if (k->tile_rows < out->tc_rows || k->tile_cols < out->tc_cols)
		return doc_fail(at, err,
			"tile of %ux%u is smaller than the array of %ux%u, expected at least that",
			k->tile_rows, k->tile_cols, out->tc_rows, out->tc_cols);
	return out->tc_count % k->tile_cores == 0 ||
	       doc_fail(at, err,
		       "tile_cores %u does not divide the %u tensor cores, expected whole groups",
		       k->tile_cores, out->tc_count);
}

static bool read_host(const struct doc_at *root, struct arch *out, struct err *err)
{
	static const char *const keys[] = {
		"elementwise", "gemm", "norm", "softmax", "source", NULL};
	struct host_times *h = &out->host;
	struct doc_at at;
	bool none;
	if (!get_section_or_none(root, "host", keys, &at, &none, err))
		return false;
	if (none)
		return true;
	if (!get_quantity(&at, "gemm", UNIT_TIME, 1, &h->gemm, err) ||
		!get_quantity(&at, "softmax", UNIT_TIME, 1, &h->softmax, err) ||
		!get_quantity(&at, "norm", UNIT_TIME, 1, &h->norm, err) ||
		!get_quantity(&at, "elementwise", UNIT_TIME, 1, &h->elementwise, err))
		return false;
	tick longest = max_u64(max_u64(h->gemm, h->softmax), max_u64(h->norm, h->elementwise));
	return longest <= TICKS_PER_S ||
	       doc_fail(at, err, "a call of more than a second, expected some us");
}

static bool read_mac(const struct doc_at *root, struct arch *out, struct err *err)
{
	struct doc_at at;
	const char *name;
	if (!get_text(root, "mac", &at, &name, err))
		return false;
	for (size_t i = 0; i < N_MAC_TYPES; i++) {
		if (strcmp(mac_types[i].name, name) == 0) {
			out->mac_bytes = mac_types[i].bytes;
			return true;
		}
	}
	return doc_fail(
		at, err, "unknown MAC type '%.40s', expected bf16, fp16, fp32 or int8", name);
}

static bool read_node(const struct doc_at *root, struct arch *out, struct err *err)
{
	struct doc_at at;
	const char *name;
	if (!get_text(root, "process_node", &at, &name, err))
		return false;
	size_t n;
	const struct process_node *nodes = process_node_list(&n);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(nodes[i].name, name) == 0) {
			out->node_nm = nodes[i].nm;
			return true;
		}
	}
	return doc_fail(
		at, err, "unknown process node '%.40s', expected 5, 7, 16, 28 or 65 nm", name);
}

static bool read_area_model(const struct doc_at *root, struct arch *out, struct err *err)
{
	struct doc_at at;
	const char *name;
	if (!get_text(root, "area_model", &at, &name, err))
		return false;
	out->area_model = area_model_find(name);
	return out->area_model ||
	       doc_fail(at, err, "unknown area model '%.40s', expected accelergy22 or chip", name);
}

static bool read_pcie(const struct doc_at *root, struct arch *out, struct err *err)
{
	struct doc_at at;
	struct err not_text = {0};
	const char *text;
	if (!doc_get(root, "pcie_lanes", &at, err))
		return false;
	if (doc_string(at, &text, &not_text) && strcmp(text, "none") == 0)
		return true;
	return get_count(root, "pcie_lanes", &out->pcie_lanes, err);
}

static bool read_identity(
	struct arena *a, const struct doc_at *root, struct arch *out, struct err *err)
{
	struct doc_at name_at, source_at;
	const char *name, *source;
	if (!get_text(root, "name", &name_at, &name, err) ||
		!get_text(root, "source", &source_at, &source, err))
		return false;
	if (!name[0])
		return doc_fail(name_at, err, "empty name");
	if (!source[0])
		return doc_fail(
			source_at, err, "empty source, expected where the values come from");
	out->name = arena_strdup(a, name);
	out->source = arena_strdup(a, source);
	return get_quantity(root, "clock", UNIT_FREQUENCY, MIN_CLOCK_HZ, &out->clock_hz, err) &&
	       read_pcie(root, out, err);
}

static bool read_root(struct arena *a, const struct doc *doc, struct arch *out, struct err *err)
{
	static const char *const keys[] = {"area_model", "clock", "efficiency", "hbm", "host",
		"kernels", "links", "mac", "name", "pcie_lanes", "process_node", "source", "sram",
		"tensor_cores", "vector_cores", NULL};
	struct doc_at root = doc_root(doc);
	return doc_object(root, keys, err) && read_identity(a, &root, out, err) &&
	       read_node(&root, out, err) && read_mac(&root, out, err) &&
	       read_tensor_cores(&root, out, err) && read_vector_cores(&root, out, err) &&
	       read_sram(&root, out, err) && read_hbm(&root, out, err) &&
	       read_links(&root, out, err) && read_efficiency(&root, out, err) &&
	       read_kernels(&root, out, err) && read_host(&root, out, err) &&
	       read_area_model(&root, out, err);
}

bool arch_read(struct arena *a, const char *path, struct arch *out, struct err *err)
{
	struct doc doc;
	*out = (struct arch){0};
	if (!doc_read(&doc, a, path, err))
		return false;
	bool ok = read_root(a, &doc, out, err);
	doc_finish(&doc);
	return ok;
}
