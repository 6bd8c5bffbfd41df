/* Iterations of the schemes that share products on a mesh, executed with numbers: squares, copies of
 * squares and cubes. */
#include <stdlib.h>

#include "numeric_net.h"
#include "plan/scheme_internal.h"
#include "suite.h"

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
		net_settle(n, product.y);
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
	net_reduce_gradient(n, i, m.d * n->q.pc, &own_w);
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
	net_check(n, n->layers[i].in, &own_x, true);
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
	net_check(n, n->n_tensors - 1, &y, false);
	net_end(n);
	free(n);
}

/* `parts` of the group's rows are one device's. */
static void run_meshes(const char *scheme, const uint32_t (*shapes)[3], size_t n, uint32_t seeds)
{
	for (size_t k = 0; k < seeds * n; k++) {
		const uint32_t *shape = shapes[k / seeds];
		struct net_case c = net_case_of(scheme, shape[0], shape[1]);
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

int main(void)
{
	CU_TestInfo tests[] = {
		{"summa-2d", test_summa},
		{"tesseract-2.5d", test_tesseract},
		{"cube-3d", test_cube},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_scheme_numeric_mesh", tests);
}
