/* Experts shared out: tokens go to where theirs are, and back. */
#include "plan/scheme_internal.h"

/* A device sends what its own samples route. */
static void move(struct scheme_emitter *e, uint32_t layer, bool forward, uint64_t routed)
{
	scheme_emit(e, layer,
		&(struct scheme_move){
			.term = forward ? TERM_FORWARD : TERM_BACKWARD,
			.kind = COLL_ALLTOALL,
			.over = OVER_GROUP,
			.words = scheme_device_samples(e->q) * routed,
		});
}

/* Dispatch or combination at one end of a bank. */
static void cross(struct scheme_emitter *e, uint32_t layer, bool entry, bool forward)
{
	const struct scheme_model *m = e->q->model;
	for (uint32_t i = 0; i < m->n_experts; i++)
		if ((entry ? m->experts[i].first : m->experts[i].last) == layer)
			move(e, layer, forward, m->experts[i].routed);
}

static void forward(struct scheme_emitter *e, uint32_t layer)
{
	cross(e, layer, true, true);
	scheme_emit_compute(e, layer, PHASE_FORWARD);
	cross(e, layer, false, true);
}

static bool is_expert(const struct scheme_question *q, uint32_t layer)
{
	return q->model->layers[layer].banks > 1;
}

static void backward(struct scheme_emitter *e, uint32_t layer)
{
	bool expert = is_expert(e->q, layer);
	cross(e, layer, false, false);
	scheme_emit_compute(e, layer, PHASE_BACKWARD);
	scheme_emit_gradient(e, layer, expert ? OVER_REPLICAS : OVER_GROUP | OVER_REPLICAS,
		expert ? e->q->pr : 1);
	cross(e, layer, true, false);
}

static bool check(const struct scheme_question *q, struct err *err)
{
	const struct scheme_model *m = q->model;
	if (m->n_experts == 0)
		return err_set(err, ERR_INPUT, "%s has no experts", m->name);
	for (uint32_t i = 0; i < m->n_experts; i++)
		if (m->experts[i].n % q->pr != 0)
			return err_set(err, ERR_INPUT, "%s: %u experts do not divide over %u",
				m->name, m->experts[i].n, q->pr);
	return scheme_need_samples(q, q->pr, err);
}

static struct scheme_share share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t p = q->pr;
	if (is_expert(q, layer))
		return (struct scheme_share){1, 1, 1, p, p, p, p, p};
	return (struct scheme_share){p, 1, 1, 1, 1, 1, p, p};
}

const struct scheme scheme_expert = {.name = "expert",
	.doc = "experts shared out, tokens sent to them and back (mixture of experts)",
	.check = check,
	.dims = scheme_one_dim,
	.forward = forward,
	.backward = backward,
	.share = share};
