/* SimGrid platforms: what the check refuses and where, SimGrid's own examples, what we write. */
#include <stdint.h>

#include "suite.h"
#include "temp.h"

#define HEAD "<?xml version='1.0'?>\n<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n"
#define HOSTS "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>\n"
#define LINK "<link id=\"l\" bandwidth=\"125MBps\" latency=\"50us\"/>\n"
#define TAIL "</zone>\n</platform>\n"

static void test_good(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(temp_read(&a,
		HEAD HOSTS LINK "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n"
				"<cluster id=\"c\" prefix=\"n-\" suffix=\".x\" radical=\"0-3,7\" "
				"speed=\"1Gf,0.5Gf\" "
				"bw=\"10Gbps\" lat=\"0\" bb_bw=\"1.25E9\" bb_lat=\"1e-6s\" "
				"loopback_lat=\"\"/>\n" TAIL,
		&t, &err));
	CU_ASSERT_EQUAL(t.n_devices, 7);
	CU_ASSERT_STRING_EQUAL(t.nodes[0].name, "a");
	CU_ASSERT_STRING_EQUAL(t.nodes[6].name, "n-7.x");
	CU_ASSERT_STRING_EQUAL(t.family, "platform");
	CU_ASSERT_PTR_NULL(t.links);
	struct topo_figures f;
	CU_ASSERT_FALSE(topo_measure(&t, &f, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INTERNAL);
	arena_free(&a);
}

/* <config> would set models and tracing of its own: blanked out, everything else stays in place. */
static void test_config(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(temp_read(&a,
		"<platform version=\"4.1\"><config>\n<prop id=\"tracing\" value=\"yes\"/></config>"
		"<zone id=\"z\" routing=\"Full\">" HOSTS TAIL,
		&t, &err));
	CU_ASSERT_PTR_NULL(strstr(t.platform_xml, "tracing"));
	CU_ASSERT_PTR_NULL(strstr(t.platform_xml, "config"));
	const char *zone = strstr(t.platform_xml, "<zone");
	CU_ASSERT(zone && strchr(t.platform_xml, '\n') < zone);
	arena_free(&a);
}

static void test_bad_xml(void)
{
	CU_ASSERT(temp_refused(HEAD HOSTS "</zone>", ":5:8", "not well-formed"));
	CU_ASSERT(temp_refused(HEAD HOSTS "<host", ":5:", "not well-formed"));
	CU_ASSERT(temp_refused(HEAD "<hots id=\"a\"/>" TAIL, ":4:1", "did you mean <host>?"));
	CU_ASSERT(temp_refused("<html><body/></html>", ":1:1", "unknown element <html>"));
	CU_ASSERT(temp_refused(HEAD TAIL, "", "no host"));
	CU_ASSERT(temp_refused("<", ":1:", "not well-formed"));
	/* Entities that multiply are stopped by the parser. */
	CU_ASSERT(temp_refused("<!DOCTYPE p [<!ENTITY a \"&a;\">]><platform>&a;</platform>",
		":1:", "not well-formed"));
}

#define BAD_LINK(bandwidth, latency) \
	HEAD HOSTS "<link id=\"l\" bandwidth=\"" bandwidth "\" latency=\"" latency "\"/>\n" TAIL

static void test_bad_values(void)
{
	CU_ASSERT(temp_refused(BAD_LINK("125MBq", "50us"), ":5:1", "unknown unit"));
	CU_ASSERT(temp_refused(BAD_LINK("125KBps", "50us"), ":5:1", "unknown unit"));
	CU_ASSERT(temp_refused(BAD_LINK("-125MBps", "50us"), ":5:1", "negative"));
	CU_ASSERT(temp_refused(BAD_LINK("0Bps", "50us"), ":5:1", "zero"));
	CU_ASSERT(temp_refused(BAD_LINK("fast", "50us"), ":5:1", "not a number"));
	CU_ASSERT(temp_refused(BAD_LINK("nan", "50us"), ":5:1", "not a number"));
	CU_ASSERT(temp_refused(BAD_LINK("1Bps,-2Bps", "50us"), ":5:1", "negative"));
	CU_ASSERT(temp_refused(BAD_LINK("", "50us"), ":5:1", "not a number"));
	CU_ASSERT(temp_refused(BAD_LINK("125MBps", "-50us"), ":5:1", "negative"));
	CU_ASSERT(temp_refused(BAD_LINK("125MBps", "50Mus"), ":5:1", "unknown unit"));
	CU_ASSERT(temp_refused(HEAD HOSTS "<link id=\"l\" latency=\"1us\"/>" TAIL, ":5:1",
		"'bandwidth' is missing"));
	CU_ASSERT(temp_refused(HEAD "<host id=\"a\"/>" TAIL, ":4:1", "'speed' is missing"));
	CU_ASSERT(temp_refused(HEAD "<host speed=\"1f\"/>" TAIL, ":4:1", "'id' is missing"));
	CU_ASSERT(temp_refused(HEAD "<host id=\"a\" speed=\"0f\"/>" TAIL, ":4:1", "zero"));
}

#define CLUSTER(radical) \
	HEAD "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"" radical \
	     "\" speed=\"1f\" bw=\"1Bps\" lat=\"0s\"/>" TAIL

static void test_bad_names(void)
{
	CU_ASSERT(temp_refused(HEAD HOSTS HOSTS TAIL, ":5:1", "host 'a'"));
	CU_ASSERT(temp_refused(HEAD "<host id=\"z\" speed=\"1f\"/>" TAIL, ":4:1", "host 'z'"));
	CU_ASSERT(temp_refused(HEAD HOSTS LINK LINK TAIL, ":6:1", "link 'l'"));
	CU_ASSERT(temp_refused(
		HEAD HOSTS LINK "<route src=\"a\" dst=\"q\"/>" TAIL, ":6:1", "dst='q'"));
	CU_ASSERT(temp_refused(
		HEAD HOSTS LINK "<route src=\"a\"/>" TAIL, ":6:1", "'dst' is missing"));
	CU_ASSERT(temp_refused(HEAD HOSTS LINK
		"<route src=\"a\" dst=\"b\"><link_ctn id=\"m\"/></route>" TAIL,
		":6:", "id='m'"));
	CU_ASSERT(temp_refused(HEAD HOSTS
		"<zoneRoute src=\"z\" dst=\"y\" gw_src=\"a\" gw_dst=\"b\"/>" TAIL,
		":5:1", "dst='y'"));
	CU_ASSERT(temp_refused(CLUSTER("0-"), ":4:1", "radical"));
	CU_ASSERT(temp_refused(CLUSTER("3-1"), ":4:1", "radical"));
	CU_ASSERT(temp_refused(CLUSTER("0-3,"), ":4:1", "radical"));
	CU_ASSERT(temp_refused(CLUSTER("0-3,2"), ":4:1", "host 'n2'"));
	CU_ASSERT(temp_refused(CLUSTER("0-99999999"), ":4:1", "more than"));
	CU_ASSERT(temp_refused(CLUSTER("0-99999999999999999999999"), ":4:1", "radical"));
}

/* Whatever is cut off or garbled is refused with a place, or is still a platform. */
static void test_garbled(void)
{
	static const char text[] =
		HEAD HOSTS LINK "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n"
				"<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-3,7\" "
				"speed=\"1f\" bw=\"1Bps\" "
				"lat=\"0s\"/>\n" TAIL;
	size_t complete = strlen(text) - strlen("\n");
	for (size_t i = 1; i < complete; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		CU_ASSERT(!temp_read(&a, arena_strndup(&a, text, i), &t, &err));
		CU_ASSERT(err.kind == ERR_INPUT && strncmp(err.text, "/tmp/", 5) == 0);
		char *garbled = arena_strdup(&a, text);
		garbled[i] = (char)(garbled[i] ^ (1 << i % 7));
		err = (struct err){0};
		bool ok = temp_read(&a, garbled, &t, &err);
		CU_ASSERT(ok ? t.n_devices > 0 : err.kind == ERR_INPUT);
		arena_free(&a);
	}
}

/* All of SimGrid's examples pass, with the number of hosts that SimGrid 3.32 counts in them. */
static void test_examples(void)
{
	static const struct {
		const char *name;
		uint32_t n_hosts;
	} files[] = {{"cluster_and_one_host", 3}, {"cluster_backbone", 100},
		{"cluster_crossbar", 65536}, {"cluster_dragonfly", 120}, {"cluster_fat_tree", 16},
		{"cluster_multi", 24}, {"cluster_torus", 12}, {"config_tracing", 5},
		{"data_center", 120}, {"faulty_host", 2}, {"g5k", 1528}, {"griffon", 92},
		{"ptask_L07", 8}, {"routing_cluster", 6}, {"small_platform", 7},
		{"small_platform_profile", 2}, {"three_multicore_hosts", 3}};
	const char *shared = getenv("WHAM_SHARED");
	if (!shared) {
		printf("skipped: WHAM_SHARED not set\n");
		return;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t = {0};
		bool ok = topo_read(&a,
			arena_printf(&a, "%s/data/simgrid/examples/platforms/%s.xml", shared,
				files[i].name),
			&t, &err);
		if (!ok)
			printf("\n%s\n", err.text);
		CU_ASSERT(ok);
		CU_ASSERT_EQUAL(t.n_devices, files[i].n_hosts);
		arena_free(&a);
	}
}

static uint32_t count(const char *text, const char *part)
{
	uint32_t n = 0;
	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void test_write(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t, back;
	struct text xml = {0};
	CU_ASSERT_FATAL(topo_parse(&a, "ring:8,bw=3GB/s,lat=1500us", &t, &err));
	const struct topo_pair pairs[] = {{0, 2}, {2, 0}, {0, 2}, {5, 5}};
	topo_write_platform(&t, pairs, 4, &xml);
	CU_ASSERT_EQUAL(count(xml.data, "<host "), 3);
	CU_ASSERT_EQUAL(count(xml.data, "<route "), 2);
	CU_ASSERT_EQUAL(count(xml.data, "<link "), 4);
	CU_ASSERT_PTR_NOT_NULL(strstr(xml.data,
		"<link id=\"d0-d1\" bandwidth=\"3000000000Bps\" latency=\"0.001500000000s\"/>"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(xml.data, "<route src=\"d0\" dst=\"d2\" symmetrical=\"NO\">"
				 "<link_ctn id=\"d0-d1\"/><link_ctn id=\"d1-d2\"/></route>"));
	CU_ASSERT(temp_read(&a, xml.data, &back, &err) && back.n_devices == 3 && back.n_links == 4);
	text_free(&xml);
	topo_write_platform(&t, NULL, 0, &xml);
	CU_ASSERT(count(xml.data, "<route ") == 56 && count(xml.data, "<link_ctn ") == 128);
	CU_ASSERT(
		temp_read(&a, xml.data, &back, &err) && back.n_devices == 8 && back.n_links == 16);
	text_free(&xml);
	arena_free(&a);
}

/* Too many routes to spell out: a graph of one-hop routes, switches as routers. */
static void test_write_large(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t, back;
	struct text xml = {0};
	CU_ASSERT_FATAL(topo_parse(&a, "crossbar:2000", &t, &err));
	topo_write_platform(&t, NULL, 0, &xml);
	CU_ASSERT(count(xml.data, "<route ") == 4000 && count(xml.data, "<router ") == 1);
	CU_ASSERT(temp_read(&a, xml.data, &back, &err) && back.n_devices == 2000);
	text_free(&xml);
	arena_free(&a);
}

static void test_escapes(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t, back;
	struct text xml = {0};
	CU_ASSERT_FATAL(temp_read(&a,
		"{\"devices\":[\"a<&\\\"\",\"b'>\"],\"links\":[{\"from\":\"a<&\\\"\",\"to\":\"b'>"
		"\","
		"\"bandwidth\":\"1GB/s\",\"latency\":\"1us\"}]}",
		&t, &err));
	topo_write_platform(&t, NULL, 0, &xml);
	CU_ASSERT_FATAL(temp_read(&a, xml.data, &back, &err));
	CU_ASSERT_STRING_EQUAL(back.nodes[0].name, "a<&\"");
	CU_ASSERT_STRING_EQUAL(back.nodes[1].name, "b'>");
	text_free(&xml);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a good one", test_good},
		{"config is blanked out", test_config},
		{"bad XML", test_bad_xml},
		{"bad values", test_bad_values},
		{"bad names", test_bad_names},
		{"garbled files", test_garbled},
		{"SimGrid's examples", test_examples},
		{"writing", test_write},
		{"writing a large one", test_write_large},
		{"names are escaped", test_escapes},
		CU_TEST_INFO_NULL,
	};
	return suite_run("topo platforms", tests);
}
