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
	struct arena scratch = {0};
	struct graph_memory *each =
		arena_array(&scratch, layers.end - layers.first, struct graph_memory);
	uint64_t most = 0;
	graph_each_layer_memory(g, layers.first, layers.end, each);
	for (uint32_t l = 0; l < layers.end - layers.first; l++) {
		uint64_t kept = kept_bytes(&each[l], recompute);
		if (each[l].activation_bytes > kept && each[l].activation_bytes - kept > most)
			most = each[l].activation_bytes - kept;
	}
	arena_free(&scratch);
	return most;
}

struct stage_memory stage_memory(const struct graph *g, struct layers layers,
	enum optimizer optimizer, enum recompute recompute, uint32_t in_flight)
{
	struct graph_memory m = graph_layer_memory(g, layers.first, layers.end);
	uint32_t elem_bytes = parameter_bytes(g);
	u128 parameters = m.parameter_elements;
	uint64_t kept = kept_bytes(&m, recompute), remade = 0;
	if (recompute == RECOMPUTE_SELECTIVE || recompute == RECOMPUTE_FULL)
		remade = remade_bytes(g, layers, recompute);
	u128 activations = (u128)in_flight * kept + remade;
	uint32_t master = elem_bytes < 4 ? 4 : 0;
	struct stage_memory out = {
		.weights_bytes = clamp(parameters * elem_bytes),
		.gradients_bytes = clamp(parameters * GRADIENT_BYTES),
		.optimizer_bytes = clamp(parameters * (master + moments_bytes(optimizer))),
		.activation_bytes = clamp(activations),
		.micro_batch_bytes = kept,
		.remade_bytes = remade,
	};
	out.total_bytes = clamp((u128)out.weights_bytes + out.gradients_bytes +
				out.optimizer_bytes + out.activation_bytes);
	return out;
}

struct stage_memory plan_stage_memory(const struct memory_request *r)
{
	struct layers layers = {r->first_layer, r->end_layer};
	return stage_memory(r->train, layers, r->optimizer, r->recompute, r->in_flight);
}

uint32_t plan_kept_tensors(struct arena *a, const struct graph *train, uint32_t first_layer,
	uint32_t end_layer, enum recompute recompute, struct graph_kept **out)
{
	uint32_t n, kept = 0;
	if (recompute == RECOMPUTE_FULL)
		return graph_layer_inputs(a, train, first_layer, end_layer, out);
	n = graph_kept_tensors(a, train, first_layer, end_layer, out);
	for (uint32_t i = 0; i < n; i++)
		if (recompute != RECOMPUTE_SELECTIVE || (*out)[i].selective)
			(*out)[kept++] = (*out)[i];
	return kept;
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
