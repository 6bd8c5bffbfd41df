/* Each layer as a distributed product C = A B: inputs A, weights B, on a square, on copies of a
 * square, on a cube. Backward dA = dC B^T and dB = A^T dC, by the same motions. */
#include "plan/scheme_internal.h"

/* What a matrix is gathered over, or reduced over, and one in how many parts of it takes part. */
struct side {
	uint32_t over, parts;
};

struct product {
	uint32_t q, copies; /* copies: d of 2.5D */
	bool cube;
	struct side a, b, c;
};

static struct product square(uint32_t q, uint32_t copies)
{
	return (struct product){
		.q = q, .copies = copies, .a = {OVER_1, q * copies}, .b = {OVER_0, q}};
}

static struct product product_of(const struct scheme_emitter *e, uint32_t layer)
{
	const struct scheme_question *q = e->q;
	if (e->scheme == &scheme_summa_2d)
		return square(e->grid.sizes[e->first_dim], 1);
	if (e->scheme == &scheme_tesseract_25d)
		return square(e->grid.sizes[e->first_dim], e->grid.sizes[e->first_dim + 2]);
	uint32_t n = e->grid.sizes[e->first_dim];
	/* C is left over the axis that A is gathered over in the next layer. */
	bool odd = q->model->layers[layer].depth % 2 == 1;
	return (struct product){.q = n,
		.copies = 1,
		.cube = true,
		.a = {odd ? OVER_1 : OVER_2, n * n},
		.b = {OVER_0, n * n},
		.c = {odd ? OVER_2 : OVER_1, n * n}};
}

enum matrix { MATRIX_A, MATRIX_B, MATRIX_C };

static void move(struct scheme_emitter *e, uint32_t layer, const struct product *p,
	enum matrix matrix, const struct scheme_move *m)
{
	const struct grid_layer *l = &e->q->model->layers[layer].grid;
	uint64_t samples = scheme_group_samples(e->q);
	struct scheme_move part = *m;
	struct side side = {0};
	uint64_t words = 0;
	switch (matrix) {
	case MATRIX_A:
		side = p->a;
		words = samples * l->d_in;
		break;
	case MATRIX_B:
		side = p->b;
		words = l->weights;
		break;
	case MATRIX_C:
		side = p->c;
		words = samples * l->d_out;
		break;
	}
	part.over = side.over;
	part.words = div_ceil(words, side.parts);
	scheme_emit(e, layer, &part);
}

static const struct scheme_move gather_forward = {.term = TERM_FORWARD, .kind = COLL_ALLGATHER},
				reduce_forward = {.term = TERM_FORWARD, .kind = COLL_REDUCESCATTER},
				gather_backward = {.term = TERM_BACKWARD, .kind = COLL_ALLGATHER},
				reduce_backward = {.term = TERM_BACKWARD,
					.kind = COLL_REDUCESCATTER};

static void forward(struct scheme_emitter *e, uint32_t layer)
{
	struct product p = product_of(e, layer);
	if (e->q->model->layers[layer].first_reader)
		move(e, layer, &p, MATRIX_A, &gather_forward);
	move(e, layer, &p, MATRIX_B, &gather_forward);
	scheme_emit_compute(e, layer, PHASE_FORWARD);
	if (p.cube)
		move(e, layer, &p, MATRIX_C, &reduce_forward);
}

static void backward(struct scheme_emitter *e, uint32_t layer)
{
	const struct scheme_layer *l = &e->q->model->layers[layer];
	struct product p = product_of(e, layer);
	if (l->last_reader)
		move(e, layer, &p, MATRIX_A, &gather_backward);
	if (p.cube)
		move(e, layer, &p, MATRIX_C, &gather_backward);
	scheme_emit_compute(e, layer, PHASE_BACKWARD);
	move(e, layer, &p, MATRIX_B, &reduce_backward);
	scheme_emit_gradient(e, layer, p.copies > 1 ? OVER_2 | OVER_REPLICAS : OVER_REPLICAS,
		p.cube ? p.q * p.q * p.q : p.q * p.q);
	if (l->grid.first)
		return;
	if (p.cube)
		move(e, layer, &p, MATRIX_C, &gather_backward);
	move(e, layer, &p, MATRIX_B, &gather_backward);
	if (l->first_reader)
		move(e, layer, &p, MATRIX_A, &reduce_backward);
}

static bool check_shape(
	const struct scheme_question *q, const char *scheme, uint32_t side, struct err *err)
{
	if (!scheme_need_linear(q, scheme, err) || !scheme_need_no_experts(q, scheme, err))
		return false;
	for (uint32_t i = 0; i < q->model->n_layers; i++) {
		const struct scheme_layer *l = &q->model->layers[i];
		uint32_t outputs = l->grid.outputs, inputs = l->in_features;
		if (inputs < side || outputs < side)
			return err_set(err, ERR_INPUT,
				"%s: layer %s has %u features for %u parts, expected one each",
				q->model->name, l->grid.name, inputs < side ? inputs : outputs,
				side);
	}
	return scheme_need_heads(q, side, err);
}

static bool check_square(const struct scheme_question *q, struct err *err)
{
	uint32_t n = scheme_square_root(q->pr);
	if (n == 0)
		return err_set(err, ERR_INPUT, "Pr %u is no square, summa-2d needs q x q", q->pr);
	return check_shape(q, "summa-2d", n, err) && scheme_need_samples(q, n, err);
}

static uint32_t depth_of(const struct scheme_question *q)
{
	return q->depth > 0 ? q->depth : scheme_depth(q->pr);
}

/* q of q x q x d; 0: there is none. */
static uint32_t copied_side(const struct scheme_question *q)
{
	uint32_t d = depth_of(q);
	if (d < 2 || q->pr % d != 0)
		return 0;
	uint32_t n = scheme_square_root(q->pr / d);
	return d <= n ? n : 0;
}

static bool check_copies(const struct scheme_question *q, struct err *err)
{
	uint32_t n = copied_side(q);
	if (n == 0 && q->depth > 0)
		return err_set(err, ERR_INPUT,
			"Pr %u is no q^2 x %u with 1 < d <= q, tesseract-2.5d needs that", q->pr,
			q->depth);
	if (n == 0)
		return err_set(err, ERR_INPUT,
			"Pr %u is no q^2 d with 1 < d <= q, tesseract-2.5d needs that", q->pr);
	return check_shape(q, "tesseract-2.5d", n, err) &&
	       scheme_need_samples(q, (uint64_t)n * depth_of(q), err);
}

static bool check_cube(const struct scheme_question *q, struct err *err)
{
	uint32_t n = scheme_cube_root(q->pr);
	if (n == 0)
		return err_set(err, ERR_INPUT, "Pr %u is no cube, cube-3d needs q x q x q", q->pr);
	return check_shape(q, "cube-3d", n, err) && scheme_need_samples(q, (uint64_t)n * n, err);
}

static void square_dims(const struct scheme_question *q, struct prog_grid *g)
{
	uint32_t n = scheme_square_root(q->pr);
	*g = (struct prog_grid){.n_dims = 2, .names = {"i", "j"}, .sizes = {n, n}};
}

static void copies_dims(const struct scheme_question *q, struct prog_grid *g)
{
	uint32_t n = copied_side(q);
	*g = (struct prog_grid){
		.n_dims = 3, .names = {"i", "j", "d"}, .sizes = {n, n, depth_of(q)}};
}

static void cube_dims(const struct scheme_question *q, struct prog_grid *g)
{
	uint32_t n = scheme_cube_root(q->pr);
	*g = (struct prog_grid){.n_dims = 3, .names = {"i", "j", "k"}, .sizes = {n, n, n}};
}

static struct scheme_share square_share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t n = scheme_square_root(q->pr), all = n * n;
	return (struct scheme_share){n, 1, n, 1, all, all, all, all};
}

static struct scheme_share copies_share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t n = copied_side(q), d = depth_of(q);
	return (struct scheme_share){n * d, 1, n, 1, n * n, n * n, q->pr, q->pr};
}

static struct scheme_share cube_share(const struct scheme_question *q, uint32_t layer)
{
	uint32_t n = scheme_cube_root(q->pr), all = q->pr;
	return (struct scheme_share){n, n, n, 1, all, all, all, all};
}

const struct scheme scheme_cube_3d = {.name = "cube-3d",
	.doc = "products on a cube of devices (3D tensor parallelism)",
	.check = check_cube,
	.dims = cube_dims,
	.forward = forward,
	.backward = backward,
	.share = cube_share};

const struct scheme scheme_summa_2d = {.name = "summa-2d",
	.doc = "products on a square of devices (2D tensor parallelism, SUMMA)",
	.check = check_square,
	.dims = square_dims,
	.forward = forward,
	.backward = backward,
	.share = square_share};

const struct scheme scheme_tesseract_25d = {.name = "tesseract-2.5d",
	.doc = "products on copies of a square of devices (2.5D tensor parallelism)",
	.check = check_copies,
	.dims = copies_dims,
	.forward = forward,
	.backward = backward,
	.share = copies_share};
