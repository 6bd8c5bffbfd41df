/* The grids of `wham plan` as JSON. */
#include "report/internal.h"
#include "report/plan.h"

static json_t *terms_json(const struct grid_seconds *t)
{
	json_t *o = json_object();
	for (int k = TERM_COMPUTE + 1; k < N_ITERATION_TERMS; k++) {
		char key[40];
		/* What only other schemes have is left out elsewhere. */
		if (k >= TERM_FORWARD && !(t->s[k] > 0))
			continue;
		snprintf(key, sizeof(key), "%s_s", iteration_term_name((enum iteration_term)k));
		put_real(o, key, t->s[k]);
	}
	return o;
}

static json_t *ways_json(const struct grid_question *q, const enum grid_way *ways)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < q->n_layers; i++) {
		json_t *o = json_object();
		put_text(o, "name", q->layers[i].name);
		put_text(o, "way", grid_way_name(ways[i]));
		json_array_append_new(list, o);
	}
	return list;
}

static void put_seconds(json_t *o, const char *key, bool known, double value)
{
	if (known)
		put_real(o, key, value);
	else
		put(o, key, json_null());
}

static void put_simulated(json_t *o, const struct grid_report *r, const struct grid_row *row)
{
	const struct grid_seconds *t = &row->simulated;
	bool known = row->is_simulated;
	put_seconds(o, "simulated_comm_s", known, grid_comm_s(t));
	put_seconds(o, "simulated_total_s", known, t->total);
	if (r->iterations > 0)
		put_seconds(o, "simulated_epoch_s", known, t->total * r->iterations);
	if (known) {
		put(o, "simulated_terms", terms_json(t));
		put(o, "folded", json_boolean(row->folded));
		put(o, "exact", json_boolean(row->exact));
	}
	if (row->unscheduled)
		put_text(o, "not_simulated", row->unscheduled);
}

static json_t *grid_json(const struct grid_report *r, const struct grid_row *row)
{
	json_t *o = json_object();
	put_uint(o, "pr", row->grid.pr);
	put_uint(o, "pc", row->grid.pc);
	put_text(o, "variant", row->variant);
	if (row->refused)
		put_text(o, "refused", row->refused);
	if (row->uncomputed)
		put_text(o, "not_computed", row->uncomputed);
	bool computed = r->compute && !row->refused && !row->uncomputed;
	bool whole = row->is_estimated && !row->uncomputed;
	put_seconds(o, "analytic_comm_s", row->is_estimated, grid_comm_s(&row->analytic));
	put_seconds(o, "compute_s", computed, row->analytic.s[TERM_COMPUTE]);
	put_seconds(o, "analytic_total_s", whole, row->analytic.total);
	if (r->iterations > 0)
		put_seconds(o, "analytic_epoch_s", whole, row->analytic.total * r->iterations);
	if (row->is_estimated)
		put(o, "terms", terms_json(&row->analytic));
	put_simulated(o, r, row);
	put_seconds(o, "memory_bytes", row->is_estimated, row->memory_bytes);
	if (row->ways)
		put(o, "ways", ways_json(&r->question.q, row->ways));
	return o;
}

static json_t *best_row_json(const struct grid_row *row, double seconds)
{
	json_t *o = json_object();
	put_uint(o, "pr", row->grid.pr);
	put_uint(o, "pc", row->grid.pc);
	put_text(o, "variant", row->variant);
	put_real(o, "time_s", seconds);
	return o;
}

static json_t *best_json(const struct grid_best *best, int kind)
{
	const struct grid_row *a = best->analytic, *s = best->simulated;
	json_t *o = json_object();
	if (a)
		put(o, "analytic",
			best_row_json(a, kind < 0 ? a->analytic.total : a->analytic.of_kind[kind]));
	if (s)
		put(o, "simulated",
			best_row_json(
				s, kind < 0 ? s->simulated.total : s->simulated.of_kind[kind]));
	return o;
}

json_t *report_grids_json(const struct grid_report *r)
{
	json_t *root = json_object(), *list = json_array();
	struct grid_best all = report_grids_best(r), conv = report_grids_best_of(r, GRID_CONV),
			 fc = report_grids_best_of(r, GRID_FC);
	put_text(root, "model", r->model);
	put_uint(root, "n_layers", r->question.q.n_layers);
	put_uint(root, "batch", r->question.q.batch);
	put_uint(root, "processes", r->processes);
	put_uint(root, "word_bytes", r->question.q.word_bytes);
	put_real(root, "alpha_s", r->question.machine.alpha);
	put_real(root, "beta_s_per_byte", r->question.machine.beta);
	put_real(root, "gamma_s_per_byte", r->question.machine.gamma);
	put_text(root, "machine", r->machine_source);
	put_text(root, "network", r->network);
	if (r->topology)
		put_text(root, "topology", r->topology);
	if (r->compute)
		put_text(root, "compute", r->compute);
	if (r->compute_perfect_s > 0)
		put_real(root, "compute_perfect_s", r->compute_perfect_s);
	put(root, "overlap", json_boolean(r->overlap));
	if (r->iterations > 0)
		put_real(root, "iterations_per_epoch", r->iterations);
	for (uint32_t i = 0; i < r->n_rows; i++)
		json_array_append_new(list, grid_json(r, &r->rows[i]));
	put(root, "grids", list);
	json_t *best = best_json(&all, -1);
	put(best, "conv", best_json(&conv, GRID_CONV));
	put(best, "fc", best_json(&fc, GRID_FC));
	put(root, "best", best);
	if (r->detailed) {
		put(root, "layers_of", best_row_json(r->detailed, grid_row_s(r->detailed)));
		put(root, "layers", report_grid_layers_json(r));
	}
	return root;
}
