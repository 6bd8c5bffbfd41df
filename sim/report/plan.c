#include "report/plan.h"

#include "report/internal.h"

static json_t *terms_json(const struct integrated_terms *t)
{
	json_t *o = json_object();
	put_real(o, "all_gather_s", t->all_gather);
	put_real(o, "dx_all_reduce_s", t->dx_all_reduce);
	put_real(o, "dw_all_reduce_s", t->dw_all_reduce);
	put_real(o, "halo_forward_s", t->halo_forward);
	put_real(o, "halo_backward_s", t->halo_backward);
	return o;
}

static json_t *grid_json(const struct grid_row *row)
{
	json_t *o = json_object();
	put_uint(o, "pr", row->grid.pr);
	put_uint(o, "pc", row->grid.pc);
	put_text(o, "variant", row->rules->name);
	if (row->refused) {
		put_text(o, "refused", row->refused);
		return o;
	}
	put_real(o, "analytic_comm_s", integrated_terms_s(&row->terms));
	put(o, "terms", terms_json(&row->terms));
	put_real(o, "memory_bytes", row->memory_bytes);
	return o;
}

json_t *report_grids_json(const struct grid_report *r)
{
	json_t *root = json_object(), *list = json_array();
	put_text(root, "model", r->model);
	put_uint(root, "layers", r->question.q.n_layers);
	put_uint(root, "batch", r->question.q.batch);
	put_uint(root, "processes", r->processes);
	put_uint(root, "word_bytes", r->question.q.word_bytes);
	put_real(root, "alpha_s", r->question.machine.alpha);
	put_real(root, "beta_s_per_byte", r->question.machine.beta);
	for (uint32_t i = 0; i < r->n_rows; i++)
		json_array_append_new(list, grid_json(&r->rows[i]));
	put(root, "grids", list);
	return root;
}

static void add_times(const struct grid_row *row, struct table *t)
{
	const struct integrated_terms *k = &row->terms;
	table_cell(t, "%.6f", integrated_terms_s(k) * 1e3);
	table_cell(t, "%.6f", k->all_gather * 1e3);
	table_cell(t, "%.6f", k->dx_all_reduce * 1e3);
	table_cell(t, "%.6f", k->dw_all_reduce * 1e3);
	table_cell(t, "%.6f", (k->halo_forward + k->halo_backward) * 1e3);
	table_cell(t, "%.3f", row->memory_bytes / (1 << 20));
}

void report_grids_table(struct arena *a, const struct grid_report *r, struct table *t)
{
	static const char *const columns[] = {"pr", "pc", "variant", "analytic_comm_ms",
		"all_gather_ms", "dx_all_reduce_ms", "dw_all_reduce_ms", "halo_ms", "memory_MiB",
		"refused"};
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct grid_row *row = &r->rows[i];
		table_cell(t, "%u", row->grid.pr);
		table_cell(t, "%u", row->grid.pc);
		table_cell(t, "%s", row->rules->name);
		if (!row->refused)
			add_times(row, t);
		for (int k = 0; row->refused && k < 6; k++)
			table_cell(t, "%s", "");
		table_cell(t, "%s", row->refused ? row->refused : "");
	}
}
