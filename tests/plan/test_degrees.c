#include "plan/internal.h"
#include "setup.h"

static const struct graph model = {.name = "bert-large", .n_layers = 24, .tp = 1};

static void check_refused(const struct degrees *d, const char *text)
{
	struct err err = {0};
	CU_ASSERT_FALSE(degrees_check(d, &model, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text, text);
}

static void test_refused(void)
{
	check_refused(&(struct degrees){0, 1, 1, 8, 1}, "pp is 0, expected at least 1");
	check_refused(&(struct degrees){1, 0, 1, 8, 1}, "tp is 0, expected at least 1");
	check_refused(&(struct degrees){1, 1, 0, 8, 1}, "dp is 0, expected at least 1");
	check_refused(&(struct degrees){1, 1, 1, 0, 1}, "batch is 0, expected at least 1");
	check_refused(&(struct degrees){1, 1, 1, 8, 0}, "micro-batch is 0, expected at least 1");
	check_refused(&(struct degrees){30, 1, 1, 8, 1},
		"pp 30 is larger than the 24 layers of bert-large");
	check_refused(&(struct degrees){2, 1, 4, 30, 2},
		"batch 30 is not divisible by dp 4 x micro-batch 2 = 8");
	check_refused(
		&(struct degrees){2, 1, 4, 6, 2}, "batch 6 is smaller than dp 4 x micro-batch 2");
	check_refused(&(struct degrees){2, 8, 1000000, 1000000, 1},
		"pp 2 x tp 8 x dp 1000000 are more than 262144 devices, the most that are "
		"simulated");
	check_refused(&(struct degrees){1, 1, 2, 8388608, 1},
		"batch 8388608 / (dp 2 x micro-batch 1) = 4194304 micro-batches, at most 1048576 "
		"are simulated: use a larger micro-batch");
}

/* Products of degrees that wrap around in 64 bits. */
static void test_overflow(void)
{
	struct err err = {0};
	struct degrees d = {1, 1, 4, 4, UINT64_C(1) << 62};
	CU_ASSERT_FALSE(degrees_check(&d, &model, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	d = (struct degrees){UINT32_MAX, UINT32_MAX, UINT32_MAX, 4, 1};
	CU_ASSERT_FALSE(degrees_check(&d, &model, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
}

static void test_accepted(void)
{
	struct err err = {0};
	const struct degrees good[] = {
		{1, 1, 1, 1, 1}, {24, 8, 2, 96, 3}, {4, 1, 8, 8, 1}, {1, 1, 1, 1048576, 1}};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_TRUE(degrees_check(&good[i], &model, &err));
}

static void test_names(void)
{
	enum schedule s = SCHEDULE_GPIPE;
	enum recompute r = RECOMPUTE_NONE;
	enum partition p = PARTITION_UNIFORM;
	CU_ASSERT_TRUE(schedule_find("1f1b", &s) && s == SCHEDULE_1F1B);
	CU_ASSERT_TRUE(schedule_find("gpipe", &s) && s == SCHEDULE_GPIPE);
	CU_ASSERT_TRUE(recompute_find("auto", &r) && r == RECOMPUTE_AUTO);
	CU_ASSERT_TRUE(recompute_find("selective", &r) && r == RECOMPUTE_SELECTIVE);
	CU_ASSERT_TRUE(partition_find("balanced", &p) && p == PARTITION_BALANCED);
	CU_ASSERT_FALSE(schedule_find("1F1B", &s) || schedule_find("", &s));
	CU_ASSERT_FALSE(recompute_find("partial", &r) || partition_find("even", &p));
	CU_ASSERT_STRING_EQUAL(schedule_name(SCHEDULE_1F1B), "1f1b");
	CU_ASSERT_STRING_EQUAL(recompute_name(RECOMPUTE_FULL), "full");
}

/* Every micro-batch goes forward once, then backward once, and no more are held than promised. */
static void check_schedule(enum schedule schedule, uint32_t stage, uint32_t p, uint32_t m)
{
	bool forward[40] = {false}, backward[40] = {false};
	uint32_t held = 0, peak = 0;
	for (uint32_t k = 0; k < 2 * m; k++) {
		struct turn t = schedule_turn(schedule, stage, p, m, k);
		CU_ASSERT_TRUE_FATAL(t.micro_batch < m);
		CU_ASSERT_EQUAL(forward[t.micro_batch], t.backward);
		CU_ASSERT_FALSE(backward[t.micro_batch]);
		(t.backward ? backward : forward)[t.micro_batch] = true;
		held = t.backward ? held - 1 : held + 1;
		peak = held > peak ? held : peak;
	}
	CU_ASSERT_EQUAL(held, 0);
	CU_ASSERT_EQUAL(peak, schedule_in_flight(schedule, stage, p, m));
}

static void test_schedules(void)
{
	for (uint32_t p = 1; p <= 9; p++)
		for (uint32_t m = 1; m <= 20; m++)
			for (uint32_t stage = 0; stage < p; stage++) {
				check_schedule(SCHEDULE_GPIPE, stage, p, m);
				check_schedule(SCHEDULE_1F1B, stage, p, m);
			}
	CU_ASSERT_EQUAL(schedule_in_flight(SCHEDULE_1F1B, 0, 4, 32), 4);
	CU_ASSERT_EQUAL(schedule_in_flight(SCHEDULE_1F1B, 3, 4, 32), 1);
	CU_ASSERT_EQUAL(schedule_in_flight(SCHEDULE_1F1B, 0, 4, 2), 2);
	CU_ASSERT_EQUAL(schedule_in_flight(SCHEDULE_GPIPE, 3, 4, 32), 32);
}

/* Stage 1 of 4 with 4 micro-batches, as the figures of the papers show. */
static void test_orders(void)
{
	const char *gpipe = "f0f1f2f3b3b2b1b0", *one = "f0f1f2b0f3b1b2b3";
	struct text a = {0}, b = {0};
	for (uint32_t k = 0; k < 8; k++) {
		struct turn t = schedule_turn(SCHEDULE_GPIPE, 1, 4, 4, k);
		text_add(&a, "%c%u", t.backward ? 'b' : 'f', (unsigned)t.micro_batch);
		t = schedule_turn(SCHEDULE_1F1B, 1, 4, 4, k);
		text_add(&b, "%c%u", t.backward ? 'b' : 'f', (unsigned)t.micro_batch);
	}
	CU_ASSERT_STRING_EQUAL(a.data, gpipe);
	CU_ASSERT_STRING_EQUAL(b.data, one);
	text_free(&a);
	text_free(&b);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"degrees that break a rule", test_refused},
		{"degrees whose product wraps", test_overflow},
		{"degrees that are legal", test_accepted},
		{"names", test_names},
		{"turns of every schedule", test_schedules},
		{"turns by hand", test_orders},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan degrees", tests);
}
