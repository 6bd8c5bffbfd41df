#include <string.h>

#include "base/file.h"
#include "cli/topology.h"

bool topology_load(struct request *q, uint32_t i, struct topo **out, struct err *err)
{
	*out = arena_new(q->a, struct topo);
	return load_topology(q, q->files.items[i], *out, err);
}

bool topology_write_table(struct request *q, const struct table *t, struct err *err)
{
	if (q->json)
		return write_json(q, report_table_json(t), err);
	if (q->csv)
		return write_csv(q, t, err);
	struct text out = {0};
	table_print(t, &out, q->verbose ? 0 : 60);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool write_dot(struct request *q, const struct topo *topo, struct err *err)
{
	struct text out = {0};
	if (!q->dot)
		return true;
	if (topo->platform_xml)
		return err_set(err, ERR_USAGE,
			"--dot: %s is a SimGrid platform, whose links only SimGrid knows",
			topo->name);
	report_topology_dot(topo, &out);
	bool ok = file_write(q->dot, out.data, out.n, err);
	text_free(&out);
	return ok;
}

bool topology_run_show(struct request *q, struct err *err)
{
	struct topo *topo;
	struct topo_figures figures;
	if (!topology_load(q, 1, &topo, err) || !write_dot(q, topo, err))
		return false;
	bool known = !topo->platform_xml;
	if (known && !topo_measure(topo, &figures, err))
		return false;
	if (q->json)
		return write_json(q, report_topology_json(topo, known ? &figures : NULL), err);
	struct text out = {0};
	report_topology_text(q->a, topo, known ? &figures : NULL, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

bool topology_run_xml(struct request *q, struct err *err)
{
	struct topo *topo;
	struct text out = {0};
	if (!topology_load(q, 1, &topo, err))
		return false;
	topo_write_platform(topo, NULL, 0, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

/* Sorted by name. */
static const struct action {
	const char *name;
	bool (*run)(struct request *q, struct err *err);
	bool one, none; /* exactly one topology; none will do */
} actions[] = {
	{"check", topology_run_check, false, false},
	{"compare", topology_run_compare, false, true},
	{"cost", topology_run_cost, false, false},
	{"fit", topology_run_fit, false, false},
	{"show", topology_run_show, true, false},
	{"sweep", topology_run_sweep, false, false},
	{"xml", topology_run_xml, true, false},
};
enum { N_ACTIONS = sizeof(actions) / sizeof(*actions) };

static const struct action *find_action(const char *name, struct err *err)
{
	const char *names[N_ACTIONS];
	for (size_t i = 0; i < N_ACTIONS; i++) {
		names[i] = actions[i].name;
		if (strcmp(names[i], name) == 0)
			return &actions[i];
	}
	const char *near = text_nearest(name, names, N_ACTIONS);
	err_set(err, ERR_USAGE, "unknown 'wham topology %s', %s%s%s", name,
		near ? "did you mean '" : "expected check, compare, cost, fit, show, sweep or xml",
		near ? near : "", near ? "'?" : "");
	return NULL;
}

static bool run_topology(struct request *q, struct err *err)
{
	if (q->files.n == 0)
		return err_set(err, ERR_USAGE,
			"topology takes check, compare, cost, fit, show, sweep or xml, and a "
			"topology");
	const struct action *action = find_action(q->files.items[0], err);
	if (!action)
		return false;
	if (q->files.n == 1 && q->topology)
		arena_push(q->a, q->files.items, q->files.n, q->files.cap) = q->topology;
	if ((q->files.n < 2 && !action->none) || (action->one && q->files.n > 2))
		return err_set(err, ERR_USAGE, "topology %s takes %s, e.g. torus:4x4", action->name,
			action->one ? "one topology" : "topologies");
	return action->run(q, err);
}

const struct command command_topology = {
	.name = "topology",
	.usage =
		"topology show|check|xml|cost|sweep|fit TOPOLOGY... [options]  |  topology compare "
		"[TOPOLOGY...] --devices N --links N --bw RATE [options]",
	.summary = "figures of a topology, its SimGrid platform, collectives on it, comparisons",
	.examples =
		"  wham topology show torus:4x4,bw=50GB/s,lat=1us --dot torus.dot\n"
		"  wham topology check selene dgx1-v100 my-cluster.json\n"
		"  wham topology xml ring:8 -o ring8.xml\n"
		"  wham topology cost ring:64,bw=50GB/s crossbar:64,bw=50GB/s --collective "
		"allreduce --algo all --bytes 64MiB\n"
		"  wham topology cost torus:4x4 --fail-link d0-d1 --csv-links links.csv\n"
		"  wham topology sweep ring:16 torus:4x4 --bytes 1KiB..1GiB:4 --algo all --csv\n"
		"  wham topology fit dgx1-v100\n"
		"  wham topology compare --devices 64 --links 128 --bw 50GB/s --collective "
		"alltoall --plot compare.svg\n",
	.run = run_topology,
};
