/* Layers of the integrated grid, read off a forward graph. */
#include "plan/grid.h"

/* Where the values came from before views gave them another shape. */
static const struct tensor *image_of(const struct graph *g, tensor_id id)
{
	const struct tensor *t = &g->tensors[id];
	while (t->producer != GRAPH_NONE && t->n_dims != 4) {
		const struct op *op = &g->ops[t->producer];
		if (op->work.core != CORE_NONE || op->n_inputs == 0)
			break;
		t = &g->tensors[op->inputs[0]];
	}
	return t->n_dims == 4 ? t : NULL;
}

static bool has_weights(const struct graph *g, const struct op *op)
{
	return op->pass == PASS_FORWARD && op->work.batch > 0 && op->n_inputs > 1 &&
	       g->tensors[op->inputs[1]].class == TENSOR_PARAM;
}

/* Marks what a trained tensor had part in. */
static bool *find_trained(struct arena *a, const struct graph *g)
{
	bool *trained = arena_array(a, (size_t)g->n_tensors + 1, bool);
	for (uint32_t t = 0; t < g->n_tensors; t++)
		trained[t] = g->tensors[t].class == TENSOR_PARAM;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		bool any = false;
		for (uint32_t k = 0; k < op->n_inputs; k++)
			any = any || trained[op->inputs[k]];
		for (uint32_t k = 0; k < op->n_outputs; k++)
			trained[op->outputs[k]] = any;
	}
	return trained;
}

static struct grid_layer layer_of(const struct graph *g, op_id id)
{
	const struct op *op = &g->ops[id];
	const struct conv_work *conv = &op->work.conv;
	const struct tensor *image = image_of(g, op->inputs[0]);
	struct grid_layer l = {
		.name = op->name,
		.conv = conv->images > 0,
		.weights = tensor_elements(&g->tensors[op->inputs[1]]),
		.d_in = tensor_elements(&g->tensors[op->inputs[0]]) / g->batch,
		.d_out = tensor_elements(&g->tensors[op->outputs[0]]) / g->batch,
		.kernel_h = conv->kernel_h,
		.kernel_w = conv->kernel_w,
		.outputs = (uint32_t)(conv->images > 0 ? conv->out_channels : op->work.n),
		.op = id,
	};
	if (image) {
		l.in_c = (uint32_t)image->dims[1];
		l.in_h = (uint32_t)image->dims[2];
		l.in_w = (uint32_t)image->dims[3];
	}
	if (l.conv) {
		l.out_h = (uint32_t)conv->out_h;
		l.out_w = (uint32_t)conv->out_w;
		l.out_c = (uint32_t)conv->out_channels;
	}
	return l;
}

uint32_t grid_layers(struct arena *a, const struct graph *forward, struct grid_layer **out)
{
	uint32_t n = 0, cap = 0;
	struct grid_layer *layers = NULL;
	const bool *trained = find_trained(a, forward);
	for (uint32_t i = 0; i < forward->n_ops; i++) {
		if (!has_weights(forward, &forward->ops[i]))
			continue;
		struct grid_layer layer = layer_of(forward, i);
		layer.first = !trained[forward->ops[i].inputs[0]];
		arena_push(a, layers, n, cap) = layer;
	}
	*out = layers;
	return n;
}
