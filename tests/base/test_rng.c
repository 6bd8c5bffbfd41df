#include "base/rng.h"
#include "suite.h"

/* The first outputs of the authors' C code for this state. */
static void test_sequence(void)
{
	struct rng rng = {.s = {1, 2, 3, 4}};
	CU_ASSERT_EQUAL(rng_next(&rng), 11520);
	CU_ASSERT_EQUAL(rng_next(&rng), 0);
	CU_ASSERT_EQUAL(rng_next(&rng), 1509978240);
	CU_ASSERT_EQUAL(rng_next(&rng), UINT64_C(1215971899390074240));
}

static void test_seed(void)
{
	struct rng rng;
	rng_init(&rng, 0);
	CU_ASSERT_EQUAL(rng.s[0], UINT64_C(0xe220a8397b1dcdaf));
	CU_ASSERT_EQUAL(rng.s[1], UINT64_C(0x6e789e6aa1b965f4));
	CU_ASSERT_EQUAL(rng.s[2], UINT64_C(0x06c45d188009454f));
	CU_ASSERT_EQUAL(rng.s[3], UINT64_C(0xf88bb8a8724c81ec));
}

/* 60,000 throws of a die: each face 10,000 times, give or take six standard deviations (91). */
static void test_below(void)
{
	struct rng rng;
	unsigned count[6] = {0};
	rng_init(&rng, 3);
	for (int i = 0; i < 60000; i++) {
		uint64_t face = rng_below(&rng, 6);
		CU_ASSERT_FATAL(face < 6);
		count[face]++;
	}
	for (int face = 0; face < 6; face++)
		CU_ASSERT(count[face] > 9450 && count[face] < 10550);
}

static void test_below_bounds(void)
{
	struct rng rng;
	unsigned high = 0;
	rng_init(&rng, 4);
	for (int i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(rng_below(&rng, 1), 0);
		uint64_t n = (UINT64_C(1) << 63) + 1;
		uint64_t v = rng_below(&rng, n);
		CU_ASSERT(v < n);
		high += v >= n / 2;
	}
	CU_ASSERT(high > 400 && high < 600);
}

static void test_unit(void)
{
	struct rng rng;
	double sum = 0, low = 1, high = 0;
	rng_init(&rng, 5);
	for (int i = 0; i < 100000; i++) {
		double v = rng_unit(&rng);
		sum += v;
		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	CU_ASSERT(low >= 0 && low < 0.001 && high < 1 && high > 0.999);
	CU_ASSERT_DOUBLE_EQUAL(sum / 100000, 0.5, 0.006);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"known sequence", test_sequence},
		{"known seeding", test_seed},
		{"below is even", test_below},
		{"below at its bounds", test_below_bounds},
		{"unit", test_unit},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/rng", tests);
}
