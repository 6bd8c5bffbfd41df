/* What no design of a point or a subtree can beat. */
#include <math.h>

#include "search/internal.h"

/* Lower bounds of the durations of one part's operators, and what follows from them. */
struct part_bound {
	uint32_t n_ops;
	const op_id *ids;
	tick *by_array; /* [rows * n_dim + cols][operator]: tensor-core and fused operators */
	tick *by_width; /* [width][operator]: vector operators */
	tick memory;    /* all DRAM traffic at full bandwidth */
};

/* What one part takes at least, as a function of the counts. */
struct floor_time {
	tick least; /* whatever the counts */
	u128 tc_work, vc_work;
};

struct bounding {
	const struct problem *p;
	const struct search_stage *stage;
	struct part_bound *parts; /* of each part of the stage */
	struct floor_time *floors;
	uint32_t *index; /* position of an operator in the part at hand */
	tick *ends;
};

static void fill_durations(struct bounding *b, const struct design *d, bool by_array, uint32_t row)
{
	struct arch arch = design_arch(d, &b->p->config->base);
	struct oracle o;
	oracle_open(&o, b->stage, &arch);
	for (uint32_t part = 0; part < b->stage->n_parts; part++) {
		const struct op_timing *timing = device_part_timing(o.parts[part]);
		struct part_bound *bound = &b->parts[part];
		tick *durations = by_array ? bound->by_array : bound->by_width;
		for (uint32_t i = 0; i < bound->n_ops; i++)
			durations[(size_t)row * bound->n_ops + i] = timing[i].duration;
	}
	oracle_close(&o);
}

/* Traffic depends on the buffer alone, here the largest. Rates are rounded to whole bytes/s, so
 * this is rounded down further. */
static void fill_memory(struct bounding *b, const struct design *d)
{
	struct arch arch = design_arch(d, &b->p->config->base);
	struct oracle o;
	oracle_open(&o, b->stage, &arch);
	for (uint32_t part = 0; part < b->stage->n_parts; part++) {
		struct device_result result;
		device_run_part(&o.arena, o.parts[part], 1, 1, &result);
		double s = (double)result.dram_bytes / (double)arch_dram_bytes_per_s(&arch);
		b->parts[part].memory = (tick)(s * (1 - 1e-8) * (double)TICKS_PER_S);
	}
	oracle_close(&o);
}

static void price_all(struct bounding *b)
{
	const struct lattice *l = &b->p->lattice;
	struct design root = lattice_design(l, l->n_points - 1), d = root;
	fill_memory(b, &root);
	for (uint32_t i = 0; i < l->n_dim * l->n_dim; i++) {
		d.rows = l->dims[i / l->n_dim];
		d.cols = l->dims[i % l->n_dim];
		fill_durations(b, &d, true, i);
	}
	d = root;
	for (uint32_t i = 0; i < l->n_width; i++) {
		d.width = l->widths[i];
		fill_durations(b, &d, false, i);
	}
}

static struct floor_time floor_part(
	struct bounding *b, const struct part_bound *part, uint32_t array, uint32_t width)
{
	struct floor_time f = {0};
	const tick *by_array = part->by_array + (size_t)array * part->n_ops;
	const tick *by_width = part->by_width + (size_t)width * part->n_ops;
	const struct op *ops = b->stage->graph->ops;
	for (uint32_t i = 0; i < part->n_ops; i++)
		b->index[part->ids[i]] = i;
	for (uint32_t i = 0; i < part->n_ops; i++) {
		const struct op *op = &ops[part->ids[i]];
		enum core core = op->work.core;
		tick duration = core == CORE_VC ? by_width[i] : by_array[i], start = 0;
		for (uint32_t j = 0; j < op->n_preds; j++) {
			uint32_t pred = b->index[op->preds[j]];
			if (pred != GRAPH_NONE && b->ends[pred] > start)
				start = b->ends[pred];
		}
		b->ends[i] = start + duration;
		f.least = b->ends[i] > f.least ? b->ends[i] : f.least;
		f.tc_work += core == CORE_TC || core == CORE_TC_VC ? duration : 0;
		f.vc_work += core == CORE_VC || core == CORE_TC_VC ? duration : 0;
	}
	for (uint32_t i = 0; i < part->n_ops; i++)
		b->index[part->ids[i]] = GRAPH_NONE;
	f.least = part->memory > f.least ? part->memory : f.least;
	/* Every event of the device rounds to whole ticks. */
	tick slack = 2 * (tick)part->n_ops + f.least / 1000000000;
	f.least = f.least > slack ? f.least - slack : 0;
	return f;
}

static void floor_parts(struct bounding *b, uint32_t array, uint32_t width)
{
	for (uint32_t i = 0; i < b->stage->n_parts; i++)
		b->floors[i] = floor_part(b, &b->parts[i], array, width);
}

static tick at_least(const struct floor_time *f, uint32_t tc, uint32_t vc)
{
	u128 t = f->least;
	t = f->tc_work / tc > t ? f->tc_work / tc : t;
	t = f->vc_work / vc > t ? f->vc_work / vc : t;
	return t > TICK_MAX ? TICK_MAX : (tick)t;
}

/* Cores of a kind beyond which no part gets shorter. */
static uint32_t enough(const struct bounding *b, bool vc, uint32_t limit)
{
	u128 n = 1;
	for (uint32_t i = 0; i < b->stage->n_parts; i++) {
		const struct floor_time *f = &b->floors[i];
		u128 least = f->least > 0 ? f->least : 1,
		     cores = (vc ? f->vc_work : f->tc_work) / least + 1;
		n = cores > n ? cores : n;
	}
	return n > limit ? limit : (uint32_t)n;
}

static double score_counts(const struct bounding *b, const struct design *d, double tdp_w)
{
	struct stage_cost cost = {0};
	for (uint32_t i = 0; i < b->stage->n_parts; i++) {
		for (int phase = 0; phase < N_PHASES; phase++)
			cost.time[phase] += at_least(&b->floors[i], d->tc, d->vc) *
					    b->stage->parts[i].repeat[phase];
	}
	return score_stage(b->p->config, b->stage, stage_step(b->stage, &cost), tdp_w);
}

/* The best score on the edge of the budget. */
static double bound_edge(const struct bounding *b, const struct design *point)
{
	const struct search_config *config = b->p->config;
	double best = -HUGE_VAL;
	uint32_t limit = config->space.max_count;
	uint32_t tc_enough = enough(b, false, limit), vc_enough = enough(b, true, limit);
	struct design d = *point;
	for (d.tc = 1; d.tc <= tc_enough; d.tc++) {
		d.vc = 1;
		if (!design_fits(config, &d))
			break;
		struct arch arch = design_arch(&d, &config->base);
		d.vc = vc_enough;
		if (!design_fits(config, &d))
			d.vc = design_max_vc(config, &d);
		best = fmax(best, score_counts(b, &d, arch_tdp_w(&arch)));
	}
	return best;
}

/* Times depend on the array and the width, not on the buffer. */
static void bound_points(struct bounding *b, double *point)
{
	const struct lattice *l = &b->p->lattice;
	for (uint32_t first = 0; first < l->n_points; first += l->n_sram) {
		struct lattice_at where = lattice_locate(l, first);
		floor_parts(b, where.at[0] * l->n_dim + where.at[1], where.at[2]);
		for (uint32_t i = first; i < first + l->n_sram; i++) {
			struct design d = lattice_design(l, i);
			point[i] = bound_edge(b, &d);
		}
	}
}

static void bounding_init(
	struct bounding *b, struct arena *scratch, const struct problem *p, uint32_t stage)
{
	const struct lattice *l = &p->lattice;
	*b = (struct bounding){.p = p, .stage = &p->stages[stage]};
	uint32_t most = 0;
	b->parts = arena_array(scratch, b->stage->n_parts, struct part_bound);
	b->floors = arena_array(scratch, b->stage->n_parts, struct floor_time);
	for (uint32_t part = 0; part < b->stage->n_parts; part++) {
		uint32_t n = b->stage->parts[part].n_ids;
		b->parts[part] = (struct part_bound){
			.n_ops = n,
			.ids = b->stage->parts[part].ids,
			.by_array = arena_array(scratch, (size_t)n * l->n_dim * l->n_dim, tick),
			.by_width = arena_array(scratch, (size_t)n * l->n_width, tick),
		};
		most = n > most ? n : most;
	}
	b->ends = arena_array(scratch, most, tick);
	b->index = arena_array(scratch, b->stage->graph->n_ops, uint32_t);
	for (uint32_t i = 0; i < b->stage->graph->n_ops; i++)
		b->index[i] = GRAPH_NONE;
}

void bounds_build(struct arena *a, const struct problem *p, uint32_t stage, struct bounds *out)
{
	const struct lattice *l = &p->lattice;
	struct arena scratch = {0};
	struct bounding b;
	bounding_init(&b, &scratch, p, stage);
	price_all(&b);
	out->point = arena_array(a, l->n_points, double);
	out->subtree = arena_array(a, l->n_points, double);
	bound_points(&b, out->point);
	for (uint32_t i = 0; i < l->n_points; i++) {
		uint32_t children[LATTICE_AXES], n = lattice_children(l, i, children);
		out->subtree[i] = out->point[i];
		for (uint32_t j = 0; j < n; j++)
			out->subtree[i] = fmax(out->subtree[i], out->subtree[children[j]]);
	}
	arena_free(&scratch);
}
