/* `wham plan`: every grid of model, batch and domain parallelism, in closed form and simulated. */
#include "cli/plan.h"

/* Lines of tables that are to be read. */
enum { GRIDS = 16, GRIDS_BESIDE_LAYERS = 6, LAYERS = 16 };

static void print_layers(struct request *q, const struct grid_report *r, struct text *out)
{
	struct table t;
	if (!r->detailed)
		return;
	text_add(out, "\nlayers of %ux%u %s:\n", r->detailed->grid.pr, r->detailed->grid.pc,
		r->detailed->variant);
	report_grid_layers_table(q->a, r, &t);
	table_print(&t, out, q->verbose ? 0 : LAYERS);
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
	uint32_t rows = r->detailed ? GRIDS_BESIDE_LAYERS : GRIDS;
	table_print(&t, &out, q->verbose ? 0 : rows);
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

/* The option that is of one grid of one model on one network, or NULL. */
static const char *single_option(const struct request *q)
{
	return q->layers ? "layers" : q->dump_prog ? "dump-prog" : q->trace ? "trace" : NULL;
}

static bool check_request(struct request *q, struct err *err)
{
	const char *option = single_option(q);
	if (q->files.n > 0)
		return err_set(err, ERR_USAGE, "plan takes no '%s'", q->files.items[0]);
	if (option && (q->paper || q->models.n > 1 || q->topologies.n > 1))
		return err_set(err, ERR_USAGE,
			"--%s: expected one --model and at most one --topology", option);
	return plan_check_files(q, err);
}

/* The convention of the paper, whose machine the default latency and bandwidth are. */
static void choose_words(struct request *q)
{
	if (!q->dtype)
		q->dtype = "fp32";
}

/* Nothing is printed that has no answer to what was asked of one grid. */
static bool check_answer(struct request *q, const struct grid_report *r, struct err *err)
{
	const char *option = single_option(q);
	if (interrupted())
		return true;
	if (r->n_answered == 0 && q->grid)
		return err_set(err, ERR_INPUT, "--grid: %s", r->rows[0].refused);
	if (r->n_answered > 0 && option && !report_grids_pick(r))
		return err_set(err, ERR_INPUT, "--%s: no grid can be executed: %s", option,
			report_grids_reasons(q->a, r));
	return true;
}

/* Files go first: the result stands for all. Where nothing fits the table still says why, unless the
 * question was of one grid. */
static bool run_plan(struct request *q, struct err *err)
{
	struct planning *p = arena_new(q->a, struct planning);
	struct grid_report report;
	choose_words(q);
	if (!check_request(q, err))
		return false;
	if (q->paper)
		return plan_paper(q, err);
	if (q->models.n > 1 || q->topologies.n > 1)
		return plan_advise(q, err);
	if (!plan_load(q, q->models.n ? q->models.items[0] : NULL, q->topology, p, err))
		return false;
	p->computing = plan_computing(q, q->models.items[0], p, err);
	if (!p->computing || !plan_grids(q, p, &report, err) || !check_answer(q, &report, err) ||
		!plan_layers(q, p, &report, err) || !plan_files(q, p, &report, err))
		return false;
	if (report.n_answered > 0 && !plot_grids(q, &report, err))
		return false;
	if (!write_grids(q, &report, err))
		return false;
	return report.n_answered > 0 || interrupted() ||
	       err_set(err, ERR_ANSWER, "no grid of %u processes fits: %s", report.processes,
		       report_grids_reasons(q->a, &report));
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
