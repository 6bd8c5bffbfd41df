#include "golden.h"

/* 14 algorithms at 10 group sizes up to 16, recursive doubling all-gather at 4 of them, neighbour
 * exchange at 6. */
static void simgrid_equals_the_golden_table(void)
{
	CU_ASSERT_EQUAL(golden_check(16, "65536"), 14 * 10 + 4 + 6);
}

static void devices_and_bytes(void)
{
	struct runner r = {.config = {.topo = &r.topo}};
	uint32_t devices[] = {5, 1, 3};
	CU_ASSERT_TRUE_FATAL(topo_parse(&r.a, "ring:6,bw=1GB/s,lat=1us", &r.topo, &r.err));
	struct coll_request coll = {.algo = coll_find(COLL_ALLREDUCE, "ring"),
		.devices = devices,
		.n_devices = 3,
		.bytes = 3000000};
	bool ok = run_coll(&r.a, &coll, &r.config, &r.result, &r.err);
	CU_ASSERT_TRUE_FATAL(ok);
	CU_ASSERT_EQUAL(r.result.end, 4 * 1002 * US); /* two hops, four rounds of a third */
	CU_ASSERT_EQUAL(r.result.n_messages, 12);
	CU_ASSERT_EQUAL(r.result.n_colls, 1);
	CU_ASSERT_EQUAL(r.result.colls[0].n_ranks, 3);
	CU_ASSERT_EQUAL(r.result.coll_bytes[COLL_ALLREDUCE], 3000000);
	CU_ASSERT_EQUAL(r.result.n_links, 6); /* one way around */
	for (uint32_t i = 0; i < r.result.n_links; i++)
		CU_ASSERT_EQUAL(r.result.links[i].bytes, 4e6);
	coll.n_devices = 1;
	ok = run_coll(&r.a, &coll, &r.config, &r.result, &r.err);
	CU_ASSERT_TRUE(ok && r.result.end == 0 && r.result.n_colls == 1);
	coll = (struct coll_request){coll_find(COLL_ALLGATHER, "recdbl"), devices, 3, 1, 0};
	CU_ASSERT_FALSE(run_coll(&r.a, &coll, &r.config, &r.result, &r.err));
	CU_ASSERT_EQUAL(r.err.kind, ERR_USAGE);
	coll = (struct coll_request){coll_find(COLL_ALLREDUCE, "ring"), devices, 0, 1, 0};
	CU_ASSERT_FALSE(run_coll(&r.a, &coll, &r.config, &r.result, &r.err));
	CU_ASSERT_EQUAL(r.err.kind, ERR_INPUT);
	devices[0] = 6;
	coll.n_devices = 3;
	CU_ASSERT_FALSE(run_coll(&r.a, &coll, &r.config, &r.result, &r.err));
	CU_ASSERT_EQUAL(r.err.kind, ERR_INPUT);
	runner_free(&r);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"SimGrid equals the golden table", simgrid_equals_the_golden_table},
		{"devices and bytes", devices_and_bytes},
		CU_TEST_INFO_NULL,
	};
	return suite_run("run_coll", tests);
}
