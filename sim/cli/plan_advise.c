/* Does the closed form give good advice? Each model on each topology, a line each. */
#include "cli/plan.h"

struct advice {
	struct advice_row *rows;
	uint32_t n, cap;
};

static bool advise_one(struct request *q, const char *model, const char *topology,
	struct planning *p, struct advice *out, struct err *err)
{
	struct grid_report *report = arena_new(q->a, struct grid_report);
	if (!plan_load(q, model, topology, p, err))
		return false;
	if (!p->computing)
		p->computing = plan_computing(q, model, p, err);
	if (!p->computing || !plan_grids(q, p, report, err))
		return false;
	if (interrupted())
		return true;
	if (report->n_answered == 0)
		return err_set(err, ERR_ANSWER, "%s: no grid of %u processes fits: %s", model,
			p->processes, report_grids_reasons(q->a, report));
	arena_push(q->a, out->rows, out->n, out->cap) = (struct advice_row){
		.model = p->model.name,
		.topology = p->topo.name ? p->topo.name : "none",
		.machine = p->c.machine,
		.best = report_grids_best(report),
	};
	return true;
}

static bool write_advice(struct request *q, const struct advice *advice, struct err *err)
{
	struct table t;
	if (q->json)
		return write_json(q, report_advice_json(advice->rows, advice->n), err);
	report_advice_table(q->a, advice->rows, advice->n, &t);
	if (q->csv)
		return write_csv(q, &t, err);
	struct text out = {0};
	table_print(&t, &out, q->verbose ? 0 : 22);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

bool plan_advise(struct request *q, struct err *err)
{
	struct advice advice = {0};
	uint32_t n_topologies = q->topologies.n > 0 ? q->topologies.n : 1;
	if (q->plot)
		return err_set(err, ERR_USAGE, "--plot: expected one --model and one --topology");
	if (q->models.n == 0)
		return err_set(err, ERR_USAGE, "plan takes --model, --batch and --devices");
	for (uint32_t m = 0; m < q->models.n; m++) {
		struct planning *p = arena_new(q->a, struct planning);
		for (uint32_t t = 0; t < n_topologies && !interrupted(); t++)
			if (!advise_one(q, q->models.items[m],
				    q->topologies.n > 0 ? q->topologies.items[t] : NULL, p, &advice,
				    err))
				return false;
	}
	return write_advice(q, &advice, err);
}
