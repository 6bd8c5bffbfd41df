#include "make.h"

#include "graph/op_kinds.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

static const char *source_path(struct arena *a, const char *folder, const char *name)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	return arena_printf(a, "%s/models/%s/%s.json", root ? root : ".", folder, name);
}

static void must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(2);
}

struct arch make_arch(struct arena *a)
{
	struct arch arch;
	struct err err = {0};
	must(arch_read(a, source_path(a, "accelerators", "tpuv2"), &arch, &err), &err);
	return arch;
}

struct graph make_model(struct arena *a, const char *name, const char *overrides, uint64_t batch)
{
	struct graph forward, fused, train;
	struct graph_options options = {.batch = batch};
	struct train_options train_options = {OPTIMIZER_ADAM};
	struct err err = {0};
	if (overrides)
		must(graph_parse_overrides(a, overrides, &options, &err), &err);
	must(graph_read(a, source_path(a, "workloads", name), &options, &forward, &err), &err);
	graph_fuse(a, &forward, &fused);
	graph_train(a, &fused, &train_options, &train);
	return train;
}

struct graph make_transformer(struct arena *a, const char *overrides)
{
	return make_model(a, "bert-base", overrides, 2);
}

struct graph make_graph(struct arena *a, uint32_t n)
{
	const char **layer_names = arena_new(a, const char *);
	*layer_names = "layer";
	return (struct graph){
		.name = "test",
		.ops = arena_array(a, n, struct op),
		.n_layers = 1,
		.layer_names = layer_names,
		.batch = 1,
		.tp = 1,
	};
}

static struct work make_work(struct arena *a, enum core core, uint64_t cycles)
{
	struct work w = {.core = core};
	if (core == CORE_TC || core == CORE_TC_VC) {
		w.batch = 1;
		w.m = cycles;
		w.n = w.k = 16;
	}
	if (core == CORE_VC || core == CORE_TC_VC) {
		struct vector_work *v = arena_new(a, struct vector_work);
		*v = (struct vector_work){VECTOR_ELEMENTWISE, cycles * 16, 1, 1};
		w.vector = v;
		w.n_vector = 1;
	}
	return w;
}

op_id make_op(struct arena *a, struct graph *g, const struct op_request *request)
{
	op_id id = g->n_ops++;
	struct op *op = &g->ops[id];
	*op = (struct op){
		.name = arena_printf(a, "op%u", (unsigned)id),
		.kind = op_kind_find("relu"),
		.pass = request->pass,
		.forward = request->forward == GRAPH_NONE ? id : request->forward,
		.work = make_work(a, request->core, request->cycles),
	};
	if (request->pred != GRAPH_NONE) {
		op_id *pred = arena_new(a, op_id);
		*pred = request->pred;
		op->preds = pred;
		op->n_preds = 1;
	}
	return id;
}

static enum core random_core(struct rng *rng)
{
	static const enum core cores[] = {CORE_TC, CORE_VC, CORE_TC_VC, CORE_NONE};
	return cores[rng_below(rng, 4)];
}

struct graph make_random_graph(struct arena *a, struct rng *rng, uint32_t n)
{
	struct graph g = make_graph(a, 2 * n);
	for (uint32_t i = 0; i < n; i++) {
		bool first = i == 0 || rng_below(rng, 3) == 0;
		op_id pred = first ? GRAPH_NONE : (op_id)rng_below(rng, i);
		make_op(a, &g,
			&(struct op_request){PASS_FORWARD, random_core(rng),
				100 + rng_below(rng, 2000), GRAPH_NONE, pred});
	}
	for (uint32_t i = 0; i < n; i++) {
		op_id mirrored = n - 1 - i;
		op_id pred = i == 0 || rng_below(rng, 3) == 0 ? GRAPH_NONE
							      : n + (op_id)rng_below(rng, i);
		make_op(a, &g,
			&(struct op_request){PASS_BACKWARD_DATA, random_core(rng),
				100 + rng_below(rng, 2000), mirrored, pred});
	}
	return g;
}

void make_setup(struct arena *a, const struct graph *train, struct setup *out)
{
	uint64_t batch = train->batch;
	*out = (struct setup){
		.workload =
			{
				.name = "test",
				.train = train,
				.degrees = {1, 1, 1, batch, batch},
				.options = {.optimizer = OPTIMIZER_ADAM},
				.weight = 1,
			},
		.config =
			{
				.n_workloads = 1,
				.base = make_arch(a),
				.metric = METRIC_THROUGHPUT,
				.mode = MODE_INDIVIDUAL,
				.space = {.min_dim = 16,
					.max_dim = 64,
					.max_count = 64,
					.min_sram_bytes = UINT64_C(2) << 20,
					.max_sram_bytes = UINT64_C(2) << 20},
				.budget = {.area_mm2 = 1e9, .tdp_w = 1e9},
				.top_k = 5,
				.hysteresis = 2,
				.jobs = 1,
			},
	};
	out->config.workloads = &out->workload;
}

void make_compare(const struct outcome *x, const struct outcome *y)
{
	CU_ASSERT_EQUAL(x->samples_per_s, y->samples_per_s);
	CU_ASSERT_EQUAL(x->step, y->step);
	CU_ASSERT_EQUAL(x->analytic_step, y->analytic_step);
	CU_ASSERT_EQUAL(x->energy_j_per_sample, y->energy_j_per_sample);
	CU_ASSERT_EQUAL(x->tc_utilisation, y->tc_utilisation);
	CU_ASSERT_EQUAL(x->vc_utilisation, y->vc_utilisation);
}
