/* Whatever happens to SimGrid's process is an error of ours, never an end. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "script.h"
#include "suite.h"

static struct topo ring(struct arena *a)
{
	struct topo t;
	struct err err = {0};
	bool ok = topo_parse(a, "ring:4,bw=450GB/s,lat=100ns", &t, &err);
	assert(ok);
	return t;
}

static void start_nothing(struct net *net, void *ctx)
{
}

static void start_kill(struct net *net, void *ctx)
{
	fprintf(stderr, "one\ngoing\n  -> 0# somewhere\n");
	raise(SIGKILL);
}

static void start_exit(struct net *net, void *ctx)
{
	fprintf(stderr,
		"[0.000000] ./x.cpp:1: [x/ERROR] no more\n[0.000000] [x/ERROR] Exiting now.\n");
	_exit(3);
}

static void start_abort(struct net *net, void *ctx)
{
	fprintf(stderr, "[0.000000] ./x.cpp:1: [root/CRITICAL] /proc/self/fd/9:12: all is lost\n"
			"Backtrace (displayed in actor maestro):\n  -> 0# f in lib\n");
	abort();
}

static bool finish_nothing(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	return true;
}

static bool finish_large(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	for (uint32_t i = 0; i < 1000000; i++)
		text_add(reply, "%07" PRIu32 "\n", i);
	return true;
}

static bool finish_noisy(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	for (uint32_t i = 0; i < 100000; i++)
		fprintf(stderr, "%07" PRIu32 " is more than a pipe or anybody's patience holds\n",
			i);
	text_add(reply, "done");
	return true;
}

static bool finish_answer(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	return err_set(err, ERR_ANSWER, "deadlock: %s", "nobody moves");
}

static bool finish_kill(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	fprintf(stderr, "late\n");
	raise(SIGKILL);
	return true;
}

static uint32_t count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t n = 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

typedef void start_fn(struct net *net, void *ctx);
typedef bool finish_fn(struct net *net, void *ctx, struct text *reply, struct err *err);

/* Runs a job without messages; afterwards neither a child nor a descriptor may be left. */
static bool run(
	struct arena *a, start_fn *start, finish_fn *finish, struct bytes *reply, struct err *err)
{
	struct topo t = ring(a);
	struct topo_pair pair = {0, 1};
	struct net_job job = {start, finish, NULL, &pair, 1};
	uint32_t before = count_descriptors();
	bool ok = net_run(a, NET_SIMGRID, &t, &job, reply, err);
	CU_ASSERT_EQUAL(count_descriptors(), before);
	CU_ASSERT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	return ok;
}

static void expect(start_fn *start, finish_fn *finish, enum err_kind kind, const char *text)
{
	struct arena a = {0};
	struct err err = {0};
	struct bytes reply;
	CU_ASSERT_FALSE(run(&a, start, finish, &reply, &err));
	CU_ASSERT_EQUAL(err.kind, kind);
	if (strcmp(err.text, text) != 0)
		printf("\n%s\n", err.text);
	CU_ASSERT_STRING_EQUAL(err.text, text);
	arena_free(&a);
}

static void test_killed(void)
{
	expect(start_kill, finish_nothing, ERR_INTERNAL, "SimGrid process died (signal 9): going");
	expect(start_nothing, finish_kill, ERR_INTERNAL, "SimGrid process died (signal 9): late");
}

static void test_says_why(void)
{
	expect(start_exit, finish_nothing, ERR_INTERNAL,
		"SimGrid process ended (exit status 3): no more");
	expect(start_abort, finish_nothing, ERR_INTERNAL,
		"SimGrid process died (signal 6): line 12: all is lost");
}

static void test_answer(void)
{
	expect(start_nothing, finish_answer, ERR_ANSWER, "deadlock: nobody moves");
}

static void test_replies(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct bytes reply;
	CU_ASSERT(run(&a, start_nothing, finish_nothing, &reply, &err));
	CU_ASSERT(reply.n == 0 && reply.data && reply.data[0] == '\0');
	CU_ASSERT_FATAL(run(&a, start_nothing, finish_large, &reply, &err));
	CU_ASSERT_EQUAL(reply.n, 8000000);
	CU_ASSERT(memcmp(reply.data, "0000000\n", 8) == 0);
	CU_ASSERT(memcmp(reply.data + 8 * 999999, "0999999\n", 8) == 0);
	CU_ASSERT_FATAL(run(&a, start_nothing, finish_noisy, &reply, &err));
	CU_ASSERT_STRING_EQUAL(reply.data, "done");
	arena_free(&a);
}

static void test_no_module(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct bytes reply;
	char folder[] = "/tmp/wham_module_XXXXXX";
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	setenv("WHAM_MODULE_DIR", folder, 1);
	CU_ASSERT_FALSE(run(&a, start_nothing, finish_nothing, &reply, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INTERNAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, folder));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "--network analytic"));
	CU_ASSERT_PTR_NULL(net_simgrid_version(&a, &err));
	/* A module that is none. */
	const char *path = arena_printf(&a, "%s/wham-simgrid.so", folder);
	CU_ASSERT(file_write(path, "junk", 4, &err));
	CU_ASSERT_FALSE(run(&a, start_nothing, finish_nothing, &reply, &err));
	CU_ASSERT(err.kind == ERR_INTERNAL && strstr(err.text, "cannot open SimGrid"));
	unlink(path);
	rmdir(folder);
	unsetenv("WHAM_MODULE_DIR");
	arena_free(&a);
}

static void test_version(void)
{
	struct arena a = {0};
	struct err err = {0};
	const char *version = net_simgrid_version(&a, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(version);
	unsigned major = 0, minor = 0;
	CU_ASSERT(sscanf(version, "SimGrid %u.%u", &major, &minor) == 2 && major >= 3);
	arena_free(&a);
}

/* A child that dies must not write what this process has still in its buffers. */
static void test_buffers(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct bytes reply;
	char path[] = "/tmp/wham_buffer_XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs("once\n", f);
	CU_ASSERT_FALSE(run(&a, start_abort, finish_nothing, &reply, &err));
	CU_ASSERT(run(&a, start_nothing, finish_nothing, &reply, &err));
	fclose(f);
	struct bytes text;
	CU_ASSERT_FATAL(file_read(&a, path, &text, &err));
	CU_ASSERT_STRING_EQUAL(text.data, "once\n");
	unlink(path);
	arena_free(&a);
}

static bool finish_every_byte(struct net *net, void *ctx, struct text *reply, struct err *err)
{
	for (int i = 0; i < 3 * 256; i++) {
		unsigned char byte = (unsigned char)i;
		text_add_bytes(reply, &byte, 1);
	}
	return true;
}

/* A reply is bytes, not text: zeros come through. */
static void test_binary_replies(void)
{
	struct arena a = {0};
	struct topo topo;
	struct err err = {0};
	const struct net_job job = {.start = start_nothing, .finish = finish_every_byte};
	CU_ASSERT_FATAL(topo_parse(&a, "ring:2", &topo, &err));
	for (int i = 0; i < 2; i++) {
		struct bytes reply = {0};
		bool ok = net_run(&a, i ? NET_SIMGRID : NET_ANALYTIC, &topo, &job, &reply, &err);
		CU_ASSERT_FATAL(ok && reply.n == 3 * 256);
		for (size_t k = 0; k < reply.n; k++)
			CU_ASSERT_EQUAL((unsigned char)reply.data[k], k % 256);
		CU_ASSERT_EQUAL(reply.data[reply.n], 0);
	}
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a killed child", test_killed},
		{"a dead child says why", test_says_why},
		{"errors of the job", test_answer},
		{"replies", test_replies},
		{"binary replies", test_binary_replies},
		{"no module", test_no_module},
		{"version", test_version},
		{"buffers are written once", test_buffers},
		CU_TEST_INFO_NULL,
	};
	return suite_run("net child", tests);
}
