#include <stdlib.h>

#include "graph/gradient.h"
#include "graph/internal.h"

/* How a tensor's memory is needed by a range of layers. */
enum keep { KEEP_NO, KEEP_UNLESS_SELECTIVE, KEEP_ALWAYS };

/* What is known of a tensor; it holds where `mark` is that of the keeper, a range of layers. */
struct mark {
	uint32_t kept, held, seen; /* marks; held: parameters; seen: inputs of the model */
	uint32_t here;             /* read by layer here - 1 */
	enum keep keep;
};

struct keeper {
	const struct graph *g;
	const bool *needs;
	const tensor_id *roots;
	const bool *made_again; /* tensors that a recomputable operator makes */
	struct mark *marks;
	uint32_t mark;
};

static bool *recomputed(struct arena *a, const struct graph *g)
{
	bool *made = arena_array(a, g->n_tensors, bool);
	for (uint32_t i = 0; i < g->n_ops; i++) {
		uint32_t n;
		const struct op *parts = op_parts(&g->ops[i], &n);
		for (uint32_t p = 0; p < n && g->ops[i].pass == PASS_FORWARD; p++)
			for (uint32_t o = 0; o < parts[p].n_outputs; o++)
				made[parts[p].outputs[o]] = parts[p].recomputable;
	}
	return made;
}

static struct keeper keeper_init(struct arena *a, const struct graph *g)
{
	return (struct keeper){
		.g = g,
		.needs = gradient_needs(a, g),
		.roots = gradient_roots(a, g),
		.made_again = recomputed(a, g),
		.marks = arena_array(a, g->n_tensors, struct mark),
		.mark = 1,
	};
}

static void keep_tensor(struct keeper *k, tensor_id root, bool again, struct graph_memory *memory)
{
	struct mark *m = &k->marks[root];
	uint64_t bytes = tensor_bytes(&k->g->tensors[root]);
	if (m->kept != k->mark) {
		*m = (struct mark){k->mark, m->held, m->seen, m->here, KEEP_UNLESS_SELECTIVE};
		memory->activation_bytes += bytes;
	}
	if (!again && m->keep != KEEP_ALWAYS) {
		m->keep = KEEP_ALWAYS;
		memory->activation_selective_bytes += bytes;
	}
}

static void keep_saved(struct keeper *k, const struct op *part, struct graph_memory *memory)
{
	tensor_id saved[GRADIENT_MAX_SAVED];
	uint32_t n = gradient_saved(k->g, part, k->needs, saved);
	for (uint32_t i = 0; i < n; i++) {
		tensor_id root = k->roots[saved[i]];
		enum tensor_class class = k->g->tensors[root].class;
		if (class == TENSOR_ACTIVATION || class == TENSOR_INPUT)
			keep_tensor(k, root, part->recomputable && k->made_again[root], memory);
	}
}

static void hold_parameters(struct keeper *k, const struct op *op, struct graph_memory *memory)
{
	for (uint32_t i = 0; i < op->n_inputs; i++) {
		tensor_id t = op->inputs[i];
		if (k->g->tensors[t].class == TENSOR_PARAM && k->marks[t].held != k->mark)
			memory->parameter_elements += tensor_elements(&k->g->tensors[t]);
		k->marks[t].held = k->mark;
	}
}

/* Whether input `t` comes from before the layer of `op`, or from outside and has not come to the
 * range yet: full recomputation starts from such tensors. Says so once a layer. */
static bool enters_layer(struct keeper *k, const struct op *op, tensor_id t)
{
	const struct tensor *x = &k->g->tensors[t];
	struct mark *m = &k->marks[t];
	bool input = x->class == TENSOR_INPUT;
	bool enters = input ? m->seen != k->mark
			    : x->producer != GRAPH_NONE && m->here != op->layer + 1 &&
				      k->g->ops[x->producer].layer < op->layer;
	m->here = op->layer + 1;
	m->seen = input ? k->mark : m->seen;
	return enters;
}

static void add_op(struct keeper *k, const struct op *op, struct graph_memory *memory)
{
	uint32_t n;
	const struct op *parts = op_parts(op, &n);
	for (uint32_t p = 0; p < n; p++)
		keep_saved(k, &parts[p], memory);
	hold_parameters(k, op, memory);
	for (uint32_t i = 0; i < op->n_inputs; i++)
		if (enters_layer(k, op, op->inputs[i]))
			memory->boundary_bytes += tensor_bytes(&k->g->tensors[op->inputs[i]]);
}

static bool is_inside(const struct op *op, uint32_t first_layer, uint32_t end_layer)
{
	return op->pass == PASS_FORWARD && op->layer >= first_layer && op->layer < end_layer;
}

struct graph_memory graph_layer_memory(
	const struct graph *g, uint32_t first_layer, uint32_t end_layer)
{
	struct arena a = {0};
	struct graph_memory memory = {0};
	struct keeper k = keeper_init(&a, g);
	for (uint32_t i = 0; i < g->n_ops; i++)
		if (is_inside(&g->ops[i], first_layer, end_layer))
			add_op(&k, &g->ops[i], &memory);
	arena_free(&a);
	return memory;
}

void graph_each_layer_memory(
	const struct graph *g, uint32_t first_layer, uint32_t end_layer, struct graph_memory *out)
{
	struct arena a = {0};
	struct keeper k = keeper_init(&a, g);
	for (uint32_t l = first_layer; l < end_layer; l++)
		out[l - first_layer] = (struct graph_memory){0};
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		k.mark = op->layer + 1;
		if (is_inside(op, first_layer, end_layer))
			add_op(&k, op, &out[op->layer - first_layer]);
	}
	arena_free(&a);
}

static int larger_first(const void *x, const void *y)
{
	const struct graph_kept *a = x, *b = y;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

static void sort_kept(struct graph_kept *list, uint32_t n)
{
	if (n > 0)
		qsort(list, n, sizeof(*list), larger_first);
}

uint32_t graph_layer_inputs(struct arena *a, const struct graph *g, uint32_t first_layer,
	uint32_t end_layer, struct graph_kept **out)
{
	struct arena scratch = {0};
	struct keeper k = {
		.g = g, .marks = arena_array(&scratch, g->n_tensors, struct mark), .mark = 1};
	uint32_t n = 0, cap = 0;
	*out = NULL;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		for (uint32_t j = 0; is_inside(op, first_layer, end_layer) && j < op->n_inputs; j++)
			if (enters_layer(&k, op, op->inputs[j]))
				arena_push(a, *out, n, cap) = (struct graph_kept){op->inputs[j],
					tensor_bytes(&g->tensors[op->inputs[j]]), true};
	}
	sort_kept(*out, n);
	arena_free(&scratch);
	return n;
}

uint32_t graph_kept_tensors(struct arena *a, const struct graph *g, uint32_t first_layer,
	uint32_t end_layer, struct graph_kept **out)
{
	struct arena scratch = {0};
	struct graph_memory memory = {0};
	struct keeper k = keeper_init(&scratch, g);
	uint32_t n = 0, cap = 0;
	*out = NULL;
	for (uint32_t i = 0; i < g->n_ops; i++)
		if (is_inside(&g->ops[i], first_layer, end_layer))
			add_op(&k, &g->ops[i], &memory);
	for (uint32_t t = 0; t < g->n_tensors; t++)
		if (k.marks[t].kept == k.mark)
			arena_push(a, *out, n, cap) = (struct graph_kept){
				t, tensor_bytes(&g->tensors[t]), k.marks[t].keep == KEEP_ALWAYS};
	sort_kept(*out, n);
	arena_free(&scratch);
	return n;
}

uint64_t graph_boundary_bytes(const struct graph *g, uint32_t end_layer)
{
	struct arena a = {0};
	uint64_t bytes = 0;
	bool *seen = arena_array(&a, g->n_tensors, bool);
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		if (op->pass != PASS_FORWARD || op->layer < end_layer)
			continue;
		for (uint32_t j = 0; j < op->n_inputs; j++) {
			const struct tensor *x = &g->tensors[op->inputs[j]];
			if (x->producer == GRAPH_NONE || g->ops[x->producer].layer >= end_layer ||
				seen[op->inputs[j]])
				continue;
			seen[op->inputs[j]] = true;
			bytes += tensor_bytes(x);
		}
	}
	arena_free(&a);
	return bytes;
}
