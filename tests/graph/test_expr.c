#include "graph/expr.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static const struct variable outer[] = {{"hidden", 1024}, {"heads", 16}};
static const struct variable inner[] = {{"width", 3}, {"heads", 8}};
static const struct scope global = {outer, 2, NULL}, local = {inner, 2, &global};

static void test_values(void)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = {{"7", 7}, {"4*hidden", 4096}, {" hidden / heads ", 128}, {"2+3*4", 14},
		{"(2+3)*4", 20}, {"20-3-2", 15}, {"24/4/3", 2}, {"max(512, hidden)", 1024},
		{"min(512,hidden)", 512}, {"max(3,3)", 3}, {"width*width", 9},
		{"(heads+2*width)*hidden/heads", 1792}, {"9223372036854775807", INT64_MAX},
		{"((((1))))", 1}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = {0};
		uint64_t v = 0;
		CU_ASSERT_TRUE(expr_value(cases[i].text, &local, &v, &err));
		CU_ASSERT_EQUAL(v, cases[i].value);
	}
}

static void test_errors(void)
{
	static const struct {
		const char *text, *part;
	} cases[] = {{"", "expected a number, a parameter or '('"}, {"4*", "expected a number"},
		{"hiden", "unknown parameter 'hiden', did you mean 'hidden'?"},
		{"hidden/width", "1024 is not divisible by 3"}, {"1/0", "division by 0"},
		{"3-4", "3 - 4 is negative"}, {"(1", "expected ')'"},
		{"1)", "expected an operator or the end at ')'"}, {"max(1)", "expected ','"},
		{"max(1,2", "expected ')'"}, {"9223372036854775807+1", "exceeds 2^63-1"},
		{"9223372036854775808", "exceeds 2^63-1"},
		{"4294967296*4294967296", "exceeds 2^63-1"}, {"1 2", "expected an operator"},
		{"((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))",
			"fewer nested"},
		{"-1", "expected a number"}, {"1.5", "expected an operator"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			"below 64"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = {0};
		uint64_t v = 0;
		CU_ASSERT_FALSE(expr_value(cases[i].text, &local, &v, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].part));
		if (!strstr(err.text, cases[i].part))
			printf("\n%s\n", err.text);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {{"values", test_values}, {"errors", test_errors}, CU_TEST_INFO_NULL};
	return suite_run("expr", tests);
}
