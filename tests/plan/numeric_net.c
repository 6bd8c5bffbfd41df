#include "numeric_net.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

uint64_t net_inputs(const struct net *n, uint32_t layer)
{
	return n->tensors[n->layers[layer].in].features;
}

uint64_t net_outputs(const struct net *n, uint32_t layer)
{
	return n->tensors[n->layers[layer].out].features;
}

uint32_t net_coordinate(const struct net *n, uint32_t p, const char *dim)
{
	const struct prog_grid *g = &n->player.it.prog.grid;
	for (uint32_t d = 0; d < g->n_dims; d++)
		if (strcmp(g->names[d], dim) == 0)
			return prog_coord(g, p, d);
	return 0;
}

struct block net_group(const struct net *n, uint32_t p, uint32_t tensor)
{
	uint64_t rows = n->rows / n->q.pc, from = net_coordinate(n, p, "pc") * rows;
	return (struct block){from, from + rows, 0, n->tensors[tensor].features};
}

struct block net_weights(const struct net *n, uint32_t layer)
{
	return (struct block){0, net_inputs(n, layer), 0, net_outputs(n, layer)};
}

struct product net_product(struct net *n, uint32_t layer)
{
	return (struct product){.x = &n->tensors[n->layers[layer].in].x,
		.w = &n->w[layer],
		.y = &n->y[layer],
		.inputs = net_inputs(n, layer),
		.outputs = net_outputs(n, layer)};
}

static bool reads_same(
	const struct net *n, uint32_t layer, uint32_t from, uint32_t end, bool columns)
{
	for (uint32_t i = from; i < end; i++)
		if (n->layers[i].in == n->layers[layer].in &&
			(!columns || n->layers[i].slice == SLICE_COLUMN))
			return true;
	return false;
}

bool net_last_writer(const struct net *n, uint32_t layer)
{
	for (uint32_t i = layer + 1; i < n->n_layers; i++)
		if (n->layers[i].out == n->layers[layer].out)
			return false;
	return true;
}

static void describe_layer(struct net *n, const struct net_case *c, uint32_t i)
{
	const struct net_layer *l = &n->layers[i];
	uint32_t inputs = n->tensors[l->in].features, outputs = n->tensors[l->out].features;
	uint32_t depth = 1;
	bool column = l->slice == SLICE_COLUMN;
	for (uint32_t k = 0; k < i; k++)
		if (n->layers[k].out == l->in)
			depth = n->described[k].depth + 1;
	n->described[i] = (struct scheme_layer){
		.grid = {.name = arena_printf(&n->a, "fc%u", i),
			.weights = (uint64_t)inputs * outputs,
			.d_in = c->tokens * inputs,
			.d_out = c->tokens * outputs,
			.outputs = outputs,
			.first = c->first && l->in == 0},
		.in_features = inputs,
		.banks = 1,
		.depth = depth,
		.first_reader = !reads_same(n, i, 0, i, false),
		.last_reader = !reads_same(n, i, i + 1, n->n_layers, false),
		.slice = l->slice,
		.first_column = column && !reads_same(n, i, 0, i, true),
		.last_column = column && !reads_same(n, i, i + 1, n->n_layers, true),
		.column_in = c->tokens * inputs,
		.row_out = c->tokens * outputs,
	};
}

static int64_t *random_values(struct net *n, uint64_t count)
{
	int64_t *values = arena_array(&n->a, count, int64_t);
	for (uint64_t i = 0; i < count; i++)
		values[i] = numeric_small(&n->rng);
	return values;
}

static void add_arrays(struct net *n)
{
	struct arena *a = &n->a;
	for (uint32_t t = 0; t < n->n_tensors; t++) {
		struct net_tensor *at = &n->tensors[t];
		uint64_t size = n->rows * at->features;
		at->x = spread_new(a, "x", n->n_procs, size);
		at->z = spread_new(a, "z", n->n_procs, size);
		at->dx = spread_new(a, "dx", n->n_procs, size);
		at->dz = spread_new(a, "dz", n->n_procs, size);
		at->want_z = arena_array(a, size, int64_t);
		at->want_x = t == 0 ? random_values(n, size) : arena_array(a, size, int64_t);
		at->want_dx = t + 1 == n->n_tensors ? random_values(n, size)
						    : arena_array(a, size, int64_t);
	}
	for (uint32_t i = 0; i < n->n_layers; i++) {
		uint64_t weights = n->described[i].grid.weights;
		n->w[i] = spread_new(a, "w", n->n_procs, weights);
		n->dw[i] = spread_new(a, "dw", n->n_procs, weights);
		n->y[i] = spread_new(a, "y", n->n_procs, n->rows * net_outputs(n, i));
		n->want_w[i] = random_values(n, weights);
		n->want_dw[i] = arena_array(a, weights, int64_t);
	}
}

static int64_t sign_of(int64_t value)
{
	return value < 0 ? -1 : value > 0;
}

/* All terms of a layer: of z, or of dx and dw. */
static void serial_terms(struct net *n, uint32_t i, bool forward)
{
	struct net_tensor *x = &n->tensors[n->layers[i].in], *y = &n->tensors[n->layers[i].out];
	for (uint64_t r = 0; r < n->rows; r++)
		for (uint64_t k = 0; k < n->described[i].grid.weights; k++) {
			uint64_t in = r * x->features + k / y->features,
				 out = r * y->features + k % y->features;
			if (forward) {
				y->want_z[out] += x->want_x[in] * n->want_w[i][k];
				continue;
			}
			int64_t dz = sign_of(y->want_z[out]) * y->want_dx[out];
			x->want_dx[in] += dz * n->want_w[i][k];
			n->want_dw[i][k] += dz * x->want_x[in];
		}
}

static void run_serially(struct net *n)
{
	for (uint32_t i = 0; i < n->n_layers; i++) {
		struct net_tensor *out = &n->tensors[n->layers[i].out];
		serial_terms(n, i, true);
		for (uint64_t k = 0; k < n->rows * out->features; k++)
			out->want_x[k] = out->want_z[k] < 0 ? -out->want_z[k] : out->want_z[k];
	}
	for (uint32_t i = n->n_layers; i-- > 0;)
		serial_terms(n, i, false);
}

void net_begin(struct net *n, const struct net_case *c, uint64_t seed)
{
	struct err err = {0};
	*n = (struct net){.layers = c->layers, .n_layers = c->n_layers};
	rng_init(&n->rng, seed);
	for (uint32_t i = 0; i < c->n_layers; i++)
		if (c->layers[i].out >= n->n_tensors)
			n->n_tensors = c->layers[i].out + 1;
	for (uint32_t t = 0; t < n->n_tensors; t++)
		n->tensors[t].features = c->even ? c->pr * (1 + numeric_random(&n->rng, 2))
						 : c->pr + numeric_random(&n->rng, 5);
	for (uint32_t i = 0; i < c->n_layers; i++)
		describe_layer(n, c, i);
	n->model = (struct scheme_model){.name = "net",
		.layers = n->described,
		.n_layers = c->n_layers,
		.tokens_per_sample = c->tokens};
	n->q = (struct scheme_question){.model = &n->model,
		.batch = c->batch,
		.pr = c->pr,
		.pc = c->pc,
		.depth = c->depth,
		.word_bytes = 2,
		.pc_fastest = numeric_random(&n->rng, 2)};
	n->rows = div_ceil(c->batch, c->pc) * c->pc * c->tokens;
	n->n_procs = c->pr * c->pc;
	n->player = (struct player){.a = &n->a, .even = c->even, .word_bytes = 2};
	n->scheme = scheme_find(c->scheme, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(n->scheme);
	bool made = scheme_schedule(&n->a, n->scheme, &n->q, &n->player.it, &err);
	if (!made)
		printf("\n%s: %s", c->scheme, err.text);
	CU_ASSERT_TRUE_FATAL(made);
	CU_ASSERT_TRUE(prog_check(&n->player.it.prog, &err));
	CU_ASSERT_EQUAL_FATAL(prog_n_ranks(&n->player.it.prog), n->n_procs);
	add_arrays(n);
	run_serially(n);
}

void net_end(struct net *n)
{
	play_end(&n->player);
	arena_free(&n->a);
}

void net_activate(struct net *n, uint32_t tensor)
{
	struct net_tensor *t = &n->tensors[tensor];
	for (uint32_t p = 0; p < n->n_procs; p++)
		for (uint64_t k = 0; k < t->z.n; k++) {
			int64_t sum = 0;
			bool held = true;
			for (uint32_t i = 0; i < n->n_layers && held; i++) {
				if (n->layers[i].out != tensor)
					continue;
				held = spread_holds(&n->y[i], p, k);
				sum += held ? spread_get(&n->y[i], p, k) : 0;
			}
			if (!held)
				continue;
			spread_put(&t->z, p, k, sum);
			spread_put(&t->x, p, k, sum < 0 ? -sum : sum);
		}
}

void net_derive(struct net *n, uint32_t tensor)
{
	struct net_tensor *t = &n->tensors[tensor];
	bool last = tensor + 1 == n->n_tensors;
	for (uint32_t p = 0; p < n->n_procs; p++)
		for (uint64_t k = 0; k < t->z.n; k++) {
			if (!spread_holds(&t->z, p, k) || (!last && !spread_holds(&t->dx, p, k)))
				continue;
			int64_t dx = last ? t->want_dx[k] : spread_get(&t->dx, p, k);
			spread_put(&t->dz, p, k, sign_of(spread_get(&t->z, p, k)) * dx);
		}
}

void net_reduce_gradient(struct net *n, uint32_t layer, uint32_t n_ranks, const struct blocks *has)
{
	struct step s = {layer, TERM_DW_ALL_REDUCE, COLL_ALLREDUCE, n_ranks};
	for (uint32_t p = 0; p < n->n_procs; p++)
		spread_open(&n->dw[layer], p);
	play_blocks(&n->player, &s, &n->dw[layer], has);
	struct wish w = blocks_wish(has);
	matrix_check(&n->dw[layer], &w, n->want_dw[layer]);
}

void net_check(const struct net *n, uint32_t tensor, const struct blocks *has, bool back)
{
	const struct net_tensor *t = &n->tensors[tensor];
	struct wish w = blocks_wish(has);
	matrix_check(back ? &t->dx : &t->x, &w, back ? t->want_dx : t->want_x);
}

void net_settle(struct net *n, struct spread *s)
{
	for (uint32_t p = 0; p < n->n_procs; p++)
		spread_settle(s, p);
}

/* Two readers and two writers of a pair, a layer that is not split, and one before the loss. */
static const struct net_layer pairs[] = {{0, 1, SLICE_COLUMN}, {0, 1, SLICE_COLUMN},
	{1, 2, SLICE_ROW}, {2, 3, SLICE_NONE}, {3, 4, SLICE_COLUMN}, {4, 5, SLICE_ROW},
	{5, 6, SLICE_COLUMN}};
enum { N_PAIRS = sizeof(pairs) / sizeof(*pairs) };

struct net_case net_case_of(const char *scheme, uint32_t pr, uint32_t pc)
{
	return (struct net_case){
		.scheme = scheme, .pr = pr, .pc = pc, .layers = pairs, .n_layers = N_PAIRS};
}
