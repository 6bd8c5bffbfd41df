/* The operators of a step, one by one: what they cost, what bounds them, when they run. */
#ifndef REPORT_LAYERS_H
#define REPORT_LAYERS_H

#include "device/device.h"
#include "report/report.h"

/* What takes most of an operator's time when it is alone on the device. */
enum roofline {
	ROOFLINE_NONE,    /* it takes no time */
	ROOFLINE_COMPUTE, /* its cycles */
	ROOFLINE_MEMORY,  /* its bytes, at the achievable bandwidth */
	ROOFLINE_FILL, /* first access, first transfer in and last transfer out, which nothing hides */
	ROOFLINE_OVERHEAD, /* launch */
};
const char *roofline_name(enum roofline r);

/* The parts of the step that a device runs in one go, for one micro-batch. */
enum part { PART_FORWARD, PART_BACKWARD, PART_UPDATE, N_PARTS };
const char *part_name(enum part part);

struct layer_row {
	const struct op *op; /* of the training graph, with what it absorbed */
	uint32_t stage;
	enum part part;
	/* The operator by itself, without what it absorbed, alone on the cores that it takes. */
	struct op_cost own;
	/* As it runs: with what it absorbed and, in a forward pass, what it writes for the
	 * backward pass. */
	struct op_cost cost;
	struct op_run run; /* times count from the start of the part; collectives take none */
	struct op_timing timing;
	enum roofline roofline;
	double utilisation; /* of the peak of the cores that it holds, while it runs */
};

/* One part of one stage. */
struct layer_part {
	uint32_t stage;
	enum part part;
	tick makespan, critical_path;
	struct layer_row *rows; /* in order of the graph */
	uint32_t n_rows;
	uint32_t *
		path; /* rows on one longest path, first to last, those without duration left out */
	uint32_t n_path;
};

/* Runs every part of every stage: stages * N_PARTS of them, those without operators with no rows. */
struct layer_part *layers_run(struct arena *a, const struct step_report *s, uint32_t *n);

#endif
