#include "graph/gradient.h"
#include "graph/internal.h"

/* How a tensor's memory is needed by a range of layers. */
enum keep { KEEP_NO, KEEP_UNLESS_SELECTIVE, KEEP_ALWAYS };

struct keeper {
	const struct graph *g;
	uint32_t first, end;
	const bool *needs;
	const tensor_id *roots;
	const bool *made_again; /* tensors that a recomputable operator makes */
	enum keep *keep;
	bool *held; /* parameters and inputs already counted */
};

static bool inside(const struct keeper *k, const struct op *op)
{
	return op->pass == PASS_FORWARD && op->layer >= k->first && op->layer < k->end;
}

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

static void keep_saved(struct keeper *k, const struct op *part)
{
	tensor_id saved[GRADIENT_MAX_SAVED];
	uint32_t n = gradient_saved(k->g, part, k->needs, saved);
	for (uint32_t i = 0; i < n; i++) {
		tensor_id root = k->roots[saved[i]];
		enum tensor_class class = k->g->tensors[root].class;
		bool again = part->recomputable && k->made_again[root];
		if (class != TENSOR_ACTIVATION && class != TENSOR_INPUT)
			continue;
		if (!again)
			k->keep[root] = KEEP_ALWAYS;
		else if (k->keep[root] == KEEP_NO)
			k->keep[root] = KEEP_UNLESS_SELECTIVE;
	}
}

static uint64_t hold_parameters(struct keeper *k, const struct op *op)
{
	uint64_t elements = 0;
	for (uint32_t i = 0; i < op->n_inputs; i++) {
		tensor_id t = op->inputs[i];
		if (k->g->tensors[t].class == TENSOR_PARAM && !k->held[t])
			elements += tensor_elements(&k->g->tensors[t]);
		k->held[t] = true;
	}
	return elements;
}

/* Bytes that layer `layer` reads and did not make: full recomputation starts from them. `seen` marks inputs of
 * the model, which one copy serves for all layers. */
static uint64_t layer_input_bytes(
	struct arena *a, const struct graph *g, uint32_t layer, bool *seen)
{
	uint64_t bytes = 0;
	bool *here = arena_array(a, g->n_tensors, bool);
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		if (op->pass != PASS_FORWARD || op->layer != layer)
			continue;
		for (uint32_t j = 0; j < op->n_inputs; j++) {
			tensor_id t = op->inputs[j];
			const struct tensor *x = &g->tensors[t];
			bool enters = x->class == TENSOR_INPUT
					      ? !seen[t]
					      : x->producer != GRAPH_NONE && !here[t] &&
							g->ops[x->producer].layer < layer;
			if (enters)
				bytes += tensor_bytes(x);
			here[t] = true;
			seen[t] = seen[t] || x->class == TENSOR_INPUT;
		}
	}
	return bytes;
}

struct graph_memory graph_layer_memory(
	const struct graph *g, uint32_t first_layer, uint32_t end_layer)
{
	struct arena a = {0};
	struct graph_memory memory = {0};
	struct keeper k = {
		.g = g,
		.first = first_layer,
		.end = end_layer,
		.needs = gradient_needs(&a, g),
		.roots = gradient_roots(&a, g),
		.made_again = recomputed(&a, g),
		.keep = arena_array(&a, g->n_tensors, enum keep),
		.held = arena_array(&a, g->n_tensors, bool),
	};
	for (uint32_t i = 0; i < g->n_ops; i++) {
		uint32_t n;
		const struct op *parts = op_parts(&g->ops[i], &n);
		for (uint32_t p = 0; p < n && inside(&k, &g->ops[i]); p++)
			keep_saved(&k, &parts[p]);
		if (inside(&k, &g->ops[i]))
			memory.parameter_elements += hold_parameters(&k, &g->ops[i]);
	}
	for (uint32_t t = 0; t < g->n_tensors; t++) {
		uint64_t bytes = tensor_bytes(&g->tensors[t]);
		memory.activation_bytes += k.keep[t] != KEEP_NO ? bytes : 0;
		memory.activation_selective_bytes += k.keep[t] == KEEP_ALWAYS ? bytes : 0;
	}
	bool *seen = arena_array(&a, g->n_tensors, bool);
	for (uint32_t layer = first_layer; layer < end_layer; layer++)
		memory.boundary_bytes += layer_input_bytes(&a, g, layer, seen);
	arena_free(&a);
	return memory;
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
