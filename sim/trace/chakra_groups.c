/* Who takes part in a collective. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "trace/chakra.h"

static struct et_group *find_group(struct et_set *set, const char *name)
{
	for (uint32_t i = 0; i < set->n_groups; i++)
		if (strcmp(set->groups[i].name, name) == 0)
			return &set->groups[i];
	return NULL;
}

static int rank_order(const void *x, const void *y)
{
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* `ranks` is the caller's, in any order. False with the reason in `err`, without a path. */
static bool add_group(
	struct et_set *set, const char *name, uint32_t *ranks, uint32_t n, struct err *err)
{
	if (n > 0)
		qsort(ranks, n, sizeof(*ranks), rank_order);
	for (uint32_t i = 0; i < n; i++) {
		if (ranks[i] >= set->n_ranks)
			return err_set(err, ERR_INPUT,
				"group '%s' has rank %" PRIu32 ", the set has ranks 0 to %" PRIu32,
				name, ranks[i], set->n_ranks - 1);
		if (i > 0 && ranks[i] == ranks[i - 1])
			return err_set(err, ERR_INPUT, "group '%s' has rank %" PRIu32 " twice",
				name, ranks[i]);
	}
	const struct et_group *known = find_group(set, name);
	if (known)
		return (known->n_ranks == n &&
			       (n == 0 || memcmp(known->ranks, ranks, n * sizeof(*ranks)) == 0)) ||
		       err_set(err, ERR_INPUT, "group '%s' is given twice with other ranks", name);
	arena_push(set->a, set->groups, set->n_groups, set->cap_groups) =
		(struct et_group){arena_strdup(set->a, name), ranks, n};
	return true;
}

static bool read_ranks(
	struct et_set *set, struct doc_at list, uint32_t **ranks, uint32_t *n, struct err *err)
{
	if (!doc_array(list, 0, err))
		return false;
	*n = (uint32_t)doc_length(list);
	*ranks = arena_array(set->a, *n, uint32_t);
	for (uint32_t i = 0; i < *n; i++) {
		uint64_t v;
		if (!doc_uint(doc_item(&list, i), 0, PROG_MAX_RANKS - 1, &v, err))
			return false;
		(*ranks)[i] = (uint32_t)v;
	}
	return true;
}

static bool read_lists(struct et_set *set, const struct doc_at *root, struct err *err)
{
	if (!json_is_object(root->value))
		return doc_fail(*root, err, "expected an object of groups, {\"1\": [0, 1]}");
	for (void *i = json_object_iter(root->value); i;
		i = json_object_iter_next(root->value, i)) {
		const char *name = json_object_iter_key(i);
		struct doc_at list;
		uint32_t *ranks, n;
		struct err why = {0};
		if (!doc_get(root, name, &list, err) || !read_ranks(set, list, &ranks, &n, err))
			return false;
		if (!add_group(set, name, ranks, n, &why))
			return doc_fail(list, err, "%s", why.text);
	}
	return true;
}

bool et_read_groups(struct et_set *set, const struct trace_file *file, struct err *err)
{
	struct doc doc;
	if (!doc_parse(&doc, file->path, file->content, err))
		return false;
	struct doc_at root = doc_root(&doc);
	bool ok = read_lists(set, &root, err);
	doc_finish(&doc);
	return ok;
}

/* One element of process_group:init: {"pg_name": "0", "ranks": [0, 1], ...}. Other forms are passed
 * over. */
static bool read_described(struct et_set *set, struct doc_at item, struct err *err)
{
	struct doc_at name, list;
	const char *text;
	uint32_t *ranks, n;
	if (!json_is_object(item.value) || !doc_find(&item, "pg_name", &name) ||
		!doc_find(&item, "ranks", &list) || !json_is_string(name.value))
		return true;
	text = json_string_value(name.value);
	if (!read_ranks(set, list, &ranks, &n, err))
		return false;
	return n == 0 || add_group(set, text, ranks, n, err);
}

/* The text is a JSON list within a Python list of one string: ['[{...}]'] or ["[{...}]"]. */
static bool read_init(
	struct et_set *set, const struct et_rank *rank, const struct et_node *node, struct err *err)
{
	const char *open = strchr(node->in_values, '{'), *close = strrchr(node->in_values, '}');
	struct doc doc;
	struct err why = {0};
	if (!open || !close || close < open)
		return true;
	const char *json = arena_printf(set->a, "[%.*s]", (int)(close - open + 1), open);
	bool ok = doc_parse(
		&doc, et_place(set->a, rank, node), (struct bytes){json, strlen(json)}, &why);
	if (!ok) {
		doc_finish(&doc);
		trace_warn(set->a, set->trace, "unread_process_group", "%s", why.text);
		return true;
	}
	struct doc_at root = doc_root(&doc);
	for (size_t i = 0; ok && i < doc_length(root); i++)
		ok = read_described(set, doc_item(&root, i), &why);
	doc_finish(&doc);
	return ok || err_set(err, ERR_INPUT, "%s: %s", et_place(set->a, rank, node), why.text);
}

static struct et_group *group_of_all(struct et_set *set)
{
	struct et_group *g = find_group(set, "0");
	uint32_t *ranks;
	struct err none = {0};
	if (g)
		return g;
	ranks = arena_array(set->a, set->n_ranks, uint32_t);
	for (uint32_t i = 0; i < set->n_ranks; i++)
		ranks[i] = i;
	add_group(set, "0", ranks, set->n_ranks, &none);
	return find_group(set, "0");
}

static const char *group_name(struct et_set *set, const struct et_node *node)
{
	if (node->pg_name && node->pg_name[0])
		return node->pg_name;
	if (et_has(node, KEY_COMM_GROUP))
		return arena_printf(set->a, "%" PRIi64, node->value[KEY_COMM_GROUP]);
	return "0";
}

static bool is_member(const struct et_group *g, uint32_t rank)
{
	return bsearch(&rank, g->ranks, g->n_ranks, sizeof(rank), rank_order) != NULL;
}

static bool choose_group(struct et_set *set, uint32_t r, struct et_node *node, struct err *err)
{
	const struct et_rank *rank = &set->ranks[r];
	const char *name = group_name(set, node);
	struct et_group *g = strcmp(name, "0") == 0 ? group_of_all(set) : find_group(set, name);
	bool some = et_has(node, KEY_INVOLVED_DIM) && node->value[KEY_INVOLVED_DIM] == 0;
	if ((!g || some) && !set->options->lenient)
		return err_set(err, ERR_INPUT, "%s: %s%s%s (--lenient takes all ranks)",
			et_place(set->a, rank, node),
			g ? "only some dimensions take part, which is not supported" : "group '",
			g ? "" : name,
			g ? ""
			  : "' is not known, expected a file of groups, {\"1\": [0, 1]}, in the "
			    "set");
	if (!g || some) {
		trace_warn(set->a, set->trace, "unknown_group", "%s: all ranks take part",
			et_place(set->a, rank, node));
		g = group_of_all(set);
	}
	if (!is_member(g, r))
		return err_set(err, ERR_INPUT, "%s: rank %" PRIu32 " is not in group '%s'",
			et_place(set->a, rank, node), r, g->name);
	node->group = (uint32_t)(g - set->groups);
	return true;
}

bool et_find_groups(struct et_set *set, struct err *err)
{
	for (uint32_t r = 0; r < set->n_ranks; r++)
		for (uint32_t i = 0; i < set->ranks[r].n_nodes; i++) {
			const struct et_node *node = &set->ranks[r].nodes[i];
			if (node->type == ET_METADATA && node->in_values &&
				strstr(node->name, "process_group:init") &&
				!read_init(set, &set->ranks[r], node, err))
				return false;
		}
	for (uint32_t r = 0; r < set->n_ranks; r++)
		for (uint32_t i = 0; i < set->ranks[r].n_nodes; i++)
			if (set->ranks[r].nodes[i].type == ET_COLL &&
				!choose_group(set, r, &set->ranks[r].nodes[i], err))
				return false;
	return true;
}
