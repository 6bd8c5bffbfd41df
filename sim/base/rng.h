/* Random numbers that are the same everywhere: xoshiro256** seeded by splitmix64 (Blackman and
 * Vigna). */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);

/* Uniform in [0, n); `n` is at least 1. */
uint64_t rng_below(struct rng *rng, uint64_t n);

/* Uniform in [0, 1). */
double rng_unit(struct rng *rng);

#endif
