/* Every tile simulated: what it moves, and how it stands to memory as a fluid. */
#include <string.h>

#include "device/internal.h"
#include "make.h"
#include "suite.h"

enum { N_CASES = 300, N_GRAPHS = 60 };

static const uint64_t MIB = 1 << 20;

static tick run_one(struct arena *a, const struct arch *arch, const struct graph *g,
	enum fidelity f, struct device_result *r)
{
	struct graph_part ops = make_part(a, g, g->n_ops);
	struct device_options options = {
		.fidelity = f, .link = {.ranks = 4, .bytes_per_s = 1000000000000, .latency = 300}};
	device_run(a, arch, &ops, &options, r);
	return r->makespan;
}

static struct arch random_arch(struct rng *rng)
{
	struct arch arch = make_arch();
	arch.tc_rows = 4u << rng_below(rng, 5);
	arch.tc_cols = 4u << rng_below(rng, 5);
	arch.dataflow = (enum dataflow)rng_below(rng, 3);
	arch.fold_mode = (enum fold_mode)rng_below(rng, 2);
	arch.hbm_latency = rng_below(rng, 2) * 700000;
	arch.launch_overhead = rng_below(rng, 2) * 3000;
	arch.hbm_bytes_per_s = UINT64_C(1000000000) << rng_below(rng, 13);
	arch.sram_bytes = UINT64_C(1) << 34;
	return arch;
}

static void random_gemm(struct rng *rng, struct op *op)
{
	make_gemm(op, 1 + rng_below(rng, UINT64_C(1) << (1 + rng_below(rng, 11))),
		1 + rng_below(rng, UINT64_C(1) << (1 + rng_below(rng, 11))),
		1 + rng_below(rng, UINT64_C(1) << (1 + rng_below(rng, 11))));
}

/* The first pass along the streamed operand reads all of the stationary one, the smaller: while
 * it does, memory may be behind, and behind the results of the last pass: a fluid that is even
 * over the whole operator does not see that. Where it is not so the two are equal, but for a
 * latency that results of earlier steps hide. */
static void check_gemm(struct arena *a, const struct arch *arch, const struct graph *g, int *equal)
{
	struct device_result fluid, tile;
	tick f = run_one(a, arch, g, FIDELITY_FLUID, &fluid);
	tick t = run_one(a, arch, g, FIDELITY_TILE, &tile);
	const struct work *w = &g->ops[0].work;
	const struct step_grid *s = &tile.costs[0].steps;
	uint64_t rate = arch_dram_bytes_per_s(arch), steps = step_grid_size(s);
	bool a_stays = w->a_bytes <= w->b_bytes;
	uint64_t passes = a_stays ? s->n : s->m;
	uint64_t smaller = a_stays ? w->a_bytes : w->b_bytes;
	uint64_t larger = a_stays ? w->b_bytes : w->a_bytes;
	tick slack = 4 * steps + ticks_ceil(steps, rate);
	tick first_pass = ticks_ceil(smaller + larger / passes + 1, rate);
	CU_ASSERT_TRUE(t + arch->hbm_latency + slack >= f);
	tick last_pass = ticks_ceil(w->c_bytes / passes + 1, rate);
	CU_ASSERT_TRUE(t <= f + first_pass + last_pass + slack);
	if (first_pass > tile.times[0].compute / (passes + 1) ||
		ticks_ceil(tile.costs[0].last_bytes, rate) > tile.times[0].compute / steps)
		return;
	CU_ASSERT_TRUE(t <= f + slack);
	(*equal)++;
}

static void one_gemm_that_fits_is_the_fluid(void)
{
	struct rng rng;
	int equal = 0;
	rng_init(&rng, 21);
	for (int i = 0; i < N_CASES; i++) {
		struct arena a = {0};
		struct arch arch = random_arch(&rng);
		struct graph g = make_graph(&a, 1);
		random_gemm(&rng, &g.ops[0]);
		check_gemm(&a, &arch, &g, &equal);
		arena_free(&a);
	}
	CU_ASSERT_TRUE(equal > N_CASES / 3);
}

static void one_vector_operator_is_the_fluid(void)
{
	struct rng rng;
	rng_init(&rng, 22);
	for (int i = 0; i < N_CASES; i++) {
		struct arena a = {0};
		struct device_result r;
		struct arch arch = random_arch(&rng);
		struct graph g = make_graph(&a, 1);
		make_vector(
			&a, &g.ops[0], 1 + rng_below(&rng, 1000000), 1 + rng_below(&rng, 1 << 28));
		g.ops[0].work.vector_write_bytes = rng_below(&rng, 1 << 27);
		tick f = run_one(&a, &arch, &g, FIDELITY_FLUID, &r);
		tick t = run_one(&a, &arch, &g, FIDELITY_TILE, &r);
		uint64_t steps = step_grid_size(&r.costs[0].steps);
		/* rounding of every burst of 256 KiB or less, and bytes of a step */
		tick slack = 8 * steps + (64 << 10) +
			     ticks_ceil(2 * steps, arch_dram_bytes_per_s(&arch));
		CU_ASSERT_TRUE(t + arch.hbm_latency + slack >= f && t <= f + slack);
		arena_free(&a);
	}
}

/* Whatever the buffer and so the order of tiles, the steps move what the operator moves. */
static void steps_move_all_bytes(void)
{
	struct rng rng;
	int orders[TILES_NONE + 1] = {0};
	rng_init(&rng, 23);
	for (int i = 0; i < 2 * N_CASES; i++) {
		struct arch arch = random_arch(&rng);
		struct op op = {0};
		struct op_cost cost;
		struct nest nest;
		struct tiling tiling;
		arch.sram_bytes = UINT64_C(1) << rng_below(&rng, 24);
		random_gemm(&rng, &op);
		struct core_share share = {1, 1, arch.sram_bytes};
		op.work.vector_read_bytes = rng_below(&rng, 1000);
		arch_op_cost(&arch, &op.work, &share, &cost);
		arch_gemm_tiling(&op.work, arch.sram_bytes, &tiling);
		nest_build(&arch, &op.work, &cost, &nest);
		uint64_t read = 0, written = 0;
		for (uint64_t s = 0; s < nest_steps(&nest); s++) {
			read += nest_step(&nest, s).read_bytes;
			written += nest_step(&nest, s).write_bytes;
		}
		CU_ASSERT_EQUAL(read, cost.dram_read_bytes);
		CU_ASSERT_EQUAL(written, cost.dram_write_bytes);
		orders[tiling.order]++;
	}
	for (int i = 0; i <= TILES_NONE; i++)
		CU_ASSERT_TRUE(orders[i] > 0);
}

static void check_bounds(const struct arch *arch, const struct device_result *r)
{
	tick tc = 0, vc = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		tick held = r->runs[i].end - r->runs[i].start;
		CU_ASSERT_TRUE(held >= r->times[i].compute + r->times[i].overhead);
		tc += r->runs[i].tc == UINT32_MAX ? 0 : held;
		vc += r->runs[i].vc == UINT32_MAX ? 0 : held;
	}
	CU_ASSERT_EQUAL(r->tc_busy, tc);
	CU_ASSERT_EQUAL(r->vc_busy, vc);
	CU_ASSERT_TRUE(r->makespan >= ticks_ceil(r->dram_bytes, arch_dram_bytes_per_s(arch)));
	CU_ASSERT_TRUE(r->makespan >= tc / arch->tc_count && r->makespan >= vc / arch->vc_count);
}

/* Each started by the end of the one before, from 0 to the makespan. */
static void check_chain(struct arena *a, const struct device_result *r)
{
	uint32_t *chain = arena_array(a, r->n, uint32_t);
	uint32_t n = device_critical_chain(r, chain);
	CU_ASSERT_TRUE_FATAL(n > 0);
	CU_ASSERT_EQUAL(r->runs[chain[0]].start, 0);
	for (uint32_t i = 1; i < n; i++)
		CU_ASSERT_EQUAL(r->runs[chain[i]].start, r->runs[chain[i - 1]].end);
	CU_ASSERT_EQUAL(r->runs[chain[n - 1]].end, r->makespan);
}

static void graphs_keep_their_bounds(void)
{
	struct rng rng;
	rng_init(&rng, 24);
	for (int i = 0; i < N_GRAPHS; i++) {
		struct arena a = {0};
		struct arch arch = random_arch(&rng);
		struct device_result fluid, tile, again;
		arch.tc_count = 1 + (uint32_t)rng_below(&rng, 3);
		arch.vc_count = 1 + (uint32_t)rng_below(&rng, 3);
		arch.sram_bytes = MIB >> rng_below(&rng, 6);
		struct graph g = make_random_graph(&a, &rng, 1 + (uint32_t)rng_below(&rng, 60));
		run_one(&a, &arch, &g, FIDELITY_FLUID, &fluid);
		run_one(&a, &arch, &g, FIDELITY_TILE, &tile);
		run_one(&a, &arch, &g, FIDELITY_TILE, &again);
		CU_ASSERT_EQUAL(tile.dram_bytes, fluid.dram_bytes);
		CU_ASSERT_EQUAL(tile.macs, fluid.macs);
		CU_ASSERT_EQUAL(tile.makespan, again.makespan);
		CU_ASSERT_EQUAL(memcmp(tile.runs, again.runs, tile.n * sizeof(tile.runs[0])), 0);
		check_bounds(&arch, &fluid);
		check_bounds(&arch, &tile);
		check_chain(&a, &fluid);
		check_chain(&a, &tile);
		arena_free(&a);
	}
}

/* By hand: 64 x 16 times 16 x 16 on 16 x 16 in two steps of 128 rows would be one; here os has four
 * folds of 16 rows. A byte takes a tick, a cycle 1000. */
static void four_folds_by_hand(void)
{
	struct arena a = {0};
	struct arch arch = make_arch();
	struct graph g = make_graph(&a, 1);
	struct device_result r;
	arch.dataflow = DATAFLOW_OS;
	arch.hbm_latency = 100;
	make_gemm(&g.ops[0], 64, 16, 16);
	/* four folds of 16 + 30 cycles; b of 512 bytes stays, with each fold come 512 bytes of a
	 * and go 512 of c */
	CU_ASSERT_EQUAL(run_one(&a, &arch, &g, FIDELITY_FLUID, &r), 100 + 1024 + 4 * 46000 + 512);
	CU_ASSERT_EQUAL(run_one(&a, &arch, &g, FIDELITY_TILE, &r), 100 + 1024 + 4 * 46000 + 512);
	/* at 1 % of the bandwidth memory decides: all in and all out; the latency hides behind the
	 * results of earlier steps, which the fluid does not see */
	arch.hbm_bytes_per_s /= 100;
	CU_ASSERT_EQUAL(run_one(&a, &arch, &g, FIDELITY_TILE, &r), 2560 * 100 + 2048 * 100);
	CU_ASSERT_EQUAL(run_one(&a, &arch, &g, FIDELITY_FLUID, &r), 100 + 2560 * 100 + 2048 * 100);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"one GEMM that fits is the fluid", one_gemm_that_fits_is_the_fluid},
		{"one vector operator is the fluid", one_vector_operator_is_the_fluid},
		{"steps move all bytes", steps_move_all_bytes},
		{"graphs keep their bounds", graphs_keep_their_bounds},
		{"four folds by hand", four_folds_by_hand},
		CU_TEST_INFO_NULL,
	};
	return suite_run("device tile", tests);
}
