/* Replayed Chakra traces beside ASTRA-sim 2 (commit 518bd51, analytical backend, 50 "GB/s", 500
 * ns), and what makes the difference. Its examples lie in
 * $WHAM_SHARED/data/chakra/astra_sim_examples; without them what the table says of each is
 * replayed, a collective that all ranks enter at once.
 *
 * What ASTRA-sim does that is not in ours, found by taking its times apart:
 *   - its GB/s are GiB/s, so the topologies here say GiB/s; times of messages are cut to whole
 *     nanoseconds;
 *   - a collective is cut into 4 splits, one after the other: 4 times as many messages, each with
 *     its latency;
 *   - "aware" stores a whole message on each switch before it goes on (ours goes straight through);
 *   - each message ends with 10 ns, and so does each split;
 *   - each reduction reads two operands and writes one at 1600 GB/s;
 *   - an all-to-all on a ring passes each block on from device to device, n (n - 1) / 2 messages
 *     one after the other, where ours sends each block straight to its owner. That row is
 *     compared with its own sum, ours is shown.
 * Where the table has no splits, messages were recorded one by one and none of this applies but the
 * cut times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"
#include "topo/topo.h"
#include "trace/trace.h"
#include "validate/internal.h"

enum { LATENCY_NS = 500, END_NS = 10 };

struct row {
	const char *trace, *kind, *topology, *how;
	uint64_t ranks, comm_size, hops, forwards, splits, messages, reductions;
	double astra_ns;
};

static bool read_row(const struct csv *t, size_t i, struct row *out, struct err *err)
{
	const struct {
		const char *column;
		uint64_t *value;
	} counts[] = {{"ranks", &out->ranks}, {"comm_size", &out->comm_size}, {"hops", &out->hops},
		{"forwards", &out->forwards}, {"splits", &out->splits},
		{"messages", &out->messages}, {"reductions", &out->reductions}};
	out->trace = csv_cell(t, i, suite_column(t, "trace"));
	out->kind = csv_cell(t, i, suite_column(t, "collective"));
	out->topology = csv_cell(t, i, suite_column(t, "topology"));
	out->how = csv_cell(t, i, suite_column(t, "source"));
	for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		if (!csv_uint(t, i, suite_column(t, counts[c].column), counts[c].value, err))
			return false;
		if (*counts[c].value > 1u << 30)
			return err_set(err, ERR_INPUT, "%s:%zu: %s is more than %u", t->path,
				t->lines[i], counts[c].column, 1u << 30);
	}
	if (out->ranks < 2 || out->ranks > 4096)
		return err_set(
			err, ERR_INPUT, "%s:%zu: expected 2 to 4096 ranks", t->path, t->lines[i]);
	return csv_number(t, i, suite_column(t, "astra_ns"), &out->astra_ns, err);
}

/* One collective that all ranks enter; false when the row is none. */
static bool build_collective(struct arena *a, const struct row *row, struct prog *out)
{
	enum coll_kind kind;
	uint32_t n = (uint32_t)row->ranks, first = 0, last = n - 1;
	struct prog_grid grid = {.n_dims = 1, .names = {"rank"}, .sizes = {n}};
	if (!coll_kind_find(row->kind, &kind))
		return false;
	struct prog_builder *b = prog_build(a, &grid);
	prog_add_role(b, "all", &first, &last);
	struct prog_task task = {.kind = TASK_COLL,
		.cost = PROG_NONE,
		.coll = kind,
		.group = prog_add_group(b, 1),
		.bytes = row->comm_size * (kind == COLL_ALLGATHER ? n : 1)};
	prog_add_task(b, &task);
	prog_finish(b, out);
	return true;
}

/* *there is false for what only a file could tell. */
static bool load(
	struct arena *a, const struct row *row, struct prog *out, bool *there, struct err *err)
{
	const char *shared = getenv("WHAM_SHARED");
	struct trace trace;
	struct trace_options options = {0};
	*there = true;
	if (!shared || !*shared || !row->trace[0]) {
		*there = build_collective(a, row, out);
		return true;
	}
	const char *path =
		arena_printf(a, "%s/data/chakra/astra_sim_examples/%s", shared, row->trace);
	if (!trace_read(a, &path, 1, &options, &trace, err))
		return false;
	*out = trace.prog;
	return true;
}

static double message_bytes(const struct row *row)
{
	bool part = strcmp(row->kind, "allgather") == 0;
	return (double)row->comm_size / (double)row->splits / (part ? 1 : (double)row->ranks);
}

/* ASTRA-sim's own terms, in nanoseconds: those that replay does not have. */
static double extra_ns(const struct row *row)
{
	double splits = (double)row->splits, messages = (double)row->messages;
	if (row->splits == 0)
		return 0;
	double wire = message_bytes(row) / (50 * 1.073741824); /* 50 GiB/s in bytes per ns */
	double latency = (splits - 1) * messages * (double)row->hops * LATENCY_NS;
	double stored = splits * messages * (double)(row->forwards - 1) * wire;
	double ends = splits * (messages + 1) * END_NS;
	double memory = splits * (double)row->reductions * 3 * floor(message_bytes(row) / 1600);
	return latency + stored + ends + memory;
}

/* All of its time, for a row whose messages are others than ours. */
static double whole_ns(const struct row *row)
{
	double wire = floor(message_bytes(row) / (50 * 1.073741824));
	double message = (double)row->hops * LATENCY_NS + (double)row->forwards * wire + END_NS;
	return (double)row->splits * ((double)row->messages * message + END_NS);
}

static bool replay(const struct suite_context *context, const struct row *row, double *ns,
	bool *there, struct err *err)
{
	struct arena a = {0};
	struct prog prog;
	struct topo topo;
	struct run_result run;
	struct run_config config = {
		.topo = &topo, .net = context->simgrid ? NET_SIMGRID : NET_ANALYTIC};
	bool ok = load(&a, row, &prog, there, err);
	if (ok && *there) {
		ok = topo_parse(&a, row->topology, &topo, err) && prog_check(&prog, err) &&
		     run_prog(&a, &prog, &config, &run, err);
		*ns = ok ? ticks_to_s(run.end) * 1e9 : 0;
	}
	arena_free(&a);
	return ok;
}

static void add_rows(const struct suite_context *context, const struct row *row, double ns,
	struct suite_report *out)
{
	struct arena *a = context->a;
	bool other = strcmp(row->kind, "alltoall") == 0;
	const char *backend = strstr(row->how, "unaware") ? " unaware" : "";
	if (!backend[0] && strstr(row->how, "aware"))
		backend = " aware";
	char bytes[UNIT_TEXT];
	const char *what = arena_printf(a, "%s %s on %.*s%s", row->kind,
		unit_print(bytes, UNIT_BYTES, row->comm_size), (int)strcspn(row->topology, ","),
		row->topology, backend);
	suite_show(a, out, arena_printf(a, "%s: replayed, ns", what), row->astra_ns, ns, NULL);
	suite_add(a, out,
		arena_printf(a, "%s: %s", what,
			other ? "its own messages" : "with its splits, ends, memory"),
		row->astra_ns, other ? whole_ns(row) : ns + extra_ns(row), 0.001);
}

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		struct row row;
		double ns = 0;
		bool there;
		if (!read_row(t, i, &row, err) || !replay(context, &row, &ns, &there, err))
			return false;
		if (there)
			add_rows(context, &row, ns, out);
		suite_progress(context, (uint32_t)i + 1, (uint32_t)t->n_rows);
	}
	out->note =
		getenv("WHAM_SHARED")
			? "ASTRA-sim's recordings replayed; the difference is its 4 splits one "
			  "after the other, 10 ns for each message, reductions at 1600 GB/s, "
			  "store and forward where aware"
			: "WHAM_SHARED not set: what ASTRA-sim's recordings say was replayed, not "
			  "the files, and the recorded messages were left out";
	return true;
}

static const char *const columns_needed[] = {"trace", "collective", "ranks", "comm_size",
	"topology", "hops", "forwards", "splits", "messages", "reductions", "astra_ns", "source",
	NULL};

const struct suite suite_traces = {
	.name = "traces",
	.summary = "replayed Chakra traces beside ASTRA-sim, difference by difference",
	.table = "traces.csv",
	.columns = columns_needed,
	.run = run,
};
