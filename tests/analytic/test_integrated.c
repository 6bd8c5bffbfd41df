#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analytic/integrated.h"
#include "base/rng.h"
#include "coll/coll.h"
#include "suite.h"

enum { MAX_LAYERS = 8 };

// clang-format off
/* AlexNet with groups, as the paper's 61 million weights need it. */
static const struct grid_layer alexnet[MAX_LAYERS] = {
	{"conv1.conv", true, 34848, 154587, 290400, 227, 227, 3, 55, 55, 96, 11, 11, 96, 0, true},
	{"conv2.conv", true, 307200, 69984, 186624, 27, 27, 96, 27, 27, 256, 5, 5, 256, 0, false},
	{"conv3.conv", true, 884736, 43264, 64896, 13, 13, 256, 13, 13, 384, 3, 3, 384, 0, false},
	{"conv4.conv", true, 663552, 64896, 64896, 13, 13, 384, 13, 13, 384, 3, 3, 384, 0, false},
	{"conv5.conv", true, 442368, 64896, 43264, 13, 13, 384, 13, 13, 256, 3, 3, 256, 0, false},
	{"fc6.gemm", false, 37748736, 9216, 4096, 6, 6, 256, 0, 0, 0, 0, 0, 4096, 0, false},
	{"fc7.gemm", false, 16777216, 4096, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 4096, 0, false},
	{"fc8.gemm", false, 4096000, 4096, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 0, false},
};
// clang-format on

static const double six_gb = 1 / 6e9;

static struct integrated_case paper(uint64_t batch, uint32_t pr, uint32_t pc)
{
	return (struct integrated_case){
		.q = {.layers = alexnet,
			.n_layers = MAX_LAYERS,
			.batch = batch,
			.grid = {pr, pc},
			.word_bytes = 4},
		.machine = {2e-6, six_gb, 0},
	};
}

static const struct integrated_rules *rules_of(const char *name)
{
	struct err err = {0};
	const struct integrated_rules *rules = integrated_variant(name, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
	return rules;
}

static double comm_s(const struct integrated_case *c, const char *variant)
{
	struct integrated_terms t = integrated_comm(c, rules_of(variant));
	return integrated_terms_s(&t);
}

static double log2_up(uint32_t p)
{
	return ceil(log2((double)p));
}

static bool is_near(double got, double want, double relative)
{
	return fabs(got - want) <= relative * fabs(want);
}

static void test_layers_of_graph(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph g;
	struct grid_layer *l = NULL;
	struct graph_options options = {.batch = 3};
	const char *root = getenv("WHAM_SOURCE_ROOT");
	const char *path = arena_printf(&a, "%s/models/workloads/alexnet.json", root ? root : ".");
	CU_ASSERT_TRUE_FATAL(graph_read(&a, path, &options, &g, &err));
	CU_ASSERT_EQUAL_FATAL(grid_layers(&a, &g, &l), MAX_LAYERS);
	for (int i = 0; i < MAX_LAYERS; i++) {
		const struct grid_layer *want = &alexnet[i];
		CU_ASSERT_STRING_EQUAL(l[i].name, want->name);
		CU_ASSERT_EQUAL(l[i].conv, want->conv);
		CU_ASSERT_EQUAL(l[i].weights, want->weights);
		CU_ASSERT_EQUAL(l[i].d_in, want->d_in);
		CU_ASSERT_EQUAL(l[i].d_out, want->d_out);
		CU_ASSERT_EQUAL(l[i].in_h, want->in_h);
		CU_ASSERT_EQUAL(l[i].in_w, want->in_w);
		CU_ASSERT_EQUAL(l[i].in_c, want->in_c);
		CU_ASSERT_EQUAL(l[i].out_h, want->out_h);
		CU_ASSERT_EQUAL(l[i].out_w, want->out_w);
		CU_ASSERT_EQUAL(l[i].out_c, want->out_c);
		CU_ASSERT_EQUAL(l[i].kernel_h, want->kernel_h);
		CU_ASSERT_EQUAL(l[i].kernel_w, want->kernel_w);
	}
	arena_free(&a);
}

/* Eq. 3 and 4 written out, at the two ends of Eq. 8. */
static void test_ends(void)
{
	static const uint32_t counts[] = {1, 2, 3, 7, 12, 64, 100, 512};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		uint32_t p = counts[i];
		double eq3 = 0, eq4 = 0, part = (double)(p - 1) / p, beta = 4 * six_gb;
		for (int k = 0; k < MAX_LAYERS; k++) {
			eq3 += 3 *
			       (2e-6 * log2_up(p) + beta * 1024 * part * (double)alexnet[k].d_out);
			eq4 += 2 * (2e-6 * log2_up(p) + beta * part * (double)alexnet[k].weights);
		}
		struct integrated_case model = paper(1024, p, 1), batch = paper(1024, 1, p);
		CU_ASSERT_TRUE(is_near(comm_s(&model, "eq8-all"), eq3, 1e-13));
		CU_ASSERT_TRUE(is_near(comm_s(&batch, "eq8-all"), eq4, 1e-13));
		CU_ASSERT_TRUE(is_near(comm_s(&batch, "eq9"), eq4, 1e-13));
	}
}

/* Milliseconds for 512 processes and 2048 samples, worked out by hand from the equations. */
static void test_grids(void)
{
	static const struct {
		const char *variant;
		uint32_t pr;
		double gather, dx, dw, halo, sum;
	} want[] = {
		{"eq8-all", 4, 5.306, 10.612, 20.383, 0, 36.302},
		{"eq8-all", 512, 898.512, 1797.024, 0, 0, 2695.536},
		{"eq8-fc", 32, 0.790, 1.580, 5.622, 0, 7.992},
		{"eq9", 16, 0.392, 0.783, 8.077, 3.239, 12.490},
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct integrated_case c = paper(2048, want[i].pr, 512 / want[i].pr);
		struct integrated_terms t = integrated_comm(&c, rules_of(want[i].variant));
		CU_ASSERT_DOUBLE_EQUAL(1e3 * t.all_gather, want[i].gather, 0.6e-3);
		CU_ASSERT_DOUBLE_EQUAL(1e3 * t.dx_all_reduce, want[i].dx, 0.6e-3);
		CU_ASSERT_DOUBLE_EQUAL(1e3 * t.dw_all_reduce, want[i].dw, 0.6e-3);
		CU_ASSERT_DOUBLE_EQUAL(
			1e3 * (t.halo_forward + t.halo_backward), want[i].halo, 0.6e-3);
		CU_ASSERT_DOUBLE_EQUAL(1e3 * integrated_terms_s(&t), want[i].sum, 0.6e-3);
	}
}

/* Words a sample: 21,901 forward, backward 53,536 by Eq. 7 and 31,136 by Eq. 9. A 1x1 kernel
 * needs no message. */
static void test_halo(void)
{
	struct integrated_case c = paper(64, 4, 16);
	struct integrated_terms seven = integrated_comm(&c, rules_of("eq9"));
	struct integrated_terms nine = integrated_comm(&c, rules_of("eq9-printed"));
	double word = 4 * six_gb * 64 / 16, latency = 5 * 2e-6;
	CU_ASSERT_DOUBLE_EQUAL(seven.halo_forward, latency + 21901 * word, 1e-14);
	CU_ASSERT_DOUBLE_EQUAL(seven.halo_backward, latency + 53536 * word, 1e-14);
	CU_ASSERT_DOUBLE_EQUAL(nine.halo_forward, latency + 21901 * word, 1e-14);
	CU_ASSERT_DOUBLE_EQUAL(nine.halo_backward, latency + 31136 * word, 1e-14);
	struct grid_layer point = alexnet[2];
	point.kernel_h = point.kernel_w = 1;
	c.q.layers = &point;
	c.q.n_layers = 1;
	seven = integrated_comm(&c, rules_of("eq9"));
	CU_ASSERT_EQUAL(seven.halo_forward, 0);
	CU_ASSERT_EQUAL(seven.halo_backward, 0);
}

/* Two neighbours at once through one port, kernel_h both ways, nothing for the gradient of the
 * images. */
static void test_exact_halo(void)
{
	struct integrated_case c = paper(64, 4, 16);
	struct integrated_terms t = integrated_comm(&c, rules_of("exact-domain"));
	double word = 4 * six_gb * 64 / 16;
	CU_ASSERT_DOUBLE_EQUAL(t.halo_forward, 5 * 2e-6 + 2 * 21901 * word, 1e-14);
	CU_ASSERT_DOUBLE_EQUAL(t.halo_backward, 4 * 2e-6 + 2 * 27136 * word, 1e-14);
	c.q.grid = (struct process_grid){2, 32};
	t = integrated_comm(&c, rules_of("exact-domain"));
	CU_ASSERT_DOUBLE_EQUAL(t.halo_forward, 5 * 2e-6 + 21901 * word / 2, 1e-14);
}

/* Seconds of the tasks of a schedule by term, each as coll/coll.h costs its rounds. */
static void sum_schedule(const struct iteration *it, const struct alpha_beta *m, double *sums)
{
	const struct prog_role *role = &it->prog.roles[0];
	CU_ASSERT_EQUAL_FATAL(it->prog.n_roles, 1);
	for (uint32_t i = 0; i < role->n_tasks; i++) {
		const struct prog_task *t = &role->tasks[i];
		struct coll_call call = {.algo = coll_find(t->coll, t->algo),
			.n_ranks = prog_group_size(&it->prog, t->group),
			.bytes = t->bytes};
		CU_ASSERT_EQUAL_FATAL(t->kind, TASK_COLL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(call.algo);
		sums[it->terms[i]] += coll_call_time(&call, m->alpha, m->beta);
	}
}

static void compare_schedule(struct integrated_case c, const char *variant, bool pc_fastest)
{
	struct arena a = {0};
	struct err err = {0};
	struct iteration it;
	enum grid_way ways[MAX_LAYERS];
	double s[N_ITERATION_TERMS] = {0};
	struct grid_options options = {.pc_fastest = pc_fastest};
	uint32_t p = c.q.grid.pr * c.q.grid.pc;
	if (integrated_check(&c, rules_of(variant), p, &err)) {
		struct integrated_terms t = integrated_comm(&c, rules_of(variant));
		integrated_ways(&c, rules_of(variant), ways);
		CU_ASSERT_TRUE_FATAL(grid_schedule(&a, &c.q, ways, &options, &it, &err));
		CU_ASSERT_TRUE(prog_check(&it.prog, &err));
		CU_ASSERT_EQUAL(prog_n_ranks(&it.prog), p);
		sum_schedule(&it, &c.machine, s);
		CU_ASSERT_DOUBLE_EQUAL(s[TERM_ALL_GATHER], t.all_gather, 1e-9 * t.all_gather);
		CU_ASSERT_DOUBLE_EQUAL(
			s[TERM_DX_ALL_REDUCE], t.dx_all_reduce, 1e-9 * t.dx_all_reduce);
		CU_ASSERT_DOUBLE_EQUAL(
			s[TERM_DW_ALL_REDUCE], t.dw_all_reduce, 1e-9 * t.dw_all_reduce);
		CU_ASSERT_DOUBLE_EQUAL(s[TERM_HALO_FORWARD], t.halo_forward, 1e-9 * t.halo_forward);
		CU_ASSERT_DOUBLE_EQUAL(
			s[TERM_HALO_BACKWARD], t.halo_backward, 1e-9 * t.halo_backward);
		CU_ASSERT_DOUBLE_EQUAL(s[TERM_REDISTRIBUTE], t.redistribute, 1e-9 * t.redistribute);
	}
	arena_free(&a);
}

/* The exact closed forms are those of the schedule that is run, term by term. */
static void test_schedule(void)
{
	static const char *const names[] = {"exact-all", "exact-domain", "exact-fc"};
	static const uint32_t grids[][2] = {
		{1, 8}, {8, 1}, {4, 8}, {3, 5}, {6, 7}, {12, 4}, {16, 16}};
	for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g++)
		for (size_t v = 0; v < 3; v++) {
			struct integrated_case c = paper(1000, grids[g][0], grids[g][1]);
			compare_schedule(c, names[v], false);
			compare_schedule(c, names[v], true);
		}
	for (uint32_t pr = 1; pr <= 32; pr *= 2) { /* convolutions on a grid of their own */
		struct integrated_case c = paper(512, pr, 64 / pr);
		c.q.conv = (struct process_grid){4, 16};
		for (size_t v = 0; v < 3; v++)
			compare_schedule(c, names[v], pr % 3 == 1);
	}
}

/* Layers without a gradient of their input hand nothing back. */
static void test_schedule_of_first_layers(void)
{
	struct integrated_case c = paper(512, 2, 32);
	struct grid_layer layers[MAX_LAYERS];
	memcpy(layers, c.q.layers, c.q.n_layers * sizeof(*layers));
	layers[5].first = true;
	c.q.layers = layers;
	c.q.conv = (struct process_grid){4, 16};
	compare_schedule(c, "exact-domain", false);
	compare_schedule(c, "exact-all", true);
}

/* From strips over Pr 4 to products over Pr 2: by the samples of single processes, which are
 * gathered forward; backward, by them to strips again. */
static void test_exact_steps(void)
{
	struct integrated_case c = paper(512, 2, 32);
	c.q.conv = (struct process_grid){4, 16};
	double exchange = 3 * (2e-6 + 4 * six_gb * 512 / 16 * 9216 / 4 / 4);
	double gather = 2e-6 + 4 * six_gb * 512 / 32 * 9216 / 2;
	struct integrated_terms t = integrated_comm(&c, rules_of("exact-domain"));
	CU_ASSERT_DOUBLE_EQUAL(t.redistribute, 2 * exchange + gather, 1e-12);
	/* Outputs of model parallelism are there; their gradient is gathered over Pr 4. */
	t = integrated_comm(&c, rules_of("exact-all"));
	gather = 2 * 2e-6 + 4 * six_gb * 512 / 16 * 9216 * 3 / 4;
	CU_ASSERT_DOUBLE_EQUAL(t.redistribute, gather, 1e-12);
	c.q.grid = (struct process_grid){1, 64};
	t = integrated_comm(&c, rules_of("exact-domain"));
	CU_ASSERT_DOUBLE_EQUAL(t.redistribute, 2 * exchange, 1e-12);
}

/* What the equations leave out: fully connected layers on a grid gather what the convolutions
 * left spread over all processes. */
static void test_exact_redistribution(void)
{
	struct integrated_case c = paper(2048, 32, 16);
	struct integrated_terms t = integrated_comm(&c, rules_of("exact-fc"));
	double gather = 5 * 2e-6 + 4 * six_gb * 2048 / 16 * 31 / 32 * 9216;
	CU_ASSERT_DOUBLE_EQUAL(t.redistribute, gather, 1e-12);
	CU_ASSERT_TRUE(is_near(integrated_terms_s(&t), comm_s(&c, "eq8-din-fc") + gather, 1e-6));
	CU_ASSERT_EQUAL(integrated_comm(&c, rules_of("exact-all")).redistribute, 0);
}

/* Rabenseifner costs what the equations say for powers of two; a ring has its own latency:
 * 97.466 ms against 81.402. */
static void test_exact_all_reduce(void)
{
	static const struct {
		uint32_t p;
		double rab, ring;
	} want[] = {{8, 71.210, 71.338}, {32, 78.893, 79.725}, {128, 80.862, 84.702},
		{512, 81.402, 97.466}};
	struct integrated_rules ring = *rules_of("exact-fc");
	ring.all_reduce = "ar_ring";
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct integrated_case c = paper(2048, 1, want[i].p);
		struct integrated_terms t = integrated_comm(&c, &ring);
		CU_ASSERT_DOUBLE_EQUAL(1e3 * comm_s(&c, "exact-fc"), want[i].rab, 0.6e-3);
		CU_ASSERT_DOUBLE_EQUAL(1e3 * integrated_terms_s(&t), want[i].ring, 0.6e-3);
	}
	for (uint32_t pr = 1; pr <= 64; pr *= 2) {
		struct integrated_case c = paper(2048, pr, 512 / pr);
		CU_ASSERT_TRUE(is_near(comm_s(&c, "exact-all"), comm_s(&c, "eq8-din-all"), 1e-6));
	}
	/* Folding three into two: 2 more steps of the whole vector. */
	struct integrated_case three = paper(3, 1, 3);
	double printed = 0, folded = 0;
	for (int k = 0; k < MAX_LAYERS; k++) {
		double s = 4 * six_gb * (double)alexnet[k].weights;
		printed += 2 * (2 * 2e-6 + s * 2 / 3);
		folded += 4 * 2e-6 + 3 * s;
	}
	CU_ASSERT_TRUE(is_near(comm_s(&three, "eq8-fc"), printed, 1e-12));
	CU_ASSERT_TRUE(is_near(comm_s(&three, "exact-fc"), folded, 1e-12));
}

static void test_crossover(void)
{
	static const double want[MAX_LAYERS] = {
		0.08, 1.0974, 9.0888, 6.8166, 6.8166, 6144, 2730.6667, 2730.6667};
	for (int i = 0; i < MAX_LAYERS; i++)
		CU_ASSERT_TRUE(is_near(integrated_crossover_batch(&alexnet[i]), want[i], 1e-4));
}

static void test_iteration(void)
{
	struct integrated_terms t = {1, 2, 10, 4, 8, 16};
	CU_ASSERT_EQUAL(integrated_terms_s(&t), 41);
	CU_ASSERT_EQUAL(integrated_iteration_s(&t, 7, false), 48);
	CU_ASSERT_EQUAL(integrated_iteration_s(&t, 7, true), 7 + 31 + 3);
	CU_ASSERT_EQUAL(integrated_iteration_s(&t, 11, true), 11 + 31);
	CU_ASSERT_EQUAL(integrated_iterations(1200000, 2048, true), 586);
	CU_ASSERT_EQUAL(integrated_iterations(1200000, 2048, false), 585.9375);
	CU_ASSERT_EQUAL(integrated_iterations(1200000, 512, true), 2344);
}

static void test_memory(void)
{
	struct integrated_case c = paper(64, 4, 8);
	enum grid_way all[MAX_LAYERS], fcs[MAX_LAYERS];
	integrated_ways(&c, rules_of("eq8-all"), all);
	integrated_ways(&c, rules_of("eq8-fc"), fcs);
	double weights = 60954656, activations = 1074307, fc = 58621952, fc_act = 26600;
	CU_ASSERT_EQUAL(
		grid_memory_bytes(&c.q, all, 2), 4 * (2 * weights / 4 + 64.0 / 8 * activations));
	CU_ASSERT_EQUAL(grid_memory_bytes(&c.q, fcs, 3),
		4 * (3 * (weights - fc) + 3 * fc / 4 + 64.0 / 32 * (activations - fc_act) +
			    64.0 / 8 * fc_act));
}

static bool allowed(const struct integrated_case *c, const enum grid_way *ways)
{
	struct err err;
	for (uint32_t i = 0; i < c->q.n_layers; i++)
		if (!grid_check_layer(&c->q, i, ways[i], &err))
			return false;
	return true;
}

/* Communication, and computation where it is known. */
static double ways_s(const struct integrated_case *c, const struct integrated_rules *rules,
	const double *compute_s, const enum grid_way *ways)
{
	struct integrated_terms t = integrated_ways_comm(c, rules, ways);
	double s = integrated_terms_s(&t);
	for (uint32_t i = 0; compute_s && i < c->q.n_layers; i++)
		s += compute_s[i * N_GRID_WAYS + ways[i]];
	return s;
}

/* The least of all 3^n choices. */
static double least_of_all(const struct integrated_case *c, const struct integrated_rules *rules,
	const double *compute_s)
{
	double least = (double)INFINITY;
	uint32_t n = 1;
	for (uint32_t i = 0; i < c->q.n_layers; i++)
		n *= N_GRID_WAYS;
	for (uint32_t code = 0; code < n; code++) {
		enum grid_way ways[MAX_LAYERS];
		uint32_t rest = code;
		for (uint32_t i = 0; i < c->q.n_layers; i++, rest /= N_GRID_WAYS)
			ways[i] = (enum grid_way)(rest % N_GRID_WAYS);
		if (!allowed(c, ways))
			continue;
		least = fmin(least, ways_s(c, rules, compute_s, ways));
	}
	return least;
}

static void compare_choice(const struct integrated_case *c, const struct integrated_rules *rules,
	const double *compute_s)
{
	struct arena a = {0};
	enum grid_way ways[MAX_LAYERS];
	struct integrated_terms t = {0};
	double least = least_of_all(c, rules, compute_s);
	bool found = integrated_choose(&a, c, rules, compute_s, ways, &t);
	CU_ASSERT_EQUAL(found, isfinite(least));
	if (found) {
		struct integrated_terms again = integrated_ways_comm(c, rules, ways);
		CU_ASSERT_TRUE(allowed(c, ways));
		CU_ASSERT_TRUE(is_near(ways_s(c, rules, compute_s, ways), least, 1e-12));
		CU_ASSERT_EQUAL(integrated_terms_s(&t), integrated_terms_s(&again));
	}
	arena_free(&a);
}

static void test_choice(void)
{
	static const uint32_t batches[] = {4, 64, 2048};
	static const char *const names[] = {"eq9", "exact-domain"};
	for (int b = 0; b < 3; b++)
		for (uint32_t pr = 1; pr <= 64; pr *= 4)
			for (int v = 0; v < 2; v++) {
				struct integrated_case c = paper(batches[b], pr, 64 / pr);
				compare_choice(&c, rules_of(names[v]), NULL);
			}
}

/* Seconds as long as communication, of which some are infinite. */
static void test_choice_with_computation(void)
{
	struct rng rng;
	rng_init(&rng, 5);
	for (uint32_t turn = 0; turn < 24; turn++) {
		double s[MAX_LAYERS * N_GRID_WAYS];
		struct integrated_case c =
			paper(turn % 2 ? 64 : 2048, 1u << turn % 6, 64 >> turn % 6);
		for (size_t i = 0; i < MAX_LAYERS * N_GRID_WAYS; i++)
			s[i] = rng_below(&rng, 20) ? 1e-6 * (double)rng_below(&rng, 20000)
						   : (double)INFINITY;
		compare_choice(&c, rules_of("exact-fc"), s);
	}
}

/* As much computation whatever the way changes nothing; a way that computes little is taken. */
static void test_choice_follows_computation(void)
{
	struct arena a = {0};
	enum grid_way ways[MAX_LAYERS];
	struct integrated_terms t;
	double s[MAX_LAYERS * N_GRID_WAYS];
	struct integrated_case c = paper(2048, 32, 16);
	for (int i = 0; i < MAX_LAYERS * N_GRID_WAYS; i++)
		s[i] = 1;
	CU_ASSERT_TRUE_FATAL(integrated_choose(&a, &c, rules_of("exact-fc"), s, ways, &t));
	for (int i = 0; i < MAX_LAYERS; i++)
		CU_ASSERT_EQUAL(ways[i], i < 5 ? GRID_BATCH : GRID_MODEL);
	s[2 * N_GRID_WAYS + GRID_MODEL] = 0;
	s[6 * N_GRID_WAYS + GRID_BATCH] = 0;
	CU_ASSERT_TRUE_FATAL(integrated_choose(&a, &c, rules_of("exact-fc"), s, ways, &t));
	CU_ASSERT_EQUAL(ways[2], GRID_MODEL);
	CU_ASSERT_EQUAL(ways[6], GRID_BATCH);
	s[GRID_BATCH] = s[GRID_MODEL] = s[GRID_DOMAIN] = (double)INFINITY;
	CU_ASSERT_FALSE(integrated_choose(&a, &c, rules_of("exact-fc"), s, ways, &t));
	arena_free(&a);
}

/* For 2048 samples on 32x16 the convolutions go by batch and the connected layers by model. */
static void test_choice_of_paper(void)
{
	struct arena a = {0};
	enum grid_way ways[MAX_LAYERS];
	struct integrated_terms t;
	struct integrated_case c = paper(2048, 32, 16);
	CU_ASSERT_TRUE_FATAL(integrated_choose(&a, &c, rules_of("eq8-fc"), NULL, ways, &t));
	for (int i = 0; i < MAX_LAYERS; i++)
		CU_ASSERT_EQUAL(ways[i], i < 5 ? GRID_BATCH : GRID_MODEL);
	double gather = 5 * 2e-6 + 4 * six_gb * 2048 / 16 * 31 / 32 * 9216;
	CU_ASSERT_DOUBLE_EQUAL(t.redistribute, gather, 1e-14);
	CU_ASSERT_DOUBLE_EQUAL(integrated_terms_s(&t), comm_s(&c, "eq8-fc") + gather, 1e-12);
	CU_ASSERT_STRING_EQUAL(grid_way_name(ways[7]), "model");
	arena_free(&a);
}

static void refuse(struct integrated_case c, const char *variant, const char *part)
{
	struct err err = {0};
	CU_ASSERT_FALSE(integrated_check(&c, rules_of(variant), 512, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
}

static void test_refused(void)
{
	struct err err = {0};
	struct integrated_case c = paper(2048, 32, 16);
	CU_ASSERT_TRUE(integrated_check(&c, rules_of("eq8-all"), 512, &err));
	c = paper(2048, 32, 17);
	refuse(c, "eq8-fc", "32x17 has 544 processes");
	c = paper(100, 1, 512);
	refuse(c, "eq8-fc", "batch of 100");
	c = paper(2048, 512, 1);
	refuse(c, "eq8-all", "conv1.conv: Pr 512 over 96 channels");
	c = paper(2048, 8, 64);
	CU_ASSERT_TRUE(integrated_check(&c, rules_of("eq9"), 512, &err));
	c = paper(2048, 64, 8);
	refuse(c, "eq9", "halo of 5 rows for strips of 3");
	c = paper(UINT64_MAX, 32, 16);
	refuse(c, "eq8-all", "too many activations");
	c = paper(2048, 32, 16);
	c.machine.alpha = 0;
	refuse(c, "eq8-fc", "latency of zero");
	c = paper(2048, 32, 16);
	c.machine.beta = 0;
	refuse(c, "eq8-fc", "bandwidth");
	CU_ASSERT_PTR_NULL(integrated_variant("eq8-fcc", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "eq8-fc"));
	c = paper(2048, 2, 256);
	CU_ASSERT_FALSE(grid_check_layer(&c.q, 6, GRID_DOMAIN, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "fully connected"));
}

static void test_names(void)
{
	for (size_t i = 0; integrated_variants[i]; i++) {
		CU_ASSERT_PTR_EQUAL(rules_of(integrated_variants[i]->name), integrated_variants[i]);
		if (i > 0)
			CU_ASSERT_TRUE(strcmp(integrated_variants[i - 1]->name,
					       integrated_variants[i]->name) < 0);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"layers of a graph", test_layers_of_graph},
		{"Eq. 3 and 4 are the ends of Eq. 8", test_ends},
		{"terms of grids", test_grids},
		{"halo", test_halo},
		{"halo as it is run", test_exact_halo},
		{"all-reduce as it is run", test_exact_all_reduce},
		{"exact is the schedule", test_schedule},
		{"what moves between ways", test_exact_redistribution},
		{"what moves between grids", test_exact_steps},
		{"layers without a gradient", test_schedule_of_first_layers},
		{"Eq. 5", test_crossover},
		{"overlap and iterations", test_iteration},
		{"memory", test_memory},
		{"the choice is the least of all", test_choice},
		{"the choice with computation is the least of all", test_choice_with_computation},
		{"the choice follows computation", test_choice_follows_computation},
		{"the choice for the paper's case", test_choice_of_paper},
		{"refused", test_refused},
		{"names", test_names},
		CU_TEST_INFO_NULL,
	};
	return suite_run("analytic_integrated", tests);
}
