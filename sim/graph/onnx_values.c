#include "graph/onnx_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

uint64_t onnx_elements(const struct onnx_value *v)
{
	u128 n = 1;
	for (uint32_t i = 0; i < v->n_dims; i++) {
		n *= v->dims[i];
		if (n > UINT64_MAX)
			return UINT64_MAX;
	}
	return (uint64_t)n;
}

static int value_order(const void *a, const void *b)
{
	const struct onnx_value *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static struct onnx_value *find_in(const struct onnx_scope *scope, const char *name)
{
	struct onnx_value key = {.name = name};
	if (scope->n_values == 0)
		return NULL;
	return bsearch(&key, scope->values, scope->n_values, sizeof(key), value_order);
}

struct onnx_value *onnx_find_value(const struct onnx_reader *r, const char *name)
{
	for (const struct onnx_scope *s = r->scope; s; s = s->around) {
		struct onnx_value *v = find_in(s, name);
		if (v)
			return v;
	}
	return NULL;
}

static bool is_name(const char *name)
{
	return name && name[0];
}

static size_t count_values(const Onnx__GraphProto *g)
{
	size_t n = g->n_initializer + g->n_input;
	for (size_t i = 0; i < g->n_node; i++)
		n += g->node[i]->n_output;
	return n;
}

static void add_value(struct onnx_scope *scope, const char *name)
{
	if (is_name(name))
		scope->values[scope->n_values++] =
			(struct onnx_value){.name = name, .tensor = GRAPH_NONE};
}

static void sort_values(struct onnx_scope *scope)
{
	if (scope->n_values == 0)
		return;
	qsort(scope->values, scope->n_values, sizeof(*scope->values), value_order);
	size_t kept = 1;
	for (size_t i = 1; i < scope->n_values; i++)
		if (strcmp(scope->values[i].name, scope->values[kept - 1].name) != 0)
			scope->values[kept++] = scope->values[i];
	scope->n_values = kept;
}

bool onnx_collect_values(struct onnx_reader *r, struct onnx_scope *scope, struct err *err)
{
	const Onnx__GraphProto *g = scope->graph;
	scope->values = arena_array(r->scratch, count_values(g) + 1, struct onnx_value);
	for (size_t i = 0; i < g->n_initializer; i++)
		add_value(scope, g->initializer[i]->name);
	for (size_t i = 0; i < g->n_input; i++)
		add_value(scope, g->input[i]->name);
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t j = 0; j < g->node[i]->n_output; j++)
			add_value(scope, g->node[i]->output[j]);
	sort_values(scope);
	for (size_t i = 0; i < g->n_initializer; i++) {
		const Onnx__TensorProto *t = g->initializer[i];
		if (!is_name(t->name))
			return err_set(err, ERR_INPUT, "initialiser %zu has no name", i);
		struct onnx_value *v = find_in(scope, t->name);
		assert(v);
		if (v->state != ONNX_UNMADE)
			return err_set(err, ERR_INPUT, "two initialisers are called '%s'", t->name);
		if (!onnx_set_constant(r, v, t, err))
			return err_prefix(err, "initialiser '%s': ", t->name);
	}
	return true;
}

/* Bytes of one element where the content is kept, 0 for other types. */
static size_t int_bytes(int32_t type)
{
	switch (type) {
	case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
		return 1;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
		return 4;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
		return 8;
	}
	return 0;
}

static int64_t raw_int(const uint8_t *raw, size_t bytes)
{
	uint64_t v = 0;
	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)raw[i] << (8 * i);
	if (bytes == 4)
		return (int32_t)(uint32_t)v;
	return (int64_t)v;
}

static bool read_ints(
	struct onnx_reader *r, struct onnx_value *v, const Onnx__TensorProto *t, struct err *err)
{
	size_t n = (size_t)onnx_elements(v), bytes = int_bytes(v->type);
	int64_t *ints = arena_array(r->scratch, n + 1, int64_t);
	size_t got = t->n_int64_data;
	if (t->raw_data.len > 0)
		got = t->raw_data.len / bytes;
	else if (bytes < 8)
		got = t->n_int32_data;
	if (got != n || (t->raw_data.len > 0 && t->raw_data.len % bytes != 0))
		return err_set(
			err, ERR_INPUT, "the shape asks for %zu numbers, there are %zu", n, got);
	for (size_t i = 0; i < n; i++) {
		if (t->raw_data.len > 0)
			ints[i] = raw_int(t->raw_data.data + i * bytes, bytes);
		else
			ints[i] = bytes < 8 ? t->int32_data[i] : t->int64_data[i];
	}
	v->ints = ints;
	return true;
}

/* Where the content lies; ONNX, external data: the key "location". */
static const char *external_location(const Onnx__TensorProto *t)
{
	if (!t->has_data_location ||
		t->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		return NULL;
	for (size_t i = 0; i < t->n_external_data; i++) {
		const Onnx__StringStringEntryProto *e = t->external_data[i];
		if (e->key && e->value && strcmp(e->key, "location") == 0)
			return e->value;
	}
	return "another file";
}

bool onnx_set_constant(
	struct onnx_reader *r, struct onnx_value *v, const Onnx__TensorProto *t, struct err *err)
{
	if (t->n_dims > GRAPH_MAX_DIMS)
		return err_set(err, ERR_INPUT, "%zu dimensions, at most %d are supported",
			t->n_dims, GRAPH_MAX_DIMS);
	v->state = ONNX_CONSTANT;
	v->type = t->data_type;
	v->n_dims = (uint32_t)t->n_dims;
	for (size_t i = 0; i < t->n_dims; i++) {
		if (t->dims[i] < 0)
			return err_set(err, ERR_INPUT, "negative dimension %zu", i);
		v->dims[i] = (uint64_t)t->dims[i];
	}
	if (onnx_elements(v) >> BUILDER_MAX_ELEMENTS_LOG2 != 0)
		return err_set(
			err, ERR_INPUT, "more than 2^%d elements", BUILDER_MAX_ELEMENTS_LOG2);
	v->elsewhere = external_location(t);
	if (v->elsewhere || onnx_elements(v) > ONNX_MAX_INTS)
		return true;
	if (onnx_is_real(v->type))
		v->reals = onnx_reals(r->scratch, t, (size_t)onnx_elements(v));
	return int_bytes(v->type) == 0 || read_ints(r, v, t, err);
}

void onnx_set_ints(struct onnx_value *v, const int64_t *ints, size_t n, bool scalar)
{
	assert(!scalar || n == 1);
	v->state = ONNX_CONSTANT;
	v->type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	v->n_dims = scalar ? 0 : 1;
	v->dims[0] = n;
	v->ints = ints;
}
