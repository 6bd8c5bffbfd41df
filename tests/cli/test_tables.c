#include <stdio.h>
#include <string.h>

#include "cli/internal.h"
#include "suite.h"

static void verbs_are_sorted_and_complete(void)
{
	size_t n = 0;
	for (; commands[n]; n++) {
		const struct command *c = commands[n];
		CU_ASSERT(c->name && c->usage && c->summary && c->examples && c->run);
		CU_ASSERT_PTR_NOT_NULL(strstr(c->examples, "  wham "));
		CU_ASSERT_EQUAL(strncmp(c->usage, c->name, strlen(c->name)), 0);
		if (n > 0)
			CU_ASSERT(strcmp(commands[n - 1]->name, c->name) < 0);
	}
	CU_ASSERT_EQUAL(n, 9);
}

static bool belongs_to_a_verb(const struct option_row *row)
{
	for (size_t i = 0; commands[i]; i++)
		if (option_belongs(row, commands[i]->name))
			return true;
	return false;
}

/* Every word of `verbs` must be a verb: a typing error would hide an option. */
static bool verbs_exist(const struct option_row *row)
{
	char words[128];
	if (!row->verbs)
		return true;
	snprintf(words, sizeof(words), "%s", row->verbs);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
		struct err err;
		if (!command_get(word, &err))
			return false;
	}
	return row->verbs[0] == ' ' && row->verbs[strlen(row->verbs) - 1] == ' ';
}

static void options_are_sorted_and_complete(void)
{
	char letters[64] = "";
	for (const struct option_row *row = option_rows; row->name; row++) {
		CU_ASSERT(row->doc && row->set);
		CU_ASSERT(belongs_to_a_verb(row) && verbs_exist(row));
		if (row > option_rows)
			CU_ASSERT(strcmp(row[-1].name, row->name) < 0);
		if (row->letter) {
			CU_ASSERT_PTR_NULL(strchr(letters, row->letter));
			letters[strlen(letters)] = row->letter;
		}
	}
}

static void two_options_never_share_a_field(void)
{
	for (const struct option_row *a = option_rows; a->name; a++)
		for (const struct option_row *b = a + 1; b->name; b++)
			CU_ASSERT(a->offset != b->offset);
}

static CU_TestInfo tests[] = {
	{"verbs are sorted and complete", verbs_are_sorted_and_complete},
	{"options are sorted and complete", options_are_sorted_and_complete},
	{"two options never share a field", two_options_never_share_a_field},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("cli tables", tests);
}
