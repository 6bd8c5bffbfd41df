#include "validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static struct suite_context context_in(struct arena *a)
{
	return (struct suite_context){
		.a = a, .data_root = getenv("WHAM_SOURCE_ROOT"), .simgrid = false};
}

static void suites_are_sorted_and_found_by_name(void)
{
	struct err err = {0};
	for (size_t i = 0; suites[i]; i++) {
		CU_ASSERT_PTR_EQUAL(suite_get(suites[i]->name, &err), suites[i]);
		if (i > 0)
			CU_ASSERT(strcmp(suites[i - 1]->name, suites[i]->name) < 0);
	}
	CU_ASSERT_PTR_NULL(suite_get("scalsim", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "'scalesim'"));
}

static void every_row_of_the_shipped_tables_passes(void)
{
	for (size_t i = 0; suites[i]; i++) {
		struct arena a = {0};
		struct err err = {0};
		struct suite_report r;
		struct suite_context context = context_in(&a);
		CU_ASSERT_FATAL(validate_run(suites[i], NULL, &context, &r, &err));
		CU_ASSERT(r.n_rows > 0);
		CU_ASSERT_EQUAL(r.n_passed, r.n_rows);
		CU_ASSERT(r.mean_error <= r.worst_error);
		arena_free(&a);
	}
}

/* Writes `text` to a file of its own and runs the suite on it. */
static bool run_on(const char *suite, const char *text, struct arena *a, struct suite_report *r,
	struct err *err)
{
	char path[] = "/tmp/wham-validate-XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	FILE *f = fdopen(fd, "w");
	CU_ASSERT_FATAL(f != NULL);
	fputs(text, f);
	fclose(f);
	struct suite_context context = context_in(a);
	bool ok = validate_run(suite_get(suite, err), path, &context, r, err);
	remove(path);
	return ok;
}

#define SCALESIM_HEAD "layer,M,N,K,array_rows,array_cols,dataflow,compute_cycles\n"

static void a_row_that_is_one_off_is_missed(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct suite_report r;
	/* 4x4x4 on 4x4, ws: one fold of 4 + 8 + 4 - 2 cycles */
	CU_ASSERT(run_on(
		"scalesim", SCALESIM_HEAD "x,4,4,4,4,4,ws,14\ny,4,4,4,4,4,ws,15\n", &a, &r, &err));
	CU_ASSERT_EQUAL(r.n_rows, 2);
	CU_ASSERT_EQUAL(r.n_passed, 1);
	CU_ASSERT(r.rows[0].pass && !r.rows[1].pass);
	CU_ASSERT_DOUBLE_EQUAL(r.worst_error, 1.0 / 15, 1e-12);
	arena_free(&a);
}

static void bad_tables_are_refused(void)
{
	static const char *const bad[] = {
		"layer,M,N\nx,1,2\n",
		SCALESIM_HEAD,
		SCALESIM_HEAD "x,0,4,4,4,4,ws,14\n",
		SCALESIM_HEAD "x,4,4,4,4,4,rs,14\n",
		SCALESIM_HEAD "x,4,4,4,4,4,ws,many\n",
		SCALESIM_HEAD "x,4,4\n",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct suite_report r;
		CU_ASSERT_FALSE(run_on("scalesim", bad[i], &a, &r, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "wham-validate-"));
		arena_free(&a);
	}
}

static CU_TestInfo tests[] = {
	{"suites are sorted and found by name", suites_are_sorted_and_found_by_name},
	{"every row of the shipped tables passes", every_row_of_the_shipped_tables_passes},
	{"a row that is one off is missed", a_row_that_is_one_off_is_missed},
	{"bad tables are refused", bad_tables_are_refused},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("validate", tests);
}
