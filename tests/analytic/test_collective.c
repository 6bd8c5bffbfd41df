#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analytic/analytic.h"
#include "base/arena.h"
#include "base/table.h"
#include "suite.h"

static const struct alpha_beta unit = {1, 1, 0};

struct golden {
	struct csv csv;
	size_t algo, p, bytes, alpha, beta, time;
};

static bool golden_read(struct arena *a, struct golden *g, struct err *err)
{
	const char *root = getenv("WHAM_SOURCE_ROOT");
	const char *path = arena_printf(a, "%s/tests/golden/collectives.csv", root ? root : ".");
	return csv_read(a, path, &g->csv, err) && csv_column(&g->csv, "algo", &g->algo, err) &&
	       csv_column(&g->csv, "p", &g->p, err) &&
	       csv_column(&g->csv, "n_bytes", &g->bytes, err) &&
	       csv_column(&g->csv, "alpha", &g->alpha, err) &&
	       csv_column(&g->csv, "beta", &g->beta, err) &&
	       csv_column(&g->csv, "time_s", &g->time, err);
}

/* The table prints 9 decimals behind the first digit: half a unit of the last one, and rounding
 * of doubles. */
static double printed_tolerance(double want)
{
	return 0.5e-9 * pow(10, floor(log10(want))) + 1e-14 * want;
}

static void test_golden(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct golden g;
	CU_ASSERT_TRUE_FATAL(golden_read(&a, &g, &err));
	CU_ASSERT_EQUAL(g.csv.n_rows, 1300);
	for (size_t r = 0; r < g.csv.n_rows; r++) {
		uint64_t p = 0, bytes = 0;
		double want = 0;
		struct alpha_beta ab = {0};
		CU_ASSERT_TRUE(csv_uint(&g.csv, r, g.p, &p, &err));
		CU_ASSERT_TRUE(csv_uint(&g.csv, r, g.bytes, &bytes, &err));
		CU_ASSERT_TRUE(csv_number(&g.csv, r, g.alpha, &ab.alpha, &err));
		CU_ASSERT_TRUE(csv_number(&g.csv, r, g.beta, &ab.beta, &err));
		CU_ASSERT_TRUE(csv_number(&g.csv, r, g.time, &want, &err));
		const char *name = csv_cell(&g.csv, r, g.algo);
		double got = analytic_collective_s(name, (uint32_t)p, bytes, &ab);
		bool fits = fabs(got - want) <= printed_tolerance(want);
		if (!fits)
			printf("\n%s p %u bytes %llu: %.12e, expected %.9e", name, (unsigned)p,
				(unsigned long long)bytes, got, want);
		CU_ASSERT_TRUE(fits);
	}
	arena_free(&a);
}

static void test_names(void)
{
	size_t n = 0;
	for (; analytic_collective_names[n]; n++) {
		if (n > 0)
			CU_ASSERT_TRUE(strcmp(analytic_collective_names[n - 1],
					       analytic_collective_names[n]) < 0);
		CU_ASSERT_TRUE(
			analytic_collective_s(analytic_collective_names[n], 4, 64, &unit) > 0);
	}
	CU_ASSERT_EQUAL(n, 16);
}

static void test_refused(void)
{
	CU_ASSERT_TRUE(analytic_collective_s("ar_tree", 4, 64, &unit) < 0);
	CU_ASSERT_TRUE(analytic_collective_s("", 4, 64, &unit) < 0);
	CU_ASSERT_TRUE(analytic_collective_s("ag_neighbor", 5, 64, &unit) < 0);
	CU_ASSERT_TRUE(analytic_collective_s("ag_rdb", 6, 64, &unit) < 0);
	for (size_t i = 0; analytic_collective_names[i]; i++) {
		const char *name = analytic_collective_names[i];
		CU_ASSERT_TRUE(analytic_collective_s(name, 0, 64, &unit) < 0);
		CU_ASSERT_EQUAL(analytic_collective_s(name, 1, 64, &unit), 0);
	}
}

/* Steps and bytes counted by hand, in units where both cost 1. */
static void test_by_hand(void)
{
	CU_ASSERT_DOUBLE_EQUAL(analytic_collective_s("ar_ring", 4, 100, &unit), 6 + 6 * 25, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(analytic_collective_s("ar_ring", 4, 101, &unit), 6 + 6 * 26, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(analytic_collective_s("ar_rab", 6, 60, &unit), 6 + 90 + 120, 1e-9);
	/* 5 ranks: bits 0, 1, 2 are set in {1,3}, {2,3}, {4}. */
	CU_ASSERT_DOUBLE_EQUAL(analytic_collective_s("a2a_bruck", 5, 50, &unit), 3 + 10 * 5, 1e-9);
	CU_ASSERT_EQUAL(analytic_collective_s("barrier_diss", 5, 50, &unit), 3);
}

static void test_bruck_counts_bits(void)
{
	for (uint32_t p = 2; p < 300; p++) {
		uint32_t bits = 0, steps = 0;
		for (uint32_t j = 1; j < p; j++)
			for (uint32_t rest = j; rest; rest &= rest - 1)
				bits++;
		while (UINT32_C(1) << steps < p)
			steps++;
		double want = (double)steps + (double)bits;
		CU_ASSERT_DOUBLE_EQUAL(analytic_collective_s("a2a_bruck", p, p, &unit), want, 1e-9);
	}
}

/* The largest counts end at once and are finite. */
static void test_extremes(void)
{
	for (size_t i = 0; analytic_collective_names[i]; i++) {
		const char *name = analytic_collective_names[i];
		double t = analytic_collective_s(
			name, UINT32_C(1) << 31, UINT64_MAX, &(struct alpha_beta){2e-6, 1e-10, 0});
		CU_ASSERT_TRUE(isfinite(t) && t > 0);
		CU_ASSERT_EQUAL(
			analytic_collective_s(name, 8, 0, &(struct alpha_beta){0, 1, 0}), 0);
	}
}

/* Adding alone: (n - 1) / n of the bytes by rings and halves, one vector more where ranks fold, and
 * whole vectors in every step of doubling and of trees (Thakur, Rabenseifner, Gropp 2005). */
static void test_adding(void)
{
	static const struct {
		const char *name;
		uint32_t n;
		double vectors;
	} want[] = {
		{"ar_ring", 6, 5.0 / 6},
		{"rs_ring", 6, 5.0 / 6},
		{"ar_rab", 8, 7.0 / 8},
		{"ar_rab", 12, 7.0 / 8 + 1},
		{"rs_rhalv", 8, 7.0 / 8},
		{"rs_rhalv", 12, 7.0 / 8 + 1},
		{"ar_rdb", 8, 3},
		{"ar_rdb", 12, 4},
		{"ar_redbcast", 12, 4},
		{"ag_bruck", 12, 0},
		{"ag_ring", 12, 0},
		{"a2a_pair", 12, 0},
	};
	struct alpha_beta adding = {.gamma = 1};
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		CU_ASSERT_DOUBLE_EQUAL(
			analytic_collective_s(want[i].name, want[i].n, 4800, &adding),
			4800 * want[i].vectors, 1e-9);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"every golden row to its last printed digit", test_golden},
		{"names are sorted and all have a form", test_names},
		{"unknown names and counts without a form are refused", test_refused},
		{"steps and bytes by hand", test_by_hand},
		{"Bruck's blocks are the set bits", test_bruck_counts_bits},
		{"extreme counts and bytes", test_extremes},
		{"gamma", test_adding},
		CU_TEST_INFO_NULL,
	};
	return suite_run("analytic collectives", tests);
}
