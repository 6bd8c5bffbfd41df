/* Iterations on the grid, executed with numbers: each process has what its way gives it, the tasks
 * of the schedule move what they say, and the results are those of one process. */
#include <stdio.h>
#include <stdlib.h>

#include "numeric_grid.h"
#include "suite.h"

struct run {
	struct arena a;
	struct grid_case c;
	struct iteration it;
	const struct prog_grid *grid;
	struct chain_arrays v[CASE_MAX_LAYERS], serial[CASE_MAX_LAYERS];
	uint32_t n_procs;
	/* How far each layer is. */
	bool forward[CASE_MAX_LAYERS], dw[CASE_MAX_LAYERS], has_halo[CASE_MAX_LAYERS];
	bool linked[CASE_MAX_LAYERS];
};

static uint32_t pr_of(const struct run *r, uint32_t layer)
{
	return grid_of(&r->c.q, layer).pr;
}

static uint32_t position_of(const struct run *r, uint32_t layer, uint32_t p)
{
	return case_position(&r->c, r->grid, p, pr_of(r, layer));
}

static struct samples samples_of(const struct run *r, uint32_t layer, uint32_t p)
{
	uint32_t pr = r->c.ways[layer] == GRID_BATCH ? CASE_ONE : pr_of(r, layer);
	return case_samples(&r->c, r->grid, p, pr);
}

/* Channels of the weights that a process has. */
static struct chain_channels channels_of(const struct run *r, uint32_t layer, uint32_t p)
{
	uint32_t n = r->c.layers[layer].out_c, pr = pr_of(r, layer), k = position_of(r, layer, p);
	if (r->c.ways[layer] != GRID_MODEL || pr == 1)
		return (struct chain_channels){0, n, true};
	return (struct chain_channels){
		(uint32_t)numeric_cut(n, pr, k), (uint32_t)numeric_cut(n, pr, k + 1), false};
}

/* Outputs that a process computes, and inputs that it computes the gradient of. */
static struct chain_box box_of(const struct run *r, uint32_t layer, uint32_t p, bool outputs)
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

/* What one collective is to bring. */
struct target {
	const struct run *r;
	uint32_t layer;
	uint32_t pr; /* samples of its groups; CASE_ONE: of processes */
	/* Rows of strips; NULL: all. */
	const uint32_t *strips;
	uint32_t strips_pr;
	/* Of the halo of a strip: rows of x that its outputs read, or of dy that read it. */
	bool halo_x, halo_dy;
};

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

/* Of x, dx and dy. */
static bool wants_activation(const void *what, uint32_t p, uint64_t i)
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

static bool wants_output(const void *what, uint32_t p, uint64_t i)
{
	const struct target *t = what;
	struct samples s = case_samples(&t->r->c, t->r->grid, p, t->pr);
	uint64_t sample = i / chain_outputs(&t->r->c.layers[t->layer]);
	return sample >= s.s0 && sample < s.s1;
}

static bool wants_weight(const void *what, uint32_t p, uint64_t i)
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

static struct total run_groups(struct run *r, const struct prog_task *task, collective *coll,
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
	const struct run *r, const struct prog_task *task, uint64_t words, const char *what)
{
	bool same = words * r->c.q.word_bytes == task->bytes;
	if (!same)
		printf("\n%s: %s moves %llu words, the task has %llu bytes", task->label, what,
			(unsigned long long)words, (unsigned long long)task->bytes);
	CU_ASSERT_TRUE(same);
}

static void gather(
	struct run *r, const struct prog_task *task, struct spread *s, const struct wish *w)
{
	struct total t = run_groups(r, task, spread_gather, s, w);
	check_words(r, task, t.most_words, "gather");
	CU_ASSERT_TRUE(t.fresh > 0);
	if (r->c.even)
		check_words(r, task, t.most * t.n_ranks, "share in a gather");
}

/* Words of all processes are those of the samples; one process has a share, rounded up. */
static void exchange(
	struct run *r, const struct prog_task *task, struct spread *s, const struct wish *w)
{
	struct total t = run_groups(r, task, spread_exchange, s, w);
	CU_ASSERT_EQUAL(task->bytes, div_ceil(t.most_words * r->c.q.word_bytes, t.n_ranks));
	CU_ASSERT_TRUE(t.fresh > 0);
	if (r->c.even)
		check_words(r, task, t.most, "exchange");
}

static void halo(
	struct run *r, const struct prog_task *task, struct spread *s, const struct wish *w)
{
	struct total t = run_groups(r, task, spread_halo, s, w);
	CU_ASSERT_TRUE(t.most * r->c.q.word_bytes <= task->bytes);
	if (r->c.even)
		check_words(r, task, t.most, "halo");
}

/* Slices are as even as outputs allow, and together all weights. */
static void reduce_dw(struct run *r, const struct prog_task *task, struct target *to)
{
	uint64_t weights = chain_weights(&r->c.layers[to->layer]);
	bool model = r->c.ways[to->layer] == GRID_MODEL;
	struct wish w = {wants_weight, to};
	struct total t = run_groups(r, task, spread_reduce, &r->v[to->layer].dw, &w);
	uint32_t parts = model ? pr_of(r, to->layer) : 1;
	CU_ASSERT_EQUAL(t.n_teams, parts);
	CU_ASSERT_EQUAL(t.words, weights);
	check_words(r, task, div_ceil(weights, parts), "dW");
	if (r->c.even)
		check_words(r, task, t.most_words, "dW");
}

static void compute_forward(struct run *r, uint32_t i)
{
	for (uint32_t p = 0; p < r->n_procs; p++) {
		struct chain_box out = box_of(r, i, p, true);
		chain_forward(&r->c.layers[i], &r->v[i], p, &out);
	}
}

/* Inputs that a process has by chance, it does not keep. */
static void keep_only(struct run *r, const struct target *to)
{
	struct spread *x = &r->v[to->layer].x;
	for (uint32_t p = 0; p < r->n_procs; p++)
		for (uint64_t i = 0; i < x->n; i++)
			if (!wants_activation(to, p, i))
				spread_drop(x, p, i);
}

/* From strips first to samples; to strips last. */
static void redistribute(struct run *r, const struct prog_task *task, struct target *to)
{
	uint32_t i = to->layer, front = i - 1;
	bool back = r->forward[i];
	struct spread *s = back ? &r->v[i].dx : &r->v[i].x;
	uint32_t from = back ? i : front, here = back ? front : i;
	struct wish w = {wants_activation, to};
	CU_ASSERT_TRUE_FATAL(i > 0);
	if (task->coll == COLL_ALLGATHER) {
		to->pr = pr_of(r, here);
		gather(r, task, s, &w);
		return;
	}
	CU_ASSERT_EQUAL_FATAL(task->coll, COLL_ALLTOALL);
	to->pr = CASE_ONE;
	if (r->c.ways[from] != GRID_DOMAIN) {
		to->pr = to->strips_pr = pr_of(r, here);
		to->strips = back ? r->c.strips[front].next : r->c.strips[i].in;
	}
	exchange(r, task, s, &w);
	if (!back)
		keep_only(r, to);
}

static void run_halo(struct run *r, const struct prog_task *task, struct target *to, bool forward)
{
	struct chain_arrays *v = &r->v[to->layer];
	struct wish w = {wants_activation, to};
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

static void run_collective(struct run *r, uint32_t task, uint32_t layer)
{
	const struct prog_task *t = &r->it.prog.roles[0].tasks[task];
	struct chain_arrays *v = &r->v[layer];
	struct target to = {.r = r, .layer = layer, .pr = pr_of(r, layer)};
	switch (r->it.terms[task]) {
	case TERM_ALL_GATHER:
		gather(r, t, &v->y, &(struct wish){wants_output, &to});
		return;
	case TERM_DX_ALL_REDUCE: {
		struct wish w = {wants_activation, &to};
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
static void link_layer(struct run *r, uint32_t i)
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
static void compute_dw(struct run *r, uint32_t i, uint32_t p, const struct chain_box *out)
{
	uint32_t sharers = r->c.ways[i] == GRID_MODEL ? grid_of(&r->c.q, i).pc : r->n_procs;
	chain_dw(&r->c.layers[i], &r->v[i], p, out);
	if (sharers == 1)
		spread_settle(&r->v[i].dw, p);
}

/* The edges of strips can be computed once their halo is there too, which may be later. */
static void compute(struct run *r, uint32_t i)
{
	bool strips = r->c.ways[i] == GRID_DOMAIN && pr_of(r, i) > 1;
	bool edges = strips && r->c.layers[i].kernel > 1 && !r->has_halo[i];
	for (uint32_t p = 0; p < r->n_procs && r->forward[i]; p++) {
		struct chain_box in = box_of(r, i, p, false), out = box_of(r, i, p, true);
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

/* Any order that the tasks themselves allow. */
static void run_tasks(struct run *r)
{
	const struct prog_role *role = &r->it.prog.roles[0];
	bool *done = arena_array(&r->a, role->n_tasks, bool);
	for (uint32_t n = 0; n < role->n_tasks; n++) {
		uint32_t at = numeric_random(&r->c.seed, role->n_tasks);
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

/* The serial pass, and of its inputs what each process starts with. */
static void set_up(struct run *r)
{
	uint64_t n = case_n_samples(&r->c);
	for (uint32_t i = 0; i < r->c.q.n_layers; i++) {
		const struct chain_layer *l = &r->c.layers[i];
		struct chain_arrays *s = &r->serial[i];
		*s = chain_arrays_new(&r->a, l, 1, n);
		r->v[i] = chain_arrays_new(&r->a, l, r->n_procs, n);
		for (uint64_t k = 0; k < s->w.n; k++)
			spread_put(&s->w, 0, k, numeric_small(&r->c.seed));
		for (uint64_t k = 0; k < s->x.n; k++)
			if (i == 0)
				spread_put(&s->x, 0, k, numeric_small(&r->c.seed));
		for (uint64_t k = 0; k < s->dy.n; k++)
			if (i + 1 == r->c.q.n_layers)
				spread_put(&s->dy, 0, k, numeric_small(&r->c.seed));
		for (uint32_t p = 0; p < r->n_procs; p++) {
			struct target t = {.r = r, .layer = i};
			for (uint64_t k = 0; k < s->w.n; k++)
				if (wants_weight(&t, p, k))
					spread_put(&r->v[i].w, p, k, s->w.values[k]);
		}
	}
	for (uint32_t p = 0; p < r->n_procs; p++) {
		struct chain_box b = box_of(r, 0, p, false);
		uint64_t sample = chain_inputs(r->c.layers);
		uint64_t row = sample / r->c.layers[0].in_h;
		for (uint64_t k = b.s0 * sample; k < b.s1 * sample; k++)
			if (k % sample / row >= b.h0 && k % sample / row < b.h1)
				spread_put(&r->v[0].x, p, k, r->serial[0].x.values[k]);
	}
	chain_run(r->c.layers, r->c.q.n_layers, r->serial);
}

/* Everything that a process is to have, right; and somebody everything. */
static void check_spread(const struct run *r, const struct spread *got, const struct spread *want,
	const struct wish *w)
{
	uint64_t wrong = 0, missing = 0;
	for (uint64_t i = 0; i < got->n; i++) {
		uint32_t owners = 0;
		for (uint32_t p = 0; p < got->n_procs; p++) {
			if (!w->wants(w->what, p, i))
				continue;
			owners++;
			wrong += !spread_holds(got, p, i) ||
				 spread_get(got, p, i) != want->values[i];
		}
		missing += owners == 0;
	}
	if (wrong + missing > 0)
		printf("\nseed %llu: %s has %llu wrong and %llu missing",
			(unsigned long long)r->c.seed, got->name, (unsigned long long)wrong,
			(unsigned long long)missing);
	CU_ASSERT_EQUAL(wrong + missing, 0);
}

static void check_results(const struct run *r)
{
	uint32_t n = r->c.q.n_layers;
	for (uint32_t i = 0; i < n; i++) {
		bool batch = r->c.ways[i] == GRID_BATCH, strips = r->c.ways[i] == GRID_DOMAIN;
		struct target to = {.r = r,
			.layer = i,
			.pr = batch ? CASE_ONE : pr_of(r, i),
			.strips_pr = pr_of(r, i),
			.strips = strips ? r->c.strips[i].in : NULL};
		const struct chain_arrays *v = &r->v[i], *s = &r->serial[i];
		check_spread(r, &v->dw, &s->dw, &(struct wish){wants_weight, &to});
		check_spread(r, &v->x, &s->x, &(struct wish){wants_activation, &to});
		if (i > 0)
			check_spread(r, &v->dx, &s->dx, &(struct wish){wants_activation, &to});
		if (i + 1 == n && !strips)
			check_spread(r, &v->y, &s->y, &(struct wish){wants_output, &to});
		if (i + 1 < n || !strips)
			continue;
		for (uint32_t p = 0; p < r->n_procs; p++) {
			struct chain_box b = box_of(r, i, p, true);
			uint64_t row = (uint64_t)r->c.layers[i].out_w * r->c.layers[i].out_c;
			for (uint64_t k = 0; k < v->y.n; k++) {
				uint64_t h = k / row % r->c.layers[i].out_h,
					 sample = k / row / r->c.layers[i].out_h;
				if (sample >= b.s0 && sample < b.s1 && h >= b.h0 && h < b.h1)
					CU_ASSERT_EQUAL(spread_get(&v->y, p, k), s->y.values[k]);
			}
		}
	}
}

/* Without computation the same collectives stand in the same order. */
static void check_without_times(struct run *r, const struct grid_options *options)
{
	struct grid_options bare = *options;
	struct iteration it = {0};
	struct err err = {0};
	const struct prog_role *role = &r->it.prog.roles[0];
	uint32_t n = 0;
	bare.times = NULL;
	CU_ASSERT_TRUE_FATAL(grid_schedule(&r->a, &r->c.q, r->c.ways, &bare, &it, &err));
	for (uint32_t i = 0; i < role->n_tasks; i++) {
		const struct prog_task *t = &it.prog.roles[0].tasks[n];
		if (role->tasks[i].kind == TASK_COMPUTE)
			continue;
		CU_ASSERT_TRUE_FATAL(n < it.prog.roles[0].n_tasks);
		CU_ASSERT_EQUAL(it.terms[n], r->it.terms[i]);
		CU_ASSERT_EQUAL(it.layers[n], r->it.layers[i]);
		CU_ASSERT_EQUAL(t->bytes, role->tasks[i].bytes);
		CU_ASSERT_EQUAL(it.prog.groups[t->group].dims_mask,
			r->it.prog.groups[role->tasks[i].group].dims_mask);
		n++;
	}
	CU_ASSERT_EQUAL(n, it.prog.roles[0].n_tasks);
}

struct grids {
	struct process_grid grid, conv;
};

static void print_layer(const struct run *r, uint32_t i)
{
	const struct chain_layer *l = &r->c.layers[i];
	printf("\n  %s %s", r->c.described[i].name, grid_way_name(r->c.ways[i]));
	printf(" rows %u of %u by %u+%u*%u-%u", l->out_h, l->in_h, l->out_c, l->kernel, l->stride,
		l->pad);
	for (uint32_t k = 0; r->c.ways[i] == GRID_DOMAIN && k <= pr_of(r, i); k++)
		printf(" %u:%u", r->c.strips[i].in[k], r->c.strips[i].out[k]);
}

static bool run_case(const struct grids *g, uint64_t seed, const enum grid_way *asked, bool even)
{
	struct run *r = mem_alloc(1, sizeof(*r));
	struct grid_times times[CASE_MAX_LAYERS];
	struct err err = {0};
	*r = (struct run){
		.c = {.seed = seed, .even = even, .q = {.grid = g->grid, .conv = g->conv}}};
	bool filled = case_fill(&r->a, &r->c, asked);
	if (filled) {
		for (uint32_t i = 0; i < CASE_MAX_LAYERS; i++)
			times[i] = (struct grid_times){1, 1, 1};
		struct grid_options options = {.times = times,
			.overlap = numeric_random(&r->c.seed, 2),
			.pc_fastest = numeric_random(&r->c.seed, 2)};
		CU_ASSERT_TRUE_FATAL(
			grid_schedule(&r->a, &r->c.q, r->c.ways, &options, &r->it, &err));
		CU_ASSERT_TRUE(prog_check(&r->it.prog, &err));
		r->grid = &r->it.prog.grid;
		r->n_procs = prog_n_ranks(&r->it.prog);
		CU_ASSERT_EQUAL(r->n_procs, g->grid.pr * g->grid.pc);
		set_up(r);
		unsigned before = CU_get_number_of_failures();
		run_tasks(r);
		check_results(r);
		check_without_times(r, &options);
		if (CU_get_number_of_failures() > before) {
			printf("\ncase: grid %ux%u conv %ux%u batch %llu:", g->grid.pr, g->grid.pc,
				g->conv.pr, g->conv.pc, (unsigned long long)r->c.q.batch);
			for (uint32_t i = 0; i < r->c.q.n_layers; i++)
				print_layer(r, i);
		}
	}
	arena_free(&r->a);
	free(r);
	return filled;
}

// clang-format off
static const struct grids one_grid[] = {
	{{1, 4}, {0, 0}}, {{4, 1}, {0, 0}}, {{2, 4}, {0, 0}}, {{4, 2}, {0, 0}}, {{3, 5}, {0, 0}},
	{{6, 2}, {0, 0}}, {{3, 1}, {0, 0}}, {{1, 1}, {0, 0}}, {{2, 3}, {0, 0}}, {{5, 2}, {0, 0}},
};
static const struct grids two_grids[] = {
	{{2, 4}, {4, 2}}, {{4, 2}, {2, 4}}, {{1, 8}, {4, 2}}, {{8, 1}, {2, 4}}, {{2, 4}, {8, 1}},
	{{6, 2}, {3, 4}}, {{3, 4}, {6, 2}}, {{2, 6}, {6, 2}}, {{6, 2}, {1, 12}}, {{1, 6}, {3, 2}},
	{{15, 1}, {3, 5}}, {{3, 5}, {15, 1}}, {{1, 4}, {4, 1}}, {{4, 1}, {1, 4}},
};
// clang-format on

/* `n` cases of each; most can be had. */
static void run_cases(
	const struct grids *g, size_t n_grids, uint32_t n, const enum grid_way *asked, bool even)
{
	uint32_t run = 0;
	for (size_t i = 0; i < n_grids; i++)
		for (uint32_t k = 0; k < n; k++)
			run += run_case(&g[i], 1000 * i + k, asked, even);
	CU_ASSERT_TRUE(2 * run > n * n_grids);
}

enum {
	N_ONE = sizeof(one_grid) / sizeof(*one_grid),
	N_TWO = sizeof(two_grids) / sizeof(*two_grids)
};

/* Where a layer cannot go the way, the next one in order is taken. */
static void test_single_ways(void)
{
	for (uint32_t w = 0; w < N_GRID_WAYS; w++) {
		enum grid_way asked[CASE_MAX_LAYERS];
		for (uint32_t i = 0; i < CASE_MAX_LAYERS; i++)
			asked[i] = (enum grid_way)w;
		run_cases(one_grid, N_ONE, 2, asked, false);
		run_cases(one_grid, N_ONE, 1, asked, true);
	}
}

static void test_mixed_ways(void)
{
	run_cases(one_grid, N_ONE, 8, NULL, false);
}

static void test_mixed_ways_even(void)
{
	run_cases(one_grid, N_ONE, 4, NULL, true);
}

static void test_two_grids(void)
{
	run_cases(two_grids, N_TWO, 7, NULL, false);
}

static void test_two_grids_even(void)
{
	run_cases(two_grids, N_TWO, 4, NULL, true);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"one way", test_single_ways},
		{"a way for each layer", test_mixed_ways},
		{"a way for each layer, all even", test_mixed_ways_even},
		{"convolutions on a grid of their own", test_two_grids},
		{"convolutions on a grid of their own, all even", test_two_grids_even},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_grid_numeric", tests);
}
