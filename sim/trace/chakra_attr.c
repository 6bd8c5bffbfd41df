/* Attributes of nodes: a name and a value of any of the types of the schema's union. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/chakra.h"

static struct et_value number_value(int64_t n)
{
	return (struct et_value){.kind = VALUE_NUMBER, .number = n};
}

static struct et_value unsigned_value(uint64_t n)
{
	return (struct et_value){
		.kind = VALUE_NUMBER, .number = (int64_t)(n & INT64_MAX), .odd = n > INT64_MAX};
}

static struct et_value real_value(double x)
{
	bool whole = x == floor(x) && fabs(x) < 9007199254740992.0;
	return (struct et_value){
		.kind = VALUE_NUMBER, .number = whole ? (int64_t)x : 0, .odd = !whole};
}

static int64_t zigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static struct et_value bools_value(struct wire w)
{
	struct et_value out = {.kind = VALUE_BOOLS, .all = true};
	struct field f;
	while (w.at < w.end && wire_field(&w, &f)) {
		if (f.type == WIRE_VARINT)
			out.all = out.all && f.value != 0;
		for (size_t i = f.content.at; i < f.content.end; i++)
			out.all = out.all && f.content.data[i] != 0;
	}
	return out;
}

static double as_double(uint64_t bits)
{
	double x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static float as_float(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float x;
	memcpy(&x, &low, sizeof(x));
	return x;
}

/* Lists that are not of booleans, and bytes, are of no use here. */
static struct et_value union_value(struct arena *a, const struct field *f)
{
	switch (f->number) {
	case 3: /* double */
		return real_value(as_double(f->value));
	case 5: /* float */
		return real_value((double)as_float(f->value));
	case 7: /* int32: sign-extended to 64 bits */
	case 9: /* int64 */
		return number_value((int64_t)f->value);
	case 11: /* uint32 */
	case 13: /* uint64 */
	case 19: /* fixed32 */
	case 21: /* fixed64 */
	case 27: /* bool */
		return unsigned_value(f->value);
	case 15: /* sint32 */
	case 17: /* sint64 */
		return number_value(zigzag(f->value));
	case 23: /* sfixed32 */
		return number_value((int32_t)(uint32_t)f->value);
	case 25: /* sfixed64 */
		return number_value((int64_t)f->value);
	case 28: /* list of bool */
		return bools_value(f->content);
	case 29: /* string */
		return (struct et_value){.kind = VALUE_TEXT, .text = wire_text(a, &f->content)};
	}
	return (struct et_value){.kind = VALUE_NONE};
}

/* Which wire type a member of the union has: a number in a text's place is a damaged file. */
static bool type_fits(const struct field *f)
{
	bool list = f->number % 2 == 0 || f->number == 29 || f->number == 31;
	if (f->number < 3 || list)
		return f->type == WIRE_BYTES;
	if (f->number == 3 || f->number == 21 || f->number == 25)
		return f->type == WIRE_64;
	if (f->number == 5 || f->number == 19 || f->number == 23)
		return f->type == WIRE_32;
	return f->type == WIRE_VARINT;
}

bool et_read_attribute(struct arena *a, struct wire w, const char **name, struct et_value *value)
{
	struct field f;
	*name = "";
	*value = (struct et_value){.kind = VALUE_NONE};
	while (w.at < w.end) {
		if (!wire_field(&w, &f) || (f.number <= 32 && !type_fits(&f)))
			return false;
		if (f.number == 1)
			*name = wire_text(a, &f.content);
		else if (f.number > 2 && f.number <= 32)
			*value = union_value(a, &f);
	}
	return true;
}

/* Sorted by name. */
static const struct {
	const char *name;
	enum et_key key;
} keys[] = {
	{"comm_dst", KEY_COMM_DST},
	{"comm_group", KEY_COMM_GROUP},
	{"comm_size", KEY_COMM_SIZE},
	{"comm_src", KEY_COMM_SRC},
	{"comm_tag", KEY_COMM_TAG},
	{"comm_type", KEY_COMM_TYPE},
	{"involve_dims", KEY_INVOLVED_DIM},
	{"involved_dim", KEY_INVOLVED_DIM},
	{"is_cpu_op", KEY_IS_CPU_OP},
	{"num_ops", KEY_NUM_OPS},
	{"tensor_size", KEY_TENSOR_SIZE},
};

static bool text_number(struct et_value *v)
{
	char *end;
	double x = strtod(v->text, &end);
	if (end == v->text || *end != '\0')
		return false;
	*v = real_value(x);
	return true;
}

bool et_set_attribute(struct et_set *set, const struct et_rank *rank, struct et_node *node,
	const char *name, struct et_value v, struct err *err)
{
	if (strcmp(name, "pg_name") == 0 && v.kind == VALUE_TEXT)
		node->pg_name = arena_strdup(set->a, v.text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(keys[i].name, name) != 0 || v.kind == VALUE_NONE)
			continue;
		if (v.kind == VALUE_BOOLS)
			v = number_value(v.all);
		if ((v.kind == VALUE_TEXT && !text_number(&v)) || v.odd)
			return err_set(err, ERR_INPUT,
				"%s: node %" PRIu64 ": attribute '%s' is not a whole number that "
				"fits 64 bits",
				rank->path, node->id, name);
		node->has |= 1u << keys[i].key;
		node->value[keys[i].key] = v.number;
	}
	return true;
}

bool et_has(const struct et_node *node, enum et_key key)
{
	return node->has & 1u << key;
}
