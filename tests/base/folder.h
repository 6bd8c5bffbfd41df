/* A folder of its own for each test that touches files, and what is done with the files in it. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "suite.h"

struct folder {
	char name[32];
	char path[64];
};

static inline struct folder folder_create(void)
{
	struct folder f = {.name = "/tmp/test_file_XXXXXX"};
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f.name));
	return f;
}

/* A name in the folder; it lasts until the next call. */
static inline const char *path(struct folder *f, const char *name)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", f->name, name);
	return f->path;
}

/* Fails when something but the named file is left. */
static inline void folder_remove(struct folder *f, const char *name)
{
	if (name)
		CU_ASSERT_EQUAL(unlink(path(f, name)), 0);
	CU_ASSERT_EQUAL(rmdir(f->name), 0);
}

static inline void put(const char *name, const void *data, size_t n)
{
	FILE *file = fopen(name, "wb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL_FATAL(fwrite(data, 1, n, file), n);
	CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
}

static inline void expect_content(const char *name, const void *data, size_t n)
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

#endif
