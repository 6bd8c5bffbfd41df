#include "fixture.h"

static tensor_id conv(struct fixture *f, const char *name, tensor_id x, uint64_t from, uint64_t to)
{
	tensor_id w = TENSOR(f, arena_printf(&f->a, "%s.w", name), TENSOR_PARAM, to, from, 3, 3);
	struct op_attrs attrs = {
		.kernel = {3, 3}, .stride = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}};
	return OP(f, "conv", name, &attrs, x, w);
}

static tensor_id norm(struct fixture *f, const char *name, tensor_id x, uint64_t n)
{
	tensor_id s = TENSOR(f, arena_printf(&f->a, "%s.s", name), TENSOR_PARAM, n);
	tensor_id b = TENSOR(f, arena_printf(&f->a, "%s.b", name), TENSOR_PARAM, n);
	return OP(f, "batch_norm", name, NULL, x, s, b);
}

/* conv-norm-relu, conv-norm, add, relu: two fused operators, the sum and its relu stay. */
static void test_residual(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 1, 4, 6, 6);
	tensor_id a = conv(&f, "c0", x, 4, 8);
	tensor_id b = OP(&f, "relu", "r1", NULL, norm(&f, "n1", conv(&f, "c1", a, 8, 8), 8));
	tensor_id c = norm(&f, "n2", conv(&f, "c2", b, 8, 8), 8);
	OP(&f, "relu", "r2", NULL, OP(&f, "add", "sum", NULL, c, a));
	struct graph g = fixture_finish(&f), fused;
	graph_fuse(&f.a, &g, &fused);
	CU_ASSERT_EQUAL(g.n_ops, 8);
	CU_ASSERT_EQUAL_FATAL(fused.n_ops, 5);
	const char *names[] = {"c0", "c1", "c2", "sum", "r2"};
	for (uint32_t i = 0; i < 5; i++)
		CU_ASSERT_STRING_EQUAL(fused.ops[i].name, names[i]);
	const struct op *c1 = &fused.ops[1];
	CU_ASSERT_EQUAL(c1->work.core, CORE_TC_VC);
	CU_ASSERT_EQUAL_FATAL(c1->n_members, 3);
	CU_ASSERT_STRING_EQUAL(c1->members[0], "c1");
	CU_ASSERT_STRING_EQUAL(c1->members[2], "r1");
	CU_ASSERT_EQUAL(c1->work.n_vector, 2);
	CU_ASSERT_EQUAL(c1->work.vector_read_bytes, 32); /* scale and shift */
	CU_ASSERT_EQUAL(c1->work.vector_write_bytes, 0);
	CU_ASSERT_EQUAL(c1->outputs[0], b);
	CU_ASSERT_EQUAL(c1->n_inputs, 4);
	CU_ASSERT_EQUAL(fused.ops[0].n_members, 0);
	CU_ASSERT_EQUAL(fused.ops[0].work.core, CORE_TC);
	CU_ASSERT_EQUAL_FATAL(fused.ops[3].n_preds, 2);
	CU_ASSERT_TRUE(fused.ops[3].preds[0] == 0 && fused.ops[3].preds[1] == 2);
	CU_ASSERT_EQUAL(fused.tensors[b].producer, 1);
	CU_ASSERT_EQUAL(g.ops[1].n_members, 0); /* the graph that was given stays as it was */
	CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), graph_macs(&fused, ALL_PASSES));
	arena_free(&f.a);
}

/* Two uses of one output keep it from being absorbed. */
static void test_two_users(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 1, 4, 6, 6);
	tensor_id a = conv(&f, "c", x, 4, 8);
	OP(&f, "relu", "r1", NULL, a);
	OP(&f, "tanh", "r2", NULL, a);
	struct graph g = fixture_finish(&f), fused;
	graph_fuse(&f.a, &g, &fused);
	CU_ASSERT_EQUAL(fused.n_ops, 3);
	arena_free(&f.a);
}

/* Injective chains end in a reduction or dropout; activations start none and softmax joins none. */
static void test_injective(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 4, 8), c = TENSOR(&f, "c", TENSOR_CONST, 1);
	tensor_id y = OP(&f, "relu", "relu", NULL, x);
	y = OP(&f, "mul", "mul", NULL, y, c);
	y = OP(&f, "dropout", "drop", NULL, OP(&f, "add", "add", NULL, y, c));
	y = OP(&f, "softmax", "soft", &(struct op_attrs){.axis = 1}, y);
	OP(&f, "reduce_mean", "mean", &(struct op_attrs){.axis = 1},
		OP(&f, "sqrt", "root", NULL, y));
	struct graph g = fixture_finish(&f), fused;
	graph_fuse(&f.a, &g, &fused);
	CU_ASSERT_EQUAL_FATAL(fused.n_ops, 4);
	CU_ASSERT_EQUAL(fused.ops[1].n_members, 3);
	CU_ASSERT_STRING_EQUAL(fused.ops[1].members[2], "drop");
	CU_ASSERT_EQUAL(fused.ops[1].work.core, CORE_VC);
	CU_ASSERT_EQUAL(fused.ops[1].work.vector_read_bytes, 64 + 2 + 2);
	CU_ASSERT_EQUAL(fused.ops[1].work.vector_write_bytes, 64 + 32); /* result and mask */
	CU_ASSERT_STRING_EQUAL(fused.ops[2].name, "soft");
	CU_ASSERT_EQUAL(fused.ops[3].n_members, 2);
	CU_ASSERT_EQUAL(fused.ops[3].work.vector_write_bytes, 8);
	arena_free(&f.a);
}

/* Nothing is absorbed over the border between two layers. */
static void test_layers(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id a = conv(&f, "c", TENSOR(&f, "x", TENSOR_INPUT, 1, 4, 6, 6), 4, 8);
	builder_begin_layer(&f.b, "next");
	OP(&f, "relu", "r", NULL, a);
	struct graph g = fixture_finish(&f), fused;
	graph_fuse(&f.a, &g, &fused);
	CU_ASSERT_EQUAL(fused.n_ops, 2);
	arena_free(&f.a);
}

/* Free transformations that a GEMM absorbs leave it on the tensor core alone. */
static void test_transform(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 4, 8), w = TENSOR(&f, "w", TENSOR_PARAM, 8, 6);
	struct op_attrs shape = {.shape = {2, 12}, .n_shape = 2};
	OP(&f, "reshape", "r", &shape, OP(&f, "gemm", "g", NULL, x, w));
	struct graph g = fixture_finish(&f), fused;
	graph_fuse(&f.a, &g, &fused);
	CU_ASSERT_EQUAL_FATAL(fused.n_ops, 1);
	CU_ASSERT_EQUAL(fused.ops[0].work.core, CORE_TC);
	CU_ASSERT_EQUAL(fused.ops[0].n_members, 2);
	arena_free(&f.a);
}

/* Every operator is in the fused graph once, alone or as a member. */
static void test_members(void)
{
	const char *models[] = {"resnet18", "resnet50", "vgg16", "alexnet"};
	for (size_t i = 0; i < 4; i++) {
		struct arena a = {0};
		struct graph g = read_model(&a, models[i], NULL, 1), fused;
		graph_fuse(&a, &g, &fused);
		uint32_t members = 0;
		for (uint32_t j = 0; j < fused.n_ops; j++)
			members += fused.ops[j].n_members ? fused.ops[j].n_members : 1;
		CU_ASSERT_EQUAL(members, g.n_ops);
		CU_ASSERT_TRUE(fused.n_ops < g.n_ops);
		CU_ASSERT_EQUAL(graph_macs(&g, ALL_PASSES), graph_macs(&fused, ALL_PASSES));
		arena_free(&a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {{"residual", test_residual}, {"two users", test_two_users},
		{"injective", test_injective}, {"layers", test_layers},
		{"transform", test_transform}, {"members", test_members}, CU_TEST_INFO_NULL};
	return suite_run("fuse", tests);
}
