/* argp over the table of options, and experiment files. */
#include <argp.h>
#include <string.h>

#include "base/doc.h"
#include "cli/internal.h"

enum { KEY_BASE = 0x200 };

struct parsing {
	struct request *q;
	struct err *err;
};

static size_t n_options(void)
{
	size_t n = 0;
	while (option_rows[n].name)
		n++;
	return n;
}

static const struct option_row *row_of_key(int key)
{
	if (key >= KEY_BASE)
		return key < KEY_BASE + (int)n_options() ? &option_rows[key - KEY_BASE] : NULL;
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->letter && row->letter == key)
			return row;
	return NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is argp's */
static error_t take(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;
	if (key == ARGP_KEY_ARG) {
		arena_push(p->q->a, p->q->files.items, p->q->files.n, p->q->files.cap) = arg;
		return 0;
	}
	const struct option_row *row = row_of_key(key);
	if (!row)
		return ARGP_ERR_UNKNOWN;
	return row->set(row, p->q, arg ? arg : "", p->err) ? 0 : EINVAL;
}

/* argp keeps quiet about what it could not read, so look for it: the first word that is no
 * option of the verb, or lacks its value. */
static bool explain(const char *verb, int argc, char **argv, struct err *err)
{
	const char *names[128];
	size_t n = 0;
	for (const struct option_row *row = option_rows; row->name; row++)
		if (option_belongs(row, verb))
			names[n++] = row->name;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		char word[64];
		if (argv[i][0] != '-' || argv[i][1] != '-')
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(argv[i] + 2, "="), argv[i] + 2);
		const struct option_row *row = option_find(word, verb);
		if (row && row->arg && !strchr(argv[i], '=') && i + 1 == argc)
			return err_set(err, ERR_USAGE, "--%s needs a value: %s", word, row->arg);
		if (row && !row->arg && strchr(argv[i], '='))
			return err_set(err, ERR_USAGE, "--%s takes no value", word);
		if (row) {
			i += row->arg && !strchr(argv[i], '=');
			continue;
		}
		const char *near = text_nearest(word, names, n);
		if (near)
			return err_set(err, ERR_USAGE,
				"unknown option '--%s' of 'wham %s', did you mean '--%s'?", word,
				verb, near);
		return err_set(
			err, ERR_USAGE, "unknown option '--%s', see 'wham help %s'", word, verb);
	}
	return err_set(err, ERR_USAGE, "cannot read the options, see 'wham help %s'", verb);
}

bool options_parse(const char *verb, int argc, char **argv, struct request *q, struct err *err)
{
	size_t n = n_options(), n_known = 0;
	struct argp_option *known = arena_array(q->a, n + 1, struct argp_option);
	struct parsing p = {.q = q, .err = err};
	for (size_t i = 0; i < n; i++)
		if (option_belongs(&option_rows[i], verb))
			known[n_known++] = (struct argp_option){.name = option_rows[i].name,
				.key = option_rows[i].letter ? option_rows[i].letter
							     : KEY_BASE + (int)i,
				.arg = option_rows[i].arg};
	struct argp argp = {.options = known, .parser = take};
	err->text[0] = '\0';
	if (argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p) ==
		0)
		return true;
	return err->text[0] != '\0' ? false : explain(verb, argc, argv, err);
}

/* The value as it would stand on the command line. */
static bool value_text(struct arena *a, struct doc_at at, const char **out, struct err *err)
{
	if (json_is_string(at.value))
		return doc_string(at, out, err);
	if (json_is_true(at.value)) {
		*out = "";
		return true;
	}
	if (!json_is_integer(at.value) && !json_is_real(at.value))
		return doc_fail(at, err, "expected a string, a number or true");
	*out = json_is_integer(at.value)
		       ? arena_printf(a, "%jd", (intmax_t)json_integer_value(at.value))
		       : arena_printf(a, "%.17g", json_real_value(at.value));
	return true;
}

static bool is_set(const struct option_row *row, const struct request *q)
{
	static const uint64_t zero;
	const char *f = (const char *)q + row->offset;
	static const size_t lists[] = {offsetof(struct request, models),
		offsetof(struct request, dims), offsetof(struct request, fail_links),
		offsetof(struct request, degraded), offsetof(struct request, stragglers),
		offsetof(struct request, topologies)};
	bool is_list = false;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		is_list = is_list || row->offset == lists[i];
	if (is_list)
		return ((const struct names *)(const void *)f)->n > 0;
	return memcmp(f, &zero, row->arg ? sizeof(zero) : sizeof(bool)) != 0;
}

static bool apply(
	const struct option_row *row, struct doc_at at, struct request *q, struct err *err)
{
	const char *text = NULL;
	struct doc_at item;
	if (json_is_array(at.value)) {
		for (size_t i = 0; i < doc_length(at); i++) {
			item = doc_item(&at, i);
			if (!value_text(q->a, item, &text, err) ||
				!row->set(row, q, arena_strdup(q->a, text), err))
				return false;
		}
		return true;
	}
	if (!value_text(q->a, at, &text, err))
		return false;
	if (row->set(row, q, arena_strdup(q->a, text), err))
		return true;
	struct err inner = *err;
	return doc_fail(at, err, "%s", inner.text);
}

static bool apply_all(const char *verb, struct doc_at root, struct request *q, struct err *err)
{
	const char *keys[128];
	size_t n = 0;
	bool skip[128] = {false};
	for (const struct option_row *row = option_rows; row->name; row++)
		if (option_belongs(row, verb))
			keys[n++] = row->name;
	keys[n] = NULL;
	if (!doc_object(root, keys, err))
		return false;
	for (size_t i = 0; i < n; i++)
		skip[i] = is_set(option_find(keys[i], verb), q);
	for (size_t i = 0; i < n; i++) {
		struct doc_at at;
		if (!skip[i] && doc_find(&root, keys[i], &at) && !json_is_false(at.value) &&
			!apply(option_find(keys[i], verb), at, q, err))
			return false;
	}
	return true;
}

bool options_read_experiment(const char *verb, const char *path, struct request *q, struct err *err)
{
	struct doc doc;
	const char *found = data_find(q, "experiment", "models/experiments", path, err);
	if (!found || !doc_read(&doc, q->a, found, err))
		return false;
	bool ok = apply_all(verb, doc_root(&doc), q, err);
	doc_finish(&doc);
	return ok;
}
