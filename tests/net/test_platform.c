/* SimGrid platform files as they are, good and bad, through the forked child. */
#include <unistd.h>

#include "script.h"
#include "suite.h"

static const char *const examples[] = {"cluster_and_one_host", "cluster_backbone",
	"cluster_dragonfly", "cluster_fat_tree", "cluster_multi", "cluster_torus", "config_tracing",
	"data_center", "faulty_host", "g5k", "griffon", "ptask_L07", "routing_cluster",
	"small_platform", "small_platform_profile", "three_multicore_hosts"};

static bool read_text(struct arena *a, const char *text, struct topo *t, struct err *err)
{
	char path[] = "/tmp/wham_platform_XXXXXX";
	int fd = mkstemp(path);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	assert(ok);
	close(fd);
	ok = topo_read(a, path, t, err);
	unlink(path);
	return ok;
}

#define PLATFORM(hosts, rest) \
	"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n" \
	"<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n" hosts \
	"<link id=\"l\" bandwidth=\"450GBps\" latency=\"100ns\"/>\n" rest "</zone></platform>\n"
#define HOSTS "<host id=\"b\" speed=\"1Gf\"/><host id=\"a\" speed=\"1Gf\"/>\n"
#define ROUTE "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n"

/* Devices are hosts in order of appearance; both directions share the link, as the file says. */
static void test_shared_link(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	const struct script_msg list[] = {{0, 0, 1, 9000000, 0}, {0, 1, 0, 9000000, 0}};
	CU_ASSERT_FATAL(read_text(&a, PLATFORM(HOSTS, ROUTE), &t, &err));
	const char *reply = script_run(&a, NET_SIMGRID, &t, list, 2, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(reply);
	CU_ASSERT_STRING_EQUAL(reply, "0 40100000\n1 40100000\n");
	arena_free(&a);
}

static void test_analytic_refuses(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	const struct script_msg list[] = {{0, 0, 1, 1, 0}};
	CU_ASSERT_FATAL(read_text(&a, PLATFORM(HOSTS, ROUTE), &t, &err));
	CU_ASSERT_PTR_NULL(script_run(&a, NET_ANALYTIC, &t, list, 1, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INTERNAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "needs --network simgrid"));
	arena_free(&a);
}

/* What our check lets pass and SimGrid does not. */
static void expect_refused(const char *text, const char *part)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	const struct script_msg list[] = {{0, 0, 1, 1, 0}};
	CU_ASSERT_FATAL(read_text(&a, text, &t, &err));
	CU_ASSERT_PTR_NULL(script_run(&a, NET_SIMGRID, &t, list, 1, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "SimGrid refuses the platform: "));
	bool said = strstr(err.text, part) && !strstr(err.text, "/proc/self") &&
		    !strstr(err.text, "->");
	if (!said)
		printf("\n%s\n", err.text);
	CU_ASSERT(said);
	arena_free(&a);
}

static void test_simgrid_refuses(void)
{
	expect_refused("<platform version=\"4.1\"><zone id=\"z\" routing=\"Wrong\">" HOSTS
		       "</zone></platform>",
		"");
	expect_refused(PLATFORM(HOSTS, ROUTE ROUTE), "");
	expect_refused(PLATFORM(HOSTS "<trace id=\"t\" file=\"/nonexistent\"/>", ROUTE), "");
	expect_refused("<platform version=\"4.1\">" HOSTS "</platform>", "");
}

/* No way between two hosts shows only when a message is sent. */
static void test_no_route(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	const struct script_msg list[] = {{0, 0, 1, 1, 0}};
	CU_ASSERT_FATAL(read_text(&a, PLATFORM(HOSTS, ""), &t, &err));
	CU_ASSERT_PTR_NULL(script_run(&a, NET_SIMGRID, &t, list, 1, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INTERNAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "SimGrid process"));
	arena_free(&a);
}

/* A message there and back on each of SimGrid's examples, or a reason why not. */
static void test_examples(void)
{
	const char *shared = getenv("WHAM_SHARED");
	if (!shared) {
		printf("skipped: WHAM_SHARED not set\n");
		return;
	}
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct topo t;
		const char *path = arena_printf(
			&a, "%s/data/simgrid/examples/platforms/%s.xml", shared, examples[i]);
		CU_ASSERT_FATAL(topo_read(&a, path, &t, &err));
		const struct script_msg list[] = {
			{0, 0, 1, 1000000, 0}, {0, t.n_devices - 1, 0, 1, 0}};
		const char *reply = script_run(&a, NET_SIMGRID, &t, list, 2, &err);
		bool profile = strcmp(examples[i], "faulty_host") == 0 ||
			       strcmp(examples[i], "small_platform_profile") == 0;
		CU_ASSERT(profile ? err.kind == ERR_INPUT && strstr(err.text, "Cannot open file")
				  : reply && script_arrival(reply, 0) < TICK_MAX);
		if (!profile && !reply)
			printf("\n%s\n", err.text);
		CU_ASSERT(access("trace-masterworker.trace", F_OK) != 0);
		arena_free(&a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a shared link", test_shared_link},
		{"analytic refuses", test_analytic_refuses},
		{"SimGrid refuses", test_simgrid_refuses},
		{"no route", test_no_route},
		{"SimGrid's examples", test_examples},
		CU_TEST_INFO_NULL,
	};
	return suite_run("net platforms", tests);
}
