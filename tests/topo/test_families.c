/* Families: figures against closed forms, routes of random members, topologies in one word. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "suite.h"
#include "topo/topo.h"

static const uint64_t bw = UINT64_C(10000000000);

static void expect(const char *spec, uint64_t cables, uint32_t diameter, uint64_t bisection_links)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	struct topo_figures f;
	char text[128];
	snprintf(text, sizeof(text), "%s,bw=10GB/s,lat=3ns", spec);
	CU_ASSERT_FATAL(topo_parse(&a, text, &t, &err));
	CU_ASSERT_FATAL(topo_measure(&t, &f, &err));
	CU_ASSERT_EQUAL(f.cables, cables);
	CU_ASSERT_EQUAL(f.diameter, diameter);
	CU_ASSERT_EQUAL(t.max_hops, diameter);
	CU_ASSERT_EQUAL(f.bisection_bytes_per_s, bisection_links * bw);
	arena_free(&a);
}

static void test_rings(void)
{
	expect("ring:1", 0, 0, 0);
	expect("ring:2", 1, 1, 1);
	for (uint32_t n = 3; n < 40; n++) {
		char spec[32];
		snprintf(spec, sizeof(spec), "ring:%" PRIu32, n);
		expect(spec, n, n / 2, 2);
	}
}

static void test_stars(void)
{
	expect("crossbar:1", 1, 0, 0);
	for (uint64_t n = 2; n < 30; n++) {
		char spec[32];
		snprintf(spec, sizeof(spec), "crossbar:%" PRIu64, n);
		expect(spec, n, 2, n / 2);
		snprintf(spec, sizeof(spec), "full:%" PRIu64, n);
		expect(spec, n * (n - 1) / 2, 1, (n / 2) * ((n + 1) / 2));
	}
	expect("crossbar:4096", 4096, 2, 2048);
}

static void test_hypercubes(void)
{
	for (uint32_t k = 1; k < 9; k++) {
		char spec[32];
		snprintf(spec, sizeof(spec), "hypercube:%" PRIu32, k);
		expect(spec, (uint64_t)k << (k - 1), k, UINT64_C(1) << (k - 1));
	}
}

/* The last dimension varies slowest, so the middle cut lies across it. */
static void expect_grid(const uint32_t dims[3])
{
	uint64_t n = (uint64_t)dims[0] * dims[1] * dims[2], torus = 0, mesh = 0;
	uint32_t torus_hops = 0, mesh_hops = 0;
	char spec[64];
	for (int i = 0; i < 3; i++) {
		mesh += n / dims[i] * (dims[i] - 1);
		torus += dims[i] == 2 ? n / 2 : dims[i] == 1 ? 0 : n;
		mesh_hops += dims[i] - 1;
		torus_hops += dims[i] / 2;
	}
	snprintf(spec, sizeof(spec), "torus:%ux%ux%u", dims[0], dims[1], dims[2]);
	expect(spec, torus, torus_hops, n / dims[2] * (dims[2] == 2 ? 1 : 2));
	snprintf(spec, sizeof(spec), "mesh:%ux%ux%u", dims[0], dims[1], dims[2]);
	expect(spec, mesh, mesh_hops, n / dims[2]);
}

static void test_grids(void)
{
	struct rng rng;
	rng_init(&rng, 5);
	for (int i = 0; i < 40; i++) {
		uint32_t dims[3] = {1 + (uint32_t)rng_below(&rng, 6),
			1 + (uint32_t)rng_below(&rng, 6), 2 + 2 * (uint32_t)rng_below(&rng, 3)};
		expect_grid(dims);
	}
}

/* A ring of d has floor(d^2/4)/d hops on average, a device's own zero hops included. */
static void test_mean_hops(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	struct topo_figures f;
	CU_ASSERT_FATAL(topo_parse(&a, "torus:6x5x4", &t, &err));
	CU_ASSERT_FATAL(topo_measure(&t, &f, &err));
	double all = 9.0 / 6 + 6.0 / 5 + 4.0 / 4, n = 120;
	CU_ASSERT_DOUBLE_EQUAL(f.mean_hops, all * n / (n - 1), 1e-12);
	arena_free(&a);
}

static bool route_is_valid(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	uint32_t n = t->route(t, src, dst, links), at = src;
	for (uint32_t i = 0; i < n; i++) {
		if (links[i] >= t->n_links || t->links[links[i]].from != at)
			return false;
		at = t->links[links[i]].to;
	}
	return at == dst && n >= 1 && n <= t->max_hops;
}

static void check_routes(const char *spec)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(topo_parse(&a, spec, &t, &err));
	uint32_t *links = arena_array(&a, t.max_hops + 1, uint32_t), bad = 0;
	for (uint32_t src = 0; src < t.n_devices; src++)
		for (uint32_t dst = 0; dst < t.n_devices; dst++)
			bad += src != dst && !route_is_valid(&t, src, dst, links);
	CU_ASSERT_EQUAL(bad, 0);
	arena_free(&a);
}

static void test_routes(void)
{
	struct rng rng;
	rng_init(&rng, 6);
	for (int i = 0; i < 12; i++) {
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 40);
		uint32_t d[4];
		for (int k = 0; k < 4; k++)
			d[k] = 1 + (uint32_t)rng_below(&rng, 4);
		char spec[64];
		for (const struct topo_family *const *f = topo_families; *f; f++) {
			bool grid =
				strcmp((*f)->name, "torus") == 0 || strcmp((*f)->name, "mesh") == 0;
			if (grid)
				snprintf(spec, sizeof(spec), "%s:%ux%ux%ux%u", (*f)->name, d[0],
					d[1], d[2], d[3]);
			else
				snprintf(spec, sizeof(spec), "%s:%u", (*f)->name,
					strcmp((*f)->name, "hypercube") ? n : 1 + n % 6);
			check_routes(spec);
		}
	}
}

/* Device 0 -> 2 of a ring of 4 is a tie: upwards. Dimensions are corrected in order. */
static void test_route_order(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	uint32_t links[8];
	CU_ASSERT_FATAL(topo_parse(&a, "ring:4", &t, &err));
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 2, links), 2);
	CU_ASSERT_STRING_EQUAL(t.links[links[0]].name, "d0-d1");
	CU_ASSERT_STRING_EQUAL(t.links[links[1]].name, "d1-d2");
	CU_ASSERT_FATAL(topo_parse(&a, "torus:4x3", &t, &err));
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 11, links), 2);
	CU_ASSERT_STRING_EQUAL(t.links[links[0]].name, "d0-d3");
	CU_ASSERT_STRING_EQUAL(t.links[links[1]].name, "d3-d11");
	CU_ASSERT(t.n_dims == 2 && t.dims[0] == 4 && t.dims[1] == 3);
	CU_ASSERT_STRING_EQUAL(t.summary, "torus:4x3,bw=25 GB/s,lat=1 us");
	CU_ASSERT_STRING_EQUAL(t.family, "torus");
	arena_free(&a);
}

static void test_families_sorted(void)
{
	for (size_t i = 1; topo_families[i]; i++)
		CU_ASSERT(strcmp(topo_families[i - 1]->name, topo_families[i]->name) < 0);
	for (size_t i = 0; topo_families[i]; i++) {
		size_t n = strlen(topo_families[i]->name);
		CU_ASSERT(strncmp(topo_families[i]->usage, topo_families[i]->name, n) == 0 &&
			  topo_families[i]->usage[n] == ':');
	}
}

static void refuse(const char *spec, enum err_kind kind, const char *part)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FALSE(topo_parse(&a, spec, &t, &err));
	CU_ASSERT_EQUAL(err.kind, kind);
	if (!strstr(err.text, part))
		printf("'%s' does not contain '%s'\n", err.text, part);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
	arena_free(&a);
}

static void test_bad_specs(void)
{
	refuse("tours:4x4", ERR_USAGE, "did you mean 'torus'?");
	refuse("zzzzzz:4", ERR_USAGE, "known families: crossbar full");
	refuse("", ERR_USAGE, "unknown family");
	refuse("ring", ERR_USAGE, "expected 'ring:N");
	refuse("ring:", ERR_USAGE, "expected 'ring:N");
	refuse("ring:4x", ERR_USAGE, "expected 'ring:N");
	refuse("ring:4;bw=3GB/s", ERR_USAGE, "expected 'ring:N");
	refuse("ring:4x4", ERR_INPUT, "2 dimensions, expected one");
	refuse("ring:0", ERR_INPUT, "between 1 and");
	refuse("ring:99999999999999999999999", ERR_INPUT, "between 1 and");
	refuse("torus:1048576x1048576x1048576", ERR_INPUT, "too many");
	refuse("torus:1x1x1x1x1x1x1x1x1", ERR_INPUT, "more than 8 dimensions");
	refuse("full:100000", ERR_INPUT, "too many");
	refuse("hypercube:21", ERR_INPUT, "too many");
	refuse("ring:4,bw=0GB/s", ERR_INPUT, "zero bandwidth");
	refuse("ring:4,bw=25", ERR_INPUT, "bw: ");
	refuse("ring:4,bw=-25GB/s", ERR_INPUT, "bw: ");
	refuse("ring:4,lat=1GB", ERR_INPUT, "lat: ");
	refuse("ring:4,lat=-1us", ERR_INPUT, "lat: ");
	refuse("ring:4,lat=1001s", ERR_INPUT, "at most 1000 s");
	refuse("ring:4,bx=25GB/s", ERR_USAGE, "did you mean 'bw'?");
	refuse("ring:4,quux=25GB/s", ERR_USAGE, "known keys: bw lat");
	refuse("ring:4,bw", ERR_USAGE, "expected KEY=VALUE");
	refuse("ring:4,", ERR_USAGE, "expected KEY=VALUE");
	refuse("ring:4,lat=1us,lat=2us", ERR_USAGE, "'lat' is given twice");
}

static void test_is_spec(void)
{
	CU_ASSERT(topo_is_spec("ring:4"));
	CU_ASSERT(topo_is_spec("tours:4x4"));
	CU_ASSERT_FALSE(topo_is_spec("ring"));
	CU_ASSERT_FALSE(topo_is_spec("topologies/a:b.json"));
	CU_ASSERT_FALSE(topo_is_spec("./x"));
	CU_ASSERT_FALSE(topo_is_spec(""));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"rings", test_rings},
		{"crossbars and full graphs", test_stars},
		{"hypercubes", test_hypercubes},
		{"grids", test_grids},
		{"mean hops", test_mean_hops},
		{"routes", test_routes},
		{"order of routes", test_route_order},
		{"table of families", test_families_sorted},
		{"bad specs", test_bad_specs},
		{"what a spec looks like", test_is_spec},
		CU_TEST_INFO_NULL,
	};
	return suite_run("topo families", tests);
}
