#include <inttypes.h>
#include <stdlib.h>

#include "plan/internal.h"

static uint64_t clamp(u128 bytes)
{
	return bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes;
}

/* All parameters of a model have the same element size. */
static uint32_t parameter_bytes(const struct graph *g)
{
	for (uint32_t t = 0; t < g->n_tensors; t++)
		if (g->tensors[t].class == TENSOR_PARAM)
			return g->tensors[t].elem_bytes;
	return 2;
}

static uint32_t moments_bytes(enum optimizer optimizer)
{
	switch (optimizer) {
	case OPTIMIZER_SGD:
		return 0;
	case OPTIMIZER_MOMENTUM:
		return 4;
	case OPTIMIZER_ADAM:
		return 8;
	}
	return 0;
}

/* What a micro-batch in flight keeps. */
static uint64_t kept_bytes(const struct graph_memory *m, enum recompute recompute)
{
	switch (recompute) {
	case RECOMPUTE_NONE:
	case RECOMPUTE_AUTO:
		return m->activation_bytes;
	case RECOMPUTE_SELECTIVE:
		return m->activation_selective_bytes;
	case RECOMPUTE_FULL:
		return m->boundary_bytes;
	}
	return m->activation_bytes;
}

/* The most that one layer makes again while its backward pass runs. */
static uint64_t remade_bytes(const struct graph *g, struct layers layers, enum recompute recompute)
{
	uint64_t most = 0;
	for (uint32_t l = layers.first; l < layers.end; l++) {
		struct graph_memory m = graph_layer_memory(g, l, l + 1);
		uint64_t kept = kept_bytes(&m, recompute);
		if (m.activation_bytes > kept && m.activation_bytes - kept > most)
			most = m.activation_bytes - kept;
	}
	return most;
}

struct stage_memory stage_memory(const struct graph *g, struct layers layers,
	enum optimizer optimizer, enum recompute recompute, uint32_t in_flight)
{
	struct graph_memory m = graph_layer_memory(g, layers.first, layers.end);
	uint32_t elem_bytes = parameter_bytes(g);
	u128 parameters = m.parameter_elements;
	u128 activations = (u128)in_flight * kept_bytes(&m, recompute);
	if (recompute == RECOMPUTE_SELECTIVE || recompute == RECOMPUTE_FULL)
		activations += remade_bytes(g, layers, recompute);
	uint32_t master = elem_bytes < 4 ? 4 : 0;
	struct stage_memory out = {
		.weights_bytes = clamp(parameters * elem_bytes),
		.gradients_bytes = clamp(parameters * GRADIENT_BYTES),
		.optimizer_bytes = clamp(parameters * (master + moments_bytes(optimizer))),
		.activation_bytes = clamp(activations),
	};
	out.total_bytes = clamp((u128)out.weights_bytes + out.gradients_bytes +
				out.optimizer_bytes + out.activation_bytes);
	return out;
}

void stage_place(struct stage *stage, const struct graph *g, const struct arch *arch,
	const struct plan_options *options)
{
	struct layers layers = {stage->first_layer, stage->end_layer};
	stage->recompute =
		options->recompute == RECOMPUTE_AUTO ? RECOMPUTE_NONE : options->recompute;
	stage->memory =
		stage_memory(g, layers, options->optimizer, stage->recompute, stage->in_flight);
	if (options->recompute == RECOMPUTE_AUTO && stage->memory.total_bytes > arch->hbm_bytes) {
		stage->recompute = RECOMPUTE_FULL;
		stage->memory = stage_memory(
			g, layers, options->optimizer, stage->recompute, stage->in_flight);
	}
	stage->gradient_bytes = stage->memory.gradients_bytes;
	bool last = stage->end_layer == g->n_layers;
	stage->send_forward_bytes = last ? 0 : graph_boundary_bytes(g, stage->end_layer);
}

struct part {
	const char *name;
	uint64_t bytes;
};

static int part_order(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void add_parts(struct text *t, const struct stage *s)
{
	struct part parts[] = {
		{"activations", s->memory.activation_bytes},
		{"optimizer states", s->memory.optimizer_bytes},
		{"gradients", s->memory.gradients_bytes},
		{"weights", s->memory.weights_bytes},
	};
	enum { N_PARTS = sizeof(parts) / sizeof(parts[0]) };
	const char *first = parts[0].name;
	qsort(parts, N_PARTS, sizeof(parts[0]), part_order);
	for (size_t i = 0; i < N_PARTS && parts[i].bytes > 0; i++) {
		char size[UNIT_TEXT];
		text_add(t, "%s%s", i == 0 ? ": " : ", ", parts[i].name);
		if (parts[i].name == first)
			text_add(t, " of %" PRIu32 " micro-batch%s", s->in_flight,
				s->in_flight == 1 ? "" : "es");
		text_add(t, " %s", unit_print(size, UNIT_BYTES, parts[i].bytes));
	}
}

/* Bytes of the stage with another way to save memory. */
static uint64_t bytes_with(const struct stage *s, const struct graph *g, enum optimizer optimizer,
	enum recompute recompute, uint32_t in_flight)
{
	struct layers layers = {s->first_layer, s->end_layer};
	return stage_memory(g, layers, optimizer, recompute, in_flight).total_bytes;
}

static const char smaller[] =
	"a smaller micro-batch, more stages (pp) or tensor parallelism (tp) would make it smaller";

/* What would fit, the least change first. */
static void add_hint(struct text *t, const struct plan *plan, uint32_t stage, const struct graph *g,
	const struct arch *arch, enum optimizer optimizer)
{
	const struct stage *s = &plan->stages[stage];
	char size[UNIT_TEXT];
	uint64_t states = s->memory.total_bytes - s->memory.activation_bytes;
	if (states > arch->hbm_bytes) {
		text_add(t,
			"; without activations it is %s: more stages (pp) or tensor parallelism "
			"(tp) would make it smaller",
			unit_print(size, UNIT_BYTES, states));
		return;
	}
	uint32_t held =
		schedule_in_flight(SCHEDULE_1F1B, stage, plan->n_stages, plan->n_micro_batches);
	uint64_t scheduled = bytes_with(s, g, optimizer, s->recompute, held);
	if (scheduled <= arch->hbm_bytes) {
		text_add(t, "; with the schedule 1f1b it would fit (%s)",
			unit_print(size, UNIT_BYTES, scheduled));
		return;
	}
	if (s->recompute == RECOMPUTE_FULL) {
		text_add(t, "; full recomputation is on already: %s", smaller);
		return;
	}
	uint64_t full = bytes_with(s, g, optimizer, RECOMPUTE_FULL, s->in_flight);
	unit_print(size, UNIT_BYTES, full);
	if (full <= arch->hbm_bytes)
		text_add(t, "; with full recomputation it would fit (%s)", size);
	else
		text_add(t, "; even full recomputation needs %s: %s", size, smaller);
}

bool stage_refuse(const struct plan *plan, uint32_t stage, const struct graph *g,
	const struct arch *arch, enum optimizer optimizer, struct err *err)
{
	const struct stage *s = &plan->stages[stage];
	char needs[UNIT_TEXT], has[UNIT_TEXT];
	struct text t = {0};
	text_add(&t,
		"out of memory: stage %" PRIu32 " of %" PRIu32 " (layers %" PRIu32 " to %" PRIu32
		" of %s) needs %s on each device, %s has %s of HBM",
		stage, plan->n_stages, s->first_layer, s->end_layer - 1, g->name,
		unit_print(needs, UNIT_BYTES, s->memory.total_bytes), arch->name,
		unit_print(has, UNIT_BYTES, arch->hbm_bytes));
	add_parts(&t, s);
	add_hint(&t, plan, stage, g, arch, optimizer);
	err_set(err, ERR_ANSWER, "%s", t.data);
	text_free(&t);
	return false;
}
