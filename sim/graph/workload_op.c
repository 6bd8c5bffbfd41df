#include <inttypes.h>
#include <string.h>

#include "graph/workload_internal.h"

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

/* One tp_copy or sp_gather serves all column-parallel readers of a tensor: their gradients are
 * summed before the all-reduce. */
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
	if (r->kind->keys & (KEY_GIVEN_GEMM | KEY_GIVEN_VECTOR))
		return workload_given(r);
	const struct tensor *x = &r->w->b.tensors[r->given[0]];
	if (r->kind->keys & (KEY_SHAPE | KEY_PARTS) &&
		!workload_need(r, args->has_shape, r->kind->keys & KEY_SHAPE ? "shape" : "parts"))
		return false;
	if (r->kind->keys & KEY_KERNEL && !workload_need(r, args->attrs.kernel[0] > 0, "kernel"))
		return false;
	if (r->kind->keys & KEY_SIZE && !workload_need(r, args->attrs.kernel[0] > 0, "size"))
		return false;
	if (r->kind->class == CLASS_POOLING && r->kind->keys & KEY_KERNEL &&
		args->attrs.stride[0] == 0)
		memcpy(args->attrs.stride, args->attrs.kernel, sizeof(args->attrs.stride));
	if (r->kind->keys & KEY_AXIS && !args->has_axis && x->n_dims > 0)
		args->attrs.axis = strcmp(r->kind->name, "flatten") == 0 ? 1 : x->n_dims - 1;
	if (!workload_need(r, !(r->kind->keys & KEY_K) || args->attrs.count > 0, "k") ||
		!workload_need(
			r, !(r->kind->keys & KEY_EXPERTS) || args->attrs.count > 0, "experts"))
		return false;
	r->w->sliced = r->w->sliced || args->shard != SHARD_NONE;
	return true;
}

/* Operators without parameters may have many inputs; the others have one and room for three
 * parameters. */
static bool append_sliced(struct reading *r, tensor_id *result, op_id *op)
{
	bool many = r->kind->params == PARAMS_NONE;
	struct op_request request = {
		.name = r->name,
		.kind = r->kind->name,
		.inputs = many ? r->given : r->inputs,
		.attrs = r->args.attrs,
		.recomputable = r->args.recompute || r->recompute,
	};
	if (r->n > 0)
		r->inputs[0] = r->given[0];
	if (!workload_parameters(r))
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
	struct doc_at at, sizes;
	const char *text;
	if (!doc_get(item, "op", &at, err) || !doc_string(at, &text, err))
		return NULL;
	/* a product is a gemm whether its operands are tensors or only sizes */
	const struct op_kind *kind = op_kind_find(
		strcmp(text, "gemm") == 0 && doc_find(item, "m", &sizes) ? "given_gemm" : text);
	if (kind)
		return kind;
	uint32_t n;
	const char *const *names = op_kind_names(w->a, &n);
	const char *near = text_nearest(text, names, n);
	doc_fail(at, err, "operator '%s': unknown kind '%s'%s%s%s", name, text,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

/* Puts the operator behind the position in a message that does not name it yet. */
static bool blame(const struct reading *r, const struct doc_at *item)
{
	char text[ERR_TEXT];
	size_t n = strlen(item->doc->path);
	if (r->err->kind != ERR_INPUT || strstr(r->err->text, "operator '") ||
		strncmp(r->err->text, item->doc->path, n) != 0)
		return false;
	const char *at = strstr(r->err->text + n, ": ");
	if (!at)
		return false;
	memcpy(text, r->err->text, sizeof(text));
	n = (size_t)(at - r->err->text);
	return err_set(
		r->err, ERR_INPUT, "%.*s: operator '%s': %s", (int)n, text, r->name, text + n + 2);
}

/* Work given outright may read nothing at all. */
static bool read_inputs(struct reading *r, const struct place *place)
{
	struct doc_at at;
	bool given = doc_find(r->item, "in", &at);
	bool none =
		given ? json_is_array(at.value) && doc_length(at) == 0 : place->last == GRAPH_NONE;
	if (r->kind->min_inputs > 0 || !none)
		return workload_inputs(r->w, r->item, place, &r->given, &r->n, r->err);
	r->given = arena_array(r->w->a, 1, tensor_id);
	r->n = 0;
	return true;
}

/* A collective over one device does nothing. */
static bool is_alone(const struct reading *r)
{
	return r->kind->class == CLASS_COLLECTIVE && r->w->tp == 1;
}

static bool read_op(struct reading *r, struct place *place, const char *name)
{
	struct workload *w = r->w;
	tensor_id result;
	op_id op;
	if (!workload_attrs(w, r->item, place->scope, r->kind, &r->args, r->err) ||
		!read_inputs(r, place) || !defaults(r))
		return false;
	w->sliced = w->sliced || r->kind->class == CLASS_COLLECTIVE;
	if (is_alone(r)) {
		result = r->given[0];
	} else {
		if (!append_sliced(r, &result, &op))
			return false;
		name_outputs(r, place, name, op);
	}
	place_add(w, place, name, result);
	place->last = result;
	return true;
}

bool workload_op(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err)
{
	struct reading r = {.w = w, .item = item, .err = err, .recompute = place->recompute};
	struct doc_at at;
	const char *name;
	if (!doc_get(item, "name", &at, err) || !doc_string(at, &name, err))
		return false;
	r.name = arena_printf(w->a, "%s%s", place->prefix, name);
	r.kind = find_kind(w, item, r.name, err);
	if (!r.kind)
		return false;
	return read_op(&r, place, name) || blame(&r, item);
}
