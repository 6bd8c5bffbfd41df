/* A graph for people: lines, or Graphviz. */
#include <inttypes.h>

#include "report/internal.h"

static void add_work(struct text *out, const struct work *w)
{
	if (w->batch > 0)
		text_add(out,
			" gemm=%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64 " gemm_bytes=%" PRIu64,
			w->batch, w->m, w->n, w->k, w->a_bytes + w->b_bytes + w->c_bytes);
	for (uint32_t i = 0; i < w->n_vector; i++)
		text_add(out, "%s%" PRIu64 "*%" PRIu32, i ? "," : " vector=", w->vector[i].numel,
			w->vector[i].lane_cycles);
	if (w->n_vector > 0)
		text_add(out, " vector_bytes=%" PRIu64,
			w->vector_read_bytes + w->vector_write_bytes);
	if (w->core == CORE_LINK)
		text_add(out, " link_bytes=%" PRIu64, w->collective_bytes);
}

void report_graph_text(const struct graph *g, struct text *out)
{
	text_add(out,
		"# %s: %" PRIu32 " operators in %" PRIu32 " layers, micro-batch %" PRIu64
		", tp %" PRIu32 "\n",
		g->name, g->n_ops, g->n_layers, g->batch, g->tp);
	text_add(out, "# id name kind pass layer core work after=ids; gemm is batch x m x n x k, "
		      "vector elements * lane cycles\n");
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		text_add(out, "%" PRIu32 " %s %s %s %s %s", i, op->name, op_kind_name(op->kind),
			op_pass_name(op->pass), g->layer_names[op->layer],
			core_name(op->work.core));
		add_work(out, &op->work);
		for (uint32_t p = 0; p < op->n_preds; p++)
			text_add(out, "%s%" PRIu32, p ? "," : " after=", op->preds[p]);
		text_add(out, "\n");
	}
}

/* In double quotes. */
static void add_quoted(struct text *out, const char *s)
{
	text_add(out, "\"");
	for (; *s; s++)
		text_add(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	text_add(out, "\"");
}

static const char *color_of(enum core core)
{
	switch (core) {
	case CORE_NONE:
		return "white";
	case CORE_TC:
		return "lightblue";
	case CORE_VC:
		return "palegreen";
	case CORE_TC_VC:
		return "paleturquoise";
	case CORE_LINK:
		return "lightsalmon";
	}
	return "";
}

static void add_node(struct text *out, uint32_t id, const struct op *op)
{
	struct arena a = {0};
	const struct work *w = &op->work;
	const char *size =
		w->batch > 0
			? arena_printf(&a, "\n%" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64,
				  w->batch, w->m, w->n, w->k)
			: "";
	text_add(out, "\t\tn%" PRIu32 " [fillcolor=%s, label=", id, color_of(w->core));
	add_quoted(out, arena_printf(&a, "%s\n%s%s", op->name, op_kind_name(op->kind), size));
	text_add(out, "];\n");
	arena_free(&a);
}

/* One box for each layer and pass, so that forward and backward stand side by side. */
static void add_cluster(
	struct text *out, const struct graph *g, uint32_t layer, enum op_pass pass, uint32_t *at)
{
	text_add(out, "\tsubgraph cluster_%" PRIu32 " {\n\t\tlabel=", *at);
	add_quoted(out, g->layer_names[layer]);
	text_add(out, ";\n");
	for (; *at < g->n_ops && g->ops[*at].layer == layer && g->ops[*at].pass == pass; (*at)++)
		add_node(out, *at, &g->ops[*at]);
	text_add(out, "\t}\n");
}

void report_graph_dot(const struct graph *g, struct text *out)
{
	text_add(out, "digraph ");
	add_quoted(out, g->name);
	text_add(out, " {\n\tnode [shape=box, style=filled, fontsize=10];\n");
	for (uint32_t i = 0; i < g->n_ops;)
		add_cluster(out, g, g->ops[i].layer, g->ops[i].pass, &i);
	for (uint32_t i = 0; i < g->n_ops; i++)
		for (uint32_t p = 0; p < g->ops[i].n_preds; p++)
			text_add(out, "\tn%" PRIu32 " -> n%" PRIu32 ";\n", g->ops[i].preds[p], i);
	text_add(out, "}\n");
}
