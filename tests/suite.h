/* Runs one module's CUnit tests and returns the exit status for Meson. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <CUnit/Basic.h>

static inline int suite_run(const char *name, CU_TestInfo *tests)
{
	CU_SuiteInfo registered[] = {{.pName = name, .pTests = tests}, CU_SUITE_INFO_NULL};
	if (CU_initialize_registry() != CUE_SUCCESS ||
		CU_register_suites(registered) != CUE_SUCCESS)
		return 2;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	unsigned bad = CU_get_number_of_failures();
	unsigned run = CU_get_number_of_tests_run();
	CU_cleanup_registry();
	return bad || run == 0 ? 1 : 0;
}

#endif
