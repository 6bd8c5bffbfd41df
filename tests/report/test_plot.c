/* Scripts for gnuplot: what names of users' files may contain, and how many labels have room. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "report/plot.h"
#include "suite.h"

#define HOSTILE "`touch x` \"$(y)\" it's \\ 50%_{z}\n2"

/* Whether anything stands outside of the strings in single quotes that the script has no use for.
 * A quote within a string is doubled, which reads as two strings side by side. */
static bool has_outside(const char *script, const char *wanted)
{
	bool inside = false;
	size_t n = strlen(wanted);
	for (; *script; script++) {
		inside = inside != (*script == '\'');
		if (!inside && strncmp(script, wanted, n) == 0)
			return true;
	}
	CU_ASSERT_FALSE(inside);
	return false;
}

static void check_names(struct text *script)
{
	CU_ASSERT_FALSE(has_outside(script->data, "`"));
	CU_ASSERT_PTR_NOT_NULL(strstr(script->data, "'`touch x` \"$(y)\" it''s \\ 50%_{z}2'"));
	CU_ASSERT_PTR_NOT_NULL(strstr(script->data, "set termoption noenhanced\n"));
	text_free(script);
}

static struct stacks stacks_of(const char **places, const double *values, uint32_t n)
{
	return (struct stacks){.title = HOSTILE,
		.x = HOSTILE,
		.y = HOSTILE,
		.parts = {HOSTILE, HOSTILE},
		.bars = {HOSTILE, HOSTILE},
		.n_parts = 1,
		.n_bars = 1,
		.n_places = n,
		.places = places,
		.values = values};
}

static void names_are_neither_commands_nor_markup(void)
{
	const char *places[] = {HOSTILE};
	double values[] = {1};
	struct plot_point points[] = {{HOSTILE, 1, 2}};
	struct stacks s = stacks_of(places, values, 1);
	struct plot p = {.title = HOSTILE, .x = "x", .y = "y", .points = points, .n_points = 1};
	struct text out = {0};
	report_stacks(&s, HOSTILE, "svg", &out);
	check_names(&out);
	out = (struct text){0};
	report_plot(&p, HOSTILE, "svg", &out);
	check_names(&out);
}

/* In a column of data nothing is a command, but a quote would end it. */
static void bars_keep_their_columns(void)
{
	struct plot_point points[] = {{HOSTILE, 0, 2}};
	struct plot p = {
		.title = "t", .x = "x", .y = "y", .bars = true, .points = points, .n_points = 1};
	struct text out = {0};
	report_plot(&p, NULL, NULL, &out);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "\n0 2 \"`touch x` $(y) it's  50%_{z}2\"\ne\n"));
	text_free(&out);
}

struct labels {
	uint32_t n, width;
	bool slanted;
};

static struct labels labels_of(uint32_t n_places)
{
	struct arena a = {0};
	struct text out = {0};
	const char **places = arena_array(&a, n_places, const char *);
	double *values = arena_array(&a, n_places, double);
	for (uint32_t i = 0; i < n_places; i++)
		places[i] = "PLACE";
	struct stacks s = stacks_of(places, values, n_places);
	report_stacks(&s, "f", "svg", &out);
	struct labels l = {.slanted = strstr(out.data, "rotate by -30 (") != NULL};
	CU_ASSERT_EQUAL(sscanf(out.data, "set terminal svg size %u,600", &l.width), 1);
	for (const char *at = out.data; (at = strstr(at, "'PLACE'")); at++)
		l.n++;
	text_free(&out);
	arena_free(&a);
	return l;
}

static void labels_have_room(void)
{
	struct labels few = labels_of(8), some = labels_of(60), many = labels_of(250);
	CU_ASSERT(few.slanted && few.n == 8 && few.width == 1000);
	CU_ASSERT(!some.slanted && some.n == 60 && some.width == 1000);
	CU_ASSERT(!many.slanted && many.n == 250 && many.width > 250 * 13);
	for (uint32_t n = 1; n < 5000; n += 61) {
		struct labels l = labels_of(n);
		CU_ASSERT(l.n > 0 && l.n <= n && l.width <= 4000);
		CU_ASSERT((l.width - 150) / l.n >= (l.slanted ? 30 : 13));
		CU_ASSERT(n > 290 || l.n == n);
	}
}

static CU_TestInfo tests[] = {
	{"names are neither commands nor markup", names_are_neither_commands_nor_markup},
	{"bars keep their columns", bars_keep_their_columns},
	{"labels have room", labels_have_room},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return suite_run("report plot", tests);
}
