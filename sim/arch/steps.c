/* The steps of an operator, and how long it takes with memory. */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/internal.h"

enum {
	STREAM_ROWS =
		8, /* of a step, times the rows of the array: loading the next weights is short
			    beside it */
	CHUNK_BYTES = 64 << 10,
};

uint64_t step_grid_size(const struct step_grid *g)
{
	return max_u64(1, g->batch) * max_u64(1, g->m) * max_u64(1, g->n) * max_u64(1, g->k);
}

static uint64_t *longest_side(struct step_grid *g)
{
	uint64_t *sides[] = {&g->batch, &g->m, &g->n, &g->k}, *longest = sides[0];
	for (int i = 1; i < 4; i++)
		if (*sides[i] > *longest)
			longest = sides[i];
	return longest;
}

static struct step_grid merged(struct step_grid g)
{
	for (;;) {
		u128 size = (u128)clamp_u64((u128)g.batch * g.m) * clamp_u64((u128)g.n * g.k);
		if (size <= ARCH_MAX_STEPS)
			return g;
		uint64_t *side = longest_side(&g);
		*side = div_ceil(*side, 2);
	}
}

struct step_grid gemm_steps(
	const struct array_shape *array, const struct gemm *g, const struct gemm_split *split)
{
	uint64_t rows = array->rows, cols = array->cols, stream = STREAM_ROWS * rows;
	uint64_t batch = div_ceil(div_ceil(g->batch, split->batch), gemms_at_once(array, g));
	uint64_t m = div_ceil(g->m, split->m), n = div_ceil(g->n, split->n);
	uint64_t k = div_ceil(g->k, split->k);
	switch (array->dataflow) {
	case DATAFLOW_OS:
		return merged((struct step_grid){
			batch, div_ceil(m, rows), div_ceil(n, cols), div_ceil(k, stream)});
	case DATAFLOW_WS:
		return merged((struct step_grid){
			batch, div_ceil(m, stream), div_ceil(n, cols), div_ceil(k, rows)});
	case DATAFLOW_IS:
		return merged((struct step_grid){
			batch, div_ceil(m, cols), div_ceil(n, stream), div_ceil(k, rows)});
	}
	abort(); /* not a value of the enum */
}

struct step_grid vector_steps(uint64_t bytes)
{
	return merged((struct step_grid){1, max_u64(1, div_ceil(bytes, CHUNK_BYTES)), 1, 1});
}

static u128 ticks_of(uint64_t amount, uint64_t per_s)
{
	return ((u128)amount * TICKS_PER_S + per_s - 1) / per_s;
}

static u128 max_u128(u128 a, u128 b)
{
	return a > b ? a : b;
}

static tick at_most(u128 t, tick longest, bool *clamped)
{
	*clamped |= t > longest;
	return t > longest ? longest : (tick)t;
}

bool arch_op_time(
	const struct arch *arch, const struct op_cost *c, tick longest, struct op_time *out)
{
	bool clamped = false;
	uint64_t rate = arch_dram_bytes_per_s(arch);
	uint64_t bytes = clamp_u64((u128)c->dram_read_bytes + c->dram_write_bytes);
	u128 compute = ticks_of(c->cycles.n, arch->clock_hz);
	u128 step = (compute + step_grid_size(&c->steps) - 1) / step_grid_size(&c->steps);
	u128 last = ticks_of(c->last_bytes, rate);
	u128 ends = ticks_of(c->first_bytes, rate) + last;
	u128 read = ticks_of(c->dram_read_bytes, rate) + step + last;
	u128 moved = max_u128(ticks_of(bytes, rate), c->dram_read_bytes > 0 ? read : 0);
	u128 alone = max_u128(ends + compute, moved);
	u128 fill = alone - compute < ends ? alone - compute : ends;
	*out = (struct op_time){
		.overhead = arch->launch_overhead,
		.compute = at_most(compute, longest, &clamped),
		.fill = at_most(fill + (bytes > 0 ? arch->hbm_latency : 0), longest, &clamped),
		.memory = at_most(alone - compute - fill, longest, &clamped),
	};
	return !clamped;
}
