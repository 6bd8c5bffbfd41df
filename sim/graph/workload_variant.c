/* Named sets of parameters within a workload file. */
#include <string.h>

#include "graph/workload.h"
#include "graph/workload_internal.h"

static bool all_variants(struct doc_at *root, struct doc_at *variants, struct err *err)
{
	return !doc_find(root, "variants", variants) || json_is_object(variants->value) ||
	       doc_fail(*variants, err, "expected an object");
}

static bool unknown_variant(struct workload *w, const char *path, bool any, struct err *err)
{
	struct graph_variants list = {0};
	for (void *i = any ? json_object_iter(w->variants.value) : NULL; i;
		i = json_object_iter_next(w->variants.value, i))
		arena_push(w->a, list.names, list.n, list.cap) = json_object_iter_key(i);
	const char *near = text_nearest(w->options->variant, list.names, list.n);
	return err_set(err, ERR_USAGE, "%s: there is no variant '%s'%s%s%s", path,
		w->options->variant, near ? ", did you mean '" : "", near ? near : "",
		near ? "'?"
		: list.n > 0
			? ", see 'wham list models --verbose'"
			: ": the file has none; parameters are set by NAME=NUMBER, e.g. 'seq=512'");
}

bool workload_find_variant(struct workload *w, const char *path, struct err *err)
{
	static const char *const keys[] = {
		"parameters", "parameter_count", "micro_batch", "source", NULL};
	if (!all_variants(&w->root, &w->variants, err))
		return false;
	if (!w->options->variant)
		return true;
	bool any = w->variants.value != NULL;
	w->has_variant = any && doc_find(&w->variants, w->options->variant, &w->variant);
	if (!w->has_variant)
		return unknown_variant(w, path, any, err);
	return doc_object(w->variant, keys, err);
}

bool workload_check_variant(struct workload *w, const char *const *names, struct err *err)
{
	struct doc_at list;
	return !w->has_variant || !doc_find(&w->variant, "parameters", &list) ||
	       doc_object(list, names, err);
}

bool workload_variant_key(struct workload *w, const char *key, struct doc_at *at)
{
	return (w->has_variant && doc_find(&w->variant, key, at)) || doc_find(&w->root, key, at);
}

bool workload_variant_parameter(struct workload *w, const char *name, struct doc_at *at)
{
	struct doc_at list;
	bool found = w->has_variant && doc_find(&w->variant, "parameters", &w->variant_parameters);
	if (!found)
		return false;
	list = w->variant_parameters;
	return json_is_object(list.value) && doc_find(&w->variant_parameters, name, at);
}

bool workload_variants(struct arena *a, const char *path, struct bytes content,
	struct graph_variants *out, struct err *err)
{
	struct doc doc;
	struct doc_at variants = {0};
	*out = (struct graph_variants){0};
	if (!doc_parse(&doc, path, content, err))
		return false;
	struct doc_at root = doc_root(&doc);
	bool ok = all_variants(&root, &variants, err);
	for (void *i = ok && variants.value ? json_object_iter(variants.value) : NULL; i;
		i = json_object_iter_next(variants.value, i))
		arena_push(a, out->names, out->n, out->cap) =
			arena_strdup(a, json_object_iter_key(i));
	doc_finish(&doc);
	return ok;
}
