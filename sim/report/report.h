/* Results for people and for programs: text tables, JSON, CSV, timelines. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analytic/analytic.h"
#include "arch/arch.h"
#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "graph/graph.h"
#include "net/net.h"
#include "plan/plan.h"
#include "prog/prog.h"
#include "run/run.h"
#include "search/search.h"
#include "topo/topo.h"
#include "validate/validate.h"

struct report_input {
	const char *path;
	char sha256[65];
};

struct report_warning {
	const char *code;  /* "no_topology" */
	const char *first; /* the first occurrence, in words */
	uint64_t count;
};

/* What stands around every result of --json: who made it, from which files, what was odd. */
struct report {
	const char *verb;
	const char *version;
	struct report_input *inputs;
	uint32_t n_inputs, cap_inputs;
	struct report_warning *warnings;
	uint32_t n_warnings, cap_warnings;
	json_t *run; /* what may differ between equal runs: seconds, jobs. NULL for none */
	bool interrupted;
};

void report_add_input(struct arena *a, struct report *r, const char *path, const char *sha256);
/* The same code again only counts. */
void report_warn(struct arena *a, struct report *r, const char *code, const char *text);

/* One object with schema, tool, version, verb, inputs, result, warnings, run. Takes `result`. */
void report_write_json(const struct report *r, json_t *result, struct text *out);

/* One matrix product on one array of the accelerator. */
json_t *report_gemm_json(const struct arch *arch, const struct gemm *g);
void report_gemm_text(const struct arch *arch, const struct gemm *g, struct text *out);

/* One training step, simulated. */
struct step_report {
	const struct graph *model;   /* forward, unfused, unsliced, one micro-batch */
	const struct graph *forward; /* unfused, sliced: the operators of one device */
	const struct arch *archs;
	uint32_t n_archs;
	const struct degrees *degrees;
	const struct plan_options *options;
	const struct plan *plan;
	const struct topo *topo; /* NULL on a single device */
	enum net_kind net;
	const struct run_result *run;
	tick analytic_step;  /* closed form of the same step */
	uint64_t train_macs; /* of the model: forward, dX and dW of one micro-batch, all slices */
	const struct graph *train; /* the training graph of the plan */
	bool layers;               /* list the tensor-core operators of the forward pass */
	bool all_operators;        /* and all others after them */
	bool critical_path;        /* and ASAP, ALAP, mobility, and a longest path of each part */
	bool memory;               /* adds the memory section; needs spans */
};
json_t *report_step_json(struct arena *a, const struct step_report *s);
void report_step_text(struct arena *a, const struct step_report *s, struct text *out);
/* Live bytes of each stage over the step and what makes its peak. The whole text is within
 * report_step_text(), the list "memory" of report_step_json(). */
json_t *report_memory_json(const struct step_report *s);
void report_memory_text(const struct step_report *s, struct text *out);
/* One row per operator of --layers. "cycles", "dram_bytes" and "bound" are the operator's by
 * itself, on the cores that it may take; times, stalls, "run_dram_bytes", utilisation, roofline
 * class and energy are those of the step, with what it absorbed (report/layers.h). One
 * micro-batch, each stage by itself, collectives left out. */
json_t *report_layers_json(struct arena *a, const struct step_report *s);
void report_layers_table(struct arena *a, const struct step_report *s, struct table *t);
/* The table and the critical paths, as far as they were asked for. */
void report_layers_text(struct arena *a, const struct step_report *s, struct text *out);
/* A longest path of each stage's forward, backward and update part. */
json_t *report_paths_json(struct arena *a, const struct step_report *s);

/* Models, one row each: parameters, FLOPs of the forward pass of one sample, operators before
 * fusion. */
void report_models_table(struct arena *a, const struct graph *models, uint32_t n, struct table *t);
json_t *report_models_json(const struct graph *models, uint32_t n);

/* The operators of a graph with their work and what they wait for: a line each, or as Graphviz
 * with a box around the operators of a layer. */
void report_graph_text(const struct graph *g, struct text *out);
void report_graph_dot(const struct graph *g, struct text *out);

/* A timeline in the Trace Event format that Perfetto and chrome://tracing read. Needs spans. */
void report_timeline(const struct prog *p, const struct run_result *run, struct text *out);

struct search_report {
	const struct search_config *config;
	const struct search_result *result;
	const char *algo;
	const char *budget_name; /* "tpuv2" or "given" */
};
json_t *report_search_json(const struct search_report *s);
void report_search_text(struct arena *a, const struct search_report *s, struct text *out);
void report_search_table(struct arena *a, const struct search_report *s, struct table *t);

struct replay_report {
	const struct prog *prog;
	const char *format; /* of the recording */
	uint64_t n_nodes;   /* recorded, 0 where not known */
	const struct topo *topo;
	enum net_kind net;
	const struct run_result *run;
};
json_t *report_replay_json(const struct replay_report *s);
void report_replay_text(struct arena *a, const struct replay_report *s, struct text *out);
/* One row per collective, in order of completion. */
void report_replay_table(struct arena *a, const struct replay_report *s, struct table *t);

/* A collective on a topology, one row per algorithm. */
struct cost_row {
	const char *algo;
	const struct coll_algo *coll; /* the same */
	const char *topology;
	enum coll_kind kind;
	uint32_t n_ranks;
	uint64_t bytes;
	const struct topo *topo;
	struct run_result run;
};
json_t *report_cost_json(const struct cost_row *rows, uint32_t n_rows);
void report_cost_table(
	struct arena *a, const struct cost_row *rows, uint32_t n_rows, struct table *t);

/* The same over sizes, and which is the fastest of each size. */
void report_sweep_table(
	struct arena *a, const struct cost_row *rows, uint32_t n_rows, struct table *t);

/* Rows as objects, by the names of the columns; what looks like a number is one. */
json_t *report_table_json(const struct table *t);

/* Topologies of one budget. `rank` 0 is the fastest. */
struct compare_row {
	const struct topo *topo;
	struct topo_figures figures;
	const char *what;   /* "allreduce ring", "bert-large" */
	tick time;          /* simulated */
	tick free_time;     /* if messages shared no links but those of their own devices */
	tick empty_time;    /* of one byte: steps and latency; 0: not known */
	const char *link;   /* the busiest */
	double utilisation; /* of it */
};
void report_compare_table(
	struct arena *a, const struct compare_row *rows, uint32_t n_rows, struct table *t);
/* Two sentences: who wins by how much, and why. */
void report_compare_text(
	struct arena *a, const struct compare_row *rows, uint32_t n_rows, struct text *out);
json_t *report_compare_json(struct arena *a, const struct compare_row *rows, uint32_t n_rows);

/* One row per link that carried something, of one or several runs. */
void report_links_begin(struct arena *a, struct table *t);
void report_links_add(
	struct table *t, const struct topo *topo, const char *algo, const struct run_result *run);

/* For Graphviz: devices are boxes, switches ellipses. */
void report_topology_dot(const struct topo *topo, struct text *out);

json_t *report_topology_json(const struct topo *topo, const struct topo_figures *figures);
void report_topology_text(struct arena *a, const struct topo *topo,
	const struct topo_figures *figures, struct text *out);

json_t *report_suites_json(const struct suite_report *suites, uint32_t n);
/* At most `max_rows` rows of each suite, the worst first; 0: all of them in order. */
void report_suites_text(struct arena *a, const struct suite_report *suites, uint32_t n,
	size_t max_rows, struct text *out);

#endif
