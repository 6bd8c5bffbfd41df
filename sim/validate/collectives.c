/* Collectives on a pure alpha-beta machine: the closed forms against the step-exact table
 * (1e-9), and SimGrid on a crossbar whose links have half of alpha each (1e-6). */
#include <math.h>
#include <string.h>

#include "analytic/analytic.h"
#include "base/workers.h"
#include "run/run.h"
#include "topo/topo.h"
#include "validate/internal.h"

struct row {
	const char *name;
	uint64_t n_ranks, bytes;
	struct alpha_beta ab;
	double seconds;
};

static bool read_row(const struct csv *t, size_t i, struct row *out, struct err *err)
{
	out->name = csv_cell(t, i, suite_column(t, "algo"));
	if (!csv_uint(t, i, suite_column(t, "p"), &out->n_ranks, err) ||
		!csv_uint(t, i, suite_column(t, "n_bytes"), &out->bytes, err) ||
		!csv_number(t, i, suite_column(t, "alpha"), &out->ab.alpha, err) ||
		!csv_number(t, i, suite_column(t, "beta"), &out->ab.beta, err) ||
		!csv_number(t, i, suite_column(t, "time_s"), &out->seconds, err))
		return false;
	if (out->n_ranks < 1 || out->n_ranks > 1u << 16 || out->bytes == 0 ||
		!(out->ab.alpha > 0) || !(out->ab.beta > 0) || out->ab.alpha > 1 ||
		out->ab.beta < 1e-15)
		return err_set(err, ERR_INPUT,
			"%s: row %zu: expected p from 1, n_bytes from 1, alpha and beta above 0",
			t->path, i + 1);
	return true;
}

static const struct coll_algo *executable(const struct row *row)
{
	const struct coll_algo *algo = coll_find_short(row->name);
	return algo && coll_fits(algo, (uint32_t)row->n_ranks) ? algo : NULL;
}

static bool crossbar(struct arena *a, const struct row *row, struct topo *topo, struct err *err)
{
	char bw[UNIT_TEXT], lat[UNIT_TEXT];
	unit_print_exact(bw, UNIT_BANDWIDTH, (uint64_t)llround(1 / row->ab.beta));
	unit_print_exact(lat, UNIT_TIME, (tick)llround(row->ab.alpha / 2 * (double)TICKS_PER_S));
	return topo_parse(a,
		arena_printf(a, "crossbar:%ju,bw=%s,lat=%s", (uintmax_t)row->n_ranks, bw, lat),
		topo, err);
}

static bool simulate(
	const struct row *row, const struct coll_algo *algo, tick *out, struct err *err)
{
	struct arena a = {0};
	struct topo topo;
	struct run_result run;
	struct run_config config = {.topo = &topo, .net = NET_SIMGRID, .fold = RUN_FOLD_AUTO};
	uint32_t *devices = arena_array(&a, row->n_ranks, uint32_t);
	for (uint32_t i = 0; i < row->n_ranks; i++)
		devices[i] = i;
	struct coll_request coll = {.algo = algo,
		.devices = devices,
		.n_devices = (uint32_t)row->n_ranks,
		.bytes = row->bytes};
	bool ok = crossbar(&a, row, &topo, err) && run_coll(&a, &coll, &config, &run, err);
	if (ok)
		*out = run.end;
	arena_free(&a);
	return ok;
}

/* Rows first .. of the table, to be simulated. */
struct batch {
	const struct row *rows;
	uint32_t first;
};

struct simulated {
	bool done; /* false: nothing executes this row */
	tick end;
};

static bool simulate_item(void *ctx, uint32_t i, void *result, struct err *err)
{
	const struct batch *b = ctx;
	struct simulated *out = result;
	const struct row *row = &b->rows[b->first + i];
	const struct coll_algo *algo = executable(row);
	out->done = algo != NULL;
	return !algo || simulate(row, algo, &out->end, err);
}

/* A few rows at a time on each processor: rows that follow each other last about as long. */
static bool simulate_all(const struct suite_context *context, const struct row *rows, uint32_t n,
	struct simulated *out, struct err *err)
{
	uint32_t jobs = context->jobs > 0 ? context->jobs : 1;
	struct batch b = {.rows = rows};
	for (uint32_t step = 4 * jobs; b.first < n; b.first += step) {
		struct worker_map map = {.fn = simulate_item,
			.ctx = &b,
			.n = n - b.first < step ? n - b.first : step,
			.jobs = jobs,
			.size = sizeof(*out)};
		if (!workers_run(&map, out + b.first, err))
			return false;
		suite_progress(context, b.first + map.n, n);
	}
	return true;
}

static bool add_closed_form(const struct suite_context *context, const struct csv *t, uint32_t i,
	const struct row *row, struct suite_report *out, struct err *err)
{
	double s = analytic_collective_s(row->name, (uint32_t)row->n_ranks, row->bytes, &row->ab);
	if (s < 0)
		return err_set(err, ERR_INPUT, "%s: row %u: no closed form for '%s' on %ju ranks",
			t->path, i + 1, row->name, (uintmax_t)row->n_ranks);
	suite_add(context->a, out,
		arena_printf(context->a, "%s p=%ju n=%ju closed form", row->name,
			(uintmax_t)row->n_ranks, (uintmax_t)row->bytes),
		row->seconds, s, 1e-9);
	return true;
}

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	uint32_t n = (uint32_t)t->n_rows;
	struct row *rows = arena_array(context->a, n, struct row);
	struct simulated *simulated = arena_array(context->a, n, struct simulated);
	for (uint32_t i = 0; i < n; i++)
		if (!read_row(t, i, &rows[i], err) ||
			!add_closed_form(context, t, i, &rows[i], out, err))
			return false;
	if (context->simgrid && !simulate_all(context, rows, n, simulated, err))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (simulated[i].done)
			suite_add(context->a, out,
				arena_printf(context->a, "%s p=%ju n=%ju simgrid", rows[i].name,
					(uintmax_t)rows[i].n_ranks, (uintmax_t)rows[i].bytes),
				rows[i].seconds, ticks_to_s(simulated[i].end), 1e-6);
	out->note = context->simgrid
			    ? "SimGrid rows: on a crossbar, equal rounds of a collective once"
			    : "SimGrid left out";
	return true;
}

static const char *const columns_needed[] = {
	"algo", "p", "n_bytes", "alpha", "beta", "time_s", NULL};

const struct suite suite_collectives = {
	.name = "collectives",
	.summary = "collective algorithms, closed form and on SimGrid, against exact alpha-beta "
		   "values",
	.table = "collectives.csv",
	.columns = columns_needed,
	.run = run,
};
