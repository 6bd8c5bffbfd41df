#include "base/doc.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/internal.h"
#include "base/text.h"

enum { SHOWN_MAX = 64 }; /* bytes of a user's value or key in a message */

static bool fail_syntax(const char *path, const json_error_t *e, struct err *err)
{
	char text[JSON_ERROR_TEXT_LENGTH];
	snprintf(text, sizeof(text), "%s", e->text);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	int line = e->line > 0 ? e->line : 1, column = e->column > 0 ? e->column : 1;
	return err_set(err, ERR_INPUT, "%s:%d:%d: %s", path, line, column, text);
}

bool doc_parse(struct doc *doc, const char *path, struct bytes text, struct err *err)
{
	json_error_t e;
	*doc = (struct doc){.path = path, .text = text};
	doc->root = json_loadb(text.data, text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
	if (!doc->root)
		return fail_syntax(path, &e, err);
	return true;
}

bool doc_read(struct doc *doc, struct arena *a, const char *path, struct err *err)
{
	struct bytes text;
	*doc = (struct doc){0};
	return file_read(a, path, &text, err) && doc_parse(doc, arena_strdup(a, path), text, err);
}

void doc_finish(struct doc *doc)
{
	json_decref(doc->root);
	*doc = (struct doc){0};
}

struct doc_at doc_root(const struct doc *doc)
{
	return (struct doc_at){.doc = doc, .value = doc->root};
}

static bool fail_at(const struct doc *doc, const char *place, const char *text, struct err *err)
{
	size_t line = 1;
	const char *start = doc->text.data;
	for (const char *c = start; c < place; c++) {
		if (*c == '\n') {
			line++;
			start = c + 1;
		}
	}
	size_t column = utf8_count(start, (size_t)(place - start)) + 1;
	return err_set(err, ERR_INPUT, "%s:%zu:%zu: %s", doc->path, line, column, text);
}

bool doc_fail(struct doc_at at, struct err *err, const char *fmt, ...)
{
	struct text text = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vadd(&text, fmt, ap);
	va_end(ap);
	fail_at(at.doc, doc_find_value(at), text.data, err);
	text_free(&text);
	return false;
}

/* What stands there, for "found ..." */
static const char *kind_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		return "null";
	}
	return "nothing";
}

static bool fail_kind(struct doc_at at, const char *expected, struct err *err)
{
	return doc_fail(at, err, "expected %s, found %s", expected, kind_name(at.value));
}

static bool fail_key(struct doc_at at, const char *key, const char *const *keys, struct err *err)
{
	size_t n = 0;
	while (keys[n])
		n++;
	struct text text = {0};
	size_t n_key = utf8_cut(key, SHOWN_MAX);
	text_add(&text, "unknown key '%.*s%s'", (int)n_key, key, key[n_key] ? "..." : "");
	const char *near = text_nearest(key, keys, n);
	if (near)
		text_add(&text, ", did you mean '%s'?", near);
	for (size_t i = 0; !near && i < n; i++)
		text_add(&text, "%s'%s'", i > 0 ? ", " : ", expected one of ", keys[i]);
	fail_at(at.doc, doc_find_key(doc_find_value(at), key), text.data, err);
	text_free(&text);
	return false;
}

static bool is_known(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return false;
}

bool doc_object(struct doc_at at, const char *const *keys, struct err *err)
{
	if (!json_is_object(at.value))
		return fail_kind(at, "an object", err);
	for (void *i = json_object_iter(at.value); i; i = json_object_iter_next(at.value, i))
		if (!is_known(json_object_iter_key(i), keys))
			return fail_key(at, json_object_iter_key(i), keys, err);
	return true;
}

bool doc_array(struct doc_at at, size_t min, struct err *err)
{
	if (!json_is_array(at.value))
		return fail_kind(at, "an array", err);
	size_t n = json_array_size(at.value);
	if (n < min)
		return doc_fail(at, err, "expected at least %zu element%s, found %zu", min,
			min == 1 ? "" : "s", n);
	return true;
}

size_t doc_length(struct doc_at at)
{
	return json_array_size(at.value);
}

struct doc_at doc_item(const struct doc_at *array, size_t i)
{
	assert(i < json_array_size(array->value));
	return (struct doc_at){.doc = array->doc,
		.value = json_array_get(array->value, i),
		.parent = array,
		.index = i};
}

bool doc_find(const struct doc_at *object, const char *key, struct doc_at *out)
{
	json_t *value = json_object_get(object->value, key);
	if (!value)
		return false;
	*out = (struct doc_at){.doc = object->doc, .value = value, .parent = object, .key = key};
	return true;
}

bool doc_get(const struct doc_at *object, const char *key, struct doc_at *out, struct err *err)
{
	if (!json_is_object(object->value))
		return fail_kind(*object, "an object", err);
	if (!doc_find(object, key, out))
		return doc_fail(*object, err, "missing key '%s'", key);
	return true;
}

bool doc_string(struct doc_at at, const char **out, struct err *err)
{
	if (!json_is_string(at.value))
		return fail_kind(at, "a string", err);
	*out = json_string_value(at.value);
	return true;
}

bool doc_bool(struct doc_at at, bool *out, struct err *err)
{
	if (!json_is_boolean(at.value))
		return fail_kind(at, "true or false", err);
	*out = json_is_true(at.value);
	return true;
}

/* The value as it stands in the text, cut to what a message can hold. */
static void show_token(struct doc_at at, char shown[SHOWN_MAX])
{
	const char *s = doc_find_value(at);
	snprintf(shown, SHOWN_MAX, "%.*s", (int)(doc_find_end(s) - s), s);
}

/* Takes 1e3 and 5.0 as whole; above 2^53 a real is no longer sure to be what was written. */
static bool whole_value(const json_t *v, uint64_t *out)
{
	if (json_is_integer(v)) {
		*out = (uint64_t)json_integer_value(v);
		return json_integer_value(v) >= 0;
	}
	double d = json_real_value(v);
	if (!(d >= 0 && d <= 0x1p53) || d != floor(d))
		return false;
	*out = (uint64_t)d;
	return true;
}

bool doc_uint(struct doc_at at, uint64_t min, uint64_t max, uint64_t *out, struct err *err)
{
	char expected[SHOWN_MAX + 32], shown[SHOWN_MAX];
	snprintf(expected, sizeof(expected), "a whole number from %" PRIu64 " to %" PRIu64, min,
		max);
	if (max >= INT64_MAX)
		snprintf(expected, sizeof(expected), "a whole number, at least %" PRIu64, min);
	if (!json_is_number(at.value))
		return fail_kind(at, expected, err);
	uint64_t v;
	if (whole_value(at.value, &v) && v >= min && v <= max) {
		*out = v;
		return true;
	}
	show_token(at, shown);
	return doc_fail(at, err, "expected %s, found %s", expected, shown);
}

static void describe_range(char *text, size_t size, double min, double max)
{
	int n = snprintf(text, size, "a number");
	if (isfinite(min) && isfinite(max))
		snprintf(text + n, size - (size_t)n, " from %g to %g", min, max);
	else if (isfinite(min))
		snprintf(text + n, size - (size_t)n, ", at least %g", min);
	else if (isfinite(max))
		snprintf(text + n, size - (size_t)n, ", at most %g", max);
}

bool doc_number(struct doc_at at, double min, double max, double *out, struct err *err)
{
	char expected[SHOWN_MAX + 32], shown[SHOWN_MAX];
	describe_range(expected, sizeof(expected), min, max);
	if (!json_is_number(at.value))
		return fail_kind(at, expected, err);
	double v = json_number_value(at.value);
	if (v >= min && v <= max) {
		*out = v;
		return true;
	}
	show_token(at, shown);
	return doc_fail(at, err, "expected %s, found %s", expected, shown);
}

bool doc_quantity(struct doc_at at, enum unit_dim dim, uint64_t min, uint64_t *out, struct err *err)
{
	char shown[SHOWN_MAX];
	const char *text = shown;
	if (json_is_string(at.value))
		text = json_string_value(at.value);
	else if (json_is_number(at.value))
		show_token(at,
			shown); /* unit_parse() says that it lacks a unit, and which there are */
	else
		return fail_kind(at, unit_expectation(dim), err);
	struct err why;
	uint64_t v;
	if (!unit_parse(text, dim, &v, &why))
		return doc_fail(at, err, "%s", why.text);
	if (v < min) {
		char least[UNIT_TEXT];
		return doc_fail(at, err, "'%s' is too small, expected at least %s", text,
			unit_print_exact(least, dim, min));
	}
	*out = v;
	return true;
}
