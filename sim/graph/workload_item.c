#include <string.h>

#include "graph/workload_internal.h"

enum { MAX_DEPTH = 16 };

void place_add(struct workload *w, struct place *place, const char *name, tensor_id id)
{
	arena_push(w->a, place->named, place->n, place->cap) = (struct named){name, id};
}

static bool find_tensor(const struct place *place, const char *name, tensor_id *id)
{
	for (const struct place *p = place; p; p = p->outer)
		for (uint32_t i = p->n; i-- > 0;)
			if (strcmp(p->named[i].name, name) == 0) {
				*id = p->named[i].id;
				return true;
			}
	return false;
}

static bool unknown_tensor(struct workload *w, struct doc_at at, const struct place *place,
	const char *name, struct err *err)
{
	const char **names = NULL;
	size_t n = 0, cap = 0;
	for (const struct place *p = place; p; p = p->outer)
		for (uint32_t i = 0; i < p->n; i++)
			arena_push(w->a, names, n, cap) = p->named[i].name;
	const char *near = text_nearest(name, names, n);
	return doc_fail(at, err, "there is no '%s' before this item%s%s%s", name,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool find_named(struct workload *w, struct doc_at at, const struct place *place,
	tensor_id *id, struct err *err)
{
	const char *name;
	return doc_string(at, &name, err) &&
	       (find_tensor(place, name, id) || unknown_tensor(w, at, place, name, err));
}

bool workload_inputs(struct workload *w, const struct doc_at *item, const struct place *place,
	const tensor_id **ids, uint32_t *n, struct err *err)
{
	struct doc_at at;
	bool given = doc_find(item, "in", &at), list = given && json_is_array(at.value);
	if (list && !doc_array(at, 1, err))
		return false;
	*n = list ? (uint32_t)doc_length(at) : 1;
	tensor_id *to = arena_array(w->a, *n, tensor_id);
	*ids = to;
	if (!given && place->last == GRAPH_NONE)
		return doc_fail(*item, err, "nothing stands before this item: missing key 'in'");
	if (!given)
		to[0] = place->last;
	if (given && !list)
		return find_named(w, at, place, &to[0], err);
	for (uint32_t i = 0; list && i < *n; i++)
		if (!find_named(w, doc_item(&at, i), place, &to[i], err))
			return false;
	return true;
}

/* "cut": true, or every how many instances a stage begins. */
static bool read_cut(struct workload *w, const struct doc_at *item, uint64_t instance, bool opens,
	struct err *err)
{
	struct doc_at at;
	uint64_t every = 0;
	bool first = false;
	if (!doc_find(item, "cut", &at))
		return true;
	if (json_is_boolean(at.value) ? !doc_bool(at, &first, err)
				      : !workload_number(at, &w->scope, 1, &every, err))
		return false;
	if (first && !opens && instance == 0)
		return doc_fail(
			at, err, "an item that is glued to the one before does not begin a stage");
	uint32_t layer = w->b.n_layers - 1;
	if (opens && layer > 0 && (every ? instance % every == 0 : first && instance == 0))
		arena_push(w->a, w->cuts, w->n_cuts, w->cap_cuts) = layer;
	return true;
}

/* Opens a layer for an instance, unless it is glued to the one before or that one asked for it. */
static bool begin_layer(struct workload *w, const struct doc_at *item, const char *name,
	uint64_t instance, struct err *err)
{
	struct doc_at at;
	const char *glue = "";
	if (doc_find(item, "glue", &at)) {
		if (!doc_string(at, &glue, err))
			return false;
		if (strcmp(glue, "next") != 0 && strcmp(glue, "previous") != 0)
			return doc_fail(at, err, "expected 'next' or 'previous', found '%s'", glue);
	}
	bool joins_previous = strcmp(glue, "previous") == 0 && w->b.n_layers > 0;
	if (w->joins_next)
		w->b.layer_names[w->b.n_layers - 1] = arena_strdup(w->a, name);
	else if (!joins_previous)
		builder_begin_layer(&w->b, name);
	bool opens = !w->joins_next && !joins_previous;
	w->joins_next = strcmp(glue, "next") == 0;
	return read_cut(w, item, instance, opens, err);
}

/* Values of the template's own parameters. */
static bool read_with(struct workload *w, const struct doc_at *template, const struct doc_at *item,
	const struct scope *outer, struct scope *scope, struct err *err)
{
	struct doc_at list, with = *item, at;
	*scope = (struct scope){.outer = outer};
	bool has_list = doc_find(template, "parameters", &list),
	     has_with = doc_find(item, "with", &with);
	if (has_list && !doc_array(list, 1, err))
		return false;
	uint32_t n = has_list ? (uint32_t)doc_length(list) : 0;
	struct variable *variables = arena_array(w->a, n, struct variable);
	const char **keys = arena_array(w->a, n + 1, const char *);
	for (uint32_t i = 0; i < n; i++)
		if (!doc_string(doc_item(&list, i), &keys[i], err))
			return false;
	if (has_with && !doc_object(with, keys, err))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!has_with)
			return doc_fail(
				*item, err, "missing key 'with' for parameter '%s'", keys[i]);
		if (!doc_get(&with, keys[i], &at, err) ||
			!workload_number(at, outer, 0, &variables[i].value, err))
			return false;
		variables[i].name = keys[i];
	}
	scope->variables = variables;
	scope->n = n;
	return true;
}

static bool find_template(
	struct workload *w, const struct doc_at *item, struct doc_at *template, struct err *err)
{
	static const char *const keys[] = {"inputs", "parameters", "ops", NULL};
	struct doc_at at;
	const char *name;
	if (!doc_get(item, "use", &at, err) || !doc_string(at, &name, err))
		return false;
	if (!w->has_templates || !doc_find(&w->templates, name, template))
		return doc_fail(at, err, "there is no template '%s'", name);
	if (w->depth >= MAX_DEPTH)
		return doc_fail(at, err, "templates within templates go deeper than %d", MAX_DEPTH);
	return doc_object(*template, keys, err);
}

struct bound {
	tensor_id *ids;
	uint32_t n;
};

/* What an instance of a template reads; `first` replaces the first input unless it is GRAPH_NONE. */
static bool find_inputs(struct workload *w, const struct doc_at *item, const struct place *place,
	tensor_id first, struct bound *to, struct err *err)
{
	const tensor_id *ids;
	if (!workload_inputs(w, item, place, &ids, &to->n, err))
		return false;
	to->ids = arena_array(w->a, to->n, tensor_id);
	memcpy(to->ids, ids, to->n * sizeof(*ids));
	if (first != GRAPH_NONE)
		to->ids[0] = first;
	return true;
}

static bool bind_inputs(struct workload *w, const struct doc_at *template,
	const struct doc_at *item, struct place *inside, const struct bound *to, struct err *err)
{
	struct doc_at list;
	const char *name;
	if (!doc_get(template, "inputs", &list, err) || !doc_array(list, 1, err))
		return false;
	if (doc_length(list) != to->n)
		return doc_fail(*item, err, "the template takes %zu inputs, there are %u",
			doc_length(list), to->n);
	for (uint32_t i = 0; i < to->n; i++) {
		if (!doc_string(doc_item(&list, i), &name, err))
			return false;
		place_add(w, inside, name, to->ids[i]);
	}
	inside->last = to->ids[0];
	return true;
}

/* One instance of a template. `result` is its first input unless GRAPH_NONE, and then its result. */
static bool read_use(struct workload *w, const struct doc_at *item, struct place *place,
	const char *prefix, tensor_id *result, struct err *err)
{
	struct doc_at template, ops;
	struct scope scope;
	struct place inside = {.outer = &w->inputs,
		.scope = &scope,
		.prefix = prefix,
		.recompute = place->recompute};
	struct bound inputs;
	if (!find_template(w, item, &template, err) ||
		!find_inputs(w, item, place, *result, &inputs, err) ||
		!read_with(w, &template, item, place->scope, &scope, err) ||
		!bind_inputs(w, &template, item, &inside, &inputs, err) ||
		!doc_get(&template, "ops", &ops, err))
		return false;
	w->depth++;
	bool ok = workload_items(w, &ops, &inside, err);
	w->depth--;
	*result = inside.last;
	return ok;
}

static bool read_group(struct workload *w, const struct doc_at *item, struct place *place,
	const char *prefix, tensor_id *last, struct err *err)
{
	struct doc_at ops;
	struct place inside = {.outer = place,
		.scope = place->scope,
		.prefix = prefix,
		.recompute = place->recompute};
	inside.last = *last != GRAPH_NONE ? *last : place->last;
	if (!doc_get(item, "ops", &ops, err) || !workload_items(w, &ops, &inside, err))
		return false;
	*last = inside.last;
	return true;
}

static bool read_repeat(struct workload *w, const struct doc_at *item, const struct place *place,
	uint64_t *repeat, bool *numbered, struct err *err)
{
	struct doc_at at;
	*repeat = 1;
	*numbered = doc_find(item, "repeat", &at);
	if (!*numbered)
		return true;
	if (!workload_number(at, place->scope, 1, repeat, err))
		return false;
	return *repeat <= BUILDER_MAX_OPS ||
	       doc_fail(at, err, "expected at most %d repetitions", BUILDER_MAX_OPS);
}

static bool read_block(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err)
{
	static const char *const use_keys[] = {
		"use", "name", "in", "with", "repeat", "glue", "cut", "recompute", "if", NULL};
	static const char *const group_keys[] = {
		"ops", "name", "repeat", "glue", "cut", "recompute", "if", NULL};
	struct doc_at at;
	const char *name;
	uint64_t repeat;
	struct place outer = *place; /* as the item sees it */
	bool numbered, use = doc_find(item, "use", &at);
	tensor_id last = GRAPH_NONE;
	if (!doc_object(*item, use ? use_keys : group_keys, err) ||
		!doc_get(item, "name", &at, err) || !doc_string(at, &name, err) ||
		!read_repeat(w, item, place, &repeat, &numbered, err))
		return false;
	if (!place->top && (doc_find(item, "glue", &at) || doc_find(item, "cut", &at)))
		return doc_fail(at, err, "'%s' stands only in items of 'layers'", at.key);
	if (doc_find(item, "recompute", &at) && !doc_bool(at, &outer.recompute, err))
		return false;
	for (uint64_t i = 0; i < repeat; i++) {
		const char *full = numbered ? arena_printf(w->a, "%s%s.%llu", place->prefix, name,
						      (unsigned long long)i)
					    : arena_printf(w->a, "%s%s", place->prefix, name);
		const char *prefix = arena_printf(w->a, "%s.", full);
		if (place->top && !begin_layer(w, item, full, i, err))
			return false;
		if (use ? !read_use(w, item, &outer, prefix, &last, err)
			: !read_group(w, item, &outer, prefix, &last, err))
			return false;
	}
	place_add(w, place, name, last);
	place->last = last;
	return true;
}

/* "if": 0 leaves the item out. */
static bool is_skipped(
	const struct doc_at *item, const struct place *place, bool *skipped, struct err *err)
{
	struct doc_at at;
	uint64_t value = 1;
	if (doc_find(item, "if", &at) && !workload_number(at, place->scope, 0, &value, err))
		return false;
	*skipped = value == 0;
	return true;
}

static bool read_item(
	struct workload *w, const struct doc_at *item, struct place *place, struct err *err)
{
	struct doc_at at;
	bool skipped = false;
	if (!json_is_object(item->value))
		return doc_fail(*item, err, "expected an object");
	if (!is_skipped(item, place, &skipped, err))
		return false;
	if (skipped)
		return true;
	if (doc_find(item, "use", &at) || doc_find(item, "ops", &at))
		return read_block(w, item, place, err);
	if (doc_find(item, "parameter", &at))
		return workload_parameter(w, item, place, err);
	if (!doc_find(item, "op", &at))
		return doc_fail(*item, err,
			"expected an item with one of the keys 'op', 'use', 'ops' and 'parameter'");
	if (place->top)
		return doc_fail(*item, err,
			"an operator stands in the 'ops' of a layer, not among the layers");
	return workload_op(w, item, place, err);
}

bool workload_items(
	struct workload *w, const struct doc_at *list, struct place *place, struct err *err)
{
	if (!doc_array(*list, 1, err))
		return false;
	for (size_t i = 0; i < doc_length(*list); i++) {
		struct doc_at item = doc_item(list, i);
		if (!read_item(w, &item, place, err))
			return false;
	}
	return true;
}
