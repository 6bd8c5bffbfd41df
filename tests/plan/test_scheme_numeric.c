/* Iterations of the schemes that share layers, executed with numbers: what moves is what the
 * schedule says, task by task, and the results are those of one device. */
#include <stdio.h>
#include <stdlib.h>

#include "numeric_net.h"
#include "plan/scheme_internal.h"
#include "suite.h"

static uint32_t rank_in_group(const struct net *n, uint32_t p)
{
	return net_coordinate(n, p, "pr");
}

/* Gradients of weights over devices that have the same ones; those of `has` are right. */
static void reduce_gradient(
	struct net *n, uint32_t layer, uint32_t n_ranks, const struct blocks *has)
{
	struct step s = {layer, TERM_DW_ALL_REDUCE, COLL_ALLREDUCE, n_ranks};
	for (uint32_t p = 0; p < n->n_procs; p++)
		spread_open(&n->dw[layer], p);
	play_blocks(&n->player, &s, &n->dw[layer], has);
	struct wish w = blocks_wish(has);
	matrix_check(&n->dw[layer], &w, n->want_dw[layer]);
}

static void check_tensor(const struct net *n, uint32_t tensor, const struct blocks *has, bool back)
{
	const struct net_tensor *t = &n->tensors[tensor];
	struct wish w = blocks_wish(has);
	matrix_check(back ? &t->dx : &t->x, &w, back ? t->want_dx : t->want_x);
}

static void settle_all(struct net *n, struct spread *s)
{
	for (uint32_t p = 0; p < n->n_procs; p++)
		spread_settle(s, p);
}

/* Megatron, plain and with slices of the sequence. */
struct megatron {
	struct net n;
	bool slices;
};

static enum scheme_slice slice_of(const struct megatron *m, uint32_t layer)
{
	return m->n.layers[layer].slice;
}

static struct blocks megatron_weights(const struct megatron *m, uint32_t layer)
{
	struct blocks b = {.cols = net_outputs(&m->n, layer)};
	for (uint32_t p = 0; p < m->n.n_procs; p++) {
		struct block all = net_weights(&m->n, layer);
		uint32_t k = rank_in_group(&m->n, p), pr = m->n.q.pr;
		b.of[p] = all;
		if (slice_of(m, layer) == SLICE_COLUMN)
			b.of[p] = block_cols(all, pr, k);
		if (slice_of(m, layer) == SLICE_ROW)
			b.of[p] = block_rows(all, pr, k);
	}
	return b;
}

/* Rows of the group, or slices of them where nothing is split by features. */
static struct blocks megatron_rows(const struct megatron *m, uint32_t tensor, bool sliced)
{
	struct blocks b = {.cols = m->n.tensors[tensor].features};
	for (uint32_t p = 0; p < m->n.n_procs; p++) {
		b.of[p] = net_group(&m->n, p, tensor);
		if (sliced)
			b.of[p] = block_rows(b.of[p], m->n.q.pr, rank_in_group(&m->n, p));
	}
	return b;
}

/* Of the rows that a layer computes. */
static struct blocks megatron_work(const struct megatron *m, uint32_t layer, uint32_t tensor)
{
	return megatron_rows(m, tensor, m->slices && slice_of(m, layer) == SLICE_NONE);
}

static void megatron_forward(struct megatron *m, uint32_t i)
{
	struct net *n = &m->n;
	const struct scheme_layer *l = &n->described[i];
	uint32_t in = n->layers[i].in, out = n->layers[i].out, pr = n->q.pr;
	struct product product = net_product(n, i);
	struct blocks w = megatron_weights(m, i), rows = megatron_work(m, i, in);
	struct blocks mine = megatron_rows(m, in, m->slices),
		      whole = megatron_rows(m, out, m->slices);
	bool column = slice_of(m, i) == SLICE_COLUMN, row = slice_of(m, i) == SLICE_ROW;
	if (m->slices && column && l->first_reader)
		play_blocks(&n->player, &(struct step){i, TERM_FORWARD, COLL_ALLGATHER, pr},
			product.x, &rows);
	for (uint32_t p = 0; p < n->n_procs; p++)
		product_forward(&product, p, &w.of[p], rows.of[p].r0, rows.of[p].r1);
	if (m->slices && column && l->last_reader)
		matrix_keep(product.x, &mine);
	enum coll_kind sums = m->slices ? COLL_REDUCESCATTER : COLL_ALLREDUCE;
	if (row)
		play_blocks(
			&n->player, &(struct step){i, TERM_FORWARD, sums, pr}, product.y, &whole);
	else
		settle_all(n, product.y);
	if (net_last_writer(n, i))
		net_activate(n, out);
}

static void megatron_backward(struct megatron *m, uint32_t i)
{
	struct net *n = &m->n;
	const struct scheme_layer *l = &n->described[i];
	uint32_t in = n->layers[i].in, out = n->layers[i].out, pr = n->q.pr;
	struct net_tensor *x = &n->tensors[in], *y = &n->tensors[out];
	struct product product = net_product(n, i);
	struct blocks w = megatron_weights(m, i), rows = megatron_work(m, i, in);
	struct blocks mine = megatron_rows(m, in, m->slices), whole = megatron_rows(m, out, false);
	bool column = slice_of(m, i) == SLICE_COLUMN, none = slice_of(m, i) == SLICE_NONE;
	if (net_last_writer(n, i))
		net_derive(n, out);
	if (m->slices && slice_of(m, i) == SLICE_ROW)
		play_blocks(&n->player, &(struct step){i, TERM_BACKWARD, COLL_ALLGATHER, pr},
			&y->dz, &whole);
	if (m->slices && column && l->last_reader)
		play_blocks(&n->player, &(struct step){i, TERM_BACKWARD, COLL_ALLGATHER, pr},
			product.x, &rows);
	for (uint32_t p = 0; p < n->n_procs; p++)
		product_dw(&product, &n->dw[i], &y->dz, p, &w.of[p], rows.of[p].r0, rows.of[p].r1);
	reduce_gradient(n, i, m->slices && none ? pr * n->q.pc : n->q.pc, &w);
	if (l->grid.first)
		return;
	for (uint32_t p = 0; p < n->n_procs; p++)
		product_dx(&product, &x->dx, &y->dz, p, &w.of[p], rows.of[p].r0, rows.of[p].r1);
	enum coll_kind sums = m->slices ? COLL_REDUCESCATTER : COLL_ALLREDUCE;
	if (column && l->first_reader)
		play_blocks(&n->player, &(struct step){i, TERM_BACKWARD, sums, pr}, &x->dx, &mine);
	if (!column)
		settle_all(n, &x->dx);
	if (slice_of(m, i) != SLICE_ROW && l->first_reader)
		check_tensor(n, in, &mine, true);
}

static void run_megatron(const struct net_case *c, uint64_t seed, bool slices)
{
	struct megatron *m = mem_alloc(1, sizeof(*m));
	m->slices = slices;
	net_begin(&m->n, c, seed);
	struct blocks rows = megatron_rows(m, 0, slices);
	matrix_put(&m->n.tensors[0].x, &rows, m->n.tensors[0].want_x);
	for (uint32_t i = 0; i < m->n.n_layers; i++) {
		struct blocks w = megatron_weights(m, i);
		matrix_put(&m->n.w[i], &w, m->n.want_w[i]);
	}
	for (uint32_t i = 0; i < m->n.n_layers; i++)
		megatron_forward(m, i);
	for (uint32_t i = m->n.n_layers; i-- > 0;)
		megatron_backward(m, i);
	/* The last outputs are split by features. */
	struct blocks last = megatron_rows(m, m->n.n_tensors - 1, false);
	for (uint32_t p = 0; p < m->n.n_procs; p++)
		last.of[p] = block_cols(last.of[p], m->n.q.pr, rank_in_group(&m->n, p));
	check_tensor(&m->n, m->n.n_tensors - 1, &last, false);
	net_end(&m->n);
	free(m);
}

/* Two readers and two writers of a pair, a layer that is not split, and one before the loss. */
static const struct net_layer pairs[] = {{0, 1, SLICE_COLUMN}, {0, 1, SLICE_COLUMN},
	{1, 2, SLICE_ROW}, {2, 3, SLICE_NONE}, {3, 4, SLICE_COLUMN}, {4, 5, SLICE_ROW},
	{5, 6, SLICE_COLUMN}};
enum { N_PAIRS = sizeof(pairs) / sizeof(*pairs) };

static struct net_case case_of(const char *scheme, uint32_t pr, uint32_t pc)
{
	return (struct net_case){
		.scheme = scheme, .pr = pr, .pc = pc, .layers = pairs, .n_layers = N_PAIRS};
}

static const uint32_t group_shapes[][2] = {{2, 1}, {2, 2}, {4, 1}, {3, 2}, {3, 5}, {6, 2}, {5, 1}};
enum { N_GROUPS = sizeof(group_shapes) / sizeof(*group_shapes) };

static void test_megatron(void)
{
	for (size_t k = 0; k < 4 * N_GROUPS; k++) {
		const uint32_t *shape = group_shapes[k / 4];
		struct net_case c = case_of("megatron", shape[0], shape[1]);
		c.even = k % 2 == 0;
		c.first = k / 2 % 2 == 0;
		c.tokens = 1 + k % 3;
		c.batch = c.even ? c.pc * 2 : c.pc + k % (2 * c.pc);
		run_megatron(&c, k, false);
	}
}

static void test_megatron_sp(void)
{
	for (size_t k = 0; k < 4 * N_GROUPS; k++) {
		const uint32_t *shape = group_shapes[k / 4];
		struct net_case c = case_of("megatron-sp", shape[0], shape[1]);
		c.even = k % 2 == 0;
		c.first = k / 2 % 2 == 0;
		c.tokens = c.pr * (1 + k % 2);
		c.batch = c.even ? c.pc : c.pc + k % (2 * c.pc);
		run_megatron(&c, k, true);
	}
}

/* Products on squares, copies of squares and cubes. */
struct mesh {
	uint32_t q, d, i, j, k; /* i, j of a square; of a cube k is the axis of inputs */
	bool cube;
};

static struct mesh mesh_of(const struct net *n, uint32_t p, uint32_t layer)
{
	struct mesh m = {.i = net_coordinate(n, p, "i"),
		.j = net_coordinate(n, p, "j"),
		.k = net_coordinate(n, p, "k"),
		.cube = n->scheme == &scheme_cube_3d,
		.d = 1};
	m.q = scheme_square_root(n->q.pr);
	if (m.cube)
		m.q = scheme_cube_root(n->q.pr);
	if (n->scheme == &scheme_tesseract_25d) {
		m.d = n->q.depth > 0 ? n->q.depth : scheme_depth(n->q.pr);
		m.q = scheme_square_root(n->q.pr / m.d);
	}
	/* Layers take turns. */
	if (m.cube && n->described[layer].depth % 2 == 0) {
		uint32_t j = m.j;
		m.j = m.k;
		m.k = j;
	}
	return m;
}

enum matrix { MATRIX_X, MATRIX_W, MATRIX_Y };

/* What a device has of a matrix of a layer; `full`: with what is gathered for the product. */
static struct block mesh_block(
	const struct net *n, uint32_t p, uint32_t layer, enum matrix what, bool full)
{
	struct mesh m = mesh_of(n, p, layer);
	const struct net_layer *l = &n->layers[layer];
	uint32_t copy = net_coordinate(n, p, "d") + m.d * m.i;
	struct block w = net_weights(n, layer);
	struct block rows = net_group(n, p, what == MATRIX_X ? l->in : l->out);
	rows = block_rows(rows, m.q * m.d, copy);
	if (m.cube) {
		w = block_rows(block_cols(w, m.q, m.j), m.q, m.k);
		rows = block_cols(rows, m.q, what == MATRIX_X ? m.k : m.j);
		if (what == MATRIX_W)
			return full ? w : block_rows(w, m.q, m.i);
		return full ? rows : block_rows(rows, m.q, what == MATRIX_X ? m.j : m.k);
	}
	if (what == MATRIX_Y)
		return block_cols(rows, m.q, m.j);
	w = block_cols(w, m.q, m.j);
	if (full)
		return what == MATRIX_X ? rows : w;
	return what == MATRIX_X ? block_cols(rows, m.q, m.j) : block_rows(w, m.q, m.i);
}

static struct blocks mesh_blocks(const struct net *n, uint32_t layer, enum matrix what, bool full)
{
	struct blocks b = {.cols = what == MATRIX_X ? net_inputs(n, layer) : net_outputs(n, layer)};
	for (uint32_t p = 0; p < n->n_procs; p++)
		b.of[p] = mesh_block(n, p, layer, what, full);
	return b;
}

/* A matrix of a layer, gathered or reduced over one axis of the mesh. */
static void mesh_move(struct net *n, uint32_t layer, enum matrix what, bool back,
	enum coll_kind kind, struct spread *s)
{
	struct blocks to = mesh_blocks(n, layer, what, kind == COLL_ALLGATHER);
	play_blocks(&n->player,
		&(struct step){
			layer, back ? TERM_BACKWARD : TERM_FORWARD, kind, mesh_of(n, 0, layer).q},
		s, &to);
}

static void mesh_keep(struct net *n, uint32_t layer, enum matrix what, struct spread *s)
{
	struct blocks own = mesh_blocks(n, layer, what, false);
	matrix_keep(s, &own);
}

static void mesh_forward(struct net *n, uint32_t i)
{
	const struct scheme_layer *l = &n->described[i];
	struct product product = net_product(n, i);
	if (l->first_reader)
		mesh_move(n, i, MATRIX_X, false, COLL_ALLGATHER, product.x);
	mesh_move(n, i, MATRIX_W, false, COLL_ALLGATHER, product.w);
	for (uint32_t p = 0; p < n->n_procs; p++) {
		struct block x = mesh_block(n, p, i, MATRIX_X, true);
		struct block w = mesh_block(n, p, i, MATRIX_W, true);
		product_forward(&product, p, &w, x.r0, x.r1);
	}
	if (mesh_of(n, 0, i).cube)
		mesh_move(n, i, MATRIX_Y, false, COLL_REDUCESCATTER, product.y);
	else
		settle_all(n, product.y);
	mesh_keep(n, i, MATRIX_W, product.w);
	if (l->last_reader)
		mesh_keep(n, i, MATRIX_X, product.x);
	if (net_last_writer(n, i))
		net_activate(n, n->layers[i].out);
}

/* The product that makes dw or dx, of gathered matrices. */
static void mesh_product(struct net *n, uint32_t i, bool dw)
{
	struct product product = net_product(n, i);
	struct spread *dz = &n->tensors[n->layers[i].out].dz;
	for (uint32_t p = 0; p < n->n_procs; p++) {
		struct block x = mesh_block(n, p, i, MATRIX_X, true);
		struct block w = mesh_block(n, p, i, MATRIX_W, true);
		if (dw)
			product_dw(&product, &n->dw[i], dz, p, &w, x.r0, x.r1);
		else
			product_dx(
				&product, &n->tensors[n->layers[i].in].dx, dz, p, &w, x.r0, x.r1);
	}
}

static void mesh_backward(struct net *n, uint32_t i)
{
	const struct scheme_layer *l = &n->described[i];
	struct net_tensor *x = &n->tensors[n->layers[i].in], *y = &n->tensors[n->layers[i].out];
	struct mesh m = mesh_of(n, 0, i);
	struct blocks own_w = mesh_blocks(n, i, MATRIX_W, false);
	if (net_last_writer(n, i))
		net_derive(n, n->layers[i].out);
	if (l->last_reader)
		mesh_move(n, i, MATRIX_X, true, COLL_ALLGATHER, &x->x);
	if (m.cube)
		mesh_move(n, i, MATRIX_Y, true, COLL_ALLGATHER, &y->dz);
	mesh_product(n, i, true);
	mesh_move(n, i, MATRIX_W, true, COLL_REDUCESCATTER, &n->dw[i]);
	reduce_gradient(n, i, m.d * n->q.pc, &own_w);
	if (m.cube)
		mesh_keep(n, i, MATRIX_Y, &y->dz);
	if (!l->grid.first) {
		if (m.cube)
			mesh_move(n, i, MATRIX_Y, true, COLL_ALLGATHER, &y->dz);
		mesh_move(n, i, MATRIX_W, true, COLL_ALLGATHER, &n->w[i]);
		mesh_product(n, i, false);
		mesh_keep(n, i, MATRIX_W, &n->w[i]);
		if (m.cube)
			mesh_keep(n, i, MATRIX_Y, &y->dz);
	}
	if (!l->first_reader || l->grid.first)
		return;
	mesh_move(n, i, MATRIX_X, true, COLL_REDUCESCATTER, &x->dx);
	mesh_keep(n, i, MATRIX_X, &x->x);
	struct blocks own_x = mesh_blocks(n, i, MATRIX_X, false);
	check_tensor(n, n->layers[i].in, &own_x, true);
}

static void run_mesh(const struct net_case *c, uint64_t seed)
{
	struct net *n = mem_alloc(1, sizeof(*n));
	net_begin(n, c, seed);
	struct blocks x = mesh_blocks(n, 0, MATRIX_X, false);
	matrix_put(&n->tensors[0].x, &x, n->tensors[0].want_x);
	for (uint32_t i = 0; i < n->n_layers; i++) {
		struct blocks w = mesh_blocks(n, i, MATRIX_W, false);
		matrix_put(&n->w[i], &w, n->want_w[i]);
	}
	for (uint32_t i = 0; i < n->n_layers; i++)
		mesh_forward(n, i);
	for (uint32_t i = n->n_layers; i-- > 0;)
		mesh_backward(n, i);
	struct blocks y = mesh_blocks(n, n->n_layers - 1, MATRIX_Y, false);
	check_tensor(n, n->n_tensors - 1, &y, false);
	net_end(n);
	free(n);
}

/* `parts` of the group's rows are one device's. */
static void run_meshes(const char *scheme, const uint32_t (*shapes)[3], size_t n, uint32_t seeds)
{
	for (size_t k = 0; k < seeds * n; k++) {
		const uint32_t *shape = shapes[k / seeds];
		struct net_case c = case_of(scheme, shape[0], shape[1]);
		c.depth = shape[2];
		c.even = k % 2 == 0;
		c.first = k / 2 % 2 == 0;
		c.tokens = 1 + (c.even ? 0 : k % 2);
		c.batch = c.pr * c.pc + (c.even ? 0 : k % 4);
		run_mesh(&c, k);
	}
}

static void test_summa(void)
{
	static const uint32_t shapes[][3] = {{4, 1, 0}, {4, 2, 0}, {4, 3, 0}, {9, 1, 0}, {9, 2, 0}};
	run_meshes("summa-2d", shapes, sizeof(shapes) / sizeof(*shapes), 4);
}

static void test_tesseract(void)
{
	static const uint32_t shapes[][3] = {{8, 1, 0}, {8, 2, 2}, {8, 3, 0}, {18, 1, 2}};
	run_meshes("tesseract-2.5d", shapes, sizeof(shapes) / sizeof(*shapes), 4);
}

static void test_cube(void)
{
	static const uint32_t shapes[][3] = {{8, 1, 0}, {8, 2, 0}, {8, 3, 0}, {27, 1, 0}};
	run_meshes("cube-3d", shapes, sizeof(shapes) / sizeof(*shapes), 4);
}

/* Weights shared out as so many words: one row. */
static struct blocks zero_shards(const struct net *n, uint32_t layer, bool all)
{
	uint64_t words = n->described[layer].grid.weights;
	struct blocks b = {.cols = words};
	for (uint32_t p = 0; p < n->n_procs; p++) {
		b.of[p] = (struct block){0, 1, 0, words};
		if (!all)
			b.of[p] = block_cols(b.of[p], n->q.pr, rank_in_group(n, p));
	}
	return b;
}

static struct block zero_rows(const struct net *n, uint32_t p, uint32_t tensor)
{
	return block_rows(net_group(n, p, tensor), n->q.pr, rank_in_group(n, p));
}

static void zero_gather(struct net *n, uint32_t i, enum iteration_term term)
{
	struct blocks all = zero_shards(n, i, true);
	play_blocks(&n->player, &(struct step){i, term, COLL_ALLGATHER, n->q.pr}, &n->w[i], &all);
}

static void zero_drop(struct net *n, uint32_t i)
{
	struct blocks own = zero_shards(n, i, false);
	matrix_keep(&n->w[i], &own);
}

static void zero_forward(struct net *n, uint32_t i, bool shared)
{
	struct product product = net_product(n, i);
	struct block w = net_weights(n, i);
	if (shared)
		zero_gather(n, i, TERM_FORWARD);
	for (uint32_t p = 0; p < n->n_procs; p++) {
		struct block rows = zero_rows(n, p, n->layers[i].in);
		product_forward(&product, p, &w, rows.r0, rows.r1);
		spread_settle(product.y, p);
	}
	if (shared)
		zero_drop(n, i);
	if (net_last_writer(n, i))
		net_activate(n, n->layers[i].out);
}

static void zero_backward(struct net *n, uint32_t i, bool shared)
{
	struct net_tensor *x = &n->tensors[n->layers[i].in], *y = &n->tensors[n->layers[i].out];
	struct product product = net_product(n, i);
	struct block w = net_weights(n, i);
	struct blocks own = zero_shards(n, i, false);
	if (net_last_writer(n, i))
		net_derive(n, n->layers[i].out);
	if (shared)
		zero_gather(n, i, TERM_BACKWARD);
	for (uint32_t p = 0; p < n->n_procs; p++) {
		struct block rows = zero_rows(n, p, n->layers[i].in);
		product_dw(&product, &n->dw[i], &y->dz, p, &w, rows.r0, rows.r1);
		product_dx(&product, &x->dx, &y->dz, p, &w, rows.r0, rows.r1);
		if (n->described[i].first_reader)
			spread_settle(&x->dx, p);
	}
	play_blocks(&n->player, &(struct step){i, TERM_DW_ALL_REDUCE, COLL_REDUCESCATTER, n->q.pr},
		&n->dw[i], &own);
	reduce_gradient(n, i, n->q.pc, &own);
	if (shared)
		zero_drop(n, i);
}

/* The optimiser's step on what a device has of the gradients, and what all get of it. */
static void zero_finish(struct net *n, uint32_t i)
{
	uint64_t words = n->described[i].grid.weights;
	int64_t *want = arena_array(&n->a, words, int64_t);
	struct blocks all = zero_shards(n, i, true);
	zero_drop(n, i);
	for (uint64_t k = 0; k < words; k++) {
		want[k] = n->want_w[i][k] - n->want_dw[i][k];
		for (uint32_t p = 0; p < n->n_procs; p++)
			if (spread_holds(&n->w[i], p, k))
				spread_put(&n->w[i], p, k,
					spread_get(&n->w[i], p, k) - spread_get(&n->dw[i], p, k));
	}
	zero_gather(n, i, TERM_DW_ALL_REDUCE);
	struct wish w = blocks_wish(&all);
	matrix_check(&n->w[i], &w, want);
}

static void run_zero(const struct net_case *c, uint64_t seed, bool shared)
{
	struct net *n = mem_alloc(1, sizeof(*n));
	net_begin(n, c, seed);
	struct blocks rows[NET_MAX_LAYERS];
	for (uint32_t t = 0; t < n->n_tensors; t++) {
		rows[t].cols = n->tensors[t].features;
		for (uint32_t p = 0; p < n->n_procs; p++)
			rows[t].of[p] = zero_rows(n, p, t);
	}
	matrix_put(&n->tensors[0].x, &rows[0], n->tensors[0].want_x);
	for (uint32_t i = 0; i < n->n_layers; i++) {
		struct blocks w = zero_shards(n, i, !shared);
		matrix_put(&n->w[i], &w, n->want_w[i]);
	}
	for (uint32_t i = 0; i < n->n_layers; i++)
		zero_forward(n, i, shared);
	for (uint32_t i = n->n_layers; i-- > 0;)
		zero_backward(n, i, shared);
	for (uint32_t i = 0; i < n->n_layers && !shared; i++)
		zero_finish(n, i);
	check_tensor(n, n->n_tensors - 1, &rows[n->n_tensors - 1], false);
	for (uint32_t t = 0; t + 1 < n->n_tensors; t++)
		check_tensor(n, t, &rows[t], true);
	net_end(n);
	free(n);
}

static void run_zeros(const char *scheme, bool shared)
{
	for (size_t k = 0; k < 2 * N_GROUPS; k++) {
		const uint32_t *shape = group_shapes[k / 2];
		struct net_case c = case_of(scheme, shape[0], shape[1]);
		c.even = k % 2 == 0;
		c.tokens = 1 + k % 3;
		c.batch = c.pr * c.pc + (c.even ? 0 : k % 5);
		run_zero(&c, k, shared);
	}
}

static void test_fsdp(void)
{
	run_zeros("fsdp", true);
}

static void test_zero(void)
{
	run_zeros("zero-2", false);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"megatron", test_megatron},
		{"megatron-sp", test_megatron_sp},
		{"summa-2d", test_summa},
		{"tesseract-2.5d", test_tesseract},
		{"cube-3d", test_cube},
		{"fsdp and HSDP", test_fsdp},
		{"zero-2", test_zero},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_scheme_numeric", tests);
}
