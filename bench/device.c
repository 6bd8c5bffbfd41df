/* How fast one device executes a transformer's training graph: operator events (a start or an
 * end) per second of CPU time, on few cores with everybody waiting for memory, and on many.
 * Asserts at least 2 million. Then the same graph with more and more layers: time of prepare and
 * run as a power of the number of operators, fitted; asserts an exponent below 1.2.
 * usage: bench_device [LAYERS [RUNS]] */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "arch/arch.h"
#include "device/device.h"

enum { TOKENS = 512, HIDDEN = 1024, HEADS = 16 };

struct builder {
	struct arena a;
	struct op *ops;
	uint32_t n, cap;
};

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static op_id add_op(struct builder *b, struct work work, op_id pred, op_id other)
{
	op_id *preds = arena_array(&b->a, 2, op_id);
	uint32_t n = 0;
	if (pred != GRAPH_NONE)
		preds[n++] = pred;
	if (other != GRAPH_NONE && other != pred)
		preds[n++] = other;
	op_id id = b->n;
	arena_push(&b->a, b->ops, b->n, b->cap) =
		(struct op){.work = work, .preds = preds, .n_preds = n};
	return id;
}

static op_id add_gemm(struct builder *b, op_id pred, op_id other, uint64_t batch, uint64_t m,
	uint64_t n, uint64_t k)
{
	struct work work = {
		.core = CORE_TC,
		.batch = batch,
		.m = m,
		.n = n,
		.k = k,
		.a_bytes = 2 * batch * m * k,
		.b_bytes = 2 * batch * k * n,
		.c_bytes = 2 * batch * m * n,
	};
	return add_op(b, work, pred, other);
}

static op_id add_vector(struct builder *b, op_id pred, op_id other, uint64_t numel, uint32_t cycles)
{
	struct vector_work *v = arena_new(&b->a, struct vector_work);
	*v = (struct vector_work){VECTOR_ELEMENTWISE, numel, 1, cycles};
	struct work work = {
		.core = CORE_VC,
		.vector = v,
		.n_vector = 1,
		.vector_read_bytes = 2 * numel,
		.vector_write_bytes = 2 * numel,
	};
	return add_op(b, work, pred, other);
}

static op_id add_forward(struct builder *b, op_id x)
{
	uint64_t tokens = TOKENS, wide = 4 * HIDDEN, head = HIDDEN / HEADS, numel = tokens * HIDDEN;
	op_id q = add_gemm(b, x, GRAPH_NONE, 1, tokens, HIDDEN, HIDDEN);
	op_id k = add_gemm(b, x, GRAPH_NONE, 1, tokens, HIDDEN, HIDDEN);
	op_id v = add_gemm(b, x, GRAPH_NONE, 1, tokens, HIDDEN, HIDDEN);
	op_id scores = add_gemm(b, q, k, HEADS, tokens, tokens, head);
	op_id soft = add_vector(b, scores, GRAPH_NONE, HEADS * tokens * tokens, 11);
	op_id context = add_gemm(b, v, soft, HEADS, tokens, head, tokens);
	op_id out = add_gemm(b, context, GRAPH_NONE, 1, tokens, HIDDEN, HIDDEN);
	op_id norm = add_vector(b, x, out, numel, 2);
	op_id up = add_gemm(b, norm, GRAPH_NONE, 1, tokens, wide, HIDDEN);
	op_id act = add_vector(b, up, GRAPH_NONE, tokens * wide, 15);
	op_id down = add_gemm(b, act, GRAPH_NONE, 1, tokens, HIDDEN, wide);
	return add_vector(b, norm, down, numel, 2);
}

/* dX of six GEMMs in a row with dW and update beside each. */
static op_id add_backward(struct builder *b, op_id x)
{
	uint64_t tokens = TOKENS;
	for (int i = 0; i < 6; i++) {
		op_id dx = add_gemm(b, x, GRAPH_NONE, 1, tokens, HIDDEN, HIDDEN);
		op_id dw = add_gemm(b, x, GRAPH_NONE, 1, HIDDEN, HIDDEN, tokens);
		add_vector(b, dw, GRAPH_NONE, (uint64_t)HIDDEN * HIDDEN, 2);
		x = add_vector(b, dx, GRAPH_NONE, tokens * HIDDEN, 2);
	}
	return x;
}

static void measure(struct builder *b, const struct device_part *part, uint32_t cores, int runs)
{
	struct device_result r = {0};
	tick makespan = 0;
	double s = cpu_s();
	for (int i = 0; i < runs; i++) {
		struct arena scratch = {0};
		device_run_part(&scratch, part, cores, cores, &r);
		assert(i == 0 || r.makespan == makespan);
		makespan = r.makespan;
		arena_free(&scratch);
	}
	s = cpu_s() - s;
	double events = 2.0 * b->n * runs / s;
	printf("%3" PRIu32 " + %3" PRIu32
	       " cores  %6.2f Moperator event/s  %7.1f us a run  makespan %.3f ms\n",
		cores, cores, events * 1e-6, s / runs * 1e6, ticks_to_s(makespan) * 1e3);
	assert(events >= 2e6);
}

static void measure_prepare(const struct arch *arch, const struct graph_part *ops, int runs)
{
	double s = cpu_s();
	for (int i = 0; i < runs; i++) {
		struct arena scratch = {0};
		device_prepare(&scratch, arch, ops, &(struct device_options){0});
		arena_free(&scratch);
	}
	s = cpu_s() - s;
	printf("prepare          %6.1f ns an operator\n", s / runs / ops->n_ids * 1e9);
}

static struct arch make_arch(void)
{
	return (struct arch){
		.name = "bench",
		.clock_hz = 700000000,
		.tc_count = 1,
		.tc_rows = 128,
		.tc_cols = 128,
		.fold_mode = FOLD_PIPELINED,
		.vc_count = 1,
		.vc_width = 128,
		.sram_bytes = 32 << 20,
		.sram_bytes_per_cycle = 4096,
		.hbm_bytes_per_s = 700000000000,
		.hbm_latency = 714000,
		.hbm_efficiency = 0.9,
		.node_nm = 16,
		.mac_bytes = 2,
	};
}

/* A step of `layers` layers; the graph's operators live in b->a. */
static struct graph make_step(struct builder *b, int layers)
{
	op_id x = GRAPH_NONE;
	for (int i = 0; i < layers; i++)
		x = add_forward(b, x);
	for (int i = 0; i < layers; i++)
		x = add_backward(b, x);
	return (struct graph){.name = "bench", .ops = b->ops, .n_ops = b->n};
}

static struct graph_part make_part(struct builder *b, const struct graph *g)
{
	op_id *ids = arena_array(&b->a, g->n_ops, op_id);
	for (uint32_t i = 0; i < g->n_ops; i++)
		ids[i] = i;
	return (struct graph_part){g, ids, g->n_ops};
}

/* Seconds to prepare and run a step of `layers` layers, the fastest of five; its operators. */
static double step_s(const struct arch *arch, int layers, uint32_t *n_ops)
{
	struct builder b = {0};
	struct graph g = make_step(&b, layers);
	struct graph_part ops = make_part(&b, &g);
	double best = HUGE_VAL;
	for (int i = 0; i < 5; i++) {
		struct arena scratch = {0};
		struct device_result r;
		double s = cpu_s();
		device_run(&scratch, arch, &ops, &(struct device_options){0}, &r);
		s = cpu_s() - s;
		best = s < best ? s : best;
		arena_free(&scratch);
	}
	*n_ops = g.n_ops;
	arena_free(&b.a);
	return best;
}

/* Least squares of log time over log operators. */
static void measure_growth(const struct arch *arch)
{
	double sx = 0, sy = 0, sxx = 0, sxy = 0, n = 0;
	for (int layers = 12; layers <= 768; layers *= 4) {
		uint32_t n_ops;
		double s = step_s(arch, layers, &n_ops), x = log(n_ops), y = log(s);
		printf("%6" PRIu32 " operators  %8.3f ms  %6.1f ns an operator\n", n_ops, s * 1e3,
			s / n_ops * 1e9);
		n += 1;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	double exponent = (n * sxy - sx * sy) / (n * sxx - sx * sx);
	printf("time of a step grows as operators ^ %.3f\n", exponent);
	assert(exponent < 1.2);
}

int main(int argc, char **argv)
{
	int layers = argc > 1 ? atoi(argv[1]) : 24, runs = argc > 2 ? atoi(argv[2]) : 300;
	assert(layers > 0 && runs > 0);
	struct builder b = {0};
	struct graph g = make_step(&b, layers);
	struct graph_part ops = make_part(&b, &g);
	struct arch arch = make_arch();
	printf("%" PRIu32 " operators\n", b.n);
	measure_prepare(&arch, &ops, runs);
	const struct device_part *part =
		device_prepare(&b.a, &arch, &ops, &(struct device_options){0});
	static const uint32_t cores[] = {1, 2, 8, 64};
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		measure(&b, part, cores[i], runs);
	measure_growth(&arch);
	arena_free(&b.a);
	return 0;
}
