#include "fixture.h"

/* Public parameter counts (Hugging Face bert-base-uncased, bert-large-uncased, gpt2-xl,
 * facebook/opt-1.3b, Llama-2-7b-hf, Llama-2-70b-hf, Mixtral-8x7B-v0.1; torchvision inception_v3,
 * mobilenet_v3_large, resnet18, resnet50, resnext101_32x8d, vgg16; NVIDIA's GNMT v2;
 * dlrm_s_criteo_kaggle) and multiply-accumulates of one sample. */
static const struct {
	const char *name;
	uint64_t parameters, macs;
	uint32_t layers;
} models[] = {
	{"alexnet", 60965224, 724406816,
		8}, /* 665,784,864 of convolutions, 58,621,952 of the rest */
	{"bert-base", 109482240, 0, 12},
	{"bert-large", 335141888, 0, 24},
	{"dlrm", 540677217, 486032, 3},
	{"gnmt4", 160671297, 6378496000, 8},
	{"gpt2-xl", 1557611200, 0, 48},
	{"gpt3", 174604259328, 0, 96},
	{"inception-v3", 27161264, 5718899296, 11},
	{"llama2-70b", 68976648192, 0, 80},
	{"llama2-7b", 6738415616, 0, 32},
	{"megatron-gpt", 1652230656, 0, 24},
	{"mixtral-8x7b", 46702792704, 0, 32},
	{"mobilenet-v3", 5483032, 216589760, 15},
	{"opt-1.3b", 1315758080, 0, 24},
	{"resnet18", 11689512, 1814073344, 8},
	{"resnet50", 25557032, 4089184256, 16},
	{"resnext101", 88791336, 16414015488, 33},
	{"vgg16", 138357544, 15470264320, 16},
};

static void test_counts(void)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, models[i].name, NULL, 1);
		CU_ASSERT_STRING_EQUAL(g.name, models[i].name);
		CU_ASSERT_TRUE(strlen(g.source) > 50);
		CU_ASSERT_EQUAL(g.parameters, models[i].parameters);
		CU_ASSERT_EQUAL(g.n_layers, models[i].layers);
		CU_ASSERT_EQUAL(
			graph_layer_memory(&g, 0, g.n_layers).parameter_elements, g.parameters);
		if (models[i].macs)
			CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), models[i].macs);
		arena_free(&a);
	}
}

/* Krizhevsky's 60,954,656 weights: all but the biases. */
static void test_alexnet_weights(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "alexnet", NULL, 1);
	uint64_t weights = 0;
	for (uint32_t i = 0; i < g.n_tensors; i++)
		if (g.tensors[i].class == TENSOR_PARAM && g.tensors[i].n_dims > 1)
			weights += tensor_elements(&g.tensors[i]);
	CU_ASSERT_EQUAL(weights, 60954656);
	arena_free(&a);
}

/* 53 convolutions and one GEMM. */
static void test_resnet50_operators(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "resnet50", NULL, 1);
	uint32_t convolutions = 0, gemms = 0;
	for (uint32_t i = 0; i < g.n_ops; i++) {
		convolutions += strcmp(op_kind_name(g.ops[i].kind), "conv") == 0;
		gemms += strcmp(op_kind_name(g.ops[i].kind), "gemm") == 0;
	}
	CU_ASSERT_EQUAL(convolutions, 53);
	CU_ASSERT_EQUAL(gemms, 1);
	arena_free(&a);
}

/* A layer: 12 s h^2 of weights and 2 s^2 h of attention; the head: s h V. */
static uint64_t transformer_macs(uint64_t l, uint64_t h, uint64_t s, uint64_t v)
{
	return l * (12 * s * h * h + 2 * s * s * h) + s * h * v;
}

static void test_transformers(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "bert-large", NULL, 1);
	CU_ASSERT_EQUAL(/* and the pooler, on one token */
		graph_macs(&g, ALL_PASSES),
		transformer_macs(24, 1024, 512, 30522) + UINT64_C(1024) * 1024);
	CU_ASSERT_EQUAL(g.tokens_per_sample, 512);
	g = read_model(&a, "gpt2-xl", NULL, 1);
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), transformer_macs(48, 1600, 1024, 50257));
	g = read_model(&a, "megatron-gpt", "layers=2,hidden=4096,heads=32,seq=1024,vocab=1000", 1);
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), transformer_macs(2, 4096, 1024, 1000));
	CU_ASSERT_EQUAL(g.parameters,
		UINT64_C(1000) * 4096 + UINT64_C(1024) * 4096 +
			UINT64_C(2) * (UINT64_C(12) * 4096 * 4096 + UINT64_C(13) * 4096) +
			UINT64_C(2) * 4096);
	/* GPT-3, 175B: 174,591,683,584 with 51200 words and 2048 places */
	g = read_model(&a, "megatron-gpt", "layers=96,hidden=12288,heads=96", 1);
	CU_ASSERT_EQUAL(g.parameters,
		UINT64_C(12288) * (51200 + 2048 + 2) +
			UINT64_C(96) * (UINT64_C(12) * 12288 * 12288 + UINT64_C(13) * 12288));
	arena_free(&a);
}

static void test_grouped_queries(void)
{
	struct arena a = {0};
	struct graph full = read_model(&a, "megatron-gpt", "layers=1,hidden=1024,heads=16", 1);
	struct graph shared =
		read_model(&a, "megatron-gpt", "layers=1,hidden=1024,heads=16,kv_heads=4", 1);
	uint64_t h = 1024, s = 2048, saved = 2 * h * (h - h / 4);
	CU_ASSERT_EQUAL(full.parameters - shared.parameters, saved + 2 * (h - h / 4));
	CU_ASSERT_EQUAL(graph_macs(&full, ALL_PASSES) - graph_macs(&shared, ALL_PASSES), s * saved);
	arena_free(&a);
}

/* The slices of all devices do the work of the whole. */
static void test_slices(void)
{
	struct arena a = {0};
	const char *overrides = "layers=2,hidden=1024,heads=16,kv_heads=8";
	struct graph whole = read_model(&a, "megatron-gpt", overrides, 1);
	for (uint32_t tp = 2; tp <= 8; tp *= 2) {
		struct graph g = read_model(&a, "megatron-gpt", overrides, tp), t;
		CU_ASSERT_EQUAL(g.tp, tp);
		CU_ASSERT_EQUAL(g.parameters, whole.parameters);
		CU_ASSERT_EQUAL(tp * graph_macs(&g, ALL_PASSES), graph_macs(&whole, ALL_PASSES));
		graph_train(&a, &g, &(struct train_options){OPTIMIZER_SGD}, &t);
		CU_ASSERT_EQUAL(
			tp * graph_macs(&t, ALL_PASSES), 3 * graph_macs(&whole, ALL_PASSES));
		uint64_t per_layer[N_PASSES] = {0};
		uint32_t n[N_PASSES] = {0};
		for (uint32_t i = 0; i < t.n_ops; i++)
			if (t.ops[i].work.core == CORE_LINK && t.ops[i].layer == 0) {
				per_layer[t.ops[i].pass] += t.ops[i].work.collective_bytes;
				n[t.ops[i].pass]++;
			}
		/* attention and MLP, and the embedding on the way forward */
		CU_ASSERT_EQUAL(n[PASS_FORWARD], 3);
		CU_ASSERT_EQUAL(n[PASS_BACKWARD_DATA], 2);
		CU_ASSERT_EQUAL(per_layer[PASS_FORWARD], UINT64_C(3) * 2 * 2048 * 1024);
		CU_ASSERT_EQUAL(per_layer[PASS_BACKWARD_DATA], UINT64_C(2) * 2 * 2048 * 1024);
	}
	arena_free(&a);
}

/* Megatron-LM's padding: 50257 words become 50560 = 79 * 640 for five devices. */
static void test_padding(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "gpt2-xl", "layers=1", 5);
	CU_ASSERT_EQUAL(g.parameters, read_model(&a, "gpt2-xl", "layers=1", 1).parameters);
	CU_ASSERT_EQUAL(get_op(&g, "head.logits")->work.n, 50560 / 5);
	arena_free(&a);
}

static void test_batch(void)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct arena a = {0};
		struct graph one = read_model(&a, models[i].name, NULL, 1);
		struct graph four = read_model(&a, models[i].name, "batch=4", 1);
		CU_ASSERT_EQUAL(four.batch, 4);
		CU_ASSERT_EQUAL(four.n_ops, one.n_ops);
		CU_ASSERT_EQUAL(graph_macs(&four, ALL_PASSES), 4 * graph_macs(&one, ALL_PASSES));
		struct graph_memory m1 = graph_layer_memory(&one, 1, 2);
		struct graph_memory m4 = graph_layer_memory(&four, 1, 2);
		CU_ASSERT_EQUAL(m4.activation_bytes, 4 * m1.activation_bytes);
		CU_ASSERT_EQUAL(m4.parameter_elements, m1.parameter_elements);
		arena_free(&a);
	}
}

/* Asked for, else suggested by the file. */
static void test_micro_batch(void)
{
	struct arena a = {0};
	struct graph_options o = {0};
	struct graph g;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(graph_read(&a, model_path(&a, "bert-large"), &o, &g, &err));
	CU_ASSERT_EQUAL(g.batch, 8);
	o.batch = 3;
	CU_ASSERT_TRUE_FATAL(graph_read(&a, model_path(&a, "bert-large"), &o, &g, &err));
	CU_ASSERT_EQUAL(g.batch, 3);
	arena_free(&a);
}

static void test_element_size(void)
{
	struct arena a = {0};
	struct graph_options o = {.batch = 1, .elem_bytes = 4};
	struct graph g;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(graph_read(&a, model_path(&a, "resnet18"), &o, &g, &err));
	CU_ASSERT_EQUAL(graph_boundary_bytes(&g, 1), UINT64_C(64) * 56 * 56 * 4);
	o.elem_bytes = 3;
	CU_ASSERT_FALSE(graph_read(&a, model_path(&a, "resnet18"), &o, &g, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	arena_free(&a);
}

static void check_refused(
	const char *model, const char *overrides, uint32_t tp, enum err_kind kind, const char *part)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	CU_ASSERT_FALSE(try_model(&a, model, overrides, tp, &g, &err));
	CU_ASSERT_EQUAL(err.kind, kind);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
	if (!strstr(err.text, part))
		printf("\n%s\n", err.text);
	arena_free(&a);
}

static void test_refused(void)
{
	check_refused("gpt2-xl", NULL, 2, ERR_INPUT, "heads = 25 is not divisible by tp = 2");
	check_refused(
		"bert-base", "ffn=3073", 3, ERR_INPUT, "ffn = 3073 is not divisible by tp = 3");
	check_refused(
		"bert-base", "heads=7", 1, ERR_INPUT, "hidden = 768 is not divisible by heads = 7");
	check_refused("megatron-gpt", "kv_heads=5", 1, ERR_INPUT,
		"heads = 24 is not divisible by kv_heads = 5");
	check_refused("resnet50", NULL, 2, ERR_INPUT, "no operator has a 'shard'");
	check_refused(
		"llama2-70b", NULL, 16, ERR_INPUT, "kv_heads = 8 is not divisible by tp = 16");
	check_refused("vgg16", "image=16", 1, ERR_INPUT,
		"'conv5_3.pool' (max_pool) of [1,512,1,1]: a window of 2x2 does not fit into 1x1");
	check_refused("bert-base", "sqe=128", 1, ERR_USAGE,
		"there is no parameter 'sqe', did you mean 'seq'?");
	check_refused("bert-base", "kv_heads=4", 1, ERR_USAGE, "there is no parameter 'kv_heads'");
	check_refused("bert-base", "seq=0", 1, ERR_USAGE, "'seq=0': expected NAME=NUMBER");
	check_refused("bert-base", "seq", 1, ERR_USAGE, "there is no variant 'seq'");
	check_refused("megatron-gpt", "18.4", 1, ERR_USAGE, "did you mean '18.4b'?");
	check_refused("bert-base", "seq=8,heads", 1, ERR_USAGE, "expected NAME=NUMBER");
	check_refused("bert-base", "seq=-1", 1, ERR_USAGE, "expected NAME=NUMBER");
	check_refused("bert-base", "seq=1x", 1, ERR_USAGE, "expected NAME=NUMBER");
	check_refused("bert-base", "", 1, ERR_USAGE, "expected NAME=NUMBER");
	check_refused("bert-base", "seq=128,", 1, ERR_USAGE, "expected NAME=NUMBER");
	check_refused(
		"bert-base", "seq=99999999999999999999", 1, ERR_USAGE, "expected NAME=NUMBER");
	check_refused("bert-base", "layers=4294967296", 1, ERR_INPUT, "expected at most");
	check_refused("bert-base", "layers=100000", 1, ERR_INPUT, "operators");
	check_refused("bert-base", "seq=268435456", 1, ERR_INPUT, "more than 2^48 elements");
	check_refused("no-such-model", NULL, 1, ERR_IO, "no-such-model.json");
}

int main(void)
{
	CU_TestInfo tests[] = {{"counts", test_counts}, {"alexnet weights", test_alexnet_weights},
		{"resnet50 operators", test_resnet50_operators},
		{"transformers", test_transformers}, {"grouped queries", test_grouped_queries},
		{"slices", test_slices}, {"padding", test_padding}, {"batch", test_batch},
		{"element size", test_element_size}, {"micro-batch", test_micro_batch},
		{"refused", test_refused}, CU_TEST_INFO_NULL};
	return suite_run("models", tests);
}
