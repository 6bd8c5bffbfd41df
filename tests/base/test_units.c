#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"
#include "suite.h"

static const enum unit_dim dims[] = {UNIT_TIME, UNIT_BYTES, UNIT_BANDWIDTH, UNIT_FREQUENCY};

struct good {
	const char *text;
	enum unit_dim dim;
	uint64_t value;
};

// clang-format off
static const struct good goods[] = {
	{"2us", UNIT_TIME, 2000000},
	{" 0.7 us ", UNIT_TIME, 700000},
	{"500ns", UNIT_TIME, 500000},
	{"1.5ms", UNIT_TIME, 1500000000},
	{"10min", UNIT_TIME, 600 * TICKS_PER_S},
	{"3 s", UNIT_TIME, 3 * TICKS_PER_S},
	{"2h", UNIT_TIME, 7200 * TICKS_PER_S},
	{"7\u00b5s", UNIT_TIME, 7000000},
	{"7 \u03bcs", UNIT_TIME, 7000000},
	{"0s", UNIT_TIME, 0},
	{"0e9 h", UNIT_TIME, 0},
	{"1e3ns", UNIT_TIME, 1000000},
	{"1E+3ns", UNIT_TIME, 1000000},
	{"25e-1 ns", UNIT_TIME, 2500},
	{".5ns", UNIT_TIME, 500},
	{"5.ns", UNIT_TIME, 5000},
	{"0.4999ps", UNIT_TIME, 0},
	{"0.5ps", UNIT_TIME, 1},
	{"1.49999999999999999999999999999999999999999999999999 ps", UNIT_TIME, 1},
	{"0.49999999999999999999999999999999999999999999999999e-3 ns", UNIT_TIME, 0},
	{"0.000000000000000000000000000001e30 ps", UNIT_TIME, 1},
	{"1000000000000000000000000000000e-30 ps", UNIT_TIME, 1},
	{"1e-9999 h", UNIT_TIME, 0},
	{"18446744073709551615ps", UNIT_TIME, UINT64_MAX},
	{"18446744073709551615.4ps", UNIT_TIME, UINT64_MAX},
	{"18446744.073709551615 s", UNIT_TIME, UINT64_MAX},
	{"16GiB", UNIT_BYTES, UINT64_C(16) << 30},
	{"64 KB", UNIT_BYTES, 64000},
	{"64kB", UNIT_BYTES, 64000},
	{"64KiB", UNIT_BYTES, 65536},
	{"512B", UNIT_BYTES, 512},
	{"0.1GiB", UNIT_BYTES, 107374182},  /* ...182.4 */
	{"1e3B", UNIT_BYTES, 1000},
	{"2 PB", UNIT_BYTES, UINT64_C(2000000000000000)},
	{"9007199254740993B", UNIT_BYTES, UINT64_C(9007199254740993)}, /* 2^53 + 1 */
	{"12.5GB/s", UNIT_BANDWIDTH, UINT64_C(12500000000)},
	{"100Gbps", UNIT_BANDWIDTH, UINT64_C(12500000000)},
	{"100 Gb/s", UNIT_BANDWIDTH, UINT64_C(12500000000)},
	{"100 Gbit/s", UNIT_BANDWIDTH, UINT64_C(12500000000)},
	{"3GiB/s", UNIT_BANDWIDTH, UINT64_C(3) << 30},
	{"1kbps", UNIT_BANDWIDTH, 125},
	{"1Kbps", UNIT_BANDWIDTH, 125},
	{"3bps", UNIT_BANDWIDTH, 0},
	{"3.9999bps", UNIT_BANDWIDTH, 0},
	{"4bps", UNIT_BANDWIDTH, 1},
	{"12bps", UNIT_BANDWIDTH, 2},
	{"147573952589676412923bps", UNIT_BANDWIDTH, UINT64_MAX},
	{"1.8 TB/s", UNIT_BANDWIDTH, UINT64_C(1800000000000)},
	{"940MHz", UNIT_FREQUENCY, 940000000},
	{"1.05 GHz", UNIT_FREQUENCY, 1050000000},
	{"10kHz", UNIT_FREQUENCY, 10000},
	{"1Hz", UNIT_FREQUENCY, 1},
};
// clang-format on

static void test_parse(void)
{
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		struct err err = {0};
		uint64_t v = 42;
		bool ok = unit_parse(goods[i].text, goods[i].dim, &v, &err);
		if (!ok || v != goods[i].value)
			printf("\n  %s: %" PRIu64 " %s", goods[i].text, v, err.text);
		CU_ASSERT(ok && v == goods[i].value);
	}
}

struct bad {
	const char *text;
	enum unit_dim dim;
	const char *error;
};

#define TIME_EXPECTED ", expected a time such as \"2us\" or \"1.5ms\""
#define BYTES_EXPECTED ", expected bytes such as \"16GiB\" or \"64KB\""
#define BANDWIDTH_EXPECTED ", expected a bandwidth such as \"12.5GB/s\" or \"100Gbps\""
#define FREQUENCY_EXPECTED ", expected a frequency such as \"940MHz\" or \"1.05GHz\""
#define FREQUENCY_UNITS "; units are Hz, kHz, MHz, GHz, THz"

// clang-format off
static const struct bad bads[] = {
	{"1600", UNIT_BANDWIDTH, "'1600' has no unit" BANDWIDTH_EXPECTED},
	{"0", UNIT_TIME, "'0' has no unit" TIME_EXPECTED},
	{"0.0 ", UNIT_BYTES, "'0.0 ' has no unit" BYTES_EXPECTED},
	{"1e3", UNIT_FREQUENCY, "'1e3' has no unit" FREQUENCY_EXPECTED},
	{"", UNIT_TIME, "'' is not a number with a unit" TIME_EXPECTED},
	{" ", UNIT_TIME, "' ' is not a number with a unit" TIME_EXPECTED},
	{"us", UNIT_TIME, "'us' is not a number with a unit" TIME_EXPECTED},
	{".us", UNIT_TIME, "'.us' is not a number with a unit" TIME_EXPECTED},
	{"-1us", UNIT_TIME, "'-1us' is negative" TIME_EXPECTED},
	{"inf s", UNIT_TIME, "'inf s' is not a number with a unit" TIME_EXPECTED},
	{"nan", UNIT_TIME, "'nan' is not a number with a unit" TIME_EXPECTED},
	{"1us 2", UNIT_TIME, "'1us 2' has characters after the unit" TIME_EXPECTED},
	{"1 MHZ", UNIT_FREQUENCY, "'1 MHZ' has an unknown unit" FREQUENCY_EXPECTED FREQUENCY_UNITS},
	{"1.2.3Hz", UNIT_FREQUENCY, "'1.2.3Hz' has an unknown unit" FREQUENCY_EXPECTED FREQUENCY_UNITS},
	{"1e+Hz", UNIT_FREQUENCY, "'1e+Hz' has an unknown unit" FREQUENCY_EXPECTED FREQUENCY_UNITS},
	{"0x10Hz", UNIT_FREQUENCY, "'0x10Hz' has an unknown unit" FREQUENCY_EXPECTED FREQUENCY_UNITS},
	{"1GiB", UNIT_FREQUENCY, "'1GiB' has an unknown unit" FREQUENCY_EXPECTED FREQUENCY_UNITS},
	{"18446744073709551616ps", UNIT_TIME, "'18446744073709551616ps' is too large for 64 bits" TIME_EXPECTED},
	{"18446744073709551615.5ps", UNIT_TIME,
		"'18446744073709551615.5ps' is too large for 64 bits" TIME_EXPECTED},
	{"147573952589676412924bps", UNIT_BANDWIDTH,
		"'147573952589676412924bps' is too large for 64 bits" BANDWIDTH_EXPECTED},
	{"16EiB", UNIT_BYTES, "'16EiB' is too large for 64 bits" BYTES_EXPECTED},
	{"1e99999999999999999999 s", UNIT_TIME, "'1e99999999999999999999 s' is too large for 64 bits" TIME_EXPECTED},
	{"1e30ps", UNIT_TIME, "'1e30ps' is too large for 64 bits" TIME_EXPECTED},
};
// clang-format on

static void test_refuse(void)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct err err = {0};
		uint64_t v = 42;
		CU_ASSERT_FALSE(unit_parse(bads[i].text, bads[i].dim, &v, &err));
		CU_ASSERT_EQUAL(v, 42);
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		if (strcmp(err.text, bads[i].error) != 0)
			printf("\n  %s", err.text);
		CU_ASSERT_STRING_EQUAL(err.text, bads[i].error);
	}
}

static void test_refuse_long(void)
{
	char text[10001];
	struct err err = {0};
	uint64_t v;
	memset(text, '9', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CU_ASSERT_FALSE(unit_parse(text, UNIT_BYTES, &v, &err));
	CU_ASSERT_STRING_EQUAL(err.text,
		"'9999999999999999999999999999999999999999...' has no unit" BYTES_EXPECTED);
	text[sizeof(text) - 2] = 'B';
	CU_ASSERT_FALSE(unit_parse(text, UNIT_BYTES, &v, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is too large for 64 bits"));
	memset(text, '0', sizeof(text) - 3);
	text[sizeof(text) - 3] = '3';
	CU_ASSERT_TRUE(unit_parse(text, UNIT_BYTES, &v, &err));
	CU_ASSERT_EQUAL(v, 3);
}

/* The same value from 128-bit arithmetic on all of the digits at once. */
static void test_parse_property(void)
{
	static const struct {
		const char *name;
		enum unit_dim dim;
		uint64_t mul, div;
	} units[] = {{"min", UNIT_TIME, 60 * TICKS_PER_S, 1}, {"ns", UNIT_TIME, 1000, 1},
		{"MiB", UNIT_BYTES, 1 << 20, 1}, {"bps", UNIT_BANDWIDTH, 1, 8},
		{"Kbps", UNIT_BANDWIDTH, 1000, 8}, {"GHz", UNIT_FREQUENCY, 1000000000, 1}};
	struct rng rng;
	rng_init(&rng, 11);
	for (int i = 0; i < 20000; i++) {
		size_t u = rng_below(&rng, sizeof(units) / sizeof(units[0]));
		uint64_t whole = rng_below(&rng, 200000), part = rng_below(&rng, 100000000);
		u128 n = ((u128)whole * 100000000 + part) * units[u].mul;
		u128 d = (u128)units[u].div * 100000000;
		char text[64];
		snprintf(text, sizeof(text), "%" PRIu64 ".%08" PRIu64 "%s", whole, part,
			units[u].name);
		struct err err = {0};
		uint64_t v;
		CU_ASSERT_TRUE_FATAL(unit_parse(text, units[u].dim, &v, &err));
		CU_ASSERT_EQUAL(v, (uint64_t)((n + d / 2) / d));
	}
}

static uint64_t random_value(struct rng *rng)
{
	static const uint64_t special[] = {0, 1, 999, 1000, 1023, 1024, 999999, 1000000, 999999500,
		UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, 60 * TICKS_PER_S, 3600 * TICKS_PER_S,
		3600 * TICKS_PER_S - 1};
	if (rng_below(rng, 10) == 0)
		return special[rng_below(rng, sizeof(special) / sizeof(special[0]))];
	uint64_t v = rng_next(rng) >> rng_below(rng, 64);
	for (uint64_t zeros = rng_below(rng, 2) * rng_below(rng, 15);
		zeros > 0 && v <= UINT64_MAX / 10; zeros--)
		v *= 10;
	return v;
}

static uint64_t parse_back(const char *text, enum unit_dim dim)
{
	struct err err = {0};
	uint64_t v = 0;
	bool ok = unit_parse(text, dim, &v, &err);
	if (!ok)
		printf("\n  %s", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return v;
}

static void check_exact(enum unit_dim dim, uint64_t v)
{
	char text[UNIT_TEXT];
	CU_ASSERT_PTR_EQUAL(unit_print_exact(text, dim, v), text);
	CU_ASSERT_EQUAL(parse_back(text, dim), v);
}

static void test_exact_property(void)
{
	struct rng rng;
	rng_init(&rng, 12);
	for (int i = 0; i < 100000; i++) {
		uint64_t v = random_value(&rng);
		for (size_t d = 0; d < 4; d++)
			check_exact(dims[d], v);
	}
}

static size_t count_digits(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text >= '0' && *text <= '9';
	return n;
}

/* Six digits: off by at most half of the sixth, or by one of it next to the largest value. */
static void check_print(enum unit_dim dim, uint64_t v)
{
	char text[UNIT_TEXT];
	unit_print(text, dim, v);
	uint64_t back = parse_back(text, dim);
	uint64_t off = back > v ? back - v : v - back;
	uint64_t allowed = v > UINT64_MAX / 100000 * 99999 ? v / 100000 : v / 200000 + 1;
	CU_ASSERT(off <= allowed);
	CU_ASSERT(dim == UNIT_FREQUENCY || count_digits(text) <= 6);
	CU_ASSERT(v == 0 || (text[0] >= '1' && text[0] <= '9'));
}

static void test_print_property(void)
{
	struct rng rng;
	rng_init(&rng, 13);
	for (int i = 0; i < 100000; i++) {
		uint64_t v = random_value(&rng);
		for (size_t d = 0; d < 4; d++)
			check_print(dims[d], v);
	}
}

static void test_print(void)
{
	char text[UNIT_TEXT];
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_TIME, 812400000), "812.4 us");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_TIME, 0), "0 ps");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_TIME, 123456789), "123.457 us");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_TIME, 999999499), "999.999 us");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_TIME, 999999500), "1 ms");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_TIME, 600 * TICKS_PER_S), "10 min");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_TIME, TICK_MAX), "5124.09 h");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_BYTES, UINT64_C(16) << 30), "16 GiB");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_BYTES, 1500), "1.46484 KiB");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_BYTES, UINT64_MAX), "15.9999 EiB");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_BANDWIDTH, UINT64_C(25000000000)), "25 GB/s");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_FREQUENCY, 940000000), "940 MHz");
	CU_ASSERT_STRING_EQUAL(unit_print(text, UNIT_FREQUENCY, UINT64_MAX), "18446700 THz");
}

static void test_print_exact(void)
{
	char text[UNIT_TEXT];
	CU_ASSERT_STRING_EQUAL(unit_print_exact(text, UNIT_TIME, 123456789), "123.456789 us");
	CU_ASSERT_STRING_EQUAL(unit_print_exact(text, UNIT_TIME, 61 * TICKS_PER_S), "61 s");
	CU_ASSERT_STRING_EQUAL(unit_print_exact(text, UNIT_TIME, 90 * TICKS_PER_S), "1.5 min");
	CU_ASSERT_STRING_EQUAL(
		unit_print_exact(text, UNIT_TIME, TICK_MAX), "18446744.073709551615 s");
	CU_ASSERT_STRING_EQUAL(unit_print_exact(text, UNIT_BYTES, 1500), "1500 B");
	CU_ASSERT_STRING_EQUAL(unit_print_exact(text, UNIT_BYTES, 1536), "1.5 KiB");
	CU_ASSERT_STRING_EQUAL(unit_print_exact(text, UNIT_BYTES, UINT64_C(80) << 30), "80 GiB");
	CU_ASSERT_STRING_EQUAL(
		unit_print_exact(text, UNIT_BANDWIDTH, 12500000001), "12.500000001 GB/s");
	CU_ASSERT_STRING_EQUAL(unit_print_exact(text, UNIT_FREQUENCY, 0), "0 Hz");
}

static void test_ticks(void)
{
	CU_ASSERT_EQUAL(div_ceil(0, 3), 0);
	CU_ASSERT_EQUAL(div_ceil(3, 3), 1);
	CU_ASSERT_EQUAL(div_ceil(4, 3), 2);
	CU_ASSERT_EQUAL(div_ceil(UINT64_MAX, 1), UINT64_MAX);
	CU_ASSERT_EQUAL(ticks_ceil(0, 5), 0);
	CU_ASSERT_EQUAL(ticks_ceil(1, 3), UINT64_C(333333333334));
	CU_ASSERT_EQUAL(ticks_ceil(UINT64_C(1) << 40, UINT64_C(1) << 40), TICKS_PER_S);
	CU_ASSERT_EQUAL(cycles_to_ticks((struct cycles){940}, 940000000), 1000000);
	CU_ASSERT_EQUAL(cycles_to_ticks((struct cycles){1}, 940000000), 1064); /* 1063.8 */
	CU_ASSERT_DOUBLE_EQUAL(ticks_to_s(1500000000000), 1.5, 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"parse", test_parse},
		{"refuse", test_refuse},
		{"refuse long text", test_refuse_long},
		{"parse rounds as 128-bit arithmetic does", test_parse_property},
		{"print", test_print},
		{"print reads back to six digits", test_print_property},
		{"print exactly", test_print_exact},
		{"exact print reads back", test_exact_property},
		{"ticks and cycles", test_ticks},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/units", tests);
}
