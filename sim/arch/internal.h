/* What the files of arch/ share. */
#ifndef ARCH_INTERNAL_H
#define ARCH_INTERNAL_H

#include "arch/arch.h"

struct dram_traffic {
	uint64_t read_bytes, write_bytes;
};

/* DRAM traffic of the GEMMs of `work` (batch at least 1) with a buffer of `sram_bytes`: see
 * traffic.c. */
struct dram_traffic gemm_traffic(const struct work *work, uint64_t sram_bytes);

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
