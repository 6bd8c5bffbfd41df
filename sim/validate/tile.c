/* The two fidelities of the device beside each other: a training step of every shipped workload,
 * or of the first layers of it, memory shared as a fluid against every tile loaded, computed and
 * stored. The reference is the tile
 * simulation; the rows of a kind of operator compare the summed times of its operators. */
#include <glob.h>
#include <math.h>
#include <string.h>

#include "device/device.h"
#include "graph/op_kinds.h"
#include "validate/internal.h"

enum { MAX_KINDS = 128 };

struct machine {
	struct arch arch;
	bool split;
	uint64_t layers; /* of each model, from the first; 0: all */
	double step_tolerance, kind_tolerance, mean_tolerance;
};

struct both {
	struct graph train;
	const op_id *ids;
	struct device_result fluid, tile;
};

static bool read_machine(const struct suite_context *context, const struct csv *t, size_t row,
	struct machine *out, struct err *err)
{
	const char *rule = csv_cell(t, row, suite_column(t, "intra_op"));
	const char *path = arena_printf(context->a, "%s/models/accelerators/%s.json",
		context->data_root, csv_cell(t, row, suite_column(t, "accelerator")));
	if (strcmp(rule, "split") != 0 && strcmp(rule, "one") != 0)
		return err_set(err, ERR_INPUT, "%s: row %zu: intra_op '%s', expected split or one",
			t->path, row + 1, rule);
	out->split = strcmp(rule, "split") == 0;
	return arch_read(context->a, path, &out->arch, err) &&
	       csv_uint(t, row, suite_column(t, "layers"), &out->layers, err) &&
	       csv_number(t, row, suite_column(t, "step_tolerance"), &out->step_tolerance, err) &&
	       csv_number(t, row, suite_column(t, "kind_tolerance"), &out->kind_tolerance, err) &&
	       csv_number(t, row, suite_column(t, "mean_tolerance"), &out->mean_tolerance, err);
}

static bool run_both(struct arena *a, const struct machine *m, const char *path, struct both *out,
	struct err *err)
{
	struct graph forward, fused;
	struct graph_options graph_options = {0};
	struct train_options train_options = {OPTIMIZER_ADAM};
	struct device_options options = {.intra_op_split = m->split};
	if (!graph_read(a, path, &graph_options, &forward, err))
		return false;
	graph_fuse(a, &forward, &fused);
	graph_train(a, &fused, &train_options, &out->train);
	op_id *ids = NULL;
	uint32_t layers = out->train.n_layers;
	if (m->layers > 0 && m->layers < layers)
		layers = (uint32_t)m->layers;
	uint32_t n = graph_select(a, &out->train, 0, layers, (1u << N_PASSES) - 1, &ids);
	struct graph_part part = {&out->train, ids, n};
	out->ids = ids;
	device_run(a, &m->arch, &part, &options, &out->fluid);
	options.fidelity = FIDELITY_TILE;
	device_run(a, &m->arch, &part, &options, &out->tile);
	return true;
}

static const char *kind_name(const struct both *b, uint32_t i)
{
	return op_kind_name(b->train.ops[b->ids[i]].kind);
}

static tick kind_time(const struct both *b, const struct device_result *r, const char *kind)
{
	tick sum = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (strcmp(kind_name(b, i), kind) == 0)
			sum += r->runs[i].end - r->runs[i].start;
	return sum;
}

/* Names of the kinds that take time, in the order in which they come. */
static uint32_t list_kinds(const struct both *b, const char **names)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->tile.n; i++) {
		const char *name = kind_name(b, i);
		uint32_t k = 0;
		while (k < n && strcmp(names[k], name) != 0)
			k++;
		if (k == n && n < MAX_KINDS && b->tile.runs[i].end > b->tile.runs[i].start)
			names[n++] = name;
	}
	return n;
}

static const char *rule_name(const struct machine *m)
{
	return m->split ? "all cores on each operator" : "a core for each operator";
}

static void add_rows(const struct suite_context *context, const struct machine *m,
	const struct both *b, struct suite_report *out)
{
	const char *kinds[MAX_KINDS];
	const char *where = arena_printf(context->a, "%s on %s, %s", b->train.name, m->arch.name,
		m->split ? "all cores on each operator" : "a core for each operator");
	suite_add(context->a, out, arena_printf(context->a, "%s: step", where),
		ticks_to_s(b->tile.makespan), ticks_to_s(b->fluid.makespan), m->step_tolerance);
	uint32_t n = list_kinds(b, kinds);
	for (uint32_t k = 0; k < n; k++)
		suite_add(context->a, out, arena_printf(context->a, "%s: %s", where, kinds[k]),
			ticks_to_s(kind_time(b, &b->tile, kinds[k])),
			ticks_to_s(kind_time(b, &b->fluid, kinds[k])), m->kind_tolerance);
}

/* The mean of |error| over the rows from `first` on, as a difference from 0. */
static void add_mean(const struct suite_context *context, const struct machine *m, uint32_t first,
	struct suite_report *out)
{
	double sum = 0;
	for (uint32_t i = first; i < out->n_rows; i++)
		sum += fabs(out->rows[i].error);
	suite_add(context->a, out,
		arena_printf(context->a, "mean difference on %s, %s", m->arch.name, rule_name(m)),
		0, sum / (out->n_rows - first), m->mean_tolerance);
}

static bool run_machine(const struct suite_context *context, const struct machine *m,
	const glob_t *files, struct suite_report *out, struct err *err)
{
	uint32_t first = out->n_rows;
	for (size_t i = 0; i < files->gl_pathc; i++) {
		struct arena a = {0};
		struct both both;
		bool ok = run_both(&a, m, files->gl_pathv[i], &both, err);
		if (ok) {
			both.train.name = arena_printf(context->a, "%s", both.train.name);
			add_rows(context, m, &both, out);
		}
		arena_free(&a);
		if (!ok)
			return false;
		suite_progress(context, (uint32_t)i + 1, (uint32_t)files->gl_pathc);
	}
	add_mean(context, m, first, out);
	return true;
}

static bool run(const struct suite_context *context, const struct csv *t, struct suite_report *out,
	struct err *err)
{
	glob_t files;
	const char *pattern =
		arena_printf(context->a, "%s/models/workloads/*.json", context->data_root);
	if (glob(pattern, 0, NULL, &files) != 0)
		return err_set(err, ERR_IO, "%s: no workloads", pattern);
	bool ok = true;
	for (size_t row = 0; ok && row < t->n_rows; row++) {
		struct machine m = {0};
		ok = read_machine(context, t, row, &m, err) &&
		     run_machine(context, &m, &files, out, err);
	}
	globfree(&files);
	out->note =
		"seconds; reference: every tile simulated; ours: memory as a fluid, the default";
	return ok;
}

static const char *const columns_needed[] = {"accelerator", "intra_op", "layers", "step_tolerance",
	"kind_tolerance", "mean_tolerance", NULL};

const struct suite suite_tile = {
	.name = "tile",
	.summary = "memory as a fluid against every tile loaded, computed and stored",
	.table = "tile.csv",
	.columns = columns_needed,
	.run = run,
};
