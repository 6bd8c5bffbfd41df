#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/gradient.h"
#include "graph/internal.h"
#include "graph/op_work.h"

/* One contribution to the gradient of a tensor: the operator that makes it. */
struct grad_use {
	op_id op;
	struct grad_use *next;
};

struct trainer {
	struct arena *a;
	const struct graph *in;
	enum optimizer optimizer;
	const bool *needs;
	struct grad_use **uses; /* for each tensor, latest first */
	op_id *first_user;      /* for each tensor: forward operator, or GRAPH_NONE */
	bool *has_user;         /* for each tensor */
	struct op *ops;
	uint32_t n_ops, cap_ops;
};

/* Gradients that an operator's backward pass starts from. */
struct starts {
	op_id *ids;
	uint32_t n;
};

static struct op_view view_of(struct trainer *t, const struct op *part)
{
	const struct tensor **in = arena_array(t->a, part->n_inputs, const struct tensor *);
	const struct tensor **out = arena_array(t->a, part->n_outputs, const struct tensor *);
	for (uint32_t i = 0; i < part->n_inputs; i++)
		in[i] = &t->in->tensors[part->inputs[i]];
	for (uint32_t i = 0; i < part->n_outputs; i++)
		out[i] = &t->in->tensors[part->outputs[i]];
	return (struct op_view){part->kind, &part->attrs, in, part->n_inputs, out, part->n_outputs};
}

static int compare_ids(const void *x, const void *y)
{
	const op_id a = *(const op_id *)x, b = *(const op_id *)y;
	return (a > b) - (a < b);
}

/* Appends an operator of the backward pass; `op` has name, kind, pass, forward and work. */
static op_id append(struct trainer *t, const struct op *op, const struct starts *after)
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

static void contribute(struct trainer *t, tensor_id tensor, op_id op)
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
	return append(t, &op, parts);
}

/* Adds the operators after which the whole gradient of `tensor` is there to `to`. Several contributions are summed
 * by an operator of their own, except those of lookups: they go straight into the sum, row by row. */
static void add_gradient(struct trainer *t, tensor_id tensor, op_id forward, struct starts *to)
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

/* Gradients of the outputs of `op`. An operator that nobody uses starts from itself: it is the loss. */
static struct starts output_gradients(struct trainer *t, const struct op *op)
{
	struct starts starts = {0};
	bool used = false;
	for (uint32_t i = 0; i < op->n_outputs; i++) {
		used = used || t->has_user[op->outputs[i]];
		add_gradient(t, op->outputs[i], op->forward, &starts);
	}
	if (!used) {
		starts.ids = arena_new(t->a, op_id);
		starts.ids[0] = op->forward;
		starts.n = 1;
	}
	return starts;
}

static uint64_t saved_bytes(struct trainer *t, const struct op *part)
{
	tensor_id saved[GRADIENT_MAX_SAVED];
	uint32_t n = gradient_saved(t->in, part, t->needs, saved);
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < n; i++)
		bytes += tensor_bytes(&t->in->tensors[saved[i]]);
	return bytes;
}

/* Reads what the parts saved and their parameters, writes gradients of parameters. */
static void add_part_traffic(struct trainer *t, const struct op *part, struct work *w)
{
	w->vector_read_bytes += saved_bytes(t, part);
	for (uint32_t i = 0; i < part->n_inputs; i++) {
		const struct tensor *x = &t->in->tensors[part->inputs[i]];
		if (x->class != TENSOR_PARAM)
			continue;
		w->vector_read_bytes += tensor_bytes(x);
		w->vector_write_bytes += tensor_bytes(x);
	}
}

/* Gradients of activations that `part` reads. Those of a sum are the gradient of its output itself when they have
 * its size: nothing is written, or once when it comes out of a fused tail. */
static uint64_t input_gradient_bytes(struct trainer *t, const struct op *part, bool has_tail)
{
	const struct tensor *y = &t->in->tensors[part->outputs[0]];
	bool sum = part->kind->class == CLASS_INJECTIVE && part->kind->saves == 0;
	uint64_t bytes = 0, shared = 0;
	for (uint32_t i = 0; i < part->n_inputs; i++) {
		const struct tensor *x = &t->in->tensors[part->inputs[i]];
		if (!t->needs[part->inputs[i]] || x->class != TENSOR_ACTIVATION)
			continue;
		if (sum && tensor_elements(x) == tensor_elements(y))
			shared = tensor_bytes(x);
		else
			bytes += tensor_bytes(x);
	}
	return bytes + (has_tail ? shared : 0);
}

static void contribute_all(struct trainer *t, const struct op *part, op_id op, bool parameters_only)
{
	for (uint32_t i = 0; i < part->n_inputs; i++)
		if (!parameters_only || t->in->tensors[part->inputs[i]].class == TENSOR_PARAM)
			contribute(t, part->inputs[i], op);
}

/* The vector operator that goes back through parts[first] .. parts[n-1], last first. GRAPH_NONE when it would do
 * nothing. */
static op_id back_vector(struct trainer *t, const struct op *op, uint32_t first, const char *suffix,
	const struct starts *after)
{
	uint32_t n;
	const struct op *parts = op_parts(op, &n);
	struct pass_list list = {.a = t->a};
	struct work w = {.core = CORE_VC};
	for (uint32_t p = n; p-- > first;) {
		struct op_view view = view_of(t, &parts[p]);
		if (parts[p].kind->backward_passes)
			parts[p].kind->backward_passes(
				&view, gradient_mask(&parts[p], t->needs), &list);
		add_part_traffic(t, &parts[p], &w);
	}
	if (list.n == 0)
		return GRAPH_NONE;
	if (t->has_user[parts[n - 1].outputs[0]])
		w.vector_read_bytes += tensor_bytes(&t->in->tensors[parts[n - 1].outputs[0]]);
	/* what goes on to a tensor-core head is written even where it equals what came in */
	w.vector_write_bytes += first == 0 ? input_gradient_bytes(t, &parts[0], n > 1)
					   : tensor_bytes(&t->in->tensors[parts[0].outputs[0]]);
	w.vector = list.passes;
	w.n_vector = list.n;
	op_id id = append(t,
		&(struct op){
			.name = arena_printf(t->a, "%s/%s", op->name, suffix),
			.kind = parts[first].kind,
			.pass = PASS_BACKWARD_DATA,
			.forward = op->forward,
			.work = w,
		},
		after);
	for (uint32_t p = first; p < n; p++)
		contribute_all(t, &parts[p], id, p > first || first > 0);
	return id;
}

/* dX (m, k, n) with operands dY and W, dW (k, n, m) with operands X and dY. */
static struct work gemm_back(const struct work *f, bool of_weight)
{
	struct work w = {.core = CORE_TC, .batch = f->batch, .conv = f->conv};
	w.m = of_weight ? f->k : f->m;
	w.n = of_weight ? f->n : f->k;
	w.k = of_weight ? f->m : f->n;
	w.a_bytes = of_weight ? f->a_bytes : f->c_bytes;
	w.b_bytes = of_weight ? f->c_bytes : f->b_bytes;
	w.c_bytes = of_weight ? f->b_bytes : f->a_bytes;
	return w;
}

static void back_gemm(
	struct trainer *t, const struct op *op, const struct op *part, const struct starts *after)
{
	bool two = t->in->tensors[part->inputs[1]].class == TENSOR_ACTIVATION;
	op_id last = GRAPH_NONE;
	for (uint32_t i = 0; i < 2; i++) {
		bool weight = t->in->tensors[part->inputs[i]].class == TENSOR_PARAM;
		struct op back = {
			.name = arena_printf(t->a, "%s/%s", op->name,
				two ? (i ? "dB" : "dA") : (weight ? "dW" : "dX")),
			.kind = part->kind,
			.pass = weight ? PASS_BACKWARD_WEIGHT : PASS_BACKWARD_DATA,
			.forward = op->forward,
			.attrs = part->attrs,
			.work = gemm_back(&part->work, i == 1),
		};
		if (!t->needs[part->inputs[i]])
			continue;
		if (weight && part->n_inputs > 2) /* the gradient of the bias, summed on the way */
			back.work.vector_write_bytes =
				tensor_bytes(&t->in->tensors[part->inputs[2]]);
		last = append(t, &back, after);
		contribute(t, part->inputs[i], last);
	}
	for (uint32_t i = 2; i < part->n_inputs; i++)
		contribute(t, part->inputs[i], last == GRAPH_NONE ? after->ids[0] : last);
}

/* An operator that only waits, or only communicates. */
static op_id back_plain(struct trainer *t, const struct op *op, const char *suffix,
	enum op_pass pass, const struct starts *after)
{
	struct op back = {
		.name = arena_printf(t->a, "%s/%s", op->name, suffix),
		.kind = op->kind,
		.pass = pass,
		.forward = op->forward,
		.work = {.core = CORE_NONE},
	};
	if (op->kind->backward == BACKWARD_COLLECTIVE) {
		back.work.core = CORE_LINK;
		back.work.collective_bytes = tensor_bytes(&t->in->tensors[op->inputs[0]]);
	}
	return append(t, &back, after);
}

static void back_head(
	struct trainer *t, const struct op *op, const struct op *head, const struct starts *after)
{
	op_id id = after->ids[0];
	switch (head->kind->backward) {
	case BACKWARD_GEMM:
		back_gemm(t, op, head, after);
		return;
	case BACKWARD_VECTOR:
		back_vector(t, op, 0, "dX", after);
		return;
	case BACKWARD_VIEW:
		if (after->n > 1)
			id = back_plain(t, op, "dX", PASS_BACKWARD_DATA, after);
		contribute_all(t, head, id, false);
		return;
	case BACKWARD_COLLECTIVE:
		id = back_plain(t, op, "dX", PASS_BACKWARD_DATA, after);
		contribute_all(t, head, id, false);
		return;
	case BACKWARD_LOOKUP:
		id = back_plain(t, op, "dW", PASS_BACKWARD_WEIGHT, after);
		contribute_all(t, head, id, false);
		return;
	}
}

static void back_op(struct trainer *t, const struct op *op)
{
	uint32_t n, mask = 0;
	const struct op *parts = op_parts(op, &n);
	for (uint32_t p = 0; p < n; p++)
		mask |= gradient_mask(&parts[p], t->needs);
	if (mask == 0)
		return;
	struct starts after = output_gradients(t, op);
	if (after.n == 0)
		return;
	if (n > 1 && parts[0].kind->backward != BACKWARD_VECTOR) {
		op_id tail = back_vector(t, op, 1, "dtail", &after);
		if (tail != GRAPH_NONE)
			after = (struct starts){.ids = &tail, .n = 1};
		back_head(t, op, &parts[0], &after);
		return;
	}
	back_head(t, op, &parts[0], &after);
}

/* A fused operator writes what its backward pass reads from inside it. `stamp` holds, for each tensor, the
 * operator (plus 1) that was last seen to write it. */
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

static void update(struct trainer *t, tensor_id parameter)
{
	const struct tensor *x = &t->in->tensors[parameter];
	op_id forward = t->first_user[parameter];
	struct starts after = {0};
	uint64_t n = tensor_elements(x);
	add_gradient(t, parameter, forward, &after);
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
	append(t, &op, &after);
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
	};
	for (uint32_t i = 0; i < in->n_tensors; i++)
		t.first_user[i] = GRAPH_NONE;
	copy_forward(&t);
	for (uint32_t i = in->n_ops; i-- > 0;)
		back_op(&t, &in->ops[i]);
	for (uint32_t i = 0; i < in->n_tensors; i++)
		if (in->tensors[i].class == TENSOR_PARAM && t.uses[i])
			update(&t, i);
	*out = *in;
	out->ops = t.ops;
	out->n_ops = t.n_ops;
}
