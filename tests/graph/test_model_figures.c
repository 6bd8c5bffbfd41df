/* What others published about the shipped models, beside what the files add up to. */
#include <math.h>

#include "base/table.h"
#include "fixture.h"

/* Multiply-accumulates of one image, in G, as torchvision's weights say (_ops). Its AlexNet is
 * another one (2014, without groups) than ours, which test_models.c compares. */
static const struct {
	const char *name;
	double giga_macs;
} images[] = {
	{"inception-v3", 5.713},
	{"mobilenet-v3", 0.217},
	{"resnet18", 1.814},
	{"resnet50", 4.089},
	{"resnext101", 16.414},
	{"vgg16", 15.47},
};

static void check_near(const char *what, double ours, double published, double tolerance)
{
	if (fabs(ours - published) > tolerance * published)
		printf("\n%s: %.6g, published %.6g\n", what, ours, published);
	CU_ASSERT_TRUE(fabs(ours - published) <= tolerance * published);
}

static void test_images(void)
{
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, images[i].name, NULL, 1);
		check_near(images[i].name, 1e-9 * (double)graph_macs(&g, ALL_PASSES),
			images[i].giga_macs, 0.01);
		arena_free(&a);
	}
}

/* Multiply-accumulates of the products with parameters; attention has none. */
static uint64_t weight_macs(const struct graph *g)
{
	uint64_t macs = 0;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct op *op = &g->ops[i];
		if (op->n_inputs > 1 && g->tensors[op->inputs[1]].class == TENSOR_PARAM)
			macs += op->work.batch * op->work.m * op->work.n * op->work.k;
	}
	return macs;
}

/* Brown et al. 2020, table D.1: 3.14e23 FLOPs for 300 G tokens, a third of it forward, attention
 * left out. Jiang et al. 2024: 12.9 G parameters of Mixtral are active for a token; one
 * multiply-accumulate each, but for the word embedding. A dense decoder: likewise all of its
 * parameters. */
static void test_decoders(void)
{
	static const struct {
		const char *name;
		double macs_of_token;
	} want[] = {
		{"gpt3", 3.14e23 / 300e9 / 3 / 2},
		{"llama2-70b", 68976648192. - 32000. * 8192},
		{"llama2-7b", 6738415616. - 32000. * 4096},
		{"mixtral-8x7b", 12.9e9 - 32000. * 4096},
		{"opt-1.3b", 1315758080. - 2050. * 2048},
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, want[i].name, NULL, 1);
		check_near(want[i].name, (double)weight_macs(&g) / (double)g.tokens_per_sample,
			want[i].macs_of_token, 0.01);
		arena_free(&a);
	}
}

/* Everything by hand: projections, attention over the whole square, MLP, output. */
static uint64_t llama_macs(uint64_t l, uint64_t h, uint64_t kv, uint64_t f, uint64_t s, uint64_t v)
{
	return l * s * (2 * h * h + 2 * h * kv + 2 * s * h + 3 * h * f) + s * h * v;
}

static void test_llama(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "llama2-7b", NULL, 1);
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), llama_macs(32, 4096, 4096, 11008, 4096, 32000));
	g = read_model(&a, "llama2-70b", NULL, 1);
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), llama_macs(80, 8192, 1024, 28672, 4096, 32000));
	g = read_model(
		&a, "mixtral-8x7b", NULL, 1); /* two experts for each token, and the router */
	CU_ASSERT_EQUAL(
		graph_macs(&g, ALL_PASSES), llama_macs(32, 4096, 1024, 2 * 14336, 4096, 32000) +
						    UINT64_C(32) * 4096 * 4096 * 8);
	arena_free(&a);
}

/* Wu et al. 2016: cells of 8 h^2 products, 12 h^2 where two vectors come in. */
static void test_gnmt(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "gnmt4", NULL, 1);
	const uint64_t h = 1024, s = 50, v = 32320;
	uint64_t cells = (2 * 8 + 12 + 8 + 8) + (8 + 3 * 12); /* encoder, decoder */
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES),
		s * h * h * cells + 2 * s * h * h + 2 * s * s * h + s * h * v);
	const struct op *step = get_op(&g, "encoder3.lstm.recurrent");
	CU_ASSERT_EQUAL(step->work.batch, s); /* one after the other */
	CU_ASSERT_EQUAL(step->work.m, 1);
	g = read_model(&a, "gnmt4", "batch=64", 1);
	CU_ASSERT_EQUAL(get_op(&g, "encoder3.lstm.recurrent")->work.m, 64);
	arena_free(&a);
}

/* 187,767,399 rows: 96 GB in fp32. Macs of the MLPs, and of 27 x 27 dot products. */
static void test_dlrm(void)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "dlrm", "terabyte", 1);
	uint64_t top = 479 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256;
	uint64_t bottom = 13 * 512 + 512 * 256 + 256 * 128;
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), top + bottom + 27 * 27 * 128);
	check_near("dlrm:terabyte", 4e-9 * (double)g.parameters, 96, 0.01);
	g = read_model(&a, "dlrm", "batch=10", 1);
	const struct op *table = get_op(&g, "interaction.table2");
	CU_ASSERT_EQUAL(table->work.vector[0].numel, 160);
	CU_ASSERT_EQUAL(table->work.vector_read_bytes, 80 + 10 * 16 * 2); /* not the whole table */
	arena_free(&a);
}

/* Rows of the tables: parameters in G as printed. Forward, backward and the recomputation of all
 * but the output layer make 96 B s l h^2 (1 + s/6h + V/16lh) FLOPs (SC21, eq. 3). */
static const struct {
	const char *variant;
	double giga_parameters, half_digit;
	uint64_t l, h;
} variants[] = {
	{"1.7b", 1.7, 0.05, 24, 2304},
	{"3.6b", 3.6, 0.05, 30, 3072},
	{"7.5b", 7.5, 0.05, 36, 4096},
	{"18.4b", 18.4, 0.05, 40, 6144},
	{"39.1b", 39.1, 0.05, 48, 8192},
	{"76.1b", 76.1, 0.05, 60, 10240},
	{"145.6b", 145.6, 0.05, 80, 12288},
	{"310.1b", 310.1, 0.05, 96, 16384},
	{"529.6b", 529.6, 0.05, 105, 20480},
	{"1008b", 1008.0, 0.05, 128, 25600},
	{"22b", 22, 0.5, 48, 6144},
	{"175b", 175, 0.5, 96, 12288},
	{"530b", 530, 0.5, 105, 20480},
	{"1t", 1000, 10, 128, 25600},
	{"v1-1b", 1.16, 0.005, 24, 1920},
	{"v1-2b", 2.03, 0.005, 30, 2304},
	{"v1-4b", 4.24, 0.005, 36, 3072},
	{"v1-8b", 8.67, 0.005, 42, 4096},
	{"h100-1.7b", 1.7, 0.06, 24, 2048},
	{"h100-7.1b", 7.1, 0.05, 30, 4096},
	{"h100-16b", 16, 0.5, 32, 6144},
	{"h100-32b", 32, 0.5, 48, 7168},
	{"h100-70b", 70, 0.5, 84, 8192},
	{"h100-119b", 119, 0.5, 92, 10240},
	{"h100-177b", 177, 0.5, 96, 12288},
	{"h100-314b", 314, 0.5, 96, 16384},
	{"h100-462b", 462, 0.5, 112, 18432},
};
enum { N_VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static void check_variant(size_t i)
{
	struct arena a = {0};
	struct graph g = read_model(&a, "megatron-gpt", variants[i].variant, 1);
	double off = 1e-9 * (double)g.parameters - variants[i].giga_parameters;
	uint64_t l = variants[i].l, h = variants[i].h, s = g.tokens_per_sample;
	uint64_t head = get_op(&g, "head.logits")->work.n * s * h;
	CU_ASSERT_STRING_EQUAL(g.name, arena_printf(&a, "megatron-gpt:%s", variants[i].variant));
	CU_ASSERT_TRUE(fabs(off) <= variants[i].half_digit);
	if (fabs(off) > variants[i].half_digit)
		printf("\n%s: %" PRIu64 " parameters\n", variants[i].variant, g.parameters);
	CU_ASSERT_EQUAL(4 * graph_macs(&g, ALL_PASSES) - head,
		48 * s * l * h * h + 8 * s * s * l * h + 3 * head);
	arena_free(&a);
}

static void test_variants(void)
{
	struct arena a = {0};
	struct graph_variants names;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(graph_read_variants(&a, model_path(&a, "megatron-gpt"), &names, &err));
	CU_ASSERT_EQUAL_FATAL(names.n, N_VARIANTS);
	for (size_t i = 0; i < N_VARIANTS; i++) {
		CU_ASSERT_STRING_EQUAL(names.names[i], variants[i].variant);
		check_variant(i);
	}
	arena_free(&a);
}

/* vTrain's measured models are megatron-gpt with other parameters: its table says how many G
 * parameters each has. */
static void test_vtrain(void)
{
	const char *shared = getenv("WHAM_SHARED");
	struct arena a = {0};
	struct csv csv;
	struct err err = {0};
	size_t size, hidden, heads, layers, seq;
	if (!shared) {
		printf("skipped: WHAM_SHARED not set ");
		return;
	}
	CU_ASSERT_TRUE_FATAL(csv_read(
		&a, arena_printf(&a, "%s/validation/vtrain_multi.csv", shared), &csv, &err));
	CU_ASSERT_TRUE_FATAL(csv_column(&csv, "Parameters (billion)", &size, &err) &&
			     csv_column(&csv, "hidden size", &hidden, &err) &&
			     csv_column(&csv, "attention heads", &heads, &err) &&
			     csv_column(&csv, "# layers", &layers, &err) &&
			     csv_column(&csv, "sequence length", &seq, &err));
	for (size_t r = 0; r < csv.n_rows; r += 7) {
		struct arena scratch = {0};
		double published = 0;
		CU_ASSERT_TRUE_FATAL(csv_number(&csv, r, size, &published, &err));
		const char *text = arena_printf(&scratch, "hidden=%s,heads=%s,layers=%s,seq=%s",
			csv_cell(&csv, r, hidden), csv_cell(&csv, r, heads),
			csv_cell(&csv, r, layers), csv_cell(&csv, r, seq));
		struct graph g = read_model(&scratch, "megatron-gpt", text, 1);
		/* one digit behind the point, or 1 % */
		check_near(
			text, 1e-9 * (double)g.parameters, published, fmax(0.01, 0.05 / published));
		arena_free(&scratch);
	}
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"images", test_images}, {"decoders", test_decoders},
		{"llama", test_llama}, {"gnmt", test_gnmt}, {"dlrm", test_dlrm},
		{"variants", test_variants}, {"vtrain", test_vtrain}, CU_TEST_INFO_NULL};
	return suite_run("model figures", tests);
}
