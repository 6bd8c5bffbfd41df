/* Devices with parts of each sequence, who meet at attention only. */
#include "plan/scheme_internal.h"

typedef void attend(struct scheme_emitter *e, const struct scheme_attention *at, bool forward);

static void move(struct scheme_emitter *e, const struct scheme_attention *at, bool forward,
	const struct scheme_move *m)
{
	struct scheme_move whole = *m;
	whole.term = forward ? TERM_FORWARD : TERM_BACKWARD;
	whole.over = OVER_GROUP;
	whole.words = scheme_group_samples(e->q) * m->words;
	scheme_emit(e, at->after, &whole);
}

static void attend_all(struct scheme_emitter *e, uint32_t layer, bool forward, attend *attends)
{
	const struct scheme_model *m = e->q->model;
	for (uint32_t i = 0; i < m->n_attentions; i++)
		if (m->attentions[i].after == layer)
			attends(e, &m->attentions[i], forward);
}

/* Keys and values come to everybody; backward once more, and their gradients go home. */
static void share_keys(
	struct scheme_emitter *e, const struct scheme_attention *at, bool forward, const char *algo)
{
	uint64_t words = at->k + at->v;
	move(e, at, forward,
		&(struct scheme_move){.kind = COLL_ALLGATHER, .words = words, .algo = algo});
	if (!forward)
		move(e, at, forward,
			&(struct scheme_move){
				.kind = COLL_REDUCESCATTER, .words = words, .algo = algo});
}

static void attend_gather(struct scheme_emitter *e, const struct scheme_attention *at, bool forward)
{
	share_keys(e, at, forward, NULL);
}

static void attend_ring(struct scheme_emitter *e, const struct scheme_attention *at, bool forward)
{
	share_keys(e, at, forward, "ring");
}

/* From parts of the sequence to some of the heads, and back; the gradient of what comes last goes
 * first. */
static void attend_heads(struct scheme_emitter *e, const struct scheme_attention *at, bool forward)
{
	const uint64_t words[] = {at->out, at->q, at->k, at->v, at->out};
	uint64_t samples = scheme_group_samples(e->q);
	for (int i = 0; i < 4; i++)
		scheme_emit(e, at->after,
			&(struct scheme_move){
				.term = forward ? TERM_FORWARD : TERM_BACKWARD,
				.kind = COLL_ALLTOALL,
				.over = OVER_GROUP,
				.words = div_ceil(samples * words[forward ? i + 1 : i], e->q->pr),
			});
}

static void forward(struct scheme_emitter *e, uint32_t layer, attend *attends)
{
	scheme_emit_compute(e, layer, PHASE_FORWARD);
	attend_all(e, layer, true, attends);
}

static void backward(struct scheme_emitter *e, uint32_t layer, attend *attends)
{
	attend_all(e, layer, false, attends);
	scheme_emit_compute(e, layer, PHASE_BACKWARD);
	scheme_emit_gradient(e, layer, OVER_GROUP | OVER_REPLICAS, 1);
}

static void forward_gather(struct scheme_emitter *e, uint32_t layer)
{
	forward(e, layer, attend_gather);
}

static void backward_gather(struct scheme_emitter *e, uint32_t layer)
{
	backward(e, layer, attend_gather);
}

static void forward_ring(struct scheme_emitter *e, uint32_t layer)
{
	forward(e, layer, attend_ring);
}

static void backward_ring(struct scheme_emitter *e, uint32_t layer)
{
	backward(e, layer, attend_ring);
}

static void forward_heads(struct scheme_emitter *e, uint32_t layer)
{
	forward(e, layer, attend_heads);
}

static void backward_heads(struct scheme_emitter *e, uint32_t layer)
{
	backward(e, layer, attend_heads);
}

static bool check_gather(const struct scheme_question *q, struct err *err)
{
	return scheme_need_linear(q, "context-gather", err) &&
	       scheme_need_sequences(q, "context-gather", err);
}

static bool check_ring(const struct scheme_question *q, struct err *err)
{
	return scheme_need_linear(q, "context-ring", err) &&
	       scheme_need_sequences(q, "context-ring", err);
}

static bool check_heads(const struct scheme_question *q, struct err *err)
{
	return scheme_need_linear(q, "ulysses", err) && scheme_need_sequences(q, "ulysses", err) &&
	       scheme_need_heads(q, q->pr, err);
}

static struct scheme_share share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t p = q->pr;
	return (struct scheme_share){p, 1, 1, 1, 1, 1, p, p};
}

const struct scheme scheme_context_gather = {.name = "context-gather",
	.doc = "sequences split, keys and values gathered",
	.check = check_gather,
	.dims = scheme_one_dim,
	.forward = forward_gather,
	.backward = backward_gather,
	.share = share};

const struct scheme scheme_context_ring = {.name = "context-ring",
	.doc = "sequences split, keys and values around a ring (ring attention)",
	.check = check_ring,
	.dims = scheme_one_dim,
	.forward = forward_ring,
	.backward = backward_ring,
	.share = share};

const struct scheme scheme_ulysses = {.name = "ulysses",
	.doc = "sequences split, attention by heads with all-to-alls around it",
	.check = check_heads,
	.dims = scheme_one_dim,
	.forward = forward_heads,
	.backward = backward_heads,
	.share = share};
