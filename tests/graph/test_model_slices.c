/* Tensor parallelism of grouped queries, SwiGLU, experts, embedding tables; programs that are no
 * networks. */
#include "fixture.h"

struct totals {
	uint64_t bytes[N_PASSES];
	uint32_t n[N_PASSES];
};

/* All-reduces of the operators of `layer`. */
static struct totals collectives(const struct graph *g, uint32_t layer)
{
	struct totals sum = {0};
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		if (op->work.core != CORE_LINK || op->layer != layer)
			continue;
		CU_ASSERT_EQUAL(op->work.link, LINK_ALLREDUCE);
		sum.bytes[op->pass] += op->work.collective_bytes;
		sum.n[op->pass]++;
	}
	return sum;
}

static struct graph train(struct arena *a, const struct graph *g)
{
	struct graph fused, t;
	graph_fuse(a, g, &fused);
	graph_train(a, &fused, &(struct train_options){OPTIMIZER_SGD}, &t);
	return t;
}

/* A layer in the middle: attention and MLP, each one all-reduce of [batch, seq, hidden] on the
 * way forward and one on the way back, in two bytes (Megatron's f and g). The three projections
 * and the two of SwiGLU share theirs. */
static void check_llama(const char *model, const char *overrides, uint32_t tp, uint64_t hidden)
{
	struct arena a = {0};
	struct graph whole = read_model(&a, model, overrides, 1), w = train(&a, &whole);
	struct graph g = read_model(&a, model, overrides, tp), t = train(&a, &g);
	uint64_t bytes = g.tokens_per_sample * hidden * 2;
	struct totals sum = collectives(&t, 1);
	CU_ASSERT_EQUAL(g.parameters, whole.parameters);
	CU_ASSERT_EQUAL(tp * graph_macs(&g, ALL_PASSES), graph_macs(&whole, ALL_PASSES));
	CU_ASSERT_EQUAL(tp * graph_macs(&t, ALL_PASSES), graph_macs(&w, ALL_PASSES));
	CU_ASSERT_EQUAL(graph_macs(&w, ALL_PASSES), 3 * graph_macs(&whole, ALL_PASSES));
	CU_ASSERT_EQUAL(sum.n[PASS_FORWARD], 2);
	CU_ASSERT_EQUAL(sum.n[PASS_BACKWARD_DATA], 2);
	CU_ASSERT_EQUAL(sum.bytes[PASS_FORWARD], 2 * bytes);
	CU_ASSERT_EQUAL(sum.bytes[PASS_BACKWARD_DATA], 2 * bytes);
	/* norms stand on every device, the rest is sliced */
	struct graph_memory m = graph_layer_memory(&g, 1, 2),
			    one = graph_layer_memory(&whole, 1, 2);
	CU_ASSERT_EQUAL(
		tp * (m.parameter_elements - 2 * hidden), one.parameter_elements - 2 * hidden);
	arena_free(&a);
}

static void test_llama(void)
{
	check_llama("llama2-7b", "layers=3,seq=512", 2, 4096);
	check_llama("llama2-7b", "layers=3,seq=512", 32, 4096);
	check_llama("llama2-70b", "layers=3,seq=256", 8, 8192);
}

static void test_grouped(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "llama2-70b", "layers=1", 8);
	const struct op *scores = get_op(&g, "block.0.scores");
	/* one group of 8 heads on each device, its key read once */
	CU_ASSERT_EQUAL(scores->work.batch * scores->work.m, 8 * 4096);
	CU_ASSERT_EQUAL(scores->work.n, 4096);
	CU_ASSERT_EQUAL(scores->work.k, 128);
	CU_ASSERT_EQUAL(scores->work.b_bytes, 2 * 4096 * 128);
	CU_ASSERT_EQUAL(get_op(&g, "block.0.k_projection")->work.n, 128);
	CU_ASSERT_EQUAL(get_op(&g, "block.0.q_projection")->work.n, 1024);
	CU_ASSERT_EQUAL(get_op(&g, "block.0.gate")->work.n, 3584);
	CU_ASSERT_EQUAL(get_op(&g, "block.0.down")->work.k, 3584);
	arena_free(&a);
}

/* Two of eight experts for each token: each expert takes a quarter of the tokens, in slices of
 * its MLP. The sum over the devices comes after the sum over the experts; on the way back
 * gradients of tokens and of weights are summed. */
static void test_experts(void)
{
	struct arena a = {0};
	const char *overrides = "layers=3,seq=512";
	struct graph whole = read_model(&a, "mixtral-8x7b", overrides, 1), w = train(&a, &whole);
	struct graph g = read_model(&a, "mixtral-8x7b", overrides, 4), t = train(&a, &g);
	const struct op *gate = get_op(&g, "block.1.gate"), *down = get_op(&g, "block.1.down");
	CU_ASSERT_EQUAL(gate->work.batch, 8);
	CU_ASSERT_EQUAL(gate->work.m, 128);
	CU_ASSERT_EQUAL(gate->work.n, 3584);
	CU_ASSERT_EQUAL(gate->work.k, 4096);
	CU_ASSERT_EQUAL(down->work.k, 3584);
	CU_ASSERT_EQUAL(get_op(&g, "block.1.router")->work.n, 8); /* on every device */
	struct totals sum = collectives(&t, 1);
	uint64_t bytes = UINT64_C(512) * 4096 * 2;
	CU_ASSERT_EQUAL(sum.n[PASS_FORWARD], 2);
	CU_ASSERT_EQUAL(sum.bytes[PASS_FORWARD], 2 * bytes);
	CU_ASSERT_EQUAL(sum.n[PASS_BACKWARD_DATA], 3);
	CU_ASSERT_EQUAL(sum.bytes[PASS_BACKWARD_DATA], 2 * bytes + 512 * 2 * 2);
	uint64_t router = UINT64_C(3) * 512 * 4096 * 8;
	CU_ASSERT_EQUAL(
		4 * (graph_macs(&g, ALL_PASSES) - router), graph_macs(&whole, ALL_PASSES) - router);
	CU_ASSERT_EQUAL(graph_macs(&w, ALL_PASSES), 3 * graph_macs(&whole, ALL_PASSES));
	CU_ASSERT_EQUAL(g.parameters, whole.parameters);
	uint64_t same = UINT64_C(2) * 4096 + 4096 * 8; /* norms and router */
	CU_ASSERT_EQUAL(4 * (graph_layer_memory(&g, 1, 2).parameter_elements - same),
		graph_layer_memory(&whole, 1, 2).parameter_elements - same);
	/* the router learns: its gradient comes through the weights */
	CU_ASSERT_PTR_NOT_NULL(find_op(&t, "block.1.router/dW"));
	CU_ASSERT_PTR_NOT_NULL(find_op(&t, "block.1.gate_weight/update"));
	arena_free(&a);
}

/* Rows of each table over the devices, padded; MLPs on every device. */
static void test_tables(void)
{
	struct arena a = {0};
	struct graph whole = read_model(&a, "dlrm", NULL, 1), g = read_model(&a, "dlrm", NULL, 4);
	CU_ASSERT_EQUAL(g.parameters, whole.parameters);
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), graph_macs(&whole, ALL_PASSES));
	struct totals sum = collectives(&g, 1);
	CU_ASSERT_EQUAL(sum.n[PASS_FORWARD], 26);
	CU_ASSERT_EQUAL(sum.bytes[PASS_FORWARD], 26 * 16 * 2);
	CU_ASSERT_EQUAL(g.tensors[get_op(&g, "interaction.table8")->inputs[1]].dims[0], 1);
	arena_free(&a);
}

/* Sequence parallelism (arXiv 2205.05198): each all-reduce becomes an all-gather and a
 * reduce-scatter of the same bytes; products are what they were. */
static void check_sequence(const char *model, uint32_t tp)
{
	struct arena a = {0};
	struct err err = {0};
	struct graph g, plain;
	struct graph_options o = {.batch = 2, .tp = tp};
	CU_ASSERT_TRUE_FATAL(graph_parse_overrides(&a, "layers=3,seq=640", &o, &err));
	CU_ASSERT_TRUE_FATAL(graph_read(&a, model_path(&a, model), &o, &plain, &err));
	o.batch = 2;
	o.sequence_parallel = true;
	bool ok = graph_read(&a, model_path(&a, model), &o, &g, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), graph_macs(&plain, ALL_PASSES));
	CU_ASSERT_EQUAL(g.parameters, plain.parameters);
	uint64_t gathered = 0, scattered = 0, reduced = collectives(&plain, 1).bytes[PASS_FORWARD];
	for (uint32_t i = 0; i < g.n_ops; i++) {
		const struct work *w = &g.ops[i].work;
		if (w->core != CORE_LINK || g.ops[i].layer != 1)
			continue;
		gathered += w->link == LINK_ALLGATHER ? w->collective_bytes : 0;
		scattered += w->link == LINK_REDUCESCATTER ? w->collective_bytes : 0;
	}
	CU_ASSERT_EQUAL(gathered, reduced);
	CU_ASSERT_EQUAL(scattered, reduced);
	CU_ASSERT_TRUE(graph_layer_memory(&g, 1, 2).activation_bytes <
		       graph_layer_memory(&plain, 1, 2).activation_bytes);
	arena_free(&a);
}

static void test_sequence(void)
{
	static const char *const models[] = {
		"gpt2-xl", "gpt3", "llama2-70b", "llama2-7b", "megatron-gpt", "opt-1.3b"};
	for (size_t i = 1; i < 6; i++)
		check_sequence(models[i], 8);
	check_sequence(models[0], 5);
}

/* Block conjugate gradient: 128^3 points, 16 right-hand sides, doubles. */
static void test_conjugate_gradient(void)
{
	struct arena a = {0};
	const uint64_t points = UINT64_C(128) * 128 * 128, rhs = 16;
	struct graph g = read_model(&a, "conjugate-gradient", "iterations=3", 1);
	CU_ASSERT_EQUAL(g.parameters, 0);
	CU_ASSERT_EQUAL(g.n_layers, 3);
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), 3 * 5 * points * rhs * rhs);
	struct graph t = train(&a, &g);
	CU_ASSERT_EQUAL(t.n_ops, g.n_ops); /* nothing is trained */
	const struct op *stencil = get_op(&g, "iteration.1.q");
	CU_ASSERT_EQUAL(stencil->work.vector[0].numel, points * rhs);
	CU_ASSERT_EQUAL(stencil->work.vector_read_bytes, 8 * points * rhs);
	CU_ASSERT_EQUAL(get_op(&g, "iteration.1.x")->work.a_bytes, 8 * points * rhs);
	g = read_model(&a, "conjugate-gradient", NULL, 4);
	struct totals sum = collectives(&g, 1);
	CU_ASSERT_EQUAL(sum.n[PASS_FORWARD], 2);
	CU_ASSERT_EQUAL(sum.bytes[PASS_FORWARD], 2 * 8 * rhs * rhs);
	CU_ASSERT_EQUAL(4 * graph_macs(&g, ALL_PASSES), 4 * 5 * points * rhs * rhs);
	arena_free(&a);
}

/* Backward is twice forward on matrix products, where every input needs a gradient. The first
 * product of a network that reads samples needs no dX. */
static void test_backward(void)
{
	static const char *const twice[] = {"bert-base", "conjugate-gradient", "gnmt4", "gpt2-xl",
		"llama2-7b", "mixtral-8x7b", "opt-1.3b"};
	static const char *const less[] = {"alexnet", "dlrm", "inception-v3", "mobilenet-v3",
		"resnet18", "resnet50", "resnext101", "vgg16"};
	for (size_t i = 0; i < 7; i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, twice[i], NULL, 1), t = train(&a, &g);
		uint64_t passes = g.parameters > 0 ? 3 : 1;
		CU_ASSERT_EQUAL(graph_macs(&t, ALL_PASSES), passes * graph_macs(&g, ALL_PASSES));
		arena_free(&a);
	}
	for (size_t i = 0; i < 8; i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, less[i], NULL, 1), t = train(&a, &g);
		uint64_t first = 0; /* of the first product on the way from the samples */
		for (uint32_t j = 0; j < g.n_ops && first == 0; j++)
			first = g.ops[j].work.batch * g.ops[j].work.m * g.ops[j].work.n *
				g.ops[j].work.k;
		CU_ASSERT_EQUAL(graph_macs(&t, ALL_PASSES), 3 * graph_macs(&g, ALL_PASSES) - first);
		arena_free(&a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {{"llama", test_llama}, {"grouped queries", test_grouped},
		{"experts", test_experts}, {"tables", test_tables},
		{"conjugate gradient", test_conjugate_gradient}, {"sequence", test_sequence},
		{"backward", test_backward}, CU_TEST_INFO_NULL};
	return suite_run("model slices", tests);
}
