#include <math.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/table.h"
#include "plan/grid_compute.h"
#include "setup.h"

static struct grid_table read_table(struct arena *a, const char *name)
{
	struct grid_table t = {0};
	struct err err = {0};
	if (!grid_compute_table_read(a, setup_path(a, name), &t, &err))
		CU_FAIL_FATAL(err.text);
	return t;
}

static double seconds(const struct grid_table *t, double samples)
{
	double s = 0;
	struct err err = {0};
	if (!grid_compute_table_s(t, samples, &s, &err))
		CU_FAIL_FATAL(err.text);
	return s;
}

static void check_range(const struct grid_table *t, double samples, const char *text)
{
	double s;
	struct err err = {0};
	CU_ASSERT_FALSE(grid_compute_table_s(t, samples, &s, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, text));
}

static void test_table(void)
{
	struct arena a = {0};
	struct grid_table t = read_table(&a, "models/compute/knl-alexnet.csv");
	struct grid_table figures = read_table(&a, "models/compute/knl-alexnet-figures.csv");
	CU_ASSERT_EQUAL_FATAL(t.n, 12);
	CU_ASSERT_EQUAL_FATAL(figures.n, 8);
	for (uint32_t i = 0; i < t.n; i++)
		CU_ASSERT_EQUAL(seconds(&t, t.samples[i]), t.iteration_s[i]);
	for (uint32_t i = 0; i < figures.n; i++)
		CU_ASSERT_EQUAL(seconds(&figures, figures.samples[i]), figures.iteration_s[i]);
	CU_ASSERT_EQUAL(seconds(&t, 2), 0.028821);
	CU_ASSERT_EQUAL(seconds(&figures, 0.125), 0.00363);
	/* Between two points, the middle of the logarithms; below, in proportion. */
	CU_ASSERT_DOUBLE_EQUAL(seconds(&t, sqrt(512)), sqrt(0.052299 * 0.075802), 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(seconds(&t, 0.25), 0.025618 / 4, 1e-15);
	CU_ASSERT_DOUBLE_EQUAL(seconds(&figures, 0.0625), 0.00363 / 2, 1e-15);
	struct rng rng = {0};
	rng_init(&rng, 7);
	for (uint32_t i = 0; i < 2000; i++) {
		double x = 0.01 + 255 * rng_unit(&rng), y = x * (1 + rng_unit(&rng) / 8);
		y = y < 256 ? y : 256;
		CU_ASSERT_TRUE(seconds(&t, x) <= seconds(&t, y));
		CU_ASSERT_TRUE(seconds(&figures, x) <= seconds(&figures, y));
	}
	check_range(&t, 2049,
		"knl-alexnet.csv: no time for 2049 samples of a process, expected "
		"more than 0 to 2048");
	check_range(&figures, 257, "more than 0 to 256");
	check_range(&t, 0, "no time for 0 samples");
	check_range(&t, (double)NAN, "no time for");
	const double x[] = {4, 8}, y[] = {1, 2};
	check_range(&(struct grid_table){"t", x, y, 2}, 3, "expected 4 to 8");
	arena_free(&a);
}

/* The second table is the one of the figures, the first the digitised Fig. 4. */
static void test_source(void)
{
	struct arena a = {0};
	struct csv csv;
	struct err err = {0};
	const char *shared = getenv("WHAM_SHARED");
	if (!shared) {
		printf("skipped: WHAM_SHARED not set\n");
		return;
	}
	struct grid_table t = read_table(&a, "models/compute/knl-alexnet.csv");
	const char *path = arena_printf(&a, "%s/golden/knl_alexnet_batch_time.csv", shared);
	size_t samples, s;
	CU_ASSERT_TRUE_FATAL(csv_read(&a, path, &csv, &err));
	CU_ASSERT_TRUE_FATAL(csv_column(&csv, "batch", &samples, &err));
	CU_ASSERT_TRUE_FATAL(csv_column(&csv, "iter_s_N1.2M", &s, &err));
	CU_ASSERT_EQUAL_FATAL(csv.n_rows, t.n);
	for (uint32_t i = 0; i < t.n; i++) {
		double x, y;
		CU_ASSERT_TRUE_FATAL(csv_number(&csv, i, samples, &x, &err));
		CU_ASSERT_TRUE_FATAL(csv_number(&csv, i, s, &y, &err));
		CU_ASSERT_EQUAL(t.samples[i], x);
		CU_ASSERT_EQUAL(t.iteration_s[i], y);
	}
	arena_free(&a);
}

static tick total(const struct grid_times *t, uint32_t n)
{
	tick sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += t[i].forward + t[i].dx + t[i].dw;
	return sum;
}

/* The parts are the table's time to the tick, by multiply-accumulates. */
static void check_times(
	const struct grid_table *table, const struct graph *train, const struct grid_question *q)
{
	struct grid_times t[8];
	struct err err = {0};
	double s = seconds(table, (double)q->batch / (q->grid.pr * q->grid.pc)) * 1e12;
	double per_mac = s / (double)graph_macs(train, ~0U);
	CU_ASSERT_TRUE_FATAL(grid_compute_table_times(table, q, t, &err));
	CU_ASSERT_DOUBLE_EQUAL((double)total(t, 8), s, 0.5 + 1e-3);
	for (uint32_t i = 0; i < 8; i++) {
		const struct work *w = &train->ops[q->layers[i].op].work;
		double want = per_mac * (double)(w->batch * w->m * w->n * w->k);
		CU_ASSERT_DOUBLE_EQUAL((double)t[i].forward, want, 2);
		CU_ASSERT_DOUBLE_EQUAL((double)t[i].dx, i > 0 ? want : 0, 2);
		CU_ASSERT_DOUBLE_EQUAL((double)t[i].dw, want, 2);
	}
}

static void test_times(void)
{
	struct arena a = {0};
	struct grid_layer *layers;
	struct grid_times t[8];
	struct err err = {0};
	struct graph_options options = {.batch = 1};
	struct grid_table table = read_table(&a, "models/compute/knl-alexnet.csv");
	struct graph g =
		setup_train(&a, "models/workloads/alexnet.json", &options, false, OPTIMIZER_SGD);
	uint32_t n_layers = grid_layers(&a, &g, &layers);
	struct grid_question q = {.n_layers = n_layers, .layers = layers};
	CU_ASSERT_EQUAL_FATAL(n_layers, 8);
	for (uint32_t pr = 1; pr <= 512; pr *= 2) {
		q.grid = (struct process_grid){pr, 512 / pr};
		q.batch = 1000 + UINT64_C(800) * pr;
		check_times(&table, &g, &q);
	}
	q.grid = (struct process_grid){1, 1};
	q.batch = 2049;
	CU_ASSERT_FALSE(grid_compute_table_times(&table, &q, t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	arena_free(&a);
}

static void check_table(const char *content, const char *text)
{
	struct arena a = {0};
	struct grid_table t;
	struct err err = {0};
	char path[] = "/tmp/wham-table-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(content, f);
	fclose(f);
	CU_ASSERT_FALSE(grid_compute_table_read(&a, path, &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, text));
	remove(path);
	arena_free(&a);
}

static void test_refused(void)
{
	check_table("samples,iteration_s\n", "no rows");
	check_table("samples,s\n1,1\n", "no column 'iteration_s'");
	check_table("samples,iteration_s\n2,1\n1,2\n", ":3: 1 samples after 2");
	check_table("samples,iteration_s\n2,1\n2,2\n", ":3: 2 samples after 2");
	check_table("samples,iteration_s\n0,1\n", ":2: 0 samples after 0");
	check_table("samples,iteration_s\n1,0\n", ":2: an iteration of 0 s");
	check_table("samples,iteration_s\n1,1e9\n", ":2: an iteration of 1e+09 s");
	check_table("samples,iteration_s\n1,9e-13\n", ":2: an iteration of 9e-13 s");
	check_table(
		"samples,iteration_s\n1e-320,1\n1,1\n", ":2: 9.99989e-321 samples, expected 1e-09");
	check_table("samples,iteration_s\n1,1\n1e300,1\n", ":3: 1e+300 samples, expected 1e-09");
	check_table("samples,iteration_s\n1,x\n", ":2: column 'iteration_s'");
}

/* Whatever the reader lets through has a time of at least nothing anywhere between its ends. */
static void test_edges(void)
{
	static const double xs[] = {1e-9, 2e-9, 1, 1e19};
	static const double ys[] = {1e-12, GRID_LONGEST_S, 1e-12, GRID_LONGEST_S};
	struct grid_table table = {"edges", xs, ys, 4};
	struct err err = {0};
	double s, x = 1e-12;
	for (int i = 0; x <= 1e19; i++) {
		CU_ASSERT_TRUE_FATAL(grid_compute_table_s(&table, x, &s, &err));
		x = 1e-12 * pow(1.7, i);
		CU_ASSERT(s >= 0 && s <= GRID_LONGEST_S * (1 + 1e-12));
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the widest table", test_edges},
		{"points, lines between them and ranges", test_table},
		{"the digitised figure", test_source},
		{"an iteration over layers", test_times},
		{"files that are refused", test_refused},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_grid_compute_table", tests);
}
