/* Megatron: pairs of layers split by outputs and by inputs, with and without slices of the
 * sequence around them. */
#include "plan/scheme_internal.h"

static const struct scheme_layer *layer_of(const struct scheme_emitter *e, uint32_t layer)
{
	return &e->q->model->layers[layer];
}

static void move(struct scheme_emitter *e, uint32_t layer, enum iteration_term term,
	enum coll_kind kind, uint64_t words)
{
	scheme_emit(e, layer,
		&(struct scheme_move){.term = term,
			.kind = kind,
			.over = OVER_GROUP,
			.words = scheme_group_samples(e->q) * words});
}

static bool check_layers(const struct scheme_question *q, struct err *err)
{
	bool any = false;
	for (uint32_t i = 0; i < q->model->n_layers; i++) {
		const struct scheme_layer *l = &q->model->layers[i];
		uint32_t features = l->slice == SLICE_ROW ? l->in_features : l->grid.outputs;
		if (l->slice != SLICE_NONE && features < q->pr)
			return err_set(err, ERR_INPUT,
				"%s: layer %s has %u features for %u devices, expected one each",
				q->model->name, l->grid.name, features, q->pr);
		any |= l->slice != SLICE_NONE;
	}
	return any || err_set(err, ERR_INPUT,
			      "%s: no two layers without something between them that needs all "
			      "features, megatron splits such pairs",
			      q->model->name);
}

static bool check(const struct scheme_question *q, struct err *err)
{
	return scheme_need_linear(q, "megatron", err) && check_layers(q, err) &&
	       scheme_need_heads(q, q->pr, err);
}

static bool check_sp(const struct scheme_question *q, struct err *err)
{
	uint64_t tokens = q->model->tokens_per_sample;
	if (!scheme_need_linear(q, "megatron-sp", err) ||
		!scheme_need_no_experts(q, "megatron-sp", err) || !check_layers(q, err) ||
		!scheme_need_heads(q, q->pr, err))
		return false;
	if (tokens == 0)
		return err_set(err, ERR_INPUT,
			"%s: samples are no sequences, megatron-sp slices "
			"them",
			q->model->name);
	return tokens % q->pr == 0 ||
	       err_set(err, ERR_INPUT, "%s: %llu positions do not divide over %u", q->model->name,
		       (unsigned long long)tokens, q->pr);
}

static void forward(struct scheme_emitter *e, uint32_t layer)
{
	const struct scheme_layer *l = layer_of(e, layer);
	scheme_emit_compute(e, layer, PHASE_FORWARD);
	if (l->slice == SLICE_ROW)
		move(e, layer, TERM_FORWARD, COLL_ALLREDUCE, l->row_out);
}

static void backward(struct scheme_emitter *e, uint32_t layer)
{
	const struct scheme_layer *l = layer_of(e, layer);
	bool sliced = l->slice != SLICE_NONE;
	if (l->slice == SLICE_ROW)
		move(e, layer, TERM_BACKWARD, COLL_ALLREDUCE, l->shares);
	scheme_emit_compute(e, layer, PHASE_BACKWARD);
	scheme_emit_gradient(e, layer, OVER_REPLICAS, sliced ? e->q->pr : 1);
	if (l->first_column && !l->grid.first)
		move(e, layer, TERM_BACKWARD, COLL_ALLREDUCE, l->column_in);
}

static struct scheme_share share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t p = q->pr;
	switch (q->model->layers[layer].slice) {
	case SLICE_NONE:
		break;
	case SLICE_COLUMN:
		return (struct scheme_share){1, 1, p, 1, p, p, 1, p};
	case SLICE_ROW:
		return (struct scheme_share){1, p, 1, 1, p, p, p, 1};
	}
	return (struct scheme_share){1, 1, 1, 1, 1, 1, 1, 1};
}

static void forward_sp(struct scheme_emitter *e, uint32_t layer)
{
	const struct scheme_layer *l = layer_of(e, layer);
	if (l->first_column)
		move(e, layer, TERM_FORWARD, COLL_ALLGATHER, l->column_in);
	scheme_emit_compute(e, layer, PHASE_FORWARD);
	if (l->slice == SLICE_ROW)
		move(e, layer, TERM_FORWARD, COLL_REDUCESCATTER, l->row_out);
}

/* Only the slice of the input was kept, so that dW needs it gathered once more. */
static void backward_sp(struct scheme_emitter *e, uint32_t layer)
{
	const struct scheme_layer *l = layer_of(e, layer);
	bool sliced = l->slice != SLICE_NONE;
	if (l->slice == SLICE_ROW)
		move(e, layer, TERM_BACKWARD, COLL_ALLGATHER, l->row_out);
	if (l->last_column)
		move(e, layer, TERM_BACKWARD, COLL_ALLGATHER, l->column_in);
	scheme_emit_compute(e, layer, PHASE_BACKWARD);
	scheme_emit_gradient(e, layer, sliced ? OVER_REPLICAS : OVER_GROUP | OVER_REPLICAS,
		sliced ? e->q->pr : 1);
	if (l->first_column && !l->grid.first)
		move(e, layer, TERM_BACKWARD, COLL_REDUCESCATTER, l->column_in);
}

static struct scheme_share share_sp(const struct scheme_question *q, uint32_t layer)
{
	uint32_t p = q->pr;
	switch (q->model->layers[layer].slice) {
	case SLICE_NONE:
		break;
	case SLICE_COLUMN:
		return (struct scheme_share){1, 1, p, 1, p, p, p, p};
	case SLICE_ROW:
		return (struct scheme_share){1, p, 1, 1, p, p, p, p};
	}
	return (struct scheme_share){p, 1, 1, 1, 1, 1, p, p};
}

const struct scheme scheme_megatron = {.name = "megatron",
	.doc = "pairs of layers split by features, sums all-reduced (1D tensor parallelism)",
	.check = check,
	.dims = scheme_one_dim,
	.forward = forward,
	.backward = backward,
	.share = share};

const struct scheme scheme_megatron_sp = {.name = "megatron-sp",
	.doc = "megatron with slices of the sequence between its pairs of layers",
	.check = check_sp,
	.dims = scheme_one_dim,
	.forward = forward_sp,
	.backward = backward_sp,
	.share = share_sp};
