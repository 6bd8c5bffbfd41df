/* Parameters: those that an operator brings with it, and those that stand by themselves. */
#include <inttypes.h>
#include <string.h>

#include "graph/workload_internal.h"

enum { LSTM_GATES = 4 };

bool workload_need(struct reading *r, bool there, const char *key)
{
	return there || doc_fail(*r->item, r->err, "operator '%s' (%s): missing key '%s'", r->name,
				r->kind->name, key);
}

/* Adds parameter NAME.`suffix` of the given shape as the next input. `whole` is how many times
 * its elements the model has over all devices. */
static bool add_parameter(
	struct reading *r, const char *suffix, struct tensor shape, uint32_t whole)
{
	struct builder *b = &r->w->b;
	struct err why = {0};
	shape.name = arena_printf(r->w->a, "%s.%s", r->name, suffix);
	shape.class = TENSOR_PARAM;
	if (!builder_add_tensor(b, &shape, &r->inputs[r->n], &why))
		return doc_fail(*r->item, r->err, "operator '%s': %s", r->name, why.text);
	b->parameters += (whole - 1) * tensor_elements(&b->tensors[r->inputs[r->n]]);
	r->n++;
	return true;
}

static bool add_vector(struct reading *r, const char *suffix, uint64_t n, uint32_t whole)
{
	return add_parameter(r, suffix, (struct tensor){.n_dims = 1, .dims = {n}}, whole);
}

/* This device's part of `n` things. */
static bool slice(struct reading *r, const char *what, uint64_t n, uint64_t *part)
{
	uint32_t tp = r->w->tp;
	if (n % tp != 0)
		return doc_fail(*r->item, r->err,
			"operator '%s' (%s): %s %" PRIu64 " is not divisible by tp = %u", r->name,
			r->kind->name, what, n, tp);
	*part = n / tp;
	return true;
}

static bool tie_weight(struct reading *r)
{
	const struct builder *b = &r->w->b;
	for (uint32_t i = 0; i < b->n_tensors; i++)
		if (b->tensors[i].class == TENSOR_PARAM &&
			strcmp(b->tensors[i].name, r->args.weight) == 0) {
			r->inputs[r->n++] = i;
			return true;
		}
	return doc_fail(*r->item, r->err, "operator '%s': there is no parameter '%s' before it",
		r->name, r->args.weight);
}

static bool add_gemm(struct reading *r)
{
	const struct tensor *x = &r->w->b.tensors[r->inputs[0]];
	bool column = r->args.shard == SHARD_COLUMN, row = r->args.shard == SHARD_ROW;
	uint64_t features = r->args.features;
	if (!workload_need(r, (features > 0) != (r->args.weight != NULL), "features' or 'weight"))
		return false;
	if (column && features > 0 && !slice(r, "features", features, &features))
		return false;
	if (x->n_dims == 0)
		return doc_fail(
			*r->item, r->err, "operator '%s': the input has no dimensions", r->name);
	struct tensor weight = {.n_dims = 2, .dims = {x->dims[x->n_dims - 1], features}};
	r->args.attrs.transpose_b = r->args.weight != NULL;
	if (r->args.weight ? !tie_weight(r)
			   : !add_parameter(r, "weight", weight, column || row ? r->w->tp : 1))
		return false;
	if (r->args.weight)
		features = r->w->b.tensors[r->inputs[1]].dims[0];
	return !r->args.bias || add_vector(r, "bias", features, column ? r->w->tp : 1);
}

static bool add_conv(struct reading *r)
{
	const struct tensor *x = &r->w->b.tensors[r->inputs[0]];
	struct op_attrs *a = &r->args.attrs;
	uint32_t group = a->group ? a->group : 1;
	if (!workload_need(r, r->args.features > 0, "features") ||
		!workload_need(r, a->kernel[0] > 0, "kernel"))
		return false;
	if (x->n_dims != 4 || x->dims[1] % group != 0)
		return doc_fail(*r->item, r->err,
			"operator '%s' (conv): an input [images, channels, h, w] with channels "
			"divisible by "
			"%u groups is expected, it is %s",
			r->name, group, tensor_shape_text(r->w->a, x));
	struct tensor weight = {.n_dims = 4,
		.dims = {r->args.features, x->dims[1] / group, a->kernel[0], a->kernel[1]}};
	return add_parameter(r, "weight", weight, 1) &&
	       (!r->args.bias || add_vector(r, "bias", r->args.features, 1));
}

static bool add_table(struct reading *r)
{
	struct builder *b = &r->w->b;
	uint64_t rows = r->args.rows, pad_to = r->args.pad_to;
	bool sliced = r->args.shard == SHARD_ROW;
	if (r->args.weight)
		return tie_weight(r);
	if (r->args.shard == SHARD_COLUMN)
		return doc_fail(*r->item, r->err,
			"operator '%s' (embedding): shard 'column' is not known, only 'row' is",
			r->name);
	if (!workload_need(r, rows > 0, "rows") ||
		!workload_need(r, r->args.features > 0, "features"))
		return false;
	if (r->w->tp > 1 && pad_to > 0)
		rows = (rows + pad_to - 1) / pad_to * pad_to;
	uint64_t padding = rows - r->args.rows;
	if (sliced && !slice(r, "rows", rows, &rows))
		return false;
	struct tensor table = {.n_dims = 2, .dims = {rows, r->args.features}};
	if (!add_parameter(r, "weight", table, sliced ? r->w->tp : 1))
		return false;
	b->parameters -= padding * r->args.features;
	return true;
}

static bool add_recurrent(struct reading *r)
{
	const struct tensor *x = &r->w->b.tensors[r->inputs[0]];
	uint64_t n = x->n_dims ? x->dims[x->n_dims - 1] : 0;
	if (r->args.attrs.count == 0)
		r->args.attrs.count = LSTM_GATES;
	if (n == 0 || n % r->args.attrs.count != 0)
		return doc_fail(*r->item, r->err,
			"operator '%s' (recurrent): a last dimension of %u gates is expected, it "
			"is %" PRIu64,
			r->name, r->args.attrs.count, n);
	struct tensor weight = {.n_dims = 2, .dims = {n / r->args.attrs.count, n}};
	return add_parameter(r, "weight", weight, 1) &&
	       (!r->args.bias || add_vector(r, "bias", n, 1));
}

bool workload_parameters(struct reading *r)
{
	const struct tensor *x = &r->w->b.tensors[r->inputs[0]];
	enum param_rule rule = r->kind->params;
	uint64_t n = 0;
	if (x->n_dims > 0)
		n = x->dims[rule == PARAMS_CHANNEL && x->n_dims > 1 ? 1 : x->n_dims - 1];
	if (rule != PARAMS_NONE && r->n != 1)
		return doc_fail(*r->item, r->err,
			"operator '%s' (%s): 1 input is expected beside its parameters, there are "
			"%u",
			r->name, r->kind->name, r->n);
	switch (rule) {
	case PARAMS_NONE:
		return true;
	case PARAMS_GEMM:
		return add_gemm(r);
	case PARAMS_CONV:
		return add_conv(r);
	case PARAMS_CHANNEL:
	case PARAMS_LAST:
		return add_vector(r, "weight", n, 1) && add_vector(r, "bias", n, 1);
	case PARAMS_LAST_GAIN:
		return add_vector(r, "weight", n, 1);
	case PARAMS_TABLE:
		return add_table(r);
	case PARAMS_RECURRENT:
		return add_recurrent(r);
	}
	return true;
}

static bool read_parameter(struct workload *w, const struct doc_at *item, const struct place *place,
	struct tensor *t, uint64_t *slices, struct err *err)
{
	static const char *const keys[] = {"parameter", "shape", "sliced", "frozen", "if", NULL};
	struct number_list dims = {.min = 1, .max = GRAPH_MAX_DIMS, .values = t->dims};
	struct doc_at at;
	uint64_t axis = 0;
	bool frozen = false;
	if (!doc_object(*item, keys, err) || !doc_get(item, "shape", &at, err) ||
		!workload_numbers(at, place->scope, &dims, err))
		return false;
	t->n_dims = dims.n;
	if (doc_find(item, "frozen", &at) && !doc_bool(at, &frozen, err))
		return false;
	t->class = frozen ? TENSOR_CONST : TENSOR_PARAM;
	if (!doc_find(item, "sliced", &at))
		return true;
	if (!workload_number(at, place->scope, 0, &axis, err))
		return false;
	if (axis >= t->n_dims || t->dims[axis] % w->tp != 0)
		return doc_fail(at, err,
			"parameter '%s': axis %" PRIu64
			" of the shape is not there or not divisible by tp = %u",
			t->name, axis, w->tp);
	t->dims[axis] /= w->tp;
	*slices = w->tp;
	w->sliced = true;
	return true;
}

bool workload_parameter(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err)
{
	struct doc_at at;
	struct err why = {0};
	struct tensor t = {0};
	const char *name;
	tensor_id id;
	uint64_t slices = 1;
	if (!doc_get(item, "parameter", &at, err) || !doc_string(at, &name, err))
		return false;
	t.name = arena_printf(w->a, "%s%s", place->prefix, name);
	if (!read_parameter(w, item, place, &t, &slices, err))
		return false;
	if (!builder_add_tensor(&w->b, &t, &id, &why))
		return doc_fail(*item, err, "parameter '%s': %s", t.name, why.text);
	if (t.class == TENSOR_PARAM)
		w->b.parameters += (slices - 1) * tensor_elements(&w->b.tensors[id]);
	place_add(w, place, name, id);
	return true;
}
