/* Contention against hand calculations: no link is faster than its bandwidth shared by those who
 * use it. */
#include <math.h>
#include <stdio.h>

#include "run/run.h"
#include "suite.h"

static tick cost(const char *topology, enum coll_kind kind, const char *algo,
	const uint32_t *devices, uint32_t n, uint32_t n_groups, uint64_t bytes)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo topo;
	struct run_result run = {0};
	struct coll_request request = {.algo = coll_find(kind, algo),
		.devices = devices,
		.n_devices = n,
		.bytes = bytes,
		.n_groups = n_groups};
	struct run_config config = {.topo = &topo, .net = NET_SIMGRID};
	bool ok = topo_parse(&a, topology, &topo, &err) && request.algo &&
		  run_coll(&a, &request, &config, &run, &err);
	if (!ok)
		printf("%s\n", err.text);
	CU_ASSERT_FATAL(ok);
	tick end = run.end;
	arena_free(&a);
	return end;
}

static bool within(tick got, double want_s, double share)
{
	return fabs(ticks_to_s(got) - want_s) <= share * want_s;
}

/* A ring of ranks on a 3 x 5 torus in steps of (+1, +2): each message takes one cable along x
 * and two along y, every x cable carries one of them and every y cable two. A round of S / 15
 * takes three latencies and 2 S / 15 over the bandwidth; mapped well it would take one and half
 * as much. */
static void a_ring_mapped_badly_on_a_torus(void)
{
	uint32_t devices[15];
	const double chunk = 15e6 / 15, bw = 10e9, lat = 1e-6;
	for (uint32_t i = 0; i < 15; i++)
		devices[i] = i % 3 + 3 * (2 * i % 5);
	tick bad = cost(
		"torus:3x5,bw=10GB/s,lat=1us", COLL_ALLREDUCE, "ring", devices, 15, 0, 15000000);
	CU_ASSERT(within(bad, 28 * (3 * lat + 2 * chunk / bw), 0.02));
	for (uint32_t i = 0; i < 5; i++)
		devices[i] = 3 * i;
	tick good =
		cost("torus:3x5,bw=10GB/s,lat=1us", COLL_ALLREDUCE, "ring", devices, 5, 0, 5000000);
	CU_ASSERT(within(good, 8 * (lat + chunk / bw), 0.02));
}

/* 4 leaves of 4 devices, 2 cables up from each: every device sends S / 16 to each of the 12
 * beyond its leaf, so that each cable up carries 4 x 12 / 2 x S / 16. */
static void an_all_to_all_through_an_oversubscribed_tree(void)
{
	uint32_t devices[16];
	const double part = 16e6 / 16, bw = 10e9, lat = 1e-6;
	for (uint32_t i = 0; i < 16; i++)
		devices[i] = i;
	tick t = cost("fattree:4x4,oversubscription=2,bw=10GB/s,lat=1us", COLL_ALLTOALL, "direct",
		devices, 16, 0, 16000000);
	CU_ASSERT(within(t, 24 * part / bw + 4 * lat, 0.02));
	t = cost("fattree:4x4,oversubscription=1,bw=10GB/s,lat=1us", COLL_ALLTOALL, "direct",
		devices, 16, 0, 16000000);
	/* Now the devices' own cables are the narrowest: 15 parts each. */
	CU_ASSERT(within(t, 15 * part / bw + 4 * lat, 0.02));
}

/* 4 nodes of 8 devices with one NIC each; the i-th devices of the nodes form a ring, eight rings at
 * once: each NIC carries 8 messages a round. */
static void eight_rings_through_shared_nics(void)
{
	uint32_t devices[32];
	const double chunk = 4e6 / 4, nic = 25e9, lat = 2 * 0.5e-6 + 2 * 1e-6;
	const char *topology =
		"hierarchical:nodes=4,devices=8,nics=1,intra_bw=300GB/s,intra_lat=500ns,"
		"inter_bw=25GB/s,inter_lat=1us";
	for (uint32_t g = 0; g < 8; g++)
		for (uint32_t i = 0; i < 4; i++)
			devices[g * 4 + i] = i * 8 + g;
	tick eight = cost(topology, COLL_ALLREDUCE, "ring", devices, 4, 8, 4000000);
	CU_ASSERT(within(eight, 6 * (8 * chunk / nic + lat), 0.02));
	tick one = cost(topology, COLL_ALLREDUCE, "ring", devices, 4, 1, 4000000);
	CU_ASSERT(within(one, 6 * (chunk / nic + lat), 0.02));
}

static CU_TestInfo tests[] = {
	{"a ring mapped badly on a torus", a_ring_mapped_badly_on_a_torus},
	{"an all-to-all through an oversubscribed tree",
		an_all_to_all_through_an_oversubscribed_tree},
	{"eight rings through shared NICs", eight_rings_through_shared_nics},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("run contention", tests);
}
