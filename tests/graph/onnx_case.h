/* One small ONNX model and what became of it. */
#ifndef TESTS_GRAPH_ONNX_CASE_H
#define TESTS_GRAPH_ONNX_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/internal.h"
#include "graph/onnx.h"
#include "onnx_maker.h"
#include "suite.h"

#define DIMS(...) (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

struct onnx_case {
	struct arena arena;
	struct onnx_maker m;
	struct graph_options options;
	struct graph graph;
	struct err err;
};

static inline void case_init(struct onnx_case *c)
{
	*c = (struct onnx_case){0};
	maker_init(&c->m, &c->arena);
}

static inline bool case_reads(const struct onnx_case *c, const char *name)
{
	for (size_t i = 0; i < c->m.graph.n_node; i++)
		for (size_t j = 0; j < c->m.graph.node[i]->n_input; j++)
			if (strcmp(c->m.graph.node[i]->input[j], name) == 0)
				return true;
	for (size_t i = 0; i < c->m.graph.n_output; i++)
		if (strcmp(c->m.graph.output[i]->name, name) == 0)
			return true;
	return name[0] == '\0';
}

/* What no node reads becomes an output of the model, so that every node counts. */
static inline bool case_read(struct onnx_case *c)
{
	for (size_t i = 0; i < c->m.graph.n_node; i++)
		for (size_t j = 0; j < c->m.graph.node[i]->n_output; j++)
			if (!case_reads(c, c->m.graph.node[i]->output[j]))
				maker_output(&c->m, c->m.graph.node[i]->output[j]);
	return onnx_read(
		&c->arena, "case.onnx", maker_pack(&c->m), &c->options, &c->graph, &c->err);
}

static inline void case_finish(struct onnx_case *c)
{
	arena_free(&c->arena);
}

static inline const struct op *case_op(const struct onnx_case *c, const char *name)
{
	for (uint32_t i = 0; i < c->graph.n_ops; i++)
		if (strcmp(c->graph.ops[i].name, name) == 0)
			return &c->graph.ops[i];
	printf("\n  no operator is called '%s'\n", name);
	abort();
}

/* The first output of an operator has exactly these dimensions. */
static inline bool case_shape(
	const struct onnx_case *c, const char *op, const int64_t *dims, size_t n)
{
	const struct tensor *t = &c->graph.tensors[case_op(c, op)->outputs[0]];
	bool same = t->n_dims == n;
	for (size_t i = 0; same && i < n; i++)
		same = t->dims[i] == (uint64_t)dims[i];
	return same;
}

/* Reading fails as ERR_INPUT (or `kind`), the text names the file and holds `part`. */
static inline void case_fails(struct onnx_case *c, enum err_kind kind, const char *part)
{
	bool ok = case_read(c);
	CU_ASSERT_FALSE(ok);
	CU_ASSERT_EQUAL(c->err.kind, kind);
	CU_ASSERT_EQUAL(strncmp(c->err.text, "case.onnx: ", 11), 0);
	if (ok || !strstr(c->err.text, part))
		printf("\n  expected '%s' in '%s'\n", part, c->err.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(c->err.text, part));
	case_finish(c);
}

#endif
