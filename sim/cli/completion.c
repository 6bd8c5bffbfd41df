/* Shell completion, written from the same table as --help. */
#include <string.h>

#include "cli/internal.h"

static void add_flags(const char *verb, struct text *out)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (option_belongs(row, verb))
			text_add(out, " --%s", row->name);
}

static void print_bash(struct text *out)
{
	text_add(out, "_wham() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n");
	text_add(out, "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords=\"");
	for (size_t i = 0; commands[i]; i++)
		text_add(out, "%s%s", i > 0 ? " " : "", commands[i]->name);
	text_add(out, " --version\"\n\telse\n\t\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; commands[i]; i++) {
		text_add(out, "\t\t%s) words=\"", commands[i]->name);
		add_flags(commands[i]->name, out);
		text_add(out, "\" ;;\n");
	}
	text_add(out,
		"\t\tesac\n\tfi\n"
		"\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
		"}\ncomplete -o filenames -F _wham wham\n");
}

static void print_zsh(struct text *out)
{
	text_add(out, "#compdef wham\nlocal -a choices\nif (( CURRENT == 2 )); then\n\tchoices=(");
	for (size_t i = 0; commands[i]; i++)
		text_add(out, " %s", commands[i]->name);
	text_add(out, " --version)\nelse\n\tcase $words[2] in\n");
	for (size_t i = 0; commands[i]; i++) {
		text_add(out, "\t%s) choices=(", commands[i]->name);
		add_flags(commands[i]->name, out);
		text_add(out, ") ;;\n");
	}
	text_add(out, "\tesac\nfi\ncompadd -- $choices\n_files\n");
}

static bool run_completion(struct request *q, struct err *err)
{
	struct text out = {0};
	if (q->files.n != 1)
		return err_set(err, ERR_USAGE, "completion takes bash or zsh");
	if (strcmp(q->files.items[0], "bash") == 0)
		print_bash(&out);
	else if (strcmp(q->files.items[0], "zsh") == 0)
		print_zsh(&out);
	else
		return err_set(err, ERR_USAGE, "no completion for '%s', expected bash or zsh",
			q->files.items[0]);
	bool ok = write_text(q, &out, err);
	text_free(&out);
	return ok;
}

const struct command command_completion = {
	.name = "completion",
	.usage = "completion bash|zsh",
	.summary = "a completion script for the shell",
	.examples = "  wham completion bash > ~/.local/share/bash-completion/completions/wham\n",
	.run = run_completion,
};
