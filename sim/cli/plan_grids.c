/* Grids and variants of `wham plan`: closed forms first, then what was simulated, then in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plan.h"

struct grid_question plan_question(const struct planning *p, const struct grid_row *row)
{
	struct grid_question question = p->c.q;
	question.grid = row->grid;
	return question;
}

static void put_terms(const struct integrated_terms *t, struct grid_seconds *out)
{
	out->s[TERM_ALL_GATHER] = t->all_gather;
	out->s[TERM_DX_ALL_REDUCE] = t->dx_all_reduce;
	out->s[TERM_DW_ALL_REDUCE] = t->dw_all_reduce;
	out->s[TERM_HALO_FORWARD] = t->halo_forward;
	out->s[TERM_HALO_BACKWARD] = t->halo_backward;
	out->s[TERM_REDISTRIBUTE] = t->redistribute;
}

enum grid_kind plan_kind(const struct grid_question *q, uint32_t layer)
{
	return q->layers[layer].conv ? GRID_CONV : GRID_FC;
}

struct integrated_terms plan_layer_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, const enum grid_way *ways, uint32_t layer)
{
	return rules->all_reduce ? integrated_ways_layer(c, rules, ways, layer)
				 : integrated_layer_terms(c, rules, layer, ways[layer]);
}

/* Of the layers of each kind. */
static void add_kinds(
	const struct integrated_case *c, const struct integrated_rules *rules, struct grid_row *row)
{
	for (uint32_t i = 0; i < c->q.n_layers; i++) {
		struct integrated_terms t = plan_layer_terms(c, rules, row->ways, i);
		row->analytic.of_kind[plan_kind(&c->q, i)] += integrated_terms_s(&t);
	}
}

static bool compute(struct request *q, const struct planning *p, const struct integrated_case *c,
	struct grid_row *row, struct err *err)
{
	struct grid_times *times = arena_array(q->a, c->q.n_layers, struct grid_times);
	struct err why;
	if (!p->computing || row->refused)
		return true;
	if (!plan_compute_times(p->computing, &c->q, row->ways, times, &why))
		return plan_cannot_compute(p->computing, &why, row, err);
	row->times = times;
	for (uint32_t i = 0; i < c->q.n_layers; i++) {
		double s = ticks_to_s(times[i].forward + times[i].dx + times[i].dw);
		row->analytic.s[TERM_COMPUTE] += s;
		row->analytic.of_kind[plan_kind(&c->q, i)] += s;
	}
	return true;
}

/* A grid, and the equations for it. */
struct reading {
	struct integrated_case c;
	struct integrated_rules rules;
};

static bool estimate(struct request *q, const struct planning *p, const struct reading *r,
	const struct integrated_terms *terms, struct grid_row *row, struct err *err)
{
	put_terms(terms, &row->analytic);
	add_kinds(&r->c, &r->rules, row);
	if (!compute(q, p, &r->c, row, err))
		return false;
	row->analytic.total =
		integrated_iteration_s(terms, row->analytic.s[TERM_COMPUTE], p->options.overlap);
	row->is_estimated = true;
	row->memory_bytes = grid_memory_bytes(&r->c.q, row->ways, WEIGHT_COPIES);
	return true;
}

/* What the exact closed forms reduce by is what is run. */
struct integrated_rules plan_rules(const struct planning *p, const struct grid_row *row)
{
	struct err why;
	const struct integrated_rules *named = integrated_variant(row->variant, &why);
	struct integrated_rules own = *(named ? named : integrated_variant("exact-fc", &why));
	own.all_reduce = own.all_reduce ? p->form : NULL;
	return own;
}

/* What no way computes in time is chosen by what it moves. */
static bool choose(struct request *q, const struct planning *p, const struct reading *r,
	enum grid_way *ways, struct integrated_terms *out)
{
	const double *compute_s = plan_compute_ways(q, p->computing, &r->c.q);
	return integrated_choose(q->a, &r->c, &r->rules, compute_s, ways, out) ||
	       integrated_choose(q->a, &r->c, &r->rules, NULL, ways, out);
}

/* Printed equations have a value for grids that nothing could be executed on, such as more processes
 * than channels; but not without a sample for each group or a machine. */
static bool has_value(const struct planning *p, const struct reading *r)
{
	struct err why;
	struct integrated_case bare = r->c;
	bare.q.n_layers = 0;
	return !r->rules.all_reduce && integrated_check(&bare, &r->rules, p->processes, &why);
}

/* A row of the rules; NULL: of the best way of each layer. */
static bool add_row(struct request *q, const struct planning *p,
	const struct integrated_rules *named, struct process_grid grid, struct plan_rows *out,
	struct err *err)
{
	struct err why = {0};
	struct integrated_terms terms = {0};
	struct grid_row *row = &arena_push(q->a, out->rows, out->n, out->cap);
	*row = (struct grid_row){.grid = grid, .variant = named ? named->name : "choice"};
	struct reading r = {p->c, plan_rules(p, row)};
	enum grid_way *ways = arena_array(q->a, r.c.q.n_layers, enum grid_way);
	r.c.q.grid = grid;
	bool fits = named ? integrated_check(&r.c, &r.rules, p->processes, &why)
			  : grid_check(&r.c.q, p->processes, &why);
	if (!fits)
		row->refused = arena_strdup(q->a, why.text);
	else if (!named && !choose(q, p, &r, ways, &terms))
		row->refused = "a layer that can go no way";
	if (row->refused && (!named || !has_value(p, &r)))
		return true;
	if (named) {
		terms = integrated_comm(&r.c, &r.rules);
		integrated_ways(&r.c, &r.rules, ways);
	}
	row->ways = ways;
	if (isfinite(integrated_terms_s(&terms)))
		return estimate(q, p, &r, &terms, row, err);
	row->refused = row->refused ? row->refused : "the closed form has no finite value";
	return true;
}

/* By their standing; among equals the smaller Pr, then the name. */
static int by_time(const void *va, const void *vb)
{
	const struct grid_row *a = va, *b = vb;
	double ta = grid_row_s(a), tb = grid_row_s(b);
	if (grid_row_standing(a) != grid_row_standing(b))
		return grid_row_standing(a) < grid_row_standing(b) ? -1 : 1;
	if (ta < tb || tb < ta)
		return ta < tb ? -1 : 1;
	if (a->grid.pr != b->grid.pr)
		return a->grid.pr < b->grid.pr ? -1 : 1;
	return strcmp(a->variant, b->variant);
}

/* The variants that were asked for, on one grid. */
static bool add_grid(struct request *q, struct planning *p, struct process_grid grid,
	struct plan_rows *out, struct err *err)
{
	const char *name = q->variant ? q->variant : "eq8-fc";
	bool all = strcmp(name, "all") == 0;
	for (size_t v = 0; integrated_variants[v]; v++) {
		const struct integrated_rules *rules = integrated_variants[v];
		bool calibrated = rules->extra_gather_words > 0;
		bool wanted = all ? !calibrated : strcmp(rules->name, name) == 0;
		if (wanted && !add_row(q, p, rules, grid, out, err))
			return false;
	}
	bool chosen = all || strcmp(name, "choice") == 0;
	if (chosen && !add_row(q, p, NULL, grid, out, err))
		return false;
	return !q->compare || plan_add_schemes(q, p, grid, out, err);
}

static bool find_variant(const struct request *q, struct err *err)
{
	static const char *const ours[] = {"all", "choice"};
	for (size_t i = 0; i < 2; i++)
		if (!q->variant || strcmp(q->variant, ours[i]) == 0)
			return true;
	return integrated_variant(q->variant, err) != NULL;
}

static void describe(struct request *q, const struct planning *p, struct grid_report *out)
{
	*out = (struct grid_report){.model = p->model.name,
		.question = p->c,
		.processes = p->processes,
		.topology = p->simulate ? p->topo.summary : NULL,
		.network = p->simulate ? "simgrid" : "analytic",
		.machine_source = p->machine_source,
		.compute = p->computing ? plan_computing_name(p->computing) : NULL,
		.compute_perfect_s = plan_compute_perfect_s(q, p->computing, p),
		.schemes = q->compare,
		.overlap = q->overlap,
		.full = q->csv || q->verbose,
		.csv = q->csv,
		.iterations = q->samples ? integrated_iterations(
						   q->samples, q->batch, !q->fractional_epoch)
					 : 0};
}

/* What is missing of every grid is said once. */
static void warn_of_missing(
	struct request *q, const struct planning *p, const struct plan_rows *rows)
{
	const char *uncomputed = NULL, *unscheduled = NULL;
	bool computed = false, simulated = false;
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct grid_row *row = &rows->rows[i];
		computed |= row->times != NULL;
		simulated |= row->is_simulated;
		uncomputed = uncomputed ? uncomputed : row->uncomputed;
		unscheduled = unscheduled ? unscheduled : row->unscheduled;
	}
	if (uncomputed && !computed)
		report_warn(q->a, &q->report, "not_computed",
			arena_printf(q->a, "computation is known of no grid: %s", uncomputed));
	if (p->simulate && unscheduled && !simulated && !interrupted())
		report_warn(q->a, &q->report, "not_simulated",
			arena_printf(q->a, "no grid can be simulated: %s", unscheduled));
}

/* The divisors of n, in order; returns how many. */
static uint32_t divisors(struct arena *a, uint32_t n, uint32_t **out)
{
	uint32_t *list = NULL, k = 0, cap = 0;
	uint64_t d = 1;
	for (; d * d <= n; d++)
		if (n % d == 0)
			arena_push(a, list, k, cap) = (uint32_t)d;
	for (d--; d > 0; d--)
		if (n % d == 0 && d * d < n)
			arena_push(a, list, k, cap) = (uint32_t)(n / d);
	*out = list;
	return k;
}

bool plan_grids(struct request *q, struct planning *p, struct grid_report *out, struct err *err)
{
	struct plan_rows rows = {0};
	uint32_t *pr, n = divisors(q->a, p->processes, &pr), only = q->grid ? p->c.q.grid.pr : 0;
	if (!find_variant(q, err))
		return false;
	for (uint32_t i = 0; i < n && !interrupted(); i++) {
		struct process_grid grid = {pr[i], p->processes / pr[i]};
		if ((only == 0 || pr[i] == only) && !add_grid(q, p, grid, &rows, err))
			return false;
	}
	if (p->simulate && !plan_simulate(q, p, &rows, err))
		return false;
	warn_of_missing(q, p, &rows);
	if (rows.n > 0)
		qsort(rows.rows, rows.n, sizeof(*rows.rows), by_time);
	describe(q, p, out);
	out->rows = rows.rows;
	out->n_rows = rows.n;
	for (uint32_t i = 0; i < rows.n; i++)
		out->n_answered += rows.rows[i].is_estimated;
	return true;
}
