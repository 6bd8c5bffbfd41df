#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "suite.h"

static void test_empty(void)
{
	struct arena a = {0};
	arena_free(&a);
	CU_ASSERT_PTR_NULL(a.top);
	CU_ASSERT_PTR_NOT_NULL(arena_alloc(&a, 0, 8));
	arena_free(&a);
	CU_ASSERT_STRING_EQUAL(arena_strdup(&a, "usable again"), "usable again");
	arena_free(&a);
}

/* Each piece is zero when it comes, aligned, and never changes when others are filled. */
static void test_pieces(void)
{
	enum { N = 2000 };
	struct arena a = {0};
	struct rng rng;
	static unsigned char *piece[N];
	static size_t size[N];
	size_t n_wrong = 0;
	rng_init(&rng, 1);
	for (size_t i = 0; i < N; i++) {
		size[i] = rng_below(&rng, i % 100 == 0 ? 100000 : 100);
		piece[i] = arena_alloc(&a, size[i], 1);
		n_wrong += (uintptr_t)piece[i] % alignof(max_align_t) != 0;
		for (size_t j = 0; j < size[i]; j++)
			n_wrong += piece[i][j] != 0;
		memset(piece[i], (int)(i % 255) + 1, size[i]);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < size[i]; j++)
			n_wrong += piece[i][j] != (unsigned char)(i % 255 + 1);
	CU_ASSERT_EQUAL(n_wrong, 0);
	arena_free(&a);
}

static void test_push(void)
{
	struct arena a = {0};
	uint32_t *list = NULL;
	size_t n = 0, cap = 0, n_wrong = 0;
	for (uint32_t i = 0; i < 10000; i++)
		arena_push(&a, list, n, cap) = 7 * i;
	CU_ASSERT_EQUAL(n, 10000);
	CU_ASSERT(cap >= n);
	for (uint32_t i = 0; i < 10000; i++)
		n_wrong += list[i] != 7 * i;
	CU_ASSERT_EQUAL(n_wrong, 0);
	arena_free(&a);
}

static void test_grow(void)
{
	struct arena a = {0};
	const int old[] = {1, 2, 3};
	int *grown = arena_grow(&a, old, 3, 6, sizeof(*grown));
	CU_ASSERT(grown[0] == 1 && grown[2] == 3 && grown[3] == 0 && grown[5] == 0);
	const int *first = arena_grow(&a, NULL, 0, 2, sizeof(*first));
	CU_ASSERT(first[0] == 0 && first[1] == 0);
	arena_free(&a);
}

static void test_strings(void)
{
	struct arena a = {0};
	CU_ASSERT_STRING_EQUAL(arena_strdup(&a, ""), "");
	CU_ASSERT_STRING_EQUAL(arena_strndup(&a, "abcdef", 3), "abc");
	CU_ASSERT_STRING_EQUAL(arena_strndup(&a, "ab", 3), "ab");
	CU_ASSERT_STRING_EQUAL(arena_printf(&a, "%d-%s", 12, "x"), "12-x");
	const char *wide = arena_printf(&a, "%9000d", 5);
	CU_ASSERT_EQUAL(strlen(wide), 9000);
	CU_ASSERT_EQUAL(wide[8999], '5');
	arena_free(&a);
}

static void test_mem(void)
{
	unsigned char *p = mem_alloc(10, 3);
	size_t n_wrong = 0;
	for (int i = 0; i < 30; i++)
		n_wrong += p[i] != 0;
	CU_ASSERT_EQUAL(n_wrong, 0);
	p[29] = 42;
	p = mem_grow(p, 100, 3);
	CU_ASSERT_EQUAL(p[29], 42);
	free(p);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"an empty arena", test_empty},
		{"pieces are zero, aligned and apart", test_pieces},
		{"push", test_push},
		{"grow", test_grow},
		{"strings", test_strings},
		{"memory outside an arena", test_mem},
		CU_TEST_INFO_NULL,
	};
	return suite_run("base/arena", tests);
}
