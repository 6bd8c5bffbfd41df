#include <string.h>

#include "graph/internal.h"

struct fuser {
	struct arena *a;
	const struct graph *in;
	uint32_t *n_users; /* for each operator: distinct operators that use its outputs */
	op_id *last_user;  /* one of them */
	op_id *into;       /* the operator that absorbed it, or itself */
	struct op *ops;    /* fused so far; index as in `in` */
};

static bool head_absorbs(enum op_class head, enum op_class tail)
{
	const uint32_t bit = 1u << tail;
	if (head == CLASS_COMPLEX)
		return bit & (1u << CLASS_ACTIVATION | 1u << CLASS_INJECTIVE | 1u << CLASS_NORM |
				     1u << CLASS_DROPOUT | 1u << CLASS_TRANSFORM);
	if (head == CLASS_INJECTIVE)
		return bit & (1u << CLASS_INJECTIVE | 1u << CLASS_REDUCTION | 1u << CLASS_DROPOUT);
	return false;
}

/* The operator that the last part of `head` may absorb, or NULL. */
static const struct op *absorbable(const struct fuser *f, op_id head, op_id last)
{
	if (f->n_users[last] != 1)
		return NULL;
	const struct op *tail = &f->in->ops[f->last_user[last]];
	if (!head_absorbs(f->in->ops[head].kind->class, tail->kind->class))
		return NULL;
	if (tail->layer != f->in->ops[head].layer)
		return NULL;
	for (uint32_t i = 0; i < tail->n_inputs; i++) {
		op_id producer = f->in->tensors[tail->inputs[i]].producer;
		enum tensor_class class = f->in->tensors[tail->inputs[i]].class;
		if (producer != last && class != TENSOR_PARAM && class != TENSOR_CONST)
			return NULL;
	}
	return tail;
}

static void push_part(struct fuser *f, op_id head, const struct op *part)
{
	struct op *op = &f->ops[head];
	struct op *parts =
		arena_grow(f->a, op->parts, op->n_members, op->n_members + 1, sizeof(*parts));
	const char **members =
		arena_grow(f->a, op->members, op->n_members, op->n_members + 1, sizeof(*members));
	parts[op->n_members] = *part;
	members[op->n_members] = part->name;
	op->n_members++;
	op->parts = parts;
	op->members = members;
}

static void append_ids(struct arena *a, const tensor_id **list, uint32_t *n, const tensor_id *more,
	uint32_t n_more)
{
	tensor_id *grown = arena_grow(a, *list, *n, *n + n_more, sizeof(*grown));
	memcpy(grown + *n, more, n_more * sizeof(*grown));
	*list = grown;
	*n += n_more;
}

/* Parameters and constants that the tail reads join the inputs. */
static void take_inputs(struct fuser *f, struct op *op, const struct op *tail)
{
	for (uint32_t i = 0; i < tail->n_inputs; i++) {
		const struct tensor *t = &f->in->tensors[tail->inputs[i]];
		if (t->class == TENSOR_ACTIVATION)
			continue;
		append_ids(f->a, &op->inputs, &op->n_inputs, &tail->inputs[i], 1);
		op->work.vector_read_bytes += tensor_bytes(t);
	}
}

/* The tail's output replaces the one that it consumed; masks stay. */
static void take_outputs(struct fuser *f, struct op *op, const struct op *tail)
{
	const struct tensor *tensors = f->in->tensors;
	const tensor_id *old = op->outputs, *outputs = NULL;
	uint32_t n_old = op->n_outputs, n = 0;
	append_ids(f->a, &outputs, &n, tail->outputs, tail->n_outputs);
	append_ids(f->a, &outputs, &n, old + 1, n_old - 1);
	op->outputs = outputs;
	op->n_outputs = n;
	if (op->work.core == CORE_VC)
		op->work.vector_write_bytes -= tensor_bytes(&tensors[old[0]]);
	if (op->work.core == CORE_VC)
		op->work.vector_write_bytes += tensor_bytes(&tensors[tail->outputs[0]]);
	for (uint32_t i = 1; i < tail->n_outputs; i++)
		op->work.vector_write_bytes += tensor_bytes(&tensors[tail->outputs[i]]);
}

static void take_passes(struct fuser *f, struct op *op, const struct op *tail)
{
	uint32_t n = op->work.n_vector, more = tail->work.n_vector;
	if (more == 0)
		return;
	struct vector_work *passes =
		arena_grow(f->a, op->work.vector, n, n + more, sizeof(*passes));
	memcpy(passes + n, tail->work.vector, more * sizeof(*passes));
	op->work.vector = passes;
	op->work.n_vector = n + more;
	op->work.again_bytes += tail->work.again_bytes;
	if (op->work.row_bytes < tail->work.row_bytes)
		op->work.row_bytes = tail->work.row_bytes;
	if (op->work.core == CORE_TC)
		op->work.core = CORE_TC_VC;
}

static void absorb(struct fuser *f, op_id head, const struct op *tail)
{
	struct op *op = &f->ops[head];
	if (op->n_members == 0)
		push_part(f, head, &f->in->ops[head]);
	push_part(f, head, tail);
	take_inputs(f, op, tail);
	take_outputs(f, op, tail);
	take_passes(f, op, tail);
	f->into[tail->forward] = head;
}

static void count_users(struct fuser *f)
{
	for (uint32_t i = 0; i < f->in->n_ops; i++)
		for (uint32_t p = 0; p < f->in->ops[i].n_preds; p++) {
			f->n_users[f->in->ops[i].preds[p]]++;
			f->last_user[f->in->ops[i].preds[p]] = i;
		}
}

/* Numbers what is left, from `in`'s ids to `out`'s. Heads keep their order, so it stays
 * topological: a tail's other inputs are parameters. */
static op_id *renumber(struct fuser *f, struct graph *out)
{
	op_id *new_id = arena_array(f->a, f->in->n_ops, op_id);
	for (uint32_t i = 0; i < f->in->n_ops; i++)
		if (f->into[i] == i)
			new_id[i] = out->n_ops++;
	for (uint32_t i = 0; i < f->in->n_ops; i++)
		if (f->into[i] != i)
			new_id[i] = new_id[f->into[i]];
	return new_id;
}

static void write_out(struct fuser *f, struct graph *out)
{
	op_id *new_id = renumber(f, out);
	out->ops = f->ops; /* ids only become smaller */
	for (uint32_t i = 0; i < f->in->n_ops; i++) {
		struct op *op = &out->ops[new_id[i]];
		if (f->into[i] != i)
			continue;
		*op = f->ops[i];
		op->forward = new_id[i];
		op_id *preds = arena_array(f->a, op->n_preds, op_id);
		uint32_t n = 0;
		/* ascending stays ascending only up to absorption: insert in order, once each */
		for (uint32_t p = 0; p < op->n_preds; p++) {
			op_id id = new_id[op->preds[p]];
			uint32_t at = n;
			while (at > 0 && preds[at - 1] > id)
				at--;
			if (at > 0 && preds[at - 1] == id)
				continue;
			memmove(preds + at + 1, preds + at, (n - at) * sizeof(*preds));
			preds[at] = id;
			n++;
		}
		op->preds = preds;
		op->n_preds = n;
	}
	out->tensors = arena_array(f->a, f->in->n_tensors, struct tensor);
	for (uint32_t t = 0; t < f->in->n_tensors; t++) {
		out->tensors[t] = f->in->tensors[t];
		if (out->tensors[t].producer != GRAPH_NONE)
			out->tensors[t].producer = new_id[out->tensors[t].producer];
	}
}

void graph_fuse(struct arena *a, const struct graph *in, struct graph *out)
{
	struct fuser f = {
		.a = a,
		.in = in,
		.n_users = arena_array(a, in->n_ops, uint32_t),
		.last_user = arena_array(a, in->n_ops, op_id),
		.into = arena_array(a, in->n_ops, op_id),
		.ops = arena_array(a, in->n_ops, struct op),
	};
	memcpy(f.ops, in->ops, in->n_ops * sizeof(*f.ops));
	for (uint32_t i = 0; i < in->n_ops; i++)
		f.into[i] = i;
	count_users(&f);
	/* Topological order, each chain grown to its end before the next begins: what WHAM's
	 * restart after every fusion comes to, because absorbing never gives an operator fewer
	 * users or other inputs. */
	for (uint32_t i = 0; i < in->n_ops; i++) {
		const struct op *tail;
		op_id last = i;
		while (f.into[i] == i && (tail = absorbable(&f, i, last))) {
			absorb(&f, i, tail);
			last = tail->forward;
		}
	}
	*out = *in;
	out->n_ops = 0;
	write_out(&f, out);
}
