#include <stdio.h>

#include "cli/internal.h"

void print_usage(struct text *out)
{
	text_add(out, "usage: wham VERB [options] [FILE...]\n\n");
	for (size_t i = 0; commands[i]; i++)
		text_add(out, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
	text_add(out,
		"\n'wham help VERB' shows examples and options; 'wham --version' the versions.\n");
}

static void print_option(const struct option_row *row, struct text *out)
{
	char spelled[96];
	snprintf(spelled, sizeof(spelled), "--%s%s%s", row->name, row->arg ? " " : "",
		row->arg ? row->arg : "");
	if (row->letter)
		text_add(out, "  -%c, %-24s  %s\n", row->letter, spelled, row->doc);
	else
		text_add(out, "      %-24s  %s\n", spelled, row->doc);
}

void print_command_help(const struct command *c, struct text *out)
{
	text_add(out, "wham %s: %s\n\nexamples\n%s\nusage: wham %s\n\noptions\n", c->name,
		c->summary, c->examples, c->usage);
	for (const struct option_row *row = option_rows; row->name; row++)
		if (option_belongs(row, c->name))
			print_option(row, out);
}

static bool run_help(struct request *q, struct err *err)
{
	struct text out = {0};
	if (q->files.n > 1)
		return err_set(err, ERR_USAGE, "help takes one verb");
	if (q->files.n == 1) {
		const struct command *c = command_get(q->files.items[0], err);
		if (!c)
			return false;
		print_command_help(c, &out);
	} else {
		print_usage(&out);
	}
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

const struct command command_help = {
	.name = "help",
	.usage = "help [VERB]",
	.summary = "what a verb does, with examples",
	.examples = "  wham help simulate\n",
	.run = run_help,
};
