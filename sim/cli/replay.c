#include <string.h>

#include "base/file.h"
#include "cli/internal.h"
#include "run/run.h"

static bool write_result(struct request *q, const struct replay_report *r, struct err *err)
{
	if (q->json)
		return write_json(q, report_replay_json(r), err);
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
	struct prog prog;
	struct topo topo;
	struct run_result run;
	struct run_config config = {
		.topo = &topo, .keep_spans = q->trace != NULL, .all_links = q->csv_links != NULL};
	if (q->files.n != 1)
		return err_set(err, ERR_USAGE, "replay takes one FILE.prog");
	const char *path = data_find(q, "prog", "traces", q->files.items[0], err);
	if (!path || !prog_read(q->a, path, &prog, err))
		return false;
	if (!q->topology)
		return err_set(err, ERR_USAGE, "replay needs --topology, e.g. --topology ring:%u",
			prog_n_ranks(&prog));
	if (!load_topology(q, q->topology, &topo, err) || !load_net(q, &config.net, err) ||
		!load_choice(q, &config.choice, err) || !prog_check(&prog, err) ||
		!place(q, &topo, &prog, &config, err) || !run_prog(q->a, &prog, &config, &run, err))
		return false;
	struct replay_report r = {.prog = &prog, .topo = &topo, .net = config.net, .run = &run};
	return write_timeline(q, &r, err) && write_links(q, &topo, &run, err) &&
	       write_result(q, &r, err);
}

const struct command command_replay = {
	.name = "replay",
	.usage = "replay FILE.prog --topology NAME|FILE|SPEC [options]",
	.summary = "run what each device does, as written in a file, over a network",
	.examples = "  wham simulate --model bert-large --pp 4 --topology ring:4 --dump-prog "
		    "step.prog\n"
		    "  wham replay step.prog --topology ring:4,bw=50GB/s\n"
		    "  wham replay step.prog --topology crossbar:4 --network analytic --json\n",
	.run = run_replay,
};
