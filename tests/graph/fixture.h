/* Small graphs for tests: built operator by operator, or read from the shipped workload files. */
#ifndef TESTS_GRAPH_FIXTURE_H
#define TESTS_GRAPH_FIXTURE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "graph/internal.h"
#include "suite.h"

enum { ALL_PASSES = 0xf };

struct fixture {
	struct arena a;
	struct builder b;
	struct err err;
};

static inline void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	builder_init(&f->b, &f->a, 2);
	builder_begin_layer(&f->b, "layer");
}

static inline tensor_id fixture_tensor(struct fixture *f, const char *name, enum tensor_class class,
	uint32_t n_dims, const uint64_t *dims)
{
	struct tensor t = {.name = name, .class = class, .n_dims = n_dims};
	tensor_id id = 0;
	for (uint32_t i = 0; i < n_dims; i++)
		t.dims[i] = dims[i];
	CU_ASSERT_TRUE_FATAL(builder_add_tensor(&f->b, &t, &id, &f->err));
	return id;
}

#define TENSOR(f, name, class, ...) \
	fixture_tensor((f), (name), (class), \
		(uint32_t)(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), \
		(const uint64_t[]){__VA_ARGS__})

static inline tensor_id fixture_op(struct fixture *f, const char *kind, const char *name,
	const struct op_attrs *attrs, const tensor_id *inputs, uint32_t n)
{
	struct op_request r = {.name = name, .kind = kind, .inputs = inputs, .n_inputs = n};
	op_id op = 0;
	if (attrs)
		r.attrs = *attrs;
	bool ok = builder_add_op(&f->b, &r, &op, &f->err);
	if (!ok)
		printf("%s\n", f->err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return builder_output(&f->b, op, 0);
}

#define OP(f, kind, name, attrs, ...) \
	fixture_op((f), (kind), (name), (attrs), (const tensor_id[]){__VA_ARGS__}, \
		(uint32_t)(sizeof((tensor_id[]){__VA_ARGS__}) / sizeof(tensor_id)))

static inline struct graph fixture_finish(struct fixture *f)
{
	struct graph g = {0};
	CU_ASSERT_TRUE_FATAL(builder_finish(&f->b, &g, &f->err));
	return g;
}

/* The operator called `name`, or NULL. */
static inline const struct op *find_op(const struct graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->n_ops; i++)
		if (strcmp(g->ops[i].name, name) == 0)
			return &g->ops[i];
	return NULL;
}

/* The operator called `name`, which must be there. */
static inline const struct op *get_op(const struct graph *g, const char *name)
{
	const struct op *op = find_op(g, name);
	if (!op) {
		printf("\nno operator '%s'\n", name);
		CU_FAIL_FATAL("no such operator");
		abort(); /* not reached; the compiler does not know */
	}
	return op;
}

static inline const char *model_path(struct arena *a, const char *name)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	return arena_printf(a, "%s/models/workloads/%s.json", root ? root : ".", name);
}

/* Reads a shipped model; `overrides` may be NULL. */
static inline bool try_model(struct arena *a, const char *name, const char *overrides, uint32_t tp,
	struct graph *g, struct err *err)
{
	struct graph_options o = {.batch = 1, .tp = tp};
	if (overrides && !graph_parse_overrides(a, overrides, &o, err))
		return false;
	return graph_read(a, model_path(a, name), &o, g, err);
}

static inline struct graph read_model(
	struct arena *a, const char *name, const char *overrides, uint32_t tp)
{
	struct graph g = {0};
	struct err err = {0};
	bool ok = try_model(a, name, overrides, tp, &g, &err);
	if (!ok)
		printf("%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return g;
}

#endif
