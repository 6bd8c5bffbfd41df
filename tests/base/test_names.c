#include "base/names.h"

#include <string.h>

#include "suite.h"

static void names_are_numbered_as_they_come(void)
{
	struct arena a = {0};
	struct name_index index = {0};
	CU_ASSERT_EQUAL(name_index_find(&index, "a", 1), NAME_ABSENT);
	CU_ASSERT_EQUAL(name_index_put(&a, &index, "alpha", 5), 0);
	CU_ASSERT_EQUAL(name_index_put(&a, &index, "beta", 4), 1);
	CU_ASSERT_EQUAL(name_index_put(&a, &index, "alphabet", 5), 0);
	CU_ASSERT_EQUAL(name_index_find(&index, "alphabet", 8), NAME_ABSENT);
	CU_ASSERT_FALSE(name_index_add(&a, &index, "beta"));
	CU_ASSERT_TRUE(name_index_add(&a, &index, ""));
	CU_ASSERT_EQUAL(name_index_find(&index, "", 0), 2);
	CU_ASSERT_STRING_EQUAL(index.items[1], "beta");
	arena_free(&a);
}

static void thousands_of_names_keep_their_numbers(void)
{
	enum { N = 5000 };
	struct arena a = {0};
	struct name_index index = {0};
	for (uint32_t i = 0; i < N; i++) {
		const char *s = arena_printf(&a, "name%u", i * 7919 % N);
		CU_ASSERT_EQUAL(name_index_put(&a, &index, s, strlen(s)), i);
	}
	for (uint32_t i = 0; i < N; i++) {
		const char *s = arena_printf(&a, "name%u", i * 7919 % N);
		CU_ASSERT_EQUAL(name_index_find(&index, s, strlen(s)), i);
	}
	CU_ASSERT_EQUAL(index.n, N);
	arena_free(&a);
}

static CU_TestInfo tests[] = {
	{"names are numbered as they come", names_are_numbered_as_they_come},
	{"thousands of names keep their numbers", thousands_of_names_keep_their_numbers},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("base names", tests);
}
