#include "golden.h"

/* Every size, up to 128 ranks, message by message: 14 algorithms at 15 group sizes, recursive
 * doubling all-gather at 7 of them, neighbour exchange at 11. The validation suite runs the
 * rest. */
static void simgrid_equals_the_golden_table(void)
{
	CU_ASSERT_EQUAL(golden_check(128, NULL), 14 * 15 * 5 + 7 * 5 + 11 * 5);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"SimGrid equals the golden table", simgrid_equals_the_golden_table},
		CU_TEST_INFO_NULL,
	};
	return suite_run("run_coll_slow", tests);
}
