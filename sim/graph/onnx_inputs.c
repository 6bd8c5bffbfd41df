#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What an input of the model says about one of its dimensions. */
struct open_dim {
	const char *name; /* NULL when it is fixed */
	uint64_t value;   /* when it is fixed */
};

static const struct graph_override *find_dim(const struct graph_options *o, const char *name)
{
	for (uint32_t i = 0; i < o->n_dims; i++)
		if (strcmp(o->dims[i].name, name) == 0)
			return &o->dims[i];
	return NULL;
}

static bool read_dim(struct onnx_reader *r, const Onnx__ValueInfoProto *input, size_t axis,
	struct open_dim *out, struct err *err)
{
	const Onnx__TensorShapeProto__Dimension *d = input->type->tensor_type->shape->dim[axis];
	*out = (struct open_dim){0};
	if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && d->dim_param &&
		d->dim_param[0])
		out->name = d->dim_param;
	else if (d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
		 d->dim_value == -1 || d->dim_value == 0)
		out->name = arena_printf(r->scratch, "%s.%zu", input->name, axis);
	else if (d->dim_value < 1)
		return err_set(err, ERR_INPUT, "input '%s': dimension %zu is %" PRId64, input->name,
			axis, d->dim_value);
	else
		out->value = (uint64_t)d->dim_value;
	return true;
}

uint64_t onnx_dim_value(const struct onnx_reader *r, const Onnx__TensorShapeProto__Dimension *d)
{
	if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
		return d->dim_value > 0 ? (uint64_t)d->dim_value : 0;
	if (d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM || !d->dim_param)
		return 0;
	const struct graph_override *dim = find_dim(r->options, d->dim_param);
	return dim ? dim->value : 0;
}

/* A whole number that the model takes: a sampling rate, a length, a flag. */
static bool is_scalar(const Onnx__ValueInfoProto *input)
{
	const Onnx__TypeProto__Tensor *type = input->type->tensor_type;
	return type->shape->n_dim == 0 && onnx_is_whole(type->elem_type);
}

static bool check_type(const Onnx__ValueInfoProto *input, struct err *err)
{
	const Onnx__TypeProto *type = input->type;
	if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !type->tensor_type)
		return err_set(err, ERR_INPUT, "input '%s' is not a tensor", input->name);
	if (!type->tensor_type->shape)
		return err_set(err, ERR_INPUT, "input '%s' has no shape", input->name);
	if (type->tensor_type->shape->n_dim > GRAPH_MAX_DIMS)
		return err_set(err, ERR_INPUT,
			"input '%s' has %zu dimensions, at most %d are supported", input->name,
			type->tensor_type->shape->n_dim, GRAPH_MAX_DIMS);
	return true;
}

/* An axis that the file leaves open, by its name or as the batch. */
static bool open_axis(const struct onnx_reader *r, const char *input, size_t axis, const char *name,
	uint64_t *value, struct err *err)
{
	const struct graph_override *dim = find_dim(r->options, name);
	uint64_t batch = axis == 0 ? r->options->batch : 0;
	if (dim && batch != 0 && batch != dim->value)
		return err_set(err, ERR_USAGE,
			"dimension '%s' of input '%s' is the batch: %" PRIu64 " and %" PRIu64
			" contradict each other",
			name, input, dim->value, batch);
	if (dim && dim->value == 0)
		return err_set(err, ERR_USAGE, "dimension '%s' must be at least 1", name);
	if (!dim && batch == 0)
		return err_set(err, ERR_INPUT,
			"input '%s': dimension %zu ('%s') is open in the file; give it with --dim "
			"%s=N%s",
			input, axis, name, name, axis == 0 ? " or --batch N" : "");
	*value = dim ? dim->value : batch;
	return true;
}

/* Bytes of a token id, a mask, a pixel; 0 for real numbers, whose width the options give. */
static uint32_t index_bytes(int32_t type)
{
	switch (type) {
	case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT8:
	case ONNX__TENSOR_PROTO__DATA_TYPE__UINT8:
		return 1;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
		return 4;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
		return 8;
	}
	return 0;
}

static bool add_input(
	struct onnx_reader *r, const Onnx__ValueInfoProto *input, bool first, struct err *err)
{
	struct onnx_value *v = onnx_find_value(r, input->name);
	const Onnx__TypeProto__Tensor *type = input->type->tensor_type;
	const struct graph_override *given = find_dim(r->options, input->name);
	if (is_scalar(input) && given) {
		int64_t *content = arena_new(r->scratch, int64_t);
		*content = (int64_t)given->value;
		onnx_set_ints(v, content, 1, true);
		v->type = type->elem_type;
		return true;
	}
	struct tensor t = {
		.name = input->name,
		.class = TENSOR_INPUT,
		.elem_bytes = index_bytes(type->elem_type),
		.producer = GRAPH_NONE,
	};
	t.n_dims = (uint32_t)type->shape->n_dim;
	for (uint32_t i = 0; i < t.n_dims; i++) {
		struct open_dim d;
		if (!read_dim(r, input, i, &d, err))
			return false;
		t.dims[i] = d.value;
		if (d.name && !open_axis(r, input->name, i, d.name, &t.dims[i], err))
			return false;
		if (i == 0 && first)
			r->file_batch = d.value;
		if (i == 0 && !d.name && r->options->batch != 0 && d.value == r->file_batch)
			t.dims[0] = r->options->batch;
	}
	v->state = ONNX_TENSOR;
	v->type = type->elem_type;
	v->n_dims = t.n_dims;
	memcpy(v->dims, t.dims, sizeof(v->dims));
	if (first && t.n_dims > 0)
		r->batch = t.dims[0];
	if (first && t.n_dims == 2 && v->type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64)
		r->tokens = t.dims[1];
	if (!builder_add_tensor(&r->builder, &t, &v->tensor, err))
		return false;
	onnx_note_of(r, v->tensor)->real = onnx_is_real(v->type);
	return true;
}

static void add_name(struct onnx_reader *r, const char *name, struct text *list, bool *found)
{
	text_add(list, "%s'%s'", list->n > 0 ? ", " : "", name);
	for (uint32_t j = 0; j < r->options->n_dims; j++)
		if (strcmp(r->options->dims[j].name, name) == 0)
			found[j] = true;
}

/* Appends the names of the open dimensions of `input`, or its own if it is a number. */
static bool add_open_names(struct onnx_reader *r, const Onnx__ValueInfoProto *input,
	struct text *list, bool *found, struct err *err)
{
	for (size_t i = 0; i < input->type->tensor_type->shape->n_dim; i++) {
		struct open_dim d;
		if (!read_dim(r, input, i, &d, err))
			return false;
		if (d.name)
			add_name(r, d.name, list, found);
	}
	if (is_scalar(input))
		add_name(r, input->name, list, found);
	return true;
}

/* Whether the i-th declared input is fed from outside: older files list their initialisers as
 * inputs. */
static bool is_fed(const struct onnx_reader *r, size_t i)
{
	const char *name = r->graph->input[i]->name;
	return !name || !name[0] || onnx_find_value(r, name)->state != ONNX_CONSTANT;
}

static bool check_options(struct onnx_reader *r, struct err *err)
{
	bool *found = arena_array(r->scratch, r->options->n_dims + 1, bool);
	struct text list = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < r->graph->n_input; i++)
		if (is_fed(r, i))
			ok = add_open_names(r, r->graph->input[i], &list, found, err);
	for (uint32_t j = 0; ok && j < r->options->n_dims; j++)
		if (!found[j])
			ok = err_set(err, ERR_USAGE,
				"no open dimension is called '%s'; the file has %s",
				r->options->dims[j].name, list.n > 0 ? list.data : "none");
	text_free(&list);
	return ok;
}

const char *onnx_scalar_inputs(const struct onnx_reader *r)
{
	const char *list = NULL;
	for (size_t i = 0; i < r->graph->n_input; i++)
		if (is_fed(r, i) && is_scalar(r->graph->input[i]))
			list = arena_printf(
				r->scratch, "%s '%s'", list ? list : "", r->graph->input[i]->name);
	return list;
}

bool onnx_add_inputs(struct onnx_reader *r, struct err *err)
{
	const Onnx__GraphProto *g = r->graph;
	for (size_t i = 0; i < g->n_input; i++) {
		if (!is_fed(r, i))
			continue;
		if (!g->input[i]->name || !g->input[i]->name[0])
			return err_set(err, ERR_INPUT, "input %zu has no name", i);
		if (!check_type(g->input[i], err))
			return false;
	}
	if (!check_options(r, err))
		return false;
	r->batch = 1;
	bool first = true;
	for (size_t i = 0; i < g->n_input; i++) {
		if (!is_fed(r, i))
			continue;
		if (onnx_find_value(r, g->input[i]->name)->state != ONNX_UNMADE)
			return err_set(
				err, ERR_INPUT, "two inputs are called '%s'", g->input[i]->name);
		if (!add_input(r, g->input[i], first, err))
			return false;
		first = false;
	}
	return first ? err_set(err, ERR_INPUT, "the model has no input") : true;
}
