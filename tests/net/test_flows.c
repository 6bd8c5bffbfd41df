#include "net/flows.h"

#include "base/rng.h"
#include "script.h"
#include "suite.h"

static struct topo parse(struct arena *a, const char *text)
{
	struct topo t;
	struct err err = {0};
	CU_ASSERT_FATAL(topo_parse(a, text, &t, &err));
	return t;
}

/* First and last arrival when all messages really share the whole topology. */
static struct net_flow_times whole(
	struct arena *a, const struct topo *t, const struct net_flow *list, uint32_t n)
{
	struct script_msg *msgs = arena_array(a, n + 1, struct script_msg);
	struct net_flow_times out = {0};
	struct err err = {0};
	for (uint32_t i = 0; i < n; i++)
		msgs[i] = (struct script_msg){
			0, list[i].src, list[i].dst, list[i].bytes, list[i].divisor};
	const char *reply = script_run(a, NET_SIMGRID, t, msgs, n, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reply);
	for (uint32_t i = 0, seen = 0; i < n; i++) {
		tick at = script_arrival(reply, i);
		if (list[i].src == list[i].dst)
			continue;
		out.first = seen++ == 0 || at < out.first ? at : out.first;
		out.last = at > out.last ? at : out.last;
	}
	return out;
}

static bool close_to(tick a, tick b)
{
	return a > b ? a - b <= 2 + a / 1000000000 : b - a <= 2 + b / 1000000000;
}

/* No link has carried more than it can by the time the last message is there. */
static void check_capacity(
	struct arena *a, const struct topo *t, const struct net_flow *list, uint32_t n, tick last)
{
	double *bytes = arena_array(a, t->n_links, double);
	uint32_t *route = arena_array(a, t->max_hops + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t hops = 0;
		if (list[i].src != list[i].dst)
			hops = t->route(t, list[i].src, list[i].dst, route);
		for (uint32_t k = 0; k < hops; k++)
			bytes[route[k]] += (double)list[i].bytes / (double)list[i].divisor;
	}
	for (uint32_t l = 0; l < t->n_links; l++)
		CU_ASSERT(
			bytes[l] <= ticks_to_s(last) * (double)t->links[l].bytes_per_s * 1.000001);
}

/* The parts put together are the whole: random messages on random topologies. */
static void random_sets_last_as_long_in_parts(void)
{
	static const char *const topologies[] = {"ring:7,bw=10GB/s,lat=300ns",
		"torus:3x4,bw=25GB/s,lat=1us", "crossbar:9,bw=5GB/s,lat=0ns",
		"hypercube:3,bw=1GB/s,lat=2us", "full:6,bw=2GB/s,lat=1us"};
	struct rng rng;
	rng_init(&rng, 11);
	for (uint32_t i = 0; i < 30; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t = parse(&a, topologies[i % 5]);
		struct net_flow list[24];
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 24);
		for (uint32_t k = 0; k < n; k++)
			list[k] = (struct net_flow){(uint32_t)rng_below(&rng, t.n_devices),
				(uint32_t)rng_below(&rng, t.n_devices),
				(1 + rng_below(&rng, 3)) * 500000, 1 + rng_below(&rng, 2)};
		struct net_flows *f = net_flows_create(NET_SIMGRID, &t);
		uint32_t set = net_flows_add(f, list, n);
		CU_ASSERT_FATAL(net_flows_solve(f, NULL, &err));
		struct net_flow_times parts = net_flows_times(f, set), all = whole(&a, &t, list, n);
		CU_ASSERT(close_to(parts.first, all.first));
		CU_ASSERT(close_to(parts.last, all.last));
		check_capacity(&a, &t, list, n, all.last);
		net_flows_destroy(f);
		arena_free(&a);
	}
}

static uint32_t add_ring(struct net_flows *f, struct arena *a, uint32_t n, uint64_t bytes)
{
	struct net_flow *list = arena_array(a, n, struct net_flow);
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct net_flow){i, (i + 1) % n, bytes, 1};
	return net_flows_add(f, list, n);
}

static void a_ring_on_a_ring_is_one_message(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t = parse(&a, "ring:1000,bw=10GB/s,lat=1us");
	struct net_flows *f = net_flows_create(NET_SIMGRID, &t);
	uint32_t set = add_ring(f, &a, 1000, 10000000);
	uint32_t again = add_ring(f, &a, 1000, 10000000), empty = net_flows_add(f, NULL, 0);
	CU_ASSERT_FATAL(net_flows_solve(f, NULL, &err));
	CU_ASSERT_EQUAL(net_flows_count(f).different, 1);
	CU_ASSERT_EQUAL(net_flows_count(f).components, 2000);
	CU_ASSERT_EQUAL(net_flows_times(f, set).last, UINT64_C(1001000000)); /* 1 us + 1 ms */
	CU_ASSERT_EQUAL(net_flows_times(f, set).first, UINT64_C(1001000000));
	CU_ASSERT_EQUAL(net_flows_times(f, again).last, UINT64_C(1001000000));
	CU_ASSERT_EQUAL(net_flows_times(f, empty).last, 0);
	net_flows_destroy(f);
	arena_free(&a);
}

/* Every second device sends four away: pairs of messages share links, and all pairs are alike. */
static void equal_components_are_simulated_once(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t = parse(&a, "crossbar:64,bw=10GB/s,lat=1us");
	struct net_flow list[64];
	for (uint32_t i = 0; i < 32; i++) {
		list[2 * i] = (struct net_flow){2 * i, 2 * i + 1, 1000000, 1};
		list[2 * i + 1] = (struct net_flow){2 * i, (2 * i + 1) % 64, 3000000, 1};
	}
	struct net_flows *f = net_flows_create(NET_SIMGRID, &t);
	uint32_t set = net_flows_add(f, list, 64);
	CU_ASSERT_FATAL(net_flows_solve(f, NULL, &err));
	CU_ASSERT_EQUAL(net_flows_count(f).components, 32);
	CU_ASSERT_EQUAL(net_flows_count(f).different, 1);
	/* Both share until the small one is through: 2 us + 0.2 ms, then 2 MB alone. */
	CU_ASSERT_EQUAL(net_flows_times(f, set).first, UINT64_C(202000000));
	CU_ASSERT_EQUAL(net_flows_times(f, set).last, UINT64_C(402000000));
	net_flows_destroy(f);
	arena_free(&a);
}

static void the_analytic_network_has_the_same_interface(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t = parse(&a, "ring:8,bw=10GB/s,lat=1us");
	struct net_flow list[] = {{0, 2, 1000000, 1}, {1, 3, 1000000, 1}, {5, 5, 9, 1}};
	struct net_flows *f = net_flows_create(NET_ANALYTIC, &t);
	uint32_t set = net_flows_add(f, list, 3);
	CU_ASSERT_FATAL(net_flows_solve(f, NULL, &err));
	CU_ASSERT_EQUAL(net_flows_times(f, set).last, UINT64_C(102000000));
	net_flows_destroy(f);
	arena_free(&a);
}

/* What all messages carry may change: the set is the same as if nothing were remembered. */
static void a_set_again_with_other_bytes(void)
{
	static const char *const topologies[] = {"ring:8,bw=10GB/s,lat=300ns",
		"torus:3x4,bw=25GB/s,lat=1us", "crossbar:9,bw=5GB/s,lat=0ns",
		"mesh:2x3,bw=1GB/s,lat=2us"};
	struct rng rng;
	rng_init(&rng, 12);
	for (uint32_t i = 0; i < 20; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t = parse(&a, topologies[i % 4]);
		struct net_flow list[2][24];
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 24);
		for (uint32_t k = 0; k < n; k++) {
			list[0][k] = (struct net_flow){(uint32_t)rng_below(&rng, t.n_devices),
				(uint32_t)rng_below(&rng, t.n_devices), 1234567, 1};
			list[1][k] = list[0][k];
			list[1][k].bytes = 9999999;
			list[1][k].divisor = 7;
		}
		struct net_flows *both = net_flows_create(NET_SIMGRID, &t);
		struct net_flows *alone = net_flows_create(NET_SIMGRID, &t);
		net_flows_add(both, list[0], n);
		uint32_t again = net_flows_add(both, list[1], n);
		uint32_t first = net_flows_add(alone, list[1], n);
		CU_ASSERT_FATAL(
			net_flows_solve(both, NULL, &err) && net_flows_solve(alone, NULL, &err));
		struct net_flow_times x = net_flows_times(both, again);
		struct net_flow_times y = net_flows_times(alone, first);
		CU_ASSERT(close_to(x.first, y.first) && close_to(x.last, y.last));
		CU_ASSERT(close_to(y.last, whole(&a, &t, list[1], n).last));
		CU_ASSERT_EQUAL(
			net_flows_count(both).different, 2 * net_flows_count(alone).different);
		net_flows_destroy(both);
		net_flows_destroy(alone);
		arena_free(&a);
	}
}

/* Links carry what was sent over them, whether or not messages are alike. */
static void loads_of_links(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "ring:8,bw=10GB/s,lat=1us");
	struct net_flow list[] = {{0, 2, 3000, 2}, {1, 3, 3000, 2}, {5, 5, 3000, 2}};
	double *bytes = arena_array(&a, t.n_links, double), sum = 0;
	uint32_t route[8];
	struct net_flow_use uses[3];
	struct net_flows *f = net_flows_create(NET_ANALYTIC, &t);
	for (int turn = 0; turn < 3; turn++) {
		list[0].bytes = 3000 + (uint64_t)turn % 2 * 1000; /* alike, not, alike */
		uses[turn] = (struct net_flow_use){net_flows_add(f, list, 3), 10};
	}
	net_flows_load(f, uses, 3, bytes);
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 2, route), 2);
	CU_ASSERT_EQUAL(bytes[route[0]], 50000);
	CU_ASSERT_EQUAL(bytes[route[1]], 50000 + 45000);
	for (uint32_t l = 0; l < t.n_links; l++)
		sum += bytes[l];
	CU_ASSERT_EQUAL(sum, 2 * (50000 + 45000));
	net_flows_destroy(f);
	arena_free(&a);
}

static bool at_once(void)
{
	return true;
}

/* Asked to stop, it says so, and what it knows stays. */
static void test_stop(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo topo;
	CU_ASSERT_FATAL(topo_parse(&a, "ring:4,bw=1GB/s,lat=1us", &topo, &err));
	struct net_flows *f = net_flows_create(NET_ANALYTIC, &topo);
	struct net_flow flow = {0, 1, 1000, 1};
	uint32_t set = net_flows_add(f, &flow, 1);
	CU_ASSERT_FALSE(net_flows_solve(f, at_once, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	CU_ASSERT(net_flows_solve(f, NULL, &err));
	CU_ASSERT_EQUAL(net_flows_times(f, set).last, TICKS_PER_S / 500000);
	CU_ASSERT(net_flows_solve(f, at_once, &err)); /* nothing is left to do */
	net_flows_destroy(f);
	arena_free(&a);
}

static CU_TestInfo tests[] = {
	{"random sets last as long in parts", random_sets_last_as_long_in_parts},
	{"a ring on a ring is one message", a_ring_on_a_ring_is_one_message},
	{"equal components are simulated once", equal_components_are_simulated_once},
	{"a set again with other bytes", a_set_again_with_other_bytes},
	{"loads of links", loads_of_links},
	{"the analytic network has the same interface",
		the_analytic_network_has_the_same_interface},
	{"stops when asked", test_stop},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("net flows", tests);
}
