#include <stdio.h>
#include <unistd.h>

#include "cli/internal.h"
#include "validate/validate.h"

static void show_progress(void *ctx, uint32_t done, uint32_t total)
{
	const struct request *q = ctx;
	char line[80];
	snprintf(line, sizeof(line), "validate: %u of %u rows", done, total);
	progress_show(q, line);
}

static bool write_suites(
	struct request *q, const struct suite_report *reports, uint32_t n, struct err *err)
{
	if (q->json)
		return write_json(q, report_suites_json(reports, n), err);
	struct text out = {0};
	report_suites_text(q->a, reports, n, q->verbose ? 0 : 6, &out);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool pick_suites(struct request *q, const struct suite ***out, uint32_t *n, struct err *err)
{
	uint32_t cap = 0;
	*out = NULL;
	*n = 0;
	for (uint32_t i = 0; i < q->files.n; i++) {
		const struct suite *s = suite_get(q->files.items[i], err);
		if (!s)
			return false;
		arena_push(q->a, *out, *n, cap) = s;
	}
	for (size_t i = 0; q->files.n == 0 && suites[i]; i++) {
		if (suite_has_table(suites[i]))
			arena_push(q->a, *out, *n, cap) = suites[i];
		else
			report_warn(q->a, &q->report, "suite_skipped",
				arena_printf(q->a,
					"%s is left out: its tables are not ours to ship, "
					"see 'wham validate %s'",
					suites[i]->name, suites[i]->name));
	}
	if (q->reference && *n != 1)
		return err_set(err, ERR_USAGE, "--reference goes with one suite");
	return true;
}

static uint32_t n_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 1 ? (uint32_t)n : 1;
}

static bool run_validate(struct request *q, struct err *err)
{
	const struct suite **picked;
	uint32_t n, missed = 0;
	struct suite_context context = {.a = q->a,
		.data_root = data_root(q->a),
		.simgrid = true,
		.progress = show_progress,
		.progress_ctx = q};
	struct topo topo;
	context.jobs = q->jobs > 0 ? (uint32_t)q->jobs : n_processors();
	if (!pick_suites(q, &picked, &n, err) ||
		(q->topology && !load_topology(q, q->topology, &topo, err)))
		return false;
	context.topo = q->topology ? &topo : NULL;
	const char *reference = NULL;
	if (q->reference && !(reference = spool_input(q, q->reference, err)))
		return false;
	struct suite_report *reports = arena_array(q->a, n, struct suite_report);
	for (uint32_t i = 0; i < n; i++) {
		const char *table = reference;
		if (!table && picked[i]->table)
			table = arena_printf(
				q->a, "%s/tests/golden/%s", context.data_root, picked[i]->table);
		if ((table && !data_find(q, "reference", "tests/golden", table, err)) ||
			!validate_run(picked[i], reference, &context, &reports[i], err))
			return false;
		missed += reports[i].n_rows - reports[i].n_passed;
	}
	if (!write_suites(q, reports, n, err))
		return false;
	return missed == 0 || err_set(err, ERR_ANSWER, "%u rows miss their tolerance", missed);
}

const struct command command_validate = {
	.name = "validate",
	.usage = "validate [SUITE...] [--reference FILE]",
	.summary = "lay our numbers beside published ones",
	.examples =
		"  wham validate scalesim\n  wham validate area --json\n"
		"  wham validate collectives -v\n"
		"  wham validate allreduce --reference all_reduce_perf.txt --topology dgx-a100\n",
	.run = run_validate,
};
