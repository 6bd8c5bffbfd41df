/* `wham plan`: every grid of model, batch and domain parallelism, in closed form and simulated. */
#include "cli/plan.h"

static void print_layers(struct request *q, const struct grid_report *r, struct text *out)
{
	struct table t;
	if (!r->detailed)
		return;
	text_add(out, "\nlayers of %ux%u %s:\n", r->detailed->grid.pr, r->detailed->grid.pc,
		r->detailed->variant);
	report_grid_layers_table(q->a, r, &t);
	table_print(&t, out, 0);
}

static bool write_grids(struct request *q, const struct grid_report *r, struct err *err)
{
	struct table t;
	if (q->json)
		return write_json(q, report_grids_json(r), err);
	if (q->csv && r->detailed)
		report_grid_layers_table(q->a, r, &t);
	else
		report_grids_table(q->a, r, &t);
	if (q->csv)
		return write_csv(q, &t, err);
	struct text out = {0};
	table_print(&t, &out, q->verbose ? 0 : 16);
	report_grids_text(r, &out);
	print_layers(q, r, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool plot_grids(struct request *q, const struct grid_report *r, struct err *err)
{
	struct stacks stacks;
	if (!q->plot)
		return true;
	report_grids_stacks(q->a, r, &stacks);
	return write_stacks(q, &stacks, err);
}

/* What is of one grid of one model on one network. */
static bool check_single(const struct request *q, struct err *err)
{
	const char *option = q->layers      ? "layers"
			     : q->dump_prog ? "dump-prog"
			     : q->trace     ? "trace"
					    : NULL;
	if (!option || (!q->paper && q->models.n <= 1 && q->topologies.n <= 1))
		return true;
	return err_set(
		err, ERR_USAGE, "--%s: expected one --model and at most one --topology", option);
}

/* The convention of the paper, whose machine the default latency and bandwidth are. */
static void choose_words(struct request *q)
{
	if (!q->dtype)
		q->dtype = "fp32";
}

/* Where nothing fits the table still says why, unless the question was of one grid. */
static bool run_plan(struct request *q, struct err *err)
{
	struct planning *p = arena_new(q->a, struct planning);
	struct grid_report report;
	choose_words(q);
	if (!check_single(q, err))
		return false;
	if (q->paper)
		return plan_paper(q, err);
	if (q->models.n > 1 || q->topologies.n > 1)
		return plan_advise(q, err);
	if (!plan_load(q, q->models.n ? q->models.items[0] : NULL, q->topology, p, err))
		return false;
	p->computing = plan_computing(q, q->models.items[0], p, err);
	if (!p->computing || !plan_grids(q, p, &report, err))
		return false;
	if (report.n_fit == 0 && q->grid && !interrupted())
		return err_set(err, ERR_INPUT, "--grid: %s", report.rows[0].refused);
	if (!plan_layers(q, p, &report, err) || !write_grids(q, &report, err) ||
		!plan_files(q, p, &report, err))
		return false;
	if (report.n_fit == 0 && !interrupted())
		return err_set(err, ERR_ANSWER, "no grid of %u processes fits: %s",
			report.processes, report.rows[0].refused);
	return report.n_fit == 0 || plot_grids(q, &report, err);
}

const struct command command_plan = {
	.name = "plan",
	.usage = "plan --model NAME|FILE --batch B --devices P [options]  |  plan --paper FIG",
	.summary = "rank the grids of model, batch and domain parallelism, estimated and simulated",
	.examples =
		"  wham plan --model alexnet --batch 2048 --devices 512\n"
		"  wham plan --model alexnet --batch 512 --devices 64 --topology torus:8x8 "
		"--variant "
		"choice --json\n"
		"  wham plan --model vgg16 --batch 256 --devices 64 --alpha 1us --beta-bw 25GB/s "
		"--variant all --network analytic\n"
		"  wham plan --model resnet50 --model bert-large --batch 64 --devices 64 "
		"--topology "
		"ring:64 --topology torus:8x8\n"
		"  wham plan --model alexnet --batch 512 --devices 64 --topology torus:8x8 "
		"--grid 16x4 --layers --dump-prog grid.prog --trace grid.json.gz\n"
		"  wham plan --paper fig7d --plot fig7d.svg\n",
	.run = run_plan,
	.finishes = true,
};
