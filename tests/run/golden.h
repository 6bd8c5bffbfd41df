/* The golden table of collectives, run message by message on SimGrid. */
#ifndef TESTS_RUN_GOLDEN_H
#define TESTS_RUN_GOLDEN_H

#include <math.h>

#include "base/table.h"
#include "runner.h"

/* The table's alpha of 2 us is 1 us on either side of the switch, its beta one over 6 GB/s. */
static inline bool golden_row_agrees(const struct csv *csv, size_t row)
{
	struct runner r = {.config = {.topo = &r.topo, .net = NET_SIMGRID}};
	uint32_t n = (uint32_t)strtoul(csv_cell(csv, row, 1), NULL, 10), *devices;
	uint64_t bytes = strtoull(csv_cell(csv, row, 2), NULL, 10);
	double want = strtod(csv_cell(csv, row, 5), NULL);
	devices = arena_array(&r.a, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		devices[i] = n - 1 - i;
	const char *spec = arena_printf(&r.a, "crossbar:%u,bw=6GB/s,lat=1us", n);
	struct coll_request coll = {.algo = coll_find_short(csv_cell(csv, row, 0)),
		.devices = devices,
		.n_devices = n,
		.bytes = bytes};
	bool ok = coll.algo && topo_parse(&r.a, spec, &r.topo, &r.err) &&
		  run_coll(&r.a, &coll, &r.config, &r.result, &r.err);
	double got = ok ? ticks_to_s(r.result.end) : 0;
	if (!ok || fabs(got - want) > 1e-6 * want)
		printf("%s over %u of %llu: %.10e instead of %.10e %s\n", csv_cell(csv, row, 0), n,
			(unsigned long long)bytes, got, want, r.err.text);
	ok = ok && fabs(got - want) <= 1e-6 * want;
	runner_free(&r);
	return ok;
}

/* Rows of at most `max_ranks`, and of one size unless `bytes` is NULL. Returns how many. */
static inline uint32_t golden_check(uint32_t max_ranks, const char *bytes)
{
	struct arena a = {0};
	struct csv csv;
	struct err err = {0};
	uint32_t n = 0, n_good = 0;
	const char *path =
		arena_printf(&a, "%s/tests/golden/collectives.csv", getenv("WHAM_SOURCE_ROOT"));
	CU_ASSERT_TRUE_FATAL(csv_read(&a, path, &csv, &err));
	for (size_t row = 0; row < csv.n_rows; row++) {
		if (strtoul(csv_cell(&csv, row, 1), NULL, 10) > max_ranks ||
			(bytes && strcmp(csv_cell(&csv, row, 2), bytes) != 0))
			continue;
		n++;
		n_good += golden_row_agrees(&csv, row);
	}
	CU_ASSERT_EQUAL(n_good, n);
	arena_free(&a);
	return n;
}

#endif
