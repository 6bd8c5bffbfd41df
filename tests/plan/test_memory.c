#include "plan/internal.h"
#include "setup.h"

/* Bytes of a tensor [2, 32, 64] of 2-byte elements, and what a tiny layer keeps of it: inputs of
 * norm and up (1 + 1), of gelu and down (4 + 4). The recomputable operators are up and gelu: only
 * gelu's input is theirs. */
enum {
	UNIT = TINY_BATCH * 32 * 64 * 2,
	KEPT_NONE = 10 * UNIT,
	KEPT_SELECTIVE = 6 * UNIT,
	KEPT_FULL = UNIT
};

static void check_states(
	uint32_t elem_bytes, enum optimizer optimizer, uint32_t weights, uint32_t optimizer_bytes)
{
	struct arena a = {0};
	struct graph_options options = {.batch = TINY_BATCH, .elem_bytes = elem_bytes};
	struct graph g = setup_train(&a, "tests/plan/tiny.json", &options, false, optimizer);
	struct stage_memory m =
		stage_memory(&g, (struct layers){1, 4}, optimizer, RECOMPUTE_NONE, 2);
	uint64_t n = UINT64_C(3) * TINY_LAYER_PARAMETERS;
	CU_ASSERT_EQUAL(m.weights_bytes, n * weights);
	CU_ASSERT_EQUAL(m.gradients_bytes, n * 4);
	CU_ASSERT_EQUAL(m.optimizer_bytes, n * optimizer_bytes);
	CU_ASSERT_EQUAL(m.activation_bytes, UINT64_C(2) * 3 * KEPT_NONE * elem_bytes / 2);
	CU_ASSERT_EQUAL(m.total_bytes,
		m.weights_bytes + m.gradients_bytes + m.optimizer_bytes + m.activation_bytes);
	arena_free(&a);
}

static void test_states(void)
{
	check_states(2, OPTIMIZER_ADAM, 2, 12);
	check_states(2, OPTIMIZER_MOMENTUM, 2, 8);
	check_states(2, OPTIMIZER_SGD, 2, 4);
	check_states(4, OPTIMIZER_ADAM, 4, 8);
	check_states(4, OPTIMIZER_MOMENTUM, 4, 4);
	check_states(4, OPTIMIZER_SGD, 4, 0);
}

static void test_activations(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	const struct {
		enum recompute recompute;
		uint64_t kept, again;
	} modes[] = {
		{RECOMPUTE_NONE, KEPT_NONE, 0},
		{RECOMPUTE_SELECTIVE, KEPT_SELECTIVE, KEPT_NONE - KEPT_SELECTIVE},
		{RECOMPUTE_FULL, KEPT_FULL, KEPT_NONE - KEPT_FULL},
	};
	for (size_t i = 0; i < 3; i++)
		for (uint32_t in_flight = 1; in_flight < 6; in_flight++) {
			struct stage_memory m = stage_memory(&g, (struct layers){2, 4},
				OPTIMIZER_ADAM, modes[i].recompute, in_flight);
			CU_ASSERT_EQUAL(m.activation_bytes,
				UINT64_C(2) * in_flight * modes[i].kept + modes[i].again);
		}
	arena_free(&a);
}

/* Layers that differ: the one that makes the most again counts. */
static void test_largest_layer(void)
{
	struct arena a = {0};
	struct graph_options options = {.batch = 1};
	struct graph g =
		setup_train(&a, "models/workloads/vgg16.json", &options, true, OPTIMIZER_SGD);
	struct layers all = {0, g.n_layers};
	struct graph_memory sum = graph_layer_memory(&g, 0, g.n_layers);
	uint64_t most = 0, last = 0;
	for (uint32_t l = 0; l < g.n_layers; l++) {
		struct graph_memory m = graph_layer_memory(&g, l, l + 1);
		last = m.activation_bytes - m.boundary_bytes;
		most = last > most ? last : most;
	}
	CU_ASSERT_TRUE(most > last);
	struct stage_memory full = stage_memory(&g, all, OPTIMIZER_SGD, RECOMPUTE_FULL, 3);
	CU_ASSERT_EQUAL(full.activation_bytes, 3 * sum.boundary_bytes + most);
	arena_free(&a);
}

/* 18 bytes a parameter: Megatron-LM's 22B model over tp 8 (48 layers, hidden 6144, 64 heads,
 * vocabulary 51200) holds 45.56 GiB of weights and optimizer states (arXiv 2205.05198). */
static void test_megatron_22b(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph_options options = {.batch = 4, .tp = 8};
	CU_ASSERT_TRUE_FATAL(graph_parse_overrides(
		&a, "layers=48,hidden=6144,heads=64,seq=2048", &options, &err));
	struct graph g = setup_train(
		&a, "models/workloads/megatron-gpt.json", &options, true, OPTIMIZER_ADAM);
	struct stage_memory m =
		stage_memory(&g, (struct layers){0, g.n_layers}, OPTIMIZER_ADAM, RECOMPUTE_NONE, 1);
	double states_gib = (double)(m.total_bytes - m.activation_bytes) / 1073741824.0;
	double published = 45.5625;
	CU_ASSERT_DOUBLE_EQUAL(states_gib, published, 0.03 * published);
	arena_free(&a);
}

static void test_in_flight(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(3, 1, 1, 8);
	struct plan_options options = {.schedule = SCHEDULE_1F1B, .optimizer = OPTIMIZER_ADAM};
	struct plan plan = setup_plan(&a, &g, &arch, &d, &options);
	for (uint32_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(plan.stages[i].in_flight, 3 - i);
		CU_ASSERT_EQUAL(
			plan.stages[i].memory.activation_bytes, (uint64_t)(3 - i) * 2 * KEPT_NONE);
		CU_ASSERT_EQUAL(plan.stages[i].gradient_bytes, UINT64_C(8) * TINY_LAYER_PARAMETERS);
	}
	options.schedule = SCHEDULE_GPIPE;
	plan = setup_plan(&a, &g, &arch, &d, &options);
	for (uint32_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(plan.stages[i].in_flight, 8);
		CU_ASSERT_EQUAL(plan.stages[i].memory.activation_bytes, UINT64_C(16) * KEPT_NONE);
	}
	arena_free(&a);
}

/* A pipeline of 2 stages of 3 layers whose first stage does not fit. */
static bool build_within(uint64_t hbm_bytes, enum recompute recompute, struct plan *plan,
	struct arena *a, struct err *err)
{
	struct graph g = setup_tiny(a, 1);
	struct arch arch = setup_arch(a);
	arch.hbm_bytes = hbm_bytes;
	struct degrees d = setup_degrees(2, 1, 1, 4);
	struct plan_options options = {.schedule = SCHEDULE_1F1B,
		.optimizer = OPTIMIZER_ADAM,
		.recompute = recompute,
		.check_memory = true};
	struct plan_input in = {&g, &arch, 1, &d, &options};
	return plan_build(a, &in, plan, err);
}

enum {
	STATES = 3 * TINY_LAYER_PARAMETERS * 18,
	NEEDS_NONE = STATES + 2 * 3 * KEPT_NONE,
	NEEDS_FULL = STATES + 2 * 3 * KEPT_FULL + KEPT_NONE - KEPT_FULL,
};

static void test_out_of_memory(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct plan plan = {0};
	CU_ASSERT_TRUE(build_within(NEEDS_NONE, RECOMPUTE_NONE, &plan, &a, &err));
	CU_ASSERT_FALSE(build_within(NEEDS_NONE - 1, RECOMPUTE_NONE, &plan, &a, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	CU_ASSERT_STRING_EQUAL(err.text,
		"out of memory: stage 0 of 2 (layers 0 to 2 of tiny) needs 2.17932 MiB on each "
		"device, "
		"tpuv2 has 2.17932 MiB of HBM: optimizer states 1.14038 MiB, activations of 2 "
		"micro-batches 480 KiB, gradients 389.25 KiB, weights 194.625 KiB; with full "
		"recomputation it would fit (1.82776 MiB)");
	CU_ASSERT_FALSE(build_within(NEEDS_FULL - 1, RECOMPUTE_NONE, &plan, &a, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text,
		"; even full recomputation needs 1.82776 MiB: a smaller micro-batch, more stages "
		"(pp) or tensor parallelism (tp) would make it smaller"));
	CU_ASSERT_FALSE(build_within(NEEDS_FULL - 1, RECOMPUTE_FULL, &plan, &a, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "; full recomputation is on already: "));
	CU_ASSERT_FALSE(build_within(STATES - 1, RECOMPUTE_NONE, &plan, &a, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text,
		"; without activations it is 1.71057 MiB: more stages (pp) or tensor parallelism "
		"(tp) would make it smaller"));
	arena_free(&a);
}

/* GPipe holds 4 micro-batches where 1F1B holds 2. */
static void test_schedule_hint(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	arch.hbm_bytes = NEEDS_NONE;
	struct degrees d = setup_degrees(2, 1, 1, 4);
	struct plan_options options = {
		.schedule = SCHEDULE_GPIPE, .optimizer = OPTIMIZER_ADAM, .check_memory = true};
	struct plan plan = {0};
	struct plan_input in = {&g, &arch, 1, &d, &options};
	CU_ASSERT_FALSE(plan_build(&a, &in, &plan, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "activations of 4 micro-batches 960 KiB"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(err.text, "; with the schedule 1f1b it would fit (2.17932 MiB)"));
	arena_free(&a);
}

/* The list of kept tensors is what a micro-batch keeps, whatever is made again. */
static void test_kept(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	const enum recompute modes[] = {RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL};
	for (size_t i = 0; i < 3; i++) {
		struct graph_kept *kept;
		uint32_t n = plan_kept_tensors(&a, &g, 2, 4, modes[i], &kept);
		struct memory_request request = {&g, 2, 4, OPTIMIZER_ADAM, modes[i], 3};
		struct stage_memory m = plan_stage_memory(&request);
		uint64_t sum = 0;
		for (uint32_t k = 0; k < n; k++)
			sum += kept[k].bytes;
		CU_ASSERT_EQUAL(sum, m.micro_batch_bytes);
		CU_ASSERT_EQUAL(m.activation_bytes, 3 * sum + m.remade_bytes);
	}
	arena_free(&a);
}

/* pp 8 and 3 chunks a device: 31 chunks of 1/24 of the layers, 1 + 7/24 of all (arXiv 2205.05198,
 * 175B). */
static void test_chunks(void)
{
	CU_ASSERT_EQUAL(schedule_chunks_in_flight(1, 1), 1);
	CU_ASSERT_EQUAL(schedule_chunks_in_flight(64, 1), 64);
	CU_ASSERT_EQUAL(schedule_chunks_in_flight(8, 3), 31);
	CU_ASSERT_EQUAL(schedule_chunks_in_flight(35, 3), 139);
}

static void test_auto(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct plan plan = {0};
	CU_ASSERT_TRUE_FATAL(build_within(NEEDS_NONE, RECOMPUTE_AUTO, &plan, &a, &err));
	CU_ASSERT_EQUAL(plan.stages[0].recompute, RECOMPUTE_NONE);
	tick backward = plan.stages[0].backward;
	CU_ASSERT_TRUE_FATAL(build_within(NEEDS_FULL, RECOMPUTE_AUTO, &plan, &a, &err));
	CU_ASSERT_EQUAL(plan.stages[0].recompute, RECOMPUTE_FULL);
	CU_ASSERT_EQUAL(plan.stages[0].memory.total_bytes, NEEDS_FULL);
	CU_ASSERT_EQUAL(plan.stages[0].backward, backward + plan.stages[0].forward);
	CU_ASSERT_FALSE(build_within(NEEDS_FULL - 1, RECOMPUTE_AUTO, &plan, &a, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	arena_free(&a);
}

/* Without the check, what does not fit is built and reported. */
static void test_unchecked(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	arch.hbm_bytes = 1;
	struct degrees d = setup_degrees(1, 1, 1, 1);
	struct plan_options options = {.recompute = RECOMPUTE_NONE};
	struct plan plan = setup_plan(&a, &g, &arch, &d, &options);
	CU_ASSERT_TRUE(plan.stages[0].memory.total_bytes > arch.hbm_bytes);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"bytes of a parameter by optimizer and precision", test_states},
		{"activations by recomputation and micro-batches", test_activations},
		{"the largest layer is made again", test_largest_layer},
		{"weights and optimizer states of Megatron 22B", test_megatron_22b},
		{"micro-batches in flight by schedule", test_in_flight},
		{"out of memory", test_out_of_memory},
		{"out of memory for the schedule", test_schedule_hint},
		{"the list of kept tensors", test_kept},
		{"chunks in flight", test_chunks},
		{"auto recomputes where it has to", test_auto},
		{"memory is only reported when it is not checked", test_unchecked},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan memory", tests);
}
