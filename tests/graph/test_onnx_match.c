/* Norms and activations that exporters write in pieces. */
#include "onnx_case.h"

static uint32_t count_kind(const struct graph *g, const char *kind)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->n_ops; i++)
		n += strcmp(op_kind_name(g->ops[i].kind), kind) == 0;
	return n;
}

/* Two encoder layers as PyTorch writes them; the figures come with the file. */
static void test_encoder(void)
{
	struct arena a = {0};
	struct graph g, fused, train;
	struct err err = {0};
	const char *path = arena_printf(
		&a, "%s/tests/graph/data/onnx01_bert_like.onnx", getenv("WHAM_SOURCE_ROOT"));
	const struct graph_override sequence = {"sequence", 16};
	struct graph_options options = {.batch = 2};
	CU_ASSERT_FALSE(graph_read(&a, path, &options, &g, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "('sequence') is open in the file"));
	options.dims = &sequence;
	options.n_dims = 1;
	CU_ASSERT_FATAL(graph_read(&a, path, &options, &g, &err));
	CU_ASSERT_EQUAL(g.parameters, 112832);
	CU_ASSERT_EQUAL(graph_macs(&g, 1u << PASS_FORWARD), 3284992);
	CU_ASSERT_EQUAL(count_kind(&g, "gemm") + count_kind(&g, "matmul"), 17);
	CU_ASSERT_EQUAL(count_kind(&g, "layer_norm"), 5);
	CU_ASSERT_EQUAL(count_kind(&g, "gelu"), 2);
	CU_ASSERT_EQUAL(count_kind(&g, "erf") + count_kind(&g, "sqrt") + count_kind(&g, "pow"), 0);
	CU_ASSERT_EQUAL(g.tokens_per_sample, 16);
	CU_ASSERT_EQUAL(g.n_layers, 17);
	graph_fuse(&a, &g, &fused);
	graph_train(&a, &fused, &(struct train_options){OPTIMIZER_ADAM}, &train);
	uint64_t updated = 0;
	for (uint32_t i = 0; i < train.n_ops; i++)
		if (train.ops[i].pass == PASS_UPDATE)
			updated += train.ops[i].work.vector[0].numel;
	CU_ASSERT_EQUAL(updated, 112832);
	arena_free(&a);
}

/* "KIND:NAME" for each line "Op in in -> out" of a program; numbers stand for themselves. */
struct program {
	const char *lines[16];
	const char *kind; /* what it becomes, one operator; NULL: stays in pieces */
};

static void add_line(struct onnx_case *c, const char *line, unsigned at)
{
	char op[32], in[64], out[32];
	CU_ASSERT_EQUAL_FATAL(sscanf(line, "%31s %63[^>]> %31s", op, in, out), 3);
	maker_node(&c->m, op, arena_printf(&c->arena, "n%u", at), in, out);
	if (strcmp(op, "ReduceMean") == 0)
		maker_ints(&c->m, "axes", DIMS(-1));
	if (strcmp(op, "ReduceMean") != 0)
		return;
	c->m.node->n_input = 1;
}

static void build_program(struct onnx_case *c, const struct program *p)
{
	static const struct {
		const char *name;
		double value;
	} numbers[] = {{"half", 0.5}, {"one", 1}, {"two", 2}, {"three", 3}, {"eps", 1e-5},
		{"root2", 1.41421356}, {"under2", 0.70710678}, {"cube", 0.044715},
		{"pi", 0.79788456}, {"mhalf", -0.5}, {"four", 4}};
	case_init(c);
	maker_input(&c->m, "x", DIMS(2, 3, 8));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		maker_scalar(&c->m, numbers[i].name, numbers[i].value);
	maker_weight(&c->m, "gain", DIMS(8));
	maker_weight(&c->m, "shift", DIMS(8));
	for (unsigned i = 0; i < 16 && p->lines[i]; i++)
		add_line(c, p->lines[i], i);
}

static const struct program programs[] = {
	/* erf, in four orders */
	{{"Div x root2 > a", "Erf a > b", "Add b one > c", "Mul x c > d", "Mul d half > y"},
		"gelu"},
	{{"Mul under2 x > a", "Erf a > b", "Add one b > c", "Mul x half > d", "Mul d c > y"},
		"gelu"},
	{{"Div x root2 > a", "Erf a > b", "Add b one > c", "Mul half c > d", "Mul x d > y"},
		"gelu"},
	{{"Mul x half > h", "Div x root2 > a", "Erf a > b", "Add b one > c", "Mul c h > y"},
		"gelu"},
	/* tanh: x^3 as a power, as products, and factored */
	{{"Pow x three > a", "Mul a cube > b", "Add x b > c", "Mul c pi > d", "Tanh d > e",
		 "Add e one > f", "Mul x half > g", "Mul g f > y"},
		"gelu_tanh"},
	{{"Mul x x > a", "Mul a x > b", "Mul cube b > c", "Add x c > d", "Mul pi d > e",
		 "Tanh e > f", "Add one f > g", "Mul half g > h", "Mul x h > y"},
		"gelu_tanh"},
	{{"Mul x pi > a", "Mul x cube > b", "Mul b x > c", "Add c one > d", "Mul a d > e",
		 "Tanh e > f", "Add f one > g", "Mul x half > h", "Mul h g > y"},
		"gelu_tanh"},
	{{"Pow x two > p", "Mul p x > a", "Mul a cube > b", "Add b x > c", "Mul c pi > d",
		 "Tanh d > e", "Add e one > f", "Mul x half > g", "Mul g f > y"},
		"gelu_tanh"},
	{{"Sigmoid x > a", "Mul x a > y"}, "silu"},
	{{"HardSigmoid x > a", "Mul a x > y"}, "hard_swish"},
	/* layer norms: with gain and shift, with gain, bare; square by Mul; two subtractions;
	 * root by Pow */
	{{"ReduceMean x > m", "Sub x m > d", "Pow d two > p", "ReduceMean p > v", "Add v eps > e",
		 "Sqrt e > s", "Div d s > n", "Mul n gain > g", "Add g shift > y"},
		"layer_norm"},
	{{"ReduceMean x > m", "Sub x m > d", "Sub x m > d2", "Mul d2 d2 > p", "ReduceMean p > v",
		 "Add eps v > e", "Pow e half > s", "Div d s > n", "Mul gain n > g",
		 "Add shift g > y"},
		"layer_norm"},
	{{"ReduceMean x > m", "Sub x m > d", "Pow d two > p", "ReduceMean p > v", "Add v eps > e",
		 "Sqrt e > s", "Reciprocal s > r", "Mul d r > n", "Mul n gain > y"},
		"layer_norm"},
	{{"ReduceMean x > m", "Sub x m > d", "Pow d two > p", "ReduceMean p > v", "Add v eps > e",
		 "Sqrt e > s", "Div d s > y"},
		"layer_norm"},
	/* root mean square: T5 and LLaMA */
	{{"Pow x two > p", "ReduceMean p > v", "Add v eps > e", "Sqrt e > s", "Reciprocal s > r",
		 "Mul x r > n", "Mul gain n > y"},
		"rms_norm"},
	{{"Pow x two > p", "ReduceMean p > v", "Add v eps > e", "Sqrt e > s", "Div one s > r",
		 "Mul x r > n", "Mul n gain > y"},
		"rms_norm"},
	{{"Mul x x > p", "ReduceMean p > v", "Add v eps > e", "Pow e mhalf > r", "Mul r x > n",
		 "Mul gain n > y"},
		"rms_norm"},
	/* Not what they look like: another constant, another input, a result that something else
	 * reads. */
	{{"Div x two > a", "Erf a > b", "Add b one > c", "Mul x c > d", "Mul d half > y"}, NULL},
	{{"Div x root2 > a", "Erf a > b", "Add b one > c", "Relu x > z", "Mul z c > d",
		 "Mul d half > y"},
		NULL},
	{{"Div x root2 > a", "Erf a > b", "Add b one > c", "Mul x c > d", "Mul d half > y",
		 "Relu c > z"},
		NULL},
	{{"Pow x three > a", "Mul a half > b", "Add x b > c", "Mul c pi > d", "Tanh d > e",
		 "Add e one > f", "Mul x half > g", "Mul g f > y"},
		NULL},
	{{"ReduceMean x > m", "Sub x m > d", "Pow d three > p", "ReduceMean p > v", "Add v eps > e",
		 "Sqrt e > s", "Div d s > n", "Mul n gain > g", "Add g shift > y"},
		NULL},
	{{"ReduceMean x > m", "Sub x m > d", "Pow d two > p", "ReduceMean p > v", "Add v eps > e",
		 "Sqrt e > s", "Div x s > n", "Mul n gain > g", "Add g shift > y"},
		NULL},
	{{"ReduceMean x > m", "Sub x m > d", "Pow d two > p", "ReduceMean p > v", "Add v eps > e",
		 "Sqrt e > s", "Div d s > n", "Mul n gain > g", "Add g shift > y", "Relu v > z"},
		NULL},
	{{"Sigmoid x > a", "Relu x > b", "Mul b a > y"}, NULL},
};

static void test_programs(void)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct onnx_case c;
		const struct program *p = &programs[i];
		uint32_t n = 0;
		while (n < 16 && p->lines[n])
			n++;
		build_program(&c, p);
		bool ok = case_read(&c);
		if (!ok)
			printf("\n  %s\n", c.err.text);
		CU_ASSERT_FATAL(ok);
		bool right = p->kind ? c.graph.n_ops == 1 : c.graph.n_ops == n;
		if (p->kind && right)
			right = strcmp(op_kind_name(c.graph.ops[0].kind), p->kind) == 0;
		if (!right)
			printf("\n  program %zu: %u operators, first %s\n", i, c.graph.n_ops,
				op_kind_name(c.graph.ops[0].kind));
		CU_ASSERT(right);
		if (p->kind && right) {
			CU_ASSERT_EQUAL(c.graph.parameters, 8 * (c.graph.ops[0].n_inputs - 1));
			CU_ASSERT(case_shape(
				&c, arena_printf(&c.arena, "n%u", n - 1), DIMS(2, 3, 8)));
		}
		case_finish(&c);
	}
}

/* The inside of a pattern is an output of the model: it stays in pieces. */
static void test_output_inside(void)
{
	struct onnx_case c;
	build_program(&c, &programs[0]);
	maker_output(&c.m, "c");
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.n_ops, 5);
	case_finish(&c);
}

/* A gate: silu(x) times something else, however it is bracketed. */
static void test_gated(void)
{
	static const struct program p = {
		{"Relu x > z", "Sigmoid x > a", "Mul x a > b", "Mul b z > y"}, NULL};
	struct onnx_case c;
	build_program(&c, &p);
	CU_ASSERT_FATAL(case_read(&c));
	CU_ASSERT_EQUAL(c.graph.n_ops, 3);
	CU_ASSERT_EQUAL(count_kind(&c.graph, "silu"), 1);
	case_finish(&c);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"an encoder", test_encoder},
		{"programs", test_programs},
		{"an output inside", test_output_inside},
		{"gated", test_gated},
		CU_TEST_INFO_NULL,
	};
	return suite_run("onnx_match", tests);
}
