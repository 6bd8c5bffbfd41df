#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arithmetic on constants, element by element. Whole numbers wrap around as they do at run time. */
typedef bool whole_op(int64_t a, int64_t b, int64_t *out);
typedef double real_op(double a, double b);

static bool whole_add(int64_t a, int64_t b, int64_t *out)
{
	*out = (int64_t)((uint64_t)a + (uint64_t)b);
	return true;
}

static bool whole_sub(int64_t a, int64_t b, int64_t *out)
{
	*out = (int64_t)((uint64_t)a - (uint64_t)b);
	return true;
}

static bool whole_mul(int64_t a, int64_t b, int64_t *out)
{
	*out = (int64_t)((uint64_t)a * (uint64_t)b);
	return true;
}

static bool whole_div(int64_t a, int64_t b, int64_t *out)
{
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	*out = a / b;
	return true;
}

/* The sign of the divisor, as in Python; fmod is the attribute of real numbers. */
static bool whole_mod(int64_t a, int64_t b, int64_t *out)
{
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	*out = a % b;
	if (*out != 0 && (*out < 0) != (b < 0))
		*out += b;
	return true;
}

static bool whole_neg(int64_t a, int64_t b, int64_t *out)
{
	return whole_sub(0, a, out);
}

static bool whole_abs(int64_t a, int64_t b, int64_t *out)
{
	return a < 0 ? whole_sub(0, a, out) : whole_add(0, a, out);
}

#define COMPARISON(name, expression) \
	static bool whole_##name(int64_t a, int64_t b, int64_t *out) \
	{ \
		*out = (expression); \
		return true; \
	} \
	static double real_##name(double a, double b) \
	{ \
		return (double)(expression); \
	}

COMPARISON(equal, !(a < b) && !(a > b))
COMPARISON(less, a < b)
COMPARISON(less_equal, a <= b)
COMPARISON(greater, a > b)
COMPARISON(greater_equal, a >= b)
COMPARISON(max, a > b ? a : b)
COMPARISON(min, a < b ? a : b)

static bool whole_not(int64_t a, int64_t b, int64_t *out)
{
	*out = a == 0;
	return true;
}

static bool whole_and(int64_t a, int64_t b, int64_t *out)
{
	*out = a != 0 && b != 0;
	return true;
}

static bool whole_or(int64_t a, int64_t b, int64_t *out)
{
	*out = a != 0 || b != 0;
	return true;
}

static bool whole_xor(int64_t a, int64_t b, int64_t *out)
{
	*out = (a != 0) != (b != 0);
	return true;
}

static double real_add(double a, double b)
{
	return a + b;
}

static double real_sub(double a, double b)
{
	return a - b;
}

static double real_mul(double a, double b)
{
	return a * b;
}

static double real_div(double a, double b)
{
	return a / b;
}

static double real_neg(double a, double b)
{
	return -a;
}

static double real_abs(double a, double b)
{
	return fabs(a);
}

static double real_sqrt(double a, double b)
{
	return sqrt(a);
}

static double real_floor(double a, double b)
{
	return floor(a);
}

static double real_ceil(double a, double b)
{
	return ceil(a);
}

/* Halves go to the even number. */
static double real_round(double a, double b)
{
	double down = floor(a), rest = a - down;
	bool up = rest > 0.5 || (rest >= 0.5 && fmod(down, 2) != 0);
	return up ? down + 1 : down;
}

static double real_reciprocal(double a, double b)
{
	return 1 / a;
}

static double real_exp(double a, double b)
{
	return exp(a);
}

static double real_log(double a, double b)
{
	return log(a);
}

static const struct math {
	const char *name;
	whole_op *whole;
	real_op *real; /* NULL: content is not computed */
	bool truth;    /* the result is true or false */
	bool unary;
} table[] = {
	{"Abs", whole_abs, real_abs, false, true},
	{"Add", whole_add, real_add, false, false},
	{"And", whole_and, NULL, true, false},
	{"Ceil", NULL, real_ceil, false, true},
	{"Div", whole_div, real_div, false, false},
	{"Equal", whole_equal, real_equal, true, false},
	{"Exp", NULL, real_exp, false, true},
	{"Floor", NULL, real_floor, false, true},
	{"Greater", whole_greater, real_greater, true, false},
	{"GreaterOrEqual", whole_greater_equal, real_greater_equal, true, false},
	{"Less", whole_less, real_less, true, false},
	{"LessOrEqual", whole_less_equal, real_less_equal, true, false},
	{"Log", NULL, real_log, false, true},
	{"Max", whole_max, real_max, false, false},
	{"Min", whole_min, real_min, false, false},
	{"Mod", whole_mod, NULL, false, false},
	{"Mul", whole_mul, real_mul, false, false},
	{"Neg", whole_neg, real_neg, false, true},
	{"Not", whole_not, NULL, true, true},
	{"Or", whole_or, NULL, true, false},
	{"Pow", NULL, pow, false, false},
	{"Reciprocal", NULL, real_reciprocal, false, true},
	{"Round", NULL, real_round, false, true},
	{"Sqrt", NULL, real_sqrt, false, true},
	{"Sub", whole_sub, real_sub, false, false},
	{"Sum", whole_add, real_add, false, false},
	{"Xor", whole_xor, NULL, true, false},
};

static int compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct math *)row)->name);
}

static const double *as_reals(struct onnx_reader *r, const struct onnx_value *v)
{
	size_t n = (size_t)onnx_elements(v);
	if (v->reals || !v->ints)
		return v->reals;
	double *reals = arena_array(r->scratch, n + 1, double);
	for (size_t i = 0; i < n; i++)
		reals[i] = (double)v->ints[i];
	return reals;
}

static bool compute_whole(struct onnx_reader *r, const struct onnx_node *node,
	const struct math *op, const struct onnx_value *pair[2], struct onnx_value *out,
	struct err *err)
{
	size_t n = (size_t)onnx_elements(out);
	int64_t *ints = arena_array(r->scratch, n + 1, int64_t);
	for (size_t i = 0; i < n; i++) {
		int64_t a = pair[0]->ints[onnx_source(pair[0], out, i)];
		int64_t b = pair[1] ? pair[1]->ints[onnx_source(pair[1], out, i)] : 0;
		if (!op->whole(a, b, &ints[i]))
			return onnx_fail(node, err, "a division that has no result");
	}
	out->ints = ints;
	return true;
}

static void compute_real(struct onnx_reader *r, const struct math *op,
	const struct onnx_value *pair[2], struct onnx_value *out)
{
	size_t n = (size_t)onnx_elements(out);
	const double *a = as_reals(r, pair[0]), *b = pair[1] ? as_reals(r, pair[1]) : NULL;
	double *reals = arena_array(r->scratch, n + 1, double);
	int64_t *truths = op->truth ? arena_array(r->scratch, n + 1, int64_t) : NULL;
	for (size_t i = 0; i < n; i++) {
		reals[i] = op->real(
			a[onnx_source(pair[0], out, i)], b ? b[onnx_source(pair[1], out, i)] : 0);
		if (truths)
			truths[i] = reals[i] > 0;
	}
	out->ints = truths;
	out->reals = truths ? NULL : reals;
}

/* `out` has the dimensions of the whole result; `pair` two of the operands, or one and NULL. */
static bool compute(struct onnx_reader *r, const struct onnx_node *node, const struct math *op,
	const struct onnx_value *pair[2], struct onnx_value *out, struct err *err)
{
	bool whole = pair[0]->ints && (!pair[1] || pair[1]->ints);
	if (!onnx_is_known(pair[0]) || (pair[1] && !onnx_is_known(pair[1])) ||
		!onnx_keeps(r, onnx_elements(out)))
		return true;
	if (whole && op->whole)
		return compute_whole(r, node, op, pair, out, err);
	if (!op->real)
		return true;
	compute_real(r, op, pair, out);
	struct onnx_value back = *out;
	if (whole && !op->truth) /* whole numbers stay whole */
		back.reals = NULL;
	*out = back;
	return true;
}

bool onnx_fold_math(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	const struct math *op = bsearch(node->proto->op_type, table,
		sizeof(table) / sizeof(table[0]), sizeof(table[0]), compare_name);
	struct onnx_value all = {.state = ONNX_CONSTANT};
	for (size_t i = 0; i < node->n_in; i++)
		if (!node->in[i] || node->in[i]->state != ONNX_CONSTANT)
			return true;
	*done = true;
	if (!onnx_broadcast(node, &all, err))
		return false;
	all.type = op && op->truth ? ONNX__TENSOR_PROTO__DATA_TYPE__BOOL : node->in[0]->type;
	all.tensor = GRAPH_NONE;
	struct onnx_value so_far = *node->in[0];
	for (size_t i = op && op->unary ? 0 : 1; op && i < node->n_in; i++) {
		const struct onnx_value *pair[2] = {&so_far, op->unary ? NULL : node->in[i]};
		struct onnx_value next = all;
		if (!compute(r, node, op, pair, &next, err))
			return false;
		so_far = next;
	}
	if (op) {
		all.ints = so_far.ints;
		all.reals = so_far.reals;
	}
	all.name = node->out[0]->name;
	*node->out[0] = all;
	return true;
}

bool onnx_fold_where(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	struct onnx_value out = {.state = ONNX_CONSTANT,
		.name = node->out[0]->name,
		.type = node->in[1]->type,
		.tensor = GRAPH_NONE};
	for (size_t i = 0; i < 3; i++)
		if (node->in[i]->state != ONNX_CONSTANT)
			return true;
	*done = true;
	if (!onnx_broadcast(node, &out, err))
		return false;
	uint64_t n = onnx_elements(&out);
	const int64_t *truth = node->in[0]->ints, *yes = node->in[1]->ints, *no = node->in[2]->ints;
	if (truth && yes && no && onnx_keeps(r, n)) {
		int64_t *ints = arena_array(r->scratch, n + 1, int64_t);
		for (size_t i = 0; i < n; i++)
			ints[i] = truth[onnx_source(node->in[0], &out, i)]
					  ? yes[onnx_source(node->in[1], &out, i)]
					  : no[onnx_source(node->in[2], &out, i)];
		out.ints = ints;
	}
	*node->out[0] = out;
	return true;
}

/* A list as one number: how exporters count elements. */
bool onnx_fold_reduce(
	struct onnx_reader *r, const struct onnx_node *node, bool *done, struct err *err)
{
	static const struct {
		const char *name;
		whole_op *op;
	} ops[] = {{"ReduceMax", whole_max}, {"ReduceMin", whole_min}, {"ReduceProd", whole_mul},
		{"ReduceSum", whole_add}};
	const struct onnx_value *in = node->in[0];
	whole_op *op = NULL;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (strcmp(ops[i].name, node->proto->op_type) == 0)
			op = ops[i].op;
	if (!op || !in->ints || in->n_dims > 1 || onnx_elements(in) == 0)
		return true;
	*done = true;
	int64_t *result = arena_new(r->scratch, int64_t);
	*result = in->ints[0];
	for (uint64_t i = 1; i < onnx_elements(in); i++)
		op(*result, in->ints[i], result);
	onnx_set_ints(node->out[0], result, 1,
		in->n_dims == 0 || onnx_attr_int(node, "keepdims", 1) == 0);
	return true;
}
