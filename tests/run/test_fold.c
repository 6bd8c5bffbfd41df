#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "run/run.h"
#include "suite.h"

struct question {
	const char *topology;
	enum coll_kind kind;
	const char *algo;
	uint32_t n, n_groups;
	uint64_t bytes;
};

static bool ask(struct arena *a, const struct topo *topo, const struct question *q,
	enum run_fold fold, struct run_result *out)
{
	struct err err = {0};
	uint32_t groups = q->n_groups ? q->n_groups : 1;
	uint32_t *devices = arena_array(a, (size_t)q->n * groups, uint32_t);
	/* Group g has every groups-th device: as data-parallel groups lie beside each other. */
	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t i = 0; i < q->n; i++)
			devices[g * q->n + i] = i * groups + g;
	struct coll_request request = {.algo = coll_find(q->kind, q->algo),
		.devices = devices,
		.n_devices = q->n,
		.bytes = q->bytes,
		.n_groups = q->n_groups};
	struct run_config config = {.topo = topo, .net = NET_SIMGRID, .fold = fold};
	bool ok = run_coll(a, &request, &config, out, &err);
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	return ok;
}

static struct topo parse(struct arena *a, const char *text)
{
	struct topo t;
	struct err err = {0};
	CU_ASSERT_FATAL(topo_parse(a, text, &t, &err));
	return t;
}

static double gap(const struct run_result *a, const struct run_result *b)
{
	return fabs((double)a->end - (double)b->end) / (double)b->end;
}

/* Where the network is symmetric, folded and whole agree, and auto folds. */
static void symmetric_networks_fold(void)
{
	static const struct question list[] = {
		{"ring:8,bw=10GB/s,lat=1us", COLL_ALLREDUCE, "ring", 8, 0, 1 << 20},
		{"ring:30,bw=10GB/s,lat=1us", COLL_ALLGATHER, "ring", 30, 0, 1 << 20},
		{"crossbar:13,bw=10GB/s,lat=1us", COLL_REDUCESCATTER, "ring", 13, 0, 12345678},
		{"crossbar:16,bw=10GB/s,lat=1us", COLL_ALLREDUCE, "rabenseifner", 16, 0, 1 << 20},
		{"crossbar:16,bw=10GB/s,lat=1us", COLL_ALLREDUCE, "recdbl", 16, 0, 1 << 20},
		{"hypercube:4,bw=10GB/s,lat=1us", COLL_ALLREDUCE, "recdbl", 16, 0, 1 << 20},
		{"crossbar:11,bw=10GB/s,lat=1us", COLL_ALLGATHER, "bruck", 11, 0, 1 << 20},
		{"crossbar:12,bw=10GB/s,lat=1us", COLL_ALLTOALL, "pairwise", 12, 0, 1 << 20},
		{"crossbar:24,bw=10GB/s,lat=1us", COLL_ALLREDUCE, "ring", 8, 3, 1 << 20},
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct arena a = {0};
		struct run_result folded, whole;
		struct topo t = parse(&a, list[i].topology);
		CU_ASSERT_FATAL(ask(&a, &t, &list[i], RUN_FOLD_AUTO, &folded));
		CU_ASSERT_FATAL(ask(&a, &t, &list[i], RUN_FOLD_OFF, &whole));
		CU_ASSERT(folded.folded && !whole.folded);
		CU_ASSERT(gap(&folded, &whole) <= 0.001);
		CU_ASSERT_EQUAL(folded.n_messages, whole.n_messages);
		CU_ASSERT_EQUAL_FATAL(folded.n_links, whole.n_links);
		for (uint32_t k = 0; k < folded.n_links; k++)
			CU_ASSERT_DOUBLE_EQUAL(folded.links[k].bytes, whole.links[k].bytes,
				1e-9 * whole.links[k].bytes);
		arena_free(&a);
	}
}

/* A ring or a full mesh some of whose cables are slower, as a file. */
static void write_uneven(const char *path, uint32_t i, struct rng *rng)
{
	FILE *f = fopen(path, "w");
	uint32_t n = 4 + i % 5;
	CU_ASSERT_FATAL(f != NULL);
	fprintf(f, "{\"name\": \"uneven\", \"source\": \"made by a test\", \"devices\": [");
	for (uint32_t d = 0; d < n; d++)
		fprintf(f, "%s\"d%u\"", d ? ", " : "", d);
	fprintf(f, "], \"switches\": [], \"links\": [");
	for (uint32_t d = 0; d < n; d++)
		fprintf(f,
			"%s{\"from\": \"d%u\", \"to\": \"d%u\", \"bandwidth\": \"%u GB/s\", "
			"\"latency\": \"%u us\"}",
			d ? ", " : "", d, (d + 1) % n,
			d == 0 ? 5 : 10 + (unsigned)rng_below(rng, 20),
			1 + (unsigned)rng_below(rng, 3));
	fprintf(f, "]}");
	fclose(f);
}

/* Twenty networks with slow cables and uneven latencies: what folding would say is printed beside
 * the truth, and auto does not fold. */
static void uneven_networks_do_not_fold(void)
{
	struct rng rng;
	double worst = 0;
	rng_init(&rng, 5);
	for (uint32_t i = 0; i < 20; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		struct run_result automatic, forced, whole;
		char path[] = "/tmp/wham-uneven-XXXXXX";
		close(mkstemp(path));
		write_uneven(path, i, &rng);
		CU_ASSERT_FATAL(topo_read(&a, path, &t, &err));
		remove(path);
		struct question q = {.kind = COLL_ALLREDUCE,
			.algo = i % 2 ? "ring" : "recdbl",
			.n = t.n_devices,
			.bytes = 1 + rng_below(&rng, 1 << 22)};
		CU_ASSERT_FATAL(ask(&a, &t, &q, RUN_FOLD_AUTO, &automatic));
		CU_ASSERT_FATAL(ask(&a, &t, &q, RUN_FOLD_ON, &forced));
		CU_ASSERT_FATAL(ask(&a, &t, &q, RUN_FOLD_OFF, &whole));
		CU_ASSERT(!automatic.folded && forced.folded);
		CU_ASSERT_EQUAL(automatic.end, whole.end);
		worst = gap(&forced, &whole) > worst ? gap(&forced, &whole) : worst;
		arena_free(&a);
	}
	printf("\n    worst difference of forced folding on 20 uneven networks: %.2f %%\n",
		100 * worst);
	CU_ASSERT(worst > 0);
}

/* Two groups whose rings go over the same cables share them. */
static void sibling_groups_compete(void)
{
	struct arena a = {0};
	struct run_result folded, whole;
	struct topo t = parse(&a, "ring:8,bw=10GB/s,lat=0ns");
	struct question q = {
		.kind = COLL_ALLREDUCE, .algo = "ring", .n = 4, .n_groups = 2, .bytes = 4000000};
	CU_ASSERT_FATAL(ask(&a, &t, &q, RUN_FOLD_ON, &folded));
	CU_ASSERT_FATAL(ask(&a, &t, &q, RUN_FOLD_OFF, &whole));
	/* 6 rounds of 1 MB over two cables each, every cable used by both groups: 6 x 2 MB / 10
	 * GB/s. */
	CU_ASSERT_EQUAL(folded.end, UINT64_C(1200000000));
	CU_ASSERT(gap(&folded, &whole) <= 0.001);
	arena_free(&a);
}

static void a_memo_says_the_same_again(void)
{
	struct arena a = {0};
	struct topo t = parse(&a, "torus:4x4,bw=10GB/s,lat=1us");
	struct run_memo *memo = run_memo_create(&t, NET_SIMGRID);
	uint32_t devices[16];
	struct run_result first[2], again;
	for (uint32_t i = 0; i < 16; i++)
		devices[i] = i;
	for (uint32_t turn = 0; turn < 3; turn++)
		for (uint32_t k = 0; k < 2; k++) {
			struct err err = {0};
			struct coll_request r = {.algo = coll_find(COLL_ALLREDUCE, "ring"),
				.devices = devices,
				.n_devices = 16 - k,
				.bytes = 1000000};
			struct run_config config = {
				.topo = &t, .net = NET_SIMGRID, .fold = RUN_FOLD_ON, .memo = memo};
			CU_ASSERT_FATAL(run_coll(&a, &r, &config, turn ? &again : &first[k], &err));
			if (turn == 0)
				continue;
			CU_ASSERT_EQUAL(again.end, first[k].end);
			CU_ASSERT_EQUAL(again.n_messages, first[k].n_messages);
			CU_ASSERT_EQUAL(again.links[0].link, first[k].links[0].link);
		}
	CU_ASSERT(first[0].end != first[1].end);
	run_memo_destroy(memo);
	arena_free(&a);
}

/* Nothing to send takes no time. */
static void one_device_alone(void)
{
	struct arena a = {0};
	struct run_result r;
	struct topo t = parse(&a, "ring:4");
	struct question q = {.kind = COLL_ALLREDUCE, .algo = "ring", .n = 1, .bytes = 1000};
	CU_ASSERT_FATAL(ask(&a, &t, &q, RUN_FOLD_AUTO, &r));
	CU_ASSERT_EQUAL(r.end, 0);
	CU_ASSERT_EQUAL(r.n_messages, 0);
	arena_free(&a);
}

static CU_TestInfo tests[] = {
	{"symmetric networks fold", symmetric_networks_fold},
	{"uneven networks do not fold", uneven_networks_do_not_fold},
	{"sibling groups compete", sibling_groups_compete},
	{"a memo says the same again", a_memo_says_the_same_again},
	{"one device alone", one_device_alone},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("run fold", tests);
}
