/* Arithmetic on constants: what a Reshape at the end makes of it. */
#include "onnx_case.h"

/* x has 24 elements; the program must make a list called `target`. */
struct folding {
	const char *lines[8];
	int64_t dims[4];
	uint32_t n_dims;
};

static const struct folding foldings[] = {
	/* the usual: two dimensions from the input, the rest open */
	{{"Shape x > s", "Gather s zero > a", "Unsqueeze a axis0 > b", "Concat b minus > target"},
		{2, 12}, 2},
	{{"Shape x > s", "Slice s l0 l2 > b", "Concat b minus > target"}, {2, 3, 4}, 3},
	{{"Shape x > s", "ReduceProd s > a", "Unsqueeze a axis0 > target"}, {24}, 1},
	{{"Size x > a", "Unsqueeze a axis0 > target"}, {24}, 1},
	/* 4 / 2, 2 * 3, 7 - 3, 7 mod 4, min and max */
	{{"Div l4 l2 > a", "Concat a minus > target"}, {2, 12}, 2},
	{{"Mul l2 l3 > a", "Concat a minus > target"}, {6, 4}, 2},
	{{"Sub l7 l3 > a", "Concat a minus > target"}, {4, 6}, 2},
	{{"Mod l7 l4 > a", "Concat a minus > target"}, {3, 8}, 2},
	{{"Max l2 l3 > a", "Min a l7 > b", "Concat b minus > target"}, {3, 8}, 2},
	/* through real numbers: floor(7 / 2) = 3, ceil 4; half a shape; 2^3; sqrt 4 */
	{{"Cast7 l7 > a", "Div a real2 > b", "Floor b > c", "Cast c > d",
		 "Concat d minus > target"},
		{3, 8}, 2},
	{{"Cast7 l7 > a", "Div a real2 > b", "Ceil b > c", "Cast c > d", "Concat d minus > target"},
		{4, 6}, 2},
	{{"Cast7 l2 > a", "Pow a real3 > b", "Cast b > d", "Concat d minus > target"}, {8, 3}, 2},
	{{"Cast7 l4 > a", "Sqrt a > b", "Cast b > d", "Concat d minus > target"}, {2, 12}, 2},
	/* choices: 2 < 3, 2 = 3, not */
	{{"Less l2 l3 > c", "Where c l4 l7 > a", "Concat a minus > target"}, {4, 6}, 2},
	{{"Equal l2 l3 > c", "Where c l7 l4 > a", "Concat a minus > target"}, {4, 6}, 2},
	{{"Equal l2 l3 > c", "Not c > d", "Cast d > e", "Mul e l6 > a", "Concat a minus > target"},
		{6, 4}, 2},
	{{"Greater l2 l3 > c", "Or c truth > d", "Where d l4 l7 > a", "Concat a minus > target"},
		{4, 6}, 2},
	/* lists: backwards, every second one, a range, all the same, repeated */
	{{"Slice pair minus least axis0 minus > a", "Concat a l2 > target"}, {4, 3, 2}, 3},
	{{"Range one five two > a", "Concat a l2 minus > target"}, {1, 3, 2, 4}, 4},
	{{"ConstantOfShape l3 > a", "Add a l2 > b", "Slice b l0 l2 > c", "Concat c minus > target"},
		{2, 2, 6}, 3},
	{{"Expand l2 l3 > a", "Concat a l3 > target"}, {2, 2, 2, 3}, 4},
	{{"Reshape four2 turn > a", "Transpose a > b", "Reshape b flat > target"}, {1, 3, 2, 4}, 4},
};

static void add_line(struct onnx_case *c, const char *line, unsigned at)
{
	char op[32], in[64], out[32];
	CU_ASSERT_EQUAL_FATAL(sscanf(line, "%31s %63[^>]> %31s", op, in, out), 3);
	const char *real = strcmp(op, "Cast7") == 0 ? "Cast" : op; /* to real numbers */
	maker_node(&c->m, real, arena_printf(&c->arena, "%s.%u", real, at), in, out);
	if (strcmp(real, "Cast") == 0)
		maker_int(&c->m, "to",
			real == op ? ONNX__TENSOR_PROTO__DATA_TYPE__INT64
				   : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
	if (strcmp(real, "Concat") == 0)
		maker_int(&c->m, "axis", 0);
	if (strcmp(real, "ReduceProd") == 0)
		maker_int(&c->m, "keepdims", 0);
	if (strcmp(real, "ConstantOfShape") == 0) {
		maker_tensor(&c->m, "value", DIMS(1));
		Onnx__TensorProto *t = c->m.node->attribute[0]->t;
		t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
		t->n_int64_data = 1;
		t->int64_data = arena_array(&c->arena, 1, int64_t);
	}
}

static void add_constants(struct onnx_case *c)
{
	static const int64_t singles[] = {0, 2, 3, 4, 6, 7};
	for (size_t i = 0; i < 6; i++)
		maker_list(&c->m, arena_printf(&c->arena, "l%d", (int)singles[i]), &singles[i], 1);
	maker_list(&c->m, "minus", DIMS(-1));
	maker_list(&c->m, "least", DIMS(INT64_MIN + 1));
	maker_list(&c->m, "axis0", DIMS(0));
	maker_list(&c->m, "pair", DIMS(3, 4));
	maker_list(&c->m, "four2", DIMS(1, 2, 3, 4));
	maker_list(&c->m, "turn", DIMS(2, 2));
	maker_list(&c->m, "flat", DIMS(-1));
	maker_list(&c->m, "zero", DIMS(0))->n_dims = 0;
	maker_list(&c->m, "one", DIMS(1))->n_dims = 0;
	maker_list(&c->m, "two", DIMS(2))->n_dims = 0;
	maker_list(&c->m, "five", DIMS(5))->n_dims = 0;
	maker_list(&c->m, "truth", DIMS(1))->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
	maker_scalar(&c->m, "real2", 2);
	maker_scalar(&c->m, "real3", 3);
}

static void test_foldings(void)
{
	for (size_t i = 0; i < sizeof(foldings) / sizeof(foldings[0]); i++) {
		struct onnx_case c;
		const struct folding *f = &foldings[i];
		case_init(&c);
		c.m.set.version = 13;
		maker_input(&c.m, "x", DIMS(2, 3, 4));
		add_constants(&c);
		for (unsigned j = 0; j < 8 && f->lines[j]; j++)
			add_line(&c, f->lines[j], j);
		maker_node(&c.m, "Reshape", "view", "x target", "y");
		maker_node(&c.m, "Relu", "relu", "y", "r");
		bool ok = case_read(&c);
		if (!ok)
			printf("\n  folding %zu: %s\n", i, c.err.text);
		bool right = ok && case_shape(&c, "relu", f->dims, f->n_dims);
		if (!right)
			printf("\n  folding %zu\n", i);
		CU_ASSERT(right);
		CU_ASSERT(c.graph.n_ops <= 2); /* nothing is left to compute */
		case_finish(&c);
	}
}

static void test_no_result(void)
{
	struct onnx_case c;
	case_init(&c);
	maker_input(&c.m, "x", DIMS(2, 3, 4));
	add_constants(&c);
	add_line(&c, "Div l4 l0 > target", 0);
	maker_node(&c.m, "Reshape", "view", "x target", "y");
	case_fails(&c, ERR_INPUT, "node 'Div.0' (Div): a division that has no result");
	case_init(&c);
	maker_input(&c.m, "x", DIMS(2, 3, 4));
	add_constants(&c);
	maker_list(&c.m, "huge", DIMS(INT64_MAX))->n_dims = 0;
	add_line(&c, "Range zero huge one > r", 0);
	maker_node(&c.m, "Reshape", "view", "x r", "y");
	case_fails(&c, ERR_INPUT, "node 'Range.0' (Range): a range from 0 to 9.22337e+18 by 1");
	case_init(&c);
	maker_input(&c.m, "x", DIMS(2, 3, 4));
	add_constants(&c);
	add_line(&c, "Add pair four2 > target", 0);
	maker_node(&c.m, "Reshape", "view", "x target", "y");
	case_fails(&c, ERR_INPUT, "node 'Add.0' (Add): dimensions 2 and 4 differ and neither is 1");
}

/* Sixteen-bit numbers as they lie in a file: 2.0 and -0.5, subnormal, infinite; one of each kind
 * divides 4. */
static void test_halves(void)
{
	static const struct {
		int32_t type;
		uint8_t raw[2];
		int64_t rows;
	} rows[] = {{ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, {0x00, 0x40}, 2},
		{ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, {0x00, 0x40}, 2},
		{ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16, {0x00, 0x42}, 3},
		{ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16, {0x80, 0x40}, 4}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct onnx_case c;
		case_init(&c);
		maker_input(&c.m, "x", DIMS(2, 3, 4));
		maker_list(&c.m, "minus", DIMS(-1));
		Onnx__TensorProto *t = maker_weight(&c.m, "half", DIMS(1));
		uint8_t raw[2] = {rows[i].raw[0], rows[i].raw[1]};
		t->data_type = rows[i].type;
		t->has_raw_data = true;
		t->raw_data.len = 2;
		t->raw_data.data = raw;
		add_line(&c, "Cast half > a", 0);
		add_line(&c, "Concat a minus > target", 1);
		maker_node(&c.m, "Reshape", "view", "x target", "y");
		CU_ASSERT_FATAL(case_read(&c));
		CU_ASSERT(case_shape(&c, "view", DIMS(rows[i].rows, 24 / rows[i].rows)));
		case_finish(&c);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"foldings", test_foldings},
		{"without a result", test_no_result},
		{"numbers of 16 bits", test_halves},
		CU_TEST_INFO_NULL,
	};
	return suite_run("onnx_fold", tests);
}
