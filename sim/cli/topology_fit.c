/* Latency and bandwidth that messages and a collective of a topology follow: time = alpha + bytes x
 * beta, the line with the least sum of squared relative errors over sizes from 1 KiB to 1 GiB. */
#include <string.h>

#include "cli/topology.h"
#include "run/run.h"

static const char *const columns[] = {
	"topology", "what", "from", "to", "alpha_us", "bandwidth_GBps", "worst_error_pct"};
enum { N_SIZES = 11 };

struct line {
	double alpha, beta, worst; /* s, s/B, relative */
};

/* Weighted with 1/t^2: the normal equations of sum of ((alpha + beta s - t) / t)^2. */
static struct line fit_line(const double *bytes, const double *times, uint32_t n)
{
	double w = 0, ws = 0, wss = 0, wt = 0, wst = 0;
	struct line line = {0};
	for (uint32_t i = 0; i < n; i++) {
		double weight = 1 / (times[i] * times[i]);
		w += weight;
		ws += weight * bytes[i];
		wss += weight * bytes[i] * bytes[i];
		wt += weight * times[i];
		wst += weight * bytes[i] * times[i];
	}
	double det = w * wss - ws * ws;
	line.beta = (w * wst - ws * wt) / det;
	line.alpha = (wss * wt - ws * wst) / det;
	for (uint32_t i = 0; i < n; i++) {
		double e = (line.alpha + line.beta * bytes[i]) / times[i] - 1;
		e = e < 0 ? -e : e;
		line.worst = e > line.worst ? e : line.worst;
	}
	return line;
}

static bool measure(struct request *q, const struct run_config *config,
	const struct coll_request *coll, struct line *out, struct err *err)
{
	double bytes[N_SIZES], times[N_SIZES];
	struct coll_request one = *coll;
	one.bytes = 1024;
	for (uint32_t i = 0; i < N_SIZES; i++, one.bytes *= 4) {
		struct run_result run;
		if (!run_coll(q->a, &one, config, &run, err))
			return false;
		if (run.end == 0)
			return err_set(
				err, ERR_ANSWER, "%s: a message takes no time", config->topo->name);
		bytes[i] = (double)one.bytes;
		times[i] = ticks_to_s(run.end);
	}
	*out = fit_line(bytes, times, N_SIZES);
	return true;
}

static void add_row(struct table *t, const struct topo *topo, const char *what,
	const char *const ends[2], const struct line *line)
{
	table_cell(t, "%s", topo->name);
	table_cell(t, "%s", what);
	table_cell(t, "%s", ends[0]);
	table_cell(t, "%s", ends[1]);
	table_cell(t, "%.4f", line->alpha * 1e6);
	table_cell(t, "%.4f", 1e-9 / line->beta);
	table_cell(t, "%.3f", line->worst * 100);
}

/* Of the members, the one with the fewest and the one with the most links from the first. */
static void extremes(
	struct arena *a, const struct topo *topo, const struct members *m, uint32_t ends[2])
{
	uint32_t least = UINT32_MAX, most = 0;
	uint32_t *route = arena_array(a, (size_t)topo->max_hops + 1, uint32_t);
	ends[0] = ends[1] = m->devices[1];
	for (uint32_t i = 1; i < m->n && !topo->platform_xml; i++) {
		uint32_t hops = topo->route(topo, m->devices[0], m->devices[i], route);
		if (hops < least)
			ends[0] = m->devices[i];
		if (hops > most)
			ends[1] = m->devices[i];
		least = hops < least ? hops : least;
		most = hops > most ? hops : most;
	}
}

static bool fit_topology(
	struct request *q, const struct topo *topo, struct table *t, struct err *err)
{
	struct run_config config = {.topo = topo};
	struct members m = {0};
	struct line line = {0};
	uint32_t far[2];
	if (!load_net(q, &config.net, err) || !load_fold(q, &config.fold, err) ||
		!topology_members(q, topo, &m, err))
		return false;
	if (m.n < 2)
		return err_set(err, ERR_INPUT, "%s: one device, expected at least two", topo->name);
	extremes(q->a, topo, &m, far);
	for (int i = 0; i < 2; i++) {
		uint32_t pair[] = {m.devices[0], far[i]};
		struct coll_request send = {
			.algo = coll_find(COLL_BROADCAST, NULL), .devices = pair, .n_devices = 2};
		const char *ends[] = {topo->nodes[pair[0]].name, topo->nodes[pair[1]].name};
		if (i == 1 && far[1] == far[0])
			continue;
		if (!measure(q, &config, &send, &line, err))
			return false;
		add_row(t, topo, i ? "farthest send" : "nearest send", ends, &line);
	}
	enum coll_kind kind;
	if (!topology_kind(q, &kind, err))
		return false;
	const struct coll_algo *algo = coll_load(q->a, kind, q->algo, err);
	if (!algo)
		return false;
	struct coll_request all = {.algo = algo, .devices = m.devices, .n_devices = m.n};
	const char *ends[] = {arena_printf(q->a, "%u devices", m.n), ""};
	if (!measure(q, &config, &all, &line, err))
		return false;
	add_row(t, topo, arena_printf(q->a, "%s %s", coll_kind_name(kind), algo->name), ends,
		&line);
	return true;
}

bool topology_run_fit(struct request *q, struct err *err)
{
	struct table t = {
		.a = q->a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	for (uint32_t i = 1; i < q->files.n; i++) {
		struct topo *topo;
		if (!topology_load(q, i, &topo, err) || !fit_topology(q, topo, &t, err))
			return false;
	}
	return topology_write_table(q, &t, err);
}
