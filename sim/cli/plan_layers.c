/* `wham plan --layers`: what one grid does to each layer. */
#include "cli/plan.h"
#include "plan/grid_compute.h"

/* The forward product that one process has, read at as many samples as its layer takes. */
static bool find_product(struct request *q, const struct grid_question *question, uint32_t layer,
	struct grid_layer_row *out, struct err *err)
{
	const struct grid_layer *l = out->layer;
	struct process_grid g = grid_of(question, layer);
	bool batch = out->way == GRID_BATCH;
	uint64_t groups = batch ? (uint64_t)g.pr * g.pc : g.pc;
	struct graph graph;
	struct work work;
	if (!load_model(q, q->models.items[0], div_ceil(question->batch, groups), 1, &graph, err))
		return false;
	grid_local_work(q->a, l, &graph.ops[l->op], out->way, batch ? 1 : g.pr, &work);
	out->n_products = work.batch;
	out->m = work.m;
	out->n = work.n;
	out->k = work.k;
	return true;
}

bool plan_layers(
	struct request *q, const struct planning *p, struct grid_report *out, struct err *err)
{
	const struct grid_row *row = report_grids_pick(out);
	if (!q->layers || !row)
		return true;
	struct grid_layer_row *layers = arena_array(q->a, p->c.q.n_layers, struct grid_layer_row);
	struct integrated_case c = p->c;
	struct integrated_rules rules = plan_rules(p, row);
	c.q.grid = row->grid;
	for (uint32_t i = 0; i < c.q.n_layers; i++) {
		layers[i] = (struct grid_layer_row){.layer = &c.q.layers[i],
			.way = row->ways[i],
			.analytic = plan_layer_terms(&c, &rules, row->ways, i),
			.simulated_s = row->layer_s ? row->layer_s[i] : -1,
			.crossover_batch = integrated_crossover_batch(&c.q.layers[i])};
		if (row->times)
			layers[i].times = row->times[i];
		if (!find_product(q, &c.q, i, &layers[i], err))
			return false;
	}
	out->detailed = row;
	out->layers = layers;
	return true;
}
