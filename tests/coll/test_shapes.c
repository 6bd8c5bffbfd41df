#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "coll/coll.h"

static bool verified(const struct coll_call *c)
{
	struct err err = {0};
	bool ok = coll_verify_call(c, &err);
	if (!ok)
		printf("%s\n", err.text);
	return ok;
}

static struct coll_schedule schedule_of(struct arena *a, const struct coll_call *c)
{
	struct coll_schedule s = {0};
	struct err err = {0};
	CU_ASSERT_TRUE(coll_build(a, c, &s, &err));
	return s;
}

static struct coll_call call_of(enum coll_kind kind, const char *name, uint32_t n, uint64_t bytes)
{
	return (struct coll_call){.algo = coll_find(kind, name), .n_ranks = n, .bytes = bytes};
}

static void boxes(void)
{
	static const struct coll_shape shapes[] = {
		{.n_dims = 1, .dims = {7}},
		{.n_dims = 2, .dims = {3, 5}},
		{.n_dims = 2, .dims = {1, 6}},
		{.n_dims = 2, .dims = {8, 4}},
		{.n_dims = 3, .dims = {2, 3, 4}},
		{.n_dims = 3, .dims = {4, 4, 4}},
		{.n_dims = 4, .dims = {2, 2, 2, 3}},
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (size_t k = 0; coll_algos[k]; k++) {
			struct coll_call c = {.algo = coll_algos[k],
				.n_ranks = 1,
				.bytes = 1000,
				.shape = shapes[i]};
			for (uint32_t d = 0; d < shapes[i].n_dims; d++)
				c.n_ranks *= shapes[i].dims[d];
			CU_ASSERT_TRUE(!coll_fits(c.algo, c.n_ranks) || verified(&c));
		}
}

static void uneven_nodes(void)
{
	static const uint32_t nodes[][4] = {
		{1, 1, 1, 1}, {5, 3, 4, 1}, {1, 8, 1, 2}, {16, 1, 7, 8}};
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		struct coll_call c = call_of(COLL_ALLREDUCE, "hierarchical", 0, 1000);
		c.shape = (struct coll_shape){.n_nodes = 4, .nodes = nodes[i]};
		for (int k = 0; k < 4; k++)
			c.n_ranks += nodes[i][k];
		CU_ASSERT_TRUE(verified(&c));
	}
}

static void shapes_must_be_whole(void)
{
	static const uint32_t nodes[] = {3, 0, 3}, ring[] = {0, 1, 1, 3, 4, 5};
	static const struct coll_shape bad[] = {
		{.n_dims = 2, .dims = {2, 4}},
		{.n_dims = 9},
		{.n_nodes = 2, .nodes = nodes},
		{.n_nodes = 3, .nodes = nodes},
		{.n_rings = 1, .rings = ring},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct coll_schedule s;
		struct coll_call c = call_of(COLL_ALLREDUCE, "torus", 6, 1000);
		c.shape = bad[i];
		CU_ASSERT_FALSE(coll_build(&a, &c, &s, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		arena_free(&a);
	}
}

static void chunks_follow_each_other(void)
{
	static const char *const names[] = {"dbtree", "chain", "chain"};
	static const enum coll_kind kinds[] = {COLL_ALLREDUCE, COLL_BROADCAST, COLL_REDUCE};
	for (int i = 0; i < 3; i++)
		for (uint32_t n = 1; n <= 17; n++)
			for (uint64_t chunk = 1; chunk <= 1000; chunk *= 10) {
				struct coll_call c = call_of(kinds[i], names[i], n, 1000);
				c.chunk_bytes = chunk;
				CU_ASSERT_TRUE(verified(&c));
			}
	/* 5 ranks in a line, 10 chunks: 4 + 9 rounds of a tenth. */
	struct coll_call c = call_of(COLL_BROADCAST, "chain", 5, 1000);
	c.chunk_bytes = 100;
	CU_ASSERT_DOUBLE_EQUAL(coll_call_time(&c, 1, 1e-2), 13 * (1 + 1), 1e-9);
}

/* What goes along the edges of each tree, up and down, is half of the vector. */
static void each_tree_carries_half(void)
{
	for (uint32_t n = 2; n <= 64; n++) {
		struct arena a = {0};
		struct coll_call c = call_of(COLL_ALLREDUCE, "dbtree", n, 1 << 20);
		struct coll_schedule s = schedule_of(&a, &c);
		double bytes[2] = {0}, up[2] = {0};
		bool parent[2][64] = {{false}};
		for (uint32_t i = 0; i < s.n_steps; i++) {
			const struct coll_step *step = &s.steps[i];
			int tree = step->range.first >= s.n_parts / 2;
			double payload = (double)step->bytes / (double)s.bytes_divisor;
			bytes[tree] += payload;
			up[tree] += step->reduce ? payload : 0;
			if (step->reduce)
				parent[tree][step->dst] = true;
		}
		for (int tree = 0; tree < 2; tree++) {
			CU_ASSERT_DOUBLE_EQUAL(up[tree], (n - 1) * (double)(1 << 19), 1e-3);
			CU_ASSERT_DOUBLE_EQUAL(bytes[tree], 2 * up[tree], 1e-3);
		}
		uint32_t in_both = 0;
		for (uint32_t r = 0; r < n; r++)
			in_both += parent[0][r] && parent[1][r];
		CU_ASSERT(in_both <= (n % 2 == 0 ? 0 : 1));
		arena_free(&a);
	}
}

/* What two schedules have in common in one round. */
static bool same_messages(const struct coll_step *x, const struct coll_step *y, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (x[i].src != y[i].src || x[i].dst != y[i].dst || x[i].bytes != y[i].bytes)
			return false;
	return true;
}

static void rounds_are_the_schedule(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 8, 12, 17, 24};
	for (size_t k = 0; coll_algos[k]; k++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct arena a = {0};
			struct err err = {0};
			struct coll_rounds rounds;
			struct coll_call c = {
				.algo = coll_algos[k], .n_ranks = sizes[i], .bytes = 1 << 20};
			if (!coll_fits(c.algo, c.n_ranks))
				continue;
			struct coll_schedule s = schedule_of(&a, &c);
			CU_ASSERT_TRUE_FATAL(coll_rounds_begin(&rounds, &c, &err));
			CU_ASSERT_EQUAL(rounds.frame.n_rounds, s.n_rounds);
			CU_ASSERT_EQUAL(rounds.frame.bytes_divisor, s.bytes_divisor);
			const struct coll_step **start =
				arena_array(&a, s.n_rounds + 1, const struct coll_step *);
			uint32_t *counts = arena_array(&a, s.n_rounds + 1, uint32_t), at = 0;
			for (uint32_t r = 0; r < s.n_rounds; r++) {
				const struct coll_step *steps =
					coll_rounds_get(&rounds, r, &counts[r]);
				uint32_t like = coll_rounds_like(&rounds, r);
				start[r] = s.steps + at;
				at += counts[r];
				CU_ASSERT_FATAL(at <= s.n_steps && like <= r);
				CU_ASSERT(same_messages(steps, start[r], counts[r]));
				CU_ASSERT_EQUAL(counts[like], counts[r]);
				CU_ASSERT(same_messages(start[like], start[r], counts[r]));
			}
			CU_ASSERT_EQUAL(at, s.n_steps);
			CU_ASSERT_DOUBLE_EQUAL(coll_call_time(&c, 2e-6, 1e-10),
				coll_time(&s, c.n_ranks, 2e-6, 1e-10), 1e-18);
			coll_rounds_end(&rounds);
			arena_free(&a);
		}
}

static void large_rings_come_round_by_round(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct coll_schedule s;
	struct coll_rounds rounds;
	struct coll_call c = call_of(COLL_ALLREDUCE, "ring", 16384, 1 << 20);
	uint32_t n;
	CU_ASSERT_FALSE(coll_build(&a, &c, &s, &err));
	CU_ASSERT_STRING_EQUAL(err.text,
		"allreduce ring over 16384 ranks has 536838144 messages, more than the 134217728 "
		"that are held in memory");
	CU_ASSERT_TRUE_FATAL(coll_rounds_begin(&rounds, &c, &err));
	CU_ASSERT_EQUAL(rounds.frame.n_rounds, 2 * 16383);
	const struct coll_step *steps = coll_rounds_get(&rounds, 30000, &n);
	CU_ASSERT_EQUAL(n, 16384);
	CU_ASSERT(steps[7].src == 7 && steps[7].dst == 8 && steps[7].bytes == 64);
	CU_ASSERT_EQUAL(coll_rounds_like(&rounds, 30000), 0);
	coll_rounds_end(&rounds);
	arena_free(&a);
}

/* All-to-all of random counts, a third of them 0: what is sent is what is counted, nothing else. */
static void uneven_alltoall(void)
{
	static const char *const names[] = {"bruck", "direct", "pairwise", "twolevel"};
	struct rng rng;
	rng_init(&rng, 7);
	for (uint32_t n = 1; n <= 17; n++) {
		struct arena a = {0};
		uint64_t *counts = arena_array(&a, (size_t)n * n, uint64_t), total = 0;
		for (uint32_t i = 0; i < n * n; i++) {
			counts[i] = rng_below(&rng, 3) * (1 + rng_below(&rng, 1000));
			total += i / n != i % n ? counts[i] : 0;
		}
		for (int k = 0; k < 4; k++) {
			struct coll_call c = call_of(COLL_ALLTOALL, names[k], n, 0);
			c.counts = counts;
			CU_ASSERT_TRUE(verified(&c));
			struct coll_schedule s = schedule_of(&a, &c);
			uint64_t sent = 0;
			for (uint32_t i = 0; i < s.n_steps; i++) {
				CU_ASSERT(s.steps[i].bytes > 0);
				sent += s.steps[i].bytes;
			}
			CU_ASSERT_EQUAL(s.bytes_divisor, 1);
			CU_ASSERT(k == 1 || k == 2 ? sent == total : sent >= total);
		}
		memset(counts, 0, (size_t)n * n * sizeof(*counts));
		counts[n > 1 ? 1 : 0] = 500; /* only 0 to 1 */
		struct coll_call c = call_of(COLL_ALLTOALL, "pairwise", n, 0);
		c.counts = counts;
		CU_ASSERT_DOUBLE_EQUAL(coll_call_time(&c, 1, 1e-3), n > 1 ? 1.5 : 0, 1e-12);
		arena_free(&a);
	}
}

static void times_by_hand(void)
{
	static const struct {
		enum coll_kind kind;
		const char *name;
		uint32_t n;
		double seconds; /* of 1200 bytes, alpha 1 s, beta 0.01 s */
	} rows[] = {
		{COLL_ALLREDUCE, "biring", 4, 6 * (1 + 3)}, /* two messages of 150 at a time */
		{COLL_ALLREDUCE, "direct", 4, 2 * (1 + 9)}, /* three of 300 through a port */
		{COLL_ALLREDUCE, "torus", 6, 2 * (1 + 6) + 4 * (1 + 2)}, /* 2 x 3 */
		{COLL_ALLGATHER, "direct", 4, 1 + 9},
		{COLL_REDUCESCATTER, "direct", 4, 1 + 9},
		{COLL_REDUCESCATTER, "pairwise", 4, 3 * (1 + 3)},
		{COLL_REDUCE, "rabenseifner", 4, (1 + 6) + (1 + 3) + (1 + 3) + (1 + 6)},
		{COLL_GATHER, "chain", 4, 3 * (1 + 3)},
		{COLL_GATHER, "direct", 4, 1 + 9},
		{COLL_SCATTER, "chain", 4, 3 * (1 + 3)},
		{COLL_SCATTER, "direct", 4, 1 + 9},
		{COLL_ALLTOALL, "direct", 4, 1 + 9},
		{COLL_ALLTOALL, "twolevel", 4, 2 * (1 + 6)},
		{COLL_HALO, "neighbors", 2, 1 + 12},
		{COLL_HALO, "neighbors", 5, 1 + 24},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct coll_call c = call_of(rows[i].kind, rows[i].name, rows[i].n, 1200);
		CU_ASSERT_DOUBLE_EQUAL(coll_call_time(&c, 1, 0.01), rows[i].seconds, 1e-9);
		c.n_ranks = 1;
		CU_ASSERT_EQUAL(coll_call_time(&c, 1, 0.01), 0);
	}
}

/* Colours of a square torus use all dimensions at once: each a share of the one-colour bytes. */
static void colours_share_the_vector(void)
{
	struct coll_call one = call_of(COLL_ALLREDUCE, "torus", 64, 6400), all = one;
	one.shape = all.shape = (struct coll_shape){.n_dims = 3, .dims = {4, 4, 4}};
	all.algo = coll_find(COLL_ALLREDUCE, "torus-colours");
	struct arena a = {0};
	struct coll_schedule s = schedule_of(&a, &all), t = schedule_of(&a, &one);
	CU_ASSERT_EQUAL(s.n_rounds, t.n_rounds);
	CU_ASSERT_EQUAL(s.n_steps, 3 * t.n_steps);
	CU_ASSERT_EQUAL(s.bytes_divisor, 3 * t.bytes_divisor);
	/* In the first round the colours leave rank 0 along its three dimensions. */
	CU_ASSERT(s.steps[0].dst == 1 && s.steps[1].dst == 4 && s.steps[2].dst == 16);
	CU_ASSERT(s.steps[0].bytes == t.steps[0].bytes && s.steps[1].bytes == s.steps[2].bytes);
	arena_free(&a);
}

static void rings_that_share_no_link(void)
{
	/* NVLinks of a DGX-1 with V100: pairs with one and with two. */
	static const uint32_t pairs[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2},
		{1, 3, 1}, {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
		{4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
	static const uint32_t n_rings[9] = {0, 0, 1, 2, 4, 0, 2, 4, 6};
	for (uint32_t n = 2; n <= 8; n++) {
		struct arena a = {0};
		struct coll_call c = call_of(COLL_ALLREDUCE, "rings", n, 1000);
		uint32_t *lanes = arena_array(&a, (size_t)n * n, uint32_t);
		for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
			if (pairs[i][0] < n && pairs[i][1] < n) {
				lanes[pairs[i][0] * n + pairs[i][1]] = pairs[i][2];
				lanes[pairs[i][1] * n + pairs[i][0]] = pairs[i][2];
			}
		coll_find_rings(&a, lanes, n, &c.shape);
		CU_ASSERT_EQUAL(c.shape.n_rings, n_rings[n]);
		CU_ASSERT_TRUE(verified(&c));
		for (uint32_t k = 0; k < c.shape.n_rings; k++)
			for (uint32_t i = 0; i < n; i++) {
				const uint32_t *ring = c.shape.rings + (size_t)k * n;
				uint32_t *lane = &lanes[ring[i] * n + ring[(i + 1) % n]];
				CU_ASSERT_FATAL(*lane > 0);
				--*lane;
			}
		arena_free(&a);
	}
}

static void nccl_takes_trees_when_small(void)
{
	const struct coll_algo *small = coll_nccl_pick(COLL_ALLREDUCE, 256, 1024, 5e-6, 1e-11);
	const struct coll_algo *large =
		coll_nccl_pick(COLL_ALLREDUCE, 256, UINT64_C(4) << 30, 5e-6, 1e-11);
	CU_ASSERT_STRING_EQUAL(small->name, "dbtree");
	CU_ASSERT_STRING_EQUAL(large->name, "ring");
	CU_ASSERT_STRING_EQUAL(coll_nccl_pick(COLL_ALLGATHER, 8, 1, 1, 1)->name, "ring");
	CU_ASSERT_STRING_EQUAL(coll_nccl_pick(COLL_BROADCAST, 8, 1, 1, 1)->name, "chain");
	CU_ASSERT_STRING_EQUAL(coll_nccl_pick(COLL_ALLTOALL, 8, 1, 1, 1)->name, "direct");
	CU_ASSERT_STRING_EQUAL(coll_nccl_pick(COLL_BARRIER, 8, 1, 1, 1)->name, "dissemination");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"boxes", boxes},
		{"uneven nodes", uneven_nodes},
		{"shapes must be whole", shapes_must_be_whole},
		{"chunks follow each other", chunks_follow_each_other},
		{"each tree carries half", each_tree_carries_half},
		{"rounds are the schedule", rounds_are_the_schedule},
		{"large rings come round by round", large_rings_come_round_by_round},
		{"uneven all-to-all", uneven_alltoall},
		{"times by hand", times_by_hand},
		{"colours share the vector", colours_share_the_vector},
		{"rings that share no link", rings_that_share_no_link},
		{"NCCL takes trees when small", nccl_takes_trees_when_small},
		CU_TEST_INFO_NULL,
	};
	return suite_run("coll shapes", tests);
}
