/* NCCL's all-reduce as measured on an A100 box and two boxes of V100 and A100, against rings on one
 * calibrated topology per machine. The rows that were fitted and the others are held to the
 * tolerance separately: at most 10 % in the mean from 1 MiB on, 25 % below. */
#include "validate/allreduce.h"

#include <math.h>
#include <string.h>

#include "topo/topo.h"

#define US (TICKS_PER_S / 1000000)

/* Three figures were fitted for each machine: bandwidth and latency of its topology, and the
 * time of a call; for a100x4, whose table goes down to 8 bytes, also two protocols for small
 * sizes. */
const struct nccl_machine nccl_a100x4 = {
	.topology = "a100x4-nccl",
	.algos = {"ring"},
	.protocols = {{"simple", 1, 43700 * US / 1000}, {"ll", 0.03, 3900 * US / 1000},
		{"ll128", 0.14, 13900 * US / 1000}},
};
const struct nccl_machine nccl_a100x8 = {
	.topology = "a100x8-nccl",
	.algos = {"ring"},
	.protocols = {{"simple", 1, 37500 * US / 1000}},
};
/* Where no rings close that share no link (5 devices), both ways around one; NCCL passes through a
 * device that does not take part there. */
const struct nccl_machine nccl_v100x8 = {
	.topology = "dgx1-v100-nccl",
	.algos = {"rings", "biring"},
	.protocols = {{"simple", 1, 15 * US}},
};
const struct nccl_machine nccl_plain = {
	.algos = {"ring", "rings", "dbtree"},
	.protocols = {{"simple", 1, 0}},
};

/* The topology with links of a share of their bandwidth. */
static struct topo slowed(struct arena *a, const struct topo *topo, double share)
{
	struct topo out = *topo;
	if (share >= 1 || !topo->links)
		return out;
	out.links = arena_array(a, topo->n_links, struct topo_link);
	memcpy(out.links, topo->links, topo->n_links * sizeof(*out.links));
	for (uint32_t i = 0; i < topo->n_links; i++)
		out.links[i].bytes_per_s =
			(uint64_t)llround(share * (double)out.links[i].bytes_per_s) + 1;
	return out;
}

/* Messages of one round go over the same link: only SimGrid tells what that costs. */
static bool shares_links(const char *algo, uint32_t n_ranks)
{
	return strcmp(algo, "dbtree") == 0 || (strcmp(algo, "biring") == 0 && n_ranks == 2);
}

bool nccl_allreduce_s(const struct suite_context *context, const struct nccl_machine *machine,
	const struct topo *topo, const struct coll_request *request, double *seconds,
	struct err *err)
{
	*seconds = HUGE_VAL;
	for (int p = 0; p < NCCL_MAX_PROTOCOLS && machine->protocols[p].name; p++) {
		struct arena a = {0};
		struct topo slower = slowed(&a, topo, machine->protocols[p].share);
		struct run_config config = {.topo = &slower,
			.net = context->simgrid ? NET_SIMGRID : NET_ANALYTIC,
			.fold = RUN_FOLD_AUTO};
		bool ok = true;
		for (int i = 0; i < NCCL_MAX_ALGOS && machine->algos[i] && ok; i++) {
			struct run_result result;
			if (shares_links(machine->algos[i], request->n_devices) &&
				!context->simgrid)
				continue;
			struct coll_request one = *request;
			one.algo = coll_find(COLL_ALLREDUCE, machine->algos[i]);
			ok = run_coll(&a, &one, &config, &result, err);
			if (ok)
				*seconds = fmin(*seconds,
					ticks_to_s(result.end + machine->protocols[p].overhead));
		}
		arena_free(&a);
		if (!ok)
			return false;
	}
	return true;
}

/* One machine beside one table. */
struct bench {
	const struct suite_context *context;
	const struct nccl_machine *machine;
	const char *name;
	struct topo topo;
	struct suite_mean means[2][2]; /* [fitted][from 1 MiB on] */
	struct suite_report *out;
};

struct measured {
	uint64_t n_ranks, bytes;
	double us;
	bool fitted;
};

static bool bench_open(struct bench *b, struct err *err)
{
	const struct suite_context *c = b->context;
	return topo_read(c->a,
		arena_printf(c->a, "%s/topologies/%s.json", c->data_root, b->machine->topology),
		&b->topo, err);
}

static bool simulate(struct bench *b, const struct measured *m, double *us, struct err *err)
{
	if (m->n_ranks < 1 || m->n_ranks > b->topo.n_devices)
		return err_set(err, ERR_INPUT,
			"%ju ranks, but topology '%s' has %u devices, expected another with "
			"--topology",
			(uintmax_t)m->n_ranks, b->topo.name, b->topo.n_devices);
	if (m->bytes < 1 || m->bytes > PROG_MAX_BYTES || !(m->us > 0))
		return err_set(err, ERR_INPUT, "expected from 1 byte to 64 TiB and a time above 0");
	uint32_t n = (uint32_t)m->n_ranks;
	uint32_t *devices = arena_array(b->context->a, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		devices[i] = i;
	struct coll_request request = {.devices = devices, .n_devices = n, .bytes = m->bytes};
	double seconds;
	bool ok = nccl_allreduce_s(b->context, b->machine, &b->topo, &request, &seconds, err);
	*us = 1e6 * seconds;
	return ok;
}

static const char *label(const struct bench *b, const struct measured *m, const char *unit)
{
	char size[UNIT_TEXT];
	return arena_printf(b->context->a, "%s, %ju ranks, %s, %s%s", b->name,
		(uintmax_t)m->n_ranks, unit_print(size, UNIT_BYTES, m->bytes), unit,
		m->fitted ? " (fitted)" : "");
}

static bool show_row(
	struct bench *b, const struct csv *t, size_t row, const struct measured *m, struct err *err)
{
	double us;
	if (!simulate(b, m, &us, err)) {
		err_prefix(err, "%s: row %zu: ", t->path, row + 1);
		return false;
	}
	suite_show(b->context->a, b->out, label(b, m, "us"), m->us, us,
		&b->means[m->fitted][m->bytes >= UINT64_C(1) << 20]);
	suite_progress(b->context, (uint32_t)row + 1, (uint32_t)t->n_rows);
	return true;
}

static void add_means(struct bench *b)
{
	static const char *const which[] = {"rows left to check", "fitted rows"};
	static const char *const sizes[] = {"below 1 MiB", "from 1 MiB on"};
	static const double tolerances[] = {0.25, 0.10};
	for (int fitted = 0; fitted < 2; fitted++)
		for (int large = 0; large < 2; large++)
			suite_add_mean(b->context->a, b->out,
				arena_printf(b->context->a, "%s, mean of the %s %s", b->name,
					which[fitted], sizes[large]),
				&b->means[fitted][large], tolerances[large]);
	b->out->note =
		"topologies a100x4-nccl, a100x8-nccl and dgx1-v100-nccl are calibrated on the "
		"rows marked as fitted, the time of a call and small-size protocols too";
}

static bool run_vtrain(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	struct bench benches[2] = {
		{.context = context, .machine = &nccl_a100x8, .name = "a100", .out = out},
		{.context = context, .machine = &nccl_v100x8, .name = "v100", .out = out}};
	if (!bench_open(&benches[0], err) || !bench_open(&benches[1], err))
		return false;
	for (size_t row = 0; row < t->n_rows; row++) {
		struct measured m;
		double ns;
		const char *gpu = csv_cell(t, row, suite_column(t, "gpu"));
		bool v100 = strcmp(gpu, "v100") == 0;
		if (!v100 && strcmp(gpu, "a100") != 0)
			return err_set(err, ERR_INPUT,
				"%s: row %zu: gpu '%s', expected a100 or v100", t->path, row + 1,
				gpu);
		if (!csv_uint(t, row, suite_column(t, "n_gpus"), &m.n_ranks, err) ||
			!csv_uint(t, row, suite_column(t, "bytes"), &m.bytes, err) ||
			!csv_number(t, row, suite_column(t, "time_ns"), &ns, err))
			return false;
		m.us = ns / 1e3;
		m.fitted = m.n_ranks == 2 || m.n_ranks == 4 || m.n_ranks == 8;
		if (!show_row(&benches[v100], t, row, &m, err))
			return false;
	}
	add_means(&benches[0]);
	add_means(&benches[1]);
	return true;
}

static bool run_llmcompass(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	struct bench b = {
		.context = context, .machine = &nccl_a100x4, .name = "4 x a100", .out = out};
	if (!bench_open(&b, err))
		return false;
	for (size_t row = 0; row < t->n_rows; row++) {
		struct measured m = {.n_ranks = 4, .fitted = row % 2 == 0};
		if (!csv_uint(t, row, suite_column(t, "bytes_as_listed"), &m.bytes, err) ||
			!csv_number(t, row, suite_column(t, "measured_us"), &m.us, err) ||
			!show_row(&b, t, row, &m, err))
			return false;
	}
	add_means(&b);
	return true;
}

/* Somebody's own table: theirs beside ours, time and bus bandwidth; nothing is held to it. */
static bool run_nccl_tests(const struct suite_context *context, const struct csv *t,
	struct suite_report *out, struct err *err)
{
	struct bench b = {
		.context = context, .machine = &nccl_a100x8, .name = "nccl-tests", .out = out};
	if (context->topo) {
		b.machine = &nccl_plain;
		b.topo = *context->topo;
	} else if (!bench_open(&b, err)) {
		return false;
	}
	for (size_t row = 0; row < t->n_rows; row++) {
		struct measured m = {0};
		double us = 0;
		const char *kind = csv_cell(t, row, suite_column(t, "nccl_collective"));
		if (strcmp(kind, "allreduce") != 0)
			return err_set(err, ERR_INPUT, "%s: a table of %s, expected all_reduce",
				t->path, kind);
		if (!csv_uint(t, row, suite_column(t, "nccl_ranks"), &m.n_ranks, err) ||
			!csv_uint(t, row, suite_column(t, "nccl_bytes"), &m.bytes, err) ||
			!csv_number(t, row, suite_column(t, "nccl_us"), &m.us, err))
			return false;
		if (!simulate(&b, &m, &us, err)) {
			err_prefix(err, "%s: ", t->path);
			return false;
		}
		double gb = (double)m.bytes * 1e-3 *
			    coll_busbw_factor(COLL_ALLREDUCE, (uint32_t)m.n_ranks);
		suite_show(context->a, out, label(&b, &m, "us"), m.us, us, &b.means[0][0]);
		suite_show(context->a, out, label(&b, &m, "busbw GB/s"), gb / m.us,
			us > 0 ? gb / us : 0, NULL);
		suite_progress(context, (uint32_t)row + 1, (uint32_t)t->n_rows);
	}
	out->note = context->topo
			    ? "ours: ring, disjoint rings or double binary tree on the topology, "
			      "without the time of a call"
			    : "ours: topology a100x8-nccl, which was calibrated on another box; "
			      "--topology names yours";
	return true;
}

static const char *const vtrain_columns[] = {"gpu", "bytes", "time_ns", NULL};
static const char *const llmcompass_columns[] = {"measured_us", NULL};
static const char *const nccl_columns[] = {"nccl_collective", "nccl_ranks", "nccl_us", NULL};

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	static const struct suite_table tables[] = {
		{"n_gpus", vtrain_columns, run_vtrain},
		{"bytes_as_listed", llmcompass_columns, run_llmcompass},
		{"nccl_bytes", nccl_columns, run_nccl_tests},
	};
	return suite_run_table(tables, 3, context, t, out, err);
}

static const char *const columns_needed[] = {NULL};
static const char *const foreign[] = {
	"vtrain_allreduce.csv", "llmcompass_allreduce_4xA100.csv", NULL};

const struct suite suite_allreduce = {
	.name = "allreduce",
	.summary = "NCCL all-reduces measured on A100 and V100, or in your own nccl-tests table",
	.foreign = foreign,
	.foreign_source = "VIA-Research/vTrain (trace/) and PrincetonUniversity/LLMCompass (ae/)",
	.columns = columns_needed,
	.read = nccl_table_read,
	.run = run,
};
