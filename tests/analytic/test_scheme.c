#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analytic/scheme.h"
#include "base/rng.h"
#include "coll/coll.h"
#include "suite.h"

static struct scheme_model read_model(
	struct arena *a, const char *name, const struct graph_options *options)
{
	struct err err = {0};
	struct graph g;
	struct scheme_model m;
	const char *root = getenv("WHAM_SOURCE_ROOT");
	const char *path = arena_printf(a, "%s/models/workloads/%s.json", root ? root : ".", name);
	bool read = graph_read(a, path, options, &g, &err);
	if (!read)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(read);
	scheme_read_model(a, &g, &m);
	return m;
}

/* Models with their layers cut down to a few, which repeat. */
static struct scheme_model read_short(struct arena *a, const char *name)
{
	struct graph_override layers = {"layers", 2};
	struct graph_options options = {.batch = 1, .overrides = &layers, .n_overrides = 1};
	return read_model(a, name, &options);
}

static double task_s(const struct prog *p, const struct prog_task *t, const struct alpha_beta *ab)
{
	struct coll_call c = {.algo = coll_find(t->coll, t->algo),
		.n_ranks = prog_group_size(p, t->group),
		.bytes = t->bytes};
	CU_ASSERT_PTR_NOT_NULL_FATAL(c.algo);
	return coll_call_time(&c, ab->alpha, ab->beta);
}

/* Tasks follow one another, so that their times add up. */
static struct scheme_terms walk(const struct iteration *it, const struct alpha_beta *ab)
{
	struct scheme_terms sum = {0};
	for (uint32_t i = 0; i < it->prog.roles[0].n_tasks; i++) {
		double s = task_s(&it->prog, &it->prog.roles[0].tasks[i], ab);
		enum iteration_term term = it->terms[i];
		double *to = term == TERM_FORWARD    ? &sum.forward
			     : term == TERM_BACKWARD ? &sum.backward
						     : &sum.dw_all_reduce;
		*to += s;
	}
	return sum;
}

static void check_near(double got, double want, const char *what)
{
	bool near = fabs(got - want) <= 1e-9 * fabs(want);
	if (!near)
		printf("\n%s: %.12g, expected %.12g", what, got, want);
	CU_ASSERT_TRUE(near);
}

static const struct alpha_beta six_gb = {2e-6, 1 / 6e9, 0};

/* False where the question is refused, by both alike. */
static bool check_walk(struct arena *a, const struct scheme *s, const struct scheme_question *q)
{
	struct err err = {0}, other = {0};
	struct iteration it;
	struct scheme_terms closed;
	bool made = scheme_schedule(a, s, q, &it, &err);
	CU_ASSERT_EQUAL(made, scheme_comm(s, q, &six_gb, &closed, &other));
	CU_ASSERT_STRING_EQUAL(err.text, other.text);
	if (!made)
		return false;
	struct scheme_terms walked = walk(&it, &six_gb);
	const char *what = arena_printf(a, "%s of %s, %u x %u, batch %llu", s->name, q->model->name,
		q->pr, q->pc, (unsigned long long)q->batch);
	check_near(closed.forward, walked.forward, what);
	check_near(closed.backward, walked.backward, what);
	check_near(closed.dw_all_reduce, walked.dw_all_reduce, what);
	return true;
}

static const struct scheme_algos algos[] = {
	{0}, {"ring", "ring", "ring", "bruck"}, {"bruck", "recdbl", "halving", "pairwise"}};

/* Groups and replicas that are powers of two, and others; batches that do not divide. */
static void test_walks(void)
{
	static const char *const names[] = {
		"gpt2-xl", "llama2-70b", "mixtral-8x7b", "bert-large", "dlrm", "alexnet"};
	static const uint32_t groups[] = {2, 4, 5, 8, 9, 16, 18, 25, 27, 32, 64};
	uint32_t n_made[16] = {0};
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		struct arena a = {0};
		bool repeats = k < 4;
		struct scheme_model m =
			repeats ? read_short(&a, names[k])
				: read_model(&a, names[k], &(struct graph_options){.batch = 1});
		for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
			for (size_t s = 0; schemes[s]; s++) {
				struct scheme_question q = {.model = &m,
					.batch = 613 + 16 * i,
					.pr = groups[i],
					.pc = (uint32_t)(1 + (i + s + k) % 7),
					.word_bytes = i % 2 ? 2 : 4,
					.algos = algos[(i + s) % 3]};
				n_made[s] += check_walk(&a, schemes[s], &q) ? 1 : 0;
			}
		arena_free(&a);
	}
	for (size_t s = 0; schemes[s]; s++)
		CU_ASSERT_TRUE(n_made[s] > 2);
}

/* Every copy of the square that Pr allows. */
static void test_depths(void)
{
	struct arena a = {0};
	struct scheme_model m = read_short(&a, "gpt2-xl");
	struct scheme_question q = {
		.model = &m, .batch = 4096, .pr = 400, .pc = 2, .word_bytes = 2};
	struct err err = {0};
	CU_ASSERT_FALSE(check_walk(&a, scheme_find("tesseract-2.5d", &err), &q));
	q.pr = 50;
	for (q.depth = 0; q.depth < 3; q.depth++)
		CU_ASSERT_EQUAL(
			check_walk(&a, scheme_find("tesseract-2.5d", &err), &q), q.depth != 1);
	arena_free(&a);
}

/* One layer of GPT over a machine without latency: seconds are the volumes times beta. */
static void test_volumes(void)
{
	struct arena a = {0};
	struct graph_override overrides[] = {
		{"layers", 1}, {"hidden", 1536}, {"heads", 24}, {"seq", 192}, {"vocab", 1536}};
	struct graph_options options = {.batch = 1, .overrides = overrides, .n_overrides = 5};
	struct scheme_model m = read_model(&a, "gpt2-xl", &options);
	double h = 1536, b = 64, bsh = b * 192 * h, w = 13 * h * h, r = 7.0 / 8, word = 2 / 6e9;
	struct alpha_beta free_start = {0, 1 / 6e9, 0};
	/* With a head of h classes as fifth layer: |A| + |B| = 8 bsh + 13 h^2, |C| = 10 bsh. */
	// clang-format off
	const struct { const char *name; uint32_t pr; double words; } want[] = {
		{"context-gather", 8, 6 * bsh * r + 2 * w * r},
		{"context-ring", 8, 6 * bsh * r + 2 * w * r},
		{"cube-3d", 8, 3 * (18 * bsh + w) / 8},
		{"fsdp", 8, 3 * w * r},
		{"megatron", 8, (8 + 2) * bsh * r},
		{"megatron-sp", 8, (10 + 3) * bsh * r},
		{"summa-2d", 16, 3 * (8 * bsh + w) / 4 * 3 / 4},
		{"tesseract-2.5d", 8, 3 * (8 * bsh / 2 + w) / 2 / 2 + 2 * w / 4 / 2},
		{"ulysses", 8, 8 * bsh * r / 8 + 2 * w * r},
		{"zero-2", 8, 2 * w * r},
	};
	// clang-format on
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct err err = {0};
		struct scheme_terms t = {0};
		struct scheme_question q = {.model = &m,
			.batch = (uint64_t)b,
			.pr = want[i].pr,
			.pc = 1,
			.word_bytes = 2};
		CU_ASSERT_TRUE(
			scheme_comm(scheme_find(want[i].name, &err), &q, &free_start, &t, &err));
		check_near(scheme_terms_s(&t), want[i].words * word, want[i].name);
	}
	arena_free(&a);
}

/* Adding counts with gamma, in reductions alone. */
static void test_adding(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct scheme_terms t;
	struct scheme_model m = read_short(&a, "gpt2-xl");
	struct alpha_beta adds = {0, 0, 1e-9};
	struct scheme_question q = {.model = &m, .batch = 64, .pr = 8, .pc = 4, .word_bytes = 2};
	double w = 0;
	for (uint32_t i = 0; i < m.n_layers; i++)
		w += (double)m.layers[i].grid.weights;
	CU_ASSERT_TRUE(scheme_comm(scheme_find("fsdp", &err), &q, &adds, &t, &err));
	CU_ASSERT_EQUAL(t.forward, 0);
	CU_ASSERT_EQUAL(t.backward, 0);
	check_near(t.dw_all_reduce, 2e-9 * (w * 7 / 8 + w / 8 * 3 / 4), "fsdp adds");
	arena_free(&a);
}

static void test_no_form(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct scheme_terms t;
	struct scheme_model m = read_short(&a, "gpt2-xl");
	struct scheme_question q = {.model = &m, .batch = 64, .pr = 5, .pc = 1, .word_bytes = 2};
	q.algos.all_reduce = "dbtree";
	CU_ASSERT_FALSE(scheme_comm(scheme_find("megatron", &err), &q, &six_gb, &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "'dbtree' has no closed form"));
	q.algos.all_reduce = NULL;
	q.algos.all_gather = "recdbl";
	CU_ASSERT_FALSE(scheme_comm(scheme_find("fsdp", &err), &q, &six_gb, &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "ag_rdb"));
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"closed form = schedule", test_walks},
		{"copies of a square", test_depths},
		{"volumes", test_volumes},
		{"adding", test_adding},
		{"no closed form", test_no_form},
		CU_TEST_INFO_NULL,
	};
	return suite_run("analytic_scheme", tests);
}
