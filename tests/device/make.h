/* Small graphs and an accelerator for the tests of device/, built by hand. */
#ifndef TESTS_DEVICE_MAKE_H
#define TESTS_DEVICE_MAKE_H

#include "base/rng.h"
#include "device/device.h"

/* 1 GHz, one 16x16 TC in serial mode, one VC of 16 lanes, 1 TB/s: a tick is 1 ps, a cycle 1000
 * ticks. */
struct arch make_arch(void);

/* `n` operators named after nothing, without predecessors and work. */
struct graph make_graph(struct arena *a, uint32_t n);
void make_preds(struct arena *a, struct op *op, const op_id *preds, uint32_t n);
/* `cycles` on a VC of 16 lanes, and `bytes` from memory. */
void make_vector(struct arena *a, struct op *op, uint64_t cycles, uint64_t bytes);
void make_gemm(struct op *op, uint64_t m, uint64_t n, uint64_t k);

/* Random operators of all kinds with up to 3 predecessors each. */
struct graph make_random_graph(struct arena *a, struct rng *rng, uint32_t n);

/* Operators 0 .. n-1. */
struct graph_part make_part(struct arena *a, const struct graph *g, uint32_t n);

#endif
