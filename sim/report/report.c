#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

void report_add_input(struct arena *a, struct report *r, const char *path, const char *sha256)
{
	struct report_input in = {.path = arena_strdup(a, path)};
	snprintf(in.sha256, sizeof(in.sha256), "%s", sha256);
	arena_push(a, r->inputs, r->n_inputs, r->cap_inputs) = in;
}

void report_warn(struct arena *a, struct report *r, const char *code, const char *text)
{
	for (uint32_t i = 0; i < r->n_warnings; i++) {
		if (strcmp(r->warnings[i].code, code) == 0) {
			r->warnings[i].count++;
			return;
		}
	}
	arena_push(a, r->warnings, r->n_warnings, r->cap_warnings) =
		(struct report_warning){.code = code, .first = arena_strdup(a, text), .count = 1};
}

void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

void put_uint(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

void put_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, json_real(value));
}

void put_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, json_string(value));
}

void put_time(json_t *object, const char *key, tick value)
{
	put_real(object, key, ticks_to_s(value));
}

static json_t *inputs_json(const struct report *r)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < r->n_inputs; i++) {
		json_t *in = json_object();
		put_text(in, "path", r->inputs[i].path);
		put_text(in, "sha256", r->inputs[i].sha256);
		json_array_append_new(list, in);
	}
	return list;
}

static json_t *warnings_json(const struct report *r)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < r->n_warnings; i++) {
		json_t *w = json_object();
		put_text(w, "code", r->warnings[i].code);
		put_uint(w, "count", r->warnings[i].count);
		put_text(w, "first", r->warnings[i].first);
		json_array_append_new(list, w);
	}
	return list;
}

void report_write_json(const struct report *r, json_t *result, struct text *out)
{
	json_t *root = json_object();
	put_uint(root, "schema", 1);
	put_text(root, "tool", "wham");
	put_text(root, "version", r->version);
	put_text(root, "verb", r->verb);
	put(root, "inputs", inputs_json(r));
	put(root, "result", result);
	put(root, "warnings", warnings_json(r));
	if (r->run)
		put(root, "run", json_incref(r->run));
	if (r->interrupted)
		put(root, "interrupted", json_true());
	char *dump = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	text_add(out, "%s\n", dump);
	free(dump);
	json_decref(root);
}
