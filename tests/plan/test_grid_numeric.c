/* Iterations on the grid, executed with numbers: each process has what its way gives it, the tasks
 * of the schedule move what they say, and the results are those of one process. */
#include <stdio.h>
#include <stdlib.h>

#include "numeric_run.h"
#include "suite.h"

/* The serial pass, and of its inputs what each process starts with. */
static void set_up(struct grid_run *r)
{
	uint64_t n = case_n_samples(&r->c);
	for (uint32_t i = 0; i < r->c.q.n_layers; i++) {
		const struct chain_layer *l = &r->c.layers[i];
		struct chain_arrays *s = &r->serial[i];
		*s = chain_arrays_new(&r->a, l, 1, n);
		r->v[i] = chain_arrays_new(&r->a, l, r->n_procs, n);
		for (uint64_t k = 0; k < s->w.n; k++)
			spread_put(&s->w, 0, k, numeric_small(&r->c.rng));
		for (uint64_t k = 0; k < s->x.n; k++)
			if (i == 0)
				spread_put(&s->x, 0, k, numeric_small(&r->c.rng));
		for (uint64_t k = 0; k < s->dy.n; k++)
			if (i + 1 == r->c.q.n_layers)
				spread_put(&s->dy, 0, k, numeric_small(&r->c.rng));
		for (uint32_t p = 0; p < r->n_procs; p++) {
			struct target t = {.r = r, .layer = i};
			for (uint64_t k = 0; k < s->w.n; k++)
				if (run_wants_weight(&t, p, k))
					spread_put(&r->v[i].w, p, k, s->w.values[k]);
		}
	}
	for (uint32_t p = 0; p < r->n_procs; p++) {
		struct chain_box b = run_box(r, 0, p, false);
		uint64_t sample = chain_inputs(r->c.layers);
		uint64_t row = sample / r->c.layers[0].in_h;
		for (uint64_t k = b.s0 * sample; k < b.s1 * sample; k++)
			if (k % sample / row >= b.h0 && k % sample / row < b.h1)
				spread_put(&r->v[0].x, p, k, r->serial[0].x.values[k]);
	}
	chain_run(r->c.layers, r->c.q.n_layers, r->serial);
}

/* Everything that a process is to have, right; and somebody everything. */
static void check_spread(const struct grid_run *r, const struct spread *got,
	const struct spread *want, const struct wish *w)
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

static void check_results(const struct grid_run *r)
{
	uint32_t n = r->c.q.n_layers;
	for (uint32_t i = 0; i < n; i++) {
		bool batch = r->c.ways[i] == GRID_BATCH, strips = r->c.ways[i] == GRID_DOMAIN;
		struct target to = {.r = r,
			.layer = i,
			.pr = batch ? CASE_ONE : run_pr(r, i),
			.strips_pr = run_pr(r, i),
			.strips = strips ? r->c.strips[i].in : NULL};
		const struct chain_arrays *v = &r->v[i], *s = &r->serial[i];
		check_spread(r, &v->dw, &s->dw, &(struct wish){run_wants_weight, &to});
		check_spread(r, &v->x, &s->x, &(struct wish){run_wants_activation, &to});
		if (i > 0)
			check_spread(r, &v->dx, &s->dx, &(struct wish){run_wants_activation, &to});
		if (i + 1 == n && !strips)
			check_spread(r, &v->y, &s->y, &(struct wish){run_wants_output, &to});
		if (i + 1 < n || !strips)
			continue;
		for (uint32_t p = 0; p < r->n_procs; p++) {
			struct chain_box b = run_box(r, i, p, true);
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
static void check_without_times(struct grid_run *r, const struct grid_options *options)
{
	struct grid_options bare = *options;
	struct iteration it = {0};
	struct err err = {0};
	const struct prog_role *role = &r->it.prog.roles[0];
	uint32_t n = 0;
	bare.times = NULL;
	CU_ASSERT_TRUE_FATAL(grid_schedule(&r->a, &r->c.q, r->c.ways, &bare, &it, &err));
	for (uint32_t i = 0; i < role->n_tasks; i++) {
		if (role->tasks[i].kind == TASK_COMPUTE)
			continue;
		CU_ASSERT_TRUE_FATAL(n < it.prog.roles[0].n_tasks);
		const struct prog_task *t = &it.prog.roles[0].tasks[n];
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

static void print_layer(const struct grid_run *r, uint32_t i)
{
	const struct chain_layer *l = &r->c.layers[i];
	printf("\n  %s %s", r->c.described[i].name, grid_way_name(r->c.ways[i]));
	printf(" rows %u of %u by %u+%u*%u-%u", l->out_h, l->in_h, l->out_c, l->kernel, l->stride,
		l->pad);
	for (uint32_t k = 0; r->c.ways[i] == GRID_DOMAIN && k <= run_pr(r, i); k++)
		printf(" %u:%u", r->c.strips[i].in[k], r->c.strips[i].out[k]);
}

static bool run_case(const struct grids *g, uint64_t seed, const enum grid_way *asked, bool even)
{
	struct grid_run *r = mem_alloc(1, sizeof(*r));
	struct grid_times times[CASE_MAX_LAYERS];
	struct err err = {0};
	*r = (struct grid_run){
		.c = {.seed = seed, .even = even, .q = {.grid = g->grid, .conv = g->conv}}};
	rng_init(&r->c.rng, seed);
	bool filled = case_fill(&r->a, &r->c, asked);
	if (filled) {
		for (uint32_t i = 0; i < CASE_MAX_LAYERS; i++)
			times[i] = (struct grid_times){1, 1, 1};
		struct grid_options options = {.times = times,
			.overlap = numeric_random(&r->c.rng, 2),
			.pc_fastest = numeric_random(&r->c.rng, 2)};
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
	{{9, 1}, {3, 3}}, {{3, 3}, {9, 1}}, {{1, 4}, {4, 1}}, {{4, 1}, {1, 4}},
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
	run_cases(one_grid, N_ONE, 5, NULL, false);
}

static void test_mixed_ways_even(void)
{
	run_cases(one_grid, N_ONE, 3, NULL, true);
}

static void test_two_grids(void)
{
	run_cases(two_grids, N_TWO, 4, NULL, false);
}

static void test_two_grids_even(void)
{
	run_cases(two_grids, N_TWO, 2, NULL, true);
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
