#include <inttypes.h>
#include <string.h>

#include "graph/workload_internal.h"

/* One operator while it is read. */
struct reading {
	struct workload *w;
	const struct doc_at *item;
	const char *name; /* full */
	const struct op_kind *kind;
	struct op_args args;
	tensor_id inputs[4]; /* the first few; parameters follow what the file names */
	const tensor_id *given;
	uint32_t n;
	struct err *err;
};

static bool need(struct reading *r, bool there, const char *key)
{
	return there || doc_fail(*r->item, r->err, "operator '%s' (%s): missing key '%s'", r->name,
				r->kind->name, key);
}

/* Adds parameter NAME.`suffix` of the given shape as the next input. `whole` is how many times its elements the
 * model has over all devices. */
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
	if (!need(r, (features > 0) != (r->args.weight != NULL), "features' or 'weight"))
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
	if (!need(r, r->args.features > 0, "features") || !need(r, a->kernel[0] > 0, "kernel"))
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
	if (!need(r, rows > 0, "rows") || !need(r, r->args.features > 0, "features"))
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

static bool add_parameters(struct reading *r)
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
	}
	return true;
}

static bool append(struct reading *r, const struct op_request *request, op_id *op)
{
	struct err why = {0};
	return builder_add_op(&r->w->b, request, op, &why) ||
	       doc_fail(*r->item, r->err, "%s", why.text);
}

/* A collective around the operator; `*id` is what goes in and then what comes out. */
static bool add_collective(struct reading *r, const char *kind, tensor_id *id)
{
	op_id op;
	struct op_request request = {
		.name = arena_printf(r->w->a, "%s.%s", r->name, kind),
		.kind = kind,
		.inputs = id,
		.n_inputs = 1,
		.attrs = {.group = r->w->sp},
	};
	if (!append(r, &request, &op))
		return false;
	*id = builder_output(&r->w->b, op, 0);
	return true;
}

/* One tp_copy or sp_gather serves all column-parallel readers of a tensor: their gradients are summed before the all-reduce. */
static bool copy_input(struct reading *r)
{
	struct workload *w = r->w;
	tensor_id from = r->inputs[0];
	for (uint32_t i = w->n_copies; i-- > 0;)
		if (w->copies[i].from == from) {
			r->inputs[0] = w->copies[i].to;
			return true;
		}
	if (!add_collective(r, w->sp > 1 ? "sp_gather" : "tp_copy", &r->inputs[0]))
		return false;
	arena_push(w->a, w->copies, w->n_copies, w->cap_copies) =
		(struct tp_copy){from, r->inputs[0]};
	return true;
}

static bool defaults(struct reading *r)
{
	struct op_args *args = &r->args;
	const struct tensor *x = &r->w->b.tensors[r->given[0]];
	if (r->kind->keys & (KEY_SHAPE | KEY_PARTS) &&
		!need(r, args->has_shape, r->kind->keys & KEY_SHAPE ? "shape" : "parts"))
		return false;
	if (r->kind->keys & KEY_KERNEL && !need(r, args->attrs.kernel[0] > 0, "kernel"))
		return false;
	if (r->kind->keys & KEY_SIZE && !need(r, args->attrs.kernel[0] > 0, "size"))
		return false;
	if (r->kind->class == CLASS_POOLING && r->kind->keys & KEY_KERNEL &&
		args->attrs.stride[0] == 0)
		memcpy(args->attrs.stride, args->attrs.kernel, sizeof(args->attrs.stride));
	if (r->kind->keys & KEY_AXIS && !args->has_axis && x->n_dims > 0)
		args->attrs.axis = strcmp(r->kind->name, "flatten") == 0 ? 1 : x->n_dims - 1;
	r->w->sliced = r->w->sliced || args->shard != SHARD_NONE;
	return true;
}

/* Operators without parameters may have many inputs; the others have one and room for three parameters. */
static bool append_sliced(struct reading *r, tensor_id *result, op_id *op)
{
	bool many = r->kind->params == PARAMS_NONE;
	struct op_request request = {
		.name = r->name,
		.kind = r->kind->name,
		.inputs = many ? r->given : r->inputs,
		.attrs = r->args.attrs,
		.recomputable = r->args.recompute,
	};
	r->inputs[0] = r->given[0];
	if (!add_parameters(r))
		return false;
	if (r->w->tp > 1 && r->args.shard == SHARD_COLUMN && !copy_input(r))
		return false;
	request.n_inputs = r->n;
	request.attrs = r->args.attrs;
	if (!append(r, &request, op))
		return false;
	*result = builder_output(&r->w->b, *op, 0);
	if (r->w->tp == 1 || r->args.shard != SHARD_ROW)
		return true;
	bool scatters = r->w->sp > 1 && r->kind->class != CLASS_LOSS;
	return add_collective(r, scatters ? "sp_scatter" : "tp_reduce", result);
}

static void name_outputs(struct reading *r, struct place *place, const char *name, op_id op)
{
	struct workload *w = r->w;
	for (uint32_t i = 0; i < w->b.ops[op].n_outputs && w->b.ops[op].n_outputs > 1; i++)
		place_add(w, place, arena_printf(w->a, "%s.%u", name, i),
			builder_output(&w->b, op, i));
}

static const struct op_kind *find_kind(
	struct workload *w, const struct doc_at *item, const char *name, struct err *err)
{
	struct doc_at at;
	const char *text;
	if (!doc_get(item, "op", &at, err) || !doc_string(at, &text, err))
		return NULL;
	const struct op_kind *kind = op_kind_find(text);
	if (kind && kind->class != CLASS_COLLECTIVE)
		return kind;
	uint32_t n;
	const char *const *names = op_kind_names(w->a, &n);
	const char *near = kind ? NULL : text_nearest(text, names, n);
	doc_fail(at, err, "operator '%s': unknown kind '%s'%s%s%s", name, text,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

bool workload_op(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err)
{
	struct reading r = {.w = w, .item = item, .err = err};
	struct doc_at at;
	const char *name;
	tensor_id result;
	op_id op;
	if (!doc_get(item, "name", &at, err) || !doc_string(at, &name, err))
		return false;
	r.name = arena_printf(w->a, "%s%s", place->prefix, name);
	r.kind = find_kind(w, item, r.name, err);
	if (!r.kind || !workload_attrs(w, item, place->scope, r.kind, &r.args, err) ||
		!workload_inputs(w, item, place, &r.given, &r.n, err))
		return false;
	if (!defaults(&r) || !append_sliced(&r, &result, &op))
		return false;
	name_outputs(&r, place, name, op);
	place_add(w, place, name, result);
	place->last = result;
	return true;
}
