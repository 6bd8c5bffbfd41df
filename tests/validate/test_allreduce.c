#include "validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "topo/topo.h"

static bool run_on(const char *text, const struct topo *topo, struct arena *a,
	struct suite_report *r, struct err *err)
{
	char path[] = "/tmp/wham-allreduce-XXXXXX";
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	FILE *f = fdopen(fd, "w");
	CU_ASSERT_FATAL(f != NULL);
	fputs(text, f);
	fclose(f);
	struct suite_context context = {
		.a = a, .data_root = getenv("WHAM_SOURCE_ROOT"), .topo = topo};
	*err = (struct err){0};
	bool ok = validate_run(suite_get("allreduce", err), path, &context, r, err);
	remove(path);
	return ok;
}

#define HEADING \
	"#                                           out-of-place                in-place\n" \
	"#       size         count      type   redop    root     time   algbw   busbw #wrong    " \
	" " \
	"time   algbw   busbw #wrong\n" \
	"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n"
#define ROW(size) \
	size "  268435456  float  sum  -1  4511.2  238.02  446.28  0  4510.0  238.08  446.40  " \
	     "N/A\n"

static const char json_table[] =
	"{\"version\": 1, \"args\": [\"./all_reduce_perf\", \"-J\", \"x\"], \"results\": "
	"[{\"size\": "
	"1073741824, \"count\": 1, \"type\": \"float\", \"out_of_place\": {\"time\": \"nan\"}, "
	"\"in_place\": {\"time\": 4511.2, \"alg_bw\": 238.02, \"bus_bw\": 446.28}}]}";

static const char *const tables[] = {
	HEADING ROW("  1073741824") "# Avg bus bandwidth    : 446.28\n",
	"# all_reduce_perf\n [1,0]<stdout>:" HEADING "[1,0]<stdout>:" ROW("1073741824"),
	" 0: # nThread 1\n 0: #  size  count  type  redop  time  algbw  busbw  error\n"
	" 0:  1073741824  268435456  float  sum  4511.2  238.02  446.28  0e+00\n",
	json_table,
};

/* 1 GiB over 16 ranks in 4511.2 us: 238.02 and 446.28 GB/s, whose quotient gives the 16. */
static void tables_of_nccl_tests(void)
{
	struct arena b = {0};
	struct err err = {0};
	struct topo topo;
	CU_ASSERT_TRUE_FATAL(topo_parse(&b, "crossbar:16,bw=500GB/s,lat=1us", &topo, &err));
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct arena a = {0};
		struct suite_report r;
		CU_ASSERT_TRUE_FATAL(run_on(tables[i], &topo, &a, &r, &err));
		CU_ASSERT_EQUAL_FATAL(r.n_rows, 2);
		CU_ASSERT_STRING_EQUAL(r.rows[0].label, "nccl-tests, 16 ranks, 1 GiB, us");
		CU_ASSERT_DOUBLE_EQUAL(r.rows[0].reference, 4511.2, 1e-9);
		/* ring: 30 steps of 2 us and a sixteenth at 500 GB/s */
		CU_ASSERT_DOUBLE_EQUAL(r.rows[0].ours, 30 * (2 + 67108864 / 500e3), 1e-3);
		CU_ASSERT_STRING_EQUAL(r.rows[1].label, "nccl-tests, 16 ranks, 1 GiB, busbw GB/s");
		CU_ASSERT_DOUBLE_EQUAL(r.rows[1].reference, 446.28, 0.005);
		arena_free(&a);
	}
	arena_free(&b);
}

static void devices_that_are_listed_count(void)
{
	struct arena a = {0};
	struct err err;
	struct suite_report r;
	CU_ASSERT_TRUE_FATAL(run_on(
		"#  Rank  0 Group  0 Pid 1 on a device  0 [0x07] A100\n"
		"#  Rank  1 Group  0 Pid 2 on a device  1 [0x0f] A100\n" HEADING ROW("1048576"),
		NULL, &a, &r, &err));
	CU_ASSERT_STRING_EQUAL(r.rows[0].label, "nccl-tests, 2 ranks, 1 MiB, us");
	/* The calibrated machine: two steps of 1.97 us and half at 212 GB/s, 37.5 us for the call. */
	CU_ASSERT_DOUBLE_EQUAL(r.rows[0].ours, 37.5 + 2 * (1.97 + 524288 / 212e3), 1e-3);
	arena_free(&a);
}

static void tables_that_are_refused(void)
{
	static const struct {
		const char *text, *reason;
	} rows[] = {
		{HEADING ROW("1073741824"), "16 ranks, but topology 'a100x8-nccl' has 8 devices"},
		{HEADING "# nothing\n", "no rows of nccl-tests"},
		{"# all_gather_perf\n" HEADING ROW("1073741824"), "a table of allgather"},
		{"{\"results\": []}", "no rows of nccl-tests"},
		{"{\"results\": [", ":1:13: "},
		{"a,b\n1,2\n", "not a table of suite allreduce"},
		{"gpu,n_gpus,bytes,time_ns\nh100,2,8,9\n", "gpu 'h100', expected a100 or v100"},
		{"gpu,n_gpus,bytes,time_ns\na100,9,8,9\n", "9 ranks, but topology"},
		{"gpu,n_gpus,bytes,time_ns\na100,2,0,9\n", "expected from 1 byte"},
		{"gpu,n_gpus,bytes,time_ns\na100,2,8,0\n", "a time above 0"},
		{"bytes_as_listed,measured_us\n8,-1\n", "a time above 0"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct arena a = {0};
		struct err err;
		struct suite_report r;
		CU_ASSERT_FALSE(run_on(rows[i].text, NULL, &a, &r, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].reason));
		if (!strstr(err.text, rows[i].reason))
			printf("%s\n", err.text);
		arena_free(&a);
	}
}

/* Rows are shown; the means decide. */
static void a_mean_that_is_off_is_missed(void)
{
	/* 1 GiB over 2 and 3: on V100 one ring, and two that share no link. */
	static const char head[] = "gpu,n_gpus,bytes,time_ns\n";
	struct arena a = {0};
	struct err err;
	struct suite_report r;
	CU_ASSERT_TRUE_FATAL(run_on(arena_printf(&a,
					    "%sv100,2,1073741824,47534000\n"
					    "v100,3,1073741824,31706000\n",
					    head),
		NULL, &a, &r, &err));
	CU_ASSERT_EQUAL(r.n_rows, 4);
	CU_ASSERT_EQUAL(r.n_passed, 4);
	CU_ASSERT_DOUBLE_EQUAL(r.rows[0].error, 0, 1e-4);
	CU_ASSERT_DOUBLE_EQUAL(r.rows[1].error, 0, 1e-4);
	CU_ASSERT_TRUE_FATAL(run_on(
		arena_printf(&a, "%sv100,2,1073741824,41000000\n", head), NULL, &a, &r, &err));
	CU_ASSERT_EQUAL(r.n_rows, 2);
	CU_ASSERT_EQUAL(r.n_passed, 1);
	arena_free(&a);
}

static CU_TestInfo tests[] = {
	{"tables of nccl-tests", tables_of_nccl_tests},
	{"devices that are listed count", devices_that_are_listed_count},
	{"tables that are refused", tables_that_are_refused},
	{"a mean that is off is missed", a_mean_that_is_off_is_missed},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("validate allreduce", tests);
}
