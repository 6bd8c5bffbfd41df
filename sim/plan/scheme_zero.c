/* ZeRO: devices have samples of their own and share what they keep of the weights. */
#include "plan/scheme_internal.h"

static void move_weights(
	struct scheme_emitter *e, uint32_t layer, enum iteration_term term, enum coll_kind kind)
{
	scheme_emit(e, layer,
		&(struct scheme_move){.term = term,
			.kind = kind,
			.over = OVER_GROUP,
			.words = e->q->model->layers[layer].grid.weights});
}

/* Each device ends with its part of the sum over all devices. */
static void reduce_gradient(struct scheme_emitter *e, uint32_t layer)
{
	move_weights(e, layer, TERM_DW_ALL_REDUCE, COLL_REDUCESCATTER);
	scheme_emit_gradient(e, layer, OVER_REPLICAS, e->q->pr);
}

static bool check(const struct scheme_question *q, struct err *err)
{
	return scheme_need_samples(q, q->pr, err);
}

static void fsdp_forward(struct scheme_emitter *e, uint32_t layer)
{
	move_weights(e, layer, TERM_FORWARD, COLL_ALLGATHER);
	scheme_emit_compute(e, layer, PHASE_FORWARD);
}

static void fsdp_backward(struct scheme_emitter *e, uint32_t layer)
{
	move_weights(e, layer, TERM_BACKWARD, COLL_ALLGATHER);
	scheme_emit_compute(e, layer, PHASE_BACKWARD);
	reduce_gradient(e, layer);
}

static struct scheme_share fsdp_share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t p = q->pr;
	return (struct scheme_share){p, 1, 1, 1, p, p, p, p};
}

static void zero_forward(struct scheme_emitter *e, uint32_t layer)
{
	scheme_emit_compute(e, layer, PHASE_FORWARD);
}

static void zero_backward(struct scheme_emitter *e, uint32_t layer)
{
	scheme_emit_compute(e, layer, PHASE_BACKWARD);
	reduce_gradient(e, layer);
}

static void zero_finish(struct scheme_emitter *e)
{
	for (uint32_t i = 0; i < e->q->model->n_layers; i++)
		move_weights(e, i, TERM_DW_ALL_REDUCE, COLL_ALLGATHER);
}

static struct scheme_share zero_share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t p = q->pr;
	return (struct scheme_share){p, 1, 1, 1, 1, p, p, p};
}

const struct scheme scheme_fsdp = {.name = "fsdp",
	.doc = "weights, gradients and optimiser shared out (ZeRO-3; hybrid with replicas)",
	.check = check,
	.dims = scheme_one_dim,
	.forward = fsdp_forward,
	.backward = fsdp_backward,
	.share = fsdp_share};

const struct scheme scheme_zero_2 = {.name = "zero-2",
	.doc = "gradients and optimiser shared out, weights whole (ZeRO stage 2)",
	.check = check,
	.dims = scheme_one_dim,
	.forward = zero_forward,
	.backward = zero_backward,
	.finish = zero_finish,
	.share = zero_share};
