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
		if (!suite_has_table(suites[i])) {
			printf("skipped: WHAM_SHARED not set (%s) ", suites[i]->name);
			CU_ASSERT_FALSE(validate_run(suites[i], NULL, &context, &r, &err));
			CU_ASSERT_EQUAL(err.kind, ERR_IO);
			CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "--reference"));
			arena_free(&a);
			continue;
		}
		if (strcmp(suites[i]->name, "tile") == 0)
			continue; /* slow: below in small */
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

static void fluid_is_near_tiles(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct suite_report r;
	CU_ASSERT(run_on("tile",
		"accelerator,intra_op,layers,step_tolerance,kind_tolerance,mean_tolerance\n"
		"tpuv3,one,1,0.05,0.75,0.05\n",
		&a, &r, &err));
	CU_ASSERT(r.n_rows > 8);
	CU_ASSERT_EQUAL(r.n_passed, r.n_rows);
	CU_ASSERT_FALSE(run_on("tile",
		"accelerator,intra_op,layers,step_tolerance,kind_tolerance,mean_tolerance\n"
		"tpuv3,half,1,0.05,0.5,0.05\n",
		&a, &r, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	arena_free(&a);
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

#define PRODUCTS_HEAD "device,op,M,N_as_listed,K_as_listed,measured_ms,measured_TFLOPs\n"
#define VECTORS_HEAD "device,op,M,N,measured_Gelem_per_s\n"
#define LAYERS_HEAD "system,model,phase,op,measured_ms\n"
#define LAYER "4xA100 TP4,GPT-3 layer d12288 h96 fp16,prefill bs8 s2048,"

/* Each table of a suite is known by its columns; its mean is held beside its rows. */
static void means_are_held(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct suite_report r;
	CU_ASSERT_FATAL(run_on("gemm",
		PRODUCTS_HEAD
		"A100,x,64,64,64,1e9,0\nA100,x,64,64,64,1e9,0\nMI210,x,64,64,64,1e9,0\n",
		&a, &r, &err));
	CU_ASSERT_EQUAL_FATAL(r.n_rows, 5);
	/* three rows of nothing against 1e9 ms: all wrong, shown; the two means are missed */
	CU_ASSERT_EQUAL(r.n_passed, 3);
	CU_ASSERT(r.rows[3].is_mean && !r.rows[3].pass && !r.rows[4].pass);
	CU_ASSERT_DOUBLE_EQUAL(r.rows[3].ours, 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(r.mean_error, 1, 1e-9);
	CU_ASSERT_FATAL(run_on("gemm", VECTORS_HEAD "A100,gelu,1024,1,0.02\n", &a, &r, &err));
	CU_ASSERT_EQUAL(r.n_rows, 2);
	CU_ASSERT_FATAL(run_on("gemm",
		LAYERS_HEAD LAYER "GeLU,1\n" LAYER "TOTAL,1\n" LAYER "TOTAL,0.5\n", &a, &r, &err));
	CU_ASSERT_EQUAL_FATAL(r.n_rows, 3);
	CU_ASSERT_DOUBLE_EQUAL(r.rows[0].ours, r.rows[1].ours, 0);
	CU_ASSERT_DOUBLE_EQUAL(r.rows[2].ours, 0, 0); /* of no operators */
	CU_ASSERT_FALSE(r.rows[2].pass);
	arena_free(&a);
}

#define CHIPS_HEAD "accelerator,model,quantity,reference,tolerance,source\n"

static void the_order_of_arrays_is_held(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct suite_report r;
	CU_ASSERT_FATAL(run_on("area",
		CHIPS_HEAD "TC=1x256x256,chip,conv_utilisation,0.4,,x\n"
			   "TC=16x64x64,chip,conv_utilisation,0.3,,x\n",
		&a, &r, &err));
	CU_ASSERT_EQUAL_FATAL(r.n_rows, 3);
	CU_ASSERT(r.rows[0].pass && r.rows[1].pass && !r.rows[2].pass);
	CU_ASSERT(r.rows[0].ours > 0 && r.rows[0].ours < r.rows[1].ours && r.rows[1].ours < 1);
	CU_ASSERT_FATAL(run_on("area",
		"component,GA100_mm2,MI210(Aldebaran die)_mm2\ncores,476,446\ntotal,823,720\n", &a,
		&r, &err));
	CU_ASSERT_EQUAL_FATAL(r.n_rows, 12);
	CU_ASSERT_DOUBLE_EQUAL(
		r.rows[0].ours + r.rows[1].ours + r.rows[2].ours + r.rows[3].ours + r.rows[4].ours,
		r.rows[5].ours, 1e-9);
	arena_free(&a);
}

/* Suite and table; each is refused by the name of its file. */
static const struct {
	const char *suite, *text;
} bad_tables[] = {
	{"area", "accelerator,model\ntpuv2,chip\n"},
	{"area", CHIPS_HEAD "tpuv2,chip,colour,1,1,x\n"},
	{"area", CHIPS_HEAD "tpuv2,die,area_mm2,1,1,x\n"},
	{"area", CHIPS_HEAD "tpuv2,chip,area_mm2,much,1,x\n"},
	{"area", "component,GA100_mm2\ncores,1\n"},
	{"area", "component,GA100_mm2,MI210(Aldebaran die)_mm2\nglue,1,1\n"},
	{"gemm", "device,op\nA100,x\n"},
	{"gemm", "phase,op\nprefill,x\n"},
	{"gemm", PRODUCTS_HEAD "B200,x,64,64,64,1,1\n"},
	{"gemm", PRODUCTS_HEAD "A100,x,0,64,64,1,1\n"},
	{"gemm", PRODUCTS_HEAD "A100,x,64,64,64,0,1\n"},
	{"gemm", VECTORS_HEAD "A100,tanh,64,64,1\n"},
	{"gemm", LAYERS_HEAD "4xA100,GPT-3 layer d12288 h96,prefill bs8 s2048,GeLU,1\n"},
	{"gemm", LAYERS_HEAD "4xA100 TP7,GPT-3 layer d12288 h96,prefill bs8 s2048,GeLU,1\n"},
	{"gemm", LAYERS_HEAD LAYER "ReLU,1\n"},
};

static void bad_tables_of_any_kind_are_refused(void)
{
	for (size_t i = 0; i < sizeof(bad_tables) / sizeof(*bad_tables); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct suite_report r;
		CU_ASSERT_FALSE(run_on(bad_tables[i].suite, bad_tables[i].text, &a, &r, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "wham-validate-"));
		if (!strstr(err.text, "wham-validate-"))
			printf("%s: %s\n", bad_tables[i].text, err.text);
		arena_free(&a);
	}
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

/* 4,140 grids, 13 bars of Eq. 4 alone, 31 printed speedups, and the best grids of Fig. 7, 9 and
 * 10a. */
static void integrated_has_all_rows(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct suite_report r;
	struct suite_context context = context_in(&a);
	uint32_t grids = 0, speedups = 0, best = 0, first = 0;
	CU_ASSERT_FATAL(validate_run(suite_get("integrated", &err), NULL, &context, &r, &err));
	for (uint32_t i = 0; i < r.n_rows; i++) {
		grids += strncmp(r.rows[i].label, "Fig.", 4) != 0;
		speedups += strstr(r.rows[i].label, "speedup") != NULL;
		best += strstr(r.rows[i].label, "best grid") && r.rows[i].tolerance == 0;
		first += strstr(r.rows[i].label, "Eq. 4") != NULL;
	}
	CU_ASSERT_EQUAL(grids, 4140);
	CU_ASSERT_EQUAL(speedups, 31);
	CU_ASSERT_EQUAL(best, 9);
	CU_ASSERT_EQUAL(first, 13);
	CU_ASSERT_EQUAL(r.n_passed, r.n_rows);
	arena_free(&a);
}

static void integrated_refuses(void)
{
#define TERMS \
	"variant,bw_unit,B,P,Pr,Pc,t_fwd_allgather_s,t_bwd_dX_allreduce_s,t_dW_allreduce_s," \
	"t_halo_s,t_comm_iter_s,t_comm_epoch_s_NoverB,t_comm_epoch_s_ceil\n"
#define BARS "fig,B,P,Pr,Pc,total_dig_s,comm_dig_s,pixel_s,paper_total_speedup,paper_comm_speedup\n"
	static const char *const bad[][2] = {
		{TERMS "eq8_none,GB,512,8,1,8,0,0,1,0,1,1,1\n", ":2: unknown variant 'eq8_none'"},
		{TERMS "eq8_all,MB,512,8,1,8,0,0,1,0,1,1,1\n", ":2: unit 'MB'"},
		{TERMS "eq8_all,GB,512,8,2,8,0,0,1,0,1,1,1\n", ":2: Pr x Pc is not P"},
		{TERMS "eq8_all,GB,0,8,1,8,0,0,1,0,1,1,1\n", ":2: B out of range"},
		{BARS "11a,512,8,1,8,1,1,1,,\n", ":2: unknown figure '11a'"},
		{BARS "7a,512,7,1,7,1,1,1,,\n", ":2: no time is known for 73.1429 samples"},
		{BARS "7a,512,8,0,8,1,1,1,,\n", ":2: expected a batch, Pr x Pc = P"},
		{"a,b\n1,2\n", "expected a column 'variant' or 'fig'"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct suite_report r;
		CU_ASSERT_FALSE(run_on("integrated", bad[i][0], &a, &r, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, bad[i][1]));
		arena_free(&a);
	}
	struct arena a = {0};
	struct err err = {0};
	struct suite_report r;
	CU_ASSERT(run_on("integrated",
		TERMS "eq8_all,GB,512,8,1,8,0,0,7.120976533e-02,0,7.120976540e-02,166.897887,"
		      "166.915690\n",
		&a, &r, &err));
	CU_ASSERT_EQUAL(r.n_rows, 1);
	CU_ASSERT_EQUAL(r.n_passed, 1);
	arena_free(&a);
#undef TERMS
#undef BARS
}

static CU_TestInfo tests[] = {
	{"suites are sorted and found by name", suites_are_sorted_and_found_by_name},
	{"every row of the shipped tables passes", every_row_of_the_shipped_tables_passes},
	{"fluid is near tiles", fluid_is_near_tiles},
	{"a row that is one off is missed", a_row_that_is_one_off_is_missed},
	{"bad tables are refused", bad_tables_are_refused},
	{"means are held", means_are_held},
	{"the order of arrays is held", the_order_of_arrays_is_held},
	{"bad tables of any kind are refused", bad_tables_of_any_kind_are_refused},
	{"integrated has all its rows", integrated_has_all_rows},
	{"bad tables of integrated are refused", integrated_refuses},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("validate", tests);
}
