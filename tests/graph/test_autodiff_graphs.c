/* Whole models in miniature, and random graphs: gradients that meet, part, are tied, frozen or
 * fused. */
#include "fixture.h"

#include "base/rng.h"
#include "numeric.h"

static void check(struct fixture *f)
{
	struct graph g = fixture_finish(f), fused;
	graph_fuse(&f->a, &g, &fused);
	CU_ASSERT_EQUAL(numeric_check(&f->a, &g, 5, false), 0);
	CU_ASSERT_EQUAL(numeric_check(&f->a, &fused, 5, false), 0);
	arena_free(&f->a);
}

static tensor_id named(
	struct fixture *f, const char *name, const char *what, uint64_t rows, uint64_t cols)
{
	uint64_t dims[] = {rows, cols};
	return fixture_tensor(
		f, arena_printf(&f->a, "%s.%s", name, what), TENSOR_PARAM, cols ? 2 : 1, dims);
}

static tensor_id linear(
	struct fixture *f, const char *name, tensor_id x, uint64_t from, uint64_t to)
{
	tensor_id w = named(f, name, "w", from, to), b = named(f, name, "b", to, 0);
	return OP(f, "gemm", name, NULL, x, w, b);
}

static tensor_id norm(struct fixture *f, const char *name, tensor_id x, uint64_t n)
{
	tensor_id w = named(f, name, "w", n, 0), b = named(f, name, "b", n, 0);
	return OP(f, "layer_norm", name, NULL, x, w, b);
}

static tensor_id heads(struct fixture *f, const char *name, tensor_id x)
{
	struct op_attrs shape = {.shape = {2, 3, 2, 2}, .n_shape = 4},
			perm = {.perm = {0, 2, 1, 3}};
	x = OP(f, "reshape", arena_printf(&f->a, "%s.shape", name), &shape, x);
	return OP(f, "transpose", arena_printf(&f->a, "%s.perm", name), &perm, x);
}

static tensor_id attention(struct fixture *f, tensor_id x, tensor_id mask)
{
	struct op_attrs three = {.axis = 2, .shape = {4, 4, 4}, .n_shape = 3};
	struct op_attrs swap = {.transpose_b = true}, axis = {.axis = 3};
	struct op_attrs back = {.perm = {0, 2, 1, 3}}, flat = {.shape = {2, 3, 4}, .n_shape = 3};
	tensor_id qkv = OP(f, "split", "qkv", &three, linear(f, "in", x, 4, 12));
	tensor_id q = OP(f, "rotary", "turn.q", NULL, heads(f, "q", qkv));
	tensor_id k = OP(f, "rotary", "turn.k", NULL, heads(f, "k", qkv + 1));
	tensor_id v = heads(f, "v", qkv + 2);
	tensor_id s = OP(f, "matmul", "scores", &swap, q, k);
	s = OP(f, "dropout", "drop", NULL, OP(f, "masked_softmax", "soft", &axis, s, mask));
	s = OP(f, "transpose", "merge", &back, OP(f, "matmul", "mix", NULL, s, v));
	return linear(f, "out", OP(f, "reshape", "flat", &flat, s), 4, 4);
}

/* Two blocks' worth of a decoder with a tied embedding, frozen positions and labels. */
static void test_transformer(void)
{
	struct fixture f;
	fixture_init(&f);
	struct op_attrs tied = {.transpose_b = true};
	tensor_id ids = TENSOR(&f, "ids", TENSOR_INPUT, 2, 3),
		  mask = TENSOR(&f, "mask", TENSOR_INPUT, 3, 3),
		  labels = TENSOR(&f, "labels", TENSOR_INPUT, 2, 3);
	tensor_id table = TENSOR(&f, "table", TENSOR_PARAM, 6, 4),
		  places = TENSOR(&f, "places", TENSOR_CONST, 3, 4);
	tensor_id x = OP(&f, "embedding", "embed", NULL, ids, table);
	x = OP(&f, "add", "place", NULL, x, places);
	x = OP(&f, "add", "res1", NULL, x, attention(&f, norm(&f, "n1", x, 4), mask));
	tensor_id h = linear(&f, "up", norm(&f, "n2", x, 4), 4, 6);
	h = linear(&f, "down", OP(&f, "gelu_tanh", "act", NULL, h), 6, 4);
	x = norm(&f, "n3", OP(&f, "add", "res2", NULL, x, h), 4);
	tensor_id y = OP(&f, "gemm", "head", &tied, x, table);
	OP(&f, "cross_entropy", "loss", NULL, y, labels);
	check(&f);
}

static tensor_id conv(struct fixture *f, const char *name, tensor_id x, uint64_t from, uint64_t to)
{
	struct op_attrs attrs = {.kernel = {3, 3}, .pad_begin = {1, 1}, .pad_end = {1, 1}};
	tensor_id w = TENSOR(f, arena_printf(&f->a, "%s.w", name), TENSOR_PARAM, to, from, 3, 3);
	const char *bn = arena_printf(&f->a, "%s.bn", name);
	tensor_id y = OP(f, "conv", name, &attrs, x, w);
	tensor_id gain = named(f, bn, "w", to, 0), shift = named(f, bn, "b", to, 0);
	return OP(f, "batch_norm", bn, NULL, y, gain, shift);
}

static void test_residual(void)
{
	struct fixture f;
	fixture_init(&f);
	struct op_attrs pool = {.kernel = {2, 2}, .stride = {2, 2}}, flat = {.axis = 1};
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 2, 2, 4, 4);
	tensor_id a = OP(&f, "relu", "r1", NULL, conv(&f, "c1", x, 2, 3));
	tensor_id b = OP(&f, "hard_swish", "r2", NULL, conv(&f, "c2", a, 3, 3));
	tensor_id c = OP(&f, "add", "sum", NULL, conv(&f, "c3", b, 3, 3), a);
	c = OP(&f, "max_pool", "pool", &pool, OP(&f, "relu", "r3", NULL, c));
	c = OP(&f, "concat", "cat", &flat, c, OP(&f, "avg_pool", "mean", &pool, b));
	c = OP(&f, "flatten", "flat", &flat, OP(&f, "global_avg_pool", "gap", NULL, c));
	OP(&f, "cross_entropy", "loss", NULL, linear(&f, "fc", c, 6, 5));
	check(&f);
}

/* A weight that is used three times, twice by products and once by rows. */
static void test_tied(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id ids = TENSOR(&f, "ids", TENSOR_INPUT, 5), w = TENSOR(&f, "w", TENSOR_PARAM, 4, 4);
	struct op_attrs turned = {.transpose_b = true};
	tensor_id x = OP(&f, "embedding", "e1", NULL, ids, w);
	x = OP(&f, "gemm", "g2", &turned, OP(&f, "gemm", "g1", NULL, x, w), w);
	OP(&f, "add", "end", NULL, x, OP(&f, "embedding", "e2", NULL, ids, w));
	check(&f);
}

/* Frozen weights in the middle let gradients through and get none; a bias alone may be trained. */
static void test_frozen(void)
{
	struct fixture f;
	fixture_init(&f);
	tensor_id x = TENSOR(&f, "x", TENSOR_INPUT, 3, 4),
		  w0 = TENSOR(&f, "w0", TENSOR_CONST, 4, 4);
	tensor_id w1 = TENSOR(&f, "w1", TENSOR_CONST, 4, 4),
		  w2 = TENSOR(&f, "w2", TENSOR_PARAM, 4, 2);
	tensor_id b0 = TENSOR(&f, "b0", TENSOR_PARAM, 4), b1 = TENSOR(&f, "b1", TENSOR_CONST, 4);
	tensor_id y = OP(&f, "gemm", "g0", NULL, x, w0, b0); /* only the bias */
	y = OP(&f, "gelu", "act", NULL, OP(&f, "gemm", "g1", NULL, y, w1, b1));
	OP(&f, "gemm", "g2", NULL, y, w2);
	struct graph g = fixture_finish(&f), t;
	graph_train(&f.a, &g, &(struct train_options){OPTIMIZER_SGD}, &t);
	CU_ASSERT_PTR_NULL(find_op(&t, "g0/dX"));
	CU_ASSERT_PTR_NULL(find_op(&t, "g0/dW"));
	CU_ASSERT_PTR_NOT_NULL(find_op(&t, "g1/dX"));
	CU_ASSERT_PTR_NULL(find_op(&t, "g1/dW"));
	CU_ASSERT_PTR_NOT_NULL(find_op(&t, "g2/dW"));
	CU_ASSERT_PTR_NULL(find_op(&t, "b1/update"));
	check(&f);
}

static tensor_id random_op(struct fixture *f, struct rng *rng, const tensor_id *made, uint32_t n)
{
	static const char *const unary[] = {"relu", "gelu", "dropout", "tanh", "identity",
		"softmax", "silu", "sigmoid", "masked_fill"};
	static const char *const binary[] = {"add", "mul", "sub", "add"};
	const char *name = arena_printf(&f->a, "op%u", f->b.n_ops);
	tensor_id x = made[rng_below(rng, n)], y = made[rng_below(rng, n)];
	struct op_attrs axis = {.axis = 1, .transpose_b = true, .perm = {1, 0}};
	struct op_attrs half = {.axis = 0, .shape = {1, 2}, .n_shape = 2};
	switch (rng_below(rng, 7)) {
	case 0:
		return OP(f, "gemm", name, NULL, x, named(f, name, "w", 3, 3),
			named(f, name, "b", 3, 0));
	case 1:
		return OP(f, "matmul", name, &axis, x, y);
	case 2:
		return OP(f, binary[rng_below(rng, 4)], name, NULL, x, y);
	case 3:
		return OP(f, "transpose", name, &axis, x);
	case 4:
		x = OP(f, "split", arena_printf(&f->a, "%s.s", name), &half, x);
		return OP(f, "concat", name, &half, x + 1, x);
	case 5:
		return norm(f, name, x, 3);
	default:
		if (rng_below(rng, 9) == 8)
			return OP(f, "masked_fill", name, NULL, x, made[0]);
		return OP(f, unary[rng_below(rng, 8)], name, &axis, x);
	}
}

/* Forks, joins, dead ends, tensors used twice by one operator: 3 x 3 all of them. */
static void test_random(void)
{
	struct rng rng;
	rng_init(&rng, 23);
	for (int round = 0; round < 150; round++) {
		struct fixture f;
		fixture_init(&f);
		tensor_id made[16] = {TENSOR(&f, "x", TENSOR_INPUT, 3, 3)};
		uint32_t n = 1 + (uint32_t)rng_below(&rng, 14);
		made[1] = OP(&f, "gemm", "first", NULL, made[0], named(&f, "first", "w", 3, 3));
		for (uint32_t i = 0; i < n; i++)
			made[i + 2 < 16 ? i + 2 : 15] = random_op(&f, &rng, made + 1, i + 1);
		check(&f);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {{"transformer", test_transformer}, {"residual", test_residual},
		{"tied", test_tied}, {"frozen", test_frozen}, {"random", test_random},
		CU_TEST_INFO_NULL};
	return suite_run("autodiff_graphs", tests);
}
