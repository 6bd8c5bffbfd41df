#include <stddef.h>
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

static bool read_count(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_u32(at, scope, 1, &to->attrs.count, err);
}

/* Inner size of a product, or how many of the largest. */
static bool read_k(struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	if (!workload_number(at, scope, 1, &to->given.k, err))
		return false;
	if (to->given.k <= ATTR_MAX)
		to->attrs.count = (uint32_t)to->given.k;
	return true;
}

static bool read_bytes(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return workload_number(at, scope, 1, &to->given.elem_bytes, err) &&
	       (to->given.elem_bytes <= 8 || doc_fail(at, err, "expected 1 to 8 bytes"));
}

static bool read_cycles(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_u32(at, scope, 1, &to->given.cycles, err);
}

static bool read_backward_cycles(
	struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err)
{
	return read_u32(at, scope, 1, &to->given.backward_cycles, err);
}

enum { ALWAYS = 0 };

#define AT(member) offsetof(struct op_args, member)

// clang-format off
static const struct attr {
	const char *name;
	uint32_t key; /* enum op_key, or ALWAYS */
	/* NULL: a number of at least `min` goes to `offset` */
	bool (*read)(struct doc_at at, const struct scope *scope, struct op_args *to, struct err *err);
	size_t offset;
	uint64_t min;
} attrs_known[] = {
	{"a_bytes", KEY_GIVEN_GEMM, NULL, AT(given.a_bytes), 1},
	{"axes", KEY_AXES, read_axes, 0, 0},
	{"axis", KEY_AXIS, read_axis, 0, 0},
	{"b_bytes", KEY_GIVEN_GEMM, NULL, AT(given.b_bytes), 1},
	{"backward_cycles", KEY_GIVEN_VECTOR, read_backward_cycles, 0, 0},
	{"batch", KEY_GIVEN_GEMM, NULL, AT(given.batch), 1},
	{"begin", KEY_RANGE, NULL, AT(attrs.begin), 0},
	{"bias", KEY_BIAS, read_bias, 0, 0},
	{"bytes", KEY_GIVEN_GEMM | KEY_GIVEN_VECTOR, read_bytes, 0, 0},
	{"c_bytes", KEY_GIVEN_GEMM, NULL, AT(given.c_bytes), 1},
	{"cycles", KEY_GIVEN_VECTOR, read_cycles, 0, 0},
	{"dilation", KEY_KERNEL, read_dilation, 0, 0},
	{"elements", KEY_GIVEN_VECTOR, NULL, AT(given.elements), 1},
	{"end", KEY_RANGE, NULL, AT(attrs.end), 1},
	{"experts", KEY_EXPERTS, read_count, 0, 0},
	{"features", KEY_FEATURES, NULL, AT(features), 1},
	{"gates", KEY_GATES, read_count, 0, 0},
	{"group", KEY_GROUP, read_group, 0, 0},
	{"k", KEY_GIVEN_GEMM | KEY_K, read_k, 0, 0},
	{"keep_dims", KEY_AXES, read_keep_dims, 0, 0},
	{"kernel", KEY_KERNEL, read_kernel, 0, 0},
	{"m", KEY_GIVEN_GEMM, NULL, AT(given.m), 1},
	{"n", KEY_GIVEN_GEMM, NULL, AT(given.n), 1},
	{"pad", KEY_KERNEL, read_pad, 0, 0},
	{"pad_to", KEY_PAD_TO, NULL, AT(pad_to), 1},
	{"parts", KEY_PARTS, read_parts, 0, 0},
	{"perm", KEY_PERM, read_perm, 0, 0},
	{"read_bytes", KEY_GIVEN_VECTOR, NULL, AT(given.read_bytes), 1},
	{"recompute", ALWAYS, read_recompute, 0, 0},
	{"rows", KEY_ROWS, NULL, AT(rows), 1},
	{"shape", KEY_SHAPE, read_shape, 0, 0},
	{"shard", KEY_SHARD, read_shard, 0, 0},
	{"size", KEY_SIZE, read_size, 0, 0},
	{"stride", KEY_KERNEL, read_stride, 0, 0},
	{"transpose_a", KEY_TRANSPOSE, read_transpose_a, 0, 0},
	{"transpose_b", KEY_TRANSPOSE, read_transpose_b, 0, 0},
	{"weight", KEY_WEIGHT, read_weight, 0, 0},
	{"write_bytes", KEY_GIVEN_VECTOR, NULL, AT(given.write_bytes), 1},
};
// clang-format on

enum { N_ATTRS = sizeof(attrs_known) / sizeof(attrs_known[0]), N_COMMON = 4 };

static bool belongs(const struct attr *attr, const struct op_kind *kind)
{
	return attr->key == ALWAYS || attr->key & kind->keys;
}

bool workload_attrs(struct workload *w, const struct doc_at *item, const struct scope *scope,
	const struct op_kind *kind, struct op_args *args, struct err *err)
{
	const char *keys[N_ATTRS + N_COMMON + 1] = {"op", "name", "in", "if"};
	uint32_t n = N_COMMON;
	for (uint32_t i = 0; i < N_ATTRS; i++)
		if (belongs(&attrs_known[i], kind))
			keys[n++] = attrs_known[i].name;
	if (!doc_object(*item, keys, err))
		return false;
	for (uint32_t i = 0; i < N_ATTRS; i++) {
		const struct attr *attr = &attrs_known[i];
		struct doc_at at;
		if (!belongs(attr, kind) || !doc_find(item, attr->name, &at))
			continue;
		if (attr->read ? !attr->read(at, scope, args, err)
			       : !workload_number(at, scope, attr->min,
					 (uint64_t *)(void *)((char *)args + attr->offset), err))
			return false;
	}
	return true;
}
