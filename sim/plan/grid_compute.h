/* How long the processes of a grid compute: from the device simulator on the shapes that a process
 * has, or from a table of measured times. Both give the struct grid_times that grid_schedule()
 * plays. All processes have as much as the one with most; samples, outputs and rows of strips are
 * rounded up, so a process has at least one of each. */
#ifndef PLAN_GRID_COMPUTE_H
#define PLAN_GRID_COMPUTE_H

#include "device/device.h"
#include "plan/grid.h"

/* 5 hours: as much as a pass of a layer, or an iteration of a table, may take. */
enum { GRID_LONGEST_S = 18000 };

/* Where training graphs come from. `read` sets `out`, which lives in `a`, to the model's graph by
 * graph_train() for that many samples, fused or not, tp 1. Whatever the samples, it has the same
 * operators in the same order. */
struct grid_source {
	bool (*read)(void *context, struct arena *a, uint64_t samples, struct graph *out,
		struct err *err);
	void *context;
};

struct grid_compute_input {
	const struct grid_layer *layers; /* found in the graphs by name */
	uint32_t n_layers;
	const struct arch *arch; /* of every process */
	/* A process runs one operator after the other: with several cores that wants
	 * intra_op_split, or all but one core idle. */
	struct device_options options;
	struct grid_source source;
};

/* Remembers graphs and prices, so that a further grid costs what is new in it. Everything lives in
 * `a`; what `input` points to is only read, and has to stay. */
struct grid_compute;
struct grid_compute *grid_compute_create(struct arena *a, const struct grid_compute_input *input);

/* The operators of one layer, each alone on the device as device_run() has it, added up. With
 * Pr = Pc = 1 that is the whole training graph at the whole batch.
 *
 * The layer's own operators, its products, what is fused into them and the updates of their
 * parameters, on
 *   batch    ceil(B / P) samples, all of the layer;
 *   model    ceil(B / Pc) samples, ceil(outputs / Pr) outputs and their weights, which dX sums
 *            over (its result is a partial sum over the whole input);
 *   domain   ceil(B / Pc) samples, ceil(height / Pr) rows of the output, the rows of the input
 *            below them with their halo, all weights.
 * Everything between it and the next layer in the order of the graph (for the first one, what comes
 * before it too): pooling, activations, norms, products of two activations, losses, embeddings, on
 * ceil(B / P) samples whatever the way, since it can be shared out over the whole grid: behind a
 * layer in parts or strips, element-wise work on these is as much. Parameters of what lies between
 * are updated whole.
 *
 *   forward  forward operators
 *   dx       the product dX of the layer; 0 for a `first` one, for which grid_schedule() has none
 *   dw       everything else that goes back: of what lies behind the layer, dW, updates; and for
 *            layer 0 what lies before it
 *
 * ERR_INPUT: what grid_check_layer() refuses; a graph that has not the layer, or not as many
 * operators as for other samples; a pass of more than GRID_LONGEST_S. Errors of the source. */
bool grid_compute_layer(struct grid_compute *c, const struct grid_question *q, uint32_t layer,
	enum grid_way way, struct grid_times *out, struct err *err);

/* All layers of the question, which are those of the input. `out` has room for n_layers. */
bool grid_compute_times(struct grid_compute *c, const struct grid_question *q,
	const enum grid_way *ways, struct grid_times *out, struct err *err);

uint32_t grid_compute_n_runs(const struct grid_compute *c); /* how often it simulated */

/* What is left to one of Pr processes of an operator that belongs to a layer (op.forward is the
 * layer's): a product of any pass, or an update. Exact: the work of the same layer read with fewer
 * outputs, or with an image of fewer rows and no padding above and below. A convolution in groups
 * gives away whole groups first. Batch, or Pr 1: the operator's own. */
void grid_local_work(struct arena *a, const struct grid_layer *layer, const struct op *op,
	enum grid_way way, uint32_t pr, struct work *out);

/* Measured times of an iteration of the whole model on one process, by samples. */
struct grid_table {
	const char *path;
	const double *samples, *iteration_s; /* samples ascending; all above 0 */
	uint32_t n;
};

/* A CSV file with the columns samples and iteration_s; others, e.g. source, are for readers. Such
 * files are in models/compute. The table lives in `a`. ERR_INPUT with file and line: samples that
 * do not ascend or are outside 1e-9 to 1e19, a time below a tick or above GRID_LONGEST_S, no rows.
 */
bool grid_compute_table_read(
	struct arena *a, const char *path, struct grid_table *out, struct err *err);

/* Seconds for so many samples, whole or not: the table's own at its points, between two of them on
 * the straight line of their logarithms (log s over log samples), below the first, when that is at
 * most one sample, in proportion to it (Gholami et al., section 2.4: a sample in P / B strips takes
 * t(1) / (P / B)). ERR_INPUT beyond that, naming the range. */
bool grid_compute_table_s(
	const struct grid_table *table, double samples, double *out, struct err *err);

/* The table's time for B / P samples, whatever Pr: the paper takes for granted that Pr processes
 * share a layer perfectly. To the nearest tick it is the sum of `out`, dealt to the products in
 * proportion to their multiply-accumulates: as many in forward, dx and dw, none in dx of `first`
 * layers. Errors as above. */
bool grid_compute_table_times(const struct grid_table *table, const struct grid_question *q,
	struct grid_times *out, struct err *err);

#endif
