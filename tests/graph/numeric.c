#include "numeric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "graph/gradient.h"
#include "suite.h"

static double *new_array(const struct numeric *n, tensor_id t)
{
	return arena_array(n->a, tensor_elements(&n->g->tensors[t]), double);
}

static double draw(struct rng *rng, bool positive)
{
	double size = 0.3 + 0.9 * (double)rng_below(rng, 1000000) / 1e6;
	return positive || rng_below(rng, 2) ? size : -size;
}

static bool dead_end(const struct graph *g, const struct op *op)
{
	for (uint32_t i = 0; i < g->n_ops; i++)
		for (uint32_t j = 0; j < g->ops[i].n_inputs; j++)
			for (uint32_t o = 0; o < op->n_outputs; o++)
				if (g->ops[i].pass == PASS_FORWARD &&
					g->ops[i].inputs[j] == op->outputs[o])
					return false;
	return true;
}

void numeric_init(
	struct numeric *n, struct arena *a, const struct graph *g, uint64_t seed, bool positive)
{
	struct rng rng;
	rng_init(&rng, seed);
	*n = (struct numeric){.a = a, .g = g};
	n->values = arena_array(a, g->n_tensors, double *);
	n->seeds = arena_array(a, g->n_tensors, double *);
	n->needs = gradient_needs(a, g);
	n->gradients = arena_array(a, g->n_tensors, double *);
	n->n_updates = arena_array(a, g->n_tensors, uint32_t);
	for (uint32_t t = 0; t < g->n_tensors; t++) {
		n->values[t] = new_array(n, t);
		for (uint64_t i = 0; i < tensor_elements(&g->tensors[t]); i++)
			n->values[t][i] = g->tensors[t].class == TENSOR_INPUT
						  ? (double)rng_below(&rng, 5)
						  : draw(&rng, positive);
	}
	for (uint32_t i = 0; i < g->n_ops; i++)
		if (dead_end(g, &g->ops[i])) {
			tensor_id t = g->ops[i].outputs[0];
			n->seeds[t] = new_array(n, t);
			for (uint64_t e = 0; e < tensor_elements(&g->tensors[t]); e++)
				n->seeds[t][e] = draw(&rng, false);
		}
}

static struct call call_of(const struct numeric *n, const struct op *part)
{
	struct call c = {.op = part, .n_in = part->n_inputs, .n_out = part->n_outputs};
	CU_ASSERT_FATAL(c.n_in <= KERNEL_MAX && c.n_out <= KERNEL_MAX);
	for (uint32_t i = 0; i < c.n_in; i++)
		c.in[i] =
			(struct array){&n->g->tensors[part->inputs[i]], n->values[part->inputs[i]]};
	for (uint32_t i = 0; i < c.n_out; i++)
		c.out[i] = (struct array){
			&n->g->tensors[part->outputs[i]], n->values[part->outputs[i]]};
	return c;
}

static const struct kernel *kernel_of(const struct op *part)
{
	const struct kernel *k = kernel_find(part->kind->name);
	if (!k)
		printf("\nno kernel for '%s': add one to kernels.c\n", part->kind->name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	return k;
}

double numeric_forward(struct numeric *n)
{
	double loss = 0;
	for (uint32_t i = 0; i < n->g->n_ops; i++) {
		uint32_t n_parts;
		const struct op *parts = op_parts(&n->g->ops[i], &n_parts);
		for (uint32_t p = 0; p < n_parts; p++) {
			struct call c = call_of(n, &parts[p]);
			kernel_of(&parts[p])->forward(&c);
		}
	}
	for (uint32_t t = 0; t < n->g->n_tensors; t++)
		for (uint64_t i = 0; n->seeds[t] && i < tensor_elements(&n->g->tensors[t]); i++)
			loss += n->seeds[t][i] * n->values[t][i];
	return loss;
}

/* What comes after the last '/' of a name of the backward pass. */
static const char *suffix_of(const struct op *op)
{
	const char *slash = strrchr(op->name, '/');
	CU_ASSERT_PTR_NOT_NULL_FATAL(slash);
	return slash ? slash + 1 : "";
}

static bool is(const struct op *op, const char *suffix)
{
	return op->pass != PASS_FORWARD && strcmp(suffix_of(op), suffix) == 0;
}

/* The tensor that TENSOR/sum and TENSOR/update are about. */
static tensor_id subject_of(const struct numeric *n, const struct op *op)
{
	size_t length = (size_t)(suffix_of(op) - op->name) - 1;
	for (uint32_t t = 0; t < n->g->n_tensors; t++)
		if (strlen(n->g->tensors[t].name) == length &&
			memcmp(n->g->tensors[t].name, op->name, length) == 0)
			return t;
	printf("\nno tensor for %s\n", op->name);
	CU_FAIL_FATAL("no such tensor");
	return GRAPH_NONE;
}

/* Which parts of its forward operator, and which of their inputs, an operator goes back through. */
struct reach {
	uint32_t first, end;
	uint32_t inputs; /* mask */
};

static bool made_by_name(const struct numeric *n, const char *name)
{
	for (uint32_t i = n->g->n_ops; i < n->t->n_ops; i++)
		if (strcmp(n->t->ops[i].name, name) == 0)
			return true;
	return false;
}

/* A product goes back to one operand; the bias goes with the last of its operators. */
static uint32_t product_inputs(const struct numeric *n, const struct op *forward, bool second)
{
	const uint32_t bias = ~3u;
	if (second)
		return 2 | bias;
	bool later = made_by_name(n, arena_printf(n->a, "%s/dW", forward->name)) ||
		     made_by_name(n, arena_printf(n->a, "%s/dB", forward->name));
	return 1 | (later ? 0 : bias);
}

static struct reach reach_of(const struct numeric *n, const struct op *op)
{
	const struct op *forward = &n->t->ops[op->forward];
	uint32_t n_parts;
	const struct op *parts = op_parts(forward, &n_parts);
	if (op->pass == PASS_UPDATE || is(op, "sum"))
		return (struct reach){0, 0, 0};
	if (is(op, "dtail"))
		return (struct reach){1, n_parts, ~0u};
	if (parts[0].kind->backward == BACKWARD_GEMM)
		return (struct reach){
			0, 1, product_inputs(n, forward, is(op, "dW") || is(op, "dB"))};
	CU_ASSERT_TRUE(is(op, "dX") || is(op, "dW"));
	return (struct reach){0, n_parts, ~0u};
}

static void find_covered(struct numeric *n)
{
	n->covered = arena_array(n->a, n->g->n_ops, uint32_t *);
	for (uint32_t i = 0; i < n->g->n_ops; i++) {
		uint32_t n_parts;
		op_parts(&n->g->ops[i], &n_parts);
		n->covered[i] = arena_array(n->a, n_parts, uint32_t);
	}
	for (uint32_t i = n->g->n_ops; i < n->t->n_ops; i++) {
		struct reach r = reach_of(n, &n->t->ops[i]);
		for (uint32_t p = r.first; p < r.end; p++)
			n->covered[n->t->ops[i].forward][p] |= r.inputs;
	}
}

static bool add_to(const struct numeric *n, tensor_id t, double *to, const double *from)
{
	for (uint64_t i = 0; from && i < tensor_elements(&n->g->tensors[t]); i++)
		to[i] += from[i];
	return from != NULL;
}

/* What operator `id` has of the gradient of `t`, or NULL. Where the backward pass starts it is
 * the seed. */
static const double *carried_by(const struct numeric *n, op_id id, tensor_id t)
{
	const struct op *op = &n->t->ops[id];
	if (op->pass == PASS_FORWARD)
		return op->outputs[0] == t ? n->seeds[t] : NULL;
	for (const struct carried *c = n->made[id]; c; c = c->next)
		if (c->tensor == t)
			return c->v;
	return NULL;
}

static void carry(struct numeric *n, op_id id, tensor_id t, const double *v)
{
	const struct carried *c = n->made[id];
	while (c && c->tensor != t)
		c = c->next;
	if (!c) {
		struct carried *fresh = arena_new(n->a, struct carried);
		*fresh = (struct carried){t, new_array(n, t), n->made[id]};
		n->made[id] = fresh;
		c = fresh;
	}
	add_to(n, t, c->v, v);
}

/* Hides what the graph does not keep for the backward pass of `part`. */
static void hide(const struct numeric *n, const struct op *part, struct array *x, tensor_id t)
{
	tensor_id saved[GRADIENT_MAX_SAVED];
	uint32_t n_saved = gradient_saved(n->g, part, n->needs, saved);
	enum tensor_class class = x->t->class;
	for (uint32_t i = 0; i < n_saved; i++)
		if (saved[i] == t)
			return;
	if (class == TENSOR_PARAM || class == TENSOR_CONST)
		return;
	x->v = new_array(n, t);
	for (uint64_t i = 0; i < tensor_elements(x->t); i++)
		x->v[i] = (double)NAN;
}

static struct call back_call(const struct numeric *n, const struct op *part)
{
	struct call c = call_of(n, part);
	for (uint32_t i = 0; i < c.n_in; i++) {
		c.dx[i] = new_array(n, part->inputs[i]);
		hide(n, part, &c.in[i], part->inputs[i]);
	}
	for (uint32_t i = 0; i < c.n_out; i++)
		hide(n, part, &c.out[i], part->outputs[i]);
	return c;
}

static bool gather(struct numeric *n, const struct op *op, tensor_id t, double *to);

/* Gradients of `t` through forward operators that have no operator of their own in the backward
 * pass. */
static bool gather_through(struct numeric *n, const struct op *op, const struct op *part,
	uint32_t covered, tensor_id t, double *to)
{
	bool found = false;
	uint32_t uses = 0;
	for (uint32_t i = 0; i < part->n_inputs; i++)
		uses |= part->inputs[i] == t ? 1u << i : 0;
	if ((uses & ~covered) == 0)
		return false;
	struct call c = back_call(n, part);
	for (uint32_t o = 0; o < part->n_outputs; o++) {
		double *dy = new_array(n, part->outputs[o]);
		found = gather(n, op, part->outputs[o], dy) || found;
		c.dy[o] = dy;
	}
	if (!found)
		return false;
	kernel_of(part)->backward(&c);
	for (uint32_t i = 0; i < part->n_inputs; i++)
		if (uses & ~covered & 1u << i)
			add_to(n, t, to, c.dx[i]);
	return true;
}

/* Adds the gradient of `t` that the predecessors of `op` have; false when they have none. A sum
 * has all of it, but for what lookups add by rows. */
static bool gather(struct numeric *n, const struct op *op, tensor_id t, double *to)
{
	bool found = false, summed = false;
	for (uint32_t p = 0; p < op->n_preds; p++) {
		const struct op *pred = &n->t->ops[op->preds[p]];
		if (is(pred, "sum") && subject_of(n, pred) == t)
			summed = true;
	}
	for (uint32_t p = 0; p < op->n_preds; p++) {
		const struct op *pred = &n->t->ops[op->preds[p]];
		if (!summed || is(pred, "sum") || pred->kind->backward == BACKWARD_LOOKUP)
			found = add_to(n, t, to, carried_by(n, op->preds[p], t)) || found;
	}
	for (uint32_t i = 0; i < n->g->n_ops && !summed; i++) {
		uint32_t n_parts;
		const struct op *parts = op_parts(&n->g->ops[i], &n_parts);
		for (uint32_t p = 0; p < n_parts; p++)
			found = gather_through(n, op, &parts[p], n->covered[i][p], t, to) || found;
	}
	return found;
}

/* Gradients of the outputs of the last part from outside, those of the others from the part behind. */
static void back_part(struct numeric *n, op_id id, const struct op *part, struct reach r,
	double **inner, bool last)
{
	const struct op *op = &n->t->ops[id];
	struct call c = back_call(n, part);
	for (uint32_t o = 0; o < part->n_outputs; o++) {
		double *dy = new_array(n, part->outputs[o]);
		if (last)
			gather(n, op, part->outputs[o], dy);
		add_to(n, part->outputs[o], dy, inner[part->outputs[o]]);
		c.dy[o] = dy;
	}
	kernel_of(part)->backward(&c);
	for (uint32_t i = 0; i < part->n_inputs; i++) {
		tensor_id x = part->inputs[i];
		if (!n->needs[x] || !(r.inputs & 1u << i))
			continue;
		carry(n, id, x, c.dx[i]);
		if (!inner[x])
			inner[x] = new_array(n, x);
		add_to(n, x, inner[x], c.dx[i]);
	}
}

static void check_product(const struct numeric *n, const struct op *op, const struct op *part)
{
	const struct work *w = &op->work, *f = &part->work;
	uint32_t i = is(op, "dW") || is(op, "dB");
	CU_ASSERT_TRUE(n->needs[part->inputs[i]]); /* no gradient of inputs and frozen weights */
	CU_ASSERT_EQUAL(w->batch * w->m * w->n * w->k, f->batch * f->m * f->n * f->k);
	CU_ASSERT_EQUAL(w->c_bytes, tensor_bytes(&n->g->tensors[part->inputs[i]]));
	CU_ASSERT_EQUAL(op->pass == PASS_BACKWARD_WEIGHT,
		n->g->tensors[part->inputs[i]].class == TENSOR_PARAM);
}

static void back_op(struct numeric *n, op_id id)
{
	const struct op *op = &n->t->ops[id];
	struct reach r = reach_of(n, op);
	uint32_t n_parts;
	const struct op *parts = op_parts(&n->t->ops[op->forward], &n_parts);
	double **inner = arena_array(n->a, n->g->n_tensors, double *);
	if (parts[0].kind->backward == BACKWARD_GEMM && r.first == 0)
		check_product(n, op, &parts[0]);
	for (uint32_t p = r.end; p-- > r.first;)
		back_part(n, id, &parts[p], r, inner, p + 1 == r.end);
}

void numeric_backward(struct numeric *n, const struct graph *t)
{
	n->t = t;
	n->made = arena_array(n->a, t->n_ops, struct carried *);
	find_covered(n);
	for (uint32_t i = n->g->n_ops; i < t->n_ops; i++) {
		const struct op *op = &t->ops[i];
		if (op->pass != PASS_UPDATE && !is(op, "sum")) {
			back_op(n, i);
			continue;
		}
		tensor_id x = subject_of(n, op);
		double *sum = new_array(n, x);
		CU_ASSERT_TRUE(gather(n, op, x, sum));
		if (op->pass == PASS_UPDATE) {
			n->gradients[x] = sum;
			n->n_updates[x]++;
		} else {
			carry(n, i, x, sum);
		}
	}
}

static double difference(struct numeric *n, double *x)
{
	const double step = 1e-5, kept = *x;
	*x = kept + step;
	double more = numeric_forward(n);
	*x = kept - step;
	double less = numeric_forward(n);
	*x = kept;
	return (more - less) / (2 * step);
}

static uint32_t check_tensor(struct numeric *n, tensor_id t)
{
	const struct tensor *x = &n->g->tensors[t];
	uint32_t bad = 0;
	for (uint64_t i = 0; i < tensor_elements(x); i++) {
		double want = difference(n, &n->values[t][i]);
		double got = n->gradients[t] ? n->gradients[t][i] : 0;
		if (fabs(got - want) <= 1e-6 * (1 + fabs(want)))
			continue;
		if (bad++ == 0)
			printf("\nd/d%s[%llu]: graph %.9g, differences %.9g\n", x->name,
				(unsigned long long)i, got, want);
	}
	return bad;
}

uint32_t numeric_check(struct arena *a, const struct graph *g, uint64_t seed, bool positive)
{
	struct numeric n;
	struct graph t;
	uint32_t bad = 0;
	graph_train(a, g, &(struct train_options){OPTIMIZER_SGD}, &t);
	numeric_init(&n, a, g, seed, positive);
	numeric_forward(&n);
	numeric_backward(&n, &t);
	for (uint32_t i = 0; i < g->n_tensors; i++) {
		bool trained = g->tensors[i].class == TENSOR_PARAM;
		bad += n.n_updates[i] > (trained ? 1 : 0);
		bad += trained ? check_tensor(&n, i) : 0;
	}
	return bad;
}
