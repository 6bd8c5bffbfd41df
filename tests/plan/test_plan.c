#include "base/rng.h"
#include "graph/op_kinds.h"
#include "play.h"
#include "setup.h"

static const struct plan_options plain = {.schedule = SCHEDULE_1F1B,
	.optimizer = OPTIMIZER_ADAM,
	.recompute = RECOMPUTE_NONE};

/* With tp 1 a pass is one task whose cost is the stage's. */
static void test_costs(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(2, 1, 2, 3);
	struct plan plan = setup_plan(&a, &g, &arch, &d, &plain);
	CU_ASSERT_EQUAL(plan.prog.n_costs, 6);
	for (uint32_t i = 0; i < 2; i++) {
		struct stage alone = {0};
		const struct stage *s = &plan.stages[i];
		struct plan_input in = {&g, &arch, 1, &d, &plain};
		plan_price_stage(&a, &in, s->first_layer, s->end_layer, &alone);
		CU_ASSERT_EQUAL(s->forward, alone.forward);
		CU_ASSERT_EQUAL(s->backward, alone.backward);
		CU_ASSERT_EQUAL(s->update, alone.update);
		CU_ASSERT_EQUAL(s->macs, alone.macs);
		CU_ASSERT_EQUAL(alone.in_flight, 1);
		CU_ASSERT_EQUAL(s->forward_cycles, s->forward * arch.clock_hz / TICKS_PER_S);
		CU_ASSERT_EQUAL(setup_cost(&plan, arena_printf(&a, "s%u.fwd.0", i)), s->forward);
		CU_ASSERT_EQUAL(setup_cost(&plan, arena_printf(&a, "s%u.bwd.0", i)), s->backward);
		CU_ASSERT_EQUAL(setup_cost(&plan, arena_printf(&a, "s%u.upd", i)), s->update);
	}
	arena_free(&a);
}

struct expected {
	enum task_kind kind;
	uint32_t stream;
	const char *tag;
	int32_t offset;
	uint64_t bytes;
	uint32_t n_after, after;
};

static void check_task(const struct prog_task *t, const struct expected *want)
{
	CU_ASSERT_EQUAL(t->kind, want->kind);
	CU_ASSERT_EQUAL(t->stream, want->stream);
	CU_ASSERT_EQUAL(t->bytes, want->bytes);
	CU_ASSERT_EQUAL_FATAL(t->n_after, want->n_after);
	CU_ASSERT_TRUE(t->n_after == 0 || t->after[0] == want->after);
	if (!want->tag)
		return;
	CU_ASSERT_STRING_EQUAL(t->tag, want->tag);
	CU_ASSERT_EQUAL(t->peer.dim, 2);
	CU_ASSERT_EQUAL(t->peer.offset, want->offset);
}

static void check_tasks(const struct prog_role *r, const struct expected *want, uint32_t n)
{
	CU_ASSERT_EQUAL_FATAL(r->n_tasks, n);
	for (uint32_t i = 0; i < n; i++)
		check_task(&r->tasks[i], &want[i]);
}

enum { HIDDEN_BYTES = TINY_BATCH * 32 * 64 * 2, STAGE_GRADIENTS = 2 * TINY_LAYER_PARAMETERS * 4 };

/* The middle one of three stages, one micro-batch, over two replicas. */
static void test_tasks(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(3, 1, 2, 1);
	struct plan plan = setup_plan(&a, &g, &arch, &d, &plain);
	const struct expected middle[] = {
		{TASK_RECV, 3, "f0", -1, HIDDEN_BYTES, 0, 0},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 0},
		{TASK_SEND, 2, "f0", 1, HIDDEN_BYTES, 1, 1},
		{TASK_RECV, 5, "b0", 1, HIDDEN_BYTES, 0, 0},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 3},
		{TASK_SEND, 4, "b0", -1, HIDDEN_BYTES, 1, 4},
		{TASK_COLL, 6, NULL, 0, STAGE_GRADIENTS, 1, 4},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 6},
	};
	check_tasks(&plan.prog.roles[1], middle, 8);
	const struct prog_task *t = plan.prog.roles[1].tasks;
	CU_ASSERT_EQUAL(t[1].phase, PHASE_FORWARD);
	CU_ASSERT_EQUAL(t[4].phase, PHASE_BACKWARD);
	CU_ASSERT_EQUAL(t[7].phase, PHASE_OPTIMIZER);
	CU_ASSERT_EQUAL(t[6].coll, COLL_ALLREDUCE);
	CU_ASSERT_STRING_EQUAL(plan.prog.groups[t[6].group].name, "dp");
	CU_ASSERT_STRING_EQUAL(plan.prog.roles[1].name, "s1");
	CU_ASSERT_STRING_EQUAL(plan.prog.grid.names[0], "tp");
	CU_ASSERT_STRING_EQUAL(plan.prog.grid.names[1], "dp");
	CU_ASSERT_STRING_EQUAL(plan.prog.grid.names[2], "pp");
	const struct expected last[] = {
		{TASK_RECV, 3, "f0", -1, HIDDEN_BYTES, 0, 0},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 0},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 1},
		{TASK_SEND, 4, "b0", -1, HIDDEN_BYTES, 1, 2},
		{TASK_COLL, 6, NULL, 0, STAGE_GRADIENTS, 1, 2},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 4},
	};
	check_tasks(&plan.prog.roles[2], last, 6);
	arena_free(&a);
}

static uint32_t count_kind(const struct prog_role *r, enum task_kind kind)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->n_tasks; i++)
		n += r->tasks[i].kind == kind;
	return n;
}

static void check_counts(const struct prog_role *r, uint32_t m, uint32_t ends, uint32_t dp)
{
	CU_ASSERT_EQUAL(count_kind(r, TASK_COMPUTE), 2 * m + 1);
	CU_ASSERT_EQUAL(count_kind(r, TASK_SEND), m * ends);
	CU_ASSERT_EQUAL(count_kind(r, TASK_RECV), m * ends);
	CU_ASSERT_EQUAL(count_kind(r, TASK_COLL), dp - 1);
}

static void test_counts(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	for (uint32_t dp = 1; dp <= 2; dp++) {
		struct degrees d = setup_degrees(3, 1, dp, 7);
		struct plan plan = setup_plan(&a, &g, &arch, &d, &plain);
		CU_ASSERT_EQUAL(plan.n_micro_batches, 7);
		CU_ASSERT_EQUAL(plan.schedule, SCHEDULE_1F1B);
		for (uint32_t i = 0; i < 3; i++)
			check_counts(&plan.prog.roles[i], 7, i == 1 ? 2 : 1, dp);
	}
	arena_free(&a);
}

/* Sequence parallelism moves the same bytes in twice as many collectives and keeps less; the slices
 * of the last layer norm are shorter, so a pass is no longer. */
static void test_sequence_parallel(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct arch arch = setup_arch(&a);
	struct degrees d = {.pp = 2, .tp = 4, .dp = 1, .batch = 4, .micro_batch = 1};
	struct plan plans[2];
	uint64_t on_links[2] = {0, 0};
	for (int sp = 0; sp < 2; sp++) {
		struct graph_options options = {.batch = 1, .tp = 4, .sequence_parallel = sp};
		CU_ASSERT_TRUE_FATAL(graph_parse_overrides(
			&a, "layers=4,hidden=1024,heads=16,seq=512", &options, &err));
		struct graph g = setup_train(
			&a, "models/workloads/megatron-gpt.json", &options, true, OPTIMIZER_ADAM);
		plans[sp] = setup_plan(&a, &g, &arch, &d, &plain);
		const struct prog_role *r = &plans[sp].prog.roles[0];
		for (uint32_t i = 0; i < r->n_tasks; i++) {
			const struct prog_task *t = &r->tasks[i];
			if (t->kind != TASK_COLL)
				continue;
			CU_ASSERT_EQUAL(t->coll == COLL_ALLREDUCE, sp == 0);
			on_links[sp] += t->bytes * (t->coll == COLL_ALLREDUCE ? 2 : 1);
		}
	}
	CU_ASSERT_EQUAL(on_links[0], on_links[1]);
	const struct stage *without = &plans[0].stages[0], *with = &plans[1].stages[0];
	CU_ASSERT_EQUAL(with->macs, without->macs);
	CU_ASSERT_TRUE(with->forward < without->forward);
	CU_ASSERT_TRUE(with->memory.activation_bytes < without->memory.activation_bytes);
	CU_ASSERT_EQUAL(4 * with->send_forward_bytes, without->send_forward_bytes);
	arena_free(&a);
}

/* Two layers on each stage: a reduction behind every `down` in the forward pass, and one of the
 * gradient that leaves every `up`. Weight gradients run beside the latter. */
static void test_tensor_parallel(void)
{
	struct arena a = {0};
	struct graph whole = setup_tiny(&a, 1), g = setup_tiny(&a, 2);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(3, 2, 1, 4), one = setup_degrees(3, 1, 1, 4);
	struct plan plan = setup_plan(&a, &g, &arch, &d, &plain);
	struct plan unsliced = setup_plan(&a, &whole, &arch, &one, &plain);
	for (uint32_t i = 0; i < 3; i++) {
		const struct stage *s = &plan.stages[i];
		const struct prog_role *r = &plan.prog.roles[i];
		CU_ASSERT_EQUAL(s->forward_collectives, 2);
		CU_ASSERT_EQUAL(s->backward_collectives, 2);
		CU_ASSERT_EQUAL(s->forward_collective_bytes, UINT64_C(2) * HIDDEN_BYTES);
		CU_ASSERT_EQUAL(count_kind(r, TASK_COLL), 4 * 4);
		CU_ASSERT_EQUAL(2 * s->macs, unsliced.stages[i].macs);
		tick sum = 0, late = 0;
		for (uint32_t k = 0; k < 3; k++) {
			tick c = setup_cost(&plan, arena_printf(&a, "s%u.fwd.%u", i, k));
			sum += c == TICK_MAX ? 0 : c;
			c = setup_cost(&plan, arena_printf(&a, "s%u.dw.%u", i, k));
			late += c == TICK_MAX ? 0 : c;
		}
		CU_ASSERT_EQUAL(sum, s->forward);
		CU_ASSERT_TRUE(late > 0 && late < s->backward);
	}
	CU_ASSERT_NOT_EQUAL(setup_cost(&plan, "s1.dw.1"), TICK_MAX);
	arena_free(&a);
}

/* A weight gradient beside a collective waits for the same task as the collective and does not wait
 * for it, and the segment behind waits for the collective. */
static void test_overlap(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 2);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(1, 2, 1, 1);
	struct plan plan = setup_plan(&a, &g, &arch, &d, &plain);
	const struct prog_role *r = &plan.prog.roles[0];
	uint32_t found = 0;
	for (uint32_t i = 1; i + 2 < r->n_tasks; i++) {
		const struct prog_task *t = &r->tasks[i];
		if (t->kind != TASK_COMPUTE || !strstr(plan.prog.costs[t->cost].key, ".dw."))
			continue;
		CU_ASSERT_EQUAL_FATAL(t->n_after, 1);
		CU_ASSERT_EQUAL(t->after[0], i - 1);
		CU_ASSERT_EQUAL(t[1].kind, TASK_COLL);
		CU_ASSERT_EQUAL(t[1].stream, 1);
		CU_ASSERT_EQUAL(t[1].after[0], i - 1);
		CU_ASSERT_STRING_EQUAL(plan.prog.groups[t[1].group].name, "tp");
		if (t[2].phase == PHASE_BACKWARD)
			CU_ASSERT_EQUAL(t[2].after[0], i + 1);
		found++;
	}
	CU_ASSERT_EQUAL(found, TINY_LAYERS);
	arena_free(&a);
}

static void test_recompute(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(2, 1, 1, 2);
	struct plan_options options = plain;
	struct plan none = setup_plan(&a, &g, &arch, &d, &options);
	options.recompute = RECOMPUTE_SELECTIVE;
	struct plan selective = setup_plan(&a, &g, &arch, &d, &options);
	options.recompute = RECOMPUTE_FULL;
	struct plan full = setup_plan(&a, &g, &arch, &d, &options);
	uint64_t rows = (uint64_t)TINY_BATCH * 32, up = rows * 64 * 256;
	for (uint32_t i = 0; i < 2; i++) {
		const struct stage *n = &none.stages[i], *s = &selective.stages[i],
				   *f = &full.stages[i];
		CU_ASSERT_EQUAL(s->forward, n->forward);
		CU_ASSERT_TRUE(s->backward > n->backward);
		CU_ASSERT_EQUAL(s->macs, n->macs + 3 * up);
		CU_ASSERT_EQUAL(f->backward, n->backward + n->forward);
		CU_ASSERT_EQUAL(f->macs, n->macs + 6 * up);
		CU_ASSERT_EQUAL(full.prog.roles[i].n_tasks, none.prog.roles[i].n_tasks);
	}
	arena_free(&a);
}

/* Full recomputation of a sliced model repeats the forward collectives. */
static void test_recompute_collectives(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 2);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(2, 2, 1, 2);
	struct plan_options options = plain;
	options.recompute = RECOMPUTE_FULL;
	struct plan plan = setup_plan(&a, &g, &arch, &d, &options);
	CU_ASSERT_EQUAL(plan.stages[0].forward_collectives, 3);
	CU_ASSERT_EQUAL(plan.stages[0].backward_collectives, 6);
	CU_ASSERT_NOT_EQUAL(setup_cost(&plan, "s0.rec.0"), TICK_MAX);
	arena_free(&a);
}

/* Selective recomputation stands in the segment that goes back through what it makes again: one in
 * each layer. */
static void test_recompute_segments(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 2);
	struct arch arch = setup_arch(&a);
	struct degrees d = setup_degrees(1, 2, 1, 1);
	struct plan_options options = plain;
	struct plan none = setup_plan(&a, &g, &arch, &d, &options);
	options.recompute = RECOMPUTE_SELECTIVE;
	struct plan selective = setup_plan(&a, &g, &arch, &d, &options);
	tick all = selective.stages[0].backward - none.stages[0].backward;
	for (uint32_t i = 0; i < TINY_LAYERS; i++) {
		const char *key = arena_printf(&a, "s0.bwd.%u", i);
		CU_ASSERT_EQUAL(
			setup_cost(&selective, key) - setup_cost(&none, key), all / TINY_LAYERS);
	}
	arena_free(&a);
}

/* A backward pass that ends in a weight gradient beside a collective: gradients are reduced after
 * both. */
static void test_last_gradient(void)
{
	enum { N = 5 };
	static const op_id forward[] = {0}, data[] = {1};
	static const tensor_id input = 0;
	struct arena a = {0};
	struct arch arch = setup_arch(&a);
	struct work w = {.core = CORE_TC, .batch = 1, .m = 64, .n = 64, .k = 64};
	struct op *ops = arena_array(&a, N, struct op);
	ops[0] = (struct op){.kind = op_kind_find("identity"), .inputs = &input, .n_inputs = 1};
	ops[1] = (struct op){.pass = PASS_BACKWARD_DATA, .preds = forward, .n_preds = 1};
	ops[2] = (struct op){.pass = PASS_BACKWARD_DATA, .preds = data, .n_preds = 1};
	ops[3] = (struct op){.pass = PASS_BACKWARD_WEIGHT, .preds = data, .n_preds = 1};
	ops[4] = (struct op){.pass = PASS_UPDATE};
	for (uint32_t i = 0; i < N; i++)
		ops[i].work = w;
	ops[2].work = (struct work){.core = CORE_LINK, .collective_bytes = 64};
	struct tensor weight = {.class = TENSOR_PARAM,
		.n_dims = 1,
		.dims = {64},
		.elem_bytes = 2,
		.producer = GRAPH_NONE};
	struct graph g = {.name = "hand",
		.ops = ops,
		.n_ops = N,
		.tensors = &weight,
		.n_tensors = 1,
		.n_layers = 1,
		.tp = 2};
	struct degrees d = setup_degrees(1, 2, 2, 1);
	struct plan plan = setup_plan(&a, &g, &arch, &d, &plain);
	const struct expected tasks[] = {
		{TASK_COMPUTE, 0, NULL, 0, 0, 0, 0},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 0},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 1},
		{TASK_COLL, 1, NULL, 0, 64, 1, 1},
		{TASK_COLL, 6, NULL, 0, 256, 2, 3},
		{TASK_COMPUTE, 0, NULL, 0, 0, 1, 4},
	};
	check_tasks(&plan.prog.roles[0], tasks, 6);
	CU_ASSERT_EQUAL(plan.prog.roles[0].tasks[4].after[1], 2);
	arena_free(&a);
}

/* Energy: every micro-batch costs the same, the update once. */
static void test_energy(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	double e[3];
	for (uint32_t m = 1; m <= 3; m++) {
		struct degrees d = setup_degrees(2, 1, 1, m);
		e[m - 1] = setup_plan(&a, &g, &arch, &d, &plain).stages[0].energy_j;
	}
	CU_ASSERT_TRUE(e[0] > 0 && e[1] > 1.2 * e[0]);
	CU_ASSERT_DOUBLE_EQUAL(e[2] - e[1], e[1] - e[0], 1e-9 * e[0]);
	CU_ASSERT_TRUE(e[1] < 2 * e[0]);
	arena_free(&a);
}

static uint32_t peak_held(const struct prog_role *r, const struct prog *p)
{
	uint32_t held = 0, peak = 0;
	for (uint32_t i = 0; i < r->n_tasks; i++) {
		const char *key =
			r->tasks[i].kind == TASK_COMPUTE ? p->costs[r->tasks[i].cost].key : "";
		const char *dot = strchr(key, '.');
		held += dot && strcmp(dot, ".fwd.0") == 0;
		peak = held > peak ? held : peak;
		held -= dot && strcmp(dot, ".bwd.0") == 0;
	}
	return peak;
}

static void check_work(
	const struct plan *plan, const struct graph *g, const struct plan_options *options)
{
	uint64_t macs = 0, forward = graph_macs(g, 1u << PASS_FORWARD);
	uint64_t all = graph_macs(
		g, 1u << PASS_FORWARD | 1u << PASS_BACKWARD_DATA | 1u << PASS_BACKWARD_WEIGHT);
	for (uint32_t i = 0; i < plan->n_stages; i++) {
		macs += plan->stages[i].macs;
		CU_ASSERT_EQUAL(
			peak_held(&plan->prog.roles[i], &plan->prog), plan->stages[i].in_flight);
	}
	switch (options->recompute) {
	case RECOMPUTE_NONE:
	case RECOMPUTE_AUTO:
		CU_ASSERT_EQUAL(macs, all);
		break;
	case RECOMPUTE_SELECTIVE:
		CU_ASSERT_EQUAL(macs, all + forward / 2);
		break;
	case RECOMPUTE_FULL:
		CU_ASSERT_EQUAL(macs, all + forward);
		break;
	}
}

/* Any legal degrees: checked by prog_check(), runs to its end, holds what it says, does all the
 * work. */
static void test_random(void)
{
	struct arena a = {0};
	struct rng rng;
	rng_init(&rng, 11);
	struct arch arch = setup_arch(&a);
	struct graph graphs[3] = {setup_tiny(&a, 1), setup_tiny(&a, 2), setup_tiny(&a, 4)};
	for (int trial = 0; trial < 150; trial++) {
		uint32_t r[8];
		const uint32_t below[8] = {3, TINY_LAYERS, 3, 5, 2, 4, 2, 2};
		for (int i = 0; i < 8; i++)
			r[i] = (uint32_t)rng_below(&rng, below[i]);
		struct degrees d = setup_degrees(1 + r[1], 1u << r[0], 1 + r[2], 1 + r[3]);
		struct plan_options options = {
			.schedule = (enum schedule)r[4],
			.recompute = (enum recompute)r[5],
			.partition = (enum partition)r[6],
			.intra_op_split = r[7],
		};
		struct plan plan = setup_plan(&a, &graphs[r[0]], &arch, &d, &options);
		CU_ASSERT_NOT_EQUAL(play_prog(&plan.prog), TICK_MAX);
		check_work(&plan, &graphs[r[0]], &options);
	}
	arena_free(&a);
}

/* Eight equal layers: forward, backward, update. */
static struct graph even_graph(struct arena *a)
{
	enum { N = 8, N_CHAIN = 2 * N, N_OPS = 3 * N };
	struct op *ops = arena_array(a, N_OPS, struct op);
	op_id *preds = arena_array(a, N_CHAIN, op_id);
	for (uint32_t i = 0; i < N_OPS; i++) {
		static const enum op_pass passes[] = {
			PASS_FORWARD, PASS_BACKWARD_DATA, PASS_UPDATE};
		uint32_t layer = i / N == 1 ? N_CHAIN - 1 - i : i % N;
		ops[i] = (struct op){.kind = op_kind_find("identity"),
			.pass = passes[i / N],
			.layer = layer,
			.forward = layer,
			.work = {.core = CORE_TC, .batch = 1, .m = 128, .n = 128, .k = 128}};
		if (i == 0 || i >= N_CHAIN)
			continue;
		preds[i] = i - 1;
		ops[i].preds = &preds[i];
		ops[i].n_preds = 1;
	}
	return (struct graph){.name = "even", .ops = ops, .n_ops = N_OPS, .n_layers = N, .tp = 1};
}

/* On a perfect network an even pipeline takes (m + p - 1) micro-batches and the update. */
static void check_even(uint32_t pp, uint32_t m, enum schedule schedule)
{
	struct arena a = {0};
	struct arch arch = setup_arch(&a);
	struct graph g = even_graph(&a);
	struct degrees d = setup_degrees(pp, 1, 1, m);
	struct plan_options options = {.schedule = schedule};
	struct plan plan = setup_plan(&a, &g, &arch, &d, &options);
	const struct stage *x = &plan.stages[0];
	CU_ASSERT_EQUAL(
		play_prog(&plan.prog), (m + pp - 1) * (x->forward + x->backward) + x->update);
	arena_free(&a);
}

static void test_even_pipeline(void)
{
	for (uint32_t pp = 1; pp <= 8; pp *= 2)
		for (uint32_t m = 1; m <= 9; m += 2) {
			check_even(pp, m, SCHEDULE_GPIPE);
			check_even(pp, m, SCHEDULE_1F1B);
		}
}

static void test_refused(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph g = setup_tiny(&a, 2);
	struct arch arch = setup_arch(&a);
	struct plan plan = {0};
	struct degrees d = setup_degrees(7, 2, 1, 1);
	struct plan_input in = {&g, &arch, 1, &d, &plain};
	CU_ASSERT_FALSE(plan_build(&a, &in, &plan, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text, "pp 7 is larger than the 6 layers of tiny");
	d = setup_degrees(2, 4, 1, 1);
	CU_ASSERT_FALSE(plan_build(&a, &in, &plan, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text, "tiny is sliced for tp 2, the plan has tp 4");
	d = setup_degrees(2, 2, 1, 1);
	d.batch = d.micro_batch = 3;
	CU_ASSERT_FALSE(plan_build(&a, &in, &plan, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_STRING_EQUAL(err.text, "tiny is made for 2 samples, the micro-batch has 3");
	d = setup_degrees(6, 2, 1, 1 << 20);
	CU_ASSERT_FALSE(plan_build(&a, &in, &plan, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "1048576 micro-batches through 6 stages make "));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ": use a larger micro-batch or fewer stages"));
	arena_free(&a);
}

/* Stages on accelerators of their own. */
static void test_mixed_stages(void)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch *archs = arena_array(&a, 2, struct arch);
	archs[0] = archs[1] = setup_arch(&a);
	archs[1].clock_hz /= 2;
	struct degrees d = setup_degrees(2, 1, 1, 2);
	struct plan one = setup_plan(&a, &g, &archs[0], &d, &plain), plan = {0};
	struct plan_input in = {&g, archs, 2, &d, &plain};
	CU_ASSERT_TRUE_FATAL(plan_build(&a, &in, &plan, &err));
	CU_ASSERT_EQUAL(plan.stages[0].forward, one.stages[0].forward);
	CU_ASSERT_TRUE(plan.stages[1].forward > one.stages[1].forward);
	arena_free(&a);
}

static char *plan_text(const struct plan *plan)
{
	struct text t = {0};
	prog_write(&plan->prog, &t);
	return t.data;
}

/* Real models with all kinds of degrees; the same plan twice is the same bytes, and reads back as
 * such. */
static void test_models(void)
{
	static const struct {
		const char *file;
		uint32_t pp, tp, dp, m;
	} cases[] = {
		{"models/workloads/bert-large.json", 4, 1, 1, 32},
		{"models/workloads/bert-large.json", 6, 4, 2, 3},
		{"models/workloads/gpt2-xl.json", 24, 1, 2, 96},
		{"models/workloads/megatron-gpt.json", 8, 8, 1, 4},
		{"models/workloads/resnet18.json", 4, 1, 8, 5},
		{"models/workloads/vgg16.json", 1, 1, 1, 1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct graph_options options = {.batch = TINY_BATCH, .tp = cases[i].tp};
		struct graph g = setup_train(&a, cases[i].file, &options, true, OPTIMIZER_ADAM);
		struct arch arch = setup_arch(&a);
		struct degrees d = setup_degrees(cases[i].pp, cases[i].tp, cases[i].dp, cases[i].m);
		struct plan plan = setup_plan(&a, &g, &arch, &d, &plain);
		struct plan again = setup_plan(&a, &g, &arch, &d, &plain);
		struct prog read = {0};
		char *one = plan_text(&plan), *two = plan_text(&again);
		CU_ASSERT_STRING_EQUAL(one, two);
		CU_ASSERT_TRUE(prog_parse(&a, "plan", one, strlen(one), &read, &err));
		CU_ASSERT_TRUE(prog_check(&read, &err));
		free(one);
		free(two);
		arena_free(&a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"costs of a pass are the stage's", test_costs},
		{"tasks of a stage one by one", test_tasks},
		{"how many tasks", test_counts},
		{"tensor parallelism", test_tensor_parallel},
		{"sequence parallelism", test_sequence_parallel},
		{"weight gradients beside collectives", test_overlap},
		{"recomputation", test_recompute},
		{"recomputation repeats collectives", test_recompute_collectives},
		{"selective recomputation by segment", test_recompute_segments},
		{"gradients are reduced after all of them", test_last_gradient},
		{"energy of a step", test_energy},
		{"random degrees", test_random},
		{"an even pipeline", test_even_pipeline},
		{"plans that are refused", test_refused},
		{"an accelerator for each stage", test_mixed_stages},
		{"real models", test_models},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan", tests);
}
