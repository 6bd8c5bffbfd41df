#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/internal.h"
#include "folder.h"

/* Returns how many of the `cap` bytes of `out` it took. */
static size_t gzip(const void *data, size_t n, unsigned char *out, size_t cap)
{
	unsigned char in[300];
	z_stream z = {.next_in = in, .avail_in = (unsigned)n};
	z.next_out = out;
	z.avail_out = (unsigned)cap;
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
	for (size_t bit = 80; bit < 8 * n; bit++) {
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
		{"truncated gzip", test_truncated},
		{"corrupt gzip", test_corrupt},
		{"flipped bits", test_flipped_bits},
		{"the limit", test_limit},
		{"standard input", test_standard_input},
		{"SHA-256", test_sha256},
		{"shared cases", test_shared_cases},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/file", tests);
}
