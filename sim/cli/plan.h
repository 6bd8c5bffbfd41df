/* What the files of `wham plan` share. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "analytic/integrated.h"
#include "analytic/scheme.h"
#include "cli/internal.h"
#include "plan/iteration.h"
#include "report/plan.h"
#include "run/run.h"

enum { WEIGHT_COPIES = 2 }; /* weights and their gradients */

/* What computes, for one model. */
struct computing;

/* One model on one network. */
struct planning {
	struct graph model;
	struct integrated_case c; /* grids are those of a row */
	uint32_t processes;
	bool simulate; /* false: closed forms only */
	struct topo topo;
	struct run_config config; /* of `topo` */
	struct grid_options options;
	struct computing *computing;  /* NULL: nothing is computed */
	struct scheme_model *schemes; /* what schemes see of the model; NULL: none was asked for */
	const char *form;             /* of the all-reduce, in the exact closed forms */
	const char *machine_source;   /* where the latency and the bandwidth of `c` come from */
};

/* `topology` NULL: a switch that makes a pure alpha-beta machine. `out` keeps what computes, if it
 * is known from another topology. */
bool plan_load(struct request *q, const char *model, const char *topology, struct planning *out,
	struct err *err);

/* --accel or --compute, for the layers of `p`, which have to stay; or NULL. */
struct computing *plan_computing(
	struct request *q, const char *model, const struct planning *p, struct err *err);
const char *plan_computing_name(const struct computing *c);
bool plan_compute_times(struct computing *c, const struct grid_question *q,
	const enum grid_way *ways, struct grid_times *out, struct err *err);

/* Whether what `why` says of one grid says nothing of the others: then the row says it. Otherwise
 * false, and `err` says it. */
bool plan_cannot_compute(
	struct computing *c, const struct err *why, struct grid_row *row, struct err *err);

/* Forward, dX and dW of every layer in every way, seconds [layer x N_GRID_WAYS + way], infinite where
 * it cannot go; NULL for a table, which does not tell ways apart. */
const double *plan_compute_ways(
	struct request *q, struct computing *c, const struct grid_question *question);

/* What one process would compute if all the work of one process were split perfectly; 0 for a table,
 * and where one process cannot have it all. */
double plan_compute_perfect_s(struct request *q, struct computing *c, const struct planning *p);

/* One layer; of a table its share of the whole. */
bool plan_compute_layer(struct computing *c, const struct grid_question *q, uint32_t layer,
	enum grid_way way, struct grid_times *out, struct err *err);

/* The network, and the latency and the bandwidth of the closed form; and where processes are. */
bool plan_load_network(
	struct request *q, const char *topology, struct planning *out, struct err *err);
bool plan_place(struct request *q, struct planning *out, struct err *err);

/* A switch with the latency and the bandwidth of the closed form: half of the latency on either
 * side. */
bool plan_alpha_beta_topology(struct request *q, const struct alpha_beta *m, uint32_t n,
	struct topo *out, struct err *err);

/* Each grid in each of the variants asked for, the best first. */
bool plan_grids(struct request *q, struct planning *p, struct grid_report *out, struct err *err);

/* Carries out the schedules of rows on the network, equal ones once, --jobs at a time. */
struct plan_rows {
	struct grid_row *rows;
	uint32_t n, cap;
};
bool plan_simulate(
	struct request *q, const struct planning *p, struct plan_rows *rows, struct err *err);

/* The question of one row. */
struct grid_question plan_question(const struct planning *p, const struct grid_row *row);
struct scheme_question plan_scheme_question(const struct planning *p, const struct grid_row *row);

/* --compare: every scheme on one grid. */
bool plan_add_schemes(struct request *q, struct planning *p, struct process_grid grid,
	struct plan_rows *out, struct err *err);

/* What carries the row out. */
bool plan_schedule(struct arena *a, const struct planning *p, const struct grid_row *row,
	struct iteration *out, struct err *err);
/* The configuration of all schedules: stops when interrupted, and sums up what would take too long. */
struct run_config plan_run_config(const struct planning *p);

/* The equations that a row was estimated by: those named, or of the best way of each layer. */
struct integrated_rules plan_rules(const struct planning *p, const struct grid_row *row);
enum grid_kind plan_kind(const struct grid_question *q, uint32_t layer);
/* One layer of a row, and, where the equations say it, what moves in front of it. */
struct integrated_terms plan_layer_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, const enum grid_way *ways, uint32_t layer);

/* --layers: fills out->layers in. */
bool plan_layers(
	struct request *q, const struct planning *p, struct grid_report *out, struct err *err);
/* Before anything is computed: that there will be a timeline where one is asked for. */
bool plan_check_files(struct request *q, struct err *err);
/* --dump-prog and --trace: of the grid asked for, or of the best. */
bool plan_files(
	struct request *q, const struct planning *p, const struct grid_report *r, struct err *err);

/* Several models or topologies, one line each. */
bool plan_advise(struct request *q, struct err *err);
/* --paper */
bool plan_paper(struct request *q, struct err *err);

#endif
