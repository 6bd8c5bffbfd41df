/* A GEMM over several tensor cores. */
#include "arch/arch.h"
#include "arch/internal.h"

static struct gemm part_of(const struct gemm *g, const struct gemm_split *s)
{
	return (struct gemm){
		.batch = div_ceil(g->batch, s->batch),
		.m = div_ceil(g->m, s->m),
		.n = div_ceil(g->n, s->n),
		.k = div_ceil(g->k, s->k),
	};
}

static uint64_t total(const struct gemm_split *s)
{
	return clamp_u64((u128)s->array.n + s->reduction.n);
}

static uint64_t reduction_cycles(const struct gemm *g, uint64_t over_k, uint64_t lanes)
{
	if (over_k == 1)
		return 0;
	uint64_t outputs = clamp_u64((u128)clamp_u64((u128)g->batch * g->m) * g->n);
	return clamp_u64((u128)div_ceil(outputs, lanes) * (over_k - 1));
}

/* Cuts m by powers of two (and by all cores), and n by what is left of the cores. */
static void try_grids(const struct array_shape *array, const struct gemm *g, uint64_t cores,
	struct gemm_split s, struct gemm_split *best)
{
	for (s.m = 1;; s.m = min_u64(2 * s.m, cores)) {
		s.n = cores / s.m;
		struct gemm part = part_of(g, &s);
		s.array = arch_gemm_cycles(array, &part);
		if (total(&s) < total(best))
			*best = s;
		if (s.m == cores)
			return;
	}
}

void arch_gemm_split(const struct array_shape *array, const struct gemm *g, uint32_t tcs,
	uint64_t lanes, struct gemm_split *out)
{
	assert(tcs > 0);
	*out = (struct gemm_split){1, 1, 1, 1, .array = arch_gemm_cycles(array, g)};
	if (out->array.n == 0)
		return;
	uint64_t over_batch = min_u64(g->batch, tcs);
	uint64_t most_k = lanes > 0 ? min_u64(g->k, tcs) : 1;
	for (uint64_t over_k = 1; over_k <= most_k; over_k *= 2) {
		struct gemm_split s = {.batch = 1, .k = over_k};
		s.reduction.n = reduction_cycles(g, over_k, lanes);
		try_grids(array, g, tcs / over_k, s, out);
		s.batch = min_u64(over_batch, tcs / over_k);
		if (s.batch > 1)
			try_grids(array, g, tcs / over_k / s.batch, s, out);
	}
}

struct cycles arch_gemm_split_cycles(
	const struct array_shape *array, const struct gemm *gemm, uint32_t tcs)
{
	struct gemm_split split;
	arch_gemm_split(array, gemm, tcs, 0, &split);
	return split.array;
}
