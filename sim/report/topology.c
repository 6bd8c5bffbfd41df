/* Topologies and the cost of collectives on them. */
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"
#include "report/report.h"

static double algbw(const struct cost_row *r)
{
	return r->run.end > 0 ? (double)r->bytes / ticks_to_s(r->run.end) : 0;
}

static const char *hottest(const struct cost_row *r)
{
	return r->run.n_links > 0 ? r->topo->links[r->run.links[0].link].name : "";
}

static json_t *row_json(const struct cost_row *r)
{
	json_t *o = json_object();
	put_text(o, "topology", r->topology);
	put_text(o, "collective", coll_kind_name(r->kind));
	put_text(o, "algorithm", r->algo);
	put_uint(o, "ranks", r->n_ranks);
	put_uint(o, "bytes", r->bytes);
	put_time(o, "time_s", r->run.end);
	put_real(o, "algbw_Bps", algbw(r));
	put_real(o, "busbw_Bps", algbw(r) * coll_busbw_factor(r->kind, r->n_ranks));
	put_uint(o, "messages", r->run.n_messages);
	json_t *link = json_object();
	if (r->run.n_links > 0) {
		put_text(link, "name", hottest(r));
		put_real(link, "bytes", r->run.links[0].bytes);
		put_real(link, "utilisation", r->run.links[0].utilisation);
	}
	put(o, "hottest_link", link);
	return o;
}

json_t *report_cost_json(const struct cost_row *rows, uint32_t n_rows)
{
	if (n_rows == 1)
		return row_json(&rows[0]);
	json_t *root = json_object(), *list = json_array();
	for (uint32_t i = 0; i < n_rows; i++)
		json_array_append_new(list, row_json(&rows[i]));
	put(root, "rows", list);
	return root;
}

void report_cost_table(
	struct arena *a, const struct cost_row *rows, uint32_t n_rows, struct table *t)
{
	static const char *const columns[] = {"topology", "collective", "algorithm", "ranks",
		"bytes", "time_us", "algbw_GBps", "busbw_GBps", "hottest_link", "utilisation"};
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	for (uint32_t i = 0; i < n_rows; i++) {
		const struct cost_row *r = &rows[i];
		table_cell(t, "%s", r->topology);
		table_cell(t, "%s", coll_kind_name(r->kind));
		table_cell(t, "%s", r->algo);
		table_cell(t, "%u", r->n_ranks);
		table_cell(t, "%ju", (uintmax_t)r->bytes);
		table_cell(t, "%.6f", ticks_to_s(r->run.end) * 1e6);
		table_cell(t, "%.4f", algbw(r) / 1e9);
		table_cell(t, "%.4f", algbw(r) * coll_busbw_factor(r->kind, r->n_ranks) / 1e9);
		table_cell(t, "%s", hottest(r));
		table_cell(t, "%.3f", r->run.n_links > 0 ? r->run.links[0].utilisation : 0);
	}
}

/* Whether no other row of the same size is faster. */
static bool is_best(const struct cost_row *rows, uint32_t n_rows, const struct cost_row *r)
{
	for (uint32_t i = 0; i < n_rows; i++)
		if (rows[i].bytes == r->bytes && rows[i].run.end < r->run.end)
			return false;
	return true;
}

void report_sweep_table(
	struct arena *a, const struct cost_row *rows, uint32_t n_rows, struct table *t)
{
	static const char *const columns[] = {"topology", "collective", "algorithm", "ranks",
		"bytes", "time_us", "algbw_GBps", "busbw_GBps", "best"};
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	for (uint32_t i = 0; i < n_rows; i++) {
		const struct cost_row *r = &rows[i];
		table_cell(t, "%s", r->topology);
		table_cell(t, "%s", coll_kind_name(r->kind));
		table_cell(t, "%s", r->algo);
		table_cell(t, "%u", r->n_ranks);
		table_cell(t, "%ju", (uintmax_t)r->bytes);
		table_cell(t, "%.6f", ticks_to_s(r->run.end) * 1e6);
		table_cell(t, "%.4f", algbw(r) / 1e9);
		table_cell(t, "%.4f", algbw(r) * coll_busbw_factor(r->kind, r->n_ranks) / 1e9);
		table_cell(t, "%s", is_best(rows, n_rows, r) ? "*" : "");
	}
}

static json_t *cell_json(const char *cell)
{
	char *end;
	double v = strtod(cell, &end);
	bool digits = (cell[0] >= '0' && cell[0] <= '9') || cell[0] == '-';
	if (!digits || end == cell || *end != '\0')
		return json_string(cell);
	return strpbrk(cell, ".eE") || v > 9e15 || v < -9e15 ? json_real(v)
							     : json_integer((json_int_t)v);
}

json_t *report_table_json(const struct table *t)
{
	json_t *root = json_object(), *list = json_array();
	for (size_t row = 0; row < t->n_cells; row += t->n_columns) {
		json_t *o = json_object();
		for (size_t i = 0; i < t->n_columns; i++)
			put(o, t->columns[i], cell_json(t->cells[row + i]));
		json_array_append_new(list, o);
	}
	put(root, "rows", list);
	return root;
}

json_t *report_topology_json(const struct topo *topo, const struct topo_figures *figures)
{
	json_t *root = json_object();
	put_text(root, "name", topo->name);
	put_text(root, "family", topo->family);
	put_text(root, "summary", topo->summary);
	put_uint(root, "hosts", topo->n_devices);
	put_uint(root, "switches", topo->n_nodes - topo->n_devices);
	put_uint(root, "links", topo->n_links);
	if (figures) {
		put_uint(root, "cables", figures->cables);
		put_uint(root, "diameter", figures->diameter);
		put_uint(root, "bisection_Bps", figures->bisection_bytes_per_s);
		put_real(root, "mean_hops", figures->mean_hops);
	}
	if (topo->formula) {
		json_t *o = json_object();
		put_uint(o, "cables", topo->formula->cables);
		put_uint(o, "diameter", topo->formula->diameter);
		if (topo->formula->bisection_bytes_per_s > 0)
			put_uint(o, "bisection_Bps", topo->formula->bisection_bytes_per_s);
		put(root, "closed_form", o);
	}
	return root;
}

void report_topology_text(struct arena *a, const struct topo *topo,
	const struct topo_figures *figures, struct text *out)
{
	char bw[UNIT_TEXT];
	text_add(out, "%s: %s\n", topo->name, topo->summary);
	text_add(out, "devices    %u\nswitches   %u\n", topo->n_devices,
		topo->n_nodes - topo->n_devices);
	if (!figures) {
		text_add(out, "links      %u spelled out in the file; routes are SimGrid's\n",
			topo->n_links);
		return;
	}
	text_add(out, "cables     %u (each direction a link of its own)\n", figures->cables);
	text_add(out, "diameter   %u links, mean %.3f\n", figures->diameter, figures->mean_hops);
	text_add(out, "bisection  %s per direction\n",
		unit_print(bw, UNIT_BANDWIDTH, figures->bisection_bytes_per_s));
}
