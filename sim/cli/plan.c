/* `wham plan`: every grid of model and batch parallelism, in closed form. */
#include "report/plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/internal.h"

enum { WEIGHT_COPIES = 2 }; /* weights and their gradients */

struct grids {
	struct grid_row *rows;
	uint32_t n, cap, n_fit;
};

static bool load_question(
	struct request *q, struct graph *model, struct integrated_case *out, struct err *err)
{
	struct grid_layer *layers;
	if (q->models.n != 1 || q->batch == 0 || q->devices == 0)
		return err_set(err, ERR_USAGE,
			"plan takes one --model, --batch and --devices, 'wham help plan' has "
			"examples");
	if (q->files.n > 0)
		return err_set(err, ERR_USAGE, "plan takes no '%s'", q->files.items[0]);
	if (!load_model(q, q->models.items[0], 1, 1, model, err))
		return false;
	uint32_t n = grid_layers(q->a, model, &layers);
	if (n == 0)
		return err_set(err, ERR_INPUT,
			"%s: no layer with weights, expected convolutions or matrix products",
			model->path);
	const struct tensor *first = &model->tensors[0];
	double alpha = q->alpha > 0 ? ticks_to_s(q->alpha) : 2e-6;
	*out = (struct integrated_case){
		.q = {.layers = layers, .n_layers = n, .batch = q->batch},
		.machine = {alpha, 1 / (q->beta_bw > 0 ? (double)q->beta_bw : 6e9), 0},
	};
	for (uint32_t i = 0; i < model->n_tensors && out->q.word_bytes == 0; i++, first++)
		if (first->class == TENSOR_PARAM)
			out->q.word_bytes = first->elem_bytes;
	return true;
}

static void add_grid(struct request *q, struct integrated_case *c,
	const struct integrated_rules *rules, struct process_grid grid, struct grids *out)
{
	struct err why = {0};
	struct grid_row row = {.grid = grid, .rules = rules};
	c->q.grid = grid;
	if (integrated_check(c, rules, grid.pr * grid.pc, &why)) {
		row.terms = integrated_comm(c, rules);
		enum grid_way *ways = arena_array(q->a, c->q.n_layers, enum grid_way);
		integrated_ways(c, rules, ways);
		row.memory_bytes = grid_memory_bytes(&c->q, ways, WEIGHT_COPIES);
		out->n_fit++;
	} else {
		row.refused = arena_strdup(q->a, why.text);
	}
	arena_push(q->a, out->rows, out->n, out->cap) = row;
}

/* The fastest first; those that cannot be last; among equals the smaller Pr, then the name. */
static int by_time(const void *va, const void *vb)
{
	const struct grid_row *a = va, *b = vb;
	double ta = integrated_terms_s(&a->terms), tb = integrated_terms_s(&b->terms);
	if (!a->refused != !b->refused)
		return a->refused ? 1 : -1;
	if (ta < tb || tb < ta)
		return ta < tb ? -1 : 1;
	if (a->grid.pr != b->grid.pr)
		return a->grid.pr < b->grid.pr ? -1 : 1;
	return strcmp(a->rules->name, b->rules->name);
}

static bool find_grids(
	struct request *q, struct integrated_case *c, struct grids *out, struct err *err)
{
	const char *name = q->variant ? q->variant : "eq8-fc";
	bool all = strcmp(name, "all") == 0;
	uint32_t p = (uint32_t)q->devices;
	if (!all && !integrated_variant(name, err))
		return false;
	for (size_t v = 0; integrated_variants[v]; v++) {
		const struct integrated_rules *rules = integrated_variants[v];
		bool calibrated = rules->extra_gather_words > 0;
		if (all ? calibrated : strcmp(rules->name, name) != 0)
			continue;
		for (uint32_t pr = 1; pr <= p; pr++)
			if (p % pr == 0)
				add_grid(q, c, rules, (struct process_grid){pr, p / pr}, out);
	}
	if (out->n > 0)
		qsort(out->rows, out->n, sizeof(*out->rows), by_time);
	return true;
}

static bool write_grids(struct request *q, const struct grid_report *r, struct err *err)
{
	struct table t;
	if (q->json)
		return write_json(q, report_grids_json(r), err);
	report_grids_table(q->a, r, &t);
	if (q->csv)
		return write_csv(q, &t, err);
	struct text out = {0};
	table_print(&t, &out, q->verbose ? 0 : 20);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool run_plan(struct request *q, struct err *err)
{
	struct graph model = {0};
	struct grids grids = {0};
	struct grid_report report = {0};
	if (!load_question(q, &model, &report.question, err) ||
		!find_grids(q, &report.question, &grids, err))
		return false;
	report.model = model.name;
	report.processes = (uint32_t)q->devices;
	report.rows = grids.rows;
	report.n_rows = grids.n;
	if (!write_grids(q, &report, err))
		return false;
	return grids.n_fit > 0 ||
	       err_set(err, ERR_ANSWER, "no grid of %u processes fits", report.processes);
}

const struct command command_plan = {
	.name = "plan",
	.usage = "plan --model NAME|FILE --batch B --devices P [options]",
	.summary = "rank the grids of model and batch parallelism in closed form",
	.examples = "  wham plan --model alexnet --batch 2048 --devices 512 --dtype fp32\n"
		    "  wham plan --model alexnet --batch 512 --devices 64 --variant eq9 --json\n"
		    "  wham plan --model vgg16 --batch 256 --devices 64 --alpha 1us --beta-bw "
		    "25GB/s --variant all\n",
	.run = run_plan,
};
