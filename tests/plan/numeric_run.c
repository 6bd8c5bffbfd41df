#include "numeric_run.h"

#include <stdio.h>

#include "suite.h"

uint32_t run_pr(const struct grid_run *r, uint32_t layer)
{
	return grid_of(&r->c.q, layer).pr;
}

static uint32_t position_of(const struct grid_run *r, uint32_t layer, uint32_t p)
{
	return case_position(&r->c, r->grid, p, run_pr(r, layer));
}

static struct samples samples_of(const struct grid_run *r, uint32_t layer, uint32_t p)
{
	uint32_t pr = r->c.ways[layer] == GRID_BATCH ? CASE_ONE : run_pr(r, layer);
	return case_samples(&r->c, r->grid, p, pr);
}

/* Channels of the weights that a process has. */
static struct chain_channels channels_of(const struct grid_run *r, uint32_t layer, uint32_t p)
{
	uint32_t n = r->c.layers[layer].out_c, pr = run_pr(r, layer), k = position_of(r, layer, p);
	if (r->c.ways[layer] != GRID_MODEL || pr == 1)
		return (struct chain_channels){0, n, true};
	return (struct chain_channels){
		(uint32_t)numeric_cut(n, pr, k), (uint32_t)numeric_cut(n, pr, k + 1), false};
}

struct chain_box run_box(const struct grid_run *r, uint32_t layer, uint32_t p, bool outputs)
{
	const struct chain_layer *l = &r->c.layers[layer];
	const struct strips *strips = &r->c.strips[layer];
	struct samples s = samples_of(r, layer, p);
	struct chain_channels c = channels_of(r, layer, p);
	uint32_t k = position_of(r, layer, p);
	struct chain_box b = {s.s0, s.s1, 0, outputs ? l->out_h : l->in_h, 0, l->in_c};
	if (r->c.ways[layer] == GRID_DOMAIN) {
		b.h0 = outputs ? strips->out[k] : strips->in[k];
		b.h1 = outputs ? strips->out[k + 1] : strips->in[k + 1];
	}
	if (outputs) {
		b.c0 = c.c0;
		b.c1 = c.c1;
	}
	return b;
}

static bool wants_row(const struct target *t, uint32_t p, uint32_t row)
{
	const struct chain_layer *l = &t->r->c.layers[t->layer];
	uint32_t k = case_position(&t->r->c, t->r->grid, p, t->strips_pr);
	for (uint32_t h = t->strips[k]; h < t->strips[k + 1]; h++) {
		bool reads = t->halo_x ? chain_reads(l, h, row) : chain_reads(l, row, h);
		if (t->halo_x || t->halo_dy ? reads : h == row)
			return true;
	}
	return false;
}

bool run_wants_activation(const void *what, uint32_t p, uint64_t i)
{
	const struct target *t = what;
	const struct chain_layer *l = &t->r->c.layers[t->layer];
	uint64_t size = t->halo_dy ? chain_outputs(l) : chain_inputs(l);
	uint64_t row =
		t->halo_dy ? (uint64_t)l->out_w * l->out_c : (uint64_t)l->image_w * l->image_c;
	struct samples s = case_samples(&t->r->c, t->r->grid, p, t->pr);
	if (i / size < s.s0 || i / size >= s.s1)
		return false;
	return !t->strips || wants_row(t, p, (uint32_t)(i % size / row));
}

bool run_wants_output(const void *what, uint32_t p, uint64_t i)
{
	const struct target *t = what;
	struct samples s = case_samples(&t->r->c, t->r->grid, p, t->pr);
	uint64_t sample = i / chain_outputs(&t->r->c.layers[t->layer]);
	return sample >= s.s0 && sample < s.s1;
}

bool run_wants_weight(const void *what, uint32_t p, uint64_t i)
{
	const struct target *t = what;
	const struct chain_layer *l = &t->r->c.layers[t->layer];
	struct chain_channels c = channels_of(t->r, t->layer, p);
	uint64_t channel = i / (chain_weights(l) / l->out_c);
	return channel >= c.c0 && channel < c.c1;
}

typedef struct moved collective(struct spread *s, const struct team *t, const struct wish *w);

/* Sums over the groups of a task, and the most of one. */
struct total {
	uint64_t words, most_words, most, fresh;
	uint32_t n_teams, n_ranks;
};

static struct total run_groups(struct grid_run *r, const struct prog_task *task, collective *coll,
	struct spread *s, const struct wish *w)
{
	struct total all = {0};
	for (uint32_t p = 0; p < r->n_procs; p++) {
		struct team t = team_of(&r->a, &r->it.prog, task, p);
		if (t.ranks[0] != p)
			continue;
		struct moved m = coll(s, &t, w);
		all.words += m.words;
		all.most_words = m.words > all.most_words ? m.words : all.most_words;
		all.most = m.most > all.most ? m.most : all.most;
		all.fresh += m.fresh;
		all.n_teams++;
		all.n_ranks = t.n;
	}
	return all;
}

static void check_words(
	const struct grid_run *r, const struct prog_task *task, uint64_t words, const char *what)
{
	bool same = words * r->c.q.word_bytes == task->bytes;
	if (!same)
		printf("\n%s: %s moves %llu words, the task has %llu bytes", task->label, what,
			(unsigned long long)words, (unsigned long long)task->bytes);
	CU_ASSERT_TRUE(same);
}

static void gather(
	struct grid_run *r, const struct prog_task *task, struct spread *s, const struct wish *w)
{
	struct total t = run_groups(r, task, spread_gather, s, w);
	check_words(r, task, t.most_words, "gather");
	CU_ASSERT_TRUE(t.fresh > 0);
	if (r->c.even)
		check_words(r, task, t.most * t.n_ranks, "share in a gather");
}

/* Words of all processes are those of the samples; one process has a share, rounded up. */
static void exchange(
	struct grid_run *r, const struct prog_task *task, struct spread *s, const struct wish *w)
{
	struct total t = run_groups(r, task, spread_exchange, s, w);
	CU_ASSERT_EQUAL(task->bytes, div_ceil(t.most_words * r->c.q.word_bytes, t.n_ranks));
	CU_ASSERT_TRUE(t.fresh > 0);
	if (r->c.even)
		check_words(r, task, t.most, "exchange");
}

static void halo(
	struct grid_run *r, const struct prog_task *task, struct spread *s, const struct wish *w)
{
	struct total t = run_groups(r, task, spread_halo, s, w);
	CU_ASSERT_TRUE(t.most * r->c.q.word_bytes <= task->bytes);
	if (r->c.even)
		check_words(r, task, t.most, "halo");
}

/* Slices are as even as outputs allow, and together all weights. */
static void reduce_dw(struct grid_run *r, const struct prog_task *task, struct target *to)
{
	uint64_t weights = chain_weights(&r->c.layers[to->layer]);
	bool model = r->c.ways[to->layer] == GRID_MODEL;
	struct wish w = {run_wants_weight, to};
	struct total t = run_groups(r, task, spread_reduce, &r->v[to->layer].dw, &w);
	uint32_t parts = model ? run_pr(r, to->layer) : 1;
	CU_ASSERT_EQUAL(t.n_teams, parts);
	CU_ASSERT_EQUAL(t.words, weights);
	check_words(r, task, div_ceil(weights, parts), "dW");
	if (r->c.even)
		check_words(r, task, t.most_words, "dW");
}

static void compute_forward(struct grid_run *r, uint32_t i)
{
	for (uint32_t p = 0; p < r->n_procs; p++) {
		struct chain_box out = run_box(r, i, p, true);
		chain_forward(&r->c.layers[i], &r->v[i], p, &out);
	}
}

/* Inputs that a process has by chance, it does not keep. */
static void keep_only(struct grid_run *r, const struct target *to)
{
	struct spread *x = &r->v[to->layer].x;
	for (uint32_t p = 0; p < r->n_procs; p++)
		for (uint64_t i = 0; i < x->n; i++)
			if (!run_wants_activation(to, p, i))
				spread_drop(x, p, i);
}

/* From strips first to samples; to strips last. */
static void redistribute(struct grid_run *r, const struct prog_task *task, struct target *to)
{
	uint32_t i = to->layer, front = i - 1;
	bool back = r->forward[i];
	struct spread *s = back ? &r->v[i].dx : &r->v[i].x;
	uint32_t from = back ? i : front, here = back ? front : i;
	struct wish w = {run_wants_activation, to};
	CU_ASSERT_TRUE_FATAL(i > 0);
	if (task->coll == COLL_ALLGATHER) {
		to->pr = run_pr(r, here);
		gather(r, task, s, &w);
		return;
	}
	CU_ASSERT_EQUAL_FATAL(task->coll, COLL_ALLTOALL);
	to->pr = CASE_ONE;
	if (r->c.ways[from] != GRID_DOMAIN) {
		to->pr = to->strips_pr = run_pr(r, here);
		to->strips = back ? r->c.strips[front].next : r->c.strips[i].in;
	}
	exchange(r, task, s, &w);
	if (!back)
		keep_only(r, to);
}

static void run_halo(
	struct grid_run *r, const struct prog_task *task, struct target *to, bool forward)
{
	struct chain_arrays *v = &r->v[to->layer];
	struct wish w = {run_wants_activation, to};
	CU_ASSERT_EQUAL(task->coll, COLL_HALO);
	to->strips = r->c.strips[to->layer].in;
	to->strips_pr = to->pr;
	if (forward) {
		keep_only(r, to);
		to->strips = r->c.strips[to->layer].out;
	}
	to->halo_x = forward;
	to->halo_dy = !forward;
	halo(r, task, forward ? &v->x : &v->dy, &w);
	if (forward)
		r->has_halo[to->layer] = true;
	if (forward && r->forward[to->layer])
		compute_forward(r, to->layer);
}

static void run_collective(struct grid_run *r, uint32_t task, uint32_t layer)
{
	const struct prog_task *t = &r->it.prog.roles[0].tasks[task];
	struct chain_arrays *v = &r->v[layer];
	struct target to = {.r = r, .layer = layer, .pr = run_pr(r, layer)};
	switch (r->it.terms[task]) {
	case TERM_ALL_GATHER:
		gather(r, t, &v->y, &(struct wish){run_wants_output, &to});
		return;
	case TERM_DX_ALL_REDUCE: {
		struct wish w = {run_wants_activation, &to};
		struct total all = run_groups(r, t, spread_reduce, &v->dx, &w);
		check_words(r, t, all.most_words, "dX");
		return;
	}
	case TERM_DW_ALL_REDUCE:
		reduce_dw(r, t, &to);
		return;
	case TERM_HALO_FORWARD:
	case TERM_HALO_BACKWARD:
		run_halo(r, t, &to, r->it.terms[task] == TERM_HALO_FORWARD);
		return;
	case TERM_REDISTRIBUTE:
		redistribute(r, t, &to);
		return;
	case TERM_COMPUTE:
	case TERM_FORWARD:
	case TERM_BACKWARD:
		break;
	}
	CU_FAIL("a term of the grid");
}

/* What a process can do by itself between a layer and its neighbours. */
static void link_layer(struct grid_run *r, uint32_t i)
{
	bool linked = r->linked[i];
	r->linked[i] = true;
	const struct chain_layer *l = r->c.layers;
	for (uint32_t p = 0; p < r->n_procs; p++) {
		if (!r->forward[i]) {
			if (i > 0 && !linked)
				chain_link(&l[i - 1], &r->v[i - 1].y, &r->v[i].x, p);
			continue;
		}
		if (i + 1 < r->c.q.n_layers) {
			chain_link_back(&l[i], &r->v[i + 1].dx, &r->v[i].y, &r->v[i].dy, p);
			continue;
		}
		for (uint64_t k = 0; k < r->v[i].dy.n; k++)
			if (spread_holds(&r->v[i].y, p, k))
				spread_put(&r->v[i].dy, p, k, r->serial[i].dy.values[k]);
	}
}

/* A process that shares its weights with nobody has the sum. */
static void compute_dw(struct grid_run *r, uint32_t i, uint32_t p, const struct chain_box *out)
{
	uint32_t sharers = r->c.ways[i] == GRID_MODEL ? grid_of(&r->c.q, i).pc : r->n_procs;
	chain_dw(&r->c.layers[i], &r->v[i], p, out);
	if (sharers == 1)
		spread_settle(&r->v[i].dw, p);
}

/* The edges of strips can be computed once their halo is there too, which may be later. */
static void compute(struct grid_run *r, uint32_t i)
{
	bool strips = r->c.ways[i] == GRID_DOMAIN && run_pr(r, i) > 1;
	bool edges = strips && r->c.layers[i].kernel > 1 && !r->has_halo[i];
	for (uint32_t p = 0; p < r->n_procs && r->forward[i]; p++) {
		struct chain_box in = run_box(r, i, p, false), out = run_box(r, i, p, true);
		struct chain_channels c = channels_of(r, i, p);
		if (!r->dw[i])
			compute_dw(r, i, p, &out);
		else
			chain_dx(&r->c.layers[i], &r->v[i], p, &in, &c);
	}
	if (!r->forward[i] && !edges)
		compute_forward(r, i);
	r->dw[i] = r->forward[i];
	r->forward[i] = true;
}

static bool is_ready(const struct prog_task *t, const bool *done)
{
	for (uint32_t k = 0; k < t->n_after; k++)
		if (!done[t->after[k]])
			return false;
	return true;
}

void run_tasks(struct grid_run *r)
{
	const struct prog_role *role = &r->it.prog.roles[0];
	bool *done = arena_array(&r->a, role->n_tasks, bool);
	for (uint32_t n = 0; n < role->n_tasks; n++) {
		uint32_t at = numeric_random(&r->c.rng, role->n_tasks);
		while (done[at] || !is_ready(&role->tasks[at], done))
			at = (at + 1) % role->n_tasks;
		uint32_t layer = r->it.layers[at];
		link_layer(r, layer);
		if (role->tasks[at].kind == TASK_COMPUTE)
			compute(r, layer);
		else
			run_collective(r, at, layer);
		done[at] = true;
	}
}
