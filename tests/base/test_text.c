#include <string.h>

#include "base/text.h"
#include "suite.h"

static void test_add(void)
{
	struct text t = {0};
	for (int i = 0; i < 1000; i++)
		text_add(&t, "%03d,", i);
	CU_ASSERT_EQUAL(t.n, 4000);
	CU_ASSERT_EQUAL(strlen(t.data), 4000);
	CU_ASSERT_NSTRING_EQUAL(t.data + 2068, "517,", 4);
	text_free(&t);
	CU_ASSERT(t.data == NULL && t.n == 0 && t.cap == 0);
}

static void test_add_bytes(void)
{
	struct text t = {0};
	text_add_bytes(&t, NULL, 0);
	CU_ASSERT_STRING_EQUAL(t.data, "");
	text_add_bytes(&t, "a\0b", 3);
	text_add(&t, "%s", "");
	CU_ASSERT_EQUAL(t.n, 3);
	CU_ASSERT_EQUAL(memcmp(t.data, "a\0b", 4), 0);
	text_free(&t);
}

static const char *const names[] = {"all-gather", "all-reduce", "pipeline", "tp", "zero"};

static const char *nearest(const char *word)
{
	return text_nearest(word, names, sizeof(names) / sizeof(names[0]));
}

static void test_nearest(void)
{
	CU_ASSERT_STRING_EQUAL(nearest("all-reduce"), "all-reduce");
	CU_ASSERT_STRING_EQUAL(nearest("All-Reduce"), "all-reduce");
	CU_ASSERT_STRING_EQUAL(nearest("allreduce"), "all-reduce");
	CU_ASSERT_STRING_EQUAL(nearest("piepline"), "pipeline");
	CU_ASSERT_STRING_EQUAL(nearest("pt"), "tp");
	CU_ASSERT_STRING_EQUAL(nearest("zer"), "zero");
	CU_ASSERT_STRING_EQUAL(nearest("zerro"), "zero");
}

/* One wrong letter in three is the most: at six letters two are allowed, three are not. */
static void test_too_far(void)
{
	const char *const six[] = {"abcdef"};
	CU_ASSERT_PTR_EQUAL(text_nearest("abcdxx", six, 1), six[0]);
	CU_ASSERT_PTR_NULL(text_nearest("abcxxx", six, 1));
	CU_ASSERT_PTR_NULL(text_nearest("abcdefghx", six, 0));
	CU_ASSERT_PTR_EQUAL(text_nearest("abcdefghi", six, 1), six[0]);
	CU_ASSERT_PTR_NULL(text_nearest("abcdefgxyz", six, 1));
	CU_ASSERT_PTR_NULL(nearest("something else"));
}

static void test_long_words(void)
{
	char longest[64], longer[65];
	memset(longest, 'a', 63);
	longest[63] = '\0';
	memset(longer, 'a', 64);
	longer[64] = '\0';
	const char *const list[] = {longer, longest};
	CU_ASSERT_PTR_EQUAL(text_nearest(longest, list, 2), longest);
	CU_ASSERT_PTR_NULL(text_nearest(longer, list, 2));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"add", test_add},
		{"add bytes", test_add_bytes},
		{"nearest", test_nearest},
		{"too far", test_too_far},
		{"long words", test_long_words},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/text", tests);
}
