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

static tick time_of(const char *spec, const char *text, const struct coll_choice *choice)
{
	struct runner r = {.config = {.topo = &r.topo, .net = NET_SIMGRID, .choice = *choice}};
	bool ok = topo_parse(&r.a, spec, &r.topo, &r.err) &&
		  prog_parse(&r.a, "t.prog", text, strlen(text), &r.prog, &r.err) &&
		  run_prog(&r.a, &r.prog, &r.config, &r.result, &r.err);
	CU_ASSERT_TRUE(ok);
	if (!ok)
		printf("%s\n", r.err.text);
	tick end = r.result.end;
	runner_free(&r);
	return end;
}

/* 8 bytes over 4 ranks: everybody to everybody takes two latencies, a ring six. "auto" finds it, in
 * the task or as the choice for all; of what NCCL has the tree takes four. */
static void policies(void)
{
	static const char bar[] = "crossbar:4,bw=1GB/s,lat=0.5us";
	static const char small[] = "wham-prog 1\ngrid r=4\nrole a\n1 coll allreduce r 8B\n";
	static const char named[] =
		"wham-prog 1\ngrid r=4\nrole a\n1 coll allreduce r 8B algo auto\n";
	static const char large[] = "wham-prog 1\ngrid r=4\nrole a\n1 coll allreduce r 8MB\n";
	struct coll_choice none = {0}, measured = {0}, nccl = {0};
	measured.policy[COLL_ALLREDUCE] = COLL_AUTO;
	nccl.policy[COLL_ALLREDUCE] = COLL_NCCL;
	CU_ASSERT_EQUAL(time_of(bar, small, &none), 6 * (US + 2000));
	CU_ASSERT_EQUAL(time_of(bar, small, &measured), 2 * (US + 6000));
	CU_ASSERT_EQUAL(time_of(bar, named, &none), 2 * (US + 6000));
	CU_ASSERT(time_of(bar, small, &nccl) < 5 * US);
	CU_ASSERT_EQUAL(time_of(bar, large, &nccl), 6 * (US + 2000 * US));
	CU_ASSERT(time_of(bar, large, &measured) <= 6 * (US + 2000 * US));
}

/* Rank 0 has something for rank 2 and nobody else for anyone: one message. */
static void peers_of_nothing_cost_nothing(void)
{
	static const char *const names[] = {"direct", "pairwise"};
	uint64_t counts[16] = {0};
	counts[2] = 1000000;
	for (int i = 0; i < 4; i++) {
		struct runner r = {
			.config = {.topo = &r.topo, .net = NET_SIMGRID, .counts = counts}};
		uint32_t devices[] = {0, 1, 2, 3};
		struct coll_request coll = {.algo = coll_find(COLL_ALLTOALL, names[i % 2]),
			.devices = devices,
			.n_devices = 4};
		r.config.fold = i < 2 ? RUN_FOLD_OFF : RUN_FOLD_AUTO;
		CU_ASSERT_TRUE_FATAL(
			topo_parse(&r.a, "crossbar:4,bw=1GB/s,lat=0.5us", &r.topo, &r.err));
		CU_ASSERT_TRUE(run_coll(&r.a, &coll, &r.config, &r.result, &r.err));
		CU_ASSERT_EQUAL(r.result.end, 1001 * US);
		CU_ASSERT_EQUAL(r.result.n_messages, 1);
		runner_free(&r);
	}
}

/* A torus is a box for the algorithms: each dimension's links carry their share. */
static void shape_of_the_topology(void)
{
	struct runner r = {.config = {.topo = &r.topo, .net = NET_SIMGRID}};
	uint32_t devices[8];
	for (uint32_t i = 0; i < 8; i++)
		devices[i] = i;
	struct coll_request coll = {.algo = coll_find(COLL_ALLREDUCE, "torus"),
		.devices = devices,
		.n_devices = 8,
		.bytes = 8000000};
	CU_ASSERT_TRUE_FATAL(topo_parse(&r.a, "torus:4x2,bw=1GB/s,lat=1us", &r.topo, &r.err));
	CU_ASSERT_TRUE(run_coll(&r.a, &coll, &r.config, &r.result, &r.err));
	/* Six steps of a quarter along rows of four, two of an eighth along columns of two. */
	CU_ASSERT_EQUAL(r.result.end, 6 * 2001 * US + 2 * 1001 * US);
	runner_free(&r);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"SimGrid equals the golden table", simgrid_equals_the_golden_table},
		{"devices and bytes", devices_and_bytes},
		{"policies", policies},
		{"peers of nothing cost nothing", peers_of_nothing_cost_nothing},
		{"shape of the topology", shape_of_the_topology},
		CU_TEST_INFO_NULL,
	};
	return suite_run("run_coll", tests);
}
