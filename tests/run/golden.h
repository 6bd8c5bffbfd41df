/* The golden table of collectives, run message by message on SimGrid. */
#ifndef TESTS_RUN_GOLDEN_H
#define TESTS_RUN_GOLDEN_H

#include <math.h>

#include "base/table.h"
#include "runner.h"

struct golden_algo {
	const char *name;
	enum coll_kind kind;
	const char *algo;
};
static const struct golden_algo golden_algos[] = {
	{"a2a_bruck", COLL_ALLTOALL, "bruck"},
	{"a2a_pair", COLL_ALLTOALL, "pairwise"},
	{"ag_bruck", COLL_ALLGATHER, "bruck"},
	{"ag_neighbor", COLL_ALLGATHER, "neighbor"},
	{"ag_rdb", COLL_ALLGATHER, "recdbl"},
	{"ag_ring", COLL_ALLGATHER, "ring"},
	{"ar_rab", COLL_ALLREDUCE, "rabenseifner"},
	{"ar_rdb", COLL_ALLREDUCE, "recdbl"},
	{"ar_redbcast", COLL_ALLREDUCE, "redbcast"},
	{"ar_ring", COLL_ALLREDUCE, "ring"},
	{"barrier_diss", COLL_BARRIER, "dissemination"},
	{"bc_binom", COLL_BROADCAST, "binomial"},
	{"bc_vdg", COLL_BROADCAST, "vandegeijn"},
	{"gather_binom", COLL_GATHER, "binomial"},
	{"rs_rhalv", COLL_REDUCESCATTER, "halving"},
	{"rs_ring", COLL_REDUCESCATTER, "ring"},
};
enum { N_GOLDEN_ALGOS = sizeof(golden_algos) / sizeof(*golden_algos) };

/* The table's alpha of 2 us is 1 us on either side of the switch, its beta one over 6 GB/s. */
static inline bool golden_row_agrees(const struct csv *csv, size_t row, const struct golden_algo *g)
{
	struct runner r = {.config = {.topo = &r.topo, .net = NET_SIMGRID}};
	uint32_t n = (uint32_t)strtoul(csv_cell(csv, row, 1), NULL, 10), *devices;
	uint64_t bytes = strtoull(csv_cell(csv, row, 2), NULL, 10);
	double want = strtod(csv_cell(csv, row, 5), NULL);
	devices = arena_array(&r.a, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		devices[i] = n - 1 - i;
	const char *spec = arena_printf(&r.a, "crossbar:%u,bw=6GB/s,lat=1us", n);
	struct coll_request coll = {.algo = coll_find(g->kind, g->algo),
		.devices = devices,
		.n_devices = n,
		.bytes = bytes};
	bool ok = topo_parse(&r.a, spec, &r.topo, &r.err) &&
		  run_coll(&r.a, &coll, &r.config, &r.result, &r.err);
	double got = ok ? ticks_to_s(r.result.end) : 0;
	if (!ok || fabs(got - want) > 1e-6 * want)
		printf("%s over %u of %llu: %.10e instead of %.10e %s\n", g->name, n,
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
	for (size_t row = 0; row < csv.n_rows; row++)
		for (uint32_t i = 0; i < N_GOLDEN_ALGOS; i++) {
			if (strcmp(csv_cell(&csv, row, 0), golden_algos[i].name) != 0 ||
				strtoul(csv_cell(&csv, row, 1), NULL, 10) > max_ranks ||
				(bytes && strcmp(csv_cell(&csv, row, 2), bytes) != 0))
				continue;
			n++;
			n_good += golden_row_agrees(&csv, row, &golden_algos[i]);
		}
	CU_ASSERT_EQUAL(n_good, n);
	arena_free(&a);
	return n;
}

#endif
