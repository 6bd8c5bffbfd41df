/* What following the closed form costs, one line for each model and topology. */
#include "report/internal.h"
#include "report/plan.h"

static const char *grid_text(struct arena *a, const struct grid_row *row)
{
	return row ? arena_printf(a, "%ux%u %s", row->grid.pr, row->grid.pc, row->variant) : "";
}

/* By how much the grid that the closed form calls best takes longer than the best one. */
static double cost_of_advice(const struct grid_best *b)
{
	return b->analytic->simulated.total / b->simulated->simulated.total - 1;
}

/* Another grid or scheme, not another equation for it. */
static bool changes(const struct grid_best *b)
{
	return b->analytic->grid.pr != b->simulated->grid.pr ||
	       b->analytic->scheme != b->simulated->scheme;
}

static bool is_known(const struct grid_best *b)
{
	return b->simulated && b->analytic->is_simulated;
}

void report_advice_table(
	struct arena *a, const struct advice_row *rows, uint32_t n_rows, struct table *t)
{
	static const char *const columns[] = {"model", "topology", "best_analytic", "analytic_ms",
		"simulated_ms", "best_simulated", "best_simulated_ms", "advice_costs_%", "other"};
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	for (uint32_t i = 0; i < n_rows; i++) {
		const struct grid_best *b = &rows[i].best;
		table_cell(t, "%s", rows[i].model);
		table_cell(t, "%s", rows[i].topology);
		table_cell(t, "%s", grid_text(a, b->analytic));
		table_cell(t, "%.4f", 1e3 * b->analytic->analytic.total);
		if (!is_known(b)) {
			for (int k = 0; k < 5; k++)
				table_cell(t, "%s", "");
			continue;
		}
		table_cell(t, "%.4f", 1e3 * b->analytic->simulated.total);
		table_cell(t, "%s", grid_text(a, b->simulated));
		table_cell(t, "%.4f", 1e3 * b->simulated->simulated.total);
		table_cell(t, "%.2f", 100 * cost_of_advice(b));
		table_cell(t, "%s", changes(b) ? "yes" : "no");
	}
}

static json_t *best_json(const struct grid_row *row)
{
	json_t *o = json_object();
	put_uint(o, "pr", row->grid.pr);
	put_uint(o, "pc", row->grid.pc);
	put_text(o, "variant", row->variant);
	put_real(o, "analytic_total_s", row->analytic.total);
	if (row->is_simulated)
		put_real(o, "simulated_total_s", row->simulated.total);
	return o;
}

json_t *report_advice_json(const struct advice_row *rows, uint32_t n_rows)
{
	json_t *root = json_object(), *list = json_array();
	for (uint32_t i = 0; i < n_rows; i++) {
		const struct grid_best *b = &rows[i].best;
		json_t *o = json_object();
		put_text(o, "model", rows[i].model);
		put_text(o, "topology", rows[i].topology);
		put_real(o, "alpha_s", rows[i].machine.alpha);
		put_real(o, "beta_s_per_byte", rows[i].machine.beta);
		put(o, "analytic", best_json(b->analytic));
		if (is_known(b)) {
			put(o, "simulated", best_json(b->simulated));
			put_real(o, "advice_cost", cost_of_advice(b));
			put(o, "advice_changes", json_boolean(changes(b)));
		}
		json_array_append_new(list, o);
	}
	put(root, "advice", list);
	return root;
}
