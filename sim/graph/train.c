#include "graph/train_internal.h"

#include <stdlib.h>
#include <string.h>

#include "graph/op_work.h"

static int compare_ids(const void *x, const void *y)
{
	const op_id a = *(const op_id *)x, b = *(const op_id *)y;
	return (a > b) - (a < b);
}

op_id train_append(struct trainer *t, const struct op *op, const struct starts *after)
{
	struct op copy = *op;
	op_id *preds = arena_array(t->a, after->n, op_id);
	uint32_t n = 0;
	if (after->n > 0) {
		memcpy(preds, after->ids, after->n * sizeof(*preds));
		qsort(preds, after->n, sizeof(*preds), compare_ids);
	}
	for (uint32_t i = 0; i < after->n; i++)
		if (n == 0 || preds[n - 1] != preds[i])
			preds[n++] = preds[i];
	copy.preds = preds;
	copy.n_preds = n;
	copy.layer = t->in->ops[op->forward].layer;
	copy.recomputable = false;
	arena_push(t->a, t->ops, t->n_ops, t->cap_ops) = copy;
	return t->n_ops - 1;
}

void train_contribute(struct trainer *t, tensor_id tensor, op_id op)
{
	if (!t->needs[tensor])
		return;
	struct grad_use *use = arena_new(t->a, struct grad_use);
	*use = (struct grad_use){op, t->uses[tensor]};
	t->uses[tensor] = use;
}

static op_id append_sum(
	struct trainer *t, const struct tensor *x, op_id forward, const struct starts *parts)
{
	struct vector_work *passes = arena_array(t->a, parts->n - 1, struct vector_work);
	uint64_t n = tensor_elements(x);
	for (uint32_t i = 0; i + 1 < parts->n; i++)
		passes[i] = (struct vector_work){VECTOR_ELEMENTWISE, n, n, 1};
	struct op op = {
		.name = arena_printf(t->a, "%s/sum", x->name),
		.kind = op_kind_find("add"),
		.pass = x->class == TENSOR_PARAM ? PASS_BACKWARD_WEIGHT : PASS_BACKWARD_DATA,
		.forward = forward,
		.work = {.core = CORE_VC, .vector = passes, .n_vector = parts->n - 1},
	};
	op.work.vector_read_bytes = parts->n * tensor_bytes(x);
	op.work.vector_write_bytes = tensor_bytes(x);
	return train_append(t, &op, parts);
}

void train_add_gradient(struct trainer *t, tensor_id tensor, op_id forward, struct starts *to)
{
	struct starts dense = {0};
	uint32_t n = 0;
	for (const struct grad_use *u = t->uses[tensor]; u; u = u->next)
		n++;
	dense.ids = arena_array(t->a, n, op_id);
	to->ids = arena_grow(t->a, to->ids, to->n, to->n + n, sizeof(*to->ids));
	for (const struct grad_use *u = t->uses[tensor]; u; u = u->next)
		if (t->ops[u->op].kind->backward == BACKWARD_LOOKUP)
			to->ids[to->n++] = u->op;
		else
			dense.ids[dense.n++] = u->op;
	if (dense.n == 1)
		to->ids[to->n++] = dense.ids[0];
	if (dense.n > 1)
		to->ids[to->n++] = append_sum(t, &t->in->tensors[tensor], forward, &dense);
}

/* A fused operator writes what its backward pass reads from inside it. `stamp` holds, for each
 * tensor, the operator (plus 1) that was last seen to write it. */
static void write_saved_inside(
	struct trainer *t, struct op *op, const tensor_id *roots, op_id *stamp)
{
	uint32_t n_parts;
	const struct op *parts = op_parts(op, &n_parts);
	for (uint32_t i = 0; i < op->n_outputs; i++)
		stamp[roots[op->outputs[i]]] = op->forward + 1;
	for (uint32_t p = 0; p < n_parts; p++) {
		tensor_id saved[GRADIENT_MAX_SAVED];
		uint32_t n = gradient_saved(t->in, &parts[p], t->needs, saved);
		for (uint32_t i = 0; i < n; i++) {
			tensor_id root = roots[saved[i]];
			const struct tensor *x = &t->in->tensors[root];
			if (x->producer != op->forward || stamp[root] == op->forward + 1)
				continue;
			stamp[root] = op->forward + 1;
			op->work.vector_write_bytes += tensor_bytes(x);
		}
	}
}

static void copy_forward(struct trainer *t)
{
	struct arena scratch = {0};
	const tensor_id *roots = gradient_roots(&scratch, t->in);
	op_id *stamp = arena_array(&scratch, t->in->n_tensors, op_id);
	for (uint32_t i = 0; i < t->in->n_ops; i++) {
		struct op op = t->in->ops[i];
		if (op.parts)
			write_saved_inside(t, &op, roots, stamp);
		for (uint32_t j = 0; j < op.n_inputs; j++) {
			t->has_user[op.inputs[j]] = true;
			if (t->first_user[op.inputs[j]] == GRAPH_NONE)
				t->first_user[op.inputs[j]] = i;
		}
		arena_push(t->a, t->ops, t->n_ops, t->cap_ops) = op;
	}
	arena_free(&scratch);
}

/* Elements that the update visits: all, or those that lookups named when only sparse ones use
 * the parameter. */
static uint64_t updated_elements(const struct trainer *t, tensor_id parameter)
{
	uint64_t all = tensor_elements(&t->in->tensors[parameter]), named = 0;
	for (const struct grad_use *u = t->uses[parameter]; u; u = u->next) {
		const struct op *op = &t->ops[u->op];
		if (!(op->kind->saves & UPDATE_SPARSE))
			return all;
		named += op->work.vector[0].numel;
	}
	return named < all ? named : all;
}

static void update(struct trainer *t, tensor_id parameter)
{
	const struct tensor *x = &t->in->tensors[parameter];
	op_id forward = t->first_user[parameter];
	struct starts after = {0};
	uint64_t n = updated_elements(t, parameter);
	train_add_gradient(t, parameter, forward, &after);
	struct vector_work *pass = arena_new(t->a, struct vector_work);
	*pass = (struct vector_work){VECTOR_ELEMENTWISE, n, n, update_cycles(t->optimizer)};
	struct op op = {
		.name = arena_printf(t->a, "%s/update", x->name),
		.kind = t->in->ops[forward].kind,
		.pass = PASS_UPDATE,
		.forward = forward,
		.work = {.core = CORE_VC, .vector = pass, .n_vector = 1},
	};
	update_bytes(t->optimizer, n, x->elem_bytes, &op.work.vector_read_bytes,
		&op.work.vector_write_bytes);
	train_append(t, &op, &after);
}

void graph_train(struct arena *a, const struct graph *in, const struct train_options *options,
	struct graph *out)
{
	struct trainer t = {
		.a = a,
		.in = in,
		.optimizer = options->optimizer,
		.needs = gradient_needs(a, in),
		.uses = arena_array(a, in->n_tensors, struct grad_use *),
		.first_user = arena_array(a, in->n_tensors, op_id),
		.has_user = arena_array(a, in->n_tensors, bool),
		.cap_ops = 4 * in->n_ops, /* most passes have fewer */
	};
	t.ops = arena_array(a, t.cap_ops, struct op);
	for (uint32_t i = 0; i < in->n_tensors; i++)
		t.first_user[i] = GRAPH_NONE;
	copy_forward(&t);
	for (uint32_t i = in->n_ops; i-- > 0;)
		train_back(&t, &in->ops[i]);
	for (uint32_t i = 0; i < in->n_tensors; i++)
		if (in->tensors[i].class == TENSOR_PARAM && t.uses[i])
			update(&t, i);
	*out = *in;
	out->ops = t.ops;
	out->n_ops = t.n_ops;
}
