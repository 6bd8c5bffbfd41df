/* Iterations of the schemes that share layers, executed with numbers: what moves is what the
 * schedule says, task by task, and the results are those of one device. */
#include <stdlib.h>

#include "numeric_net.h"
#include "suite.h"

static uint32_t rank_in_group(const struct net *n, uint32_t p)
{
	return net_coordinate(n, p, "pr");
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
	bool row = slice_of(m, i) == SLICE_ROW;
	if (m->slices && l->first_column)
		play_blocks(&n->player, &(struct step){i, TERM_FORWARD, COLL_ALLGATHER, pr},
			product.x, &rows);
	for (uint32_t p = 0; p < n->n_procs; p++)
		product_forward(&product, p, &w.of[p], rows.of[p].r0, rows.of[p].r1);
	if (m->slices && l->last_column)
		matrix_keep(product.x, &mine);
	enum coll_kind sums = m->slices ? COLL_REDUCESCATTER : COLL_ALLREDUCE;
	if (row)
		play_blocks(
			&n->player, &(struct step){i, TERM_FORWARD, sums, pr}, product.y, &whole);
	else
		net_settle(n, product.y);
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
	if (m->slices && l->last_column)
		play_blocks(&n->player, &(struct step){i, TERM_BACKWARD, COLL_ALLGATHER, pr},
			product.x, &rows);
	for (uint32_t p = 0; p < n->n_procs; p++)
		product_dw(&product, &n->dw[i], &y->dz, p, &w.of[p], rows.of[p].r0, rows.of[p].r1);
	net_reduce_gradient(n, i, m->slices && none ? pr * n->q.pc : n->q.pc, &w);
	if (l->grid.first)
		return;
	/* On top of what column layers made. */
	for (uint32_t p = 0; p < n->n_procs && none; p++)
		spread_open(&x->dx, p);
	for (uint32_t p = 0; p < n->n_procs; p++)
		product_dx(&product, &x->dx, &y->dz, p, &w.of[p], rows.of[p].r0, rows.of[p].r1);
	enum coll_kind sums = m->slices ? COLL_REDUCESCATTER : COLL_ALLREDUCE;
	if (l->first_column)
		play_blocks(&n->player, &(struct step){i, TERM_BACKWARD, sums, pr}, &x->dx, &mine);
	if (!column)
		net_settle(n, &x->dx);
	if (slice_of(m, i) != SLICE_ROW && l->first_reader)
		net_check(n, in, &mine, true);
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
	net_check(&m->n, m->n.n_tensors - 1, &last, false);
	net_end(&m->n);
	free(m);
}

static const uint32_t group_shapes[][2] = {{2, 1}, {2, 2}, {4, 1}, {3, 2}, {3, 5}, {6, 2}, {5, 1}};
enum { N_GROUPS = sizeof(group_shapes) / sizeof(*group_shapes) };

/* A layer that is not split, and a pair beside it. */
static const struct net_layer beside[] = {{0, 1, SLICE_COLUMN}, {1, 2, SLICE_ROW},
	{2, 4, SLICE_NONE}, {2, 3, SLICE_COLUMN}, {2, 3, SLICE_COLUMN}, {3, 4, SLICE_ROW},
	{4, 5, SLICE_COLUMN}};

static void test_beside(void)
{
	for (uint32_t k = 0; k < 2 * N_GROUPS; k++) {
		bool slices = k % 2;
		struct net_case c = net_case_of(slices ? "megatron-sp" : "megatron",
			group_shapes[k / 2][0], group_shapes[k / 2][1]);
		c.layers = beside;
		c.n_layers = sizeof(beside) / sizeof(*beside);
		c.even = k % 4 < 2;
		c.tokens = c.pr;
		c.batch = c.pc;
		run_megatron(&c, k, slices);
	}
}

static void test_megatron(void)
{
	for (size_t k = 0; k < 4 * N_GROUPS; k++) {
		const uint32_t *shape = group_shapes[k / 4];
		struct net_case c = net_case_of("megatron", shape[0], shape[1]);
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
		struct net_case c = net_case_of("megatron-sp", shape[0], shape[1]);
		c.even = k % 2 == 0;
		c.first = k / 2 % 2 == 0;
		c.tokens = c.pr * (1 + k % 2);
		c.batch = c.even ? c.pc : c.pc + k % (2 * c.pc);
		run_megatron(&c, k, true);
	}
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
	net_reduce_gradient(n, i, n->q.pc, &own);
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
	net_check(n, n->n_tensors - 1, &rows[n->n_tensors - 1], false);
	for (uint32_t t = 0; t + 1 < n->n_tensors; t++)
		net_check(n, t, &rows[t], true);
	net_end(n);
	free(n);
}

static void run_zeros(const char *scheme, bool shared)
{
	for (size_t k = 0; k < 2 * N_GROUPS; k++) {
		const uint32_t *shape = group_shapes[k / 2];
		struct net_case c = net_case_of(scheme, shape[0], shape[1]);
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
		{"a pair beside a layer that is not split", test_beside},
		{"fsdp and HSDP", test_fsdp},
		{"zero-2", test_zero},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_scheme_numeric", tests);
}
