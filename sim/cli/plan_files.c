/* `wham plan --dump-prog` and `--trace`: one schedule as a prog, and when what of it ran. */
#include <string.h>

#include "base/file.h"
#include "cli/plan.h"

static bool write_prog(struct request *q, const struct iteration *it, struct err *err)
{
	struct text out = {0};
	if (!q->dump_prog)
		return true;
	prog_write(&it->prog, &out);
	bool ok = file_write(q->dump_prog, out.data, out.n, err);
	text_free(&out);
	return ok;
}

bool plan_check_files(struct request *q, struct err *err)
{
	enum net_kind net;
	if (!load_net(q, &net, err))
		return false;
	return !q->trace || net == NET_SIMGRID ||
	       err_set(err, ERR_USAGE, "--trace: --network analytic simulates nothing");
}

/* A run that is broken off leaves no timeline. */
static bool write_trace(
	struct request *q, const struct planning *p, const struct iteration *it, struct err *err)
{
	struct run_config config = plan_run_config(p);
	struct run_result run;
	struct text out = {0};
	if (!q->trace)
		return true;
	config.keep_spans = true;
	if (!run_prog(q->a, &it->prog, &config, &run, err))
		return interrupted() || err_prefix(err, "--trace: ");
	report_timeline(&it->prog, &run, &out);
	bool ok = file_write(q->trace, out.data, out.n, err);
	text_free(&out);
	return ok;
}

bool plan_files(
	struct request *q, const struct planning *p, const struct grid_report *r, struct err *err)
{
	struct iteration it;
	const struct grid_row *row = report_grids_pick(r);
	if ((!q->dump_prog && !q->trace) || !row || interrupted())
		return true;
	if (row->uncomputed)
		return err_set(err, ERR_INPUT, "--%s: %s", q->dump_prog ? "dump-prog" : "trace",
			row->uncomputed);
	if (q->trace && row->unscheduled)
		return err_set(err, ERR_INPUT, "--trace: %s", row->unscheduled);
	return plan_schedule(q->a, p, row, &it, err) && write_prog(q, &it, err) &&
	       write_trace(q, p, &it, err);
}
