#include "trace/trace.h"

#include <stdarg.h>
#include <string.h>

#include "trace/internal.h"

const struct trace_format *const trace_formats[] = {
	&format_chakra,
	&format_prog,
	NULL,
};

void trace_warn(struct arena *a, struct trace *t, const char *code, const char *fmt, ...)
{
	for (uint32_t i = 0; i < t->n_warnings; i++)
		if (strcmp(t->warnings[i].code, code) == 0) {
			t->warnings[i].count++;
			return;
		}
	struct text text = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vadd(&text, fmt, ap);
	va_end(ap);
	arena_push(a, t->warnings, t->n_warnings, t->cap_warnings) = (struct trace_warning){
		.code = code, .first = arena_strdup(a, text.data), .count = 1};
	text_free(&text);
}

bool trace_read(struct arena *a, const char *const *paths, uint32_t n_paths,
	const struct trace_options *options, struct trace *out, struct err *err)
{
	struct trace_input in;
	*out = (struct trace){0};
	if (!trace_gather(a, paths, n_paths, &in, err))
		return false;
	for (size_t i = 0; trace_formats[i]; i++) {
		if (!trace_formats[i]->fits(&in))
			continue;
		out->format = trace_formats[i]->name;
		out->paths = in.paths;
		out->n_paths = in.n_paths;
		return trace_formats[i]->read(a, &in, options, out, err);
	}
	return err_set(err, ERR_INPUT,
		"%s: not a recording that is known, expected Chakra .et files, one for each rank "
		"and named PREFIX.RANK.et, or a .prog file",
		in.files[0].path);
}
