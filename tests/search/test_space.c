/* Dimension points, budgets and names. */
#include <string.h>

#include "make.h"
#include "suite.h"

static const struct search_space whole = {
	.min_dim = 4,
	.max_dim = 256,
	.max_count = 4096,
	.min_sram_bytes = UINT64_C(2) << 20,
	.max_sram_bytes = UINT64_C(128) << 20,
};

static void check_child(const struct lattice *l, uint32_t point, uint32_t child)
{
	uint32_t parents[LATTICE_AXES], found = 0, n = lattice_parents(l, child, parents);
	for (uint32_t i = 0; i < n; i++)
		found += parents[i] == point;
	CU_ASSERT_EQUAL(found, 1);
	CU_ASSERT_TRUE(child < point);
	CU_ASSERT_EQUAL(lattice_depth(l, child), lattice_depth(l, point) + 1);
}

static void test_lattice(void)
{
	struct lattice l;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(lattice_build(&whole, &l, &err));
	CU_ASSERT_EQUAL(l.n_points, 7 * 7 * 7 * 7);
	struct design root = lattice_design(&l, l.n_points - 1);
	CU_ASSERT_EQUAL(root.rows, 256);
	CU_ASSERT_EQUAL(root.cols, 256);
	CU_ASSERT_EQUAL(root.width, 256);
	CU_ASSERT_EQUAL(root.sram_bytes, UINT64_C(128) << 20);
	CU_ASSERT_EQUAL(lattice_depth(&l, l.n_points - 1), 0);
	CU_ASSERT_EQUAL(lattice_depth(&l, 0), 24);
	for (uint32_t i = 0; i < l.n_points; i++) {
		struct lattice_at where = lattice_locate(&l, i);
		uint32_t children[LATTICE_AXES], n = lattice_children(&l, i, children);
		CU_ASSERT_EQUAL(lattice_point(&l, &where), i);
		for (uint32_t j = 0; j < n; j++)
			check_child(&l, i, children[j]);
	}
}

static void test_bad_spaces(void)
{
	struct lattice l;
	struct err err = {0};
	struct search_space s = whole;
	s.min_dim = 33;
	s.max_dim = 63;
	CU_ASSERT_FALSE(lattice_build(&s, &l, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text, "no power of two between 33 and 63 for core sizes");
	s = whole;
	s.max_sram_bytes = 5;
	CU_ASSERT_FALSE(lattice_build(&s, &l, &err));
	s = whole;
	s.max_count = 0;
	CU_ASSERT_FALSE(lattice_build(&s, &l, &err));
	s = whole;
	s.max_width = 1024;
	CU_ASSERT_TRUE_FATAL(lattice_build(&s, &l, &err));
	CU_ASSERT_EQUAL(l.n_points, 7 * 7 * 9 * 7);
	CU_ASSERT_EQUAL(lattice_design(&l, l.n_points - 1).width, 1024);
}

/* The largest count fits and one more does not. */
static void test_counts(void)
{
	struct arena a = {0};
	struct search_config c = {.base = make_arch(&a), .space = whole};
	c.budget.area_mm2 = arch_area_mm2(&c.base);
	c.budget.tdp_w = arch_tdp_w(&c.base);
	struct lattice l;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(lattice_build(&whole, &l, &err));
	uint32_t n_fit = 0;
	for (uint32_t i = 0; i < l.n_points; i += 7) {
		struct design d = lattice_design(&l, i);
		bool fits = design_fits(&c, &d);
		uint32_t tc = design_max_tc(&c, &d);
		CU_ASSERT_EQUAL(tc > 0, fits);
		n_fit += fits;
		if (!fits)
			continue;
		d.tc = tc;
		CU_ASSERT_TRUE(design_fits(&c, &d));
		d.tc++;
		CU_ASSERT_FALSE(design_fits(&c, &d));
		d.tc = 1;
		d.vc = design_max_vc(&c, &d);
		CU_ASSERT_TRUE(design_fits(&c, &d));
		d.vc++;
		CU_ASSERT_FALSE(design_fits(&c, &d));
	}
	CU_ASSERT_TRUE(n_fit > 100);
	struct design own;
	baseline_design(&c.base, &own);
	CU_ASSERT_TRUE(design_fits(&c, &own));
	arena_free(&a);
}

static void test_names(void)
{
	struct err err = {0};
	enum metric metric = METRIC_THROUGHPUT;
	enum search_mode mode = MODE_INDIVIDUAL;
	CU_ASSERT_TRUE(metric_find("perf-per-tdp", &metric));
	CU_ASSERT_EQUAL(metric, METRIC_PERF_PER_TDP);
	CU_ASSERT_FALSE(metric_find("speed", &metric));
	CU_ASSERT_TRUE(search_mode_find("common", &mode));
	CU_ASSERT_EQUAL(mode, MODE_COMMON);
	CU_ASSERT_FALSE(search_mode_find("", &mode));
	for (size_t i = 0; search_algos[i]; i++) {
		CU_ASSERT_PTR_EQUAL(search_algo_get(search_algos[i]->name, &err), search_algos[i]);
		if (i > 0)
			CU_ASSERT_TRUE(
				strcmp(search_algos[i - 1]->name, search_algos[i]->name) < 0);
	}
	CU_ASSERT_PTR_NULL(search_algo_get("exhuastive", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did you mean 'exhaustive'"));
	CU_ASSERT_PTR_NULL(search_algo_get("q", &err));
}

static void test_best_candidates(void)
{
	struct arena a = {0};
	struct candidates c;
	candidates_init(&a, &c, 3);
	static const struct candidate in[] = {
		{.design = {1, 4, 4, 1, 4, 1}, .score = 5, .area_mm2 = 9},
		{.design = {2, 4, 4, 1, 4, 1}, .score = 7, .area_mm2 = 9},
		{.design = {2, 4, 4, 1, 4, 1}, .score = 7, .area_mm2 = 9},
		{.design = {3, 4, 4, 1, 4, 1}, .score = 7, .area_mm2 = 8},
		{.design = {4, 4, 4, 1, 4, 1}, .score = 1, .area_mm2 = 1},
		{.design = {5, 4, 4, 1, 4, 1}, .score = 6, .area_mm2 = 1},
	};
	static const uint32_t want[] = {3, 2, 5};
	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++)
		candidates_add(&c, &in[i]);
	CU_ASSERT_EQUAL_FATAL(c.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(c.list[i].design.tc, want[i]);
	CU_ASSERT_EQUAL(candidates_worst(&c), 6);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"points, children and parents", test_lattice},
		{"spaces without points are refused", test_bad_spaces},
		{"largest counts within the budget", test_counts},
		{"names of metrics, modes and algorithms", test_names},
		{"the best candidates stay, once each", test_best_candidates},
		CU_TEST_INFO_NULL,
	};
	return suite_run("search/space", tests);
}
