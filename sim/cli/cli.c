#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/internal.h"
#include "net/net.h"

const struct command *const commands[] = {
	&command_completion,
	&command_help,
	&command_list,
	&command_plan,
	&command_replay,
	&command_search,
	&command_simulate,
	&command_topology,
	&command_validate,
	NULL,
};

const struct command *command_get(const char *name, struct err *err)
{
	const char *names[32];
	size_t n = 0;
	for (; commands[n]; n++) {
		names[n] = commands[n]->name;
		if (strcmp(name, names[n]) == 0)
			return commands[n];
	}
	const char *near = text_nearest(name, names, n);
	if (near)
		err_set(err, ERR_USAGE, "unknown verb '%s', did you mean '%s'?", name, near);
	else
		err_set(err, ERR_USAGE, "unknown verb '%s', 'wham help' lists them", name);
	return NULL;
}

static bool print_version(struct request *q, struct err *err)
{
	struct err why = {0};
	struct text out = {0};
	const char *simgrid = net_simgrid_version(q->a, &why);
	text_add(&out, "wham %s\n%s\n", WHAM_VERSION_TEXT, simgrid ? simgrid : why.text);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

static bool run_command(
	const struct command *c, int argc, char **argv, struct request *q, struct err *err)
{
	q->report.verb = c->name;
	q->report.version = WHAM_VERSION_TEXT;
	if (!options_parse(c->name, argc, argv, q, err))
		return false;
	if (q->help) {
		struct text out = {0};
		print_command_help(c, &out);
		bool ok = write_text(q, &out, err);
		text_free(&out);
		return ok;
	}
	if (q->experiment && !options_read_experiment(c->name, q->experiment, q, err))
		return false;
	if (q->json && q->csv)
		return err_set(err, ERR_USAGE, "--json and --csv exclude each other");
	if (!check_outputs(q, err))
		return false;
	watch_interrupts(q->time_limit, c->finishes);
	return c->run(q, err);
}

static void print_warnings(const struct request *q)
{
	for (uint32_t i = 0; i < q->report.n_warnings; i++) {
		const struct report_warning *w = &q->report.warnings[i];
		if (w->count > 1)
			fprintf(stderr, "wham: warning: %s (%ju times)\n", w->first,
				(uintmax_t)w->count);
		else
			fprintf(stderr, "wham: warning: %s\n", w->first);
	}
}

static bool dispatch(int argc, char **argv, struct request *q, struct err *err)
{
	if (argc < 2) {
		struct text out = {0};
		print_usage(&out);
		fputs(out.data, stderr);
		text_free(&out);
		return err_set(err, ERR_USAGE, "%s", "");
	}
	if (strcmp(argv[1], "--version") == 0)
		return print_version(q, err);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return run_command(&command_help, argc - 1, argv + 1, q, err);
	if (argv[1][0] == '-')
		return err_set(err, ERR_USAGE,
			"expected a verb before '%s', 'wham help' lists them", argv[1]);
	const struct command *c = command_get(argv[1], err);
	return c && run_command(c, argc - 1, argv + 1, q, err);
}

int cli_main(int argc, char **argv)
{
	struct arena a = {0};
	struct err err = {0};
	struct request q = {.a = &a};
	signal(SIGPIPE, SIG_IGN);
	bool ok = dispatch(argc, argv, &q, &err);
	progress_clear(&q);
	if (!q.quiet)
		print_warnings(&q);
	spool_rename(&q, &err);
	if (!ok && err.text[0] != '\0')
		fprintf(stderr, "wham: %s\n", err.text);
	int status = ok ? 0 : (int)err.kind;
	if (q.report.run)
		json_decref(q.report.run);
	arena_free(&a);
	return interrupted() ? 130 : status;
}
