#include <string.h>

#include "base/err.h"
#include "suite.h"

static void test_set(void)
{
	struct err err = {0};
	CU_ASSERT_FALSE(err_set(&err, ERR_INPUT, "%s:%d: bad", "x.json", 3));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text, "x.json:3: bad");
}

/* A caller may quote the text that is already there. */
static void test_own_text(void)
{
	struct err err = {0};
	err_set(&err, ERR_IO, "inner");
	err_set(&err, ERR_INPUT, "outer (%s)", err.text);
	CU_ASSERT_STRING_EQUAL(err.text, "outer (inner)");
	CU_ASSERT_FALSE(err_prefix(&err, "[%s] ", err.text));
	CU_ASSERT_STRING_EQUAL(err.text, "[outer (inner)] outer (inner)");
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
}

static void test_longest(void)
{
	struct err err = {0};
	char exact[ERR_TEXT], over[ERR_TEXT + 1];
	memset(exact, 'a', sizeof(exact));
	exact[ERR_TEXT - 1] = '\0';
	err_set(&err, ERR_INPUT, "%s", exact);
	CU_ASSERT_STRING_EQUAL(err.text, exact);
	memset(over, 'a', sizeof(over));
	over[ERR_TEXT] = '\0';
	err_set(&err, ERR_INPUT, "%s", over);
	CU_ASSERT_EQUAL(strlen(err.text), ERR_TEXT - 1);
	CU_ASSERT_STRING_EQUAL(err.text + ERR_TEXT - 5, "a...");
}

static size_t n_broken(const char *text)
{
	size_t n = 0;
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		n += *c == 0xe2 && (c[1] != 0x82 || c[2] != 0xac);
	return n;
}

/* U+20AC has three bytes; whatever stands in front, none of them is left alone at the cut. */
static void test_whole_characters(void)
{
	struct err err = {0};
	char text[3 * ERR_TEXT + 1];
	for (size_t i = 0; i < ERR_TEXT; i++)
		memcpy(text + 3 * i, "\xe2\x82\xac", 4);
	for (int shift = 0; shift < 3; shift++) {
		err_set(&err, ERR_INPUT, "%.*s%s", shift, "xx", text);
		size_t n = strlen(err.text);
		CU_ASSERT(n < ERR_TEXT && n > ERR_TEXT - 4);
		CU_ASSERT_EQUAL((n - 3 - (size_t)shift) % 3, 0);
		CU_ASSERT_STRING_EQUAL(err.text + n - 3, "...");
		CU_ASSERT_EQUAL(n_broken(err.text), 0);
	}
	err_prefix(&err, "%s", "front: ");
	CU_ASSERT_NSTRING_EQUAL(err.text, "front: xx", 9);
	CU_ASSERT_STRING_EQUAL(err.text + strlen(err.text) - 3, "...");
	CU_ASSERT_EQUAL(n_broken(err.text), 0);
}

static void test_long_prefix(void)
{
	struct err err = {0};
	err_set(&err, ERR_IO, "end");
	err_prefix(&err, "%5000d", 1);
	CU_ASSERT_EQUAL(strlen(err.text), ERR_TEXT - 1);
	err_set(&err, ERR_IO, "end");
	err_prefix(&err, "%1020d", 1);
	CU_ASSERT_STRING_EQUAL(err.text + 1019, "1end");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"set", test_set},
		{"its own text among the arguments", test_own_text},
		{"longest text", test_longest},
		{"cut at whole characters", test_whole_characters},
		{"long prefix", test_long_prefix},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/err", tests);
}
