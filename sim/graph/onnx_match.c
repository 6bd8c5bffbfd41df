#include "graph/onnx_internal.h"

#include <math.h>
#include <string.h>

/* A pattern that is being looked for, from its last operator back. */
struct search {
	const struct onnx_reader *r;
	struct onnx_match *m;
};

static const struct tensor *tensor(const struct search *s, tensor_id id)
{
	return &s->r->builder.tensors[id];
}

/* The operator of this kind that makes `id`, which then belongs to the pattern; NULL for another. */
static const struct op *take(const struct search *s, tensor_id id, const char *kind)
{
	op_id producer = tensor(s, id)->producer;
	struct onnx_match *m = s->m;
	if (producer == GRAPH_NONE)
		return NULL;
	const struct op *op = &s->r->builder.ops[producer];
	if (strcmp(op->kind->name, kind) != 0)
		return NULL;
	for (uint32_t i = 0; i < m->n_inner; i++)
		if (m->inner[i] == producer)
			return op;
	if (m->n_inner == sizeof(m->inner) / sizeof(m->inner[0]))
		return NULL;
	m->inner[m->n_inner++] = producer;
	return op;
}

/* A constant of one element within a thousandth of `value`. */
static bool is_number(const struct search *s, tensor_id id, double value)
{
	const struct onnx_note *note = &s->r->notes[id];
	return note->has_scalar && fabs(note->scalar - value) <= 1e-3 * fabs(value);
}

static bool is_scalar(const struct search *s, tensor_id id)
{
	return s->r->notes[id].has_scalar;
}

/* The input of a sum or product that `is` holds for, and the other one. */
static bool split_pair(const struct search *s, const struct op *op, double value, tensor_id *other)
{
	if (op->n_inputs != 2)
		return false;
	for (uint32_t i = 0; i < 2; i++)
		if (is_number(s, op->inputs[i], value)) {
			*other = op->inputs[1 - i];
			return true;
		}
	return false;
}

static bool same_dims(const struct search *s, tensor_id a, tensor_id b)
{
	const struct tensor *x = tensor(s, a), *y = tensor(s, b);
	return x->n_dims == y->n_dims &&
	       memcmp(x->dims, y->dims, x->n_dims * sizeof(*x->dims)) == 0;
}

/* The factors of a product, however it is bracketed. */
struct factors {
	tensor_id ids[8];
	uint32_t n;
};

static bool add_factors(const struct search *s, tensor_id id, tensor_id stop, struct factors *f)
{
	bool opens = id != stop &&
		     s->r->n_uses[id] == 1; /* x itself may be a product; it has two uses */
	const struct op *op = opens ? take(s, id, "mul") : NULL;
	for (uint32_t i = 0; op && i < 2; i++)
		if (!add_factors(s, op->inputs[i], stop, f))
			return false;
	if (op)
		return true;
	if (f->n == sizeof(f->ids) / sizeof(f->ids[0]))
		return false;
	f->ids[f->n++] = id;
	return true;
}

/* Removes a factor that is this number. */
static bool drop_number(const struct search *s, struct factors *f, double value)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (is_number(s, f->ids[i], value)) {
			f->ids[i] = f->ids[--f->n];
			return true;
		}
	return false;
}

/* Removes `times` factors that are this tensor. */
static bool drop_tensor(struct factors *f, tensor_id id, uint32_t times)
{
	uint32_t found = 0;
	for (uint32_t i = f->n; i-- > 0 && found < times;)
		if (f->ids[i] == id) {
			f->ids[i] = f->ids[--f->n];
			found++;
		}
	return found == times;
}

/* x^3 as a power or as factors, times a, and nothing else: 0.044715 x^3. */
static bool is_cube(const struct search *s, tensor_id id, tensor_id x)
{
	struct factors f = {0};
	if (!add_factors(s, id, x, &f) || !drop_number(s, &f, 0.044715))
		return false;
	if (f.n == 3)
		return drop_tensor(&f, x, 3);
	if (f.n == 2 && drop_tensor(&f, x, 1)) { /* x times x squared */
		const struct op *square = take(s, f.ids[0], "pow");
		return square && square->n_inputs == 2 && square->inputs[0] == x &&
		       is_number(s, square->inputs[1], 2);
	}
	const struct op *cube = f.n == 1 ? take(s, f.ids[0], "pow") : NULL;
	return cube && cube->n_inputs == 2 && cube->inputs[0] == x &&
	       is_number(s, cube->inputs[1], 3);
}

/* x + a x^3 */
static bool is_bent(const struct search *s, tensor_id id, tensor_id x)
{
	const struct op *sum = take(s, id, "add");
	for (uint32_t i = 0; sum && i < 2; i++)
		if (sum->inputs[i] == x && is_cube(s, sum->inputs[1 - i], x))
			return true;
	return false;
}

/* 1 + a x^2 */
static bool is_bent_factor(const struct search *s, tensor_id id, tensor_id x)
{
	const struct op *sum = take(s, id, "add");
	struct factors f = {0};
	tensor_id square;
	return sum && split_pair(s, sum, 1, &square) && add_factors(s, square, x, &f) &&
	       drop_number(s, &f, 0.044715) && drop_tensor(&f, x, 2) && f.n == 0;
}

/* sqrt(2 / pi) (x + 0.044715 x^3), Hendrycks and Gimpel, arXiv 1606.08415. */
static bool is_tanh_argument(const struct search *s, tensor_id id, tensor_id x)
{
	struct factors f = {0};
	if (!add_factors(s, id, x, &f) || !drop_number(s, &f, 0.7978845608))
		return false;
	if (f.n == 1)
		return is_bent(s, f.ids[0], x);
	return f.n == 2 && drop_tensor(&f, x, 1) && is_bent_factor(s, f.ids[0], x);
}

/* x / sqrt(2) */
static bool is_erf_argument(const struct search *s, tensor_id id, tensor_id x)
{
	tensor_id other;
	const struct op *op = take(s, id, "div");
	if (op)
		return op->inputs[0] == x && is_number(s, op->inputs[1], 1.41421356);
	op = take(s, id, "mul");
	return op && split_pair(s, op, 0.70710678, &other) && other == x;
}

/* 1 + erf(...) or 1 + tanh(...) of x; the kind, or NULL. */
static const char *gate_of(const struct search *s, tensor_id id, tensor_id x)
{
	const struct op *sum = take(s, id, "add");
	tensor_id curve;
	if (!sum || !split_pair(s, sum, 1, &curve))
		return NULL;
	const struct op *op = take(s, curve, "erf");
	if (op)
		return is_erf_argument(s, op->inputs[0], x) ? "gelu" : NULL;
	op = take(s, curve, "tanh");
	return op && is_tanh_argument(s, op->inputs[0], x) ? "gelu_tanh" : NULL;
}

static bool set_activation(const struct search *s, tensor_id x, op_id last, const char *kind)
{
	if (!same_dims(s, x, s->r->builder.ops[last].outputs[0]))
		return false;
	s->m->kind = kind;
	s->m->inputs[0] = x;
	s->m->n_inputs = 1;
	return true;
}

/* 0.5 x (1 + curve(x)) in any order, x sigmoid(x) and x hard_sigmoid(x). `x` is the i-th factor. */
static bool match_product(const struct search *s, op_id last, uint32_t i)
{
	struct factors f = {0};
	const struct op *op = &s->r->builder.ops[last];
	if (!add_factors(s, op->inputs[0], GRAPH_NONE, &f) ||
		!add_factors(s, op->inputs[1], GRAPH_NONE, &f) || i >= f.n || f.n > 3)
		return false;
	tensor_id x = f.ids[i];
	drop_tensor(&f, x, 1);
	if (f.n == 1) {
		const struct op *curve = take(s, f.ids[0], "sigmoid");
		if (curve)
			return curve->inputs[0] == x && set_activation(s, x, last, "silu");
		curve = take(s, f.ids[0], "hard_sigmoid");
		return curve && curve->inputs[0] == x && set_activation(s, x, last, "hard_swish");
	}
	if (!drop_number(s, &f, 0.5))
		return false;
	const char *kind = gate_of(s, f.ids[0], x);
	return kind && set_activation(s, x, last, kind);
}

/* The mean over the last dimensions, from `axis` on. */
static const struct op *take_mean(const struct search *s, tensor_id id, uint32_t *axis)
{
	const struct op *op = take(s, id, "reduce_mean");
	if (!op || !op->attrs->keep_dims || op->attrs->axis == 0)
		return NULL;
	uint32_t n_dims = tensor(s, op->inputs[0])->n_dims;
	*axis = op->attrs->axis;
	bool last = op->attrs->n_axes == 0 || op->attrs->axis + op->attrs->n_axes == n_dims;
	return last ? op : NULL;
}

/* x - mean(x); NULL for anything else. */
static const struct op *take_centred(const struct search *s, tensor_id id, uint32_t *axis)
{
	uint32_t n = s->m->n_inner;
	const struct op *sub = take(s, id, "sub");
	const struct op *mean = sub ? take_mean(s, sub->inputs[1], axis) : NULL;
	if (mean && mean->inputs[0] == sub->inputs[0])
		return sub;
	s->m->n_inner = n;
	return NULL;
}

/* The argument of a square. */
static tensor_id square_of(const struct search *s, tensor_id id)
{
	const struct op *op = take(s, id, "pow");
	if (op && op->n_inputs == 2 && is_number(s, op->inputs[1], 2))
		return op->inputs[0];
	op = take(s, id, "mul");
	return op && op->inputs[0] == op->inputs[1] ? op->inputs[0] : GRAPH_NONE;
}

/* What stands under the root: mean(d^2) + epsilon. Returns d. */
static tensor_id variance_of(const struct search *s, tensor_id id, uint32_t *axis)
{
	const struct op *sum = take(s, id, "add");
	for (uint32_t i = 0; sum && i < 2; i++) {
		if (!is_scalar(s, sum->inputs[1 - i]))
			continue;
		const struct op *mean = take_mean(s, sum->inputs[i], axis);
		return mean ? square_of(s, mean->inputs[0]) : GRAPH_NONE;
	}
	return GRAPH_NONE;
}

/* The argument of a root, or of its reciprocal when `inverse`. */
static tensor_id root_of(const struct search *s, tensor_id id, bool inverse)
{
	const struct op *op = take(s, id, "pow");
	if (op && op->n_inputs == 2 && is_number(s, op->inputs[1], inverse ? -0.5 : 0.5))
		return op->inputs[0];
	if (inverse) {
		op = take(s, id, "reciprocal");
		if (op)
			return root_of(s, op->inputs[0], false);
		op = take(s, id, "div");
		return op && is_number(s, op->inputs[0], 1) ? root_of(s, op->inputs[1], false)
							    : GRAPH_NONE;
	}
	op = take(s, id, "sqrt");
	return op ? op->inputs[0] : GRAPH_NONE;
}

/* A constant of as many elements as the norm's rows. */
static bool is_row(const struct search *s, tensor_id id, tensor_id x, uint32_t axis)
{
	const struct tensor *t = tensor(s, id), *y = tensor(s, x);
	uint64_t n = 1;
	for (uint32_t i = axis; i < y->n_dims; i++)
		n *= y->dims[i];
	return t->class == TENSOR_CONST && s->r->notes[id].real && tensor_elements(t) == n;
}

/* d over the root of the mean of its squares: `top` is d, `bottom` the root or its reciprocal. */
static bool match_norm_parts(const struct search *s, tensor_id top, tensor_id bottom, bool inverse)
{
	uint32_t axis, again;
	tensor_id root = root_of(s, bottom, inverse);
	tensor_id d = root == GRAPH_NONE ? GRAPH_NONE : variance_of(s, root, &axis);
	if (d == GRAPH_NONE)
		return false;
	const struct op *centred = take_centred(s, d, &again);
	const struct op *above = top == d ? centred : centred ? take_centred(s, top, &again) : NULL;
	if (centred && above && again == axis && centred->inputs[0] == above->inputs[0]) {
		s->m->kind = "layer_norm";
		s->m->inputs[0] = centred->inputs[0];
	} else if (top == d) {
		s->m->kind = "rms_norm";
		s->m->inputs[0] = d;
	} else {
		return false;
	}
	s->m->n_inputs = 1;
	s->m->attrs.axis = axis;
	return true;
}

/* The norm without gain and shift that `op` ends. */
static bool match_plain_norm(const struct search *s, const struct op *op)
{
	struct onnx_match before = *s->m;
	if (strcmp(op->kind->name, "div") == 0)
		return match_norm_parts(s, op->inputs[0], op->inputs[1], false);
	for (uint32_t i = 0; i < 2 && strcmp(op->kind->name, "mul") == 0; i++) {
		if (match_norm_parts(s, op->inputs[i], op->inputs[1 - i], true))
			return true;
		*s->m = before;
	}
	return false;
}

/* A norm, times a row. */
static bool match_gain(const struct search *s, const struct op *op)
{
	struct onnx_match before = *s->m;
	for (uint32_t i = 0; i < 2 && strcmp(op->kind->name, "mul") == 0; i++) {
		tensor_id normed = op->inputs[1 - i];
		const struct op *norm = take(s, normed, "div");
		norm = norm ? norm : take(s, normed, "mul");
		if (norm && match_plain_norm(s, norm) &&
			is_row(s, op->inputs[i], normed, s->m->attrs.axis)) {
			s->m->inputs[s->m->n_inputs++] = op->inputs[i];
			return true;
		}
		*s->m = before;
	}
	return false;
}

/* A norm with gain, plus a row. */
static bool match_shift(const struct search *s, const struct op *op)
{
	struct onnx_match before = *s->m;
	for (uint32_t i = 0; i < 2 && strcmp(op->kind->name, "add") == 0; i++) {
		tensor_id scaled = op->inputs[1 - i];
		const struct op *gain = take(s, scaled, "mul");
		if (gain && match_gain(s, gain) && strcmp(s->m->kind, "layer_norm") == 0 &&
			is_row(s, op->inputs[i], scaled, s->m->attrs.axis)) {
			s->m->inputs[s->m->n_inputs++] = op->inputs[i];
			return true;
		}
		*s->m = before;
	}
	return false;
}

bool onnx_match(const struct onnx_reader *r, op_id last, struct onnx_match *out)
{
	struct search s = {.r = r, .m = out};
	const struct op *op = &r->builder.ops[last];
	if (op->n_inputs != 2)
		return false;
	bool found = match_shift(&s, op) || match_gain(&s, op);
	if (!found)
		found = match_plain_norm(&s, op) && strcmp(out->kind, "layer_norm") == 0;
	for (uint32_t i = 0; !found && i < 3 && strcmp(op->kind->name, "mul") == 0; i++) {
		*out = (struct onnx_match){0};
		found = match_product(&s, last, i);
	}
	return found;
}
