/* What the files of arch/ share. */
#ifndef ARCH_INTERNAL_H
#define ARCH_INTERNAL_H

#include "arch/arch.h"

/* Steps of a GEMM that is split so. */
struct step_grid gemm_steps(
	const struct array_shape *array, const struct gemm *gemm, const struct gemm_split *split);
struct step_grid vector_steps(uint64_t bytes);

/* GEMMs of a batch that lie side by side on the array; 1 when folds do not overlap. */
uint64_t gemms_at_once(const struct array_shape *array, const struct gemm *gemm);

/* Clamps to 64 bits; sizes come from users and must not wrap around. */
static inline uint64_t clamp_u64(u128 x)
{
	return x > UINT64_MAX ? UINT64_MAX : (uint64_t)x;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
