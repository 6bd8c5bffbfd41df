/* Items over forked processes. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/workers.h"
#include "suite.h"

enum { ITEMS = 37 };

struct plan_of_items {
	uint32_t fail_first, fail_second, die; /* items; ITEMS: none */
	uint32_t calls;
};

struct item_result {
	uint32_t square;
	char pad[5000]; /* more than a pipe holds, over all items */
};

static bool item(void *ctx, uint32_t i, void *result, struct err *err)
{
	struct plan_of_items *p = ctx;
	struct item_result *r = result;
	p->calls++;
	if (i == p->fail_first || i == p->fail_second)
		return err_set(err, ERR_ANSWER, "item %u", (unsigned)i);
	if (i == p->die)
		raise(SIGKILL);
	r->square = i * i;
	memset(r->pad, (int)i, sizeof(r->pad));
	return true;
}

static bool run(
	struct plan_of_items *p, uint32_t jobs, struct item_result *results, struct err *err)
{
	struct worker_map map = {
		.fn = item, .ctx = p, .n = ITEMS, .jobs = jobs, .size = sizeof(*results)};
	return workers_run(&map, results, err);
}

static void test_results_in_order(void)
{
	struct arena a = {0};
	struct item_result *one = arena_array(&a, ITEMS, struct item_result);
	struct item_result *many = arena_array(&a, ITEMS, struct item_result);
	struct plan_of_items p = {ITEMS, ITEMS, ITEMS, 0};
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(run(&p, 1, one, &err));
	CU_ASSERT_EQUAL(p.calls, ITEMS);
	for (uint32_t i = 0; i < ITEMS; i++)
		CU_ASSERT_EQUAL(one[i].square, i * i);
	for (uint32_t jobs = 2; jobs <= 64; jobs *= 2) {
		memset(many, 0xff, ITEMS * sizeof(*many));
		CU_ASSERT_TRUE_FATAL(run(&p, jobs, many, &err));
		CU_ASSERT_EQUAL(memcmp(one, many, ITEMS * sizeof(*many)), 0);
	}
	CU_ASSERT_EQUAL(p.calls, ITEMS);
	arena_free(&a);
}

static void test_first_failure_wins(void)
{
	struct arena a = {0};
	struct item_result *results = arena_array(&a, ITEMS, struct item_result);
	for (uint32_t jobs = 1; jobs <= 5; jobs++) {
		struct plan_of_items p = {11, 30, ITEMS, 0};
		struct err err = {0};
		CU_ASSERT_FALSE(run(&p, jobs, results, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
		CU_ASSERT_STRING_EQUAL(err.text, "item 11");
	}
	arena_free(&a);
}

static void test_dead_worker(void)
{
	struct arena a = {0};
	struct item_result *results = arena_array(&a, ITEMS, struct item_result);
	struct plan_of_items p = {ITEMS, ITEMS, 9, 0};
	struct err err = {0};
	CU_ASSERT_FALSE(run(&p, 3, results, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INTERNAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "died of signal 9"));
	/* Nobody is left behind. */
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"results come in order from any number of jobs", test_results_in_order},
		{"the first item that fails is the error", test_first_failure_wins},
		{"a dead worker is an error", test_dead_worker},
		CU_TEST_INFO_NULL,
	};
	return suite_run("search/workers", tests);
}
