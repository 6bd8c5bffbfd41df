#include "graph/onnx_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Recurrent layers (ONNX operator reference, LSTM): X [steps, batch, in], W [directions, gates
 * hidden, in], R [directions, gates hidden, hidden], then optional bias [directions, 2 gates
 * hidden], lengths and initial states. Each direction is one product for all steps, one for each
 * step, and the cell. */

struct layer {
	struct onnx_reader *r;
	const struct onnx_node *node;
	uint32_t gates;
	const char *cell;
	uint64_t steps, batch, directions, hidden;
	struct onnx_value *x;    /* [batch, steps, in] */
	struct onnx_value *h[2]; /* of each direction: [batch, steps, hidden] */
	struct onnx_value *c[2]; /* likewise, of an LSTM */
};

static const char *part_name(const struct layer *l, uint64_t direction, const char *part)
{
	return l->directions > 1 ? arena_printf(l->r->scratch, "%s%" PRIu64, part, direction)
				 : part;
}

static bool append(const struct layer *l, const char *kind, const char *part,
	const struct onnx_step *given, struct onnx_value **out, struct err *err)
{
	struct onnx_step step = *given;
	struct onnx_value *made[2] = {onnx_new_value(l->r), onnx_new_value(l->r)};
	step.kind = kind;
	step.part = part;
	step.out = made;
	step.n_out = 2;
	if (!onnx_append(l->r, l->node, &step, err))
		return false;
	out[0] = made[0];
	if (strcmp(kind, "lstm_cell") == 0)
		out[1] = made[1];
	return true;
}

static bool transposed(const struct layer *l, const char *part, struct onnx_value **v,
	const uint32_t perm[3], struct err *err)
{
	struct onnx_step step = {.in = v, .n_in = 1};
	memcpy(step.attrs.perm, perm, 3 * sizeof(*perm));
	return append(l, "transpose", part, &step, v, err);
}

static bool sliced(const struct layer *l, const char *part, struct onnx_value **v, uint32_t axis,
	const uint64_t range[2], struct err *err)
{
	struct onnx_step step = {
		.in = v, .n_in = 1, .attrs = {.axis = axis, .begin = range[0], .end = range[1]}};
	if (range[0] == 0 && range[1] == (*v)->dims[axis])
		return true;
	return append(l, "slice", part, &step, v, err);
}

/* Part `range` (of axis 1) of a weight or bias of one direction, without its first dimension. A
 * constant is a weight of its own then; anything else is cut out by operators. */
static bool part_of(const struct layer *l, const char *part, struct onnx_value **v,
	uint64_t direction, const uint64_t range[2], struct err *err)
{
	const struct onnx_value *whole = *v;
	assert(whole);
	if (whole->state == ONNX_CONSTANT) {
		struct onnx_value *own = onnx_new_value(l->r);
		onnx_alias(own, *v);
		own->name = arena_printf(l->r->scratch, "%s.%s", whole->name, part);
		own->same_as = own->turned = NULL;
		own->ints = NULL;
		own->reals = NULL;
		own->tensor = GRAPH_NONE;
		own->n_dims = whole->n_dims - 1;
		memmove(own->dims, whole->dims + 1, own->n_dims * sizeof(*own->dims));
		own->dims[0] = range[1] - range[0];
		*v = own;
		return true;
	}
	const uint64_t one[2] = {direction, direction + 1};
	int64_t to[2] = {(int64_t)(range[1] - range[0]), (int64_t)whole->dims[2]};
	uint32_t n = whole->n_dims - 1;
	const char *cut = arena_printf(l->r->scratch, "%s.direction", part);
	const char *piece = arena_printf(l->r->scratch, "%s.piece", part);
	return sliced(l, cut, v, 0, one, err) && sliced(l, piece, v, 1, range, err) &&
	       onnx_reshaped(l->r, l->node, part, v, &(struct onnx_ints){to, n}, err);
}

/* What the layer waits for: initial states that something makes. Those that are known are part of
 * the first step. */
static bool wait_for_states(
	const struct layer *l, uint64_t direction, struct onnx_value **gates, struct err *err)
{
	struct onnx_value *in[3] = {*gates, NULL, NULL};
	size_t n = 1;
	for (size_t i = 5; i < 7 && i < l->node->n_in; i++)
		if (l->node->in[i] && l->node->in[i]->state == ONNX_TENSOR)
			in[n++] = l->node->in[i];
	struct onnx_step step = {.in = in, .n_in = n, .attrs.n_shape = 3};
	memcpy(step.attrs.shape, (*gates)->dims, 3 * sizeof(*step.attrs.shape));
	return n == 1 || append(l, "move", part_name(l, direction, "state"), &step, gates, err);
}

static bool build_direction(struct layer *l, uint64_t d, struct err *err)
{
	const struct onnx_node *node = l->node;
	uint64_t n = l->gates * l->hidden;
	const uint64_t all[2] = {0, n}, more[2] = {n, 2 * n};
	struct onnx_value *gates = NULL, *out[2] = {NULL, NULL};
	struct onnx_value *input[3] = {l->x, node->in[1], node->n_in > 3 ? node->in[3] : NULL};
	struct onnx_value *state[3] = {NULL, node->in[2], input[2]};
	bool constant = state[1]->state == ONNX_CONSTANT;
	if (!part_of(l, part_name(l, d, "W"), &input[1], d, all, err) ||
		!part_of(l, part_name(l, d, "R"), &state[1], d, all, err) ||
		(input[2] && (!part_of(l, part_name(l, d, "Wb"), &input[2], d, all, err) ||
				     !part_of(l, part_name(l, d, "Rb"), &state[2], d, more, err))))
		return false;
	if (constant) { /* [gates hidden, hidden] is stored the other way round */
		state[1]->dims[0] = l->hidden;
		state[1]->dims[1] = n;
	} else if (!transposed(l, part_name(l, d, "turned"), &state[1], (const uint32_t[]){1, 0, 0},
			   err)) {
		return false;
	}
	struct onnx_step product = {
		.in = input, .n_in = 3, .stays = d > 0, .attrs.transpose_b = true};
	struct onnx_step steps = {.in = state, .n_in = 3, .stays = true, .attrs.count = l->gates};
	if (!append(l, "gemm", part_name(l, d, "gates"), &product, &gates, err) ||
		!wait_for_states(l, d, &gates, err))
		return false;
	state[0] = gates;
	struct onnx_step cell = {.in = &gates, .n_in = 1};
	if (!append(l, "recurrent", part_name(l, d, "recurrent"), &steps, &gates, err) ||
		!append(l, l->cell, part_name(l, d, "cell"), &cell, out, err))
		return false;
	l->h[d] = out[0];
	l->c[d] = out[1];
	return true;
}

/* The directions side by side: `v` of each as [a, 1, b, c] or [1, b, c], joined along the axis of
 * the 1. */
static bool join(const struct layer *l, const char *part, struct onnx_value *v[2], uint32_t axis,
	struct onnx_value *out, struct err *err)
{
	struct onnx_step step = {.in = v, .n_in = l->directions, .attrs.axis = axis};
	if (l->directions > 1 && !append(l, "concat", part, &step, v, err))
		return false;
	onnx_alias(out, v[0]);
	return true;
}

/* Y [steps, directions, batch, hidden] */
static bool make_sequence(const struct layer *l, struct onnx_value *out, struct err *err)
{
	struct onnx_value *v[2] = {l->h[0], l->h[1]};
	int64_t to[4] = {(int64_t)l->steps, 1, (int64_t)l->batch, (int64_t)l->hidden};
	for (uint64_t d = 0; d < l->directions; d++)
		if (!transposed(
			    l, part_name(l, d, "steps"), &v[d], (const uint32_t[]){1, 0, 2}, err) ||
			!onnx_reshaped(l->r, l->node, part_name(l, d, "Y"), &v[d],
				&(struct onnx_ints){to, 4}, err))
			return false;
	return join(l, "directions", v, 1, out, err);
}

/* Y_h and Y_c [directions, batch, hidden]: the state after the last step. */
static bool make_last(const struct layer *l, struct onnx_value *const state[2], const char *part,
	struct onnx_value *out, struct err *err)
{
	struct onnx_value *v[2] = {state[0], state[1]};
	const uint64_t last[2] = {l->steps - 1, l->steps};
	const char *cut = arena_printf(l->r->scratch, "%s.step", part);
	for (uint64_t d = 0; d < l->directions; d++)
		if (!sliced(l, part_name(l, d, cut), &v[d], 1, last, err) ||
			!transposed(
				l, part_name(l, d, part), &v[d], (const uint32_t[]){1, 0, 2}, err))
			return false;
	return join(l, arena_printf(l->r->scratch, "%s.directions", part), v, 0, out, err);
}

static bool check(struct layer *l, struct err *err)
{
	const struct onnx_node *node = l->node;
	const struct onnx_value *x = node->in[0], *w = node->in[1], *r = node->in[2];
	const struct onnx_value *b = node->n_in > 3 ? node->in[3] : NULL;
	if (onnx_attr_int(node, "layout", 0) != 0)
		return onnx_fail(node, err, "only layout 0, steps first, is supported");
	if (node->n_in > 7 && node->in[7])
		return onnx_fail(node, err, "peepholes are not supported");
	if (x->n_dims != 3 || w->n_dims != 3 || r->n_dims != 3)
		return onnx_fail(node, err, "X, W and R must have 3 dimensions");
	l->steps = x->dims[0];
	l->batch = x->dims[1];
	l->directions = w->dims[0];
	l->hidden = r->dims[2];
	if (l->directions < 1 || l->directions > 2 || l->hidden < 1 || l->hidden >> 24 ||
		l->steps < 1 || w->dims[1] != l->gates * l->hidden ||
		r->dims[1] != l->gates * l->hidden || r->dims[0] != l->directions ||
		w->dims[2] != x->dims[2] ||
		(b && (b->n_dims != 2 || b->dims[0] != l->directions ||
			      b->dims[1] != 2 * l->hidden * l->gates)))
		return onnx_fail(node, err, "the weights do not fit the input or each other");
	l->x = node->in[0];
	return true;
}

static bool build(struct onnx_reader *r, const struct onnx_node *node, uint32_t gates,
	const char *cell, struct err *err)
{
	struct layer l = {.r = r, .node = node, .gates = gates, .cell = cell};
	if (!check(&l, err) || !transposed(&l, "samples", &l.x, (const uint32_t[]){1, 0, 2}, err))
		return false;
	for (uint64_t d = 0; d < l.directions; d++)
		if (!build_direction(&l, d, err))
			return false;
	if (!make_sequence(&l, node->out[0] ? node->out[0] : onnx_new_value(r), err))
		return false;
	if (node->n_out > 1 && node->out[1] && !make_last(&l, l.h, "Y_h", node->out[1], err))
		return false;
	if (node->n_out > 2 && node->out[2] && !l.c[0])
		return onnx_fail(node, err, "only an LSTM has a third output");
	return node->n_out < 3 || !node->out[2] || make_last(&l, l.c, "Y_c", node->out[2], err);
}

bool onnx_build_lstm(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	return build(r, node, 4, "lstm_cell", err);
}

bool onnx_build_gru(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	return build(r, node, 3, "gru_cell", err);
}

bool onnx_build_rnn(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	return build(r, node, 1, "tanh", err);
}
