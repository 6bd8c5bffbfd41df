#include <fcntl.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "folder.h"

/* More than one chunk, and sizes next to whole chunks. */
static void test_sizes(void)
{
	static const size_t sizes[] = {65535, 65536, 65537, 131072, 1000003};
	struct folder f = folder_create();
	struct rng rng;
	struct err err = {0};
	rng_init(&rng, 31);
	char *data = mem_alloc(1000003, 1);
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
	CU_ASSERT_TRUE(file_write(path(&f, "x.gz"), "abcabcabc", 9, &err));
	FILE *file = fopen(f.path, "rb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fread(head, 1, sizeof(head), file), sizeof(head));
	fclose(file);
	CU_ASSERT(head[0] == 0x1f && head[1] == 0x8b);
	CU_ASSERT(head[4] == 0 && head[5] == 0 && head[6] == 0 && head[7] == 0);
	folder_remove(&f, "x.gz");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"sizes next to a chunk", test_sizes},
		{"write", test_write},
		{"write a long name", test_write_long_name},
		{"write through a link", test_write_link},
		{"write refused", test_write_refused},
		{"standard output", test_standard_output},
		{"gzip without a time", test_gzip_time},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/file_write", tests);
}
