/* Inside the command line: what was asked for, the verbs, and how names become data. */
#ifndef CLI_INTERNAL_H
#define CLI_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/table.h"
#include "base/text.h"
#include "graph/graph.h"
#include "report/plot.h"
#include "report/report.h"
#include "topo/topo.h"

#define WHAM_VERSION_TEXT WHAM_VERSION

struct names {
	const char **items;
	uint32_t n, cap;
};

/* An input that could be read only once, and where it is kept. */
struct spooled {
	const char *name, *path;
};

/* Everything that options can say. Zero or NULL: not said. */
struct request {
	struct arena *a;
	struct report report;
	struct spooled *spooled;
	uint32_t n_spooled, cap_spooled;
	struct names files;          /* what is left when the options are taken */
	struct names graph_warnings; /* texts that are in the report already */
	struct names models, dims, fail_links, degraded, stragglers;
	struct names topologies; /* of plan, which takes several; the last is `topology` */
	const char *accel, *algo, *budget_like, *collective, *color, *csv_links, *dot, *dtype,
		*dump_graph, *dump_prog, *experiment, *map, *plot;
	const char *fidelity, *fold, *fold_mode, *gemm, *intra_op, *metric, *mode, *network,
		*optimizer, *output;
	const char *partition, *ranks, *recompute, *reference, *schedule, *topology, *trace,
		*variant;
	uint64_t batch, devices, dp, elem_bytes, jobs, max_calls, max_dim, max_width, micro_batch,
		min_dim, pp;
	uint64_t seed, topk, tp;
	const struct topo *given_topology; /* of compare with a model: in place of --topology */
	uint64_t links, bw, lat;           /* of compare: bytes/s, ticks */
	uint64_t bytes;                    /* bytes; of a sweep from here ... */
	uint64_t chunk;                    /* bytes; 0: as the algorithm likes */
	uint64_t bytes_to, bytes_factor;   /* ... to there; 0: a single size */
	/* of plan: ticks, bytes/s, bytes/s, images */
	uint64_t alpha, beta_bw, gamma, samples;
	const char *compute, *conv_grid, *grid, *order, *paper;
	uint64_t time_limit; /* ticks */
	double area_mm2, bw_scale, lat_scale, tdp_w;
	bool all_operators, critical_path;
	bool compare, csv, dry_run, fractional_epoch, help, json, layers, lenient, memory,
		no_progress, overlap, quiet, sp, strict, verbose;
};

/* One verb. */
struct command {
	const char *name, *usage, *summary;
	const char *examples; /* lines, each starting with "  wham " */
	bool (*run)(struct request *q, struct err *err);
	bool finishes; /* stops early by itself when interrupted() */
};

/* Sorted by name, NULL at the end. */
extern const struct command *const commands[];
extern const struct command command_completion, command_help, command_list, command_plan,
	command_replay, command_search, command_simulate, command_topology, command_validate;

/* One option: how it is spelled, what it means, where it goes. */
struct option_row {
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	const char *arg;  /* NULL: a switch */
	const char *doc;
	const char *verbs; /* " simulate search "; NULL: all */
	bool (*set)(
		const struct option_row *row, struct request *q, const char *text, struct err *err);
	size_t offset; /* of the field in struct request */
};

/* Sorted by name; the last one has no name. */
extern const struct option_row option_rows[];
bool option_belongs(const struct option_row *row, const char *verb);
const struct option_row *option_find(const char *name, const char *verb);

/* Takes the options of `verb` out of argv (argv[0] is skipped); the rest goes to q->files. */
bool options_parse(const char *verb, int argc, char **argv, struct request *q, struct err *err);
/* An experiment file: one object whose keys are option names. Flags given on the command line win. */
bool options_read_experiment(
	const char *verb, const char *path, struct request *q, struct err *err);

/* Where models/, topologies/ and tests/golden/ are. */
const char *data_root(struct arena *a);

/* Names of the files in `folder` below data_root() without their ending, sorted. */
struct names data_names(struct arena *a, const char *folder);

/* Where to read `name` as often as need be: itself, or where a copy of standard input ("-"), a pipe or
 * a device is kept until the program ends. NULL with `err`. */
const char *spool_input(struct request *q, const char *name, struct err *err);
const char *spool_name(const struct request *q, const char *path); /* as the user calls it */
/* A message that begins with such a path names the input instead. */
void spool_rename(const struct request *q, struct err *err);

/* A file as it is, or a shipped name. ERR_USAGE with the nearest name; ERR_IO for a path that is
 * not there. */
const char *data_find(
	struct request *q, const char *what, const char *folder, const char *name, struct err *err);

/* `batch`: micro-batch; 0 takes the model's own. */
bool load_model(struct request *q, const char *name, uint64_t batch, uint32_t tp, struct graph *out,
	struct err *err);
/* `name` NULL: tpuv2. */
bool load_arch(struct request *q, const char *name, struct arch *out, struct err *err);
bool load_topology(struct request *q, const char *name, struct topo *out, struct err *err);
/* --fail-link, --degrade, --bw-scale, --lat-scale. */
bool load_changes(struct request *q, struct topo *topo, struct err *err);
/* The same in two steps: the topology with --bw-scale and --lat-scale, then what is wrong with single
 * links. */
bool load_healthy_topology(struct request *q, const char *name, struct topo *out, struct err *err);
bool load_faults(struct request *q, struct topo *topo, struct err *err);
/* --map and --straggler: the device of each of `n_ranks` ranks (NULL: rank r on device r), and how
 * long each device computes (NULL: all alike), as struct run_config has them. */
struct placement {
	const uint32_t *device_of_rank, *compute_ppm;
};
bool load_placement(struct request *q, const struct topo *topo, uint32_t n_ranks,
	struct placement *out, struct err *err);
bool load_net(struct request *q, enum net_kind *out, struct err *err);
/* auto unless said otherwise. */
bool load_fold(struct request *q, enum run_fold *out, struct err *err);
bool load_choice(struct request *q, struct coll_choice *out, struct err *err);
/* Degrees, options of the plan, and the micro-batch, from flags and the model's defaults. */
bool load_degrees(struct request *q, const char *model, struct degrees *out, struct err *err);
bool load_plan_options(struct request *q, struct plan_options *out, struct err *err);

/* `wham simulate --gemm`. */
bool simulate_gemm(struct request *q, struct err *err);

/* A step of --model on `topo`, and the same with no two messages sharing a link. */
struct run_result;
bool simulate_on(struct request *q, const struct topo *topo, struct run_result *run,
	struct run_result *alone, struct err *err);

/* Before anything runs: one thing at most goes to standard output, all other files are
 * writable. */
bool check_outputs(const struct request *q, struct err *err);

/* Writes to -o or standard output. */
bool write_text(struct request *q, const struct text *out, struct err *err);
/* Takes `result`. */
bool write_json(struct request *q, json_t *result, struct err *err);
/* A table of --csv-links, as CSV. */
bool write_links_file(struct request *q, const struct table *t, struct err *err);
/* --csv-links of one run, if asked for. */
bool write_links(
	struct request *q, const struct topo *topo, const struct run_result *run, struct err *err);
bool write_csv(struct request *q, const struct table *t, struct err *err);
/* --plot: a script of gnuplot into FILE.gp, or what gnuplot makes of it into FILE.svg or FILE.png. */
bool check_plot(const struct request *q, struct err *err); /* that it can be written */
bool write_plot(struct request *q, const struct plot *plot, struct err *err);
bool write_stacks(struct request *q, const struct stacks *stacks, struct err *err);

void print_usage(struct text *out);
void print_command_help(const struct command *c, struct text *out);
const struct command *command_get(const char *name, struct err *err);

/* True once SIGINT, SIGTERM or the time limit has struck. */
bool interrupted(void);
/* From here on SIGINT, SIGTERM and the time limit (0: none) end the program with status 130;
 * when the verb `finishes`, only interrupted() turns true, so that it can write what is
 * complete. */
void watch_interrupts(uint64_t time_limit, bool finishes);

/* A line on stderr that is written over, only when it is a terminal and a second has passed. */
void progress_show(const struct request *q, const char *text);
void progress_clear(const struct request *q);

#endif
