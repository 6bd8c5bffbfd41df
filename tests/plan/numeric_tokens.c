#include "numeric_tokens.h"

#include <stdio.h>

#include "suite.h"

static uint32_t tokens_group(const struct tokens *t, uint32_t p)
{
	return t->q.pc_fastest ? p % t->q.pc : p / t->q.pr;
}

uint32_t tokens_rank(const struct tokens *t, uint32_t p)
{
	return t->q.pc_fastest ? p / t->q.pc : p % t->q.pr;
}

struct block tokens_group_rows(const struct tokens *t, uint32_t p, uint64_t cols, uint64_t per)
{
	uint64_t rows = t->rows / t->q.pc * per, from = tokens_group(t, p) * rows;
	return (struct block){from, from + rows, 0, cols};
}

struct blocks tokens_rows(const struct tokens *t, uint64_t cols, uint64_t per, bool own)
{
	struct blocks b = {.cols = cols};
	for (uint32_t p = 0; p < t->n_procs; p++) {
		b.of[p] = tokens_group_rows(t, p, cols, per);
		if (own)
			b.of[p] = block_rows(b.of[p], t->q.pr, tokens_rank(t, p));
	}
	return b;
}

static struct product product_of(struct tokens *t, uint32_t layer)
{
	return (struct product){
		&t->x[layer], &t->w[layer], &t->y[layer], t->inputs[layer], t->outputs[layer]};
}

void tokens_dense_forward(struct tokens *t, uint32_t layer)
{
	struct product m = product_of(t, layer);
	struct block w = {0, m.inputs, 0, m.outputs};
	struct blocks rows = tokens_rows(t, m.inputs, 1, true);
	for (uint32_t p = 0; p < t->n_procs; p++) {
		product_forward(&m, p, &w, rows.of[p].r0, rows.of[p].r1);
		spread_settle(m.y, p);
	}
}

void tokens_dense_backward(struct tokens *t, uint32_t layer)
{
	struct product m = product_of(t, layer);
	struct blocks w = {.cols = m.outputs}, rows = tokens_rows(t, m.inputs, 1, true);
	for (uint32_t p = 0; p < t->n_procs; p++) {
		w.of[p] = (struct block){0, m.inputs, 0, m.outputs};
		uint64_t r0 = rows.of[p].r0, r1 = rows.of[p].r1;
		product_dw(&m, &t->dw[layer], &t->dy[layer], p, &w.of[p], r0, r1);
		product_dx(&m, &t->dx[layer], &t->dy[layer], p, &w.of[p], r0, r1);
		spread_settle(&t->dx[layer], p);
	}
	play_blocks(&t->player,
		&(struct step){layer, TERM_DW_ALL_REDUCE, COLL_ALLREDUCE, t->n_procs},
		&t->dw[layer], &w);
}

void tokens_settle(struct tokens *t, struct spread *s)
{
	for (uint32_t p = 0; p < t->n_procs; p++)
		spread_settle(s, p);
}

struct blocks tokens_bank(const struct tokens *t, uint32_t layer)
{
	struct blocks b = {.cols = t->outputs[layer]};
	for (uint32_t p = 0; p < t->n_procs; p++)
		b.of[p] = block_rows(
			(struct block){0, t->n_experts * t->inputs[layer], 0, t->outputs[layer]},
			t->q.pr, tokens_rank(t, p));
	return b;
}

static void describe(struct tokens *t, uint64_t positions)
{
	for (uint32_t i = 0; i < TOKENS_LAYERS; i++) {
		bool bank = t->n_experts > 0 && (i == 1 || i == 2);
		uint64_t per = bank ? t->routes : 1, banks = bank ? t->n_experts : 1;
		t->layers[i] = (struct scheme_layer){
			.grid = {.name = arena_printf(&t->a, "layer%u", i),
				.weights = banks * t->inputs[i] * t->outputs[i],
				.d_in = positions * per * t->inputs[i],
				.d_out = positions * per * t->outputs[i],
				.outputs = (uint32_t)t->outputs[i]},
			.in_features = (uint32_t)t->inputs[i],
			.banks = (uint32_t)banks,
			.depth = 1,
			.first_reader = true,
			.last_reader = true,
		};
	}
	t->model = (struct scheme_model){.name = "tokens",
		.layers = t->layers,
		.n_layers = TOKENS_LAYERS,
		.tokens_per_sample = positions};
	if (t->n_experts > 0) {
		struct scheme_experts e = {
			1, 2, t->n_experts, positions * t->routes * t->inputs[1]};
		struct scheme_experts *list = arena_new(&t->a, struct scheme_experts);
		*list = e;
		t->model.experts = list;
		t->model.n_experts = 1;
		return;
	}
	struct scheme_attention *at = arena_new(&t->a, struct scheme_attention);
	*at = (struct scheme_attention){2, t->heads, t->kv_heads, positions * t->outputs[0],
		positions * t->outputs[1], positions * t->outputs[2], positions * t->inputs[3],
		positions, positions};
	t->model.attentions = at;
	t->model.n_attentions = 1;
}

static void add_arrays(struct tokens *t)
{
	for (uint32_t i = 0; i < TOKENS_LAYERS; i++) {
		const struct grid_layer *l = &t->layers[i].grid;
		bool bank = t->layers[i].banks > 1;
		uint64_t rows = t->rows * (bank ? t->routes : 1);
		uint32_t n = t->n_procs;
		t->x[i] = spread_new(&t->a, "x", n, rows * t->inputs[i]);
		t->dx[i] = spread_new(&t->a, "dx", n, rows * t->inputs[i]);
		t->y[i] = spread_new(&t->a, "y", n, rows * t->outputs[i]);
		t->dy[i] = spread_new(&t->a, "dy", n, rows * t->outputs[i]);
		t->w[i] = spread_new(&t->a, "w", n, l->weights);
		t->dw[i] = spread_new(&t->a, "dw", n, l->weights);
	}
}

/* The same values whatever the devices: of the inputs, the weights and the last gradient. */
static void fill(struct tokens *t, uint64_t seed)
{
	uint32_t inputs = t->n_experts > 0 ? 1 : 3;
	int64_t *values = NULL;
	struct rng rng;
	rng_init(&rng, seed);
	for (uint32_t i = 0; i < TOKENS_LAYERS; i++) {
		struct blocks w = {.cols = t->w[i].n};
		if (t->layers[i].banks > 1)
			w = tokens_bank(t, i);
		for (uint32_t p = 0; p < t->n_procs && t->layers[i].banks == 1; p++)
			w.of[p] = (struct block){0, 1, 0, t->w[i].n};
		values = arena_array(&t->a, t->w[i].n, int64_t);
		for (uint64_t k = 0; k < t->w[i].n; k++)
			values[k] = numeric_small(&rng);
		matrix_put(&t->w[i], &w, values);
	}
	struct blocks x = tokens_rows(t, t->inputs[0], 1, true),
		      y = tokens_rows(t, t->outputs[3], 1, true);
	values = arena_array(&t->a, t->x[0].n, int64_t);
	for (uint64_t k = 0; k < t->x[0].n; k++)
		values[k] = numeric_small(&rng);
	for (uint32_t i = 0; i < inputs; i++)
		matrix_put(&t->x[i], &x, values);
	values = arena_array(&t->a, t->dy[3].n, int64_t);
	for (uint64_t k = 0; k < t->dy[3].n; k++)
		values[k] = numeric_small(&rng);
	matrix_put(&t->dy[3], &y, values);
}

void tokens_begin(struct tokens *t, const struct tokens_case *c, bool alone, uint64_t seed)
{
	struct err err = {0};
	*t = (struct tokens){.heads = c->heads,
		.kv_heads = c->kv_heads,
		.q_size = 2,
		.v_size = 3,
		.n_experts = c->n_experts,
		.routes = c->routes,
		.by_heads = !alone && c->scheme[0] == 'u'};
	uint64_t f = 4,
		 attention[][2] = {{f, 2 * c->heads}, {f, 2 * c->kv_heads}, {f, 3 * c->kv_heads},
			 {3 * c->heads, 5}},
		 experts[][2] = {{3, f}, {f, 5}, {5, f}, {f, 3}};
	for (uint32_t i = 0; i < TOKENS_LAYERS; i++) {
		t->inputs[i] = c->n_experts > 0 ? experts[i][0] : attention[i][0];
		t->outputs[i] = c->n_experts > 0 ? experts[i][1] : attention[i][1];
	}
	describe(t, c->positions);
	t->q = (struct scheme_question){.model = &t->model,
		.batch = c->batch,
		.pr = c->pr,
		.pc = c->pc,
		.word_bytes = 2,
		.pc_fastest = seed % 2};
	t->samples = (uint32_t)div_ceil(c->batch, c->pc);
	t->rows = t->samples * c->pc * c->positions;
	t->n_procs = c->pr * c->pc;
	t->player = (struct player){.a = &t->a, .even = true, .word_bytes = 2};
	const struct scheme *s = scheme_find(c->scheme, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	if (!alone) {
		bool made = scheme_schedule(&t->a, s, &t->q, &t->player.it, &err);
		if (!made)
			printf("\n%s: %s", c->scheme, err.text);
		CU_ASSERT_TRUE_FATAL(made);
		CU_ASSERT_TRUE(prog_check(&t->player.it.prog, &err));
	}
	t->group = t->samples * c->positions;
	if (alone)
		t->n_procs = t->q.pr = t->q.pc = 1;
	add_arrays(t);
	fill(t, seed);
}

void tokens_compare(const struct tokens *t, const struct tokens *alone)
{
	for (uint32_t i = 0; i < TOKENS_LAYERS; i++) {
		bool bank = t->layers[i].banks > 1;
		struct blocks w = bank ? tokens_bank(t, i) : (struct blocks){.cols = t->w[i].n};
		for (uint32_t p = 0; p < t->n_procs && !bank; p++)
			w.of[p] = (struct block){0, 1, 0, t->w[i].n};
		struct wish want_w = blocks_wish(&w);
		matrix_check(&t->dw[i], &want_w, alone->dw[i].values);
		struct blocks x = tokens_rows(t, t->inputs[i], 1, true);
		struct wish want_x = blocks_wish(&x);
		if (!bank)
			matrix_check(&t->dx[i], &want_x, alone->dx[i].values);
	}
	struct blocks y = tokens_rows(t, t->outputs[3], 1, true);
	struct wish want_y = blocks_wish(&y);
	matrix_check(&t->y[3], &want_y, alone->y[3].values);
}
