/* Families: figures against closed forms, routes of random members, topologies in one word. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
	CU_ASSERT_EQUAL(t.formula->cables, cables);
	CU_ASSERT_EQUAL(t.formula->diameter, diameter);
	if (t.formula->bisection_bytes_per_s > 0)
		CU_ASSERT_EQUAL(t.formula->bisection_bytes_per_s, bisection_links * bw);
	arena_free(&a);
}

/* Closed form against the count; says whether there was one for the bisection. */
static bool agrees(const char *spec)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	struct topo_figures f;
	bool ok = topo_parse(&a, spec, &t, &err) && topo_measure(&t, &f, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	CU_ASSERT_FATAL(ok);
	const struct topo_figures *g = t.formula;
	bool has_bisection = g->bisection_bytes_per_s > 0;
	ok = f.cables == g->cables && f.diameter == g->diameter && t.max_hops >= f.diameter &&
	     (!has_bisection || f.bisection_bytes_per_s == g->bisection_bytes_per_s);
	if (!ok)
		printf("\n%s: counted %u cables, diameter %u, %ju B/s; formula %u, %u, %ju\n", spec,
			f.cables, f.diameter, (uintmax_t)f.bisection_bytes_per_s, g->cables,
			g->diameter, (uintmax_t)g->bisection_bytes_per_s);
	CU_ASSERT(ok);
	arena_free(&a);
	return has_bisection;
}

static uint32_t pick(struct rng *rng, uint32_t least, uint32_t most)
{
	return least + (uint32_t)rng_below(rng, most - least + 1);
}

static void test_fat_trees(void)
{
	struct rng rng;
	char spec[160];
	uint32_t n_bisections = 0;
	/* Eight leaves of 4 under 4 spines: 32 device cables and 32 upwards, all bandwidth kept. */
	expect("fattree:4x8", 64, 4, 16);
	expect("fattree:4x8,oversubscription=2", 48, 4, 8);
	expect("fattree:4x4x2", 96, 6, 16);
	rng_init(&rng, 7);
	for (int i = 0; i < 60; i++) {
		uint32_t over[] = {1u << pick(&rng, 0, 2), 1u << pick(&rng, 0, 1)};
		uint32_t down[] = {over[0] * pick(&rng, 1, 3), over[1] * pick(&rng, 1, 3)};
		uint32_t rate[] = {pick(&rng, 1, 9), pick(&rng, 1, 9), pick(&rng, 1, 9)};
		snprintf(spec, sizeof(spec),
			"fattree:%ux%ux%u,bw=%uGB/s/%uGB/s/%uGB/s,oversubscription=%u/%u", down[0],
			down[1], pick(&rng, 1, 4), rate[0], rate[1], rate[2], over[0], over[1]);
		n_bisections += agrees(spec);
	}
	CU_ASSERT(n_bisections >= 20);
}

static void test_dragonflies(void)
{
	struct rng rng;
	char spec[160];
	uint32_t n_bisections = 0;
	/* The balanced one of the paper's example, a = 4, h = 2, p = 2, has 9 groups: no half. */
	CU_ASSERT_FALSE(agrees("dragonfly:9x4x2"));
	/* 112 device cables, 8 groups of 21, 28 between groups; 4 x 4 of them face the middle. */
	expect("dragonfly:8x7x2", 112 + 8 * 21 + 28, 5, 16);
	rng_init(&rng, 8);
	for (int i = 0; i < 80; i++) {
		uint32_t groups = pick(&rng, 1, 10), routers = pick(&rng, 1, 5);
		uint32_t global = (groups - 1 + routers - 1) / routers + pick(&rng, 0, 2);
		snprintf(spec, sizeof(spec), "dragonfly:%ux%ux%u,global=%u,global_bw=%uGB/s",
			groups, routers, pick(&rng, 1, 4), global ? global : 1, pick(&rng, 1, 40));
		n_bisections += agrees(spec);
	}
	CU_ASSERT(n_bisections >= 5);
}

static void test_hierarchies(void)
{
	struct rng rng;
	char spec[200];
	uint32_t n_bisections = 0;
	CU_ASSERT(agrees("hierarchical:4x8,nics=4"));
	rng_init(&rng, 9);
	for (int i = 0; i < 60; i++) {
		uint32_t groups[] = {pick(&rng, 1, 4), pick(&rng, 1, 4)};
		uint32_t devices = 1u << pick(&rng, 0, 3), nics = 1u << pick(&rng, 0, 4);
		snprintf(spec, sizeof(spec),
			"hierarchical:nodes=%u,devices=%u,nics=%u,tree=%u/"
			"%u,network=%s,inter_bw=%uGB/s",
			groups[0] * groups[1], devices, nics, groups[0], groups[1],
			rng_below(&rng, 2) ? "rails" : "fattree", pick(&rng, 1, 200));
		n_bisections += agrees(spec);
	}
	CU_ASSERT(n_bisections >= 20);
}

static void test_pods(void)
{
	struct rng rng;
	char spec[160];
	rng_init(&rng, 10);
	for (int i = 0; i < 40; i++) {
		snprintf(spec, sizeof(spec), "tpu_pod:%ux%ux%u,bw0=%uGB/s,cube=%u",
			pick(&rng, 1, 6), pick(&rng, 1, 6), pick(&rng, 1, 6), pick(&rng, 1, 9),
			pick(&rng, 1, 4));
		agrees(spec);
	}
	/* A slice of 4 x 4 x 8: all wrap. 2 x 2 x 4: only the last does. */
	CU_ASSERT(agrees("tpu_pod:4x4x8"));
	CU_ASSERT(agrees("tpu_pod:2x2x4"));
}

/* A cable that leaves its block has the optical latency, the closing one too. */
static void test_optical(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	uint32_t links[16], n_outer = 0;
	CU_ASSERT_FATAL(topo_parse(&a, "tpu_pod:4x4x8,lat=1us,optical_lat=3us", &t, &err));
	for (uint32_t i = 0; i < t.n_links; i++)
		n_outer += t.links[i].latency == 3000000;
	/* 32 + 32 + 16 closing cables, 16 between the two cubes. */
	CU_ASSERT_EQUAL(n_outer, 2 * (32 + 32 + 32));
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 3, links), 1);
	CU_ASSERT_STRING_EQUAL(t.links[links[0]].name, "d0-d3");
	CU_ASSERT_EQUAL(t.links[links[0]].latency, 3000000);
	CU_ASSERT(t.n_dims == 3 && t.dims[2] == 8);
	CU_ASSERT_FATAL(topo_parse(&a, "tpu_pod:2x2x4", &t, &err));
	CU_ASSERT(t.n_dims == 0 && t.max_hops == 4);
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
			const char *name = (*f)->name;
			bool grid = strcmp(name, "torus") == 0 || strcmp(name, "mesh") == 0;
			bool three = strcmp(name, "dragonfly") == 0 ||
				     strcmp(name, "fattree") == 0 || strcmp(name, "tpu_pod") == 0;
			if (strcmp(name, "hierarchical") == 0)
				snprintf(spec, sizeof(spec), "%s:%ux%u,nics=%u,tree=%u/%u", name,
					d[0] * d[1], 1u << d[2], 1u << d[3], d[0], d[1]);
			else if (three)
				snprintf(spec, sizeof(spec), "%s:%ux%ux%u", name, d[0] + 2, d[1],
					d[2]);
			else if (grid)
				snprintf(spec, sizeof(spec), "%s:%ux%ux%ux%u", name, d[0], d[1],
					d[2], d[3]);
			else
				snprintf(spec, sizeof(spec), "%s:%u", name,
					strcmp(name, "hypercube") ? n : 1 + n % 6);
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
	refuse("zzzzzz:4", ERR_USAGE, "known families: crossbar dragonfly fattree full");
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
	refuse("torus:4x4,bw=1GB/s/2GB/s/3GB/s", ERR_INPUT,
		"bw: 3 values, expected one or as many");
	refuse("torus:4x4,bw=1GB/s/2GB", ERR_INPUT, "bw: ");
	refuse("torus:4x4,bw2=1GB/s", ERR_INPUT, "no dimension 2");
	refuse("torus:4x4,bw0=1", ERR_INPUT, "bw0: ");
	refuse("fattree:6x4,oversubscription=4", ERR_INPUT, "4 does not divide the 6 cables");
	refuse("fattree:4x4,oversubscription=0", ERR_INPUT, "whole number from 1");
	refuse("fattree:1024x1024x1024", ERR_INPUT, "too many");
	refuse("dragonfly:9x4", ERR_INPUT, "GROUPSxROUTERSxDEVICES");
	refuse("dragonfly:9x4x2,global=1", ERR_INPUT, "4 global ports, expected at least 8");
	refuse("dragonfly:2x2x2,global=99999", ERR_INPUT, "too many");
	refuse("hierarchical:nodes=4", ERR_INPUT, "nodes= and devices=");
	refuse("hierarchical:4x8,nodes=4", ERR_INPUT, "NODESxDEVICES");
	refuse("hierarchical:4x8,nics=12", ERR_INPUT, "12 NICs for 8 devices");
	refuse("hierarchical:4x8,tree=3/2", ERR_INPUT, "tree= has 6 nodes, expected 4");
	refuse("hierarchical:4x8,network=tree", ERR_INPUT, "expected one of fattree, rails");
	refuse("hierarchical:", ERR_USAGE, "expected KEY=VALUE");
	refuse("tpu_pod:4", ERR_INPUT, "expected 2 or 3");
}

/* "50GB/s/25GB/s" and "bw1=" say the same; rates and latencies go with the dimension. */
static void test_per_dimension(void)
{
	static const char *const specs[] = {"torus:4x3,bw=50GB/s/200Gbps,lat=1us/2us",
		"torus:4x3,bw=50GB/s,bw1=25GB/s,lat=1us/2us", "torus:4x3,bw0=50GB/s,lat1=2us"};
	for (size_t i = 0; i < 3; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		uint32_t links[4];
		CU_ASSERT_FATAL(topo_parse(&a, specs[i], &t, &err));
		t.route(&t, 0, 1, links);
		CU_ASSERT_EQUAL(t.links[links[0]].bytes_per_s, UINT64_C(50000000000));
		CU_ASSERT_EQUAL(t.links[links[0]].latency, 1000000);
		t.route(&t, 0, 4, links);
		CU_ASSERT_EQUAL(t.links[links[0]].bytes_per_s, UINT64_C(25000000000));
		CU_ASSERT_EQUAL(t.links[links[0]].latency, 2000000);
		CU_ASSERT_STRING_EQUAL(t.summary, "torus:4x3,bw=50 GB/s/25 GB/s,lat=1 us/2 us");
		arena_free(&a);
	}
}

static uint64_t rate_of(const char *spec)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	CU_ASSERT_FATAL(topo_parse(&a, spec, &t, &err));
	uint64_t rate = t.links[0].bytes_per_s;
	arena_free(&a);
	return rate;
}

/* 12.8 Tbps is 1600 GB/s; any rate will do, there is no table of known ones. */
static void test_rates(void)
{
	CU_ASSERT_EQUAL(rate_of("ring:4,bw=1600GB/s"), UINT64_C(1600000000000));
	CU_ASSERT_EQUAL(rate_of("ring:4,bw=12.8Tbps"), UINT64_C(1600000000000));
	CU_ASSERT_EQUAL(rate_of("ring:4,bw=333Gbps"), UINT64_C(41625000000));
	refuse("ring:4,bw=1600", ERR_INPUT, "GB/s");
}

/* A message between nodes takes the rail of its destination: one NIC at each end. */
static void test_rails(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	uint32_t links[8];
	CU_ASSERT_FATAL(topo_parse(&a, "hierarchical:nodes=2,devices=4,nics=2", &t, &err));
	CU_ASSERT(t.n_devices == 8 && t.n_nodes == 8 + 2 + 2 && t.max_hops == 4);
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 7, links), 4);
	CU_ASSERT_STRING_EQUAL(t.links[links[1]].name, "s0-s3");
	CU_ASSERT_STRING_EQUAL(t.links[links[2]].name, "s3-s1");
	CU_ASSERT_EQUAL(t.links[links[0]].bytes_per_s, UINT64_C(300000000000));
	CU_ASSERT_EQUAL(t.links[links[1]].bytes_per_s, UINT64_C(25000000000));
	CU_ASSERT_EQUAL(t.route(&t, 0, 3, links), 2);
	/* Both NICs of a device act as one. */
	CU_ASSERT_FATAL(topo_parse(&a, "hierarchical:nodes=2,devices=2,nics=4", &t, &err));
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 3, links), 4);
	CU_ASSERT_EQUAL(t.links[links[1]].bytes_per_s, UINT64_C(50000000000));
	/* On one leaf switch the two NICs are parallel cables with names of their own. */
	CU_ASSERT_FATAL(topo_parse(&a, "hierarchical:2x4,nics=2,network=fattree", &t, &err));
	CU_ASSERT_EQUAL_FATAL(t.route(&t, 0, 5, links), 4);
	CU_ASSERT_STRING_EQUAL(t.links[links[1]].name, "s0-s2#1");
	CU_ASSERT_STRING_EQUAL(t.links[links[2]].name, "s2-s1#1");
	arena_free(&a);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Links of one topology never share a name. */
static void test_unique_names(void)
{
	static const char *const specs[] = {"dragonfly:2x3x1,global=4", "dragonfly:4x2x2,global=5",
		"hierarchical:4x8,nics=4,network=fattree,tree=2/2", "fattree:2x2x2", "torus:2x2x3"};
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		CU_ASSERT_FATAL(topo_parse(&a, specs[i], &t, &err));
		const char **names = arena_array(&a, t.n_links, const char *);
		for (uint32_t k = 0; k < t.n_links; k++)
			names[k] = t.links[k].name;
		qsort(names, t.n_links, sizeof(*names), by_text);
		for (uint32_t k = 1; k < t.n_links; k++)
			CU_ASSERT(strcmp(names[k - 1], names[k]) != 0);
		arena_free(&a);
	}
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

/* Specs with letters changed: built or refused. */
static void test_garbled(void)
{
	static const char *const specs[] = {"torus:4x3,bw=50GB/s/200Gbps,lat=1us/2us",
		"fattree:4x4x2,oversubscription=2/1,bw0=3GB/s", "dragonfly:9x4x2,global=2,lat=1us",
		"hierarchical:nodes=4,devices=8,nics=4,tree=2/2", "tpu_pod:4x4x4,optical_lat=2us"};
	static const char letters[] = "0x,:=/.abGBs-";
	struct rng rng;
	rng_init(&rng, 12);
	for (int i = 0; i < 500; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		struct topo_figures f;
		char *spec = arena_strdup(&a, specs[i % 5]);
		for (uint64_t k = rng_below(&rng, 3) + 1; k > 0; k--)
			spec[rng_below(&rng, strlen(spec))] =
				letters[rng_below(&rng, sizeof(letters) - 1)];
		bool ok = topo_parse(&a, spec, &t, &err);
		CU_ASSERT(ok || err.kind == ERR_INPUT || err.kind == ERR_USAGE);
		if (ok && t.n_devices <= 64 && topo_measure(&t, &f, &err))
			CU_ASSERT_EQUAL(f.cables, t.formula->cables);
		arena_free(&a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"rings", test_rings},
		{"crossbars and full graphs", test_stars},
		{"hypercubes", test_hypercubes},
		{"grids", test_grids},
		{"fat trees", test_fat_trees},
		{"dragonflies", test_dragonflies},
		{"hierarchies", test_hierarchies},
		{"pods", test_pods},
		{"optical cables", test_optical},
		{"mean hops", test_mean_hops},
		{"routes", test_routes},
		{"order of routes", test_route_order},
		{"table of families", test_families_sorted},
		{"bad specs", test_bad_specs},
		{"values of each dimension", test_per_dimension},
		{"units of rates", test_rates},
		{"rails", test_rails},
		{"unique names of links", test_unique_names},
		{"what a spec looks like", test_is_spec},
		{"garbled specs", test_garbled},
		CU_TEST_INFO_NULL,
	};
	return suite_run("topo families", tests);
}
