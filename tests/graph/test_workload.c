#include "fixture.h"

#include "base/file.h"
#include "base/rng.h"
#include "graph/workload.h"

/* A file with everything in it that a line of bad_cases replaces. */
static const char base[] =
	"{\"name\": \"m\", \"source\": \"a test\", \"parameter_count\": 104,\n"
	" \"parameters\": {\"n\": 8, \"twice\": \"2*n\", \"layers\": 2},\n"
	" \"inputs\": {\"x\": {\"shape\": [\"batch\", \"n\"]}, \"y\": {\"shape\": [\"batch\"], "
	"\"bytes\": 8}},\n"
	" \"templates\": {\"t\": {\"inputs\": [\"in\"], \"parameters\": [\"k\"], \"ops\": [\n"
	"  {\"op\": \"relu\", \"name\": \"r\"},\n"
	"  {\"op\": \"layer_norm\", \"name\": \"l\", \"in\": \"r\"},\n"
	"  {\"op\": \"mul\", \"name\": \"m\", \"in\": [\"l\", \"in\"]}]}},\n"
	" \"layers\": [\n"
	"  {\"name\": \"a\", \"glue\": \"next\", \"ops\": [{\"op\": \"gelu\", \"name\": \"g\", "
	"\"in\": \"x\"}]},\n"
	"  {\"use\": \"t\", \"name\": \"b\", \"repeat\": \"layers\", \"with\": {\"k\": 3}},\n"
	"  {\"name\": \"c\", \"glue\": \"previous\", \"ops\": [\n"
	"   {\"op\": \"gemm\", \"name\": \"f\", \"features\": \"n\", \"bias\": true, \"shard\": "
	"\"column\"},\n"
	"   {\"op\": \"cross_entropy\", \"name\": \"loss\", \"in\": [\"f\", \"y\"], \"shard\": "
	"\"row\"}]}]}\n";

static bool read_text(
	struct arena *a, const char *text, uint32_t tp, struct graph *g, struct err *err)
{
	struct graph_options o = {.tp = tp};
	return workload_read(a, "m.json", (struct bytes){text, strlen(text)}, &o, g, err);
}

/* base with the first `old` replaced by `new`. */
static char *changed(struct arena *a, const char *old, const char *new)
{
	const char *at = strstr(base, old);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	return arena_printf(a, "%.*s%s%s", (int)(at - base), base, new, at + strlen(old));
}

static void test_base(void)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	bool ok = read_text(&a, base, 1, &g, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	const char *names[] = {
		"a.g", "b.0.r", "b.0.l", "b.0.m", "b.1.r", "b.1.l", "b.1.m", "c.f", "c.loss"};
	const uint32_t layers[] = {0, 0, 0, 0, 1, 1, 1, 1, 1};
	CU_ASSERT_EQUAL_FATAL(g.n_ops, 9);
	for (uint32_t i = 0; i < 9; i++) {
		CU_ASSERT_STRING_EQUAL(g.ops[i].name, names[i]);
		CU_ASSERT_EQUAL(g.ops[i].layer, layers[i]);
	}
	CU_ASSERT_EQUAL_FATAL(g.n_layers, 2);
	CU_ASSERT_STRING_EQUAL(g.layer_names[0], "b.0");
	CU_ASSERT_STRING_EQUAL(g.layer_names[1], "b.1");
	CU_ASSERT_STRING_EQUAL(g.source, "a test");
	CU_ASSERT_STRING_EQUAL(g.path, "m.json");
	CU_ASSERT_EQUAL(g.batch, 1);
	CU_ASSERT_EQUAL(g.parameters, 104);
	CU_ASSERT_EQUAL(g.ops[4].n_preds, 1);
	CU_ASSERT_EQUAL(g.ops[4].preds[0], 3);
	arena_free(&a);
}

static void test_sliced(void)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	CU_ASSERT_TRUE_FATAL(read_text(&a, base, 4, &g, &err));
	CU_ASSERT_EQUAL(g.n_ops, 11);
	CU_ASSERT_STRING_EQUAL(g.ops[7].name, "c.f.tp_copy");
	CU_ASSERT_STRING_EQUAL(g.ops[10].name, "c.loss.tp_reduce");
	CU_ASSERT_EQUAL(get_op(&g, "c.f")->work.n, 2);
	CU_ASSERT_EQUAL(g.parameters, 104);
	arena_free(&a);
}

// clang-format off
static const struct { const char *old, *new, *text; uint32_t tp; } bad_cases[] = {
	{"\"name\": \"m\", ", "", "m.json:1:1: missing key 'name'", 1},
	{"\"source\": \"a test\", ", "", "missing key 'source'", 1},
	{", \"parameter_count\": 104", "", "missing key 'parameter_count'", 1},
	{"104", "105", "m.json:1:54: the operators have 104 parameters, the file says 105", 1},
	{"\"layers\": [", "\"layer\": [", "m.json:8:2: unknown key 'layer', did you mean 'layers'?", 1},
	{"\"inputs\": [\"in\"]", "\"inputs\": []", "expected at least 1 element", 1},
	{"\"op\": \"gelu\"", "\"op\": \"gellu\"", "m.json:9:48: operator 'a.g': unknown kind 'gellu', did you mean 'gelu'?", 1},
	{"\"op\": \"gelu\", ", "", "m.json:9:41: expected an item with one of the keys 'op', 'use', 'ops' and 'parameter'", 1},
	{"\"in\": \"x\"", "\"in\": \"z\"", "there is no 'z' before this item", 1},
	{"\"in\": \"x\"", "\"inn\": \"x\"", "unknown key 'inn', did you mean 'in'?", 1},
	{", \"in\": \"x\"", "", "nothing stands before this item", 1},
	{"\"in\": \"x\"", "\"features\": 3", "unknown key 'features'", 1},
	{"[\"l\", \"in\"]", "[\"l\", \"x\", \"in\"]", "operator 'b.0.m' (mul) of [1,8] and [1,8] and [1,8]: 2 to 2 inputs are expected, there are 3", 1},
	{"\"2*n\"", "\"n/3\"", "expression 'n/3': 8 is not divisible by 3", 1},
	{"\"2*n\"", "\"2*m\"", "unknown parameter 'm'", 1},
	{"\"2*n\"", "\"n-n\"", "'n-n' is 0, expected 1 to 2^48", 1},
	{"\"n\": 8", "\"n\": 0", "expected a whole number from 1", 1},
	{"\"n\": 8", "\"n\": -8", "expected a whole number from 1", 1},
	{"\"n\": 8", "\"batch\": 8", "'batch' cannot be the name of a parameter", 1},
	{"\"n\": 8", "\"n n\": 8", "'n n' cannot be the name of a parameter", 1},
	{"[\"batch\", \"n\"]", "[\"batch\", 0]", "expected a whole number from 1", 1},
	{"[\"batch\", \"n\"]", "[]", "expected at least 1 element", 1},
	{"\"bytes\": 8", "\"bytes\": 9", "from 1 to 8", 1},
	{"\"use\": \"t\"", "\"use\": \"u\"", "there is no template 'u'", 1},
	{"{\"k\": 3}", "{}", "missing key 'k'", 1},
	{"{\"k\": 3}", "{\"k\": 3, \"j\": 1}", "unknown key 'j'", 1},
	{", \"with\": {\"k\": 3}", "", "missing key 'with' for parameter 'k'", 1},
	{"\"repeat\": \"layers\"", "\"repeat\": 0", "expected a whole number from 1", 1},
	{"\"repeat\": \"layers\"", "\"in\": [\"a\", \"x\"]", "the template takes 1 inputs, there are 2", 1},
	{"\"glue\": \"next\"", "\"glue\": \"nxt\"", "expected 'next' or 'previous', found 'nxt'", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"use\": \"t\", \"name\": \"r\", \"with\": {\"k\": 1}}", "deeper than 16", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"relu\", \"name\": \"l\"}", NULL, 1},
	{"\"name\": \"f\", ", "", "missing key 'name'", 1},
	{"\"features\": \"n\", ", "", "operator 'c.f' (gemm): missing key 'features' or 'weight'", 1},
	{"\"features\": \"n\"", "\"features\": \"n\", \"weight\": \"w\"", "missing key 'features' or 'weight'", 1},
	{"\"features\": \"n\"", "\"weight\": \"a.w\"", "there is no parameter 'a.w' before it", 1},
	{"\"shard\": \"column\"", "\"shard\": \"colum\"", "m.json:12:72: operator 'c.f': unknown shard 'colum', expected 'column' or 'row'", 1},
	{"\"shard\": \"column\"", "\"shard\": 1", "expected a string", 1},
	{"\"shard\": \"column\"", "\"shard\": \"column\"", "operator 'c.f' (gemm): features 8 is not divisible by tp = 3", 3},
	{"\"bias\": true", "\"bias\": 1", "expected true or false", 1},
	{"[\"f\", \"y\"]", "[\"f\", \"x\"]", "(cross_entropy) of [1,8] and [1,8]: 1 labels are expected, there are 8", 1},
	{"\"templates\": {\"t\"", "\"templates\": {\"t\": 3, \"s\"", "expected an object", 1},
	{"\"layers\": [\n", "\"layers\": [{\"op\": \"relu\", \"name\": \"r\", \"in\": \"x\"},\n", "an operator stands in the 'ops' of a layer", 1},
	{"\"layers\": [\n", "\"layers\": [7,\n", "expected an object", 1},
	{"\"layers\": [\n", "\"divisible\": [[\"n\", \"layers\"], [\"n\", 3]], \"layers\": [\n", NULL, 1},
	{"\"layers\": [\n", "\"divisible\": [[\"n\", \"tp\"]], \"layers\": [\n", "m.json:8:16: n = 8 is not divisible by tp = 3", 3},
	{"\"source\"", "\"name\"", "duplicate", 1},
	{"\"op\": \"gelu\"", "\"op\": \"gelu\", \"if\": \"1-n\"", "expression '1-n': 1 - 8 is negative", 1},
	{"\"op\": \"gelu\"", "\"op\": \"gelu\", \"if\": 0", "nothing stands before this item", 1},
	{"\"glue\": \"next\"", "\"cut\": 0", "expected a whole number from 1", 1},
	{"\"glue\": \"previous\"", "\"glue\": \"previous\", \"cut\": true", "an item that is glued to the one before does not begin a stage", 1},
	{"\"glue\": \"next\"", "\"recompute\": 1", "expected true or false", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"ops\": [{\"op\": \"relu\", \"name\": \"r\"}], \"name\": \"g\", \"cut\": true}", "'cut' stands only in items of 'layers'", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"parameter\": \"r\", \"shape\": [0]}", "expected a whole number from 1", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"parameter\": \"r\", \"shape\": [8], \"sliced\": 1}", "parameter 'b.0.r': axis 1 of the shape is not there", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"parameter\": \"r\", \"shape\": [8], \"sliced\": 0}", "not divisible by tp = 3", 3},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"gemm\", \"name\": \"r\", \"m\": 2, \"n\": 3}", "operator 'b.0.r' (given_gemm): missing key 'k'", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"gemm\", \"name\": \"r\", \"m\": 2, \"n\": 3, \"k\": 0}", "m.json:5:52: operator 'b.0.r': expected a whole number from 1", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"gemm\", \"name\": \"r\", \"m\": 16777216, \"n\": 3, \"k\": 33554432}", "an operand of more than 2^48 elements", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"gemm\", \"name\": \"r\", \"m\": 2, \"n\": 3, \"k\": 4, \"bytes\": 9}", "expected 1 to 8 bytes", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"vector\", \"name\": \"r\", \"elements\": 2}", "operator 'b.0.r' (vector): missing key 'cycles'", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"vector\", \"name\": \"r\", \"elements\": 2, \"cycles\": 1048577}", "expected at most 1048576", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"vector\", \"name\": \"r\", \"m\": 2}", "operator 'b.0.r': unknown key 'm'", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"top_k\", \"name\": \"r\"}", "operator 'b.0.r' (top_k): missing key 'k'", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"top_k\", \"name\": \"r\", \"k\": 9}", "the 9 largest of 8 are asked for", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"recurrent\", \"name\": \"r\", \"gates\": 3}", "operator 'b.0.r' (recurrent): a last dimension of 3 gates is expected, it is 8", 1},
	{"{\"op\": \"relu\", \"name\": \"r\"}", "{\"op\": \"lower_triangle\", \"name\": \"r\"}", "a square of at least 2 is expected", 1},
	{"\"layers\": [\n", "\"variants\": 3, \"layers\": [\n", "m.json:8:14: expected an object", 1},
	{"}]}]}\n", "}]}]\n", "m.json:14:", 1},
};
// clang-format on

static void test_errors(void)
{
	for (size_t i = 0; i < sizeof(bad_cases) / sizeof(bad_cases[0]); i++) {
		struct arena a = {0};
		struct graph g;
		struct err err = {0};
		const char *text = changed(&a, bad_cases[i].old, bad_cases[i].new);
		bool ok = read_text(&a, text, bad_cases[i].tp, &g, &err);
		CU_ASSERT_FALSE(ok);
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_PTR_EQUAL(strstr(err.text, "m.json:"), err.text);
		CU_ASSERT_TRUE(!bad_cases[i].text || strstr(err.text, bad_cases[i].text));
		if (ok || (bad_cases[i].text && !strstr(err.text, bad_cases[i].text)))
			printf("\n%s -> %s: %s\n", bad_cases[i].old, bad_cases[i].new, err.text);
		arena_free(&a);
	}
}

static void test_not_json(void)
{
	static const char *const texts[] = {
		"", "[]", "7", "\"x\"", "null", "{", "{}", "{\"name\": \xff}"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct arena a = {0};
		struct graph g;
		struct err err = {0};
		CU_ASSERT_FALSE(read_text(&a, texts[i], 1, &g, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_PTR_EQUAL(strstr(err.text, "m.json:1:"), err.text);
		arena_free(&a);
	}
}

/* Some characters of `content` changed, and in every third round its end cut off. */
static struct bytes damage(struct arena *a, struct bytes content, struct rng *rng, int round)
{
	static const char chars[] = "{}[]\",:0123456789abtr-. ";
	char *text = arena_strndup(a, content.data, content.n);
	size_t n = round % 3 ? content.n : rng_below(rng, content.n);
	for (int k = 0; k < 1 + round % 4; k++)
		text[rng_below(rng, content.n)] = chars[rng_below(rng, sizeof(chars) - 1)];
	text[n] = '\0';
	return (struct bytes){text, n};
}

/* Whether it was refused, and then whether the error is as it must be. */
static bool refuses(struct arena *a, struct bytes text, uint32_t tp)
{
	struct graph g;
	struct err err = {0};
	struct graph_options o = {.tp = tp};
	if (workload_read(a, "m.json", text, &o, &g, &err))
		return false;
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_EQUAL(strstr(err.text, "m.json:"), err.text);
	return true;
}

static uint32_t count_refused(struct bytes content, struct rng *rng, int rounds)
{
	uint32_t refused = 0;
	for (int round = 0; round < rounds; round++) {
		struct arena a = {0};
		uint32_t tp = 1 + (uint32_t)rng_below(rng, 3);
		refused += refuses(&a, damage(&a, content, rng, round), tp);
		arena_free(&a);
	}
	return refused;
}

/* Damaged files are read or refused, never worse. */
static void test_damaged(void)
{
	static const char *const models[] = {"resnet18", "bert-base", "alexnet"};
	struct rng rng;
	rng_init(&rng, 1);
	for (size_t m = 0; m < 3; m++) {
		struct arena a = {0};
		struct bytes content;
		struct err err = {0};
		CU_ASSERT_TRUE_FATAL(file_read(&a, model_path(&a, models[m]), &content, &err));
		CU_ASSERT_TRUE(count_refused(content, &rng, 150) > 50);
		arena_free(&a);
	}
}

static bool read_variant(
	struct arena *a, const char *text, const char *options, struct graph *g, struct err *err)
{
	struct graph_options o = {0};
	return graph_parse_overrides(a, options, &o, err) &&
	       workload_read(a, "m.json", (struct bytes){text, strlen(text)}, &o, g, err);
}

static const char with_variants[] =
	"\"variants\": {\"wide\": {\"parameter_count\": 336, \"parameters\": {\"n\": 16}, "
	"\"micro_batch\": 3},\n \"bad\": {\"parameters\": {\"m\": 16}, \"parameter_count\": 1},\n"
	" \"sum\": {\"parameter_count\": 1}}, \"layers\": [";

static void test_variants(void)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	const char *text = changed(&a, "\"layers\": [", with_variants);
	CU_ASSERT_TRUE_FATAL(read_variant(&a, text, "wide", &g, &err));
	CU_ASSERT_STRING_EQUAL(g.name, "m:wide");
	CU_ASSERT_STRING_EQUAL(g.source, "a test");
	CU_ASSERT_EQUAL(g.parameters, 336); /* 2 x 2 x 16 of the norms, 16 x 16 + 16 */
	CU_ASSERT_EQUAL(g.batch, 3);
	CU_ASSERT_TRUE_FATAL(read_variant(&a, text, "wide,n=32,batch=1", &g, &err));
	CU_ASSERT_EQUAL(g.parameters, 4 * 32 + 32 * 32 + 32);
	CU_ASSERT_EQUAL(g.batch, 1);
	CU_ASSERT_TRUE_FATAL(read_variant(&a, text, "n=8", &g, &err));
	CU_ASSERT_STRING_EQUAL(g.name, "m");
	CU_ASSERT_FALSE(read_variant(&a, text, "wid", &g, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no variant 'wid', did you mean 'wide'?"));
	CU_ASSERT_FALSE(read_variant(&a, text, "bad", &g, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "m.json:9:25: unknown key 'm'"));
	CU_ASSERT_FALSE(read_variant(&a, text, "sum", &g, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "have 104 parameters, the file says 1"));
	struct graph_variants names;
	CU_ASSERT_TRUE_FATAL(
		workload_variants(&a, "m.json", (struct bytes){text, strlen(text)}, &names, &err));
	CU_ASSERT_EQUAL_FATAL(names.n, 3);
	CU_ASSERT_STRING_EQUAL(names.names[2], "sum");
	arena_free(&a);
}

/* What 'if' leaves out is not there; of two of one name one is left. */
static void test_if(void)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	const char *text = changed(&a, "{\"op\": \"gelu\", \"name\": \"g\", \"in\": \"x\"}",
		"{\"op\": \"gelu\", \"name\": \"g\", \"in\": \"x\", \"if\": \"n-8\"}, {\"op\": "
		"\"relu\", \"name\": \"g\", \"in\": \"x\", \"if\": \"9-n\"}");
	CU_ASSERT_TRUE_FATAL(read_text(&a, text, 1, &g, &err));
	CU_ASSERT_EQUAL(g.n_ops, 9);
	CU_ASSERT_STRING_EQUAL(op_kind_name(g.ops[0].kind), "relu");
	arena_free(&a);
}

static void test_cuts(void)
{
	struct arena a = {0};
	struct graph g;
	struct err err = {0};
	const char *text = changed(&a, "\"repeat\": \"layers\"",
		"\"repeat\": 7, \"cut\": \"layers\", \"recompute\": true");
	text = arena_printf(
		&a, "%.*s0%s", (int)(strstr(text, "104") - text), text, strstr(text, "104") + 3);
	text = arena_printf(&a, "%.*s184%s", (int)(strstr(text, "count\": 0") + 8 - text), text,
		strstr(text, "count\": 0") + 9);
	bool ok = read_text(&a, text, 1, &g, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	CU_ASSERT_EQUAL_FATAL(g.n_cuts, 3);
	CU_ASSERT_EQUAL(g.cuts[0], 2);
	CU_ASSERT_EQUAL(g.cuts[1], 4);
	CU_ASSERT_EQUAL(g.cuts[2], 6);
	CU_ASSERT_FALSE(get_op(&g, "a.g")->recomputable);
	CU_ASSERT_TRUE(get_op(&g, "b.3.l")->recomputable);
	CU_ASSERT_FALSE(get_op(&g, "c.f")->recomputable);
	arena_free(&a);
}

static const char given[] =
	"{\"name\": \"g\", \"source\": \"a test\", \"parameter_count\": 12,\n"
	" \"inputs\": {\"x\": {\"shape\": [\"batch\", 3]}},\n"
	" \"layers\": [{\"name\": \"a\", \"ops\": [\n"
	"  {\"op\": \"vector\", \"name\": \"first\", \"elements\": 5, \"cycles\": 3, \"bytes\": "
	"8},\n"
	"  {\"op\": \"gemm\", \"name\": \"second\", \"batch\": 2, \"m\": 3, \"n\": 5, \"k\": 7, "
	"\"b_bytes\": 11},\n"
	"  {\"op\": \"vector\", \"name\": \"apart\", \"in\": [], \"elements\": 9, \"cycles\": 2, "
	"\"read_bytes\": 100, \"write_bytes\": 50},\n"
	"  {\"parameter\": \"w\", \"shape\": [3, 4]}, {\"parameter\": \"f\", \"shape\": [4], "
	"\"frozen\": true},\n"
	"  {\"op\": \"matmul\", \"name\": \"y\", \"in\": [\"x\", \"w\"]}, {\"op\": \"add\", "
	"\"name\": "
	"\"z\", \"in\": [\"y\", \"f\"]},\n"
	"  {\"op\": \"gemm\", \"name\": \"last\", \"in\": [\"z\", \"second\"], \"m\": 1, \"n\": 2, "
	"\"k\": 3},\n"
	"  {\"op\": \"vector\", \"name\": \"loss\", \"elements\": 2, \"cycles\": 4, "
	"\"backward_cycles\": 6}]}]}";

static void test_given(void)
{
	struct arena a = {0};
	struct graph g, t;
	struct err err = {0};
	bool ok = read_text(&a, given, 1, &g, &err);
	if (!ok)
		printf("\n%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	const struct op *first = get_op(&g, "a.first"), *second = get_op(&g, "a.second"),
			*apart = get_op(&g, "a.apart");
	CU_ASSERT_EQUAL(first->n_preds, 0);
	CU_ASSERT_EQUAL(first->work.core, CORE_VC);
	CU_ASSERT_EQUAL_FATAL(first->work.n_vector, 1);
	CU_ASSERT_EQUAL(first->work.vector[0].numel, 5);
	CU_ASSERT_EQUAL(first->work.vector[0].lane_cycles, 3);
	CU_ASSERT_EQUAL(first->work.vector_read_bytes, 40);
	CU_ASSERT_EQUAL(tensor_bytes(&g.tensors[first->outputs[0]]), 40);
	CU_ASSERT_EQUAL(second->n_preds, 1);
	CU_ASSERT_EQUAL(second->work.core, CORE_TC);
	CU_ASSERT_EQUAL(second->work.batch * second->work.m * second->work.n * second->work.k, 210);
	CU_ASSERT_EQUAL(second->work.a_bytes, 84);
	CU_ASSERT_EQUAL(second->work.b_bytes, 11);
	CU_ASSERT_EQUAL(second->work.c_bytes, 60);
	CU_ASSERT_EQUAL(g.tensors[second->outputs[0]].dims[0], 6);
	CU_ASSERT_EQUAL(apart->n_preds, 0);
	CU_ASSERT_EQUAL(apart->work.vector_read_bytes, 100);
	CU_ASSERT_EQUAL(apart->work.vector_write_bytes, 50);
	CU_ASSERT_EQUAL(g.parameters, 12);
	graph_train(&a, &g, &(struct train_options){OPTIMIZER_SGD}, &t);
	CU_ASSERT_EQUAL(get_op(&t, "a.loss/dX")->work.vector[0].lane_cycles, 6);
	CU_ASSERT_EQUAL(get_op(&t, "a.last/dA")->work.n, 3);
	CU_ASSERT_PTR_NULL(find_op(&t, "a.last/dB")); /* nothing is trained behind it */
	CU_ASSERT_PTR_NOT_NULL(find_op(&t, "a.w/update"));
	CU_ASSERT_PTR_NULL(find_op(&t, "a.f/update"));
	arena_free(&a);
}

/* Cut off anywhere, a file is refused. */
static void test_truncated(void)
{
	struct arena a = {0};
	for (size_t n = 0; n + 1 < strlen(given); n++)
		CU_ASSERT_TRUE(refuses(&a, (struct bytes){given, n}, 1));
	const char *text = changed(&a, "\"layers\": [", with_variants);
	for (size_t n = 0; n + 2 < strlen(text); n++)
		CU_ASSERT_TRUE(refuses(&a, (struct bytes){text, n}, 1));
	arena_free(&a);
}

static void test_overrides(void)
{
	struct arena a = {0};
	struct graph_options o = {0};
	struct err err = {0};
	CU_ASSERT_TRUE(graph_parse_overrides(&a, "seq=512,batch=4,seq=128", &o, &err));
	CU_ASSERT_EQUAL(o.batch, 4);
	CU_ASSERT_EQUAL_FATAL(o.n_overrides, 2);
	CU_ASSERT_STRING_EQUAL(o.overrides[0].name, "seq");
	CU_ASSERT_EQUAL(o.overrides[0].value, 512);
	CU_ASSERT_EQUAL(o.overrides[1].value, 128);
	struct graph g = read_model(&a, "bert-base", "layers=1,seq=512,seq=128", 1);
	CU_ASSERT_EQUAL(g.tokens_per_sample, 128);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"base", test_base}, {"sliced", test_sliced},
		{"errors", test_errors}, {"not json", test_not_json}, {"damaged", test_damaged},
		{"variants", test_variants}, {"if", test_if}, {"cuts", test_cuts},
		{"given", test_given}, {"truncated", test_truncated}, {"overrides", test_overrides},
		CU_TEST_INFO_NULL};
	return suite_run("workload", tests);
}
