/* Public ONNX files beside the workload files of the same models. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/internal.h"
#include "suite.h"

enum { MAX_PRODUCTS = 64 };

/* A tensor-core operator: its product, and the convolution behind it. */
struct product {
	uint64_t batch, m, n, k;
	struct conv_work conv;
};

struct model {
	struct arena a;
	struct graph g;
	struct product list[MAX_PRODUCTS];
	uint32_t n;
};

static int product_order(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct product));
}

/* All tensor-core operators, sorted: two files may write the branches of a block in different
 * order. */
static void read_model(struct model *m, const char *path, const struct graph_options *options)
{
	struct err err = {0};
	bool ok = graph_read(&m->a, path, options, &m->g, &err);
	if (!ok)
		printf("\n  %s\n", err.text);
	CU_ASSERT_FATAL(ok);
	for (uint32_t i = 0; i < m->g.n_ops; i++) {
		const struct work *w = &m->g.ops[i].work;
		if (w->batch == 0)
			continue;
		CU_ASSERT_FATAL(m->n < MAX_PRODUCTS);
		m->list[m->n++] = (struct product){w->batch, w->m, w->n, w->k, w->conv};
	}
	qsort(m->list, m->n, sizeof(*m->list), product_order);
}

static void read_pair(struct model pair[2], const char *onnx, const char *ours, uint64_t image)
{
	const struct graph_override side = {"image", image};
	struct graph_options options = {.batch = 4};
	memset(pair, 0, 2 * sizeof(*pair));
	read_model(&pair[0],
		arena_printf(&pair[0].a, "%s/data/onnx/%s", getenv("WHAM_SHARED"), onnx), &options);
	options.overrides = &side;
	options.n_overrides = image > 0;
	read_model(&pair[1],
		arena_printf(
			&pair[1].a, "%s/models/workloads/%s", getenv("WHAM_SOURCE_ROOT"), ours),
		&options);
}

static void free_pair(struct model pair[2])
{
	arena_free(&pair[0].a);
	arena_free(&pair[1].a);
}

/* How many of the products of `a` are not among those of `b`; each stands for one. */
static uint32_t count_more(const struct model *a, const struct model *b, struct product *more)
{
	uint32_t n = 0, j = 0;
	for (uint32_t i = 0; i < a->n; i++) {
		while (j < b->n && product_order(&b->list[j], &a->list[i]) < 0)
			j++;
		if (j < b->n && product_order(&b->list[j], &a->list[i]) == 0)
			j++;
		else
			more[n++] = a->list[i];
	}
	return n;
}

static void test_resnet50(void)
{
	struct model pair[2];
	struct product more[MAX_PRODUCTS];
	read_pair(pair, "light_resnet50.onnx", "resnet50.json", 0);
	CU_ASSERT_EQUAL(pair[0].n, 54);
	CU_ASSERT_EQUAL(pair[1].n, 54);
	CU_ASSERT_EQUAL(count_more(&pair[0], &pair[1], more), 0);
	CU_ASSERT_EQUAL(count_more(&pair[1], &pair[0], more), 0);
	CU_ASSERT_EQUAL(pair[0].g.parameters, pair[1].g.parameters);
	CU_ASSERT_EQUAL(graph_macs(&pair[0].g, 1u << PASS_FORWARD),
		graph_macs(&pair[1].g, 1u << PASS_FORWARD));
	free_pair(pair);
}

/* Groups and all, with the file's image of 224. Its last pooling pads to 6x6, so that its first
 * matrix fits images of 227 as well; ours is then 5x5 and as much smaller. With images of 227 the
 * matrices are the same. */
static void test_alexnet(void)
{
	struct model pair[2];
	struct product more[MAX_PRODUCTS];
	read_pair(pair, "light_bvlc_alexnet.onnx", "alexnet.json", 224);
	CU_ASSERT_EQUAL(pair[0].n, 8);
	CU_ASSERT_EQUAL(count_more(&pair[1], &pair[0], more), 1);
	CU_ASSERT_EQUAL(more[0].k, 256 * 5 * 5);
	CU_ASSERT_EQUAL(count_more(&pair[0], &pair[1], more), 1);
	CU_ASSERT_EQUAL(more[0].k, 256 * 6 * 6);
	CU_ASSERT_EQUAL(more[0].n, 4096);
	free_pair(pair);
	read_pair(pair, "light_bvlc_alexnet.onnx", "alexnet.json", 227);
	CU_ASSERT_EQUAL(pair[0].g.parameters, pair[1].g.parameters);
	CU_ASSERT_EQUAL(count_more(&pair[1], &pair[0], more), 5); /* 55x55, 27x27, 13x13 */
	for (uint32_t i = 0; i < 5; i++)
		CU_ASSERT(more[i].conv.images == 4);
	free_pair(pair);
}

/* VGG-19 is VGG-16 and a convolution more in each of the blocks of 256, 512 and 512 channels
 * (Simonyan and Zisserman 2015, table 1, D and E). */
static void test_vgg(void)
{
	struct model pair[2];
	struct product more[MAX_PRODUCTS];
	read_pair(pair, "light_vgg19.onnx", "vgg16.json", 0);
	CU_ASSERT_EQUAL(pair[1].n, 16);
	CU_ASSERT_EQUAL(count_more(&pair[1], &pair[0], more), 0);
	CU_ASSERT_EQUAL_FATAL(count_more(&pair[0], &pair[1], more), 3);
	uint64_t macs = 0, weights = 0;
	for (uint32_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(more[i].k, 9 * more[i].n);
		macs += more[i].m * more[i].n * more[i].k;
		weights += more[i].n * more[i].k + more[i].n;
	}
	CU_ASSERT_EQUAL(weights, (256 * 256 * 9 + 256) + 2 * (512 * 512 * 9 + 512));
	CU_ASSERT_EQUAL(pair[0].g.parameters - weights, pair[1].g.parameters);
	CU_ASSERT_EQUAL(graph_macs(&pair[0].g, 1u << PASS_FORWARD) - macs,
		graph_macs(&pair[1].g, 1u << PASS_FORWARD));
	free_pair(pair);
}

int main(void)
{
	const char *shared = getenv("WHAM_SHARED");
	CU_TestInfo tests[] = {
		{"ResNet-50", test_resnet50},
		{"AlexNet", test_alexnet},
		{"VGG", test_vgg},
		CU_TEST_INFO_NULL,
	};
	if (!shared || !shared[0]) {
		printf("skipped: WHAM_SHARED not set\n");
		return 0;
	}
	return suite_run("onnx_same", tests);
}
