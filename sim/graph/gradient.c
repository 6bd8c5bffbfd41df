#include "graph/gradient.h"

#include <assert.h>

#include "graph/internal.h"

bool *gradient_needs(struct arena *a, const struct graph *g)
{
	bool *needs = arena_array(a, g->n_tensors, bool);
	for (uint32_t t = 0; t < g->n_tensors; t++)
		needs[t] = g->tensors[t].class == TENSOR_PARAM;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		uint32_t n;
		const struct op *parts = op_parts(&g->ops[i], &n);
		for (uint32_t p = 0; p < n && g->ops[i].pass == PASS_FORWARD; p++)
			for (uint32_t o = 0; o < parts[p].n_outputs; o++)
				needs[parts[p].outputs[o]] = gradient_mask(&parts[p], needs) != 0;
	}
	return needs;
}

tensor_id *gradient_roots(struct arena *a, const struct graph *g)
{
	tensor_id *roots = arena_array(a, g->n_tensors, tensor_id);
	for (uint32_t t = 0; t < g->n_tensors; t++)
		roots[t] = t;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		uint32_t n;
		const struct op *parts = op_parts(&g->ops[i], &n);
		for (uint32_t p = 0; p < n && g->ops[i].pass == PASS_FORWARD; p++)
			if ((parts[p].kind->core == CORE_NONE && parts[p].n_inputs == 1) ||
				parts[p].work.link == LINK_ALLGATHER)
				for (uint32_t o = 0; o < parts[p].n_outputs; o++)
					roots[parts[p].outputs[o]] = roots[parts[p].inputs[0]];
	}
	return roots;
}

uint32_t gradient_mask(const struct op *op, const bool *needs)
{
	uint32_t mask = 0;
	for (uint32_t i = 0; i < op->n_inputs; i++)
		if (needs[op->inputs[i]])
			mask |= 1u << (i < 31 ? i : 31);
	return mask;
}

uint32_t gradient_saved(const struct graph *g, const struct op *op, const bool *needs,
	tensor_id saved[GRADIENT_MAX_SAVED])
{
	uint32_t n = 0, saves = op->kind->saves, mask = gradient_mask(op, needs);
	if (mask == 0)
		return 0;
	for (uint32_t i = 0; i < op->n_inputs; i++) {
		bool kept = saves & (i == 0 ? SAVES_INPUT : SAVES_REST) ||
			    (i < 2 && saves & SAVES_OTHERS && mask & 1u << (1 - i));
		if (kept && g->tensors[op->inputs[i]].class != TENSOR_PARAM) {
			assert(n < GRADIENT_MAX_SAVED);
			saved[n++] = op->inputs[i];
		}
	}
	if (saves & SAVES_OUTPUT)
		saved[n++] = op->outputs[0];
	if (saves & SAVES_EXTRA)
		saved[n++] = op->outputs[1];
	assert(n <= GRADIENT_MAX_SAVED);
	return n;
}
