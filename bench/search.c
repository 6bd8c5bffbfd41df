/* Mines an accelerator for BERT-large within TPUv2's area and TDP, and compares with the
 * exhaustive run on the reduced space R, C, V in {16 .. 256} with TPUv2's buffer: oracle calls
 * and CPU seconds. Asserts that the best design beats TPUv2, that the search takes less than 5 s
 * of CPU time, and that it comes within 1 % of the exhaustive optimum with at most a hundredth
 * of the CPU time. usage: bench_search SOURCE_ROOT [MODEL [MICRO_BATCH]] */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "search/search.h"

struct timed {
	struct search_result result;
	double cpu_s;
};

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit((int)err->kind);
}

static struct graph load_graph(
	struct arena *a, const char *root, const char *model, uint64_t micro_batch)
{
	struct graph forward, fused, train;
	struct graph_options options = {.batch = micro_batch};
	struct train_options adam = {OPTIMIZER_ADAM};
	struct err err = {0};
	const char *path = arena_printf(a, "%s/models/workloads/%s.json", root, model);
	must(graph_read(a, path, &options, &forward, &err), &err);
	graph_fuse(a, &forward, &fused);
	graph_train(a, &fused, &adam, &train);
	return train;
}

static struct timed run(struct arena *a, const char *algo, const struct search_config *config)
{
	struct timed t;
	struct err err = {0};
	const struct search_algo *algorithm = search_algo_get(algo, &err);
	must(algorithm != NULL, &err);
	double start = cpu_s();
	must(search_run(a, algorithm, config, &t.result, &err), &err);
	t.cpu_s = cpu_s() - start;
	return t;
}

static void print_run(const char *what, const struct timed *t)
{
	const struct finalist *best = &t->result.finalists[0];
	const struct design *d = &best->design;
	printf("%-22s %7" PRIu64 " calls %9.3f s  best %u x %ux%u, %u x %u, %" PRIu64
	       " MiB: %.3f samples/s\n",
		what, t->result.oracle_calls, t->cpu_s, d->tc, d->rows, d->cols, d->vc, d->width,
		d->sram_bytes >> 20, best->outcomes[0].samples_per_s);
}

static void compare_reduced(struct arena *a, struct search_config config)
{
	config.n_baselines = 0;
	config.space.min_dim = 16;
	config.space.min_sram_bytes = config.space.max_sram_bytes = config.base.sram_bytes;
	struct timed wham = run(a, "wham", &config), all = run(a, "exhaustive", &config);
	print_run("wham, reduced", &wham);
	print_run("exhaustive, reduced", &all);
	double gap = 1 - wham.result.finalists[0].score / all.result.finalists[0].score;
	printf("exhaustive / wham: %.0f times the calls, %.0f times the CPU time; gap %.3f %%\n",
		(double)all.result.oracle_calls / (double)wham.result.oracle_calls,
		all.cpu_s / wham.cpu_s, 100 * gap);
	assert(gap <= 0.01);
	assert(wham.cpu_s * 100 < all.cpu_s);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: bench_search SOURCE_ROOT [MODEL [MICRO_BATCH]]\n");
		return 2;
	}
	struct arena a = {0};
	struct err err = {0};
	struct arch tpu;
	const char *model = argc > 2 ? argv[2] : "bert-large";
	uint64_t batch = argc > 3 ? strtoull(argv[3], NULL, 10) : 8;
	must(arch_read(&a, arena_printf(&a, "%s/models/accelerators/tpuv2.json", argv[1]), &tpu,
		     &err),
		&err);
	struct graph train = load_graph(&a, argv[1], model, batch);
	struct workload workload = {
		.name = model,
		.train = &train,
		.degrees = {1, 1, 1, batch, batch},
		.options = {.optimizer = OPTIMIZER_ADAM},
		.weight = 1,
	};
	struct search_config config = {
		.workloads = &workload,
		.n_workloads = 1,
		.base = tpu,
		.baselines = &tpu,
		.n_baselines = 1,
		.space = {.min_dim = 4,
			.max_dim = 256,
			.max_count = 4096,
			.min_sram_bytes = UINT64_C(2) << 20,
			.max_sram_bytes = UINT64_C(128) << 20},
		.budget = {arch_area_mm2(&tpu), arch_tdp_w(&tpu), 0},
		.top_k = 10,
		.hysteresis = 2,
		.jobs = 1,
	};
	struct timed whole = run(&a, "wham", &config);
	print_run("wham", &whole);
	printf("%.3f times TPUv2 (%.3f samples/s)\n", whole.result.finalists[0].ratios[0],
		whole.result.baselines[0].outcomes[0].samples_per_s);
	assert(whole.result.finalists[0].ratios[0] > 1);
	assert(whole.cpu_s < 5);
	compare_reduced(&a, config);
	arena_free(&a);
	return 0;
}
