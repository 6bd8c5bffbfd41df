/* Messages on both networks: times, order, sharing, determinism. */
#include "base/rng.h"
#include "script.h"
#include "suite.h"

static struct topo parse(struct arena *a, const char *text)
{
	struct topo t;
	struct err err = {0};
	bool ok = topo_parse(a, text, &t, &err);
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	assert(ok);
	return t;
}

static const char *run(struct arena *a, enum net_kind kind, const struct topo *t,
	const struct script_msg *list, uint32_t n)
{
	struct err err = {0};
	const char *reply = script_run(a, kind, t, list, n, &err);
	if (!reply)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reply);
	return reply;
}

static void test_kinds(void)
{
	enum net_kind kind;
	CU_ASSERT(net_kind_find("simgrid", &kind) && kind == NET_SIMGRID);
	CU_ASSERT(net_kind_find("analytic", &kind) && kind == NET_ANALYTIC);
	CU_ASSERT(!net_kind_find("ns-3", &kind));
	CU_ASSERT_STRING_EQUAL(net_kind_name(NET_SIMGRID), "simgrid");
}

/* 9 MB at 450 GB/s over 0.1 us is 20.1 us; two on one link take 40.1 us. */
static void test_sharing(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "ring:4,bw=450GB/s,lat=0.1us");
	const struct script_msg list[] = {
		{0, 0, 1, 9000000, 0}, {0, 0, 1, 9000000, 0}, {0, 2, 3, 9000000, 0}};
	const char *shared = run(&a, NET_SIMGRID, &t, list, 3);
	CU_ASSERT_STRING_EQUAL(shared, "2 20100000\n0 40100000\n1 40100000\n");
	const char *alone = run(&a, NET_ANALYTIC, &t, list, 3);
	CU_ASSERT_STRING_EQUAL(alone, "0 20100000\n1 20100000\n2 20100000\n");
	arena_free(&a);
}

/* The second starts when half of the first is over: 10 us alone, 20 us shared, 10 us alone. */
static void test_late_comer(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "ring:3,bw=450GB/s,lat=0ns");
	const struct script_msg list[] = {{0, 0, 1, 9000000, 0}, {10000000, 0, 1, 9000000, 0}};
	CU_ASSERT_STRING_EQUAL(run(&a, NET_SIMGRID, &t, list, 2), "0 30000000\n1 40000000\n");
	arena_free(&a);
}

/* Zero bytes cost the latency, a message to oneself nothing, a fraction of a byte its share. */
static void test_small(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "crossbar:3,bw=1GB/s,lat=500ns");
	const struct script_msg list[] = {{7, 0, 1, 0, 0}, {7, 1, 1, 1000, 0}, {0, 1, 2, 1000, 3}};
	CU_ASSERT_STRING_EQUAL(run(&a, NET_ANALYTIC, &t, list, 3), "1 7\n0 1000007\n2 1333334\n");
	CU_ASSERT_STRING_EQUAL(run(&a, NET_SIMGRID, &t, list, 3), "1 7\n0 1000007\n2 1333333\n");
	arena_free(&a);
}

/* Every device sends to its neighbour, bytes and starts at random: nobody shares a link. */
static void test_uncontended_ring(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "ring:64,bw=62GB/s,lat=1us");
	struct script_msg list[256];
	struct rng rng;
	rng_init(&rng, 1);
	for (uint32_t i = 0; i < 256; i++)
		list[i] = (struct script_msg){
			(i / 64) * TICKS_PER_S / 1000 + rng_below(&rng, 1000000), i % 64,
			(i + 1) % 64, rng_below(&rng, 50000000), 0};
	const char *simgrid = run(&a, NET_SIMGRID, &t, list, 256);
	const char *analytic = run(&a, NET_ANALYTIC, &t, list, 256);
	for (uint32_t i = 0; i < 256; i++) {
		tick s = script_arrival(simgrid, i), c = script_arrival(analytic, i);
		CU_ASSERT((s > c ? s - c : c - s) <= 2);
	}
	arena_free(&a);
}

/* Lone messages over many hops: 1 ps per hop at most. */
static void test_lone_messages(void)
{
	static const char *const specs[] = {"torus:4x3x5,bw=33GB/s,lat=700ns",
		"crossbar:9,bw=6GiB/s", "hypercube:5,bw=100Gbps,lat=3ps",
		"mesh:7x2,bw=1B/s,lat=1ms"};
	struct arena a = {0};
	struct rng rng;
	rng_init(&rng, 2);
	for (uint32_t k = 0; k < 4; k++) {
		struct topo t = parse(&a, specs[k]);
		for (uint32_t i = 0; i < 4; i++) {
			struct script_msg m = {0, (uint32_t)rng_below(&rng, t.n_devices), 0,
				rng_below(&rng, 1000), 0};
			m.dst = (m.src + 1 + (uint32_t)rng_below(&rng, t.n_devices - 1)) %
				t.n_devices;
			tick s = script_arrival(run(&a, NET_SIMGRID, &t, &m, 1), 0);
			tick c = script_arrival(run(&a, NET_ANALYTIC, &t, &m, 1), 0);
			tick off = s > c ? s - c : c - s;
			CU_ASSERT(off <= 1 + t.max_hops || (double)off < 1e-12 * (double)c);
		}
	}
	arena_free(&a);
}

static uint32_t random_list(
	struct rng *rng, const struct topo *t, struct script_msg *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct script_msg){rng_below(rng, 4) * 1000000,
			(uint32_t)rng_below(rng, t->n_devices),
			(uint32_t)rng_below(rng, t->n_devices), rng_below(rng, 1000000), 0};
	return n;
}

static void test_runs_are_equal(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "torus:4x4,bw=62GB/s,lat=1us");
	struct script_msg list[200];
	struct rng rng;
	rng_init(&rng, 3);
	uint32_t n = random_list(&rng, &t, list, 200);
	const char *first = run(&a, NET_SIMGRID, &t, list, n);
	for (int i = 0; i < 2; i++)
		CU_ASSERT_STRING_EQUAL(first, run(&a, NET_SIMGRID, &t, list, n));
	arena_free(&a);
}

/* Contention only ever delays. */
static void test_never_faster_than_alone(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "mesh:5x3,bw=10GB/s,lat=2us");
	struct script_msg list[120];
	struct rng rng;
	rng_init(&rng, 4);
	uint32_t n = random_list(&rng, &t, list, 120);
	const char *simgrid = run(&a, NET_SIMGRID, &t, list, n);
	const char *alone = run(&a, NET_ANALYTIC, &t, list, n);
	for (uint32_t i = 0; i < n; i++)
		CU_ASSERT(script_arrival(simgrid, i) + 2 >= script_arrival(alone, i) &&
			  script_arrival(simgrid, i) < TICK_MAX);
	arena_free(&a);
}

/* Clocks that tick while messages fly: what is sent at a time is sent at that time. */
static void test_events_between_arrivals(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "full:6,bw=10GB/s,lat=50ps");
	struct script_msg list[600];
	struct rng rng;
	rng_init(&rng, 7);
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t pair = i % 30, src = pair / 5, dst = pair % 5;
		/* A new message on each link every 10 ns at the earliest, 90 ps to 8 ns long. */
		list[i] = (struct script_msg){(i / 30) * UINT64_C(10000) + rng_below(&rng, 1000),
			src, dst + (dst >= src), rng_below(&rng, 80), 0};
	}
	const char *simgrid = run(&a, NET_SIMGRID, &t, list, 600);
	const char *analytic = run(&a, NET_ANALYTIC, &t, list, 600);
	for (uint32_t i = 0; i < 600; i++) {
		tick s = script_arrival(simgrid, i), c = script_arrival(analytic, i);
		CU_ASSERT((s > c ? s - c : c - s) <= 2);
	}
	arena_free(&a);
}

/* Equal messages that arrive together are done in the order they were sent in. */
static void test_order_of_equals(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "crossbar:64,bw=10GB/s,lat=2us");
	struct script_msg list[64];
	for (uint32_t i = 0; i < 64; i++)
		list[i] = (struct script_msg){0, 63 - i, (64 + 62 - i) % 64, 4096, 0};
	for (int kind = 0; kind < 2; kind++) {
		const char *at = run(&a, kind ? NET_SIMGRID : NET_ANALYTIC, &t, list, 64);
		for (uint32_t i = 0; i < 64; i++, at = strchr(at, '\n') + 1)
			CU_ASSERT_EQUAL(strtoul(at, NULL, 10), i);
	}
	arena_free(&a);
}

static void test_link_bytes(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "ring:4");
	const struct script_msg list[] = {{0, 0, 2, 1000, 0}, {0, 0, 1, 10, 4}, {0, 3, 0, 7, 0}};
	for (int kind = 0; kind < 2; kind++) {
		struct script *s = arena_new(&a, struct script);
		struct err err = {0};
		struct bytes reply = {0};
		s->list = list;
		s->n = 3;
		s->with_links = true;
		/* No pairs: the whole topology is loaded. */
		struct net_job job = {.start = script_start, .finish = script_finish, .ctx = s};
		CU_ASSERT_FATAL(
			net_run(&a, kind ? NET_SIMGRID : NET_ANALYTIC, &t, &job, &reply, &err));
		CU_ASSERT_PTR_NOT_NULL(strstr(reply.data, "d0-d1 1002.500\n"));
		CU_ASSERT_PTR_NOT_NULL(strstr(reply.data, "d1-d2 1000.000\n"));
		CU_ASSERT_PTR_NOT_NULL(strstr(reply.data, "d3-d0 7.000\n"));
		CU_ASSERT_PTR_NOT_NULL(strstr(reply.data, "d1-d0 0.000\n"));
	}
	arena_free(&a);
}

/* 16 EiB over 1 B/s ends at the end of time, not in the past. */
static void test_endless(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "ring:2,bw=1B/s,lat=1000s");
	const struct script_msg list[] = {{0, 0, 1, UINT64_MAX, 0}};
	char expected[64];
	snprintf(expected, sizeof(expected), "0 %" PRIu64 "\n", TICK_MAX - 1);
	CU_ASSERT_STRING_EQUAL(run(&a, NET_ANALYTIC, &t, list, 1), expected);
	CU_ASSERT_STRING_EQUAL(run(&a, NET_SIMGRID, &t, list, 1), expected);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"kinds", test_kinds},
		{"sharing", test_sharing},
		{"a late comer", test_late_comer},
		{"small messages", test_small},
		{"uncontended ring", test_uncontended_ring},
		{"lone messages", test_lone_messages},
		{"runs are equal", test_runs_are_equal},
		{"never faster than alone", test_never_faster_than_alone},
		{"events between arrivals", test_events_between_arrivals},
		{"order of equals", test_order_of_equals},
		{"bytes of links", test_link_bytes},
		{"the end of time", test_endless},
		CU_TEST_INFO_NULL,
	};
	return suite_run("net", tests);
}
