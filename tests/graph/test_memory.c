#include "fixture.h"

/* Korthikanti et al. 2022 (arXiv 2205.05198), equation 2: bytes of activations of one layer with
 * 16-bit elements, s b h (10 + 24/t + 5 a s / (h t)); without the attention core the last term
 * falls away. */
static uint64_t korthikanti(uint64_t s, uint64_t b, uint64_t h, uint64_t a, uint64_t t)
{
	return s * b * h * 10 + s * b * h * 24 / t + 5 * a * s * s * b / t;
}

static void check_layer(
	const char *overrides, uint64_t s, uint64_t b, uint64_t h, uint64_t heads, uint32_t tp)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "megatron-gpt", overrides, tp), fused, trained;
	graph_fuse(&a, &g, &fused);
	graph_train(&a, &fused, &(struct train_options){OPTIMIZER_ADAM}, &trained);
	const struct graph *forms[] = {&g, &fused, &trained};
	for (int i = 0; i < 3; i++) {
		struct graph_memory m = graph_layer_memory(forms[i], 1, 2);
		double want = (double)korthikanti(s, b, h, heads, tp);
		double selective = (double)korthikanti(s, b, h, 0, tp);
		CU_ASSERT_DOUBLE_EQUAL((double)m.activation_bytes, want, 0.001 * want);
		CU_ASSERT_DOUBLE_EQUAL(
			(double)m.activation_selective_bytes, selective, 0.001 * selective);
		CU_ASSERT_EQUAL(m.boundary_bytes, 2 * s * b * h);
		CU_ASSERT_EQUAL(m.parameter_elements, 12 * h * h / tp + 7 * h / tp + 6 * h);
	}
	arena_free(&a);
}

static void test_megatron(void)
{
	check_layer("layers=3", 2048, 1, 2304, 24, 1);
	check_layer("layers=3,hidden=6144,heads=64,batch=4", 2048, 4, 6144, 64, 8);
	check_layer("layers=3,hidden=1024,heads=16,seq=512,batch=3", 512, 3, 1024, 16, 2);
}

/* Megatron-LM's 22B model on 8 devices: 59.25 GiB for its 48 layers (same paper, table 2 and
 * equation 2). */
static void test_22b(void)
{
	struct arena a = {0};
	struct graph g =
		read_model(&a, "megatron-gpt", "layers=48,hidden=6144,heads=64,batch=4", 8);
	struct graph_memory m = graph_layer_memory(&g, 1, 47);
	CU_ASSERT_DOUBLE_EQUAL((double)m.activation_bytes * 48 / 46 / 0x1p30, 59.25, 0.06);
	arena_free(&a);
}

static struct graph read_sequence_parallel(struct arena *a, const char *overrides, uint32_t tp)
{
	struct graph g = {0};
	struct err err = {0};
	struct graph_options o = {.tp = tp, .sequence_parallel = true};
	bool ok = graph_parse_overrides(a, overrides, &o, &err) &&
		  graph_read(a, model_path(a, "megatron-gpt"), &o, &g, &err);
	if (!ok)
		printf("%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	return g;
}

/* Equation 4 of the same paper: all of s b h (34 + 5 a s / h) is divided by t, also what goes from
 * layer to layer. */
static void test_sequence_parallel(void)
{
	struct arena a = {0};
	const uint64_t s = 2048, b = 4, h = 6144, heads = 64, t = 8;
	struct graph g =
		read_sequence_parallel(&a, "layers=3,hidden=6144,heads=64,batch=4", (uint32_t)t);
	struct graph fused, trained;
	graph_fuse(&a, &g, &fused);
	graph_train(&a, &fused, &(struct train_options){OPTIMIZER_ADAM}, &trained);
	const struct graph *forms[] = {&g, &fused, &trained};
	for (int i = 0; i < 3; i++) {
		struct graph_memory m = graph_layer_memory(forms[i], 1, 2);
		CU_ASSERT_EQUAL(m.activation_bytes, (34 * s * b * h + 5 * heads * s * s * b) / t);
		CU_ASSERT_EQUAL(m.activation_selective_bytes, 34 * s * b * h / t);
		CU_ASSERT_EQUAL(m.boundary_bytes, 2 * s * b * h / t);
		CU_ASSERT_EQUAL(m.parameter_elements, 12 * h * h / t + 7 * h / t + 6 * h);
	}
	CU_ASSERT_EQUAL(graph_boundary_bytes(&trained, 1), 2 * s * b * h / t);
	struct graph plain = read_model(&a, "megatron-gpt", "layers=3,hidden=6144,heads=64", 8);
	CU_ASSERT_EQUAL(g.parameters, plain.parameters);
	CU_ASSERT_EQUAL(
		graph_macs(&g, 1u << PASS_FORWARD), 4 * graph_macs(&plain, 1u << PASS_FORWARD));
	arena_free(&a);
}

/* Every all-reduce of a layer becomes a reduce-scatter and an all-gather of its bytes, whose
 * gradients are each other's; the loss keeps its all-reduce. */
static void test_sequence_collectives(void)
{
	struct arena a = {0};
	struct graph g = read_sequence_parallel(&a, "layers=3,batch=2", 4), trained;
	graph_train(&a, &g, &(struct train_options){OPTIMIZER_ADAM}, &trained);
	uint64_t bytes[N_PASSES][3] = {{0}};
	const uint64_t x = UINT64_C(2) * 2 * 2048 * 2304;
	for (uint32_t i = 0; i < trained.n_ops; i++) {
		const struct op *op = &trained.ops[i];
		if (op->work.core == CORE_LINK && op->layer == 1)
			bytes[op->pass][op->work.link] += op->work.collective_bytes;
		if (op->work.core == CORE_LINK && op->work.link == LINK_ALLREDUCE)
			CU_ASSERT_STRING_EQUAL(op->name, "head.loss.tp_reduce");
	}
	CU_ASSERT_EQUAL(bytes[PASS_FORWARD][LINK_ALLGATHER], 2 * x);
	CU_ASSERT_EQUAL(bytes[PASS_FORWARD][LINK_REDUCESCATTER], 2 * x);
	CU_ASSERT_EQUAL(bytes[PASS_BACKWARD_DATA][LINK_ALLGATHER], 2 * x);
	CU_ASSERT_EQUAL(bytes[PASS_BACKWARD_DATA][LINK_REDUCESCATTER], 2 * x);
	arena_free(&a);
}

static void test_sequence_refused(void)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	struct graph_options o = {.batch = 1, .tp = 2, .sequence_parallel = true};
	CU_ASSERT_FALSE(graph_read(&a, model_path(&a, "bert-large"), &o, &g, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no sequence parallelism"));
	CU_ASSERT_TRUE(graph_parse_overrides(&a, "seq=33", &o, &err));
	CU_ASSERT_FALSE(graph_read(&a, model_path(&a, "megatron-gpt"), &o, &g, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "33 is not divisible by 2"));
	arena_free(&a);
}

/* The list is what the sums are made of, and each layer alone is what the loop over layers says. */
static void check_lists(const struct graph *g, uint32_t first, uint32_t end)
{
	struct arena a = {0};
	struct graph_memory m = graph_layer_memory(g, first, end);
	struct graph_kept *list;
	uint64_t all = 0, selective = 0, inputs = 0;
	uint32_t n = graph_kept_tensors(&a, g, first, end, &list);
	for (uint32_t i = 0; i < n; i++) {
		CU_ASSERT_TRUE(i == 0 || list[i - 1].bytes >= list[i].bytes);
		all += list[i].bytes;
		selective += list[i].selective ? list[i].bytes : 0;
	}
	n = graph_layer_inputs(&a, g, first, end, &list);
	for (uint32_t i = 0; i < n; i++)
		inputs += list[i].bytes;
	CU_ASSERT_EQUAL(all, m.activation_bytes);
	CU_ASSERT_EQUAL(selective, m.activation_selective_bytes);
	CU_ASSERT_EQUAL(inputs, m.boundary_bytes);
	arena_free(&a);
}

static void test_lists(void)
{
	static const char *const models[] = {"bert-large", "gpt2-xl", "resnet50", "vgg16"};
	struct arena a = {0};
	for (size_t i = 0; i < 4; i++) {
		struct graph g = read_model(&a, models[i], NULL, 1);
		struct graph_memory *each = arena_array(&a, g.n_layers, struct graph_memory);
		check_lists(&g, 0, g.n_layers);
		check_lists(&g, 1, g.n_layers / 2);
		graph_each_layer_memory(&g, 0, g.n_layers, each);
		for (uint32_t l = 0; l < g.n_layers; l++) {
			struct graph_memory m = graph_layer_memory(&g, l, l + 1);
			CU_ASSERT_EQUAL(m.activation_bytes, each[l].activation_bytes);
			CU_ASSERT_EQUAL(
				m.activation_selective_bytes, each[l].activation_selective_bytes);
			CU_ASSERT_EQUAL(m.boundary_bytes, each[l].boundary_bytes);
			CU_ASSERT_EQUAL(m.parameter_elements, each[l].parameter_elements);
		}
	}
	arena_free(&a);
}

static void test_boundary(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "gpt2-xl", "layers=4,batch=2", 1);
	for (uint32_t layer = 1; layer < 4; layer++)
		CU_ASSERT_EQUAL(graph_boundary_bytes(&g, layer), UINT64_C(2) * 1024 * 1600 * 2);
	CU_ASSERT_EQUAL(graph_boundary_bytes(&g, 0), 0);
	CU_ASSERT_EQUAL(graph_boundary_bytes(&g, 4), 0);
	struct graph r = read_model(&a, "resnet50", NULL, 1);
	CU_ASSERT_EQUAL(graph_boundary_bytes(&r, 1), UINT64_C(256) * 56 * 56 * 2);
	CU_ASSERT_EQUAL(graph_boundary_bytes(&r, 3), UINT64_C(256) * 56 * 56 * 2);
	CU_ASSERT_EQUAL(graph_boundary_bytes(&r, 4), UINT64_C(512) * 28 * 28 * 2);
	arena_free(&a);
}

/* Layers hold what the whole holds; a tied tensor is held by both ends. */
static void test_parts_add_up(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "gpt2-xl", "layers=4", 1);
	struct graph_memory whole = graph_layer_memory(&g, 0, 4), sum = {0};
	for (uint32_t i = 0; i < 4; i++) {
		struct graph_memory m = graph_layer_memory(&g, i, i + 1);
		sum.parameter_elements += m.parameter_elements;
		sum.activation_bytes += m.activation_bytes;
	}
	CU_ASSERT_EQUAL(whole.parameter_elements, g.parameters);
	CU_ASSERT_EQUAL(sum.parameter_elements, g.parameters + UINT64_C(50257) * 1600);
	CU_ASSERT_EQUAL(sum.activation_bytes, whole.activation_bytes);
	CU_ASSERT_TRUE(whole.activation_selective_bytes < whole.activation_bytes);
	CU_ASSERT_TRUE(whole.boundary_bytes < whole.activation_selective_bytes);
	arena_free(&a);
}

/* conv (input), norm (its input), relu (its output), pool (positions), gemm (its input), loss
 * (probabilities). */
static void test_small(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 1, 3, 8, 8);
	tensor_id w = TENSOR(&f, "w", TENSOR_PARAM, 4, 3, 1, 1),
		  v = TENSOR(&f, "v", TENSOR_PARAM, 64, 5);
	tensor_id s = TENSOR(&f, "s", TENSOR_PARAM, 4), b = TENSOR(&f, "b", TENSOR_PARAM, 4);
	struct op_attrs pool = {.kernel = {2, 2}, .stride = {2, 2}}, flat = {.axis = 1};
	tensor_id y = OP(&f, "batch_norm", "n", NULL, OP(&f, "conv", "c", NULL, x, w), s, b);
	y = OP(&f, "max_pool", "p", &pool, OP(&f, "relu", "r", NULL, y));
	y = OP(&f, "gemm", "g", NULL, OP(&f, "flatten", "f", &flat, y), v);
	OP(&f, "cross_entropy", "l", NULL, y);
	struct graph g = fixture_finish(&f);
	struct graph_memory m = graph_layer_memory(&g, 0, 1);
	CU_ASSERT_EQUAL(m.activation_bytes, 192 * 2 + 256 * 2 + 256 * 2 + 64 + 64 * 2 + 5 * 4);
	CU_ASSERT_EQUAL(m.parameter_elements, 12 + 8 + 320);
	CU_ASSERT_EQUAL(m.boundary_bytes, UINT64_C(192) * 2);
	arena_free(&f.a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"megatron layer", test_megatron}, {"22B", test_22b},
		{"sequence parallelism", test_sequence_parallel},
		{"its collectives", test_sequence_collectives},
		{"sequence parallelism refused", test_sequence_refused}, {"lists", test_lists},
		{"boundary", test_boundary}, {"parts add up", test_parts_add_up},
		{"small", test_small}, CU_TEST_INFO_NULL};
	return suite_run("memory", tests);
}
