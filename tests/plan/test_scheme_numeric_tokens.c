/* Iterations of the schemes that share sequences or experts, executed with numbers: attention is a
 * softmax-free (q k) v, experts take the tokens that are theirs. The serial result is that of one
 * device with everything. */
#include <stdlib.h>

#include "numeric_tokens.h"
#include "suite.h"

static struct blocks head_columns(const struct tokens *t, uint64_t cols)
{
	struct blocks b = tokens_rows(t, cols, 1, false);
	for (uint32_t p = 0; p < t->n_procs; p++)
		b.of[p] = block_cols(b.of[p], t->q.pr, tokens_rank(t, p));
	return b;
}

/* Rows of the same sample: positions follow one another, each with all samples of the group. */
struct attention {
	struct tokens *t;
	uint32_t p;
	uint32_t h0, h1;
};

static uint64_t query_at(const struct tokens *t, uint64_t row, uint32_t head)
{
	return (row * t->heads + head) * t->q_size;
}

static uint64_t kv_at(const struct tokens *t, uint64_t row, uint32_t head, uint32_t size)
{
	uint32_t shared = t->heads / t->kv_heads;
	return (row * t->kv_heads + head / shared) * size;
}

static uint64_t out_at(const struct tokens *t, uint64_t row, uint32_t head)
{
	return (row * t->heads + head) * t->v_size;
}

static int64_t dot(const struct spread *a, uint64_t at, const struct spread *b, uint64_t bt,
	uint32_t n, uint32_t p)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += spread_get(a, p, at + i) * spread_get(b, p, bt + i);
	return sum;
}

static void add_scaled(struct spread *to, uint64_t at, const struct spread *of, uint64_t from,
	int64_t by, const struct attention *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		spread_add(to, e->p, at + i, by * spread_get(of, e->p, from + i));
}

/* x[3], or the gradients of y[0] to y[2], from one query row and one row of keys and values. */
static void attend_pair(const struct attention *e, uint64_t r, uint64_t s, bool forward)
{
	struct tokens *t = e->t;
	struct spread *q = &t->y[0], *k = &t->y[1], *v = &t->y[2];
	for (uint32_t h = e->h0; h < e->h1; h++) {
		uint64_t iq = query_at(t, r, h), ik = kv_at(t, s, h, t->q_size),
			 iv = kv_at(t, s, h, t->v_size), io = out_at(t, r, h);
		int64_t score = dot(q, iq, k, ik, t->q_size, e->p);
		if (forward) {
			add_scaled(&t->x[3], io, v, iv, score, e, t->v_size);
			continue;
		}
		int64_t grad = dot(&t->dx[3], io, v, iv, t->v_size, e->p);
		add_scaled(&t->dy[2], iv, &t->dx[3], io, score, e, t->v_size);
		add_scaled(&t->dy[0], iq, k, ik, grad, e, t->q_size);
		add_scaled(&t->dy[1], ik, q, iq, grad, e, t->q_size);
	}
}

/* Of the sample's rows. */
static uint64_t first_of(const struct tokens *t, uint64_t row)
{
	return row - row % t->group + row % t->group % t->samples;
}

/* All pairs of a device's queries with the keys of their sample. */
static void attend(struct tokens *t, bool forward)
{
	for (uint32_t p = 0; p < t->n_procs; p++) {
		struct block group = tokens_group_rows(t, p, 1, 1), rows = group;
		struct attention e = {t, p, 0, t->heads};
		if (t->by_heads) {
			e.h0 = t->heads / t->q.pr * tokens_rank(t, p);
			e.h1 = e.h0 + t->heads / t->q.pr;
		} else {
			rows = block_rows(group, t->q.pr, tokens_rank(t, p));
		}
		for (uint64_t r = rows.r0; r < rows.r1; r++)
			for (uint64_t s = first_of(t, r); s < first_of(t, r) + t->group;
				s += t->samples)
				attend_pair(&e, r, s, forward);
	}
}

static void play_attention(struct tokens *t, bool forward, enum coll_kind kind, struct spread *s,
	const struct blocks *to)
{
	play_blocks(&t->player,
		&(struct step){2, forward ? TERM_FORWARD : TERM_BACKWARD, kind, t->q.pr}, s, to);
}

/* Keys and values, or their gradients, in one collective. */
static void play_keys(struct tokens *t, bool forward, enum coll_kind kind, bool gradients)
{
	bool own = kind == COLL_REDUCESCATTER;
	struct blocks k = tokens_rows(t, t->outputs[1], 1, own),
		      v = tokens_rows(t, t->outputs[2], 1, own);
	struct spread *of[] = {gradients ? &t->dy[1] : &t->y[1], gradients ? &t->dy[2] : &t->y[2]};
	struct wish wishes[] = {blocks_wish(&k), blocks_wish(&v)};
	play(&t->player, &(struct step){2, forward ? TERM_FORWARD : TERM_BACKWARD, kind, t->q.pr},
		of, wishes, 2);
}

/* Devices keep the keys and values of their own rows. */
static void drop_keys(struct tokens *t)
{
	for (uint32_t i = 1; i < 3; i++) {
		struct blocks own = tokens_rows(t, t->outputs[i], 1, true);
		matrix_keep(&t->y[i], &own);
	}
}

static void attention_forward(struct tokens *t)
{
	for (uint32_t i = 0; i < 3; i++)
		tokens_dense_forward(t, i);
	for (uint32_t i = 0; i < 3 && t->by_heads; i++) {
		struct blocks heads = head_columns(t, t->outputs[i]);
		play_attention(t, true, COLL_ALLTOALL, &t->y[i], &heads);
		matrix_keep(&t->y[i], &heads);
	}
	if (!t->by_heads)
		play_keys(t, true, COLL_ALLGATHER, false);
	attend(t, true);
	tokens_settle(t, &t->x[3]);
	struct blocks own = tokens_rows(t, t->inputs[3], 1, true);
	if (t->by_heads)
		play_attention(t, true, COLL_ALLTOALL, &t->x[3], &own);
	else if (t->q.pr > 1)
		drop_keys(t);
	tokens_dense_forward(t, 3);
}

static void attention_backward(struct tokens *t)
{
	struct blocks heads = head_columns(t, t->inputs[3]);
	tokens_dense_backward(t, 3);
	if (t->by_heads)
		play_attention(t, false, COLL_ALLTOALL, &t->dx[3], &heads);
	else
		play_keys(t, false, COLL_ALLGATHER, false);
	attend(t, false);
	tokens_settle(t, &t->dy[0]);
	if (!t->by_heads)
		play_keys(t, false, COLL_REDUCESCATTER, true);
	for (uint32_t i = 0; i < 3 && t->by_heads; i++) {
		struct blocks own = tokens_rows(t, t->outputs[i], 1, true);
		tokens_settle(t, &t->dy[i]);
		play_attention(t, false, COLL_ALLTOALL, &t->dy[i], &own);
	}
	for (uint32_t i = 3; i-- > 0;)
		tokens_dense_backward(t, i);
}

/* Experts: layers 1 and 2 are banks, between a layer in front and one behind. A token's row has
 * `routes` rows of its own there. */
static uint32_t expert_of(const struct tokens *t, uint64_t routed)
{
	return (uint32_t)((routed / t->routes + routed % t->routes) % t->n_experts);
}

struct dispatch {
	const struct tokens *t;
	uint64_t cols;
};

static bool wants_routed(const void *what, uint32_t p, uint64_t i)
{
	const struct dispatch *d = what;
	const struct tokens *t = d->t;
	uint64_t row = i / d->cols;
	struct block group = tokens_group_rows(t, p, d->cols, t->routes);
	return row >= group.r0 && row < group.r1 &&
	       expert_of(t, row) * t->q.pr / t->n_experts == tokens_rank(t, p);
}

/* Rows to where their experts are, or back to their tokens. */
static void cross(struct tokens *t, uint32_t layer, bool forward, bool out, struct spread *s)
{
	uint64_t cols = s->n / t->rows / t->routes;
	struct dispatch d = {t, cols};
	struct blocks own = tokens_rows(t, cols, t->routes, true);
	struct wish w = out ? (struct wish){wants_routed, &d} : blocks_wish(&own);
	play(&t->player,
		&(struct step){
			layer, forward ? TERM_FORWARD : TERM_BACKWARD, COLL_ALLTOALL, t->q.pr},
		&s, &w, 1);
}

/* One row for each route of a token, on its own device. */
static void spread_out(const struct tokens *t, const struct spread *from, struct spread *to)
{
	uint64_t cols = from->n / t->rows;
	for (uint32_t p = 0; p < t->n_procs; p++)
		for (uint64_t i = 0; i < to->n; i++) {
			uint64_t k = i / cols / t->routes * cols + i % cols;
			if (spread_holds(from, p, k))
				spread_put(to, p, i, spread_get(from, p, k));
		}
}

static void add_up(struct tokens *t, const struct spread *from, struct spread *to)
{
	uint64_t cols = to->n / t->rows;
	struct blocks own = tokens_rows(t, cols, t->routes, true);
	struct wish w = blocks_wish(&own);
	for (uint32_t p = 0; p < t->n_procs; p++) {
		for (uint64_t i = 0; i < from->n; i++)
			if (w.wants(w.what, p, i))
				spread_add(to, p, i / cols / t->routes * cols + i % cols,
					spread_get(from, p, i));
		spread_settle(to, p);
	}
}

static void bank_run(struct tokens *t, uint32_t layer, bool forward)
{
	uint64_t in = t->inputs[layer], out = t->outputs[layer];
	struct dispatch d = {t, 1};
	for (uint32_t p = 0; p < t->n_procs; p++)
		for (uint64_t r = 0; r < t->rows * t->routes; r++) {
			if (!wants_routed(&d, p, r))
				continue;
			for (uint64_t k = 0; k < in * out; k++) {
				uint64_t x = r * in + k / out, y = r * out + k % out,
					 w = expert_of(t, r) * in * out + k;
				int64_t weight = spread_get(&t->w[layer], p, w);
				int64_t value = spread_get(&t->x[layer], p, x);
				if (forward) {
					spread_add(&t->y[layer], p, y, weight * value);
					continue;
				}
				int64_t dy = spread_get(&t->dy[layer], p, y);
				spread_add(&t->dx[layer], p, x, weight * dy);
				spread_add(&t->dw[layer], p, w, value * dy);
			}
		}
	tokens_settle(t, forward ? &t->y[layer] : &t->dx[layer]);
}

static void bank_gradient(struct tokens *t, uint32_t layer)
{
	struct blocks own = tokens_bank(t, layer);
	play_blocks(&t->player, &(struct step){layer, TERM_DW_ALL_REDUCE, COLL_ALLREDUCE, t->q.pc},
		&t->dw[layer], &own);
}

static void experts_forward(struct tokens *t)
{
	tokens_dense_forward(t, 0);
	spread_out(t, &t->y[0], &t->x[1]);
	cross(t, 1, true, true, &t->x[1]);
	bank_run(t, 1, true);
	t->x[2] = t->y[1];
	bank_run(t, 2, true);
	cross(t, 2, true, false, &t->y[2]);
	add_up(t, &t->y[2], &t->x[3]);
	tokens_dense_forward(t, 3);
}

static void experts_backward(struct tokens *t)
{
	tokens_dense_backward(t, 3);
	spread_out(t, &t->dx[3], &t->dy[2]);
	cross(t, 2, false, true, &t->dy[2]);
	bank_run(t, 2, false);
	bank_gradient(t, 2);
	t->dy[1] = t->dx[2];
	bank_run(t, 1, false);
	bank_gradient(t, 1);
	cross(t, 1, false, false, &t->dx[1]);
	add_up(t, &t->dx[1], &t->dy[0]);
	tokens_dense_backward(t, 0);
}

static void run_passes(struct tokens *t)
{
	if (t->n_experts > 0) {
		experts_forward(t);
		experts_backward(t);
	} else {
		attention_forward(t);
		attention_backward(t);
	}
}

static void run_case(const struct tokens_case *c, uint64_t seed)
{
	struct tokens *t = mem_alloc(2, sizeof(*t)), *alone = t + 1;
	tokens_begin(t, c, false, seed);
	tokens_begin(alone, c, true, seed);
	run_passes(t);
	run_passes(alone);
	tokens_compare(t, alone);
	play_end(&t->player);
	arena_free(&t->a);
	arena_free(&alone->a);
	free(t);
}

static const uint32_t shapes[][2] = {{2, 1}, {4, 1}, {2, 2}, {3, 2}, {3, 5}, {6, 2}, {5, 1}};
enum { N_SHAPES = sizeof(shapes) / sizeof(*shapes) };

/* Heads of keys and values for each query, and fewer of them; batches that Pc divides and others. */
static void run_attention(const char *scheme)
{
	for (uint32_t k = 0; k < 3 * N_SHAPES; k++) {
		uint32_t pr = shapes[k / 3][0], pc = shapes[k / 3][1];
		struct tokens_case c = {.scheme = scheme,
			.pr = pr,
			.pc = pc,
			.batch = pc + k % 3 * pc / 2,
			.positions = pr * (1 + k % 2),
			.heads = pr * 2,
			.kv_heads = k % 2 ? pr : 2 * pr};
		run_case(&c, k);
	}
}

static void test_context_gather(void)
{
	run_attention("context-gather");
}

static void test_context_ring(void)
{
	run_attention("context-ring");
}

static void test_ulysses(void)
{
	run_attention("ulysses");
}

static void test_experts(void)
{
	for (uint32_t k = 0; k < 2 * N_SHAPES; k++) {
		uint32_t pr = shapes[k / 2][0], pc = shapes[k / 2][1], n = pr * (1 + k % 2);
		struct tokens_case c = {.scheme = "expert",
			.pr = pr,
			.pc = pc,
			.batch = pr * pc,
			.positions = n,
			.n_experts = n,
			.routes = 1 + k % 2};
		run_case(&c, k);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"context-gather", test_context_gather},
		{"context-ring", test_context_ring},
		{"ulysses", test_ulysses},
		{"experts", test_experts},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_scheme_numeric_tokens", tests);
}
