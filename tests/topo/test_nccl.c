/* Topology files of other tools: NCCL's XML, clusters of such nodes, SimAI's text. */
#include "base/rng.h"
#include "suite.h"
#include "temp.h"

static const char *shared(void)
{
	static bool told;
	const char *dir = getenv("WHAM_SHARED");
	if (!dir && !told)
		printf("skipped: WHAM_SHARED not set\n");
	told = told || !dir;
	return dir;
}

static bool read_shared(struct arena *a, const char *name, struct topo *t, struct err *err)
{
	return topo_read(a, arena_printf(a, "%s/%s", shared(), name), t, err);
}

/* Rate of the link between two nodes, in MB/s; 0 when there is none. */
static uint64_t rate(const struct topo *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_links; i++)
		if (strcmp(t->links[i].name, name) == 0)
			return t->links[i].bytes_per_s / 1000000;
	return 0;
}

static bool route_is(const struct topo *t, uint32_t src, uint32_t dst, const char *names)
{
	uint32_t links[32], n = t->route(t, src, dst, links);
	char text[512] = "";
	for (uint32_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			t->links[links[i]].name);
	if (strcmp(text, names) != 0)
		printf("\nroute %s, expected %s\n", text, names);
	return strcmp(text, names) == 0;
}

static const char node[] =
	"<!-- <graphs> --><system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" "
	"vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n"
	"<pci busid=\"b\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">\n"
	"<pci busid=\"g1\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">"
	"<gpu dev=\"1\" sm=\"80\" rank=\"1\"><nvlink target=\"g0\" count=\"4\" "
	"tclass=\"0x030200\"/>"
	"</gpu></pci>\n"
	"<pci busid=\"g0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">"
	"<gpu dev=\"0\" sm=\"80\" rank=\"0\"><nvlink target=\"g1\" count=\"4\" "
	"tclass=\"0x030200\"/>"
	"</gpu></pci>\n"
	"<pci busid=\"n\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"8\">"
	"<nic><net name=\"mlx5_0\" speed=\"100000\"/></nic></pci>\n"
	"</pci></cpu><cpu numaid=\"1\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
	"modelid=\"85\"><pci busid=\"g2\" class=\"0x030200\" link_speed=\"8 GT/s\" "
	"link_width=\"16\"/>"
	"</cpu></system>";

/* gpu2 has no rank, so bus ids decide where it stands; the others are in order of their ranks. */
static void test_node(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(temp_read(&a, node, &t, &err));
	CU_ASSERT_STRING_EQUAL(t.family, "nccl");
	CU_ASSERT(t.n_devices == 3 && t.n_nodes == 3 + 4 && t.n_warnings == 0);
	CU_ASSERT_EQUAL(rate(&t, "gpu0-gpu1"), 80000);
	CU_ASSERT_EQUAL(rate(&t, "gpu0-pci-b"), 24000);
	CU_ASSERT_EQUAL(rate(&t, "pci-b-mlx5_0"), 12000);
	CU_ASSERT_EQUAL(rate(&t, "cpu0-cpu1"), 10000);
	CU_ASSERT_EQUAL(rate(&t, "gpu2-cpu1"), 12000);
	CU_ASSERT(route_is(&t, 0, 1, "gpu0-gpu1"));
	CU_ASSERT(route_is(&t, 0, 2, "gpu0-pci-b pci-b-cpu0 cpu0-cpu1 cpu1-gpu2"));
	arena_free(&a);
}

static void test_bad_nodes(void)
{
	CU_ASSERT(temp_refused("<system version=\"7\"/>", ":1:1", "expected 1 (NCCL)"));
	CU_ASSERT(
		temp_refused("<system version=\"1\">\n<cpu numaid=\"0\"/></system>", "", "no GPU"));
	CU_ASSERT(temp_refused("<system version=\"1\">\n<cpu numaid=\"0\">", ":2:", ""));
	CU_ASSERT(temp_refused("<graphs version=\"1\"/>", "", "graph file"));
	CU_ASSERT(temp_refused(
		"<system version=\"1\">\n<pci busid=\"x\" class=\"0x030200\"/></system>", ":2:1",
		"outside of <cpu>"));
	CU_ASSERT(temp_refused("<system version=\"1\"><cpu>\n<pci busid=\"x\" class=\"0x030200\" "
			       "link_speed=\"fast\"/></cpu></system>",
		":2:1", "'16 GT/s'"));
	CU_ASSERT(temp_refused("<system version=\"1\"><cpu>\n<pci busid=\"x\" class=\"0x030200\" "
			       "link_width=\"-3\"/></cpu></system>",
		":2:1", "link_width"));
	CU_ASSERT(temp_refused("<system version=\"1\"><cpu>\n<gpu dev=\"0\"/></cpu></system>",
		":2:1", "outside of a <pci>"));
	CU_ASSERT(temp_refused(
		"<system version=\"1\"><cpu>\n<nic><net name=\"a\"/></nic></cpu></system>",
		":2:", "without speed"));
}

/* A file of 500 GPUs: there is no limit on nodes. */
static void test_large_node(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	struct text xml = {0};
	text_add(&xml, "<system version=\"1\">");
	for (int cpu = 0; cpu < 4; cpu++) {
		text_add(&xml, "<cpu numaid=\"%d\">", cpu);
		for (int i = 0; i < 125; i++)
			text_add(&xml,
				"<pci busid=\"%d:%03d\" class=\"0x030200\" link_speed=\"16 GT/s\" "
				"link_width=\"16\"/>",
				cpu, i);
		text_add(&xml, "</cpu>");
	}
	text_add(&xml, "</system>");
	CU_ASSERT_FATAL(temp_read(&a, xml.data, &t, &err));
	CU_ASSERT(t.n_devices == 500 && t.n_nodes == 504 && t.max_hops == 3);
	text_free(&xml);
	arena_free(&a);
}

/* Every file loads with its GPUs; the order of channels is no topology. */
static void test_files(void)
{
	static const struct {
		const char *name;
		uint32_t n_gpus, n_links;
	} files[] = {
		{"ncv4-topo", 4, 22},
		{"ndv2-topo", 8, 20},
		{"ndv4-topo", 8, 52},
		{"ndv5-topo", 8, 50},
		{"topo_16p1h", 16, 172},
		{"topo_3p_pcie", 3, 16},
		{"topo_4p4h", 16, 152},
		{"topo_8p6l_4nic", 8, 90},
		{"topo_8p_90a_1", 8, 48},
		{"topo_8p_940", 8, 138},
		{"topo_8p_rome_n4", 8, 92},
		{"topo_collnet_n4", 8, 100},
	};
	for (size_t i = 0; shared() && i < sizeof(files) / sizeof(*files); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		bool ok = read_shared(
			&a, arena_printf(&a, "data/nccl_topology/%s.xml", files[i].name), &t, &err);
		if (!ok)
			printf("\n%s\n", err.text);
		CU_ASSERT_FATAL(ok);
		CU_ASSERT_EQUAL(t.n_devices, files[i].n_gpus);
		CU_ASSERT_EQUAL(t.n_links, files[i].n_links);
		arena_free(&a);
	}
}

/* 16 lanes of generation 4 behind one lane of generation 1: 15/80 GB/s. */
static void test_bottleneck(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	if (!shared())
		return;
	CU_ASSERT_FATAL(read_shared(&a, "cases/nccltopo01_x1bottleneck.xml", &t, &err));
	CU_ASSERT_EQUAL(t.n_devices, 2);
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < t.n_links; i++)
		least = t.links[i].bytes_per_s < least ? t.links[i].bytes_per_s : least;
	CU_ASSERT_EQUAL(least, 187500000);
	CU_ASSERT_EQUAL_FATAL(t.n_warnings, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(t.warnings[0], "bottleneck"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.warnings[0], "187.5 MB/s"));
	CU_ASSERT_FALSE(read_shared(&a, "cases/nccltopo02_badversion.xml", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_FALSE(read_shared(&a, "data/nccl_topology/ncv4-graph.xml", &t, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "graph file"));
	arena_free(&a);
}

/* Two nodes and a switch: n1.gpu2 is far from its NIC, and the port is the narrowest link. */
static void test_cluster(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	if (!shared())
		return;
	const char *file = arena_printf(&a, "%s/data/nccl_topology/ndv4-topo.xml", shared());
	const char *json = arena_printf(&a,
		"{\"nodes\":[{\"file\":\"%s\",\"count\":2}],\n\"fabric\":\"crossbar:16,bw=25GB/"
		"s,lat=1us\"}",
		file);
	CU_ASSERT_FATAL(temp_read(&a, json, &t, &err));
	CU_ASSERT_STRING_EQUAL(t.family, "cluster");
	CU_ASSERT_EQUAL(t.n_devices, 16);
	CU_ASSERT_EQUAL(rate(&t, "n0.nic0-f.s0"), 25000);
	CU_ASSERT_EQUAL(t.max_hops, 6);
	/* GPU, PCI switch, one of its two NICs, the fabric, and the same at the other end. */
	uint32_t links[16];
	CU_ASSERT_EQUAL(t.route(&t, 0, 8, links), 6);
	json = arena_printf(
		&a, "{\"nodes\":[{\"file\":\"%s\"}],\n\"fabric\":\"crossbar:7\"}", file);
	CU_ASSERT(temp_refused(json, ":2:", "7 ports, but the nodes have 8 NICs"));
	json = arena_printf(&a, "{\"nodes\":[{\"file\":\"%s\"}],\n\"fabric\":\"crosbar:8\"}", file);
	CU_ASSERT(temp_refused(json, ":2:", "did you mean 'crossbar'"));
	json = arena_printf(&a, "{\"nodes\":[{\"file\":\"%s\"}]}", file);
	CU_ASSERT(temp_refused(json, ":1:", "fabric"));
	arena_free(&a);
}

/* The fabric is faster than the port of 100 Gbps. */
static void test_port_rate(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	if (!shared())
		return;
	const char *json = arena_printf(&a,
		"{\"nodes\":[{\"file\":\"%s/data/nccl_topology/ncv4-topo.xml\"}],"
		"\"fabric\":\"crossbar:1,bw=50GB/s\"}",
		shared());
	CU_ASSERT_FATAL(temp_read(&a, json, &t, &err));
	CU_ASSERT_EQUAL(rate(&t, "n0.eth0-f.s0"), 12500);
	arena_free(&a);
}

static const char simai[] = "5 2 1 1 5 H100\n3 4\n0 3 2400Gbps 0.000025ms 0\n1 3 2400Gbps "
			    "0.000025ms 0\n0 4 333Gbps 0.0005ms 0\n1 4 333Gbps 0.0005ms 0\n2 4 "
			    "333Gbps 0.0005ms 0\n";

static void test_simai(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(temp_read(&a, simai, &t, &err));
	CU_ASSERT_STRING_EQUAL(t.family, "simai");
	CU_ASSERT(t.n_devices == 3 && t.n_nodes == 5 && t.n_links == 10);
	CU_ASSERT_EQUAL(rate(&t, "gpu0-nvswitch3"), 300000);
	CU_ASSERT_EQUAL(rate(&t, "gpu2-switch4"), 41625);
	CU_ASSERT(route_is(&t, 2, 1, "gpu2-switch4 switch4-gpu1"));
	arena_free(&a);
}

static void test_bad_simai(void)
{
	CU_ASSERT(temp_refused("5 2 1 1 5 H100\n3 4\n0 3 1Gbps 0.1ms 0\n",
		":4:", "after 1 links, line 1 promises 5"));
	CU_ASSERT(temp_refused("5 2 x 1 5 H100\n", ":1:", "'x'"));
	CU_ASSERT(temp_refused("2 2 1 1 0 H100\n0 1\n", ":1:", "expected GPUs as well"));
	CU_ASSERT(
		temp_refused("3 2 0 1 1 H100\n1\n0 2 1Gbps 0.1ms 0\n", ":2:", "below 2 are GPUs"));
	CU_ASSERT(temp_refused("2 2 0 0 1 H100\n0 2 1Gbps 0.1ms 0\n", ":2:", "up to 1"));
	CU_ASSERT(temp_refused("2 2 0 0 1 H100\n0 1 1Gbit 0.1ms 0\n", ":2:", "bandwidth: "));
	CU_ASSERT(temp_refused("2 2 0 0 1 H100\n0 1 0Gbps 0.1ms 0\n", ":2:", "out of range"));
	CU_ASSERT(temp_refused("2 2 0 0 1 H100\n0 1 1Gbps 0.1ms 2\n", ":2:", "error rate"));
	CU_ASSERT(temp_refused("2 2 0 0 1 H100\n0 0 1Gbps 0.1ms 0\n", ":2:", "to itself"));
	CU_ASSERT(temp_refused("2 2 0 0 1 H100\n0 1 1Gbps 0.1ms 0\n0 1\n", ":3:", "more text"));
	CU_ASSERT(temp_refused("3 2 0 0 1 H100\n0 1 1Gbps 0.1ms 0\n", "", "'gpu2' has no way to"));
}

static void test_simai_files(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	if (!shared())
		return;
	CU_ASSERT_FATAL(read_shared(&a, "cases/simaitopo01_6gpu_noswitch.txt", &t, &err));
	CU_ASSERT(t.n_devices == 6 && t.n_nodes == 6 && t.max_hops == 1);
	CU_ASSERT_FALSE(read_shared(&a, "cases/simaitopo02_linkcount.txt", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "after 4 links, line 1 promises 9"));
	CU_ASSERT_FATAL(
		read_shared(&a, "data/simai/Rail_Opti_SingleToR_16g_4gps_200Gbps_H100", &t, &err));
	CU_ASSERT(t.n_devices == 16 && t.n_nodes == 22 && t.max_hops == 4);
	/* Rails of the same number meet in one switch; GPUs do not forward where switches can. */
	CU_ASSERT_FATAL(read_shared(&a, "data/simai/Spectrum-X_16g_8gps_100Gbps_A100", &t, &err));
	CU_ASSERT(t.n_devices == 16 && t.n_nodes == 28 && t.max_hops == 4);
	CU_ASSERT(route_is(&t, 0, 8, "gpu0-switch18 switch18-gpu8"));
	uint32_t links[8];
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 9, links), 4);
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT(t.links[links[i]].to >= t.n_devices);
	arena_free(&a);
}

/* Cut off anywhere, or with bytes changed: read or refused as input, nothing else. */
static void test_garbled(void)
{
	static const char *const texts[] = {node, simai};
	static const char letters[] = "0123456789<>/\" -xGpsT=\n";
	struct rng rng;
	uint32_t bad = 0;
	rng_init(&rng, 11);
	for (int i = 0; i < 1500; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		char *text = arena_strdup(&a, texts[i % 2]);
		size_t n = strlen(text);
		if (i % 3 == 0)
			text[rng_below(&rng, n)] = '\0';
		for (uint64_t k = rng_below(&rng, 4); k > 0; k--)
			text[rng_below(&rng, n)] = letters[rng_below(&rng, sizeof(letters) - 1)];
		bad += !temp_read(&a, text, &t, &err) && err.kind != ERR_INPUT;
		arena_free(&a);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a node", test_node},
		{"bad nodes", test_bad_nodes},
		{"a large node", test_large_node},
		{"files of NCCL and RCCL", test_files},
		{"bottleneck", test_bottleneck},
		{"cluster", test_cluster},
		{"rate of a port", test_port_rate},
		{"SimAI", test_simai},
		{"bad files of SimAI", test_bad_simai},
		{"files of SimAI", test_simai_files},
		{"garbled files", test_garbled},
		CU_TEST_INFO_NULL,
	};
	return suite_run("topo of other tools", tests);
}
