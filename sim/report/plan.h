/* The grids of `wham plan`. */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include "analytic/integrated.h"
#include "plan/iteration.h"
#include "plan/scheme.h"
#include "report/plot.h"
#include "report/report.h"

/* What layers are, as far as grids suit them differently. */
enum grid_kind { GRID_CONV, GRID_FC };
enum { N_GRID_KINDS = 2 };

/* Seconds of an iteration, told apart by what they are for. Computation is whole. */
struct grid_seconds {
	double s[N_ITERATION_TERMS];
	double total;
	double of_kind[N_GRID_KINDS]; /* computation and communication of the layers of a kind */
};

/* Without what is computed: of the closed form in full, of what was simulated as far as no
 * computation hid it. */
double grid_comm_s(const struct grid_seconds *t);

struct grid_row {
	struct process_grid grid;
	const char *variant;
	const enum grid_way *ways; /* of each layer; NULL: a scheme, or no answer at all */
	const struct scheme *scheme;
	const struct grid_times *times; /* computation of each layer; NULL: none */
	struct grid_seconds analytic, simulated;
	const double *layer_s; /* simulated, of each layer; NULL: it was not */
	bool is_estimated;     /* `analytic` and `memory_bytes` are known */
	bool is_simulated;
	bool folded, exact;      /* see struct run_result */
	double memory_bytes;     /* of one process, weights and gradients once */
	const char *refused;     /* why this grid cannot be executed; NULL: it can */
	const char *uncomputed;  /* why what processes compute is not known, or NULL */
	const char *unscheduled; /* why it was not simulated although others were, or NULL */
};

/* What is known of a row, most of it first. */
enum grid_standing {
	GRID_SIMULATED,
	GRID_ESTIMATED,
	GRID_UNCOMPUTED,   /* closed form of the communication alone */
	GRID_UNEXECUTABLE, /* the same, of printed equations for a grid that cannot be executed */
	GRID_REFUSED,      /* nothing */
};
enum grid_standing grid_row_standing(const struct grid_row *row);

/* A reason without what was expected instead. */
const char *grid_reason_short(struct arena *a, const char *reason);

/* NULL where no row is that. */
struct grid_best {
	const struct grid_row *analytic, *simulated;
};

struct grid_report {
	const char *model;
	struct integrated_case question; /* its grid does not count */
	uint32_t processes;
	const char *topology;       /* that was simulated, in one line; NULL: none was */
	const char *network;        /* "simgrid"; "analytic": closed forms only */
	const char *machine_source; /* where latency and bandwidth of the closed form come from */
	const char *compute;        /* what computes: "tpuv2"; NULL: nothing */
	double compute_perfect_s;   /* work of one process split perfectly; 0: not known */
	bool schemes;               /* there are rows of schemes */
	bool overlap;
	bool full;                   /* all terms in the table */
	bool csv;                    /* all columns, under their long names, whatever they hold */
	double iterations;           /* of an epoch; 0: not asked for */
	const struct grid_row *rows; /* by their standing, the best first */
	uint32_t n_rows, n_answered; /* answered: estimated */
	const struct grid_row *detailed;     /* the row of `layers`; NULL: not asked for */
	const struct grid_layer_row *layers; /* as many as the question has */
};

/* A layer of one grid. Computation and the shapes are those of one process. */
struct grid_layer_row {
	const struct grid_layer *layer;
	enum grid_way way;
	uint64_t n_products, m, n, k; /* of the forward pass: groups of a convolution */
	struct grid_times times;
	struct integrated_terms analytic;
	double simulated_s;     /* as far as no computation hid it; below 0: not simulated */
	double crossover_batch; /* Eq. 5 */
};

/* By the simulated whole of those that were simulated, else the analytic one. */
double grid_row_s(const struct grid_row *row);

/* Grids that cannot be executed, or of which computation is not known, only where there is no other. */
struct grid_best report_grids_best(const struct grid_report *r);
struct grid_best report_grids_best_of(const struct grid_report *r, enum grid_kind kind);

/* The one that was simulated fastest, else that of the closed form; schemes do not count. NULL: no
 * grid can be executed. */
const struct grid_row *report_grids_pick(const struct grid_report *r);

/* Of r->detailed. */
void report_grid_layers_table(struct arena *a, const struct grid_report *r, struct table *t);
json_t *report_grid_layers_json(const struct grid_report *r);

json_t *report_grids_json(const struct grid_report *r);
void report_grids_table(struct arena *a, const struct grid_report *r, struct table *t);
/* The reasons of different kinds, the first of each with its grid, at most three of them. */
const char *report_grids_reasons(struct arena *a, const struct grid_report *r);
/* The machine and the best grids, a line each. */
void report_grids_text(const struct grid_report *r, struct text *out);
/* A bar, or a pair of them, for each grid with an answer, by Pr. */
void report_grids_stacks(struct arena *a, const struct grid_report *r, struct stacks *out);

/* What following the closed form costs on one topology. */
struct advice_row {
	const char *model, *topology;
	struct alpha_beta machine;
	struct grid_best best;
};
void report_advice_table(
	struct arena *a, const struct advice_row *rows, uint32_t n_rows, struct table *t);
json_t *report_advice_json(const struct advice_row *rows, uint32_t n_rows);

#endif
