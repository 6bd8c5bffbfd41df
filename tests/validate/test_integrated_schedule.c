/* What suite `integrated` says of the schedule on SimGrid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "validate/validate.h"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n >= k && strcmp(text + n - k, end) == 0;
}

static const struct suite_row *find(const struct suite_report *r, const char *label)
{
	for (uint32_t i = 0; i < r->n_rows; i++)
		if (strcmp(r->rows[i].label, label) == 0)
			return &r->rows[i];
	return NULL;
}

/* On a crossbar each layer of each grid is what the closed form says, for groups of powers of two and
 * others; eight rows a grid. Other networks have links that messages share, and are only shown. */
static void test_rows(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct suite_report r;
	struct suite_context context = {
		.a = &a, .data_root = getenv("WHAM_SOURCE_ROOT"), .simgrid = true};
	uint32_t crossbar = 0, shown = 0;
	CU_ASSERT_FATAL(validate_run(suite_get("integrated", &err), NULL, &context, &r, &err));
	CU_ASSERT_EQUAL(r.n_passed, r.n_rows);
	for (uint32_t i = 0; i < r.n_rows; i++) {
		const struct suite_row *row = &r.rows[i];
		shown += strstr(row->label, ": ring:64") != NULL ||
			 strstr(row->label, ": torus:8x8") != NULL ||
			 strstr(row->label, ": fattree:8x8") != NULL;
		if (!ends_with(row->label, ": crossbar"))
			continue;
		crossbar++;
		CU_ASSERT(row->tolerance <= 1e-4);
		CU_ASSERT(fabs(row->error) <= 1e-4);
	}
	CU_ASSERT(crossbar % 8 == 0);
	CU_ASSERT(crossbar >= 8 * 30);
	/* Two rules, two all-reduces: 7 grids or the 4 that strips allow, and the best. */
	CU_ASSERT_EQUAL(shown, 3 * 2 * (8 + 5));
	/* 32 reductions of weights side by side over one ring of 64 take as long as one of all. */
	const struct suite_row *one = find(&r, "exact-fc 1x64, ring: ring:64");
	const struct suite_row *two = find(&r, "exact-fc 2x32, ring: ring:64");
	CU_ASSERT(one && two);
	if (one && two) {
		CU_ASSERT(isnan(one->tolerance));
		CU_ASSERT_DOUBLE_EQUAL(two->ours, one->ours, 0.01 * one->ours);
		CU_ASSERT(two->reference < 0.6 * one->reference);
	}
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"held on a crossbar, shown elsewhere", test_rows},
		CU_TEST_INFO_NULL,
	};
	return suite_run("validate integrated schedule", tests);
}
