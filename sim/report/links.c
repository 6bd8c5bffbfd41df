/* What each link carried, and topologies as drawings. */
#include "report/internal.h"
#include "report/report.h"

static const char *const columns[] = {"topology", "algorithm", "link", "from", "to",
	"bandwidth_Bps", "latency_s", "bytes", "utilisation"};

void report_links_begin(struct arena *a, struct table *t)
{
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
}

void report_links_add(
	struct table *t, const struct topo *topo, const char *algo, const struct run_result *run)
{
	for (uint32_t i = 0; i < run->n_links; i++) {
		const struct run_link *r = &run->links[i];
		const struct topo_link *link = &topo->links[r->link];
		table_cell(t, "%s", topo->name);
		table_cell(t, "%s", algo);
		table_cell(t, "%s", link->name);
		table_cell(t, "%s", topo->nodes[link->from].name);
		table_cell(t, "%s", topo->nodes[link->to].name);
		table_cell(t, "%ju", (uintmax_t)link->bytes_per_s);
		table_cell(t, "%.12g", ticks_to_s(link->latency));
		table_cell(t, "%.12g", r->bytes);
		table_cell(t, "%.6f", r->utilisation);
	}
}

static void add_quoted(struct text *out, const char *s)
{
	text_add(out, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			text_add(out, "\\");
		text_add_bytes(out, s, 1);
	}
	text_add(out, "\"");
}

enum { PAIRED_MAX = 20000 };

/* A link whose opposite is alike is drawn once, with both directions, in all but huge graphs. */
static bool has_opposite(const struct topo *t, const struct topo_link *link)
{
	for (uint32_t i = 0; i < t->n_links && t->n_links <= PAIRED_MAX; i++) {
		const struct topo_link *back = &t->links[i];
		if (back->from == link->to && back->to == link->from &&
			back->bytes_per_s == link->bytes_per_s && back->latency == link->latency)
			return true;
	}
	return false;
}

void report_topology_dot(const struct topo *topo, struct text *out)
{
	char bw[UNIT_TEXT], lat[UNIT_TEXT];
	text_add(out, "digraph ");
	add_quoted(out, topo->name);
	text_add(out, " {\n");
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		text_add(out, "\t");
		add_quoted(out, topo->nodes[i].name);
		text_add(out, " [shape=%s];\n", i < topo->n_devices ? "box" : "ellipse");
	}
	for (uint32_t i = 0; i < topo->n_links; i++) {
		const struct topo_link *link = &topo->links[i];
		bool both = has_opposite(topo, link);
		if (both && link->from > link->to)
			continue;
		text_add(out, "\t");
		add_quoted(out, topo->nodes[link->from].name);
		text_add(out, " -> ");
		add_quoted(out, topo->nodes[link->to].name);
		text_add(out, " [dir=%s, label=\"%s, %s\"];\n", both ? "both" : "forward",
			unit_print(bw, UNIT_BANDWIDTH, link->bytes_per_s),
			unit_print(lat, UNIT_TIME, link->latency));
	}
	text_add(out, "}\n");
}
