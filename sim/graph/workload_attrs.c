#include <assert.h>
#include <string.h>

#include "graph/workload_internal.h"

/* Beyond any real model; keeps products of 32-bit attributes within 64 bits. */
enum { ATTR_MAX = 1 << 20, KERNEL_MAX = 4096 };

bool workload_number(
	struct doc_at at, const struct scope *scope, uint64_t min, uint64_t *value, struct err *err)
{
	const uint64_t max = UINT64_C(1) << BUILDER_MAX_ELEMENTS_LOG2;
	if (!json_is_string(at.value))
		return doc_uint(at, min, max, value, err);
	struct err why = {0};
	if (!expr_value(json_string_value(at.value), scope, value, &why))
		return doc_fail(at, err, "%s", why.text);
	if (*value < min || *value > max)
		return doc_fail(at, err, "'%s' is %llu, expected %llu to 2^%d",
			json_string_value(at.value), (unsigned long long)*value,
			(unsigned long long)min, BUILDER_MAX_ELEMENTS_LOG2);
	return true;
}

bool workload_numbers(
	struct doc_at at, const struct scope *scope, struct number_list *list, struct err *err)
{
	if (!doc_array(at, 1, err))
		return false;
	if (doc_length(at) > list->max)
		return doc_fail(at, err, "expected at most %u numbers", list->max);
	list->n = (uint32_t)doc_length(at);
	for (uint32_t i = 0; i < list->n; i++)
		if (!workload_number(doc_item(&at, i), scope, list->min, &list->values[i], err))
			return false;
	return true;
}

static bool read_u32(
	struct doc_at at, const struct scope *scope, uint64_t min, uint32_t *value, struct err *err)
{
	uint64_t v = 0;
	if (!workload_number(at, scope, min, &v, err))
		return false;
	if (v > ATTR_MAX)
		return doc_fail(at, err, "expected at most %d", ATTR_MAX);
	*value = (uint32_t)v;
	return true;
}

/* One number for both axes, or [h, w]. */
static bool read_pair(struct doc_at at, const struct scope *scope, uint64_t min, uint32_t pair[2],
	struct err *err)
{
	if (!json_is_array(at.value)) {
		bool ok = read_u32(at, scope, min, &pair[0], err);
		pair[1] = pair[0];
		return ok;
	}
	if (doc_length(at) != 2)
		return doc_fail(at, err, "expected a number or [h, w]");
	return read_u32(doc_item(&at, 0), scope, min, &pair[0], err) &&
	       read_u32(doc_item(&at, 1), scope, min, &pair[1], err);
}

static bool read_kernel(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	if (!read_pair(at, scope, 1, to->attrs.kernel, err))
		return false;
	if (to->attrs.kernel[0] > KERNEL_MAX || to->attrs.kernel[1] > KERNEL_MAX)
		return doc_fail(at, err, "expected a kernel of at most %d", KERNEL_MAX);
	return true;
}

static bool read_stride(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_pair(at, scope, 1, to->attrs.stride, err);
}

static bool read_dilation(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_pair(at, scope, 1, to->attrs.dilation, err);
}

static bool read_pad(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	uint32_t *begin = to->attrs.pad_begin, *end = to->attrs.pad_end;
	if (json_is_array(at.value) && doc_length(at) == 4)
		return read_u32(doc_item(&at, 0), scope, 0, &begin[0], err) &&
		       read_u32(doc_item(&at, 1), scope, 0, &begin[1], err) &&
		       read_u32(doc_item(&at, 2), scope, 0, &end[0], err) &&
		       read_u32(doc_item(&at, 3), scope, 0, &end[1], err);
	if (!read_pair(at, scope, 0, begin, err))
		return false;
	memcpy(end, begin, 2 * sizeof(*end));
	return true;
}

static bool read_group(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_u32(at, scope, 1, &to->attrs.group, err);
}

static bool read_size(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	to->attrs.kernel[1] = 1;
	return read_u32(at, scope, 1, &to->attrs.kernel[0], err);
}

static bool read_axis(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	to->has_axis = true;
	return read_u32(at, scope, 0, &to->attrs.axis, err);
}

static bool read_axes(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_u32(at, scope, 1, &to->attrs.n_axes, err);
}

static bool read_keep_dims(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return doc_bool(at, &to->attrs.keep_dims, err);
}

static bool read_transpose_a(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return doc_bool(at, &to->attrs.transpose_a, err);
}

static bool read_transpose_b(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return doc_bool(at, &to->attrs.transpose_b, err);
}

static bool read_sizes(struct doc_at at, const struct scope *scope, uint32_t max,
	struct op_args *to, struct err *err)
{
	struct number_list list = {.min = 1, .max = max, .values = to->attrs.shape};
	to->has_shape = true;
	if (!workload_numbers(at, scope, &list, err))
		return false;
	to->attrs.n_shape = list.n;
	return true;
}

static bool read_shape(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_sizes(at, scope, GRAPH_MAX_DIMS, to, err);
}

static bool read_parts(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_sizes(at, scope, OP_MAX_OUTPUTS, to, err);
}

static bool read_perm(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	uint64_t perm[GRAPH_MAX_DIMS] = {0};
	struct number_list list = {.max = GRAPH_MAX_DIMS, .values = perm};
	if (!workload_numbers(at, scope, &list, err))
		return false;
	for (uint32_t i = 0; i < GRAPH_MAX_DIMS; i++) /* what is left out cannot be valid */
		to->attrs.perm[i] =
			i < list.n && perm[i] < GRAPH_MAX_DIMS ? (uint32_t)perm[i] : GRAPH_NONE;
	return true;
}

static bool read_begin(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return workload_number(at, scope, 0, &to->attrs.begin, err);
}

static bool read_end(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return workload_number(at, scope, 1, &to->attrs.end, err);
}

static bool read_features(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return workload_number(at, scope, 1, &to->features, err);
}

static bool read_rows(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return workload_number(at, scope, 1, &to->rows, err);
}

static bool read_pad_to(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return workload_number(at, scope, 1, &to->pad_to, err);
}

static bool read_bias(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return doc_bool(at, &to->bias, err);
}

static bool read_recompute(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return doc_bool(at, &to->recompute, err);
}

static bool read_weight(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return doc_string(at, &to->weight, err);
}

static bool read_shard(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	const char *text;
	if (!doc_string(at, &text, err))
		return false;
	to->shard = strcmp(text, "column") == 0 ? SHARD_COLUMN
		    : strcmp(text, "row") == 0  ? SHARD_ROW
						: SHARD_NONE;
	return to->shard != SHARD_NONE ||
	       doc_fail(at, err, "unknown shard '%s', expected 'column' or 'row'", text);
}

enum { ALWAYS = 0 };

// clang-format off
static const struct attr {
	const char *name;
	uint32_t key; /* enum op_key, or ALWAYS */
	bool (*read)(struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err);
} attrs_known[] = {
	{"axes", KEY_AXES, read_axes},
	{"axis", KEY_AXIS, read_axis},
	{"begin", KEY_RANGE, read_begin},
	{"bias", KEY_BIAS, read_bias},
	{"dilation", KEY_KERNEL, read_dilation},
	{"end", KEY_RANGE, read_end},
	{"features", KEY_FEATURES, read_features},
	{"group", KEY_GROUP, read_group},
	{"keep_dims", KEY_AXES, read_keep_dims},
	{"kernel", KEY_KERNEL, read_kernel},
	{"pad", KEY_KERNEL, read_pad},
	{"pad_to", KEY_PAD_TO, read_pad_to},
	{"parts", KEY_PARTS, read_parts},
	{"perm", KEY_PERM, read_perm},
	{"recompute", ALWAYS, read_recompute},
	{"rows", KEY_ROWS, read_rows},
	{"shape", KEY_SHAPE, read_shape},
	{"shard", KEY_SHARD, read_shard},
	{"size", KEY_SIZE, read_size},
	{"stride", KEY_KERNEL, read_stride},
	{"transpose_a", KEY_TRANSPOSE, read_transpose_a},
	{"transpose_b", KEY_TRANSPOSE, read_transpose_b},
	{"weight", KEY_WEIGHT, read_weight},
};
// clang-format on

enum { N_ATTRS = sizeof(attrs_known) / sizeof(attrs_known[0]), N_COMMON = 3 };

bool workload_attrs(struct workload *w, const struct doc_at *item, const struct scope *scope,
	const struct op_kind *kind, struct op_args *args, struct err *err)
{
	const char *keys[N_ATTRS + N_COMMON + 1] = {"op", "name", "in"};
	uint32_t n = N_COMMON;
	for (uint32_t i = 0; i < N_ATTRS; i++)
		if (attrs_known[i].key == ALWAYS || attrs_known[i].key & kind->keys)
			keys[n++] = attrs_known[i].name;
	if (!doc_object(*item, keys, err))
		return false;
	for (uint32_t i = 0; i < N_ATTRS; i++) {
		struct doc_at at;
		if (doc_find(item, attrs_known[i].name, &at) &&
			!attrs_known[i].read(at, scope, args, err))
			return false;
	}
	return true;
}
