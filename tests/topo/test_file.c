/* Topology files: explicit nodes and links, families, what is shipped, bad input. */
#include "suite.h"
#include "temp.h"

#define LINK(from, to) \
	"{\"from\":\"" from "\",\"to\":\"" to "\",\"bandwidth\":\"1GB/s\",\"latency\":\"1us\"}"

#define ONE_WAY(from, to) \
	"{\"from\":\"" from "\",\"to\":\"" to "\",\"bandwidth\":\"1GB/s\",\"latency\":\"1us\"," \
	"\"duplex\":\"one-way\"}"

static void test_explicit(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	struct topo_figures f;
	uint32_t links[4];
	/* Two switches in parallel between a and b; c hangs on s1 alone. */
	CU_ASSERT_FATAL(temp_read(&a,
		"{\"devices\":[\"a\",\"b\",\"c\"],\"switches\":[\"s0\",\"s1\"],\"links\":[" LINK(
			"a", "s0") "," LINK("a", "s1") "," LINK("b", "s0") "," LINK("b",
			"s1") ","
			      "{\"from\":\"c\",\"to\":\"s1\",\"bandwidth\":\"1GB/"
			      "s\",\"latency\":\"0.5us\",\"count\":3}]}",
		&t, &err));
	CU_ASSERT(t.n_devices == 3 && t.n_nodes == 5 && t.n_links == 10 && t.max_hops == 2);
	CU_ASSERT_STRING_EQUAL(t.family, "file");
	/* b is device 1: of the two ways it takes the second. a is device 0. */
	CU_ASSERT_EQUAL(t.route(&t, 0, 1, links), 2);
	CU_ASSERT_STRING_EQUAL(t.links[links[0]].name, "a-s1");
	CU_ASSERT_STRING_EQUAL(t.links[links[1]].name, "s1-b");
	CU_ASSERT_EQUAL(t.route(&t, 1, 0, links), 2);
	CU_ASSERT_STRING_EQUAL(t.links[links[0]].name, "b-s0");
	CU_ASSERT_EQUAL(t.route(&t, 2, 0, links), 2);
	CU_ASSERT_EQUAL(t.links[links[0]].bytes_per_s, UINT64_C(3000000000));
	CU_ASSERT_EQUAL(t.links[links[0]].latency, 500000);
	CU_ASSERT_FATAL(topo_measure(&t, &f, &err));
	/* a can send through both switches. */
	CU_ASSERT_EQUAL(f.bisection_bytes_per_s, UINT64_C(2000000000));
	CU_ASSERT_EQUAL(f.cables, 5);
	arena_free(&a);
}

static void test_one_way(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	struct topo_figures f;
	CU_ASSERT_FATAL(temp_read(&a,
		"{\"devices\":[\"a\",\"b\",\"c\"],\"links\":[" ONE_WAY("a", "b") "," ONE_WAY(
			"b", "c") "," ONE_WAY("c", "a") "]}",
		&t, &err));
	CU_ASSERT_FATAL(topo_measure(&t, &f, &err));
	CU_ASSERT(t.n_links == 3 && f.cables == 3 && f.diameter == 2);
	CU_ASSERT_DOUBLE_EQUAL(f.mean_hops, 1.5, 1e-12);
	arena_free(&a);
}

static void test_family_file(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(temp_read(&a,
		"{\"family\":\"torus\",\"dims\":[4,4],\"bandwidth\":\"50GB/"
		"s\",\"latency\":\"1us\"}",
		&t, &err));
	CU_ASSERT(t.n_devices == 16 && t.links[5].bytes_per_s == UINT64_C(50000000000));
	CU_ASSERT_STRING_EQUAL(t.summary, "torus:4x4,bw=50 GB/s,lat=1 us");
	arena_free(&a);
}

#define FAMILY(family, dims, bw, lat) \
	"{\"family\":\"" family "\",\n\"dims\":" dims ",\n\"bandwidth\":" bw ",\n\"latency\":" lat \
	"}"

static void test_bad_families(void)
{
	CU_ASSERT(temp_refused(
		FAMILY("rnig", "[4]", "\"1GB/s\"", "\"1us\""), ":1:", "did you mean 'ring'?"));
	CU_ASSERT(temp_refused(FAMILY("ring", "[]", "\"1GB/s\"", "\"1us\""), ":2:", ""));
	CU_ASSERT(temp_refused(FAMILY("ring", "[0]", "\"1GB/s\"", "\"1us\""), ":2:", ""));
	CU_ASSERT(
		temp_refused(FAMILY("ring", "[4,4]", "\"1GB/s\"", "\"1us\""), "", "expected one"));
	CU_ASSERT(temp_refused(FAMILY("torus", "[1,1,1,1,1,1,1,1,1]", "\"1GB/s\"", "\"1us\""),
		":2:", "more than 8"));
	CU_ASSERT(temp_refused(FAMILY("ring", "[4]", "1000", "\"1us\""), ":3:", ""));
	CU_ASSERT(temp_refused(FAMILY("ring", "[4]", "\"0GB/s\"", "\"1us\""), ":3:", ""));
	CU_ASSERT(temp_refused(FAMILY("ring", "[4]", "\"1GB/s\"", "\"-1us\""), ":4:", ""));
	CU_ASSERT(temp_refused(FAMILY("ring", "[4]", "\"1GB/s\"", "\"2000s\""), ":4:", "1000 s"));
	CU_ASSERT(temp_refused("{\"family\":\"ring\",\"dimz\":[4]}", ":1:", "dims"));
	CU_ASSERT(temp_refused(
		"{\"family\":\"fattree\",\n\"dims\":[4,4],\n\"bw\":[]}", ":3:", "'bandwidth'"));
	CU_ASSERT(temp_refused("{\"family\":\"fattree\",\n\"dims\":[4,4],\n\"bandwidth\":[]}",
		":3:", "empty list"));
	CU_ASSERT(temp_refused("{\"family\":\"hierarchical\",\n\"nodes\":4,\n\"devices\":\"x\"}",
		":3:", "whole number"));
	CU_ASSERT(temp_refused("{\"family\":\"hierarchical\",\"nodes\":4}", "", "devices="));
}

#define NODES "{\"devices\":[\"a\",\"b\"],\"links\":[\n"

static void test_bad_files(void)
{
	CU_ASSERT(temp_refused("{\"devices\":[]}", ":1:", ""));
	CU_ASSERT(temp_refused("[1]", ":1:1", ""));
	CU_ASSERT(temp_refused("{\"devices\":[\"a\"", ":1:", ""));
	CU_ASSERT(temp_refused(
		"{\"devices\":[\"a\",\"a\"],\"links\":[]}", ":1:17", "two nodes called 'a'"));
	CU_ASSERT(temp_refused("{\"devices\":[\"\"],\"links\":[]}", ":1:", "empty name"));
	CU_ASSERT(temp_refused("{\"name\":3,\"devices\":[\"a\"],\"links\":[]}", ":1:9", ""));
	CU_ASSERT(temp_refused(NODES LINK("a", "x") "]}", ":2:", "'x' is neither"));
	CU_ASSERT(temp_refused(NODES LINK("a", "a") "]}", ":2:1", "to itself"));
	CU_ASSERT(temp_refused(
		NODES LINK("a", "b") ",\n" LINK("b", "a") "]}", ":3:1", "two links called 'b-a'"));
	CU_ASSERT(temp_refused(NODES "]}", "", "device 'b' has no way to device 'a'"));
	CU_ASSERT(temp_refused(NODES
		"{\"from\":\"a\",\"to\":\"b\",\"bandwidth\":\"1GB/s\",\"latency\":\"1us\","
		"\"duplex\":\"one-way\"}]}",
		"", "device 'b' has no way to device 'a'"));
	CU_ASSERT(temp_refused(NODES
		"{\"from\":\"a\",\"to\":\"b\",\"bandwidth\":\"1GB/s\",\"latency\":\"1us\","
		"\"duplex\":\"half\"}]}",
		":2:", "expected 'full' or 'one-way'"));
	CU_ASSERT(temp_refused(NODES
		"{\"from\":\"a\",\"to\":\"b\",\"bandwidth\":\"0GB/s\",\"latency\":\"1us\"}]}",
		":2:", ""));
	CU_ASSERT(temp_refused(NODES "{\"from\":\"a\",\"to\":\"b\",\"bandwidth\":\"100000000GB/"
				     "s\",\"latency\":\"1us\",\"count\":1024}]}",
		":2:", "does not fit"));
	CU_ASSERT(temp_refused(
		NODES "{\"from\":\"a\",\"to\":\"b\",\"latency\":\"1us\"}]}", ":2:", "bandwidth"));
	CU_ASSERT(temp_refused(NODES "{\"from\":\"a\",\"too\":\"b\"}]}", ":2:", "'to'"));
}

static bool read_shipped(struct arena *a, const char *name, struct topo *t)
{
	struct err err = {0};
	const char *root = getenv("WHAM_SOURCE_ROOT");
	bool ok =
		root && topo_read(a, arena_printf(a, "%s/topologies/%s.json", root, name), t, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	return ok;
}

static void test_shipped(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	struct topo_figures f;
	CU_ASSERT_FATAL(read_shipped(&a, "tpuv2-256", &t));
	CU_ASSERT(t.n_devices == 256 && t.n_links == 1024 && t.max_hops == 16);
	CU_ASSERT_EQUAL(t.links[0].bytes_per_s, UINT64_C(62000000000));
	CU_ASSERT_STRING_EQUAL(t.name, "tpuv2-256");
	CU_ASSERT_FATAL(read_shipped(&a, "ring4-tpuv2", &t));
	CU_ASSERT(t.n_devices == 4 && t.n_links == 8 && t.links[0].latency == 1000000);
	CU_ASSERT_FATAL(read_shipped(&a, "cori-like", &t));
	CU_ASSERT(t.n_devices == 4096 && t.links[0].bytes_per_s == UINT64_C(6) << 30);
	CU_ASSERT_FATAL(read_shipped(&a, "dgx1-v100", &t));
	CU_ASSERT_FATAL(topo_measure(&t, &f, &err));
	/* Four boards of the front half face the back half with 2 + 2 + 1 + 1 cables. */
	CU_ASSERT(t.n_devices == 8 && f.cables == 16 && f.diameter == 2);
	CU_ASSERT_EQUAL(f.bisection_bytes_per_s, UINT64_C(150000000000));
	arena_free(&a);
}

/* Machines as their sources say: devices, longest way, bisection as a number of device links. */
static void test_machines(void)
{
	static const struct {
		const char *name;
		uint32_t n_devices, n_links, max_hops;
		uint64_t bisection;
	} machines[] = {
		{"100gbe-cluster", 256, 2 * 512, 4, UINT64_C(128) * 12500000000},
		{"dgx-a100", 8, 2 * 16, 2, UINT64_C(4) * 300000000000},
		{"dgx-h100", 8, 2 * 16, 2, UINT64_C(4) * 450000000000},
		{"selene", 4480, 2 * 3 * 4480, 6, UINT64_C(2240) * 25000000000},
		{"tpuv3-1024", 1024, 4096, 32, UINT64_C(64) * 82000000000},
		{"tpuv4-cube", 64, 384, 6, UINT64_C(32) * 50000000000},
	};
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		struct arena a = {0};
		struct topo t;
		CU_ASSERT_FATAL(read_shipped(&a, machines[i].name, &t));
		CU_ASSERT_EQUAL(t.n_devices, machines[i].n_devices);
		CU_ASSERT_EQUAL(t.n_links, machines[i].n_links);
		CU_ASSERT_EQUAL(t.max_hops, machines[i].max_hops);
		CU_ASSERT_EQUAL(t.formula->bisection_bytes_per_s, machines[i].bisection);
		arena_free(&a);
	}
}

/* Every GPU of a DGX-1 has six NVLinks of 25 GB/s. */
static void test_dgx1_degree(void)
{
	struct arena a = {0};
	struct topo t;
	uint64_t out[8] = {0};
	CU_ASSERT_FATAL(read_shipped(&a, "dgx1-v100", &t));
	for (uint32_t i = 0; i < t.n_links; i++)
		out[t.links[i].from] += t.links[i].bytes_per_s;
	for (int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(out[i], UINT64_C(150000000000));
	arena_free(&a);
}

static void test_missing(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FALSE(topo_read(&a, "/nonexistent/x.json", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	CU_ASSERT_FALSE(topo_read(&a, "/tmp", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	CU_ASSERT_FALSE(temp_read(&a, "", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"explicit nodes and links", test_explicit},
		{"one-way links", test_one_way},
		{"a family in a file", test_family_file},
		{"bad families", test_bad_families},
		{"bad files", test_bad_files},
		{"what is shipped", test_shipped},
		{"machines", test_machines},
		{"six links per GPU", test_dgx1_degree},
		{"missing files", test_missing},
		CU_TEST_INFO_NULL,
	};
	return suite_run("topo files", tests);
}
