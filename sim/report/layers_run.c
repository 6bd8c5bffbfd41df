#include <stdlib.h>

#include "report/internal.h"
#include "report/layers.h"

const char *roofline_name(enum roofline r)
{
	switch (r) {
	case ROOFLINE_NONE:
		return "none";
	case ROOFLINE_COMPUTE:
		return "compute";
	case ROOFLINE_MEMORY:
		return "memory";
	case ROOFLINE_FILL:
		return "fill";
	case ROOFLINE_OVERHEAD:
		return "overhead";
	}
	abort(); /* not a value of the enum */
}

const char *part_name(enum part part)
{
	switch (part) {
	case PART_FORWARD:
		return "forward";
	case PART_BACKWARD:
		return "backward";
	case PART_UPDATE:
		return "update";
	case N_PARTS:
		break;
	}
	abort(); /* not a part */
}

static uint32_t part_mask(enum part part)
{
	switch (part) {
	case PART_FORWARD:
		return 1u << PASS_FORWARD;
	case PART_BACKWARD:
		return 1u << PASS_BACKWARD_DATA | 1u << PASS_BACKWARD_WEIGHT;
	case PART_UPDATE:
		return 1u << PASS_UPDATE;
	case N_PARTS:
		break;
	}
	abort(); /* not a part */
}

/* Which share of the time alone is the largest: launch, what neither cycles nor bytes explain,
 * or the longer of those two. */
static enum roofline classify(
	const struct arch *arch, const struct op_cost *cost, const struct op_timing *timing)
{
	tick compute = cycles_to_ticks(cost->cycles, arch->clock_hz);
	tick memory = ticks_ceil(
		cost->dram_read_bytes + cost->dram_write_bytes, arch_dram_bytes_per_s(arch));
	tick body = memory > compute ? memory : compute;
	tick known = arch->launch_overhead + body;
	tick fill = timing->duration > known ? timing->duration - known : 0;
	if (timing->duration == 0)
		return ROOFLINE_NONE;
	if (body >= fill && body >= arch->launch_overhead)
		return memory > compute ? ROOFLINE_MEMORY : ROOFLINE_COMPUTE;
	return fill >= arch->launch_overhead ? ROOFLINE_FILL : ROOFLINE_OVERHEAD;
}

/* Multiply-accumulates where there are any, else lane cycles, against what the cores held could do. */
static double utilisation(
	const struct arch *arch, const struct core_share *share, const struct layer_row *row)
{
	double seconds = ticks_to_s(row->run.end - row->run.start);
	double per_s = (double)arch->clock_hz;
	if (seconds <= 0)
		return 0;
	if (row->cost.macs > 0)
		return (double)row->cost.macs /
		       (seconds * per_s * share->tcs * arch->tc_rows * arch->tc_cols);
	return (double)row->cost.lane_ops / (seconds * per_s * share->vcs * arch->vc_width);
}

static void fill_row(const struct step_report *s, struct layer_row *row)
{
	const struct arch *arch = arch_of_stage(s, row->stage);
	bool split = s->options->intra_op_split;
	struct core_share share = {
		.tcs = split ? arch->tc_count : 1,
		.vcs = split ? arch->vc_count : 1,
		.sram_bytes = arch->sram_bytes,
	};
	const struct op *alone = row->op->parts ? &row->op->parts[0] : row->op;
	arch_op_cost(arch, &alone->work, &share, &row->own);
	row->roofline = classify(arch, &row->cost, &row->timing);
	row->utilisation = utilisation(arch, &share, row);
}

/* Goes back from what ends last, always to a predecessor that it had to wait for. */
static void find_path(struct arena *a, const struct graph *g, struct layer_part *part)
{
	uint32_t *place = arena_array(a, g->n_ops, uint32_t); /* in rows, plus 1 */
	uint32_t at = UINT32_MAX, cap = 0;
	for (uint32_t i = 0; i < part->n_rows; i++) {
		const struct op_timing *t = &part->rows[i].timing;
		place[part->rows[i].op - g->ops] = i + 1;
		if (at == UINT32_MAX && t->duration > 0 &&
			t->asap + t->duration == part->critical_path)
			at = i;
	}
	while (at != UINT32_MAX) {
		const struct layer_row *row = &part->rows[at];
		if (row->timing.duration > 0)
			arena_push(a, part->path, part->n_path, cap) = at;
		uint32_t from = UINT32_MAX;
		for (uint32_t p = 0; p < row->op->n_preds && from == UINT32_MAX; p++) {
			uint32_t pred = place[row->op->preds[p]];
			const struct op_timing *t = pred ? &part->rows[pred - 1].timing : NULL;
			if (t && t->asap + t->duration == row->timing.asap)
				from = pred - 1;
		}
		at = from;
	}
	for (uint32_t i = 0; i < part->n_path / 2; i++) {
		uint32_t swap = part->path[i];
		part->path[i] = part->path[part->n_path - 1 - i];
		part->path[part->n_path - 1 - i] = swap;
	}
}

static void run_part(struct arena *a, const struct step_report *s, struct layer_part *part)
{
	const struct stage *stage = &s->plan->stages[part->stage];
	const struct arch *arch = arch_of_stage(s, part->stage);
	struct device_options options = {
		.fidelity = s->options->fidelity, .intra_op_split = s->options->intra_op_split};
	struct device_result result;
	op_id *ids = NULL;
	part->n_rows = graph_select(
		a, s->train, stage->first_layer, stage->end_layer, part_mask(part->part), &ids);
	if (part->n_rows == 0)
		return;
	struct graph_part ops = {s->train, ids, part->n_rows};
	struct op_timing *timing = arena_array(a, part->n_rows, struct op_timing);
	device_run(a, arch, &ops, &options, &result);
	device_annotate(a, arch, &ops, &options, timing);
	part->makespan = result.makespan;
	part->critical_path = result.critical_path;
	part->rows = arena_array(a, part->n_rows, struct layer_row);
	for (uint32_t i = 0; i < part->n_rows; i++) {
		part->rows[i] = (struct layer_row){
			.op = &s->train->ops[ids[i]],
			.stage = part->stage,
			.part = part->part,
			.cost = result.costs[i],
			.run = result.runs[i],
			.timing = timing[i],
		};
		fill_row(s, &part->rows[i]);
	}
	find_path(a, s->train, part);
}

struct layer_part *layers_run(struct arena *a, const struct step_report *s, uint32_t *n)
{
	*n = s->plan->n_stages * N_PARTS;
	struct layer_part *parts = arena_array(a, *n, struct layer_part);
	for (uint32_t i = 0; i < *n; i++) {
		parts[i].stage = i / N_PARTS;
		parts[i].part = (enum part)(i % N_PARTS);
		run_part(a, s, &parts[i]);
	}
	return parts;
}
