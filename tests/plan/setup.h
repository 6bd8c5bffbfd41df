/* Graphs, accelerators and plans for the tests of plan/. */
#ifndef TESTS_PLAN_SETUP_H
#define TESTS_PLAN_SETUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "suite.h"

enum { TINY_BATCH = 2, TINY_LAYERS = 6, TINY_LAYER_PARAMETERS = 33216 };

static inline const char *setup_path(struct arena *a, const char *name)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	return arena_printf(a, "%s/%s", root ? root : ".", name);
}

static inline struct arch setup_arch(struct arena *a)
{
	struct err err = {0};
	struct arch arch = {0};
	bool read = arch_read(a, setup_path(a, "models/accelerators/tpuv2.json"), &arch, &err);
	if (!read)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(read);
	return arch;
}

/* A training graph, fused or not. */
static inline struct graph setup_train(struct arena *a, const char *file,
	const struct graph_options *options, bool fuse, enum optimizer optimizer)
{
	struct err err = {0};
	struct graph forward = {0}, fused = {0}, train = {0};
	bool read = graph_read(a, setup_path(a, file), options, &forward, &err);
	if (!read)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(read);
	if (fuse)
		graph_fuse(a, &forward, &fused);
	graph_train(a, fuse ? &fused : &forward, &(struct train_options){optimizer}, &train);
	return train;
}

static inline struct graph setup_tiny(struct arena *a, uint32_t tp)
{
	struct graph_options options = {.batch = TINY_BATCH, .tp = tp};
	return setup_train(a, "tests/plan/tiny.json", &options, false, OPTIMIZER_ADAM);
}

static inline struct degrees setup_degrees(uint32_t pp, uint32_t tp, uint32_t dp, uint32_t m)
{
	return (struct degrees){.pp = pp,
		.tp = tp,
		.dp = dp,
		.batch = (uint64_t)TINY_BATCH * dp * m,
		.micro_batch = TINY_BATCH};
}

/* Builds and checks; the test ends when either fails. */
static inline struct plan setup_plan(struct arena *a, const struct graph *train,
	const struct arch *arch, const struct degrees *d, const struct plan_options *options)
{
	struct err err = {0};
	struct plan plan = {0};
	struct plan_input in = {train, arch, 1, d, options};
	bool built = plan_build(a, &in, &plan, &err) && prog_check(&plan.prog, &err);
	if (!built)
		printf("\npp %u tp %u dp %u: %s\n", (unsigned)d->pp, (unsigned)d->tp,
			(unsigned)d->dp, err.text);
	CU_ASSERT_TRUE_FATAL(built);
	return plan;
}

static inline tick setup_cost(const struct plan *plan, const char *key)
{
	for (uint32_t i = 0; i < plan->prog.n_costs; i++)
		if (strcmp(plan->prog.costs[i].key, key) == 0)
			return plan->prog.costs[i].duration;
	return TICK_MAX;
}

#endif
