#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll/coll.h"

/* Two ranks; the steps of each are given. */
#define HEAD \
	"<algo name=\"t\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"%s\" " \
	"inplace=\"%d\">"
#define GPU \
	"<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"2\" s_chunks=\"1\">" \
	"<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">%s</tb></gpu>"
#define STEP(s, type, sb, so, db, dof) \
	"<step s=\"" s "\" type=\"" type "\" srcbuf=\"" sb "\" srcoff=\"" so "\" dstbuf=\"" db \
	"\" dstoff=\"" dof "\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"

static const struct coll_algo *read_text(struct arena *a, const char *text, struct err *err)
{
	char path[] = "/tmp/wham-msccl-XXXXXX";
	const struct coll_algo *algo = NULL;
	int fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	*err = (struct err){0};
	bool ok = coll_read_msccl(a, path, &algo, err);
	remove(path);
	return ok ? algo : NULL;
}

static const char *gather_text(struct arena *a, const char *steps0, const char *steps1)
{
	return arena_printf(
		a, HEAD GPU GPU "</algo>", "allgather", 0, 0, 1, 1, 1, steps0, 1, 1, 0, 0, steps1);
}

#define SEND0 STEP("0", "s", "i", "0", "o", "0")
#define SEND1 STEP("0", "s", "i", "0", "o", "1")

static void a_gather_of_two(void)
{
	struct arena a = {0};
	struct err err;
	const struct coll_algo *algo = read_text(&a,
		gather_text(&a, SEND0 STEP("1", "r", "i", "0", "o", "1"),
			SEND1 STEP("1", "r", "i", "0", "o", "0")),
		&err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(algo);
	CU_ASSERT_EQUAL(algo->kind, COLL_ALLGATHER);
	CU_ASSERT(coll_fits(algo, 2) && !coll_fits(algo, 3));
	struct coll_call c = {.algo = algo, .n_ranks = 2, .bytes = 1000};
	struct coll_schedule s;
	CU_ASSERT_TRUE_FATAL(coll_build(&a, &c, &s, &err));
	CU_ASSERT_EQUAL(s.n_rounds, 1);
	CU_ASSERT_EQUAL(s.n_steps, 2);
	CU_ASSERT_DOUBLE_EQUAL(coll_time(&s, 2, 1, 1e-3), 1.5, 1e-12); /* 500 bytes each way */
	arena_free(&a);
}

static void a_reduction_through_scratch(void)
{
	/* Rank 1 adds to what it got and sends it back; rank 0 had sent both chunks. */
	static const char there[] =
		"<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" "
		"dstoff=\"0\" cnt=\"2\"/><step s=\"1\" type=\"r\" srcbuf=\"i\" "
		"srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"2\"/>";
	static const char back[] =
		"<step s=\"0\" type=\"rrcs\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
		"dstoff=\"0\" cnt=\"2\"/>";
	struct arena a = {0};
	struct err err;
	const char *text = arena_printf(
		&a, HEAD GPU GPU "</algo>", "allreduce", 0, 0, 2, 1, 1, there, 1, 2, 0, 0, back);
	const struct coll_algo *algo = read_text(&a, text, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(algo);
	struct coll_call c = {.algo = algo, .n_ranks = 2, .bytes = 1000};
	CU_ASSERT_DOUBLE_EQUAL(coll_call_time(&c, 1, 1e-3), 4, 1e-12);
	arena_free(&a);
}

static void wrong_schedules(void)
{
	static const struct {
		const char *steps0, *steps1, *text;
	} rows[] = {
		{STEP("0", "r", "i", "0", "o", "1") STEP("1", "s", "i", "0", "o", "0"),
			STEP("0", "r", "i", "0", "o", "0") STEP("1", "s", "i", "0", "o", "1"),
			"deadlock in the schedule, 4 steps in a cycle: gpu 0 threadblock 0 step 0 "
			"(r, "
			"line 1), which waits for gpu 1 threadblock 0 step 1 (s, line 1), which "
			"waits "
			"for gpu 1 threadblock 0 step 0 (r, line 1), which waits for gpu 0 "
			"threadblock "
			"0 step 1 (s, line 1), which waits for the first"},
		{SEND0, SEND1 STEP("1", "r", "i", "0", "o", "0"),
			"gpu 1 threadblock 0 step 0 (s, line 1) sends to gpu 0 on channel 0, which "
			"never receives it"},
		{SEND0 STEP("1", "r", "i", "0", "o", "1"), STEP("0", "r", "i", "0", "o", "0"),
			"receives from gpu 1 on channel 0, which never sends it"},
		{SEND0 STEP("1", "r", "i", "0", "o", "0"), SEND1 STEP("1", "r", "i", "0", "o", "0"),
			"gpu 0 ends without chunk 0 of the allgather"},
		{STEP("0", "s", "s", "0", "o", "0") STEP("1", "r", "i", "0", "o", "1"),
			SEND1 STEP("1", "r", "i", "0", "o", "0"),
			"reads a chunk that nobody has written"},
		{SEND0 STEP("1", "rrc", "i", "0", "o", "1"),
			SEND1 STEP("1", "r", "i", "0", "o", "0"),
			"adds chunks that do not belong together"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct arena a = {0};
		struct err err;
		CU_ASSERT_PTR_NULL(
			read_text(&a, gather_text(&a, rows[i].steps0, rows[i].steps1), &err));
		CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].text));
		if (!strstr(err.text, rows[i].text))
			printf("%s\n", err.text);
		arena_free(&a);
	}
}

static void malformed_files(void)
{
	static const char ok_step[] = STEP("0", "s", "i", "0", "o", "0");
	static const char *const bad_steps[] = {
		STEP("0", "q", "i", "0", "o", "0"),
		STEP("0", "s", "x", "0", "o", "0"),
		STEP("0", "s", "i", "1", "o", "0"),
		STEP("0", "s", "i", "-1", "o", "0"),
		STEP("0", "s", "i", "0x", "o", "0"),
		STEP("1", "s", "i", "0", "o", "0"),
		"<step s=\"0\" type=\"nop\" cnt=\"0\" depid=\"7\" deps=\"0\"/>",
		"<step s=\"0\" type=\"nop\" cnt=\"0\" depid=\"0\" deps=\"9\"/>",
		"<tb/>",
		"<step s=\"0\" type=\"s\"",
	};
	static const char *const bad_files[] = {"", "<a/>", "<algo/>",
		"<algo ngpus=\"0\" nchunksperloop=\"1\" coll=\"allreduce\"/>",
		"<algo ngpus=\"2\" nchunksperloop=\"2\" coll=\"allmagic\"/>",
		"<algo ngpus=\"2\" nchunksperloop=\"2\" coll=\"allreduce\"/>",
		"<algo ngpus=\"2\" nchunksperloop=\"2\" coll=\"allreduce\"><gpu id=\"2\"/></algo>",
		"<algo ngpus=\"99999\" nchunksperloop=\"2\" coll=\"allreduce\"/>"};
	struct arena a = {0};
	struct err err;
	for (size_t i = 0; i < sizeof(bad_steps) / sizeof(*bad_steps); i++) {
		CU_ASSERT_PTR_NULL(read_text(&a, gather_text(&a, bad_steps[i], ok_step), &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	}
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(*bad_files); i++) {
		CU_ASSERT_PTR_NULL(read_text(&a, bad_files[i], &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	}
	const struct coll_algo *algo;
	CU_ASSERT_FALSE(coll_read_msccl(&a, "/nonexistent.xml", &algo, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	arena_free(&a);
}

/* Cutting a file short anywhere, or changing one character, gives an answer or a reason. */
static void mutated_files(void)
{
	struct arena a = {0};
	struct err err;
	const char *text = gather_text(&a, SEND0 STEP("1", "r", "i", "0", "o", "1"),
		SEND1 STEP("1", "r", "i", "0", "o", "0"));
	char *copy = arena_strdup(&a, text);
	uint32_t n_good = 0;
	for (size_t i = 0, n = strlen(text); i < n; i += 3) {
		copy[i] = text[i] == '1' ? '0' : '1';
		n_good += read_text(&a, copy, &err) != NULL;
		copy[i] = text[i];
		CU_ASSERT_PTR_NULL(read_text(&a, arena_strndup(&a, text, i), &err));
	}
	CU_ASSERT(n_good > 0);
	arena_free(&a);
}

static void files_of_others(void)
{
	static const struct {
		const char *name;
		enum coll_kind kind;
		uint32_t n_rounds, n_steps;
	} rows[] = {
		{"data/msccl/allreduce-allpairs-8n-ll-32tb.xml", COLL_ALLREDUCE, 2, 448},
		{"data/msccl/alltoall-8n-0-9kb.xml", COLL_ALLTOALL, 1, 56},
		{"data/msccl/alltoall-8n-9kb-190kb.xml", COLL_ALLTOALL, 1, 112},
		{"cases/msccl01_ag2_ok.xml", COLL_ALLGATHER, 1, 2},
	};
	const char *shared = getenv("WHAM_SHARED");
	if (!shared) {
		printf("skipped: WHAM_SHARED not set\n");
		return;
	}
	struct arena a = {0};
	struct err err = {0};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct coll_algo *algo = NULL;
		const char *path = arena_printf(&a, "%s/%s", shared, rows[i].name);
		CU_ASSERT_TRUE_FATAL(coll_read_msccl(&a, path, &algo, &err));
		struct coll_call c = {.algo = algo, .n_ranks = algo->only_ranks, .bytes = 1 << 20};
		struct coll_schedule s;
		CU_ASSERT_TRUE_FATAL(coll_build(&a, &c, &s, &err));
		CU_ASSERT_EQUAL(algo->kind, rows[i].kind);
		CU_ASSERT_EQUAL(s.n_rounds, rows[i].n_rounds);
		CU_ASSERT_EQUAL(s.n_steps, rows[i].n_steps);
	}
	/* All pairs is what we call direct. */
	const struct coll_algo *pairs = coll_load(
		&a, COLL_ALLREDUCE, arena_printf(&a, "%s/%s", shared, rows[0].name), &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pairs);
	struct coll_call c = {.algo = pairs, .n_ranks = 8, .bytes = 1 << 20};
	double theirs = coll_call_time(&c, 1e-6, 1e-9);
	c.algo = coll_find(COLL_ALLREDUCE, "direct");
	CU_ASSERT_DOUBLE_EQUAL(theirs, coll_call_time(&c, 1e-6, 1e-9), 1e-15);
	CU_ASSERT_PTR_NULL(coll_load(
		&a, COLL_ALLTOALL, arena_printf(&a, "%s/%s", shared, rows[0].name), &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is an algorithm for allreduce, not for alltoall"));
	const char *dead = arena_printf(&a, "%s/cases/msccl02_ag2_deadlock.xml", shared);
	CU_ASSERT_FALSE(coll_read_msccl(&a, dead, &pairs, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "deadlock in the schedule, 4 steps in a cycle"));
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a gather of two", a_gather_of_two},
		{"a reduction through scratch", a_reduction_through_scratch},
		{"wrong schedules", wrong_schedules},
		{"malformed files", malformed_files},
		{"mutated files", mutated_files},
		{"files of others", files_of_others},
		CU_TEST_INFO_NULL,
	};
	return suite_run("msccl", tests);
}
