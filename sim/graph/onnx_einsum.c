#include "graph/onnx_internal.h"

#include <inttypes.h>
#include <string.h>

/* Einsum of two tensors as one matrix product between views: "bhid,bhjd->bhij". Letters in both
 * operands and the result are batches, in both operands only are summed over, in one operand and
 * the result are rows or columns. */

enum { MAX_LETTERS = GRAPH_MAX_DIMS };

struct term {
	char letters[MAX_LETTERS + 1];
	uint32_t n;
};

struct product {
	struct term in[2], out;
	uint64_t size[128]; /* for each letter */
};

static bool has(const struct term *t, char letter)
{
	return memchr(t->letters, letter, t->n) != NULL;
}

/* Letters up to the next comma or arrow. */
static const char *read_term(const char *at, struct term *t)
{
	for (; *at && *at != ',' && *at != '-'; at++) {
		if (*at == ' ')
			continue;
		bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
		if (!letter || t->n == MAX_LETTERS || has(t, *at))
			return NULL;
		t->letters[t->n++] = *at;
	}
	return at;
}

static bool read_equation(const char *text, struct product *p)
{
	const char *at = read_term(text, &p->in[0]);
	if (!at || *at != ',')
		return false;
	at = read_term(at + 1, &p->in[1]);
	if (!at || at[0] != '-' || at[1] != '>')
		return false;
	at = read_term(at + 2, &p->out);
	return at && *at == '\0';
}

static bool read_sizes(const struct onnx_node *node, struct product *p, struct err *err)
{
	for (uint32_t k = 0; k < 2; k++) {
		if (node->in[k]->n_dims != p->in[k].n)
			return onnx_fail(node, err, "input %u has %u dimensions for %u letters", k,
				node->in[k]->n_dims, p->in[k].n);
		for (uint32_t i = 0; i < p->in[k].n; i++) {
			char c = p->in[k].letters[i];
			uint64_t *size = &p->size[(unsigned char)c];
			if (*size != 0 && *size != node->in[k]->dims[i])
				return onnx_fail(node, err, "'%c' is %" PRIu64 " and %" PRIu64, c,
					*size, node->in[k]->dims[i]);
			*size = node->in[k]->dims[i];
			if (!has(&p->in[1 - k], c) && !has(&p->out, c))
				return onnx_fail(node, err,
					"'%c' is summed over alone, which is not supported", c);
		}
	}
	for (uint32_t i = 0; i < p->out.n; i++)
		if (!has(&p->in[0], p->out.letters[i]) && !has(&p->in[1], p->out.letters[i]))
			return onnx_fail(node, err, "'%c' is in no input", p->out.letters[i]);
	return true;
}

/* The letters of `of` that are (or are not) in both others, appended to `to`. */
static void append_letters(
	const struct term *of, const struct term *with, const struct term *without, struct term *to)
{
	for (uint32_t i = 0; i < of->n; i++) {
		char c = of->letters[i];
		if ((!with || has(with, c)) && (!without || !has(without, c)))
			to->letters[to->n++] = c;
	}
}

static int64_t size_of(const struct product *p, const struct term *t, uint32_t first, uint32_t end)
{
	uint64_t n = 1;
	for (uint32_t i = first; i < end; i++)
		n *= p->size[(unsigned char)t->letters[i]];
	return (int64_t)n;
}

/* Brings the dimensions `from` into the order `to`. */
static bool turn(struct onnx_reader *r, const struct onnx_node *node, const char *part,
	struct onnx_value **v, const struct term *order[2], struct err *err)
{
	const struct term *from = order[0], *to = order[1];
	struct onnx_value *next = onnx_new_value(r);
	struct onnx_step step = {
		.kind = "transpose", .part = part, .in = v, .n_in = 1, .out = &next, .n_out = 1};
	if (from->n != to->n)
		return onnx_fail(node, err, "a letter is summed over alone");
	if (memcmp(from->letters, to->letters, from->n) == 0)
		return true;
	for (uint32_t i = 0; i < to->n; i++) {
		const char *at = memchr(from->letters, to->letters[i], from->n);
		step.attrs.perm[i] = (uint32_t)(at - from->letters);
	}
	next->type = (*v)->type;
	if (!onnx_append(r, node, &step, err))
		return false;
	*v = next;
	return true;
}

/* Operand k as [batches, rows, sums], both of them. */
static bool bring(struct onnx_reader *r, const struct onnx_node *node, const struct product *p,
	uint32_t k, struct onnx_value **v, struct err *err)
{
	struct term order = {0}, both = {0};
	const struct term *mine = &p->in[k], *other = &p->in[1 - k];
	append_letters(&p->out, &p->in[0], NULL, &both);
	append_letters(&both, &p->in[1], NULL, &order); /* batches in the order of the result */
	uint32_t batches = order.n;
	append_letters(mine, NULL, other, &order);
	uint32_t rows = order.n;
	append_letters(&p->in[0], other == &p->in[0] ? mine : other, &p->out, &order);
	int64_t to[3] = {size_of(p, &order, 0, batches), size_of(p, &order, batches, rows),
		size_of(p, &order, rows, order.n)};
	return turn(r, node, k ? "right" : "left", v, (const struct term *[]){mine, &order}, err) &&
	       onnx_reshaped(r, node, k ? "columns" : "rows", v, &(struct onnx_ints){to, 3}, err);
}

bool onnx_build_einsum(struct onnx_reader *r, const struct onnx_node *node, struct err *err)
{
	struct product p = {0};
	struct term made = {0}, both = {0};
	struct onnx_value *in[2] = {node->in[0], node->in[1]}, *out = onnx_new_value(r);
	struct onnx_step step = {.kind = "matmul",
		.part = "product",
		.in = in,
		.n_in = 2,
		.out = &out,
		.n_out = 1,
		.attrs.transpose_b = true};
	const char *text = onnx_attr_text(r, node, "equation");
	if (node->n_in != 2 || !node->in[1] || !read_equation(text, &p))
		return onnx_fail(node, err,
			"the equation '%s' is not supported, only two operands of single letters "
			"such "
			"as 'bhid,bhjd->bhij'",
			text);
	if (!read_sizes(node, &p, err) || !bring(r, node, &p, 0, &in[0], err) ||
		!bring(r, node, &p, 1, &in[1], err) || !onnx_append(r, node, &step, err))
		return false;
	append_letters(&p.out, &p.in[0], NULL, &both);
	append_letters(&both, &p.in[1], NULL, &made);
	append_letters(&p.in[0], NULL, &p.in[1], &made);
	append_letters(&p.in[1], NULL, &p.in[0], &made);
	int64_t to[GRAPH_MAX_DIMS];
	for (uint32_t i = 0; i < made.n && i < GRAPH_MAX_DIMS; i++)
		to[i] = size_of(&p, &made, i, i + 1);
	if (made.n > GRAPH_MAX_DIMS)
		return onnx_fail(node, err, "more than %d dimensions", GRAPH_MAX_DIMS);
	if (!onnx_reshaped(r, node, "shape", &out, &(struct onnx_ints){to, made.n}, err) ||
		!turn(r, node, NULL, &out, (const struct term *[]){&made, &p.out}, err))
		return false;
	onnx_alias(node->out[0], out);
	return true;
}
