/* Four grids of a model of two layers, of which the last cannot be. */
#ifndef TESTS_REPORT_PLAN_SAMPLE_H
#define TESTS_REPORT_PLAN_SAMPLE_H

#include "report/plan.h"

static const struct grid_layer layers[] = {
	{.name = "conv", .conv = true, .weights = 100, .outputs = 8},
	{.name = "fc", .weights = 1000, .outputs = 8},
};
static const enum grid_way ways[] = {GRID_BATCH, GRID_MODEL};

/* Milliseconds: computation 1, all-gather g, reduction of weights w. */
static struct grid_seconds seconds(double g, double w)
{
	struct grid_seconds t = {.total = (1 + g + w) * 1e-3};
	t.s[TERM_COMPUTE] = 1e-3;
	t.s[TERM_ALL_GATHER] = g * 1e-3;
	t.s[TERM_DW_ALL_REDUCE] = w * 1e-3;
	t.of_kind[GRID_CONV] = w * 1e-3;
	t.of_kind[GRID_FC] = (1 + g) * 1e-3;
	return t;
}

static struct grid_row row(
	uint32_t pr, uint32_t pc, struct grid_seconds analytic, struct grid_seconds simulated)
{
	return (struct grid_row){.grid = {pr, pc},
		.variant = "exact-fc",
		.ways = ways,
		.analytic = analytic,
		.simulated = simulated,
		.is_estimated = true,
		.is_simulated = true,
		.exact = true,
		.memory_bytes = 1 << 20};
}

struct sample {
	struct grid_row rows[4];
	struct grid_report report;
};

static void setup(struct sample *p)
{
	*p = (struct sample){
		.rows = {row(2, 4, seconds(2, 3), seconds(2, 4)),
			row(4, 2, seconds(3, 1), seconds(6, 1)),
			row(1, 8, seconds(0, 9), seconds(0, 9)),
			{.grid = {8, 1}, .variant = "exact-fc", .refused = "too many"}}};
	p->report = (struct grid_report){.model = "two",
		.question = {.q = {.layers = layers, .n_layers = 2, .batch = 64, .word_bytes = 4},
			.machine = {2e-6, 1e-9, 0}},
		.processes = 8,
		.topology = "crossbar:8",
		.network = "simgrid",
		.machine_source = "given",
		.compute = "tpuv2",
		.rows = p->rows,
		.n_rows = 4,
		.n_answered = 3,
		.csv = true};
}

static double number_at(const json_t *object, const char *key)
{
	return json_real_value(json_object_get(object, key));
}

#endif
