/* Every option, once: parsing, --help, experiment files and shell completion read this table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/internal.h"

typedef const struct option_row option;

static void *field(option *row, struct request *q)
{
	return (char *)q + row->offset;
}

static bool set_text(option *row, struct request *q, const char *text, struct err *err)
{
	if (*text == '\0')
		return err_set(
			err, ERR_USAGE, "--%s: expected %s, got nothing", row->name, row->arg);
	*(const char **)field(row, q) = text;
	return true;
}

static bool add_text(option *row, struct request *q, const char *text, struct err *err)
{
	struct names *list = field(row, q);
	if (*text == '\0')
		return err_set(
			err, ERR_USAGE, "--%s: expected %s, got nothing", row->name, row->arg);
	arena_push(q->a, list->items, list->n, list->cap) = text;
	return true;
}

/* The last one counts where only one is taken. */
static bool set_topology(option *row, struct request *q, const char *text, struct err *err)
{
	q->topology = text;
	return add_text(row, q, text, err);
}

static bool set_flag(option *row, struct request *q, const char *text, struct err *err)
{
	*(bool *)field(row, q) = true;
	return true;
}

static bool parse_count(option *row, const char *text, uint64_t min, uint64_t *out, struct err *err)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno == ERANGE || v < min ||
		v > (UINT64_C(1) << 53))
		return err_set(err, ERR_USAGE, "--%s: '%s' is not a whole number of at least %ju",
			row->name, text, (uintmax_t)min);
	*out = v;
	return true;
}

static bool set_count(option *row, struct request *q, const char *text, struct err *err)
{
	return parse_count(row, text, 1, field(row, q), err);
}

/* A degree or a number of devices: ids are 32 bits wide. */
static bool set_degree(option *row, struct request *q, const char *text, struct err *err)
{
	uint64_t v = 0;
	if (!parse_count(row, text, 1, &v, err))
		return false;
	if (v > 1u << 24)
		return err_set(
			err, ERR_USAGE, "--%s: %s is more than %u", row->name, text, 1u << 24);
	*(uint64_t *)field(row, q) = v;
	return true;
}

static bool set_seed(option *row, struct request *q, const char *text, struct err *err)
{
	return parse_count(row, text, 0, field(row, q), err);
}

static bool set_number(option *row, struct request *q, const char *text, struct err *err)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (end == text || *end != '\0' || errno == ERANGE || !(v > 0) || v > 1e12)
		return err_set(
			err, ERR_USAGE, "--%s: '%s' is not a number above 0", row->name, text);
	*(double *)field(row, q) = v;
	return true;
}

static bool set_quantity(
	option *row, struct request *q, const char *text, enum unit_dim dim, struct err *err)
{
	if (!unit_parse(text, dim, field(row, q), err)) {
		err_prefix(err, "--%s: ", row->name);
		err->kind = ERR_USAGE;
		return false;
	}
	return true;
}

/* "64MiB", "1KiB..1GiB" (each size twice the one before) or "1KiB..1GiB:4". */
static bool set_bytes(option *row, struct request *q, const char *text, struct err *err)
{
	const char *dots = strstr(text, ".."), *colon = dots ? strchr(dots, ':') : NULL;
	if (!dots)
		return set_quantity(row, q, text, UNIT_BYTES, err);
	const char *from = arena_strndup(q->a, text, (size_t)(dots - text));
	const char *to = arena_strndup(
		q->a, dots + 2, colon ? (size_t)(colon - dots - 2) : strlen(dots + 2));
	q->bytes_factor = 2;
	if (!set_quantity(row, q, to, UNIT_BYTES, err))
		return false;
	q->bytes_to = q->bytes;
	if (!set_quantity(row, q, from, UNIT_BYTES, err) ||
		(colon && !parse_count(row, colon + 1, 2, &q->bytes_factor, err)))
		return false;
	return (q->bytes > 0 && q->bytes <= q->bytes_to) ||
	       err_set(err, ERR_USAGE, "--%s: '%s', expected SMALL..LARGE such as 1KiB..1GiB",
		       row->name, text);
}

static bool set_size(option *row, struct request *q, const char *text, struct err *err)
{
	return set_quantity(row, q, text, UNIT_BYTES, err);
}

static bool set_rate(option *row, struct request *q, const char *text, struct err *err)
{
	return set_quantity(row, q, text, UNIT_BANDWIDTH, err);
}

static bool set_time(option *row, struct request *q, const char *text, struct err *err)
{
	return set_quantity(row, q, text, UNIT_TIME, err);
}

/* Zero is what was not said, and no machine has it. */
static bool set_latency(option *row, struct request *q, const char *text, struct err *err)
{
	return set_time(row, q, text, err) &&
	       (*(uint64_t *)field(row, q) > 0 ||
		       err_set(err, ERR_USAGE, "--%s: '%s', expected a time above 0", row->name,
			       text));
}

static bool set_bandwidth(option *row, struct request *q, const char *text, struct err *err)
{
	return set_rate(row, q, text, err) &&
	       (*(uint64_t *)field(row, q) > 0 ||
		       err_set(err, ERR_USAGE, "--%s: '%s', expected a bandwidth above 0",
			       row->name, text));
}

#define AT(member) offsetof(struct request, member)
#define PLANS " search simulate topology "
#define NETS " plan replay search simulate topology "
#define LONG " search simulate validate "

/* clang-format off */
const struct option_row option_rows[] = {
	{"accel", 0, "NAME|FILE|SPEC", "accelerator (tpuv2): a name, a file, or TC=2x128x128,VC=2x128,SRAM=32MiB[,HBM=700GB/s][,clock=700MHz]; replay: times work that was not timed", " plan replay search simulate ", set_text, AT(accel)},
	{"algo", 0, "NAME", "search: wham, exhaustive or random; topology cost: algorithm of the collective, all, auto (the cheapest of all), or an MSCCL file (.xml)", " search topology ", set_text, AT(algo)},
	{"all-operators", 0, NULL, "list all operators, backward and update too, the tensor-core operators first", " simulate ", set_flag, AT(all_operators)},
	{"alpha", 0, "TIME", "latency of a message (2us; with --topology that of the way from its first device to its second)", " plan ", set_latency, AT(alpha)},
	{"area-mm2", 0, "X", "largest area of a design, mm2", " search ", set_number, AT(area_mm2)},
	{"batch", 0, "N", "samples of the whole step", PLANS "plan ", set_count, AT(batch)},
	{"beta-bw", 0, "BANDWIDTH", "of a process, per direction (6GB/s; with --topology that of the way from its first device to its second)", " plan ", set_bandwidth, AT(beta_bw)},
	{"budget-like", 0, "ACCEL", "limit area and TDP to those of ACCEL in the same model (tpuv2)", " search ", set_text, AT(budget_like)},
	{"bw", 0, "BANDWIDTH", "of a cable of the budget, per direction (25GB/s)", " topology ", set_rate, AT(bw)},
	{"bw-scale", 0, "X", "all links carry X times as much", NETS, set_number, AT(bw_scale)},
	{"bytes", 0, "SIZE", "size of the collective by nccl-tests' convention (64MiB); topology sweep: SMALL..LARGE[:FACTOR] (1KiB..1GiB:4)", " topology ", set_bytes, AT(bytes)},
	{"chunk", 0, "SIZE", "pieces that pipelined algorithms (chain, dbtree) cut a vector into (256KiB, at most 64)", " topology ", set_size, AT(chunk)},
	{"collective", 0, "KIND[=ALGO],...", "algorithm of each kind of collective (ring), auto (measured) or nccl (by size); topology cost: the kind (allreduce)", NETS, set_text, AT(collective)},
	{"color", 0, "WHEN", "auto, always or never", NULL, set_text, AT(color)},
	{"compare", 0, NULL, "further rows: the schemes of tensor, sequence, context and expert parallelism and sharded weights", " plan ", set_flag, AT(compare)},
	{"compute", 0, "NAME|FILE", "times of layers from a table of models/compute (knl-alexnet, knl-alexnet-figures) instead of --accel", " plan ", set_text, AT(compute)},
	{"conv-grid", 0, "PRxPC", "grid of the convolutions, where it is not that of the other layers", " plan ", set_text, AT(conv_grid)},
	{"critical-path", 0, NULL, "show a longest path of each stage; with --layers also ASAP, ALAP and mobility", " simulate ", set_flag, AT(critical_path)},
	{"csv", 0, NULL, "print comma-separated values", " list plan replay search simulate topology validate ", set_flag, AT(csv)},
	{"csv-links", 0, "FILE", "write bytes and utilisation of every link that carries something", " replay simulate topology ", set_text, AT(csv_links)},
	{"degrade", 0, "LINK=X", "the link carries X times as much, e.g. d0-d1=0.5 (repeatable)", NETS, add_text, AT(degraded)},
	{"devices", 0, "N", "devices in all: data-parallel degree = N / (pp tp)", PLANS "plan ", set_degree, AT(devices)},
	{"dim", 0, "NAME=N", "size of a dynamic dimension of an ONNX file (repeatable)", PLANS "plan ", add_text, AT(dims)},
	{"dot", 0, "FILE", "write the topology for Graphviz", " topology ", set_text, AT(dot)},
	{"dp", 0, "N", "data-parallel degree (1)", PLANS, set_degree, AT(dp)},
	{"dry-run", 0, NULL, "check all input and say what would run", LONG, set_flag, AT(dry_run)},
	{"dtype", 0, "TYPE", "bf16, fp16 or fp32 (bf16; plan: fp32)", PLANS "plan ", set_text, AT(dtype)},
	{"dump-graph", 0, "FILE", "write the operators of the training graph of one device as text, or for Graphviz where FILE ends in .dot", " simulate ", set_text, AT(dump_graph)},
	{"dump-prog", 0, "FILE", "write what each device does, in the text form that replay reads; plan: the schedule of --grid, else of the best grid", " plan replay simulate ", set_text, AT(dump_prog)},
	{"elem-bytes", 0, "N", "what sizes in a recording count: elements of N bytes (1: bytes)", " replay ", set_degree, AT(elem_bytes)},
	{"experiment", 0, "FILE", "JSON object of options; flags win", PLANS "plan ", set_text, AT(experiment)},
	{"fail-link", 0, "A-B", "the link is gone: routes go round it (repeatable)", NETS, add_text, AT(fail_links)},
	{"fidelity", 0, "HOW", "fluid: operators share memory bandwidth (default); tile: every tile is loaded, computed and stored", " simulate ", set_text, AT(fidelity)},
	{"fold", 0, "HOW", "auto, on or off: carry out equal rounds of a collective once (auto: where that is exact)", " plan replay simulate topology ", set_text, AT(fold)},
	{"fold-mode", 0, "MODE", "serial or pipelined array folds (that of the accelerator)", " simulate ", set_text, AT(fold_mode)},
	{"fractional-epoch", 0, NULL, "an epoch of --samples has N / batch iterations, not rounded up", " plan ", set_flag, AT(fractional_epoch)},
	{"gamma", 0, "BANDWIDTH", "at which what arrives is added in a reduction, e.g. 50GB/s (adding takes no time)", " plan ", set_bandwidth, AT(gamma)},
	{"gemm", 0, "MxNxK", "one matrix product instead of a model", " simulate ", set_text, AT(gemm)},
	{"grid", 0, "PRxPC", "this grid only: Pr processes share a layer, Pc the batch", " plan ", set_text, AT(grid)},
	{"help", 'h', NULL, "this text", NULL, set_flag, AT(help)},
	{"intra-op", 0, "RULE", "one: an operator holds one core (search); split: all free ones (simulate)", PLANS, set_text, AT(intra_op)},
	{"jobs", 'j', "N", "worker processes (1; validate: one per processor); results do not depend on it", " plan search validate ", set_degree, AT(jobs)},
	{"json", 0, NULL, "print one JSON object", " list plan replay search simulate topology validate ", set_flag, AT(json)},
	{"lat", 0, "TIME", "latency of a cable of the budget (1us)", " topology ", set_time, AT(lat)},
	{"lat-scale", 0, "X", "all links take X times as long", NETS, set_number, AT(lat_scale)},
	{"layers", 0, NULL, "list the tensor-core operators: shape, cycles, bytes, stalls, utilisation, what bounds them; plan: the layers of --grid, else of the best grid", " plan simulate ", set_flag, AT(layers)},
	{"lenient", 0, NULL, "operators of an ONNX file that are not known cost nothing, with a warning; replay: repairs unknown nodes and groups, circles of control dependencies, uneven collectives", " plan replay search simulate ", set_flag, AT(lenient)},
	{"links", 0, "N", "cables of the budget: N x --bw is shared out evenly (2 per device)", " topology ", set_degree, AT(links)},
	{"map", 0, "HOW", "ranks on devices: linear, random:SEED, or a file with one device for each rank (linear)", NETS, set_text, AT(map)},
	{"max-calls", 0, "N", "evaluations of the cost oracle at most", " search ", set_count, AT(max_calls)},
	{"max-dim", 0, "N", "largest rows, columns and vector width of a core (256)", " search ", set_degree, AT(max_dim)},
	{"max-width", 0, "N", "largest vector width of a core (that of --max-dim)", " search ", set_degree, AT(max_width)},
	{"memory", 0, NULL, "live bytes of each stage over the step, the peak and the tensors that make it", " simulate ", set_flag, AT(memory)},
	{"metric", 0, "NAME", "throughput or perf-per-tdp (throughput)", " search ", set_text, AT(metric)},
	{"micro-batch", 0, "N", "samples of one pipeline pass (the model's own)", PLANS, set_count, AT(micro_batch)},
	{"min-dim", 0, "N", "smallest rows, columns and vector width of a core (4)", " search ", set_degree, AT(min_dim)},
	{"mode", 0, "MODE", "individual: the best design of each model; common: one for all", " search ", set_text, AT(mode)},
	{"model", 'm', "NAME|FILE[:KEY=N,...]", "workload: a name, a workload file or an ONNX file, plain or gzip (repeatable in plan and search)", PLANS "plan ", add_text, AT(models)},
	{"network", 0, "NET", "simgrid or analytic (simgrid)", NETS, set_text, AT(network)},
	{"no-progress", 0, NULL, "no progress line on stderr", LONG "plan ", set_flag, AT(no_progress)},
	{"optimizer", 0, "NAME", "sgd, momentum or adam (adam)", PLANS, set_text, AT(optimizer)},
	{"order", 0, "DIM", "processes in rank order that are neighbours differ in pr or in pc (pr)", " plan ", set_text, AT(order)},
	{"output", 'o', "FILE", "write the result to FILE (.gz compresses)", NULL, set_text, AT(output)},
	{"overlap", 0, NULL, "reductions of weight gradients hide behind computation: as in Fig. 8 of the paper, and as simulated, message by message, which --fold cannot shorten", " plan ", set_flag, AT(overlap)},
	{"paper", 0, "FIG", "a figure of Gholami et al. 2018 beside ours: fig6a to fig10d", " plan ", set_text, AT(paper)},
	{"partition", 0, "HOW", "uniform or balanced stages (balanced)", PLANS, set_text, AT(partition)},
	{"plot", 0, "FILE", "plot the result with gnuplot (.svg, .png), or write its script (.gp)", " plan topology ", set_text, AT(plot)},
	{"pp", 0, "N", "pipeline stages (1)", PLANS, set_degree, AT(pp)},
	{"quiet", 'q', NULL, "no warnings", NULL, set_flag, AT(quiet)},
	{"ranks", 0, "LIST", "devices that take part: 0-63 or 0,2,4 (all)", " topology ", set_text, AT(ranks)},
	{"recompute", 0, "HOW", "none, selective, full or auto (auto: none where it fits the memory, else full)", PLANS, set_text, AT(recompute)},
	{"reference", 0, "FILE", "another table of the same columns; allreduce: also what nccl-tests prints, or its JSON", " validate ", set_text, AT(reference)},
	{"samples", 0, "N", "samples of an epoch: adds seconds of an epoch, iterations rounded up", " plan ", set_count, AT(samples)},
	{"schedule", 0, "NAME", "gpipe or 1f1b (1f1b)", PLANS, set_text, AT(schedule)},
	{"seed", 0, "N", "of random choices (1)", " search ", set_seed, AT(seed)},
	{"sp", 0, NULL, "sequence parallelism beside --tp: norms, dropouts and residuals on slices of the sequence", PLANS, set_flag, AT(sp)},
	{"straggler", 0, "DEVICE=X", "the device computes X times as long (repeatable)", NETS, add_text, AT(stragglers)},
	{"strict", 0, NULL, "a recording that would be repaired with a warning is an error", " replay ", set_flag, AT(strict)},
	{"tdp-w", 0, "X", "largest TDP of a design, W", " search ", set_number, AT(tdp_w)},
	{"time-limit", 0, "TIME", "stop after this long and write what is complete", LONG "plan ", set_time, AT(time_limit)},
	{"topk", 0, "K", "designs kept for each stage and reported (10)", " search ", set_degree, AT(topk)},
	{"topology", 't', "NAME|FILE|SPEC", "what connects the devices: ring:4,bw=100GB/s,lat=1us, a shipped name, a file, a SimGrid platform (repeatable in plan)", NETS "validate ", set_topology, AT(topologies)},
	{"tp", 0, "N", "tensor-parallel degree (1)", PLANS, set_degree, AT(tp)},
	{"trace", 0, "FILE", "write a timeline for Perfetto (.json or .json.gz); plan: of --grid, else of the best grid", " plan replay simulate ", set_text, AT(trace)},
	{"variant", 0, "NAME", "how the equations are read: eq7, eq8-all, eq8-fc, eq8-din-all, eq8-din-fc, eq9, eq9-printed, exact-all, exact-domain, exact-fc, the calibrated fit-fig6 and fit-fig7, choice (of each layer its best way), or all but those two fits (eq8-fc)", " plan ", set_text, AT(variant)},
	{"verbose", 'v', NULL, "every row, however many", NULL, set_flag, AT(verbose)},
	{NULL, 0, NULL, NULL, NULL, NULL, 0},
};
/* clang-format on */

bool option_belongs(const struct option_row *row, const char *verb)
{
	if (!row->verbs)
		return true;
	size_t n = strlen(verb);
	for (const char *at = row->verbs; (at = strstr(at, verb)); at += n)
		if (at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

const struct option_row *option_find(const char *name, const char *verb)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (strcmp(row->name, name) == 0 && option_belongs(row, verb))
			return row;
	return NULL;
}
