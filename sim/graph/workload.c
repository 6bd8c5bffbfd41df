#include "graph/workload.h"

#include <inttypes.h>
#include <string.h>

#include "graph/workload_internal.h"

enum { N_OWN = 3 }; /* variables that every file has */

static bool positive_overrides(struct workload *w, const char *path, struct err *err)
{
	for (uint32_t i = 0; i < w->options->n_overrides; i++)
		if (w->options->overrides[i].value == 0 ||
			w->options->overrides[i].value >> BUILDER_MAX_ELEMENTS_LOG2)
			return err_set(err, ERR_USAGE, "%s: parameter '%s' must be from 1 to 2^%d",
				path, w->options->overrides[i].name, BUILDER_MAX_ELEMENTS_LOG2);
	return true;
}

/* The last override of `name` counts. */
static bool find_override(const struct workload *w, const char *name, uint64_t *value)
{
	for (uint32_t i = w->options->n_overrides; i-- > 0;)
		if (strcmp(w->options->overrides[i].name, name) == 0) {
			*value = w->options->overrides[i].value;
			return true;
		}
	return false;
}

static bool check_overrides(
	struct workload *w, const char *path, const char *const *names, uint32_t n, struct err *err)
{
	for (uint32_t i = 0; i < w->options->n_overrides; i++) {
		const char *name = w->options->overrides[i].name;
		bool known = false;
		for (uint32_t j = 0; j < n; j++)
			known = known || strcmp(names[j], name) == 0;
		if (known)
			continue;
		const char *near = text_nearest(name, names, n);
		struct text list = {0};
		for (uint32_t j = 0; j < n && !near; j++)
			text_add(&list, "%s'%s'", j ? ", " : ", it has ", names[j]);
		err_set(err, ERR_USAGE, "%s: there is no parameter '%s'%s%s%s%s", path, name,
			near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
			list.data ? list.data : "");
		text_free(&list);
		return false;
	}
	return true;
}

static bool is_name(const char *s)
{
	const char *const rest = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	return *s && !strchr("0123456789", *s) && s[strspn(s, rest)] == '\0' && strlen(s) < 64 &&
	       strcmp(s, "batch") != 0 && strcmp(s, "tp") != 0 && strcmp(s, "sp") != 0;
}

/* batch, tp, sp and the file's parameters, each able to use those before it. */
static bool read_parameters(struct workload *w, const char *path, struct err *err)
{
	struct doc_at at, one;
	bool any = doc_find(&w->root, "parameters", &at);
	if (any && !json_is_object(at.value))
		return doc_fail(at, err, "expected an object");
	uint32_t max = N_OWN + (any ? (uint32_t)json_object_size(at.value) : 0);
	struct variable *v = arena_array(w->a, max, struct variable);
	const char **names = arena_array(w->a, max + 1, const char *);
	v[0] = (struct variable){"batch", w->batch};
	v[1] = (struct variable){"tp", w->tp};
	v[2] = (struct variable){"sp", w->sp};
	w->scope = (struct scope){.variables = v, .n = N_OWN};
	for (void *i = any ? json_object_iter(at.value) : NULL; i;
		i = json_object_iter_next(at.value, i)) {
		const char *name = json_object_iter_key(i);
		if (!workload_variant_parameter(w, name, &one))
			doc_get(&at, name, &one, err);
		if (!is_name(name))
			return doc_fail(one, err, "'%s' cannot be the name of a parameter", name);
		if (!find_override(w, name, &v[w->scope.n].value) &&
			!workload_number(one, &w->scope, 1, &v[w->scope.n].value, err))
			return false;
		v[w->scope.n].name = arena_strdup(w->a, name);
		names[w->scope.n - N_OWN] = v[w->scope.n].name;
		w->scope.n++;
	}
	return workload_check_variant(w, names, err) &&
	       check_overrides(w, path, names, w->scope.n - N_OWN, err);
}

static bool check_divisible(struct workload *w, struct err *err)
{
	struct doc_at list;
	if (!doc_find(&w->root, "divisible", &list))
		return true;
	if (!doc_array(list, 0, err))
		return false;
	for (size_t i = 0; i < doc_length(list); i++) {
		struct doc_at pair = doc_item(&list, i);
		uint64_t v[2];
		const char *names[2];
		if (!doc_array(pair, 2, err))
			return false;
		for (size_t j = 0; j < 2; j++) {
			struct doc_at at = doc_item(&pair, j);
			if (!doc_string(at, &names[j], err) ||
				!workload_number(at, &w->scope, 1, &v[j], err))
				return false;
		}
		if (v[0] % v[1] != 0)
			return doc_fail(pair, err,
				"%s = %" PRIu64 " is not divisible by %s = %" PRIu64, names[0],
				v[0], names[1], v[1]);
	}
	return true;
}

static bool read_input(
	struct workload *w, const struct doc_at *at, const char *name, struct err *err)
{
	static const char *const keys[] = {"shape", "bytes", "constant", NULL};
	struct tensor t = {.name = name, .class = TENSOR_INPUT};
	struct number_list dims = {.min = 1, .max = GRAPH_MAX_DIMS, .values = t.dims};
	struct doc_at value;
	uint64_t bytes = 0;
	bool constant = false;
	struct err why = {0};
	tensor_id id;
	if (!doc_object(*at, keys, err) || !doc_get(at, "shape", &value, err) ||
		!workload_numbers(value, &w->scope, &dims, err))
		return false;
	t.n_dims = dims.n;
	if (doc_find(at, "bytes", &value) && !doc_uint(value, 1, 8, &bytes, err))
		return false;
	if (doc_find(at, "constant", &value) && !doc_bool(value, &constant, err))
		return false;
	t.elem_bytes = (uint32_t)bytes;
	t.class = constant ? TENSOR_CONST : TENSOR_INPUT;
	if (!builder_add_tensor(&w->b, &t, &id, &why))
		return doc_fail(*at, err, "%s", why.text);
	place_add(w, &w->inputs, w->b.tensors[id].name, id);
	return true;
}

static bool read_inputs(struct workload *w, struct err *err)
{
	struct doc_at at, one;
	if (!doc_get(&w->root, "inputs", &at, err))
		return false;
	if (!json_is_object(at.value))
		return doc_fail(at, err, "expected an object");
	for (void *i = json_object_iter(at.value); i; i = json_object_iter_next(at.value, i)) {
		const char *name = json_object_iter_key(i);
		if (!doc_get(&at, name, &one, err) || !read_input(w, &one, name, err))
			return false;
	}
	return true;
}

static bool read_layers(struct workload *w, struct err *err)
{
	struct doc_at list;
	struct place top = {.outer = &w->inputs,
		.scope = &w->scope,
		.prefix = "",
		.last = GRAPH_NONE,
		.top = true};
	w->has_templates = doc_find(&w->root, "templates", &w->templates);
	if (w->has_templates && !json_is_object(w->templates.value))
		return doc_fail(w->templates, err, "expected an object");
	if (!doc_get(&w->root, "layers", &list, err) || !workload_items(w, &list, &top, err))
		return false;
	if (w->tp > 1 && !w->sliced)
		return doc_fail(list, err,
			"no operator has a 'shard', so the model cannot be sliced over tp = %u "
			"devices",
			w->tp);
	return true;
}

/* The sum that the file or its variant says, which holds as long as nothing is overridden. */
static bool check_count(struct workload *w, struct err *err)
{
	struct doc_at at;
	uint64_t count;
	if (!doc_get(w->has_variant ? &w->variant : &w->root, "parameter_count", &at, err) ||
		!doc_uint(at, 0, INT64_MAX, &count, err))
		return false;
	if (w->options->n_overrides == 0 && count != w->b.parameters)
		return doc_fail(at, err,
			"the operators have %" PRIu64 " parameters, the file says %" PRIu64,
			w->b.parameters, count);
	return true;
}

static bool finish(struct workload *w, const char *path, struct graph *out, struct err *err)
{
	struct doc_at name, source, tokens;
	const char *name_text, *source_text;
	struct err why = {0};
	uint64_t tokens_per_sample = 0;
	if (!doc_get(&w->root, "name", &name, err) || !doc_string(name, &name_text, err) ||
		!doc_get(&w->root, "source", &source, err) ||
		!workload_variant_key(w, "source", &source) ||
		!doc_string(source, &source_text, err))
		return false;
	if (doc_find(&w->root, "tokens_per_sample", &tokens) &&
		!workload_number(tokens, &w->scope, 0, &tokens_per_sample, err))
		return false;
	if (!builder_finish(&w->b, out, &why))
		return doc_fail(w->root, err, "%s", why.text);
	out->name = w->has_variant ? arena_printf(w->a, "%s:%s", name_text, w->options->variant)
				   : arena_strdup(w->a, name_text);
	out->cuts = w->cuts;
	out->n_cuts = w->n_cuts;
	out->source = arena_strdup(w->a, source_text);
	out->path = arena_strdup(w->a, path);
	out->batch = w->batch;
	out->tokens_per_sample = tokens_per_sample;
	out->tp = w->tp;
	return true;
}

/* What the caller asked for, else what the file suggests, else 1. */
static bool choose_batch(struct workload *w, struct err *err)
{
	struct doc_at at;
	uint64_t own = 1;
	if (workload_variant_key(w, "micro_batch", &at) && !doc_uint(at, 1, 1u << 20, &own, err))
		return false;
	if (w->batch == 0)
		w->batch = own;
	return true;
}

/* Whether the sequence may be sliced is for the file to say: its inputs have to be sliced too. */
static bool choose_sequence(struct workload *w, struct err *err)
{
	struct doc_at at;
	bool can = false;
	if (doc_find(&w->root, "sequence_parallel", &at) && !doc_bool(at, &can, err))
		return false;
	w->sp = w->options->sequence_parallel ? w->tp : 1;
	return can || w->sp == 1 ||
	       doc_fail(w->root, err,
		       "there is no sequence parallelism for this model: the file has no "
		       "\"sequence_parallel\": true");
}

static bool read_root(struct workload *w, const char *path, struct graph *out, struct err *err)
{
	static const char *const keys[] = {"name", "source", "parameter_count", "parameters",
		"divisible", "tokens_per_sample", "micro_batch", "sequence_parallel", "inputs",
		"templates", "layers", "variants", NULL};
	return doc_object(w->root, keys, err) && workload_find_variant(w, path, err) &&
	       choose_batch(w, err) && choose_sequence(w, err) &&
	       positive_overrides(w, path, err) && read_parameters(w, path, err) &&
	       check_divisible(w, err) && read_inputs(w, err) && read_layers(w, err) &&
	       check_count(w, err) && finish(w, path, out, err);
}

bool workload_read(struct arena *a, const char *path, struct bytes content,
	const struct graph_options *options, struct graph *out, struct err *err)
{
	struct doc doc;
	struct workload w = {
		.a = a,
		.options = options,
		.batch = options->batch,
		.tp = options->tp ? options->tp : 1,
	};
	if (w.batch >> BUILDER_MAX_ELEMENTS_LOG2)
		return err_set(err, ERR_USAGE, "%s: a micro-batch of more than 2^%d", path,
			BUILDER_MAX_ELEMENTS_LOG2);
	if (!doc_parse(&doc, path, content, err))
		return false;
	w.root = doc_root(&doc);
	builder_init(&w.b, a, options->elem_bytes ? options->elem_bytes : 2);
	bool ok = read_root(&w, path, out, err);
	doc_finish(&doc);
	return ok;
}
