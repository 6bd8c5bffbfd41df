/* Collectives on topologies: one size, or a sweep over sizes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/topology.h"
#include "run/run.h"

/* "0-63", "0,2,4-7"; nothing said: all of the `n_all` ranks. */
static bool parse_ranks(
	struct request *q, uint32_t n_all, uint32_t **out, uint32_t *n, struct err *err)
{
	const char *at = q->ranks;
	bool *seen = arena_array(q->a, n_all, bool);
	*out = arena_array(q->a, n_all, uint32_t);
	*n = 0;
	for (uint32_t i = 0; !at && i < n_all; i++)
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
		if (hi >= n_all)
			return err_set(err, ERR_INPUT,
				"--ranks: rank %lu, but there are %u devices", hi, n_all);
		for (unsigned long r = lo; r <= hi; r++) {
			if (seen[r])
				return err_set(
					err, ERR_USAGE, "--ranks: rank %lu is named twice", r);
			seen[r] = true;
			(*out)[(*n)++] = (uint32_t)r;
		}
		at = *end == ',' ? end + 1 : end;
	}
	return true;
}

bool topology_members(
	struct request *q, const struct topo *topo, struct members *out, struct err *err)
{
	uint32_t *map = NULL, n_all = topo->n_devices;
	if (q->map && !topo_map_ranks(q->a, topo, q->map, &map, &n_all, err))
		return err_prefix(err, "--map: ");
	if (!parse_ranks(q, n_all, &out->devices, &out->n, err))
		return err_prefix(err, "%s: ", topo->name);
	for (uint32_t i = 0; i < out->n && map; i++)
		out->devices[i] = map[out->devices[i]];
	return true;
}

static bool algorithms(struct request *q, const struct costing *what, uint32_t n_ranks,
	const struct coll_algo ***out, uint32_t *n, struct err *err)
{
	enum coll_kind kind = what->kind;
	uint32_t cap = 0;
	*out = NULL;
	*n = 0;
	if (!what->algo || (strcmp(what->algo, "all") != 0 && strcmp(what->algo, "auto") != 0)) {
		const struct coll_algo *algo = coll_load(q->a, kind, what->algo, err);
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

bool topology_kind(struct request *q, enum coll_kind *out, struct err *err)
{
	*out = COLL_ALLREDUCE;
	return !q->collective || coll_kind_find(q->collective, out) ||
	       err_set(err, ERR_USAGE,
		       "unknown --collective '%s', 'wham list collectives' has them",
		       q->collective);
}

/* Of the rows from `first` on. */
static void keep_cheapest(struct costs *costs, uint32_t first)
{
	assert(first < costs->n);
	for (uint32_t i = first + 1; i < costs->n; i++)
		if (costs->rows[i].run.end < costs->rows[first].run.end)
			costs->rows[first] = costs->rows[i];
	costs->n = first + 1;
}

bool topology_cost(struct request *q, const struct topo *topo, const struct costing *what,
	struct costs *out, struct err *err)
{
	const struct coll_algo **algos;
	struct run_config config = {
		.topo = topo, .all_links = q->csv_links != NULL, .chunk_bytes = q->chunk};
	struct members members = {0};
	uint32_t n_algos, first = out->n;
	if (!load_net(q, &config.net, err) || !load_fold(q, &config.fold, err) ||
		!topology_members(q, topo, &members, err) ||
		!algorithms(q, what, members.n, &algos, &n_algos, err))
		return false;
	if (config.all_links)
		config.fold = RUN_FOLD_OFF; /* which keeps the busiest only */
	for (uint32_t i = 0; i < n_algos; i++) {
		struct cost_row row = {.algo = algos[i]->name,
			.coll = algos[i],
			.topology = topo->name,
			.kind = what->kind,
			.n_ranks = members.n,
			.bytes = what->bytes,
			.topo = topo};
		struct coll_request coll = {algos[i], members.devices, members.n, what->bytes, 0};
		if (!run_coll(q->a, &coll, &config, &row.run, err))
			return false;
		arena_push(q->a, out->rows, out->n, out->cap) = row;
	}
	if (what->algo && strcmp(what->algo, "auto") == 0)
		keep_cheapest(out, first);
	return true;
}

bool topology_write_links(struct request *q, const struct costs *costs, struct err *err)
{
	struct table t;
	if (!q->csv_links)
		return true;
	report_links_begin(q->a, &t);
	for (uint32_t i = 0; i < costs->n; i++)
		report_links_add(&t, costs->rows[i].topo, costs->rows[i].algo, &costs->rows[i].run);
	return write_links_file(q, &t, err);
}

static bool write_costs(struct request *q, const struct costs *costs, struct err *err)
{
	struct table t;
	if (q->json)
		return write_json(q, report_cost_json(costs->rows, costs->n), err);
	report_cost_table(q->a, costs->rows, costs->n, &t);
	return topology_write_table(q, &t, err);
}

bool topology_run_cost(struct request *q, struct err *err)
{
	struct costs costs = {0};
	struct costing what = {
		.bytes = q->bytes > 0 ? q->bytes : UINT64_C(64) << 20, .algo = q->algo};
	if (q->bytes_to > 0)
		return topology_run_sweep(q, err);
	if (!topology_kind(q, &what.kind, err))
		return false;
	for (uint32_t i = 1; i < q->files.n; i++) {
		struct topo *topo;
		if (!topology_load(q, i, &topo, err) || !topology_cost(q, topo, &what, &costs, err))
			return false;
	}
	return topology_write_links(q, &costs, err) && write_costs(q, &costs, err);
}

/* False when the row is of another line than `first`. */
static bool add_point(struct request *q, const struct cost_row *first, const struct cost_row *row,
	struct plot *plot)
{
	if (row->topo != first->topo || strcmp(row->algo, first->algo) != 0)
		return false;
	plot->points[plot->n_points++] =
		(struct plot_point){.series = arena_printf(q->a, "%s %s", row->topology, row->algo),
			.x = (double)row->bytes,
			.y = ticks_to_s(row->run.end) * 1e6};
	return true;
}

/* One line per topology and algorithm. */
static bool plot_sweep(struct request *q, const struct costs *costs, struct err *err)
{
	assert(costs->n > 0 && costs->rows);
	struct plot plot = {.title = coll_kind_name(costs->rows[0].kind),
		.x = "bytes",
		.y = "us",
		.log_x = true,
		.log_y = true};
	if (!q->plot)
		return true;
	plot.points = arena_array(q->a, costs->n, struct plot_point);
	bool *drawn = arena_array(q->a, costs->n, bool);
	for (uint32_t i = 0; i < costs->n; i++) {
		const struct cost_row *first = &costs->rows[i];
		bool later = drawn[i];
		for (uint32_t k = i; k < costs->n && !later; k++)
			drawn[k] = drawn[k] || add_point(q, first, &costs->rows[k], &plot);
	}
	return write_plot(q, &plot, err);
}

bool topology_run_sweep(struct request *q, struct err *err)
{
	struct costs costs = {0};
	struct costing what = {.algo = q->algo};
	uint64_t from = q->bytes > 0 ? q->bytes : 1024, to = q->bytes_to;
	uint64_t factor = q->bytes_factor > 0 ? q->bytes_factor : 4;
	if (to == 0)
		to = q->bytes > 0 ? q->bytes : UINT64_C(1) << 30;
	if (!topology_kind(q, &what.kind, err))
		return false;
	for (uint32_t i = 1; i < q->files.n; i++) {
		struct topo *topo;
		if (!topology_load(q, i, &topo, err))
			return false;
		for (what.bytes = from;;) {
			if (!topology_cost(q, topo, &what, &costs, err))
				return false;
			if (what.bytes > to / factor)
				break;
			what.bytes *= factor;
		}
	}
	struct table t;
	report_sweep_table(q->a, costs.rows, costs.n, &t);
	return topology_write_links(q, &costs, err) && plot_sweep(q, &costs, err) &&
	       topology_write_table(q, &t, err);
}
