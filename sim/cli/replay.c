#include <string.h>

#include "base/file.h"
#include "cli/internal.h"
#include "run/run.h"
#include "trace/trace.h"

static bool write_result(struct request *q, const struct replay_report *r, struct err *err)
{
	if (q->json)
		return write_json(q, report_replay_json(r), err);
	if (q->csv) {
		struct table t;
		report_replay_table(q->a, r, &t);
		return write_csv(q, &t, err);
	}
	struct text out = {0};
	report_replay_text(q->a, r, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool write_timeline(struct request *q, const struct replay_report *r, struct err *err)
{
	struct text out = {0};
	if (!q->trace)
		return true;
	report_timeline(r->prog, r->run, &out);
	bool ok = file_write(q->trace, out.data, out.n, err);
	text_free(&out);
	return ok;
}

static bool dump_prog(const struct request *q, const struct prog *prog, struct err *err)
{
	struct text out = {0};
	if (!q->dump_prog)
		return true;
	prog_write(prog, &out);
	bool ok = file_write(q->dump_prog, out.data, out.n, err);
	text_free(&out);
	return ok;
}

/* An accelerator gives work that was not timed its time by the roofline. */
static bool choose_options(struct request *q, struct trace_options *out, struct err *err)
{
	struct arch arch;
	*out = (struct trace_options){.elem_bytes = (uint32_t)q->elem_bytes, .lenient = q->lenient};
	if (q->strict && q->lenient)
		return err_set(err, ERR_USAGE, "--strict and --lenient contradict each other");
	if (!q->accel)
		return true;
	if (!load_arch(q, q->accel, &arch, err))
		return false;
	out->ops_per_s = (uint64_t)(2 * arch_peak_macs_per_s(&arch));
	out->bytes_per_s = arch_dram_bytes_per_s(&arch);
	return true;
}

/* With --strict the first is an error. */
static bool pass_on_warnings(struct request *q, const struct trace *trace, struct err *err)
{
	for (uint32_t i = 0; i < trace->n_warnings; i++) {
		const struct trace_warning *w = &trace->warnings[i];
		if (q->strict)
			return err_set(err, ERR_INPUT, "%s: %s (%ju of the kind; --strict)",
				w->code, w->first, (uintmax_t)w->count);
		report_warn(q->a, &q->report, w->code, w->first);
		for (uint32_t k = 0; k < q->report.n_warnings; k++)
			if (strcmp(q->report.warnings[k].code, w->code) == 0)
				q->report.warnings[k].count += w->count - 1;
	}
	return true;
}

static bool read_trace(struct request *q, struct trace *trace, struct err *err)
{
	struct trace_options options;
	if (q->files.n == 0)
		return err_set(err, ERR_USAGE,
			"replay takes a directory, files of all ranks, or one FILE.prog");
	for (uint32_t i = 0; i < q->files.n; i++)
		if (!(q->files.items[i] = spool_input(q, q->files.items[i], err)))
			return false;
	if (!choose_options(q, &options, err) ||
		!trace_read(q->a, q->files.items, q->files.n, &options, trace, err))
		return false;
	for (uint32_t i = 0; i < trace->n_paths; i++)
		if (!data_find(q, "recording", "traces", trace->paths[i], err))
			return false;
	return pass_on_warnings(q, trace, err);
}

static bool place(struct request *q, const struct topo *topo, const struct prog *prog,
	struct run_config *config, struct err *err)
{
	struct placement p;
	if (!load_placement(q, topo, prog_n_ranks(prog), &p, err))
		return false;
	config->device_of_rank = p.device_of_rank;
	config->compute_ppm = p.compute_ppm;
	return true;
}

static bool run_replay(struct request *q, struct err *err)
{
	struct trace trace;
	struct topo topo;
	struct run_result run;
	struct run_config config = {
		.topo = &topo, .keep_spans = q->trace != NULL, .all_links = q->csv_links != NULL};
	if (!read_trace(q, &trace, err) || !dump_prog(q, &trace.prog, err))
		return false;
	if (!prog_has_work(&trace.prog))
		return err_set(err, ERR_INPUT, "%s: no work, expected at least one task",
			q->files.items[0]);
	if (!q->topology)
		return err_set(err, ERR_USAGE, "replay needs --topology, e.g. --topology ring:%u",
			prog_n_ranks(&trace.prog));
	if (!load_topology(q, q->topology, &topo, err) || !load_net(q, &config.net, err) ||
		!load_choice(q, &config.choice, err) || !prog_check(&trace.prog, err) ||
		!place(q, &topo, &trace.prog, &config, err) ||
		!run_prog(q->a, &trace.prog, &config, &run, err))
		return false;
	struct replay_report r = {.prog = &trace.prog,
		.format = trace.format,
		.n_nodes = trace.n_nodes,
		.topo = &topo,
		.net = config.net,
		.run = &run};
	return write_timeline(q, &r, err) && write_links(q, &topo, &run, err) &&
	       write_result(q, &r, err);
}

const struct command command_replay = {
	.name = "replay",
	.usage = "replay DIR|FILE... --topology NAME|FILE|SPEC [options]",
	.summary = "run what each device does, as recorded or written by hand, over a network",
	.examples = "  wham simulate --model bert-large --pp 4 --topology ring:4 --dump-prog "
		    "step.prog\n"
		    "  wham replay step.prog --topology ring:4,bw=50GB/s\n"
		    "  wham replay step.prog --topology crossbar:4 --network analytic --json\n"
		    "  wham replay chakra/ --topology torus:4x4,bw=50GiB/s,lat=500ns\n"
		    "  wham replay w.0.et w.1.et groups.json --topology ring:2 --strict\n"
		    "  wham replay set.tar.gz --accel a100-80 --elem-bytes 2 --topology "
		    "dgx-a100-8\n",
	.run = run_replay,
};
