#include "graph/onnx_internal.h"

#include <stdlib.h>
#include <string.h>

/* What is settled before the first node is read: operators that are known, names that are
 * unique. */

enum { MAX_LISTED = 12 };

static const char *op_type(const Onnx__NodeProto *node)
{
	return node->op_type ? node->op_type : "";
}

/* "com.microsoft.FusedConv", or the bare name for those of ONNX itself. */
static const char *full_type(struct onnx_reader *r, const Onnx__NodeProto *node)
{
	bool standard = !node->domain || !node->domain[0] || strcmp(node->domain, "ai.onnx") == 0;
	return standard ? op_type(node)
			: arena_printf(r->scratch, "%s.%s", node->domain, op_type(node));
}

struct occurrence {
	const char *text; /* type or name of a node */
	size_t node;      /* in the order of the file */
};

static int occurrence_order(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int order = strcmp(x->text, y->text);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static bool has_subgraph(const Onnx__NodeProto *node)
{
	for (size_t i = 0; i < node->n_attribute; i++)
		if (node->attribute[i]->g || node->attribute[i]->n_graphs > 0)
			return true;
	return false;
}

/* One operator type: name, count, where it stands first. */
static void list_type(
	const Onnx__GraphProto *g, const struct occurrence *first, size_t n, struct text *t)
{
	const Onnx__NodeProto *node = g->node[first->node];
	text_add(t, "%s%s (%zu node%s, first ", t->n > 0 ? ", " : "", first->text, n,
		n > 1 ? "s" : "");
	if (node->name && node->name[0])
		text_add(t, "'%s'", node->name);
	else
		text_add(t, "node %zu", first->node);
	text_add(t, "%s)", has_subgraph(node) ? ", which has subgraphs: control flow" : "");
}

static void warn_unknown(struct onnx_reader *r, const char *text, size_t n)
{
	arena_push(r->a, r->warnings, r->n_warnings, r->cap_warnings) = (struct graph_warning){
		.code = "unknown_operator",
		.text = arena_printf(r->a, "%s: taken as free: %s", r->path, text),
		.count = (uint32_t)n,
	};
}

/* Names each type once, for the error or in one warning each. */
static bool blame_unknown(struct onnx_reader *r, const Onnx__GraphProto *g, struct occurrence *list,
	size_t n, struct err *err)
{
	struct text t = {0};
	size_t n_types = 0;
	qsort(list, n, sizeof(*list), occurrence_order);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && strcmp(list[j].text, list[i].text) == 0; j++)
			;
		if (r->options->lenient) {
			struct text one = {0};
			list_type(g, &list[i], j - i, &one);
			warn_unknown(r, one.data, j - i);
			text_free(&one);
		} else if (n_types++ < MAX_LISTED) {
			list_type(g, &list[i], j - i, &t);
		}
	}
	if (n_types > MAX_LISTED)
		text_add(&t, " and %zu more", n_types - MAX_LISTED);
	if (!r->options->lenient)
		err_set(err, ERR_INPUT, "%zu operator%s not supported: %s", n_types,
			n_types > 1 ? "s are" : " is", t.data);
	text_free(&t);
	return r->options->lenient;
}

const struct onnx_op *onnx_op_of(struct onnx_reader *r, const Onnx__NodeProto *node)
{
	static const struct onnx_op unknown = {
		"", NULL, TRAINED_NONE, 0, SIZE_MAX, NULL, onnx_build_unknown};
	const struct onnx_op *op = onnx_find_op(full_type(r, node));
	return op ? op : &unknown;
}

bool onnx_check_operators(struct onnx_reader *r, const Onnx__GraphProto *g, struct err *err)
{
	struct occurrence *list = arena_array(r->scratch, g->n_node, struct occurrence);
	size_t n = 0;
	for (size_t i = 0; i < g->n_node; i++) {
		const char *type = full_type(r, g->node[i]);
		if (!onnx_find_op(type))
			list[n++] = (struct occurrence){type, i};
	}
	return n == 0 || blame_unknown(r, g, list, n, err);
}

static const char *numbered(struct onnx_reader *r, size_t node)
{
	return arena_printf(r->scratch, "%s%s.%zu", r->scope->prefix,
		op_type(r->scope->graph->node[node]), node);
}

/* Replaces second uses of a name by numbered ones. False when there were some. */
static bool separate(struct onnx_reader *r, struct occurrence *list, const char **names)
{
	size_t n = r->scope->graph->n_node;
	bool unique = true;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct occurrence){names[i], i};
	qsort(list, n, sizeof(*list), occurrence_order);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(list[i].text, list[i - 1].text) != 0)
			continue;
		names[list[i].node] = numbered(r, list[i].node);
		unique = false;
	}
	return unique;
}

const char **onnx_name_nodes(struct onnx_reader *r)
{
	const Onnx__GraphProto *g = r->scope->graph;
	const char **names = arena_array(r->scratch, g->n_node, const char *);
	struct occurrence *list = arena_array(r->scratch, g->n_node, struct occurrence);
	for (size_t i = 0; i < g->n_node; i++)
		names[i] = g->node[i]->name && g->node[i]->name[0]
				   ? arena_printf(
					     r->scratch, "%s%s", r->scope->prefix, g->node[i]->name)
				   : numbered(r, i);
	bool unique = separate(r, list, names);
	if (!unique) /* a numbered name may be another node's own */
		unique = separate(r, list, names);
	if (!unique)
		for (size_t i = 0; i < g->n_node; i++)
			names[i] = numbered(r, i);
	return names;
}
