/* `wham plan --paper`: a figure of Gholami et al. 2018, digitised, in closed form and simulated. */
#include "report/plan_paper.h"

#include <string.h>

#include "cli/plan.h"
#include "plan/grid_compute.h"
#include "validate/integrated_figures.h"

/* What the layers do in a figure: Fig. 6 splits all of them, 10b to 10d have convolutions in
 * strips, the others split the connected layers only. */
static const char *ways_of(const struct figure_panel *panel)
{
	if (panel->conv_pc > 0)
		return "exact-domain";
	return panel->literal && strcmp(panel->literal, "eq8-all") == 0 ? "exact-all" : "exact-fc";
}

static bool begin(struct request *q, const struct figures *f, const struct figure_chart *chart,
	struct planning *p, struct err *err)
{
	const struct figure_bar *first = chart->bars;
	*p = (struct planning){.processes = first->grid.pr * first->grid.pc};
	p->c = figure_case(f, chart, first);
	p->options.overlap = chart->panel->overlap;
	p->config.topo = &p->topo;
	p->config.net = NET_SIMGRID;
	return load_net(q, &p->config.net, err) && load_fold(q, &p->config.fold, err) &&
	       plan_alpha_beta_topology(q, &p->c.machine, p->processes, &p->topo, err);
}

/* Computation that hides something has to be played. */
static bool read_times(struct request *q, const struct integrated_case *c,
	const struct grid_times **out, struct err *err)
{
	struct grid_table table;
	struct grid_times *times = arena_array(q->a, c->q.n_layers, struct grid_times);
	const char *path =
		arena_printf(q->a, "%s/models/compute/knl-alexnet-figures.csv", data_root(q->a));
	*out = times;
	return grid_compute_table_read(q->a, path, &table, err) &&
	       grid_compute_table_times(&table, &c->q, times, err);
}

static bool add_row(struct request *q, const struct paper_report *r, const struct figure_bar *bar,
	struct plan_rows *rows, struct err *err)
{
	struct integrated_case c = figure_case(r->figures, r->chart, bar);
	const struct integrated_rules *rules = integrated_variant(ways_of(r->chart->panel), err);
	enum grid_way *ways = arena_array(q->a, c.q.n_layers, enum grid_way);
	struct grid_row row = {.grid = bar->grid, .ways = ways};
	if (!rules || (r->chart->panel->overlap && !read_times(q, &c, &row.times, err)))
		return false;
	integrated_ways(&c, rules, ways);
	row.variant = rules->name;
	arena_push(q->a, rows->rows, rows->n, rows->cap) = row;
	return true;
}

static bool simulate(struct request *q, struct paper_report *r, struct err *err)
{
	struct planning *p = arena_new(q->a, struct planning);
	struct plan_rows rows = {0};
	if (!begin(q, r->figures, r->chart, p, err))
		return false;
	if (p->config.net != NET_SIMGRID)
		return true;
	for (uint32_t i = 0; i < r->chart->n_bars; i++)
		if (!add_row(q, r, &r->chart->bars[i], &rows, err))
			return false;
	if (!plan_simulate(q, p, &rows, err))
		return false;
	r->network = p->topo.summary;
	for (uint32_t i = 0; i < rows.n; i++) {
		r->bars[i].simulated = rows.rows[i].simulated;
		r->bars[i].is_simulated = rows.rows[i].is_simulated;
		r->bars[i].reason = rows.rows[i].unscheduled;
	}
	return true;
}

/* What the printed equations say of pure model parallelism, which the figures leave out. */
static double model_literal_s(const struct figures *f, const struct figure_chart *chart)
{
	struct err err;
	const struct figure_panel *panel = chart->panel;
	struct integrated_case c = figure_case(f, chart, chart->bars);
	const struct integrated_rules *rules =
		panel->literal ? integrated_variant(panel->literal, &err) : NULL;
	if (!rules)
		return 0;
	c.q.grid = (struct process_grid){c.q.grid.pr * c.q.grid.pc, 1};
	struct integrated_terms t = integrated_comm(&c, rules);
	return chart->iterations * integrated_terms_s(&t);
}

static bool write_figure(struct request *q, const struct paper_report *r, struct err *err)
{
	struct table t;
	if (q->json)
		return write_json(q, report_paper_json(r), err);
	report_paper_table(q->a, r, &t);
	if (q->csv)
		return write_csv(q, &t, err);
	struct text out = {0};
	table_print(&t, &out, 0);
	report_paper_text(r, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

bool plan_paper(struct request *q, struct err *err)
{
	struct suite_context context = {.a = q->a, .data_root = data_root(q->a)};
	struct figures figures;
	struct paper_report r = {.figures = &figures, .csv = q->csv};
	struct stacks stacks;
	if (q->models.n > 0 || q->topologies.n > 0 || q->batch > 0 || q->devices > 0 || q->grid)
		return err_set(err, ERR_USAGE,
			"--paper fixes model, batch, processes, grids and network; expected none "
			"of "
			"--model, --batch, --devices, --grid and --topology beside it");
	if (!figures_read(&context, &figures, err))
		return false;
	r.chart = figures_find(&figures, q->paper, err);
	if (!r.chart)
		return false;
	r.bars = arena_array(q->a, r.chart->n_bars, struct paper_bar);
	for (uint32_t i = 0; i < r.chart->n_bars; i++)
		r.bars[i].bar = &r.chart->bars[i];
	r.model_literal_s = model_literal_s(&figures, r.chart);
	if (!simulate(q, &r, err))
		return false;
	if (q->plot) {
		report_paper_stacks(q->a, &r, &stacks);
		if (!write_stacks(q, &stacks, err))
			return false;
	}
	return write_figure(q, &r, err);
}
