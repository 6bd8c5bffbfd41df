#include "fixture.h"

#include "base/rng.h"

static struct graph train(struct arena *a, const struct graph *g, enum optimizer optimizer)
{
	struct graph out;
	graph_train(a, g, &(struct train_options){optimizer}, &out);
	return out;
}

static bool follows(const struct graph *g, const struct op *op, const char *pred)
{
	for (uint32_t i = 0; i < op->n_preds; i++)
		if (strcmp(g->ops[op->preds[i]].name, pred) == 0)
			return true;
	return false;
}

static void check_gemm(const struct op *op, uint64_t m, uint64_t n, uint64_t k)
{
	CU_ASSERT_EQUAL(op->work.core, CORE_TC);
	CU_ASSERT_EQUAL(op->work.m, m);
	CU_ASSERT_EQUAL(op->work.n, n);
	CU_ASSERT_EQUAL(op->work.k, k);
}

static void test_chain(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 10, 4),
		  w1 = TENSOR(&f, "w1", TENSOR_PARAM, 4, 6);
	tensor_id b1 = TENSOR(&f, "b1", TENSOR_PARAM, 6), w2 = TENSOR(&f, "w2", TENSOR_PARAM, 6, 3);
	tensor_id h = OP(&f, "gelu", "act", NULL, OP(&f, "gemm", "g1", NULL, x, w1, b1));
	OP(&f, "cross_entropy", "loss", NULL, OP(&f, "gemm", "g2", NULL, h, w2));
	struct graph g = fixture_finish(&f), t = train(&f.a, &g, OPTIMIZER_ADAM);
	const char *names[] = {"g1", "act", "g2", "loss", "loss/dX", "g2/dX", "g2/dW", "act/dX",
		"g1/dW", "w1/update", "b1/update", "w2/update"};
	CU_ASSERT_EQUAL_FATAL(t.n_ops, 12);
	for (uint32_t i = 0; i < 12; i++)
		CU_ASSERT_STRING_EQUAL(t.ops[i].name, names[i]);
	check_gemm(get_op(&t, "g2/dX"), 10, 6, 3);
	check_gemm(get_op(&t, "g2/dW"), 6, 3, 10);
	check_gemm(get_op(&t, "g1/dW"), 4, 6, 10);
	const struct work *dw = &get_op(&t, "g2/dW")->work;
	CU_ASSERT_TRUE(dw->a_bytes == 120 && dw->b_bytes == 60 && dw->c_bytes == 36);
	CU_ASSERT_EQUAL(get_op(&t, "g1/dW")->work.vector_write_bytes, 12); /* of the bias */
	CU_ASSERT_EQUAL(get_op(&t, "g2/dW")->pass, PASS_BACKWARD_WEIGHT);
	CU_ASSERT_EQUAL(get_op(&t, "loss/dX")->pass, PASS_BACKWARD_DATA);
	CU_ASSERT_EQUAL(get_op(&t, "w2/update")->pass, PASS_UPDATE);
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "loss/dX"), "loss"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "g2/dW"), "loss/dX"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "act/dX"), "g2/dX"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "b1/update"), "g1/dW"));
	CU_ASSERT_EQUAL(get_op(&t, "act/dX")->forward, 1);
	CU_ASSERT_EQUAL(get_op(&t, "act/dX")->work.vector[0].lane_cycles, 22);
	CU_ASSERT_EQUAL(get_op(&t, "act/dX")->work.vector_read_bytes, 240); /* dy and x */
	CU_ASSERT_EQUAL(get_op(&t, "act/dX")->work.vector_write_bytes, 120);
	CU_ASSERT_EQUAL(get_op(&t, "w1/update")->work.vector[0].numel, 24);
	CU_ASSERT_EQUAL(get_op(&t, "w1/update")->work.vector_read_bytes, UINT64_C(24) * 14);
	arena_free(&f.a);
}

/* y = gelu(x w) + x w: two gradients of one tensor meet in a sum. */
static void test_sum(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 10, 4), w = TENSOR(&f, "w", TENSOR_PARAM, 4, 6);
	tensor_id h = OP(&f, "gemm", "g", NULL, x, w), a = OP(&f, "gelu", "act", NULL, h);
	OP(&f, "add", "res", NULL, a, h);
	struct graph g = fixture_finish(&f), t = train(&f.a, &g, OPTIMIZER_SGD);
	const struct op *sum = get_op(&t, "g/sum"), *back = get_op(&t, "res/dX");
	CU_ASSERT_EQUAL(sum->n_preds, 2);
	CU_ASSERT_TRUE(follows(&t, sum, "res/dX") && follows(&t, sum, "act/dX"));
	CU_ASSERT_EQUAL(sum->work.n_vector, 1);
	CU_ASSERT_EQUAL(sum->work.vector[0].lane_cycles, 1);
	CU_ASSERT_EQUAL(sum->work.vector[0].numel, 60);
	CU_ASSERT_EQUAL(sum->work.vector_read_bytes, 240);
	CU_ASSERT_EQUAL(back->work.n_vector, 2); /* WHAM: one pass for each gradient of a sum */
	CU_ASSERT_EQUAL(back->work.vector_write_bytes, 0);
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "g/dW"), "g/sum"));
	arena_free(&f.a);
}

static void test_tied(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id ids = TENSOR(&f, "ids", TENSOR_INPUT, 10),
		  w = TENSOR(&f, "w", TENSOR_PARAM, 50, 8);
	tensor_id v = TENSOR(&f, "v", TENSOR_PARAM, 8, 8);
	struct op_attrs tied = {.transpose_b = true};
	tensor_id h = OP(&f, "gemm", "h2", NULL,
		OP(&f, "gemm", "h1", NULL, OP(&f, "embedding", "emb", NULL, ids, w), v), v);
	OP(&f, "cross_entropy", "loss", NULL, OP(&f, "gemm", "head", &tied, h, w));
	struct graph g = fixture_finish(&f), t = train(&f.a, &g, OPTIMIZER_SGD);
	uint32_t updates = 0;
	for (uint32_t i = 0; i < t.n_ops; i++)
		updates += t.ops[i].pass == PASS_UPDATE;
	CU_ASSERT_EQUAL(updates, 2);
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "w/update"), "head/dW"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "w/update"), "emb/dW"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "v/update"), "v/sum"));
	CU_ASSERT_EQUAL(get_op(&t, "v/sum")->pass, PASS_BACKWARD_WEIGHT);
	check_gemm(get_op(&t, "head/dW"), 8, 50, 10);
	CU_ASSERT_EQUAL(get_op(&t, "w/update")->forward, 0);
	arena_free(&f.a);
}

static void test_attention(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 10, 8),
		  w = TENSOR(&f, "w", TENSOR_PARAM, 8, 24);
	struct op_attrs three = {.axis = 1, .shape = {8, 8, 8}, .n_shape = 3};
	tensor_id q = OP(&f, "split", "qkv", &three, OP(&f, "gemm", "g", NULL, x, w));
	struct op_attrs swap = {.transpose_b = true}, axis = {.axis = 1};
	tensor_id s = OP(&f, "softmax", "soft", &axis, OP(&f, "matmul", "qk", &swap, q, q + 1));
	OP(&f, "matmul", "av", NULL, s, q + 2);
	struct graph g = fixture_finish(&f), t = train(&f.a, &g, OPTIMIZER_SGD);
	check_gemm(get_op(&t, "av/dA"), 10, 10, 8);
	check_gemm(get_op(&t, "av/dB"), 10, 8, 10);
	CU_ASSERT_EQUAL(get_op(&t, "av/dB")->pass, PASS_BACKWARD_DATA);
	const struct op *split = get_op(&t, "qkv/dX");
	CU_ASSERT_EQUAL(split->work.core, CORE_NONE);
	CU_ASSERT_EQUAL(split->n_preds, 3);
	CU_ASSERT_PTR_NULL(find_op(&t, "g/dX"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "g/dW"), "qkv/dX"));
	arena_free(&f.a);
}

/* A fused operator goes back by one vector operator for its tail, then dX and dW. */
static void test_fused(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 2, 4, 6, 6);
	tensor_id w1 = TENSOR(&f, "w1", TENSOR_PARAM, 8, 4, 1, 1);
	tensor_id w2 = TENSOR(&f, "w2", TENSOR_PARAM, 8, 8, 1, 1);
	tensor_id s = TENSOR(&f, "s", TENSOR_PARAM, 8), b = TENSOR(&f, "b", TENSOR_PARAM, 8);
	tensor_id y = OP(&f, "conv", "c2", NULL, OP(&f, "conv", "c1", NULL, x, w1), w2);
	OP(&f, "relu", "r", NULL, OP(&f, "batch_norm", "n", NULL, y, s, b));
	struct graph g = fixture_finish(&f), fused;
	graph_fuse(&f.a, &g, &fused);
	struct graph t = train(&f.a, &fused, OPTIMIZER_MOMENTUM);
	const struct op *tail = get_op(&t, "c2/dtail"), *dx = get_op(&t, "c2/dX");
	const uint64_t y_bytes = UINT64_C(2) * 8 * 36 * 2;
	CU_ASSERT_EQUAL(tail->work.core, CORE_VC);
	CU_ASSERT_EQUAL(tail->work.n_vector, 2);
	/* output of relu, input of norm, scale and shift; this is the end, so no dy */
	CU_ASSERT_EQUAL(tail->work.vector_read_bytes, 2 * y_bytes + 32);
	CU_ASSERT_EQUAL(tail->work.vector_write_bytes, y_bytes + 32);
	CU_ASSERT_TRUE(follows(&t, dx, "c2/dtail"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "c2/dW"), "c2/dtail"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "s/update"), "c2/dtail"));
	CU_ASSERT_TRUE(follows(&t, get_op(&t, "c1/dW"), "c2/dX"));
	CU_ASSERT_EQUAL(dx->work.conv.in_channels, 8);
	/* the norm's input is written although it stays inside */
	CU_ASSERT_EQUAL(fused.ops[1].work.vector_write_bytes, 0);
	CU_ASSERT_EQUAL(t.ops[1].work.vector_write_bytes, y_bytes);
	arena_free(&f.a);
}

static void check_order(const struct graph *g)
{
	uint32_t bad = 0;
	enum op_pass last = PASS_FORWARD;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		for (uint32_t p = 0; p < op->n_preds; p++)
			bad += op->preds[p] >= i || (p > 0 && op->preds[p] <= op->preds[p - 1]);
		bad += op->layer >= g->n_layers;
		bad += g->ops[op->forward].pass != PASS_FORWARD;
		bad += op->pass == PASS_FORWARD && op->forward != i;
		bad += op->pass != PASS_FORWARD && op->n_preds == 0;
		bad += op->pass == PASS_FORWARD && last != PASS_FORWARD;
		bad += op->pass != PASS_UPDATE && last == PASS_UPDATE;
		last = op->pass;
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void check_unique_names(struct arena *a, const struct graph *g)
{
	const char **names = arena_array(a, g->n_ops, const char *);
	for (uint32_t i = 0; i < g->n_ops; i++)
		names[i] = g->ops[i].name;
	uint32_t same = 0;
	for (uint32_t i = 0; i < g->n_ops; i++)
		for (uint32_t j = i + 1; j < g->n_ops; j++)
			same += strcmp(names[i], names[j]) == 0;
	CU_ASSERT_EQUAL(same, 0);
}

/* Lane cycles of all passes, on one lane: what fusion must not change. */
static uint64_t lane_cycles(const struct graph *g)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < g->n_ops; i++)
		for (uint32_t v = 0; v < g->ops[i].work.n_vector; v++)
			sum += g->ops[i].work.vector[v].numel *
			       g->ops[i].work.vector[v].lane_cycles;
	return sum;
}

static uint64_t vector_bytes(const struct graph *g)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < g->n_ops; i++)
		sum += g->ops[i].work.vector_read_bytes + g->ops[i].work.vector_write_bytes;
	return sum;
}

static const struct {
	const char *name, *overrides;
	const char *first; /* what takes a sample and so has no dX; NULL: a table does */
} models[] = {{"alexnet", NULL, "conv1.conv"}, {"bert-base", "layers=2", NULL},
	{"bert-large", "layers=3,seq=128", NULL}, {"gpt2-xl", "layers=2", NULL},
	{"megatron-gpt", "layers=2,kv_heads=8", NULL}, {"resnet18", NULL, "stem.conv"},
	{"resnet50", "batch=2", "stem.conv"}, {"vgg16", NULL, "conv1_1.conv"}};

static void test_models(void)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, models[i].name, models[i].overrides, 1), fused;
		graph_fuse(&a, &g, &fused);
		struct graph t = train(&a, &g, OPTIMIZER_ADAM),
			     ft = train(&a, &fused, OPTIMIZER_ADAM);
		uint64_t forward = graph_macs(&g, ALL_PASSES), skipped = 0;
		check_order(&g);
		check_order(&fused);
		check_order(&t);
		check_order(&ft);
		check_unique_names(&a, &t);
		check_unique_names(&a, &ft);
		if (models[i].first) {
			const struct work *w = &get_op(&g, models[i].first)->work;
			skipped = w->batch * w->m * w->n * w->k;
		}
		CU_ASSERT_EQUAL(graph_macs(&t, ALL_PASSES), 3 * forward - skipped);
		CU_ASSERT_EQUAL(
			graph_macs(&t, 1u << PASS_BACKWARD_WEIGHT | 1u << PASS_BACKWARD_DATA),
			2 * forward - skipped);
		CU_ASSERT_EQUAL(graph_macs(&ft, ALL_PASSES), graph_macs(&t, ALL_PASSES));
		CU_ASSERT_EQUAL(lane_cycles(&ft), lane_cycles(&t));
		CU_ASSERT_TRUE(vector_bytes(&ft) < vector_bytes(&t));
		arena_free(&a);
	}
}

static tensor_id random_op(struct fixture *f, struct rng *rng, const tensor_id *made, uint32_t n)
{
	static const char *const unary[] = {
		"relu", "gelu", "dropout", "sqrt", "identity", "softmax"};
	static const char *const binary[] = {"add", "mul", "sub", "div"};
	const char *name = arena_printf(&f->a, "op%u", f->b.n_ops);
	tensor_id x = made[rng_below(rng, n)], y = made[rng_below(rng, n)];
	struct op_attrs attrs = {.axis = 1, .transpose_b = true};
	tensor_id w;
	switch (rng_below(rng, 4)) {
	case 0:
		w = TENSOR(f, arena_printf(&f->a, "w%u", f->b.n_ops), TENSOR_PARAM, 8, 8);
		return OP(f, "gemm", name, NULL, x, w);
	case 1:
		return OP(f, "matmul", name, &attrs, x, y);
	case 2:
		return OP(f, binary[rng_below(rng, 4)], name, NULL, x, y);
	default:
		return OP(f, unary[rng_below(rng, 6)], name, &attrs, x);
	}
}

/* Graphs of all kinds of forks, joins and dead ends over 8 x 8 tensors keep every rule. */
static void test_random(void)
{
	struct rng rng;
	rng_init(&rng, 7);
	for (int round = 0; round < 200; round++) {
		struct fixture f;
		fixture_init(&f);
		tensor_id made[41] = {TENSOR(&f, "x", TENSOR_INPUT, 8, 8)};
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 40);
		for (uint32_t i = 0; i < n; i++)
			made[i + 1] = random_op(&f, &rng, made, i + 1);
		struct graph g = fixture_finish(&f), fused;
		graph_fuse(&f.a, &g, &fused);
		struct graph t = train(&f.a, &g, OPTIMIZER_SGD),
			     ft = train(&f.a, &fused, OPTIMIZER_SGD);
		check_order(&t);
		check_order(&ft);
		check_unique_names(&f.a, &t);
		check_unique_names(&f.a, &ft);
		CU_ASSERT_EQUAL(graph_macs(&t, ALL_PASSES), graph_macs(&ft, ALL_PASSES));
		CU_ASSERT_EQUAL(lane_cycles(&t), lane_cycles(&ft));
		CU_ASSERT_EQUAL(graph_layer_memory(&g, 0, 1).activation_bytes,
			graph_layer_memory(&ft, 0, 1).activation_bytes);
		arena_free(&f.a);
	}
}

/* One update for each parameter tensor, of all its elements. */
static void test_updates(void)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, models[i].name, models[i].overrides, 1);
		struct graph t = train(&a, &g, OPTIMIZER_SGD);
		uint64_t elements = 0, read = 0;
		for (uint32_t j = 0; j < t.n_ops; j++)
			if (t.ops[j].pass == PASS_UPDATE) {
				elements += t.ops[j].work.vector[0].numel;
				read += t.ops[j].work.vector_read_bytes;
			}
		CU_ASSERT_EQUAL(elements, g.parameters);
		CU_ASSERT_EQUAL(read, 6 * g.parameters); /* fp32 weight and bf16 gradient */
		arena_free(&a);
	}
}

static void test_select(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "bert-base", "layers=4,seq=128", 1);
	struct graph t = train(&a, &g, OPTIMIZER_ADAM);
	uint32_t total = 0;
	for (uint32_t layer = 0; layer < 4; layer++)
		for (uint32_t pass = 0; pass < N_PASSES; pass++) {
			op_id *ids;
			uint32_t n = graph_select(&a, &t, layer, layer + 1, 1u << pass, &ids),
				 bad = 0;
			CU_ASSERT_TRUE(n > 0);
			for (uint32_t i = 0; i < n; i++)
				bad += t.ops[ids[i]].layer != layer || t.ops[ids[i]].pass != pass ||
				       (i > 0 && ids[i] <= ids[i - 1]);
			CU_ASSERT_EQUAL(bad, 0);
			total += n;
		}
	CU_ASSERT_EQUAL(total, t.n_ops);
	CU_ASSERT_STRING_EQUAL(op_pass_name(PASS_BACKWARD_WEIGHT), "dW");
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"chain", test_chain}, {"sum", test_sum}, {"tied", test_tied},
		{"attention", test_attention}, {"fused", test_fused}, {"models", test_models},
		{"random", test_random}, {"updates", test_updates}, {"select", test_select},
		CU_TEST_INFO_NULL};
	return suite_run("train", tests);
}
