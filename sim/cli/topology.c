#include <stdlib.h>
#include <string.h>

#include "cli/internal.h"
#include "run/run.h"

static bool show(struct request *q, const struct topo *topo, struct err *err)
{
	struct topo_figures figures;
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

static bool xml(struct request *q, const struct topo *topo, struct err *err)
{
	struct text out = {0};
	topo_write_platform(topo, NULL, 0, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

/* "0-63", "0,2,4-7"; nothing said: all devices. */
static bool parse_ranks(
	struct request *q, const struct topo *topo, uint32_t **out, uint32_t *n, struct err *err)
{
	const char *at = q->ranks;
	bool *seen = arena_array(q->a, topo->n_devices, bool);
	*out = arena_array(q->a, topo->n_devices, uint32_t);
	*n = 0;
	for (uint32_t i = 0; !at && i < topo->n_devices; i++)
		(*out)[(*n)++] = i;
	while (at && *at) {
		char *end;
		unsigned long lo = strtoul(at, &end, 10), hi = lo;
		bool digits = *at >= '0' && *at <= '9';
		if (*end == '-') {
			digits = digits && end[1] >= '0' && end[1] <= '9';
			hi = strtoul(end + 1, &end, 10);
		}
		if (!digits || hi < lo || (*end != '\0' && (*end != ',' || end[1] == '\0')))
			return err_set(
				err, ERR_USAGE, "--ranks '%s', expected 0-63 or 0,2,4", q->ranks);
		if (hi >= topo->n_devices)
			return err_set(err, ERR_INPUT, "--ranks: device %lu, but %s has %u devices",
				hi, topo->name, topo->n_devices);
		for (unsigned long r = lo; r <= hi; r++) {
			if (seen[r])
				return err_set(
					err, ERR_USAGE, "--ranks: device %lu is named twice", r);
			seen[r] = true;
			(*out)[(*n)++] = (uint32_t)r;
		}
		at = *end == ',' ? end + 1 : end;
	}
	return true;
}

static bool algorithms(struct request *q, enum coll_kind kind, uint32_t n_ranks,
	const struct coll_algo ***out, uint32_t *n, struct err *err)
{
	uint32_t cap = 0;
	*out = NULL;
	*n = 0;
	if (!q->algo || (strcmp(q->algo, "all") != 0 && strcmp(q->algo, "auto") != 0)) {
		const struct coll_algo *algo = coll_load(q->a, kind, q->algo, err);
		if (!algo)
			return false;
		if (!coll_fits(algo, n_ranks))
			return err_set(err, ERR_INPUT, "%s %s does not work for %u ranks",
				coll_kind_name(kind), algo->name, n_ranks);
		arena_push(q->a, *out, *n, cap) = algo;
		return true;
	}
	for (size_t i = 0; coll_algos[i]; i++)
		if (coll_algos[i]->kind == kind && coll_fits(coll_algos[i], n_ranks))
			arena_push(q->a, *out, *n, cap) = coll_algos[i];
	return *n > 0 || err_set(err, ERR_INTERNAL, "no algorithm for %s", coll_kind_name(kind));
}

/* Ranks of --ranks on the devices of --map. */
static bool place_ranks(
	struct request *q, const struct topo *topo, uint32_t *devices, uint32_t n, struct err *err)
{
	struct placement p;
	if (!load_placement(q, topo, topo->n_devices, &p, err))
		return false;
	for (uint32_t i = 0; i < n && p.device_of_rank; i++)
		devices[i] = p.device_of_rank[devices[i]];
	return true;
}

/* Of the rows from `first` on. */
static void keep_cheapest(struct cost_row *rows, uint32_t first, uint32_t *n_rows)
{
	for (uint32_t i = first + 1; i < *n_rows; i++)
		if (rows[i].run.end < rows[first].run.end)
			rows[first] = rows[i];
	*n_rows = first + 1;
}

static bool cost_on(struct request *q, const struct topo *topo, enum coll_kind kind,
	struct cost_row **rows, uint32_t *n_rows, struct err *err)
{
	const struct coll_algo **algos;
	struct run_config config = {.topo = topo, .all_links = q->csv_links != NULL};
	uint32_t *devices, n, n_algos, cap = *n_rows, first = *n_rows;
	uint64_t bytes = q->bytes > 0 ? q->bytes : UINT64_C(64) << 20;
	if (!load_net(q, &config.net, err) || !parse_ranks(q, topo, &devices, &n, err) ||
		!place_ranks(q, topo, devices, n, err) ||
		!algorithms(q, kind, n, &algos, &n_algos, err))
		return false;
	for (uint32_t i = 0; i < n_algos; i++) {
		struct cost_row row = {.algo = algos[i]->name,
			.topology = topo->name,
			.kind = kind,
			.n_ranks = n,
			.bytes = bytes,
			.topo = topo};
		struct coll_request coll = {algos[i], devices, n, bytes};
		if (!run_coll(q->a, &coll, &config, &row.run, err))
			return false;
		arena_push(q->a, *rows, *n_rows, cap) = row;
	}
	if (q->algo && strcmp(q->algo, "auto") == 0)
		keep_cheapest(*rows, first, n_rows);
	return true;
}

static bool write_costs(struct request *q, const struct cost_row *rows, uint32_t n, struct err *err)
{
	struct table t;
	if (q->json)
		return write_json(q, report_cost_json(rows, n), err);
	report_cost_table(q->a, rows, n, &t);
	if (q->csv)
		return write_csv(q, &t, err);
	struct text out = {0};
	table_print(&t, &out, q->verbose ? 0 : 24);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool cost(struct request *q, struct err *err)
{
	enum coll_kind kind = COLL_ALLREDUCE;
	struct cost_row *rows = NULL;
	uint32_t n_rows = 0;
	if (q->collective && !coll_kind_find(q->collective, &kind))
		return err_set(err, ERR_USAGE,
			"unknown --collective '%s', 'wham list collectives' has them",
			q->collective);
	for (uint32_t i = 1; i < q->files.n; i++) {
		struct topo *topo = arena_new(q->a, struct topo);
		if (!load_topology(q, q->files.items[i], topo, err) ||
			!cost_on(q, topo, kind, &rows, &n_rows, err))
			return false;
	}
	return write_costs(q, rows, n_rows, err);
}

static bool run_topology(struct request *q, struct err *err)
{
	static const char *const actions[] = {"cost", "show", "xml"};
	if (q->files.n == 0)
		return err_set(err, ERR_USAGE, "topology takes show, xml or cost and a topology");
	const char *action = q->files.items[0];
	if (q->files.n == 1 && q->topology)
		arena_push(q->a, q->files.items, q->files.n, q->files.cap) = q->topology;
	bool is_cost = strcmp(action, "cost") == 0, is_xml = strcmp(action, "xml") == 0;
	if (!is_cost && !is_xml && strcmp(action, "show") != 0) {
		const char *near = text_nearest(action, actions, 3);
		return err_set(err, ERR_USAGE, "unknown 'wham topology %s', %s%s%s", action,
			near ? "did you mean '" : "expected show, xml or cost", near ? near : "",
			near ? "'?" : "");
	}
	if (q->files.n < 2 || (!is_cost && q->files.n > 2))
		return err_set(err, ERR_USAGE, "topology %s takes %s, e.g. torus:4x4", action,
			is_cost ? "topologies" : "one topology");
	if (is_cost)
		return cost(q, err);
	struct topo topo;
	if (!load_topology(q, q->files.items[1], &topo, err))
		return false;
	return is_xml ? xml(q, &topo, err) : show(q, &topo, err);
}

const struct command command_topology = {
	.name = "topology",
	.usage = "topology show|xml|cost TOPOLOGY... [options]",
	.summary = "figures of a topology, its SimGrid platform, and collectives on it",
	.examples = "  wham topology show torus:4x4,bw=50GB/s,lat=1us\n"
		    "  wham topology xml ring:8 -o ring8.xml\n"
		    "  wham topology cost ring:64,bw=50GB/s crossbar:64,bw=50GB/s --collective "
		    "allreduce --algo all --bytes 64MiB\n",
	.run = run_topology,
};
