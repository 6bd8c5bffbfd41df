#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "coll/coll.h"

static const uint32_t sizes[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 32, 64, 100};
enum { N_SIZES = sizeof(sizes) / sizeof(*sizes) };

static struct coll_schedule build_with(
	struct arena *a, const struct coll_algo *algo, uint32_t n, uint64_t bytes)
{
	struct coll_call c = {.algo = algo, .n_ranks = n, .bytes = bytes};
	struct coll_schedule s = {0};
	struct err err = {0};
	CU_ASSERT_TRUE(coll_build(a, &c, &s, &err));
	return s;
}

static void every_schedule_moves_everything_once(void)
{
	struct err err = {0};
	for (uint32_t i = 0; coll_algos[i]; i++)
		for (uint32_t k = 0; k < N_SIZES; k++) {
			const struct coll_algo *algo = coll_algos[i];
			if (!coll_fits(algo, sizes[k]))
				continue;
			bool ok = coll_verify(algo, sizes[k], &err);
			CU_ASSERT_TRUE(ok);
			if (!ok)
				printf("%s\n", err.text);
		}
}

/* A ring all-gather whose last round is missing, and one that adds where it should copy. */
static struct coll_frame cut_frame(const struct coll_call *c)
{
	struct coll_frame f = coll_find(COLL_ALLGATHER, "ring")->frame(c);
	f.n_rounds--;
	return f;
}

static struct coll_frame doubled_frame(const struct coll_call *c)
{
	struct coll_frame f = coll_find(COLL_REDUCESCATTER, "ring")->frame(c);
	f.n_rounds *= 2;
	f.n_steps *= 2;
	return f;
}

static void wrong_schedules_are_found(void)
{
	struct err err = {0};
	struct coll_algo cut = *coll_find(COLL_ALLGATHER, "ring");
	struct coll_algo doubled = *coll_find(COLL_REDUCESCATTER, "ring");
	cut.name = "cut";
	cut.frame = cut_frame;
	doubled.frame = doubled_frame;
	CU_ASSERT_FALSE(coll_verify(&cut, 4, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "allgather cut over 4 ranks: rank 0 ends without part 1");
	CU_ASSERT_FALSE(coll_verify(&doubled, 4, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "added twice"));
	CU_ASSERT_FALSE(coll_verify(coll_find(COLL_ALLGATHER, "recdbl"), 6, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "allgather recdbl does not run on 6 ranks");
}

static void bytes_are_counted(void)
{
	struct arena a = {0};
	struct coll_schedule s = build_with(&a, coll_find(COLL_ALLREDUCE, "ring"), 4, 10);
	CU_ASSERT_EQUAL(s.n_steps, 24);
	CU_ASSERT_EQUAL(s.n_rounds, 6);
	CU_ASSERT_EQUAL(s.bytes_divisor, 1);
	CU_ASSERT_EQUAL(s.steps[0].bytes, 3);
	s = build_with(&a, coll_find(COLL_ALLGATHER, "bruck"), 5, 7);
	CU_ASSERT_EQUAL(s.n_rounds, 3);
	CU_ASSERT_EQUAL(s.bytes_divisor, 5);
	uint64_t received = 0;
	for (uint32_t i = 0; i < s.n_steps; i++)
		received += s.steps[i].dst == 2 ? s.steps[i].bytes : 0;
	CU_ASSERT_EQUAL(received, 7 * 4); /* in fifths of a byte */
	for (uint32_t i = 0; coll_algos[i]; i++) {
		s = build_with(&a, coll_algos[i], 1, 1000);
		CU_ASSERT_EQUAL(s.n_steps, 0);
		CU_ASSERT_EQUAL(s.n_rounds, 0);
	}
	arena_free(&a);
}

static bool row_agrees(const struct csv *csv, size_t row)
{
	struct arena a = {0};
	double v[6];
	for (size_t c = 1; c < 6; c++)
		v[c] = strtod(csv_cell(csv, row, c), NULL);
	uint32_t n = (uint32_t)v[1];
	struct coll_schedule s =
		build_with(&a, coll_find_short(csv_cell(csv, row, 0)), n, (uint64_t)v[2]);
	double t = coll_time(&s, n, v[3], v[4]);
	arena_free(&a);
	/* The table has ten significant digits: half of the last one on top of 1e-9. */
	bool ok = fabs(t - v[5]) <= v[5] * 1e-9 + 0.5e-9 * pow(10, floor(log10(v[5])));
	if (!ok)
		printf("%s over %u of %s: %.12e instead of %s\n", csv_cell(csv, row, 0), n,
			csv_cell(csv, row, 2), t, csv_cell(csv, row, 5));
	return ok;
}

static void times_equal_the_golden_table(void)
{
	struct arena a = {0};
	struct csv csv;
	struct err err = {0};
	const char *path =
		arena_printf(&a, "%s/tests/golden/collectives.csv", getenv("WHAM_SOURCE_ROOT"));
	CU_ASSERT_TRUE_FATAL(csv_read(&a, path, &csv, &err));
	uint32_t n_checked = 0, n_good = 0;
	for (size_t row = 0; row < csv.n_rows; row++) {
		n_checked++;
		n_good += row_agrees(&csv, row);
	}
	CU_ASSERT_EQUAL(n_checked, csv.n_rows);
	CU_ASSERT_EQUAL(n_checked, 1300);
	CU_ASSERT_EQUAL(n_good, n_checked);
	arena_free(&a);
}

static void names_are_found(void)
{
	struct err err = {0};
	CU_ASSERT_STRING_EQUAL(coll_find(COLL_ALLREDUCE, NULL)->name, "ring");
	CU_ASSERT_STRING_EQUAL(coll_find(COLL_ALLTOALL, NULL)->name, "pairwise");
	for (unsigned kind = 0; kind < N_COLL_KINDS; kind++)
		CU_ASSERT_PTR_NOT_NULL(coll_find((enum coll_kind)kind, NULL));
	CU_ASSERT_STRING_EQUAL(coll_find(COLL_BARRIER, NULL)->name, "dissemination");
	CU_ASSERT_PTR_NULL(coll_find(COLL_ALLREDUCE, "bruck"));
	CU_ASSERT_PTR_NULL(coll_get(COLL_ALLREDUCE, "rign", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	CU_ASSERT_STRING_EQUAL(err.text,
		"no algorithm 'rign' for allreduce, expected one of biring, dbtree, direct, "
		"hierarchical, rabenseifner, recdbl, redbcast, ring, rings, torus, torus-colours; "
		"did you mean 'ring'?");
	for (uint32_t i = 0; coll_algos[i]; i++) {
		const struct coll_algo *x = coll_algos[i], *y = coll_algos[i + 1];
		CU_ASSERT_PTR_EQUAL(coll_find(x->kind, x->name), x);
		if (y)
			CU_ASSERT_TRUE(x->kind < y->kind ||
				       (x->kind == y->kind && strcmp(x->name, y->name) < 0));
	}
}

static void choices_are_parsed(void)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"allreduce", "'allreduce' is not KIND=ALGORITHM, expected such as allreduce=ring"},
		{"allredcue=ring", "unknown collective 'allredcue', expected such as allreduce"},
		{"allreduce=ring,allreduce=ring", "'allreduce' appears twice"},
		{"allreduce=ring,", "nothing after the last ','"},
		{"allreduce=auto,allreduce=auto", "'allreduce' appears twice"},
		{"allgather=",
			"no algorithm '' for allgather, expected one of bruck, direct, neighbor, "
			"recdbl, ring"},
	};
	struct coll_choice choice;
	struct err err = {0};
	CU_ASSERT_TRUE(coll_parse_choice("allreduce=rabenseifner,allgather=bruck", &choice, &err));
	CU_ASSERT_PTR_EQUAL(choice.algo[COLL_ALLREDUCE], coll_find(COLL_ALLREDUCE, "rabenseifner"));
	CU_ASSERT_PTR_EQUAL(choice.algo[COLL_ALLGATHER], coll_find(COLL_ALLGATHER, "bruck"));
	CU_ASSERT_PTR_NULL(choice.algo[COLL_BARRIER]);
	CU_ASSERT_TRUE(coll_parse_choice("", &choice, &err));
	CU_ASSERT_TRUE(coll_parse_choice("allreduce=auto,broadcast=nccl", &choice, &err));
	CU_ASSERT_EQUAL(choice.policy[COLL_ALLREDUCE], COLL_AUTO);
	CU_ASSERT_EQUAL(choice.policy[COLL_BROADCAST], COLL_NCCL);
	CU_ASSERT_EQUAL(choice.policy[COLL_ALLGATHER], COLL_FIXED);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CU_ASSERT_FALSE(coll_parse_choice(bad[i].text, &choice, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
		CU_ASSERT_STRING_EQUAL(err.text, bad[i].error);
	}
}

static void busbw_factors(void)
{
	CU_ASSERT_DOUBLE_EQUAL(coll_busbw_factor(COLL_ALLREDUCE, 8), 1.75, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(coll_busbw_factor(COLL_ALLGATHER, 4), 0.75, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(coll_busbw_factor(COLL_REDUCESCATTER, 4), 0.75, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(coll_busbw_factor(COLL_BROADCAST, 4), 1, 1e-15);
	/* 1 GiB over 16 ranks in 4511.2 us, as nccl-tests prints it. */
	double algbw = 1073741824 / 4511.2e-6 / 1e9;
	CU_ASSERT_DOUBLE_EQUAL(algbw, 238.02, 0.005);
	CU_ASSERT_DOUBLE_EQUAL(algbw * coll_busbw_factor(COLL_ALLREDUCE, 16), 446.28, 0.005);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"every schedule moves everything once", every_schedule_moves_everything_once},
		{"wrong schedules are found", wrong_schedules_are_found},
		{"bytes are counted", bytes_are_counted},
		{"times equal the golden table", times_equal_the_golden_table},
		{"names are found", names_are_found},
		{"choices are parsed", choices_are_parsed},
		{"bus bandwidth factors", busbw_factors},
		CU_TEST_INFO_NULL,
	};
	return suite_run("coll", tests);
}
