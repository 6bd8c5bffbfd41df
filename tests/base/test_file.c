#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/internal.h"
#include "base/rng.h"
#include "suite.h"

/* A folder of its own for each test; path() gives names in it. */
struct folder {
	char name[32];
	char path[64];
};

static struct folder folder_create(void)
{
	struct folder f = {.name = "/tmp/test_file_XXXXXX"};
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f.name));
	return f;
}

static const char *path(struct folder *f, const char *name)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", f->name, name);
	return f->path;
}

/* Fails when something but the named file is left. */
static void folder_remove(struct folder *f, const char *name)
{
	if (name)
		CU_ASSERT_EQUAL(unlink(path(f, name)), 0);
	CU_ASSERT_EQUAL(rmdir(f->name), 0);
}

static void put(const char *name, const void *data, size_t n)
{
	FILE *file = fopen(name, "wb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL_FATAL(fwrite(data, 1, n, file), n);
	CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
}

static size_t gzip(const void *data, size_t n, unsigned char *out, size_t cap)
{
	unsigned char in[300];
	z_stream z = {.next_in = in,
		.avail_in = (unsigned)n,
		.next_out = out,
		.avail_out = (unsigned)cap};
	CU_ASSERT_FATAL(n <= sizeof(in));
	memcpy(in, data, n);
	CU_ASSERT_EQUAL_FATAL(
		deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CU_ASSERT_EQUAL_FATAL(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

/* Expects `what` behind the path. */
static void expect_error(const char *name, enum err_kind kind, const char *what)
{
	struct arena a = {0};
	struct bytes bytes;
	struct err err = {0};
	CU_ASSERT_FALSE(file_read(&a, name, &bytes, &err));
	CU_ASSERT_EQUAL(err.kind, kind);
	CU_ASSERT_NSTRING_EQUAL(err.text, name, strlen(name));
	CU_ASSERT_STRING_EQUAL(err.text + strlen(name), what);
	CU_ASSERT_PTR_NULL(a.top);
	arena_free(&a);
}

static void expect_content(const char *name, const void *data, size_t n)
{
	struct arena a = {0};
	struct bytes bytes = {0};
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(file_read(&a, name, &bytes, &err));
	CU_ASSERT_EQUAL_FATAL(bytes.n, n);
	CU_ASSERT_EQUAL(memcmp(bytes.data, data, n), 0);
	CU_ASSERT_EQUAL(bytes.data[n], '\0');
	arena_free(&a);
}

static void test_plain(void)
{
	struct folder f = folder_create();
	put(path(&f, "x.gz"), "plain\0text", 10);
	expect_content(f.path, "plain\0text", 10);
	put(f.path, "", 0);
	expect_error(f.path, ERR_INPUT, ": empty file");
	folder_remove(&f, "x.gz");
	expect_error("/tmp/test_file_none", ERR_IO, ": No such file or directory");
	expect_error("/tmp", ERR_IO, ": is a directory");
	expect_error("", ERR_IO, ": No such file or directory");
}

/* More than one chunk, and sizes next to whole chunks. */
static void test_sizes(void)
{
	static const size_t sizes[] = {65535, 65536, 65537, 131072, 1000003};
	struct folder f = folder_create();
	struct rng rng;
	struct err err = {0};
	rng_init(&rng, 31);
	char *data = malloc(1000003);
	CU_ASSERT_PTR_NOT_NULL_FATAL(data);
	for (size_t i = 0; i < 1000003; i++)
		data[i] = (char)rng_below(&rng, 16);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CU_ASSERT_TRUE(file_write(path(&f, "x"), data, sizes[i], &err));
		expect_content(f.path, data, sizes[i]);
		unlink(f.path);
		CU_ASSERT_TRUE(file_write(path(&f, "x.gz"), data, sizes[i], &err));
		expect_content(f.path, data, sizes[i]);
		struct stat st;
		CU_ASSERT(stat(f.path, &st) == 0 && (size_t)st.st_size < sizes[i] * 2 / 3);
		unlink(f.path);
	}
	free(data);
	folder_remove(&f, NULL);
}

static const char content[] = "{\"traceEvents\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}\n";

/* Cut anywhere, a gzip file is never taken for a whole one; only between two members it is one. */
static void test_truncated(void)
{
	unsigned char gz[600];
	struct folder f = folder_create();
	size_t n = sizeof(content) - 1;
	size_t n_first = gzip(content, n, gz, 300);
	size_t n_both = n_first + gzip(content, n, gz + n_first, 300);
	char twice[2 * sizeof(content)];
	snprintf(twice, sizeof(twice), "%s%s", content, content);
	path(&f, "x");
	for (size_t cut = 1; cut < n_both; cut++) {
		put(f.path, gz, cut);
		if (cut == n_first)
			expect_content(f.path, content, n);
		else
			expect_error(f.path, ERR_INPUT, ": truncated gzip");
	}
	put(f.path, gz, n_both);
	expect_content(f.path, twice, 2 * n);
	folder_remove(&f, "x");
}

static void test_corrupt(void)
{
	unsigned char gz[300];
	struct folder f = folder_create();
	size_t n = gzip(content, sizeof(content) - 1, gz, sizeof(gz) - 1);
	path(&f, "x");
	gz[n - 8] ^= 1;
	put(f.path, gz, n);
	expect_error(f.path, ERR_INPUT, ": corrupt gzip (bad CRC)");
	gz[n - 8] ^= 1;
	gz[n - 4] ^= 1;
	put(f.path, gz, n);
	expect_error(f.path, ERR_INPUT, ": corrupt gzip (incorrect length check)");
	gz[n - 4] ^= 1;
	gz[2] = 9;
	put(f.path, gz, n);
	expect_error(f.path, ERR_INPUT, ": corrupt gzip (unknown compression method)");
	gz[2] = 8;
	gz[n] = 'x';
	put(f.path, gz, n + 1);
	expect_error(f.path, ERR_INPUT, ": garbage after the end of the gzip data");
	gz[n] = '\0';
	put(f.path, gz, n + 1);
	expect_error(f.path, ERR_INPUT, ": garbage after the end of the gzip data");
	n = gzip("", 0, gz, sizeof(gz));
	put(f.path, gz, n);
	expect_error(f.path, ERR_INPUT, ": empty file");
	folder_remove(&f, "x");
}

/* Any bit that is flipped behind the header is found out. */
static void test_flipped_bits(void)
{
	unsigned char gz[300];
	struct folder f = folder_create();
	size_t n = gzip(content, sizeof(content) - 1, gz, sizeof(gz));
	path(&f, "x");
	for (size_t bit = 8 * 10; bit < 8 * n; bit++) {
		struct arena a = {0};
		struct bytes bytes;
		struct err err = {0};
		gz[bit / 8] ^= (unsigned char)(1 << bit % 8);
		put(f.path, gz, n);
		bool ok = file_read(&a, f.path, &bytes, &err);
		/* unused bits at the end of the last deflate byte mean nothing */
		CU_ASSERT(ok ? bytes.n == sizeof(content) - 1 &&
					  memcmp(bytes.data, content, bytes.n) == 0
			     : err.kind == ERR_INPUT);
		CU_ASSERT(!ok || bit / 8 == n - 9);
		gz[bit / 8] ^= (unsigned char)(1 << bit % 8);
		arena_free(&a);
	}
	folder_remove(&f, "x");
}

static void test_limit(void)
{
	unsigned char gz[300];
	struct folder f = folder_create();
	struct arena a = {0};
	struct bytes bytes;
	struct err err = {0};
	size_t n = sizeof(content) - 1;
	put(path(&f, "x"), content, n);
	CU_ASSERT_TRUE(file_read_max(&a, f.path, n, &bytes, &err));
	CU_ASSERT_FALSE(file_read_max(&a, f.path, n - 1, &bytes, &err));
	put(f.path, gz, gzip(content, n, gz, sizeof(gz)));
	CU_ASSERT_TRUE(file_read_max(&a, f.path, n, &bytes, &err));
	CU_ASSERT_FALSE(file_read_max(&a, f.path, 32, &bytes, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text + strlen(f.path), ": holds more than 32 B");
	arena_free(&a);
	folder_remove(&f, "x");
}

static void test_standard_input(void)
{
	struct folder f = folder_create();
	put(path(&f, "x"), content, sizeof(content) - 1);
	int old = dup(STDIN_FILENO), fd = open(f.path, O_RDONLY);
	CU_ASSERT_FATAL(old >= 0 && fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	expect_content("-", content, sizeof(content) - 1);
	expect_error("-", ERR_INPUT, ": empty file");
	dup2(old, STDIN_FILENO);
	close(old);
	close(fd);
	folder_remove(&f, "x");
}

/* FIPS 180-2, appendix B.1. */
static void test_sha256(void)
{
	struct folder f = folder_create();
	struct err err = {0};
	char hex[65];
	put(path(&f, "x"), "abc", 3);
	CU_ASSERT_TRUE(file_sha256(f.path, hex, &err));
	CU_ASSERT_STRING_EQUAL(
		hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	put(f.path, "", 0);
	CU_ASSERT_TRUE(file_sha256(f.path, hex, &err));
	CU_ASSERT_STRING_EQUAL(
		hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	folder_remove(&f, "x");
	CU_ASSERT_FALSE(file_sha256("/tmp", hex, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "/tmp: is a directory");
	CU_ASSERT_FALSE(file_sha256("-", hex, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
}

static void test_write(void)
{
	struct folder f = folder_create();
	struct stat st;
	struct err err = {0};
	CU_ASSERT_TRUE(file_can_write(path(&f, "x"), &err));
	CU_ASSERT_EQUAL(stat(f.path, &st), -1);
	CU_ASSERT_TRUE(file_write(f.path, "old", 3, &err));
	CU_ASSERT_EQUAL(chmod(f.path, 0640), 0);
	CU_ASSERT_TRUE(file_can_write(f.path, &err));
	expect_content(f.path, "old", 3);
	CU_ASSERT_TRUE(file_write(f.path, "new one", 7, &err));
	expect_content(f.path, "new one", 7);
	CU_ASSERT(stat(f.path, &st) == 0 && (st.st_mode & 0777) == 0640);
	CU_ASSERT_TRUE(file_write(f.path, NULL, 0, &err));
	CU_ASSERT(stat(f.path, &st) == 0 && st.st_size == 0);
	folder_remove(&f, "x");
}

/* The name may have all the 255 bytes that a file name may have. */
static void test_write_long_name(void)
{
	struct folder f = folder_create();
	struct err err = {0};
	char name[320], *end = name + snprintf(name, 64, "%s/", f.name);
	memset(end, 'n', 255);
	end[255] = '\0';
	CU_ASSERT_TRUE(file_write(name, "x", 1, &err));
	expect_content(name, "x", 1);
	CU_ASSERT_EQUAL(unlink(name), 0);
	end[255] = 'n';
	end[256] = '\0';
	CU_ASSERT_FALSE(file_write(name, "x", 1, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	CU_ASSERT_FALSE(file_can_write(name, &err));
	folder_remove(&f, NULL);
}

static void test_write_link(void)
{
	struct folder f = folder_create();
	struct stat st;
	struct err err = {0};
	char there[64];
	put(path(&f, "there"), "old", 3);
	memcpy(there, f.path, sizeof(there));
	CU_ASSERT_EQUAL_FATAL(symlink("there", path(&f, "link")), 0);
	CU_ASSERT_TRUE(file_write(f.path, "new", 3, &err));
	CU_ASSERT(lstat(f.path, &st) == 0 && S_ISLNK(st.st_mode));
	expect_content(there, "new", 3);
	CU_ASSERT_EQUAL(unlink(there), 0);
	folder_remove(&f, "link");
}

static void expect_no_write(const char *name, const char *error)
{
	struct err err = {0};
	CU_ASSERT_FALSE(file_write(name, "x", 1, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	CU_ASSERT_STRING_EQUAL(err.text, error);
}

static void test_write_refused(void)
{
	struct err err = {0};
	expect_no_write("/tmp", "/tmp: cannot write: is a directory");
	expect_no_write("/dev/full", "/dev/full: cannot write: No space left on device");
	expect_no_write("/tmp/test_file_none/x",
		"/tmp/test_file_none/x: cannot write: No such file or directory");
	expect_no_write("/dev/null/x", "/dev/null/x: cannot write: Not a directory");
	expect_no_write("", ": cannot write: No such file or directory");
	CU_ASSERT_FALSE(file_can_write("/tmp", &err));
	CU_ASSERT_STRING_EQUAL(err.text, "/tmp: cannot write: is a directory");
	CU_ASSERT_FALSE(file_can_write("/tmp/test_file_none/x", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	CU_ASSERT_TRUE(file_can_write("-", &err));
	CU_ASSERT_TRUE(file_can_write("/dev/full", &err));
	CU_ASSERT_TRUE(file_write("/dev/null", "x", 1, &err));
	struct stat st;
	CU_ASSERT(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

static bool write_to(int fd, const char *text, struct err *err)
{
	fflush(stdout);
	int old = dup(STDOUT_FILENO);
	CU_ASSERT_FATAL(old >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	bool ok = file_write("-", text, strlen(text), err);
	dup2(old, STDOUT_FILENO);
	close(old);
	return ok;
}

static void test_standard_output(void)
{
	int ends[2];
	char got[8] = "";
	struct err err = {0};
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_TRUE(write_to(ends[1], "hello", &err));
	CU_ASSERT_EQUAL(read(ends[0], got, sizeof(got)), 5);
	CU_ASSERT_STRING_EQUAL(got, "hello");
	close(ends[0]);
	CU_ASSERT_FALSE(write_to(ends[1], "hello", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_IO);
	CU_ASSERT_STRING_EQUAL(err.text, "-: cannot write: Broken pipe");
	close(ends[1]);
	int full = open("/dev/full", O_WRONLY);
	CU_ASSERT_FALSE(write_to(full, "hello", &err));
	CU_ASSERT_STRING_EQUAL(err.text, "-: cannot write: No space left on device");
	close(full);
}

/* The same content gives the same bytes, and zlib's header carries no time. */
static void test_gzip_time(void)
{
	struct folder f = folder_create();
	struct err err = {0};
	unsigned char head[10];
	CU_ASSERT_TRUE(file_write(path(&f, "x.gz"), content, sizeof(content) - 1, &err));
	FILE *file = fopen(f.path, "rb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fread(head, 1, sizeof(head), file), sizeof(head));
	fclose(file);
	CU_ASSERT(head[0] == 0x1f && head[1] == 0x8b);
	CU_ASSERT(head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0);
	folder_remove(&f, "x.gz");
}

static void shared(char *out, size_t size, const char *name)
{
	snprintf(out, size, "%s/cases/%s", getenv("WHAM_SHARED"), name);
}

static void test_shared_cases(void)
{
	static const char *const good[] = {"g01_ok.json.gz", "g04_two_members.json.gz"};
	char name[1024];
	struct arena a = {0};
	struct bytes expected, bytes = {0};
	struct err err = {0};
	if (!getenv("WHAM_SHARED")) {
		printf("skipped: WHAM_SHARED not set\n");
		return;
	}
	shared(name, sizeof(name), "g07_plain_named_gz.json.gz");
	CU_ASSERT_TRUE_FATAL(file_read(&a, name, &expected, &err));
	CU_ASSERT_NSTRING_EQUAL(expected.data, "{\"schemaVersion\": 1,", 20);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		shared(name, sizeof(name), good[i]);
		CU_ASSERT_TRUE(file_read(&a, name, &bytes, &err));
		CU_ASSERT(bytes.n == expected.n &&
			  memcmp(bytes.data, expected.data, expected.n) == 0);
	}
	arena_free(&a);
	shared(name, sizeof(name), "g02_trunc.json.gz");
	expect_error(name, ERR_INPUT, ": truncated gzip");
	shared(name, sizeof(name), "g06_empty.json.gz");
	expect_error(name, ERR_INPUT, ": empty file");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"plain files", test_plain},
		{"sizes next to a chunk", test_sizes},
		{"truncated gzip", test_truncated},
		{"corrupt gzip", test_corrupt},
		{"flipped bits", test_flipped_bits},
		{"the limit", test_limit},
		{"standard input", test_standard_input},
		{"SHA-256", test_sha256},
		{"write", test_write},
		{"write a long name", test_write_long_name},
		{"write through a link", test_write_link},
		{"write refused", test_write_refused},
		{"standard output", test_standard_output},
		{"gzip without a time", test_gzip_time},
		{"shared cases", test_shared_cases},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/file", tests);
}
