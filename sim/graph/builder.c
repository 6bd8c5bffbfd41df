#include "graph/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

void builder_init(struct builder *b, struct arena *a, uint32_t elem_bytes)
{
	*b = (struct builder){.a = a, .elem_bytes = elem_bytes};
}

const char *tensor_shape_text(struct arena *a, const struct tensor *t)
{
	struct text text = {0};
	text_add(&text, "[");
	for (uint32_t i = 0; i < t->n_dims; i++)
		text_add(&text, "%s%" PRIu64, i ? "," : "", t->dims[i]);
	text_add(&text, "]");
	char *copy = arena_strdup(a, text.data);
	text_free(&text);
	return copy;
}

static bool check_tensor(struct arena *a, const struct tensor *t, struct err *err)
{
	u128 n = 1;
	for (uint32_t i = 0; i < t->n_dims; i++) {
		if (t->dims[i] == 0)
			return err_set(err, ERR_INPUT, "tensor '%s' has a dimension of 0: %s",
				t->name, tensor_shape_text(a, t));
		n *= t->dims[i];
		if (n > UINT64_C(1) << BUILDER_MAX_ELEMENTS_LOG2)
			return err_set(err, ERR_INPUT,
				"tensor '%s' of %s has more than 2^%d elements", t->name,
				tensor_shape_text(a, t), BUILDER_MAX_ELEMENTS_LOG2);
	}
	return true;
}

static bool push_tensor(
	struct builder *b, const struct tensor *t, op_id producer, tensor_id *id, struct err *err)
{
	struct tensor copy = *t;
	if (t->n_dims > GRAPH_MAX_DIMS)
		return err_set(err, ERR_INPUT, "tensor '%s' has more than %d dimensions", t->name,
			GRAPH_MAX_DIMS);
	if (!check_tensor(b->a, t, err))
		return false;
	copy.name = arena_strdup(b->a, t->name);
	copy.producer = producer;
	if (copy.elem_bytes == 0)
		copy.elem_bytes = b->elem_bytes;
	if (copy.class == TENSOR_PARAM)
		b->parameters += tensor_elements(&copy);
	*id = b->n_tensors;
	arena_push(b->a, b->tensors, b->n_tensors, b->cap_tensors) = copy;
	return true;
}

bool builder_add_tensor(struct builder *b, const struct tensor *t, tensor_id *id, struct err *err)
{
	assert(t->class != TENSOR_ACTIVATION);
	return push_tensor(b, t, GRAPH_NONE, id, err);
}

void builder_begin_layer(struct builder *b, const char *name)
{
	arena_push(b->a, b->layer_names, b->n_layers, b->cap_layers) = arena_strdup(b->a, name);
}

static const struct op_kind *find_kind(
	struct builder *b, const struct op_request *r, struct err *err)
{
	const struct op_kind *kind = op_kind_find(r->kind);
	if (kind)
		return kind;
	uint32_t n;
	const char *const *names = op_kind_names(b->a, &n);
	const char *near = text_nearest(r->kind, names, n);
	err_set(err, ERR_INPUT, "operator '%s': unknown kind '%s'%s%s%s", r->name, r->kind,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

/* "operator 'x' (gemm) of [2,3] and [4,5]: " in front of what is wrong. */
static bool blame(struct builder *b, const struct op_request *r, struct err *err)
{
	struct text text = {0};
	for (uint32_t i = 0; i < r->n_inputs && i < 4; i++)
		text_add(&text, "%s%s", i == 0 ? " of " : " and ",
			tensor_shape_text(b->a, &b->tensors[r->inputs[i]]));
	if (r->n_inputs > 4)
		text_add(&text, " and %u more", r->n_inputs - 4);
	err->kind = ERR_INPUT;
	err_prefix(err, "operator '%s' (%s)%s: ", r->name, r->kind, text.data ? text.data : "");
	text_free(&text);
	return false;
}

static void one_if_zero(uint32_t pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] == 0)
			pair[i] = 1;
}

static bool is_zero(const void *object, size_t n)
{
	const unsigned char *bytes = object;
	size_t i = 0;
	while (i < n && bytes[i] == 0)
		i++;
	return i == n;
}

/* Most operators have none of their own: they share one set. */
static const struct op_attrs *with_defaults(struct arena *a, const struct op_attrs *given)
{
	static const struct op_attrs usual = {
		.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};
	struct op_attrs attrs = *given;
	one_if_zero(attrs.kernel);
	one_if_zero(attrs.stride);
	one_if_zero(attrs.dilation);
	if (attrs.group == 0)
		attrs.group = 1;
	if (is_zero(given, sizeof(*given)))
		return &usual;
	struct op_attrs *copy = arena_new(a, struct op_attrs);
	*copy = attrs;
	return copy;
}

static int compare_ids(const void *x, const void *y)
{
	const op_id a = *(const op_id *)x, b = *(const op_id *)y;
	return (a > b) - (a < b);
}

static void set_preds(struct builder *b, struct op *op)
{
	op_id *preds = arena_array(b->a, op->n_inputs, op_id);
	uint32_t n = 0, kept = 0;
	for (uint32_t i = 0; i < op->n_inputs; i++)
		if (b->tensors[op->inputs[i]].producer != GRAPH_NONE)
			preds[n++] = b->tensors[op->inputs[i]].producer;
	if (n > 0)
		qsort(preds, n, sizeof(*preds), compare_ids);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || preds[i] != preds[kept - 1])
			preds[kept++] = preds[i];
	op->preds = preds;
	op->n_preds = kept;
}

static bool set_outputs(
	struct builder *b, struct op *op, const struct op_shapes *shapes, struct err *err)
{
	tensor_id *ids = arena_array(b->a, shapes->n_out, tensor_id);
	for (uint32_t i = 0; i < shapes->n_out; i++) {
		struct tensor t = shapes->out[i];
		t.name = i == 0 ? op->name : arena_printf(b->a, "%s.%u", op->name, i);
		t.class = TENSOR_ACTIVATION;
		if (!push_tensor(b, &t, b->n_ops, &ids[i], err))
			return false;
	}
	op->outputs = ids;
	op->n_outputs = shapes->n_out;
	return true;
}

static bool set_work(const struct op_view *view, struct arena *a, struct work *w, struct err *err)
{
	struct pass_list list = {.a = a};
	w->core = view->kind->core;
	if (view->kind->passes)
		view->kind->passes(view, &list);
	w->vector = list.passes;
	w->n_vector = list.n;
	w->row_bytes = list.row_bytes;
	w->again_bytes = list.again_bytes;
	if (w->core == CORE_VC) {
		for (uint32_t i = 0; i < view->n_in; i++)
			w->vector_read_bytes += tensor_bytes(view->in[i]);
		for (uint32_t i = 0; i < view->n_out; i++)
			w->vector_write_bytes += tensor_bytes(view->out[i]);
	}
	if (view->kind->work)
		view->kind->work(view, w); /* may know the traffic better */
	u128 macs = (u128)w->batch * w->m; /* each below 2^48, as is the product of the others */
	if (macs >> BUILDER_MAX_MACS_LOG2 || (u128)w->n * w->k >> BUILDER_MAX_MACS_LOG2 ||
		macs * w->n * w->k >> BUILDER_MAX_MACS_LOG2)
		return err_set(err, ERR_INPUT, "more than 2^%d multiply-accumulates",
			BUILDER_MAX_MACS_LOG2);
	return true;
}

static const struct tensor **tensors_of(
	struct builder *b, const tensor_id *ids, uint32_t n, struct arena *scratch)
{
	const struct tensor **list = arena_array(scratch, n, const struct tensor *);
	for (uint32_t i = 0; i < n; i++) {
		assert(ids[i] < b->n_tensors);
		list[i] = &b->tensors[ids[i]];
	}
	return list;
}

/* Shapes, outputs, work; `view` points at tensors that move when outputs are added, so it is
 * made twice. */
static bool complete(struct builder *b, struct op *op, struct arena *scratch, struct err *err)
{
	struct op_shapes shapes = {0};
	struct op_view view = {.kind = op->kind, .attrs = op->attrs, .n_in = op->n_inputs};
	view.in = tensors_of(b, op->inputs, op->n_inputs, scratch);
	if (!op->kind->shape(&view, &shapes, err) || !set_outputs(b, op, &shapes, err))
		return false;
	view.in = tensors_of(b, op->inputs, op->n_inputs, scratch);
	view.out = tensors_of(b, op->outputs, op->n_outputs, scratch);
	view.n_out = op->n_outputs;
	return set_work(&view, b->a, &op->work, err);
}

static bool check_request(const struct builder *b, const struct op_request *r,
	const struct op_kind *k, struct err *err)
{
	if (r->n_inputs < k->min_inputs || r->n_inputs > k->max_inputs)
		return err_set(err, ERR_INPUT, "%u to %u inputs are expected, there are %u",
			k->min_inputs, k->max_inputs, r->n_inputs);
	if (b->n_ops >= BUILDER_MAX_OPS)
		return err_set(err, ERR_INPUT, "more than %d operators", BUILDER_MAX_OPS);
	return true;
}

bool builder_add_op(struct builder *b, const struct op_request *r, op_id *id, struct err *err)
{
	const struct op_kind *kind = find_kind(b, r, err);
	if (!kind)
		return false;
	if (!check_request(b, r, kind, err))
		return blame(b, r, err);
	assert(b->n_layers > 0);
	tensor_id *inputs = arena_array(b->a, r->n_inputs, tensor_id);
	memcpy(inputs, r->inputs, r->n_inputs * sizeof(*inputs));
	struct op op = {
		.name = arena_strdup(b->a, r->name),
		.kind = kind,
		.pass = PASS_FORWARD,
		.layer = b->n_layers - 1,
		.recomputable = r->recomputable,
		.forward = b->n_ops,
		.inputs = inputs,
		.n_inputs = r->n_inputs,
		.attrs = with_defaults(b->a, &r->attrs),
	};
	struct arena scratch = {0};
	bool ok = complete(b, &op, &scratch, err);
	arena_free(&scratch);
	if (!ok)
		return blame(b, r, err);
	set_preds(b, &op);
	*id = b->n_ops;
	arena_push(b->a, b->ops, b->n_ops, b->cap_ops) = op;
	return true;
}

tensor_id builder_output(const struct builder *b, op_id op, uint32_t i)
{
	assert(op < b->n_ops && i < b->ops[op].n_outputs);
	return b->ops[op].outputs[i];
}

static int compare_names(const void *x, const void *y)
{
	const char *const *a = x, *const *b = y;
	return strcmp(*a, *b);
}

static bool names_unique(const struct builder *b, struct err *err)
{
	struct arena scratch = {0};
	const char **names = arena_array(&scratch, b->n_ops, const char *);
	const char *twice = NULL;
	for (uint32_t i = 0; i < b->n_ops; i++)
		names[i] = b->ops[i].name;
	qsort(names, b->n_ops, sizeof(*names), compare_names);
	for (uint32_t i = 1; i < b->n_ops && !twice; i++)
		if (strcmp(names[i], names[i - 1]) == 0)
			twice = names[i];
	arena_free(&scratch);
	return !twice || err_set(err, ERR_INPUT, "two operators are named '%s'", twice);
}

bool builder_finish(struct builder *b, struct graph *out, struct err *err)
{
	if (b->n_ops == 0)
		return err_set(err, ERR_INPUT, "there is no operator");
	if (!names_unique(b, err))
		return false;
	*out = (struct graph){
		.ops = b->ops,
		.n_ops = b->n_ops,
		.tensors = b->tensors,
		.n_tensors = b->n_tensors,
		.layer_names = b->layer_names,
		.n_layers = b->n_layers,
		.tp = 1,
		.parameters = b->parameters,
	};
	return true;
}
