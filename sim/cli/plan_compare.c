/* `wham plan --compare`: other schemes of parallelism as further rows. */
#include "cli/plan.h"
#include "plan/scheme.h"

struct scheme_question plan_scheme_question(const struct planning *p, const struct grid_row *row)
{
	return (struct scheme_question){
		.model = p->schemes,
		.batch = p->c.q.batch,
		.pr = row->grid.pr,
		.pc = row->grid.pc,
		.word_bytes = p->c.q.word_bytes,
		.algos = {.all_gather = p->options.all_gather, .all_reduce = p->options.all_reduce},
		.times = row->times,
		.pc_fastest = p->options.pc_fastest,
	};
}

/* The grid on which a process has what one device of the scheme has of a layer: parts of inputs
 * count as parts of outputs, which are as much work; parts of rows and of banks as fewer samples,
 * and less than a sample as that share of its time. */
static bool price_layer(struct computing *c, const struct grid_question *q,
	const struct scheme_share *share, uint32_t layer, struct grid_times *out, struct err *err)
{
	struct grid_question own = *q;
	uint64_t parts = (uint64_t)share->in * share->out, outputs = q->layers[layer].outputs;
	uint64_t groups = (uint64_t)q->grid.pc * share->rows * share->banks, less = 1;
	if (parts > outputs) {
		less = div_ceil(parts, outputs);
		parts = outputs;
	}
	if (groups > q->batch) {
		less *= div_ceil(groups, q->batch);
		groups = q->batch;
	}
	enum grid_way way = parts > 1 ? GRID_MODEL : GRID_BATCH;
	own.conv = (struct process_grid){0};
	own.grid = (struct process_grid){(uint32_t)parts, (uint32_t)groups};
	if (!plan_compute_layer(c, &own, layer, way, out, err))
		return false;
	*out = (struct grid_times){
		div_ceil(out->forward, less), div_ceil(out->dx, less), div_ceil(out->dw, less)};
	return true;
}

static bool compute(struct request *q, const struct planning *p, const struct scheme *s,
	struct grid_row *row, struct err *err)
{
	struct grid_question grid = plan_question(p, row);
	struct scheme_question question = plan_scheme_question(p, row);
	struct grid_times *times = arena_array(q->a, grid.n_layers, struct grid_times);
	double sum = 0;
	struct err why;
	for (uint32_t i = 0; i < grid.n_layers; i++) {
		struct scheme_share share = scheme_share(s, &question, i);
		if (!price_layer(p->computing, &grid, &share, i, &times[i], &why))
			return plan_cannot_compute(p->computing, &why, row, err);
		sum += ticks_to_s(times[i].forward + times[i].dx + times[i].dw);
	}
	row->analytic.s[TERM_COMPUTE] = sum;
	row->times = times;
	return true;
}

static bool add_scheme(struct request *q, const struct planning *p, const struct scheme *s,
	struct process_grid grid, struct plan_rows *out, struct err *err)
{
	struct err why = {0};
	struct scheme_terms terms;
	struct grid_row *row = &arena_push(q->a, out->rows, out->n, out->cap);
	*row = (struct grid_row){.grid = grid, .variant = s->name, .scheme = s};
	struct scheme_question question = plan_scheme_question(p, row);
	if (!scheme_check(s, &question, &why) ||
		!scheme_comm(s, &question, &p->c.machine, &terms, &why)) {
		row->refused = arena_strdup(q->a, why.text);
		return true;
	}
	if (!compute(q, p, s, row, err))
		return false;
	row->analytic.s[TERM_FORWARD] = terms.forward;
	row->analytic.s[TERM_BACKWARD] = terms.backward;
	row->analytic.s[TERM_DW_ALL_REDUCE] = terms.dw_all_reduce;
	row->analytic.total = row->analytic.s[TERM_COMPUTE] + scheme_terms_s(&terms);
	row->is_estimated = true;
	row->memory_bytes = scheme_memory_bytes(s, &question, WEIGHT_COPIES);
	return true;
}

bool plan_add_schemes(struct request *q, struct planning *p, struct process_grid grid,
	struct plan_rows *out, struct err *err)
{
	if (grid.pr == 1)
		return true;
	if (!p->schemes) {
		p->schemes = arena_new(q->a, struct scheme_model);
		scheme_read_model(q->a, &p->model, p->schemes);
	}
	for (size_t i = 0; schemes[i]; i++)
		if (!add_scheme(q, p, schemes[i], grid, out, err))
			return false;
	return true;
}
