/* Topologies that are read, measured and, where they are SimGrid's, loaded; good or bad, all of
 * them. */
#include <string.h>

#include "cli/topology.h"
#include "run/run.h"

static const char *const columns[] = {"topology", "verdict", "devices", "switches", "links",
	"diameter", "bisection_Bps", "closed_form", "remarks"};

/* SimGrid takes its file: two hosts can meet. */
static bool load_platform(struct request *q, const struct topo *topo, struct err *err)
{
	struct run_config config = {.topo = topo};
	struct run_result run;
	uint32_t devices[] = {0, 1};
	struct coll_request coll = {coll_find(COLL_BROADCAST, NULL), devices, 2, 1, 0};
	if (!load_net(q, &config.net, err))
		return false;
	return topo->n_devices < 2 || config.net != NET_SIMGRID ||
	       run_coll(q->a, &coll, &config, &run, err);
}

/* "agrees", or what differs between formula and count. */
static const char *compare_formula(
	struct arena *a, const struct topo_figures *count, const struct topo_figures *formula)
{
	if (!formula)
		return "none";
	if (formula->cables != count->cables)
		return arena_printf(a, "%u cables, counted %u", formula->cables, count->cables);
	if (formula->diameter != count->diameter)
		return arena_printf(
			a, "diameter %u, counted %u", formula->diameter, count->diameter);
	if (formula->bisection_bytes_per_s == 0)
		return "agrees (none for this bisection)";
	if (formula->bisection_bytes_per_s != count->bisection_bytes_per_s)
		return arena_printf(
			a, "bisection %ju B/s", (uintmax_t)formula->bisection_bytes_per_s);
	return "agrees";
}

static void add_good(
	struct request *q, const struct topo *topo, const struct topo_figures *f, struct table *t)
{
	table_cell(t, "%s", topo->name);
	table_cell(t, "ok");
	table_cell(t, "%u", topo->n_devices);
	table_cell(t, "%u", topo->n_nodes - topo->n_devices);
	table_cell(t, "%u", topo->n_links);
	if (topo->platform_xml) {
		for (int i = 0; i < 3; i++)
			table_cell(t, "-");
	} else {
		table_cell(t, "%u", f->diameter);
		table_cell(t, "%ju", (uintmax_t)f->bisection_bytes_per_s);
		table_cell(t, "%s", compare_formula(q->a, f, topo->formula));
	}
	table_cell(t, "%s", topo->n_warnings > 0 ? topo->warnings[0] : "");
}

static void add_bad(const char *name, const struct err *err, struct table *t)
{
	table_cell(t, "%s", name);
	table_cell(t, "refused");
	for (size_t i = 2; i + 1 < sizeof(columns) / sizeof(*columns); i++)
		table_cell(t, "-");
	table_cell(t, "%s", err->text);
}

bool topology_run_check(struct request *q, struct err *err)
{
	struct table t = {
		.a = q->a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	struct err first = {0};
	uint32_t n_bad = 0;
	for (uint32_t i = 1; i < q->files.n; i++) {
		struct topo *topo;
		struct topo_figures figures = {0};
		struct err one = {0};
		bool ok = topology_load(q, i, &topo, &one);
		if (ok)
			ok = topo->platform_xml ? load_platform(q, topo, &one)
						: topo_measure(topo, &figures, &one);
		if (ok) {
			add_good(q, topo, &figures, &t);
			continue;
		}
		add_bad(q->files.items[i], &one, &t);
		if (n_bad++ == 0)
			first = one;
	}
	if (!topology_write_table(q, &t, err))
		return false;
	if (n_bad == 0)
		return true;
	*err = first;
	if (n_bad > 1)
		err_prefix(err, "%u topologies refused, the first: ", n_bad);
	return false;
}
