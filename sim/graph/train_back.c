#include "graph/train_internal.h"

static struct op_view view_of(struct trainer *t, const struct op *part)
{
	const struct tensor **in = arena_array(t->a, part->n_inputs, const struct tensor *);
	const struct tensor **out = arena_array(t->a, part->n_outputs, const struct tensor *);
	for (uint32_t i = 0; i < part->n_inputs; i++)
		in[i] = &t->in->tensors[part->inputs[i]];
	for (uint32_t i = 0; i < part->n_outputs; i++)
		out[i] = &t->in->tensors[part->outputs[i]];
	return (struct op_view){part->kind, part->attrs, in, part->n_inputs, out, part->n_outputs};
}

/* Gradients of the outputs of `op`. An operator that nobody uses starts from itself: it is the
 * loss. */
static struct starts output_gradients(struct trainer *t, const struct op *op)
{
	struct starts starts = {0};
	bool used = false;
	for (uint32_t i = 0; i < op->n_outputs; i++) {
		used = used || t->has_user[op->outputs[i]];
		train_add_gradient(t, op->outputs[i], op->forward, &starts);
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

/* Gradients of activations that `part` reads. One that is the gradient of the output itself is
 * not written, or once when that comes out of a fused tail. */
static uint64_t input_gradient_bytes(struct trainer *t, const struct op *part, bool has_tail)
{
	const struct tensor *y = &t->in->tensors[part->outputs[0]];
	uint64_t bytes = 0, shared = 0;
	for (uint32_t i = 0; i < part->n_inputs; i++) {
		const struct tensor *x = &t->in->tensors[part->inputs[i]];
		if (!t->needs[part->inputs[i]] || x->class != TENSOR_ACTIVATION)
			continue;
		bool same = i < 3 && part->kind->saves >> i & SHARES_FIRST;
		if (same && tensor_elements(x) == tensor_elements(y))
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
			train_contribute(t, part->inputs[i], op);
}

/* A part that reads its predecessor's output more than once sums the gradients. */
static void add_inner_sums(
	struct trainer *t, const struct op *part, tensor_id from, struct pass_list *list)
{
	uint64_t n = tensor_elements(&t->in->tensors[from]);
	uint32_t uses = 0;
	for (uint32_t i = 0; i < part->n_inputs; i++)
		if (part->inputs[i] == from && uses++ > 0)
			arena_push(list->a, list->passes, list->n, list->cap) =
				(struct vector_work){VECTOR_ELEMENTWISE, n, n, 1};
}

/* The vector operator that goes back through parts[first] .. parts[n-1], last first. GRAPH_NONE
 * when it would do nothing. */
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
		if (p > 0)
			add_inner_sums(t, &parts[p], parts[p - 1].outputs[0], &list);
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
	w.row_bytes = list.row_bytes;
	w.again_bytes = list.again_bytes;
	op_id id = train_append(t,
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
	bool two = part->n_inputs > 1 &&
		   (t->in->tensors[part->inputs[0]].class == TENSOR_PARAM ||
			   t->in->tensors[part->inputs[1]].class == TENSOR_ACTIVATION);
	op_id last = GRAPH_NONE;
	for (uint32_t i = 0; i < 2 && i < part->n_inputs; i++) {
		bool weight = t->in->tensors[part->inputs[i]].class == TENSOR_PARAM;
		struct op back = {
			.name = arena_printf(t->a, "%s/%s", op->name,
				two ? (i ? "dB" : "dA") : (i ? "dW" : "dX")),
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
		last = train_append(t, &back, after);
		train_contribute(t, part->inputs[i], last);
	}
	for (uint32_t i = 2; i < part->n_inputs; i++)
		train_contribute(t, part->inputs[i], last == GRAPH_NONE ? after->ids[0] : last);
}

/* The collective that takes the gradient back. */
static enum link_kind transposed(enum link_kind link)
{
	switch (link) {
	case LINK_ALLREDUCE:
		return LINK_ALLREDUCE;
	case LINK_ALLGATHER:
		return LINK_REDUCESCATTER;
	case LINK_REDUCESCATTER:
		return LINK_ALLGATHER;
	}
	return link;
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
		back.work.link = transposed(op->work.link);
		back.work.collective_bytes = op->work.link == LINK_ALLREDUCE
						     ? tensor_bytes(&t->in->tensors[op->inputs[0]])
						     : op->work.collective_bytes;
	}
	return train_append(t, &back, after);
}

/* Adds to the gradient of the table, row by row. */
static op_id back_lookup(
	struct trainer *t, const struct op *op, const struct op *part, const struct starts *after)
{
	struct op_view view = view_of(t, part);
	const struct tensor *table = view.in[1];
	uint64_t n = tensor_elements(view.in[0]) * table->dims[1];
	struct vector_work *pass = arena_new(t->a, struct vector_work);
	*pass = (struct vector_work){VECTOR_ELEMENTWISE, n, n, part->kind->backward_cycles[0]};
	struct work w = {.core = CORE_VC, .vector = pass, .n_vector = 1};
	w.vector_read_bytes = saved_bytes(t, part) + n * table->elem_bytes;
	w.vector_write_bytes = n * table->elem_bytes;
	if (t->has_user[part->outputs[0]])
		w.vector_read_bytes += tensor_bytes(view.out[0]);
	return train_append(t,
		&(struct op){
			.name = arena_printf(t->a, "%s/dW", op->name),
			.kind = part->kind,
			.pass = PASS_BACKWARD_WEIGHT,
			.forward = op->forward,
			.work = w,
		},
		after);
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
		id = back_lookup(t, op, head, after);
		contribute_all(t, head, id, false);
		return;
	}
}

void train_back(struct trainer *t, const struct op *op)
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
