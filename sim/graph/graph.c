#include "graph/graph.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/internal.h"
#include "graph/onnx.h"
#include "graph/workload.h"

uint64_t tensor_elements(const struct tensor *t)
{
	uint64_t n = 1;
	for (uint32_t i = 0; i < t->n_dims; i++)
		n *= t->dims[i];
	return n;
}

uint64_t tensor_bytes(const struct tensor *t)
{
	return tensor_elements(t) * t->elem_bytes;
}

const struct op *op_parts(const struct op *op, uint32_t *n)
{
	*n = op->parts ? op->n_members : 1;
	return op->parts ? op->parts : op;
}

uint32_t graph_select(struct arena *a, const struct graph *g, uint32_t first_layer,
	uint32_t end_layer, uint32_t pass_mask, op_id **ids)
{
	uint32_t n = 0;
	*ids = arena_array(a, g->n_ops, op_id);
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		if (op->layer >= first_layer && op->layer < end_layer && pass_mask & 1u << op->pass)
			(*ids)[n++] = i;
	}
	return n;
}

uint64_t graph_macs(const struct graph *g, uint32_t pass_mask)
{
	uint64_t macs = 0;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct work *w = &g->ops[i].work;
		if (pass_mask & 1u << g->ops[i].pass)
			macs += w->batch * w->m * w->n * w->k;
	}
	return macs;
}

const char *op_kind_name(const struct op_kind *kind)
{
	return kind->name;
}

const char *op_pass_name(enum op_pass pass)
{
	switch (pass) {
	case PASS_FORWARD:
		return "forward";
	case PASS_BACKWARD_DATA:
		return "dX";
	case PASS_BACKWARD_WEIGHT:
		return "dW";
	case PASS_UPDATE:
		return "update";
	}
	return "";
}

/* JSON begins with a brace, and a file called .json is meant to be JSON whatever it holds. */
static bool is_json(const char *path, struct bytes content)
{
	size_t i = 0, n = strlen(path);
	while (i < content.n && isspace((unsigned char)content.data[i]))
		i++;
	return (i < content.n && content.data[i] == '{') ||
	       (n > 5 && strcmp(path + n - 5, ".json") == 0);
}

bool graph_read_variants(
	struct arena *a, const char *path, struct graph_variants *out, struct err *err)
{
	struct bytes content;
	*out = (struct graph_variants){0};
	if (!file_read(a, path, &content, err))
		return false;
	return !is_json(path, content) || workload_variants(a, path, content, out, err);
}

bool graph_read(struct arena *a, const char *path, const struct graph_options *options,
	struct graph *out, struct err *err)
{
	struct bytes content;
	if (!file_read(a, path, &content, err))
		return false;
	if (options->elem_bytes != 0 && options->elem_bytes != 2 && options->elem_bytes != 4)
		return err_set(err, ERR_USAGE, "elements of %u bytes: 2 or 4 are expected",
			options->elem_bytes);
	if (is_json(path, content))
		return workload_read(a, path, content, options, out, err);
	if (options->variant)
		return err_set(err, ERR_USAGE,
			"%s: an ONNX file has no variants, expected NAME=NUMBER instead of '%s'",
			path, options->variant);
	return onnx_read(a, path, content, options, out, err);
}

static bool bad_override(const char *text, struct err *err)
{
	err_set(err, ERR_USAGE,
		"'%s': expected NAME=NUMBER,..., e.g. 'seq=512,batch=4'; numbers from 1 to 2^48",
		text);
	return false;
}

/* One "name=value" of n characters. */
static bool parse_override(
	struct arena *a, const char *text, size_t n, struct graph_override *out, struct err *err)
{
	char *name = arena_strndup(a, text, n), *end, *equals = strchr(name, '=');
	if (!equals || equals == name || !isdigit((unsigned char)equals[1]))
		return bad_override(text, err);
	*equals = '\0';
	out->name = name;
	out->value = strtoull(equals + 1, &end, 10);
	if (*end != '\0' || out->value == 0 ||
		out->value > UINT64_C(1) << BUILDER_MAX_ELEMENTS_LOG2)
		return bad_override(text, err);
	return true;
}

bool graph_parse_overrides(
	struct arena *a, const char *text, struct graph_options *options, struct err *err)
{
	const char *at = text;
	for (;;) {
		size_t n = strcspn(at, ",");
		struct graph_override one = {0};
		if (at == text && n > 0 && !memchr(at, '=', n)) {
			options->variant = arena_strndup(a, at, n);
			if (at[n] == '\0')
				return true;
			at += n + 1;
			continue;
		}
		if (!parse_override(a, at, n, &one, err))
			return false;
		if (strcmp(one.name, "batch") == 0) {
			options->batch = one.value;
		} else {
			struct graph_override *list = arena_grow(a, options->overrides,
				options->n_overrides, options->n_overrides + 1, sizeof(*list));
			list[options->n_overrides++] = one;
			options->overrides = list;
		}
		if (at[n] == '\0')
			return true;
		at += n + 1;
	}
}
