#include <math.h>

#include "coll/coll.h"
#include "plan/scheme.h"
#include "setup.h"

/* A transformer with one block; the head is the layer behind it. */
struct shape {
	uint64_t hidden, heads, kv_heads, seq, batch;
};

static struct graph read_graph(
	struct arena *a, const char *name, const struct graph_options *options)
{
	struct err err = {0};
	struct graph g = {0};
	const char *file = arena_printf(a, "models/workloads/%s.json", name);
	bool read = graph_read(a, setup_path(a, file), options, &g, &err);
	if (!read)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(read);
	return g;
}

static struct scheme_model read_model(struct arena *a, const char *name)
{
	struct graph g = read_graph(a, name, &(struct graph_options){.batch = 2});
	struct scheme_model m;
	scheme_read_model(a, &g, &m);
	return m;
}

static struct scheme_model read_shape(struct arena *a, const char *name, const struct shape *s)
{
	struct graph_override overrides[] = {{"layers", 1}, {"hidden", s->hidden},
		{"heads", s->heads}, {"seq", s->seq}, {"kv_heads", s->kv_heads}};
	struct graph_options options = {
		.batch = 1, .overrides = overrides, .n_overrides = s->kv_heads > 0 ? 5 : 4};
	struct graph g = read_graph(a, name, &options);
	struct scheme_model m;
	scheme_read_model(a, &g, &m);
	return m;
}

static const struct scheme *get(const char *name)
{
	struct err err = {0};
	const struct scheme *s = scheme_find(name, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

static struct iteration schedule(struct arena *a, const char *name, const struct scheme_question *q)
{
	struct iteration it = {0};
	struct err err = {0};
	bool made = scheme_schedule(a, get(name), q, &it, &err);
	if (!made)
		printf("\n%s: %s\n", name, err.text);
	CU_ASSERT_TRUE_FATAL(made);
	bool sound = prog_check(&it.prog, &err);
	if (!sound)
		printf("\n%s: %s\n", name, err.text);
	CU_ASSERT_TRUE(sound);
	return it;
}

/* What position 0 of a group sends, by the schedule of the collective. */
static double sent_bytes(const struct prog *p, const struct prog_task *t)
{
	struct err err = {0};
	struct coll_rounds rounds;
	double sum = 0;
	struct coll_call c = {.algo = coll_find(t->coll, t->algo),
		.n_ranks = prog_group_size(p, t->group),
		.bytes = t->bytes};
	CU_ASSERT_PTR_NOT_NULL_FATAL(c.algo);
	CU_ASSERT_TRUE_FATAL(coll_rounds_begin(&rounds, &c, &err));
	for (uint32_t r = 0; r < rounds.frame.n_rounds; r++) {
		uint32_t n;
		const struct coll_step *steps = coll_rounds_get(&rounds, r, &n);
		for (uint32_t i = 0; i < n && steps[i].src == 0; i++)
			sum += (double)steps[i].bytes / (double)rounds.frame.bytes_divisor;
	}
	coll_rounds_end(&rounds);
	return sum;
}

/* Words that one device sends for layers before `end`, by term. */
struct volume {
	double forward, backward, dw;
};

static struct volume volume_of(
	const struct iteration *it, const struct scheme_question *q, uint32_t end)
{
	struct volume v = {0};
	for (uint32_t i = 0; i < it->prog.roles[0].n_tasks; i++) {
		double words = sent_bytes(&it->prog, &it->prog.roles[0].tasks[i]) / q->word_bytes;
		enum iteration_term term = it->terms[i];
		if (it->layers[i] >= end)
			continue;
		if (term == TERM_FORWARD)
			v.forward += words;
		else if (term == TERM_BACKWARD)
			v.backward += words;
		else
			v.dw += words;
		CU_ASSERT_TRUE(term == TERM_FORWARD || term == TERM_BACKWARD ||
			       term == TERM_DW_ALL_REDUCE);
	}
	return v;
}

static void check_near(double got, double want, const char *what)
{
	bool near = fabs(got - want) <= 1e-9 * fabs(want);
	if (!near)
		printf("\n%s: %.3f, expected %.3f", what, got, want);
	CU_ASSERT_TRUE(near);
}

static const struct scheme_algos rings = {"ring", "ring", "ring", "pairwise"};

/* The columns "forward" and "backward" of reference tables of these schemes, and the gradients,
 * for one transformer layer with 12 h^2 weights. */
struct expected {
	const char *scheme;
	uint32_t pr, pc;
	double forward, backward, dw;
};

static void check_volumes(
	struct arena *a, const struct scheme_model *m, uint64_t batch, const struct expected *want)
{
	struct scheme_question q = {.model = m,
		.batch = batch,
		.pr = want->pr,
		.pc = want->pc,
		.word_bytes = 2,
		.algos = rings};
	struct iteration it = schedule(a, want->scheme, &q);
	struct volume v = volume_of(&it, &q, m->n_layers - 1);
	check_near(v.forward, want->forward, arena_printf(a, "%s forward", want->scheme));
	check_near(v.backward, want->backward, arena_printf(a, "%s backward", want->scheme));
	check_near(v.dw, want->dw, arena_printf(a, "%s dw", want->scheme));
}

static const struct shape gpt_shapes[] = {
	{1440, 12, 0, 96, 48}, {576, 48, 0, 240, 96}, {2304, 24, 0, 48, 48}};

static void test_volumes(void)
{
	for (size_t i = 0; i < sizeof(gpt_shapes) / sizeof(*gpt_shapes); i++) {
		struct arena a = {0};
		struct shape s = gpt_shapes[i];
		struct scheme_model m = read_shape(&a, "gpt2-xl", &s);
		double h = (double)s.hidden, bsh = (double)(s.batch * s.seq) * h, w = 12 * h * h;
		double r2 = 1.0 / 2, r3 = 2.0 / 3, r4 = 3.0 / 4, r6 = 5.0 / 6, r12 = 11.0 / 12;
		double a3 = 16 * bsh + w, a2 = 7 * bsh + w, a25 = 7 * bsh / 2 / 2 + w / 2;
		// clang-format off
		const struct expected want[] = {
			{"megatron", 2, 1, 4 * bsh * r2, 4 * bsh * r2, 0},
			{"megatron", 12, 1, 4 * bsh * r12, 4 * bsh * r12, 0},
			{"megatron", 3, 2, 4 * bsh / 2 * r3, 4 * bsh / 2 * r3, 2 * w / 3 * r2},
			{"megatron-sp", 4, 1, 4 * bsh * r4, 6 * bsh * r4, 0},
			{"megatron-sp", 6, 1, 4 * bsh * r6, 6 * bsh * r6, 0},
			{"summa-2d", 4, 1, a2 / 2 * r2, 2 * a2 / 2 * r2, 0},
			{"summa-2d", 9, 1, a2 / 3 * r3, 2 * a2 / 3 * r3, 0},
			{"summa-2d", 16, 3, (7 * bsh / 3 + w) / 4 * r4, 2 * (7 * bsh / 3 + w) / 4 * r4, 2 * w / 16 * r3},
			{"tesseract-2.5d", 8, 1, a25 * r2, 2 * a25 * r2, 2 * w / 4 * r2},
			{"tesseract-2.5d", 8, 3, (7 * bsh / 12 + w / 2) * r2, 2 * (7 * bsh / 12 + w / 2) * r2, 2 * w / 4 * r6},
			{"cube-3d", 8, 1, a3 * r2 / 4, 2 * a3 * r2 / 4, 0},
			{"cube-3d", 27, 1, a3 * r3 / 9, 2 * a3 * r3 / 9, 0},
			{"cube-3d", 8, 2, (8 * bsh + w) * r2 / 4, 2 * (8 * bsh + w) * r2 / 4, 2 * w / 8 * r2},
			{"fsdp", 12, 1, w * r12, w * r12, w * r12},
			{"fsdp", 4, 6, w * r4, w * r4, w * r4 + 2 * w / 4 * r6},
			{"zero-2", 12, 1, 0, 0, 2 * w * r12},
			{"zero-2", 3, 4, 0, 0, 2 * w * r3 + 2 * w / 3 * r4},
			{"context-ring", 6, 1, 2 * bsh * r6, 4 * bsh * r6, 2 * w * r6},
			{"context-gather", 4, 3, 2 * bsh / 3 * r4, 4 * bsh / 3 * r4, 2 * w * r12},
			{"ulysses", 12, 1, 4 * bsh / 12 * r12, 4 * bsh / 12 * r12, 2 * w * r12},
			{"ulysses", 4, 3, 4 * bsh / 12 * r4, 4 * bsh / 12 * r4, 2 * w * r12},
		};
		// clang-format on
		for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++)
			check_volumes(&a, &m, s.batch, &want[k]);
		arena_free(&a);
	}
}

/* Keys and values of fewer heads: h_kv = h kv_heads / heads. */
static void test_grouped_queries(void)
{
	struct arena a = {0};
	struct shape s = {1536, 24, 6, 120, 12};
	struct scheme_model m = read_shape(&a, "llama2-70b", &s);
	double bsh = (double)(s.batch * s.seq * s.hidden), kv = bsh / 4, weights = 0;
	for (uint32_t i = 0; i + 1 < m.n_layers; i++)
		weights += (double)m.layers[i].grid.weights;
	double r6 = 5.0 / 6, r2 = 1.0 / 2, r3 = 2.0 / 3, dw = 2 * weights;
	const struct expected want[] = {
		{"context-ring", 6, 1, 2 * kv * r6, 4 * kv * r6, dw * r6},
		{"context-gather", 3, 2, 2 * kv / 2 * r3, 4 * kv / 2 * r3, dw * r6},
		{"ulysses", 6, 1, (2 * bsh + 2 * kv) * r6 / 6, (2 * bsh + 2 * kv) * r6 / 6,
			dw * r6},
		{"megatron", 6, 1, 4 * bsh * r6, 4 * bsh * r6, 0},
		{"megatron-sp", 2, 3, 4 * bsh / 3 * r2, 6 * bsh / 3 * r2, dw / 2 * r3},
	};
	CU_ASSERT_EQUAL_FATAL(m.n_attentions, 1);
	CU_ASSERT_EQUAL(m.attentions[0].heads, 24);
	CU_ASSERT_EQUAL(m.attentions[0].kv_heads, 6);
	for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++)
		check_volumes(&a, &m, s.batch, &want[k]);
	arena_free(&a);
}

/* 4 c k t h r with c = 1 and t tokens of a device. */
static void test_expert_volume(void)
{
	struct arena a = {0};
	struct scheme_model m = read_model(&a, "mixtral-8x7b");
	CU_ASSERT_EQUAL_FATAL(m.n_experts, 32);
	CU_ASSERT_EQUAL(m.experts[0].n, 8);
	struct scheme_question q = {
		.model = &m, .batch = 64, .pr = 4, .pc = 8, .word_bytes = 2, .algos = rings};
	struct iteration it = schedule(&a, "expert", &q);
	struct volume v = volume_of(&it, &q, m.n_layers);
	double t = 2 * 4096, one_way = 2 * 2 * t * 4096 * 3 / 4, experts = 8.0 * 3 * 4096 * 14336;
	double rest = 4096.0 * 4096 * 2 + 4096.0 * 1024 * 2 + 4096.0 * 8;
	check_near(v.forward, 32 * one_way, "expert forward");
	check_near(v.backward, 32 * one_way, "expert backward");
	check_near(v.dw,
		32 * (2 * experts / 4 * 7 / 8 + 2 * rest * 31 / 32) + 2 * 4096.0 * 32000 * 31 / 32,
		"expert dw");
	arena_free(&a);
}

/* Bytes of the collectives that a sliced graph has by itself; gathers count as reductions do that
 * take their gradient. */
static double link_bytes(const struct graph *g, enum op_pass pass)
{
	double sum = 0;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		const char *name = g->ops[op->forward].name;
		bool outside = strncmp(name, "embedding.", 10) == 0 || strstr(name, "loss");
		bool twice = op->work.link == LINK_ALLREDUCE;
		if (op->work.core == CORE_LINK && op->pass == pass && !outside)
			sum += (twice ? 2.0 : 1.0) * (double)op->work.collective_bytes;
	}
	return sum;
}

static double task_bytes(const struct iteration *it, enum iteration_term term)
{
	double sum = 0;
	for (uint32_t i = 0; i < it->prog.roles[0].n_tasks; i++) {
		const struct prog_task *t = &it->prog.roles[0].tasks[i];
		if (it->terms[i] == term)
			sum += (t->coll == COLL_ALLREDUCE ? 2.0 : 1.0) * (double)t->bytes;
	}
	return sum;
}

static double again_bytes(const struct scheme_model *m, uint64_t batch)
{
	double sum = 0;
	for (uint32_t i = 0; i < m->n_layers; i++)
		if (m->layers[i].slice == SLICE_COLUMN && m->layers[i].last_reader)
			sum += 2.0 * (double)(batch * m->layers[i].grid.d_in);
	return sum;
}

/* The graph that is read for so many devices has the collectives between its operators. */
static void check_sliced(const char *name, const char *scheme, uint32_t tp)
{
	struct arena a = {0};
	bool sp = strcmp(scheme, "megatron-sp") == 0;
	struct graph_options options = {.batch = 2, .tp = tp, .sequence_parallel = sp};
	struct graph sliced = read_graph(&a, name, &options), train;
	struct scheme_model m = read_model(&a, name);
	graph_train(&a, &sliced, &(struct train_options){OPTIMIZER_ADAM}, &train);
	struct scheme_question q = {
		.model = &m, .batch = 2, .pr = tp, .pc = 1, .word_bytes = 2, .algos = rings};
	struct iteration it = schedule(&a, scheme, &q);
	double again = sp ? again_bytes(&m, 2) : 0;
	check_near(task_bytes(&it, TERM_FORWARD), link_bytes(&train, PASS_FORWARD), name);
	check_near(task_bytes(&it, TERM_BACKWARD) - again, link_bytes(&train, PASS_BACKWARD_DATA),
		name);
	arena_free(&a);
}

static void test_sliced_graphs(void)
{
	check_sliced("gpt2-xl", "megatron", 5);
	check_sliced("gpt3", "megatron-sp", 8);
	check_sliced("bert-large", "megatron", 4);
	check_sliced("llama2-7b", "megatron", 8);
	check_sliced("llama2-70b", "megatron", 8);
	check_sliced("mixtral-8x7b", "megatron", 4);
	check_sliced("megatron-gpt", "megatron-sp", 4);
	check_sliced("opt-1.3b", "megatron", 2);
}

static void test_models(void)
{
	struct arena a = {0};
	struct scheme_model gpt = read_model(&a, "gpt2-xl"), bert = read_model(&a, "bert-large");
	CU_ASSERT_EQUAL_FATAL(gpt.n_layers, 48 * 4 + 1);
	CU_ASSERT_EQUAL_FATAL(gpt.n_attentions, 48);
	for (uint32_t i = 0; i < 48; i++) {
		CU_ASSERT_EQUAL(gpt.attentions[i].after, 4 * i);
		CU_ASSERT_EQUAL(gpt.attentions[i].heads, 25);
		CU_ASSERT_EQUAL(gpt.attentions[i].kv_heads, 25);
		CU_ASSERT_EQUAL(gpt.attentions[i].k, 1024 * 1600);
		CU_ASSERT_EQUAL(gpt.attentions[i].positions, 1024);
		CU_ASSERT_EQUAL(gpt.layers[4 * i].depth, 4 * i + 1);
		for (uint32_t k = 0; k < 4; k++)
			CU_ASSERT_EQUAL(
				gpt.layers[4 * i + k].slice, k % 2 == 0 ? SLICE_COLUMN : SLICE_ROW);
	}
	CU_ASSERT_EQUAL(gpt.layers[192].slice, SLICE_COLUMN);
	CU_ASSERT_EQUAL(gpt.n_experts, 0);
	/* The pooler and then the logits. */
	CU_ASSERT_EQUAL_FATAL(bert.n_layers, 24 * 4 + 2);
	CU_ASSERT_EQUAL(bert.layers[96].slice, SLICE_NONE);
	CU_ASSERT_EQUAL(bert.layers[97].slice, SLICE_COLUMN);
	/* Scores by one vector of weights, no products of queries and keys. */
	CU_ASSERT_EQUAL(read_model(&a, "gnmt4").n_attentions, 0);
	arena_free(&a);
}

/* Layers of a perceptron pair up from the front. */
static void test_pairs_of_layers(void)
{
	struct arena a = {0};
	struct scheme_model m = read_model(&a, "dlrm");
	CU_ASSERT_EQUAL_FATAL(m.n_layers, 7);
	CU_ASSERT_TRUE(m.layers[0].grid.first);
	CU_ASSERT_FALSE(m.layers[1].grid.first);
	CU_ASSERT_EQUAL(m.layers[0].slice, SLICE_COLUMN);
	CU_ASSERT_EQUAL(m.layers[1].slice, SLICE_ROW);
	CU_ASSERT_EQUAL(m.n_attentions, 0);
	arena_free(&a);
}

struct refusal {
	const char *model, *scheme;
	uint64_t batch;
	uint32_t pr, pc, depth;
	const char *why;
};

// clang-format off
static const struct refusal refusals[] = {
	{"resnet50", "megatron", 64, 4, 1, 0, "is a convolution, megatron needs linear layers"},
	{"resnet50", "summa-2d", 64, 4, 1, 0, "is a convolution, summa-2d needs linear layers"},
	{"resnet50", "cube-3d", 64, 8, 1, 0, "is a convolution, cube-3d needs linear layers"},
	{"resnet50", "context-ring", 64, 4, 1, 0, "is a convolution"},
	{"resnet50", "expert", 64, 4, 1, 0, "resnet50 has no experts"},
	{"gnmt4", "megatron", 64, 4, 1, 0, "is recurrent, megatron needs linear layers"},
	{"dlrm", "ulysses", 64, 4, 1, 0, "no attention, ulysses needs one"},
	{"bert-large", "megatron", 64, 32, 1, 0, "heads 16 do not divide over 32"},
	{"llama2-70b", "ulysses", 64, 16, 1, 0, "heads of keys and values 8 do not divide over 16"},
	{"bert-large", "context-gather", 64, 3, 1, 0, "512 positions do not divide over 3"},
	{"mixtral-8x7b", "megatron-sp", 64, 4, 1, 0, "is a bank of 8 matrices"},
	{"dlrm", "megatron-sp", 64, 4, 1, 0, "samples are no sequences"},
	{"mixtral-8x7b", "expert", 64, 3, 1, 0, "8 experts do not divide over 3"},
	{"mixtral-8x7b", "summa-2d", 64, 4, 1, 0, "is a bank of 8 matrices"},
	{"bert-large", "summa-2d", 64, 8, 1, 0, "Pr 8 is no square"},
	{"bert-large", "summa-2d", 64, 64, 9, 0, "a batch of 64 for 72 parts"},
	{"bert-large", "cube-3d", 64, 9, 1, 0, "Pr 9 is no cube"},
	{"bert-large", "tesseract-2.5d", 64, 16, 1, 0, "Pr 16 is no q^2 d with 1 < d <= q"},
	{"bert-large", "tesseract-2.5d", 64, 64, 1, 2, "Pr 64 is no q^2 x 2"},
	{"bert-large", "fsdp", 15, 4, 4, 0, "a batch of 15 for 16 parts"},
	{"bert-large", "zero-2", 15, 16, 1, 0, "a batch of 15 for 16 parts"},
	{"bert-large", "megatron", 3, 2, 4, 0, "a batch of 3 for 4 parts"},
	{"bert-large", "megatron", 64, 1, 8, 0, "a group of 1 shares nothing"},
	{"bert-large", "fsdp", 1u << 20, 1024, 1024, 0, "expected at most 262144"},
	{"bert-large", "megatron", UINT64_C(1) << 40, 2, 1, 0, "more than 64 TiB"},
};
// clang-format on

static void test_refusals(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct arena a = {0};
		struct err err = {0};
		struct iteration it;
		struct scheme_model m = read_model(&a, r->model);
		struct scheme_question q = {.model = &m,
			.batch = r->batch,
			.pr = r->pr,
			.pc = r->pc,
			.depth = r->depth,
			.word_bytes = 2};
		CU_ASSERT_FALSE(scheme_schedule(&a, get(r->scheme), &q, &it, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		if (!strstr(err.text, r->why))
			printf("\n%s: '%s'", r->why, err.text);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, r->why));
		arena_free(&a);
	}
}

static void test_names(void)
{
	struct err err = {0};
	for (size_t i = 0; schemes[i]; i++) {
		CU_ASSERT_PTR_EQUAL(scheme_find(schemes[i]->name, &err), schemes[i]);
		if (i > 0)
			CU_ASSERT_TRUE(strcmp(schemes[i - 1]->name, schemes[i]->name) < 0);
	}
	CU_ASSERT_PTR_NULL(scheme_find("megatrom", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "'megatron'"));
}

static void test_depths(void)
{
	static const uint32_t pairs[][2] = {{2, 0}, {4, 0}, {8, 2}, {16, 0}, {18, 2}, {27, 3},
		{32, 2}, {64, 4}, {128, 2}, {256, 4}, {512, 8}, {4096, 16}};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		CU_ASSERT_EQUAL(scheme_depth(pairs[i][0]), pairs[i][1]);
}

/* Tasks form one chain, and a rank order with replicas next to one another moves the same. */
static void test_lockstep(void)
{
	struct arena a = {0};
	struct scheme_model m = read_model(&a, "gpt2-xl");
	struct scheme_question q = {
		.model = &m, .batch = 8192, .pr = 64, .pc = 128, .word_bytes = 2};
	for (size_t i = 0; schemes[i]; i++) {
		struct err err = {0};
		struct iteration it, other;
		q.pr = strcmp(schemes[i]->name, "tesseract-2.5d") == 0 ? 50 : 25;
		q.pc = 128;
		q.pc_fastest = false;
		if (!scheme_schedule(&a, schemes[i], &q, &it, &err))
			continue;
		q.pc_fastest = true;
		CU_ASSERT_TRUE(scheme_schedule(&a, schemes[i], &q, &other, &err));
		CU_ASSERT_EQUAL(it.prog.n_roles, 1);
		CU_ASSERT_EQUAL_FATAL(it.prog.roles[0].n_tasks, other.prog.roles[0].n_tasks);
		for (uint32_t k = 0; k < it.prog.roles[0].n_tasks; k++) {
			const struct prog_task *t = &it.prog.roles[0].tasks[k];
			const struct prog_task *o = &other.prog.roles[0].tasks[k];
			CU_ASSERT_EQUAL(t->n_after, k > 0);
			CU_ASSERT_TRUE(k == 0 || t->after[0] == k - 1);
			CU_ASSERT_EQUAL(t->bytes, o->bytes);
			CU_ASSERT_EQUAL(prog_group_size(&it.prog, t->group),
				prog_group_size(&other.prog, o->group));
		}
	}
	arena_free(&a);
}

/* Computation stands where its layer is, once each way. */
static void test_compute(void)
{
	struct arena a = {0};
	struct shape s = {1440, 12, 0, 96, 48};
	struct scheme_model m = read_shape(&a, "gpt2-xl", &s);
	struct grid_times times[5] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}};
	struct scheme_question q = {
		.model = &m, .batch = 48, .pr = 4, .pc = 1, .word_bytes = 2, .times = times};
	static const char *const names[] = {"megatron", "fsdp", "summa-2d", "ulysses", "zero-2"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct iteration it = schedule(&a, names[i], &q);
		tick sum = 0;
		for (uint32_t k = 0; k < it.prog.roles[0].n_tasks; k++)
			if (it.terms[k] == TERM_COMPUTE)
				sum += it.prog.roles[0].tasks[k].duration;
		CU_ASSERT_EQUAL(sum, 120);
	}
	arena_free(&a);
}

static double memory_of(const struct scheme_model *m, const char *scheme, uint32_t pr)
{
	struct scheme_question q = {.model = m, .batch = 48, .pr = pr, .pc = 2, .word_bytes = 4};
	return scheme_memory_bytes(get(scheme), &q, 3);
}

/* Weights, gradients and momentum, and the inputs and outputs of layers. */
static void test_memory(void)
{
	struct arena a = {0};
	struct shape s = {1440, 12, 0, 96, 48};
	struct scheme_model m = read_shape(&a, "gpt2-xl", &s);
	const struct grid_layer *head = &m.layers[4].grid;
	double h = 1440, v = (double)head->outputs, bsh = 24.0 * 96 * h, bsv = 24.0 * 96 * v;
	double w = 12 * h * h + h * v, acts = 16 * bsh + bsh + bsv;
	check_near(memory_of(&m, "fsdp", 8), 4 * (3 * w + acts) / 8, "fsdp");
	check_near(memory_of(&m, "zero-2", 8), 4 * (w + (2 * w + acts) / 8), "zero-2");
	check_near(memory_of(&m, "summa-2d", 9), 4 * (3 * w + acts) / 9, "summa-2d");
	check_near(memory_of(&m, "tesseract-2.5d", 8), 4 * (3 * w / 4 + acts / 8), "tesseract");
	check_near(memory_of(&m, "cube-3d", 8), 4 * (3 * w + acts) / 8, "cube-3d");
	check_near(memory_of(&m, "context-ring", 8), 4 * (3 * w + acts / 8), "context-ring");
	check_near(memory_of(&m, "megatron-sp", 4), 4 * (3 * w + acts) / 4, "megatron-sp");
	/* Inputs and outputs of pairs and the head's input are whole. */
	check_near(memory_of(&m, "megatron", 4), 4 * (3 * w / 4 + 5 * bsh + (12 * bsh + bsv) / 4),
		"megatron");
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"volumes of a transformer layer", test_volumes},
		{"volumes with grouped queries", test_grouped_queries},
		{"volume of experts", test_expert_volume},
		{"collectives of sliced graphs", test_sliced_graphs},
		{"models", test_models},
		{"pairs of layers", test_pairs_of_layers},
		{"refusals", test_refusals},
		{"names", test_names},
		{"depths", test_depths},
		{"lockstep", test_lockstep},
		{"computation", test_compute},
		{"memory", test_memory},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan_scheme", tests);
}
