/* What if: failed and slow links, scales, ranks on other devices. */
#include <inttypes.h>

#include "base/rng.h"
#include "suite.h"
#include "temp.h"

static struct topo parse(struct arena *a, const char *spec)
{
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(topo_parse(a, spec, &t, &err));
	return t;
}

static bool fail_link(struct arena *a, const char *link, struct topo *t, struct err *err)
{
	struct topo_changes c = {.fail = &link, .n_fail = 1};
	return topo_change(a, &c, t, err);
}

static void test_ring_without_link(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo_figures f;
	uint32_t links[8];
	struct topo t = parse(&a, "ring:6");
	CU_ASSERT_FATAL(fail_link(&a, "d0-d1", &t, &err));
	CU_ASSERT(t.n_links == 10 && t.altered && t.n_dims == 0 && !t.formula);
	/* Round the other way; what does not meet the gap stays as it was. */
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 1, links), 5);
	CU_ASSERT_STRING_EQUAL(t.links[links[0]].name, "d0-d5");
	CU_ASSERT_STRING_EQUAL(t.links[links[4]].name, "d2-d1");
	CU_ASSERT_EQUAL(t.route(&t, 2, 4, links), 2);
	CU_ASSERT_FATAL(topo_measure(&t, &f, &err));
	CU_ASSERT(f.cables == 5 && f.diameter == 5 && t.max_hops == 5);
	CU_ASSERT_STRING_EQUAL(t.summary, "ring:6,bw=25 GB/s,lat=1 us, without d0-d1");
	CU_ASSERT_FALSE(fail_link(&a, "3-4", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "unreachable"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "device 'd1' has no way to device 'd0'"));
	arena_free(&a);
}

static bool valid(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	uint32_t n = t->route(t, src, dst, links), at = src;
	for (uint32_t i = 0; i < n; i++) {
		if (links[i] >= t->n_links || t->links[links[i]].from != at)
			return false;
		at = t->links[links[i]].to;
	}
	return at == dst && n <= t->max_hops;
}

/* Links fail one after the other until two devices are cut off: until then all routes hold. */
static void test_many_failures(void)
{
	static const char *const specs[] = {"torus:4x4", "fattree:4x4", "dragonfly:5x2x2,global=4",
		"hierarchical:4x4,tree=2/2", "hypercube:4", "mesh:3x5", "full:6"};
	struct rng rng;
	rng_init(&rng, 3);
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t = parse(&a, specs[i]);
		uint32_t bad = 0, n_failed = 0;
		for (;; n_failed++) {
			const char *name = t.links[rng_below(&rng, t.n_links)].name;
			if (!fail_link(&a, name, &t, &err))
				break;
			uint32_t *links = arena_array(&a, t.max_hops + 1, uint32_t);
			for (uint32_t src = 0; src < t.n_devices; src++)
				for (uint32_t dst = 0; dst < t.n_devices; dst++)
					bad += src != dst && !valid(&t, src, dst, links);
		}
		CU_ASSERT_EQUAL(bad, 0);
		CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
		arena_free(&a);
	}
}

static void test_degrade(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t = parse(&a, "ring:4,bw=10GB/s");
	static const char *const slow[] = {"d1-d0=0.5", "2-3=0.25"};
	struct topo_changes c = {.degrade = slow, .n_degrade = 2};
	CU_ASSERT_FATAL(topo_change(&a, &c, &t, &err));
	for (uint32_t i = 0; i < t.n_links; i++) {
		uint32_t low = t.links[i].from < t.links[i].to ? t.links[i].from : t.links[i].to;
		uint32_t high = t.links[i].from + t.links[i].to - low;
		uint64_t expected = high - low != 1 || low == 1 ? 10 : low == 0 ? 5 : 0;
		if (low == 2 && high == 3)
			CU_ASSERT_EQUAL(t.links[i].bytes_per_s, UINT64_C(2500000000))
		else
			CU_ASSERT_EQUAL(t.links[i].bytes_per_s, expected * 1000000000)
	}
	CU_ASSERT(t.altered && t.n_links == 8);
	arena_free(&a);
}

/* One of several parallel cables. */
static void test_parallel(void)
{
	struct arena a = {0};
	struct err err = {0};
	uint32_t links[8];
	struct topo t = parse(&a, "hierarchical:2x4,nics=2,network=fattree");
	CU_ASSERT_FATAL(fail_link(&a, "s0-s2#1", &t, &err));
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 5, links), 4);
	CU_ASSERT_STRING_EQUAL(t.links[links[1]].name, "s0-s2");
	CU_ASSERT_FALSE(fail_link(&a, "s0-s2", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	arena_free(&a);
}

static void test_scales(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t = parse(&a, "torus:4x4,bw=10GB/s,lat=1us");
	struct topo_changes c = {.bw_scale = 2.5, .lat_scale = 0.5};
	CU_ASSERT_FATAL(topo_change(&a, &c, &t, &err));
	CU_ASSERT(!t.altered && t.n_dims == 2);
	for (uint32_t i = 0; i < t.n_links; i++)
		CU_ASSERT(t.links[i].bytes_per_s == UINT64_C(25000000000) &&
			  t.links[i].latency == 500000);
	c = (struct topo_changes){.bw_scale = 1e-12};
	CU_ASSERT_FALSE(topo_change(&a, &c, &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	c = (struct topo_changes){.lat_scale = 1e11};
	CU_ASSERT_FALSE(topo_change(&a, &c, &t, &err));
	arena_free(&a);
}

static void refuse(struct topo_changes c, enum err_kind kind, const char *part)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t = parse(&a, "ring:4");
	CU_ASSERT_FALSE(topo_change(&a, &c, &t, &err));
	CU_ASSERT_EQUAL(err.kind, kind);
	if (!strstr(err.text, part))
		printf("\n'%s' lacks '%s'\n", err.text, part);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
	arena_free(&a);
}

static void test_bad_changes(void)
{
	static const char *const names[] = {
		"d0-d2", "x", "d0-d1", "d0-d1=", "d0-d1=-1", "d0-d1=x", "d0-d9=1", "9-0"};
	refuse((struct topo_changes){.fail = names, .n_fail = 1}, ERR_USAGE, "no link 'd0-d2'");
	refuse((struct topo_changes){.fail = names + 1, .n_fail = 1}, ERR_USAGE, "such as d0-d1");
	refuse((struct topo_changes){.fail = names + 7, .n_fail = 1}, ERR_USAGE, "no link '9-0'");
	for (int i = 2; i < 6; i++)
		refuse((struct topo_changes){.degrade = names + i, .n_degrade = 1}, ERR_USAGE,
			"LINK=FACTOR");
	refuse((struct topo_changes){.degrade = names + 6, .n_degrade = 1}, ERR_USAGE, "no link");
}

static bool map(struct arena *a, const char *text, const struct topo *t, struct err *err,
	uint32_t **devices, uint32_t *n)
{
	char path[] = "/tmp/wham-test-XXXXXX";
	if (strncmp(text, "random:", 7) == 0 || strcmp(text, "linear") == 0)
		return topo_map_ranks(a, t, text, devices, n, err);
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	bool ok = topo_map_ranks(a, t, path, devices, n, err);
	unlink(path);
	return ok;
}

static void test_maps(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t = parse(&a, "ring:16");
	uint32_t *devices, *again, n;
	CU_ASSERT(map(&a, "linear", &t, &err, &devices, &n) && n == 16 && devices[7] == 7);
	CU_ASSERT_FATAL(map(&a, "random:5", &t, &err, &devices, &n));
	CU_ASSERT(map(&a, "random:5", &t, &err, &again, &n) &&
		  memcmp(devices, again, 16 * sizeof(*devices)) == 0);
	CU_ASSERT(map(&a, "random:6", &t, &err, &again, &n) &&
		  memcmp(devices, again, 16 * sizeof(*devices)) != 0);
	bool seen[16] = {false};
	for (uint32_t i = 0; i < n; i++)
		seen[devices[i]] = true;
	for (uint32_t i = 0; i < 16; i++)
		CU_ASSERT(seen[i]);
	CU_ASSERT(map(&a, "# ranks\n3 d1\n15", &t, &err, &devices, &n) && n == 3);
	CU_ASSERT(devices[0] == 3 && devices[1] == 1 && devices[2] == 15);
	CU_ASSERT_FALSE(map(&a, "1\nd1", &t, &err, &devices, &n));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ":2: device 'd1' is named twice"));
	CU_ASSERT_FALSE(map(&a, "1\n16", &t, &err, &devices, &n));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ":2: '16' is no device of ring:16"));
	CU_ASSERT_FALSE(map(&a, " ", &t, &err, &devices, &n));
	CU_ASSERT_FALSE(map(&a, "random:x", &t, &err, &devices, &n));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	CU_ASSERT_FALSE(topo_map_ranks(&a, &t, "/nonexistent", &devices, &n, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a ring without a link", test_ring_without_link},
		{"many failures", test_many_failures},
		{"slow links", test_degrade},
		{"parallel cables", test_parallel},
		{"scales", test_scales},
		{"bad changes", test_bad_changes},
		{"ranks on devices", test_maps},
		CU_TEST_INFO_NULL,
	};
	return suite_run("topo changes", tests);
}
