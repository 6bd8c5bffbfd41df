/* Topologies and the cost of collectives on them. */
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
