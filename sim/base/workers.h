/* Independent items over forked processes. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Item `i` writes its result of fixed size. False with `err` ends the map. */
typedef bool worker_fn(void *ctx, uint32_t i, void *result, struct err *err);

/* Results of items 0 .. n-1, each `size` bytes, in order. Item i runs in process i modulo
 * `jobs`, forked from this one (in this very process for one job), so that everything in memory
 * is there to read and nothing that an item changes comes back but its result. The first item
 * that fails, by number, is the error; a worker that dies is ERR_INTERNAL. */
struct worker_map {
	worker_fn *fn;
	void *ctx;
	uint32_t n, jobs;
	size_t size;
};
bool workers_run(const struct worker_map *map, void *results, struct err *err);

#endif
