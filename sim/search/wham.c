/* The dimension tree of the local search.
 *
 * The root is the largest point of the space; a child halves rows, columns, vector width or
 * SRAM. Points are visited level by level of halvings, each once: a point has as many fruitless
 * levels behind it as the best of its expanded parents says. Within a level the most promising
 * bounds come first, in waves of a fixed size; what cannot beat the worst of the top k is cut,
 * by what was known before the wave, so that the number of jobs changes nothing. */
#include <math.h>
#include <stdlib.h>

#include "search/internal.h"

/* Least gain of a child over its parent. */
static const double tree_eps = 1e-3;

enum { WAVE = 16 };

struct tree {
	struct run_state *run;
	uint32_t stage;
	struct bounds bounds;
	struct candidates *top;
	/* of visited points; the bound of those that were cut; -HUGE_VAL where nothing fits */
	double *score;
	uint32_t *levels; /* without improvement */
	bool *reached, *expanded, *cut;
};

struct wave {
	const struct tree *tree;
	const uint32_t *points;
};

static bool wave_item(void *ctx, uint32_t i, void *result, struct err *err)
{
	const struct wave *w = ctx;
	mcr_run(&w->tree->run->problem, w->tree->stage, w->points[i], result);
	return true;
}

struct rank {
	double bound;
	uint32_t point;
};

static int compare_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	if (x->bound != y->bound)
		return x->bound > y->bound ? -1 : 1;
	return (x->point > y->point) - (x->point < y->point);
}

static void keep(struct tree *t, const struct point_result *r)
{
	struct candidate c = candidate_make(t->run->arena, &t->run->problem, &r->design, r->score);
	c.costs[t->stage] = r->costs[0];
	c.known[t->stage] = true;
	candidates_add(t->top, &c);
}

static bool run_wave(struct tree *t, const uint32_t *points, uint32_t n, struct err *err)
{
	struct wave wave = {.tree = t, .points = points};
	size_t size = sizeof(struct point_result) + sizeof(struct stage_cost);
	struct worker_map map = {
		.fn = wave_item,
		.ctx = &wave,
		.n = n,
		.jobs = t->run->problem.config->jobs,
		.size = size,
	};
	char *results = mem_alloc(n, size);
	bool ok = workers_run(&map, results, err);
	for (uint32_t i = 0; ok && i < n; i++) {
		const struct point_result *r = (const void *)(results + i * size);
		t->score[points[i]] = r->score;
		t->run->out->oracle_calls += r->calls;
		keep(t, r);
	}
	free(results);
	search_progress(t->run, t->top->n > 0 ? t->top->list[0].score : 0);
	return ok;
}

/* The next wave of points whose bounds beat what is known; `at` moves past them and those cut. */
static uint32_t next_wave(
	struct tree *t, const struct rank *ranks, uint32_t n, uint32_t *at, uint32_t points[WAVE])
{
	uint32_t n_points = 0;
	double worst = candidates_worst(t->top);
	for (; *at < n && n_points < WAVE; ++*at) {
		const struct rank *r = &ranks[*at];
		if (r->bound > worst) {
			points[n_points++] = r->point;
			continue;
		}
		t->score[r->point] = r->bound;
		t->run->out->pruned_points++;
	}
	return n_points;
}

/* Visits the level's points that may still matter. */
static bool visit(struct tree *t, const struct rank *ranks, uint32_t n, struct err *err)
{
	uint32_t points[WAVE];
	for (uint32_t at = 0; at < n && !search_spent(t->run);) {
		uint32_t n_points = next_wave(t, ranks, n, &at, points);
		if (n_points > 0 && !run_wave(t, points, n_points, err))
			return false;
	}
	return true;
}

/* The least over the expanded parents: none where the point improves on one, or where one did
 * not fit at all. */
static uint32_t fruitless_levels(const struct tree *t, uint32_t point)
{
	uint32_t parents[LATTICE_AXES], least = UINT32_MAX;
	uint32_t n = lattice_parents(&t->run->problem.lattice, point, parents);
	for (uint32_t i = 0; i < n; i++) {
		if (!t->expanded[parents[i]])
			continue;
		bool better = score_improves(t->score[point], t->score[parents[i]], tree_eps);
		uint32_t levels = better ? 0 : t->levels[parents[i]] + 1;
		least = levels < least ? levels : least;
	}
	return least == UINT32_MAX ? 0 : least;
}

static void expand(struct tree *t, uint32_t point)
{
	const struct lattice *l = &t->run->problem.lattice;
	bool fits = t->score[point] > -HUGE_VAL;
	t->levels[point] = fits ? fruitless_levels(t, point) : 0;
	if (t->levels[point] >= t->run->problem.config->hysteresis && point + 1 != l->n_points)
		return;
	t->expanded[point] = true;
	uint32_t children[LATTICE_AXES], n = lattice_children(l, point, children);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t child = children[i];
		if (t->bounds.subtree[child] > candidates_worst(t->top)) {
			t->reached[child] = true;
		} else if (!t->cut[child]) {
			t->cut[child] = true;
			t->run->out->pruned_points++;
		}
	}
}

static bool visit_level(struct tree *t, uint32_t depth, struct err *err)
{
	const struct lattice *l = &t->run->problem.lattice;
	struct rank *ranks = mem_alloc(l->n_points, sizeof(*ranks));
	uint32_t n = 0;
	for (uint32_t i = 0; i < l->n_points; i++) {
		struct design d = lattice_design(l, i);
		if (t->reached[i] && lattice_depth(l, i) == depth &&
			design_fits(t->run->problem.config, &d))
			ranks[n++] = (struct rank){t->bounds.point[i], i};
	}
	qsort(ranks, n, sizeof(*ranks), compare_rank);
	bool ok = visit(t, ranks, n, err);
	free(ranks);
	for (uint32_t i = 0; ok && i < l->n_points; i++) {
		if (t->reached[i] && lattice_depth(l, i) == depth)
			expand(t, i);
	}
	return ok;
}

static bool search_stage(
	struct run_state *run, uint32_t stage, struct candidates *top, struct err *err)
{
	const struct lattice *l = &run->problem.lattice;
	struct arena scratch = {0};
	struct tree t = {
		.run = run,
		.stage = stage,
		.top = top,
		.score = arena_array(&scratch, l->n_points, double),
		.levels = arena_array(&scratch, l->n_points, uint32_t),
		.reached = arena_array(&scratch, l->n_points, bool),
		.expanded = arena_array(&scratch, l->n_points, bool),
		.cut = arena_array(&scratch, l->n_points, bool),
	};
	for (uint32_t i = 0; i < l->n_points; i++)
		t.score[i] = -HUGE_VAL;
	bounds_build(&scratch, &run->problem, stage, &t.bounds);
	t.reached[l->n_points - 1] = true;
	bool ok = true;
	uint32_t depths = lattice_depth(l, 0) + 1;
	for (uint32_t depth = 0; ok && depth < depths && !search_spent(run); depth++)
		ok = visit_level(&t, depth, err);
	arena_free(&scratch);
	return ok;
}

static void merge(
	struct problem *p, struct candidates *all, const struct candidates *top, uint32_t stage)
{
	for (uint32_t i = 0; i < top->n; i++) {
		const struct candidate *c = &top->list[i];
		for (uint32_t j = 0; j < all->n; j++) {
			if (design_compare(&all->list[j].design, &c->design) != 0)
				continue;
			all->list[j].costs[stage] = c->costs[stage];
			all->list[j].known[stage] = true;
		}
		candidates_add(all, c);
	}
}

static bool wham_propose(struct run_state *run, struct candidates *found, struct err *err)
{
	struct problem *p = &run->problem;
	uint32_t k = p->config->top_k;
	candidates_init(run->arena, found, k * p->n_stages);
	for (uint32_t i = 0; i < p->n_stages; i++) {
		struct candidates top;
		candidates_init(run->arena, &top, k);
		if (!search_stage(run, i, &top, err))
			return false;
		merge(p, found, &top, i);
	}
	return true;
}

static bool wham_run(struct arena *a, const struct search_config *config, struct search_result *out,
	struct err *err)
{
	return search_drive(a, config, wham_propose, out, err);
}

const struct search_algo search_wham = {"wham", wham_run};
