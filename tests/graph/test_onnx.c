/* Whole ONNX models: the small one that make_onnx writes, and public ones below WHAM_SHARED. */
#include <stdio.h>
#include <stdlib.h>

#include "onnx_case.h"

struct gemm {
	uint64_t batch, m, n, k;
};

/* The tensor-core operators, in order. */
static uint32_t list_gemms(const struct graph *g, struct gemm *list, uint32_t max)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		const struct work *w = &g->ops[i].work;
		if (w->batch > 0 && n++ < max)
			list[n - 1] = (struct gemm){w->batch, w->m, w->n, w->k};
	}
	return n;
}

static void check_gemms(const struct graph *g, const struct gemm *expected, uint32_t n)
{
	struct gemm got[64];
	CU_ASSERT_EQUAL_FATAL(list_gemms(g, got, 64), n);
	for (uint32_t i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(got[i].batch, expected[i].batch);
		CU_ASSERT_EQUAL(got[i].m, expected[i].m);
		CU_ASSERT_EQUAL(got[i].n, expected[i].n);
		CU_ASSERT_EQUAL(got[i].k, expected[i].k);
	}
}

/* Layers go up by one at each tensor-core operator but the first, and nowhere else. */
static void check_layers(const struct graph *g)
{
	uint32_t layer = 0, seen = 0;
	for (uint32_t i = 0; i < g->n_ops; i++) {
		if (g->ops[i].work.batch > 0 && seen++ > 0)
			layer++;
		CU_ASSERT_EQUAL(g->ops[i].layer, layer);
	}
	CU_ASSERT_EQUAL(g->n_layers, layer + 1);
}

static void check_small(const struct graph *g, uint64_t batch)
{
	const struct gemm expected[] = {
		{1, batch * 256, 8, 27},
		{2, batch * 64, 4, 36},
		{1, batch, 10, 8},
	};
	check_gemms(g, expected, 3);
	check_layers(g);
	CU_ASSERT_EQUAL(g->batch, batch);
	CU_ASSERT_EQUAL(g->tp, 1);
	/* weights and biases, scale and shift; not mean and variance */
	CU_ASSERT_EQUAL(g->parameters, (216 + 8) + 2 * 8 + 288 + (80 + 10));
	CU_ASSERT_EQUAL(g->n_ops, 11);
	CU_ASSERT_STRING_EQUAL(g->layer_names[0], "conv1");
	CU_ASSERT_STRING_EQUAL(g->layer_names[2], "fc");
	CU_ASSERT_STRING_EQUAL(g->ops[g->n_ops - 1].name, "softmax");
}

static void test_small(void)
{
	for (uint64_t batch = 0; batch <= 8; batch += 4) {
		struct onnx_case c;
		case_init(&c);
		maker_small_model(&c.m);
		c.options.batch = batch;
		CU_ASSERT_FATAL(case_read(&c));
		check_small(&c.graph, batch ? batch : 1);
		CU_ASSERT_STRING_EQUAL(c.graph.name, "case");
		case_finish(&c);
	}
}

/* The residual addition waits for both branches, and statistics are constants. */
static void test_small_edges(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_small_model(&c.m);
	CU_ASSERT_FATAL(case_read(&c));
	const struct graph *g = &c.graph;
	const struct op *add = case_op(&c, "residual"), *norm = case_op(&c, "norm1");
	CU_ASSERT_EQUAL_FATAL(add->n_preds, 2);
	CU_ASSERT_STRING_EQUAL(g->ops[add->preds[0]].name, "pool1");
	CU_ASSERT_STRING_EQUAL(g->ops[add->preds[1]].name, "conv2");
	CU_ASSERT_EQUAL_FATAL(norm->n_inputs, 5);
	for (uint32_t i = 1; i < 5; i++)
		CU_ASSERT_EQUAL(
			g->tensors[norm->inputs[i]].class, i < 3 ? TENSOR_PARAM : TENSOR_CONST);
	CU_ASSERT_EQUAL(g->tensors[case_op(&c, "conv1")->inputs[0]].class, TENSOR_INPUT);
	CU_ASSERT_EQUAL(g->tensors[add->outputs[0]].elem_bytes, 2);
	case_finish(&c);
}

/* As the command line reads it: from a file, plain and compressed. */
static void test_small_file(void)
{
	struct arena a = {0};
	const char *root = getenv("WHAM_BUILD_ROOT");
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	const char *plain = arena_printf(&a, "%s/tests/graph/small.onnx", root);
	const char *packed = arena_printf(&a, "%s/tests/graph/small_copy.onnx.gz", root);
	struct bytes content;
	struct err err = {0};
	CU_ASSERT_FATAL(file_read(&a, plain, &content, &err));
	CU_ASSERT_FATAL(file_write(packed, content.data, content.n, &err));
	for (int i = 0; i < 2; i++) {
		struct graph g;
		struct graph_options options = {.batch = 2};
		bool ok = graph_read(&a, i ? packed : plain, &options, &g, &err);
		CU_ASSERT_FATAL(ok);
		check_small(&g, 2);
		CU_ASSERT_STRING_EQUAL(g.name, i ? "small_copy" : "small");
		CU_ASSERT_STRING_EQUAL(g.path, i ? packed : plain);
	}
	remove(packed);
	arena_free(&a);
}

static const char *shared_file(struct arena *a, const char *name)
{
	return arena_printf(a, "%s/data/onnx/%s", getenv("WHAM_SHARED"), name);
}

static struct gemm conv_gemm(uint64_t images, uint64_t side, uint64_t n, uint64_t k)
{
	return (struct gemm){1, images * side * side, n, k};
}

/* He et al. 2016, table 1, with the stride in the 3x3 convolution: per block 1x1, 3x3, 1x1 and,
 * in the first of a stage, the projection. */
static uint32_t resnet50_gemms(struct gemm *list, uint64_t images)
{
	static const uint64_t blocks[4] = {3, 4, 6, 3};
	uint32_t n = 0;
	uint64_t in = 64;
	list[n++] = conv_gemm(images, 112, 64, 147);
	for (uint32_t stage = 0; stage < 4; stage++) {
		uint64_t width = UINT64_C(64) << stage, side = UINT64_C(56) >> stage;
		for (uint64_t block = 0; block < blocks[stage]; block++) {
			uint64_t side_in = block == 0 && stage > 0 ? 2 * side : side;
			list[n++] = conv_gemm(images, side_in, width, in);
			list[n++] = conv_gemm(images, side, width, 9 * width);
			list[n++] = conv_gemm(images, side, 4 * width, width);
			if (block == 0)
				list[n++] = conv_gemm(images, side, 4 * width, in);
			in = 4 * width;
		}
	}
	list[n++] = (struct gemm){1, images, 1000, 2048};
	return n;
}

static void test_resnet50(void)
{
	struct arena a = {0};
	const char *path = shared_file(&a, "light_resnet50.onnx");
	struct graph g;
	struct err err = {0};
	struct graph_options options = {.batch = 8};
	bool ok = graph_read(&a, path, &options, &g, &err);
	CU_ASSERT_FATAL(ok);
	struct gemm expected[64];
	CU_ASSERT_EQUAL_FATAL(resnet50_gemms(expected, 8), 54);
	check_gemms(&g, expected, 54);
	check_layers(&g);
	CU_ASSERT_EQUAL(g.batch, 8);
	uint32_t n_convs = 0;
	for (uint32_t i = 0; i < g.n_ops; i++)
		n_convs += strcmp(op_kind_name(g.ops[i].kind), "conv") == 0;
	CU_ASSERT_EQUAL(n_convs, 53);
	uint64_t macs = graph_macs(&g, 1u << PASS_FORWARD);
	CU_ASSERT_EQUAL(macs, 8 * UINT64_C(4089184256));
	/* 23,454,912 in convolutions, 53,120 in the norms' scale and shift, 2,049,000 in the
	 * classifier */
	CU_ASSERT_EQUAL(g.parameters, 23454912 + 53120 + 2049000);
	CU_ASSERT_EQUAL(g.parameters, 25557032);
	arena_free(&a);
}

/* dX and dW cost as much as the forward pass, but the first convolution needs no dX. */
static void test_resnet50_train(void)
{
	struct arena a = {0};
	struct graph g, fused, train;
	struct err err = {0};
	bool ok = graph_read(
		&a, shared_file(&a, "light_resnet50.onnx"), &(struct graph_options){0}, &g, &err);
	CU_ASSERT_FATAL(ok);
	graph_fuse(&a, &g, &fused);
	CU_ASSERT(fused.n_ops < g.n_ops);
	graph_train(&a, &fused, &(struct train_options){OPTIMIZER_ADAM}, &train);
	uint64_t forward = graph_macs(&train, 1u << PASS_FORWARD);
	CU_ASSERT_EQUAL(forward, 4089184256);
	CU_ASSERT_EQUAL(graph_macs(&train, 1u << PASS_BACKWARD_WEIGHT), forward);
	CU_ASSERT_EQUAL(graph_macs(&train, 1u << PASS_BACKWARD_DATA),
		forward - UINT64_C(112) * 112 * 64 * 3 * 49);
	uint32_t n_updates = 0;
	for (uint32_t i = 0; i < train.n_ops; i++)
		n_updates += train.ops[i].pass == PASS_UPDATE;
	CU_ASSERT_EQUAL(n_updates, 53 + 2 * 53 + 2);
	arena_free(&a);
}

struct public_model {
	const char *file;
	uint32_t n_tc, n_conv;
	uint64_t parameters, macs; /* of one image */
};

static const struct public_model public_models[] = {
	/* Krizhevsky et al. 2012: 60,954,656 weights and 10,568 biases */
	{"light_bvlc_alexnet.onnx", 8, 5, 60954656 + 10568, 654560384},
	{"light_inception_v1.onnx", 58, 57, 6998552, 1431556352},
	{"light_resnet50.onnx", 54, 53, 25557032, 4089184256},
	{"light_shufflenet.onnx", 50, 49, 1393320, 124664528},
	/* version 1.1, Iandola et al. */
	{"light_squeezenet.onnx", 26, 26, 1235496, 349151936},
	/* Simonyan and Zisserman 2015, table 2: 144 million */
	{"light_vgg19.onnx", 19, 16, 143667240, 19632062464},
	/* convolutions 1 -> 8 -> 16 of 5x5, biases 8 + 16, 256 -> 10 with bias */
	{"mnist.onnx", 3, 2, 200 + 8 + 3200 + 16 + 2560 + 10, 786560},
};

static void check_public(const struct public_model *model, uint64_t batch)
{
	struct arena a = {0};
	const char *path = shared_file(&a, model->file);
	struct graph g;
	struct err err = {0};
	struct graph_options options = {.batch = batch};
	bool ok = graph_read(&a, path, &options, &g, &err);
	if (!ok)
		printf("\n  %s\n", err.text);
	CU_ASSERT_FATAL(ok);
	uint64_t images = batch ? batch : 1;
	uint32_t n_conv = 0, n_tc = list_gemms(&g, NULL, 0);
	for (uint32_t i = 0; i < g.n_ops; i++)
		n_conv += strcmp(op_kind_name(g.ops[i].kind), "conv") == 0;
	CU_ASSERT_EQUAL(n_tc, model->n_tc);
	CU_ASSERT_EQUAL(n_conv, model->n_conv);
	CU_ASSERT_EQUAL(g.parameters, model->parameters);
	CU_ASSERT_EQUAL(graph_macs(&g, 1u << PASS_FORWARD), images * model->macs);
	CU_ASSERT_EQUAL(g.batch, images);
	check_layers(&g);
	arena_free(&a);
}

static void test_public(void)
{
	for (size_t i = 0; i < sizeof(public_models) / sizeof(public_models[0]); i++) {
		check_public(&public_models[i], 0);
		check_public(&public_models[i], 6);
	}
}

/* Convolutions 2, 4 and 5 of AlexNet run in two groups. Images of 54x54, 26x26 and 12x12; kernels
 * of 11x11x3, 5x5x48, 3x3x256, 3x3x192. */
static void test_alexnet_groups(void)
{
	struct arena a = {0};
	const char *path = shared_file(&a, "light_bvlc_alexnet.onnx");
	struct graph g;
	struct err err = {0};
	const struct gemm expected[] = {
		{1, 2916, 96, 363},
		{2, 676, 128, 1200},
		{1, 144, 384, 2304},
		{2, 144, 192, 1728},
		{2, 144, 128, 1728},
		{1, 1, 4096, 9216},
		{1, 1, 4096, 4096},
		{1, 1, 1000, 4096},
	};
	bool ok = graph_read(&a, path, &(struct graph_options){0}, &g, &err);
	CU_ASSERT_FATAL(ok);
	check_gemms(&g, expected, 8);
	arena_free(&a);
}

static void test_open_public(void)
{
	struct arena a = {0};
	const char *path = shared_file(&a, "ch_ppocr_mobile_v2.0_cls_infer.onnx");
	struct graph g;
	struct err err = {0};
	const struct graph_override dims[] = {
		{"p2o.DynamicDimension.1", 48}, {"p2o.DynamicDimension.2", 192}};
	struct graph_options options = {.batch = 4, .dims = dims, .n_dims = 1};
	CU_ASSERT_FALSE(graph_read(&a, path, &options, &g, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "--dim p2o.DynamicDimension.2=N"));
	options.n_dims = 2;
	bool ok = graph_read(&a, path, &options, &g, &err);
	CU_ASSERT_FATAL(ok);
	struct gemm list[64] = {0};
	uint32_t n = list_gemms(&g, list, 64);
	CU_ASSERT_EQUAL_FATAL(n, 54);
	CU_ASSERT_EQUAL(list[0].m, 9216);
	CU_ASSERT_EQUAL(list[53].m, 4);
	CU_ASSERT_EQUAL(list[53].n, 2);
	CU_ASSERT_EQUAL(list[53].k, 200);
	arena_free(&a);
}

/* Every public file with the dimensions that it leaves open. */
static const struct whole_model {
	const char *file;
	struct graph_override dims[3];
	uint32_t n_dims, n_tc;
	uint64_t parameters, macs;
} whole_models[] = {
	{"ch_PP-OCRv4_det_infer.onnx",
		{{"p2o.DynamicDimension.1", 640}, {"p2o.DynamicDimension.2", 640}}, 2, 64, 1171593,
		2301935744},
	{"ch_ppocr_mobile_v2.0_cls_infer.onnx",
		{{"p2o.DynamicDimension.1", 48}, {"p2o.DynamicDimension.2", 192}}, 2, 54, 129356,
		16315376},
	{"light_bvlc_alexnet.onnx", {{0}}, 0, 8, 60965224, 654560384},
	{"light_inception_v1.onnx", {{0}}, 0, 58, 6998552, 1431556352},
	{"light_resnet50.onnx", {{0}}, 0, 54, 25557032, 4089184256},
	{"light_shufflenet.onnx", {{0}}, 0, 50, 1393320, 124664528},
	{"light_squeezenet.onnx", {{0}}, 0, 26, 1235496, 349151936},
	{"light_vgg19.onnx", {{0}}, 0, 19, 143667240, 19632062464},
	{"mnist.onnx", {{0}}, 0, 3, 5994, 786560},
	/* An If over the sampling rate; inside an LSTM of 128. At 16 kHz a transform of 258 x
	 * 256, convolutions of 3 from 129 to 128, 64, 64 and 128 channels with bias, 2 x 512 x
	 * 128 + 2 x 512, and 128 + 1. */
	{"silero_vad_v5.onnx", {{"input.1", 512}, {"state.1", 1}, {"sr", 16000}}, 3, 8,
		66048 + 49664 + 24640 + 12352 + 24704 + 131072 + 1024 + 129, 563968},
	{"silero_vad_v5.onnx", {{"input.1", 256}, {"state.1", 1}, {"sr", 8000}}, 3, 8,
		16640 + 25088 + 24640 + 12352 + 24704 + 131072 + 1024 + 129, 342016},
	{"ultraface-rfb-320.onnx", {{0}}, 0, 52, 273888, 100418560},
};

static void check_whole(const struct whole_model *m)
{
	struct arena a = {0};
	struct graph g, fused, train;
	struct err err = {0};
	struct graph_options options = {.batch = 1, .dims = m->dims, .n_dims = m->n_dims};
	bool ok = graph_read(&a, shared_file(&a, m->file), &options, &g, &err);
	if (!ok)
		printf("\n  %s\n", err.text);
	CU_ASSERT_FATAL(ok);
	if (list_gemms(&g, NULL, 0) != m->n_tc || g.parameters != m->parameters ||
		graph_macs(&g, 1u << PASS_FORWARD) != m->macs)
		printf("\n  %s: %u %ju %ju\n", m->file, list_gemms(&g, NULL, 0),
			(uintmax_t)g.parameters, (uintmax_t)graph_macs(&g, 1u << PASS_FORWARD));
	CU_ASSERT_EQUAL(list_gemms(&g, NULL, 0), m->n_tc);
	CU_ASSERT_EQUAL(g.parameters, m->parameters);
	CU_ASSERT_EQUAL(graph_macs(&g, 1u << PASS_FORWARD), m->macs);
	CU_ASSERT_EQUAL(g.n_warnings, 0);
	graph_fuse(&a, &g, &fused);
	graph_train(&a, &fused, &(struct train_options){OPTIMIZER_ADAM}, &train);
	uint64_t updated = 0;
	for (uint32_t i = 0; i < train.n_ops; i++)
		if (train.ops[i].pass == PASS_UPDATE)
			updated += train.ops[i].work.vector[0].numel;
	CU_ASSERT_EQUAL(updated, m->parameters); /* every parameter gets a gradient */
	arena_free(&a);
}

static void test_whole(void)
{
	for (size_t i = 0; i < sizeof(whole_models) / sizeof(whole_models[0]); i++)
		check_whole(&whole_models[i]);
}

static void test_refused(void)
{
	static const struct {
		const char *file, *part;
	} rows[] = {
		{"ch_PP-OCRv4_det_infer.onnx",
			"input 'x': dimension 2 ('p2o.DynamicDimension.1') is open in the file; "
			"give it with --dim p2o.DynamicDimension.1=N"},
		{"silero_vad_v5.onnx",
			"node 'If_0' (If): control flow: 'Equal_0_C' is not known, so that no "
			"branch can be chosen; --dim NAME=N gives the value of an input that is a "
			"number: 'sr'"},
	};
	const struct graph_override dims[] = {{"input.1", 512}, {"state.1", 1}};
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena a = {0};
		const char *path = shared_file(&a, rows[i].file);
		struct graph g;
		struct err err = {0};
		struct graph_options options = {.batch = 1, .dims = dims, .n_dims = 2 * i};
		CU_ASSERT_FALSE(graph_read(&a, path, &options, &g, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_EQUAL(strncmp(err.text, path, strlen(path)), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].part));
		arena_free(&a);
	}
}

int main(void)
{
	enum { N_OWN = 3 };
	const char *shared = getenv("WHAM_SHARED");
	CU_TestInfo tests[] = {
		{"small model", test_small},
		{"small model, edges", test_small_edges},
		{"small model, file", test_small_file},
		{"ResNet-50, every GEMM", test_resnet50},
		{"ResNet-50, training graph", test_resnet50_train},
		{"public models", test_public},
		{"AlexNet's groups", test_alexnet_groups},
		{"open dimensions", test_open_public},
		{"every model, trained", test_whole},
		{"refused models", test_refused},
		CU_TEST_INFO_NULL,
	};
	if (!shared || !shared[0]) {
		printf("skipped: WHAM_SHARED not set\n");
		tests[N_OWN] = (CU_TestInfo)CU_TEST_INFO_NULL;
	}
	return suite_run("onnx", tests);
}
