/* Work given outright: what is left out follows from what is there. */
#include <inttypes.h>
#include <string.h>

#include "graph/workload_internal.h"

static bool too_large(struct reading *r)
{
	return doc_fail(*r->item, r->err,
		"operator '%s' (%s): an operand of more than 2^%d elements", r->name, r->kind->name,
		BUILDER_MAX_ELEMENTS_LOG2);
}

/* Bytes of an operand unless they are given. */
static bool operand(struct reading *r, uint64_t rows, uint64_t columns, uint64_t *bytes)
{
	const u128 max = (u128)1 << BUILDER_MAX_ELEMENTS_LOG2;
	u128 n = (u128)rows * r->args.given.batch;
	if (n > max || n * columns > max)
		return too_large(r);
	if (*bytes == 0)
		*bytes = (uint64_t)(n * columns) * r->args.given.elem_bytes;
	return true;
}

static void default_shape(struct op_attrs *attrs, uint64_t rows, uint64_t columns)
{
	if (attrs->n_shape > 0)
		return;
	attrs->n_shape = columns ? 2 : 1;
	attrs->shape[0] = rows;
	attrs->shape[1] = columns;
}

static bool complete_gemm(struct reading *r)
{
	struct given_work *g = &r->args.given;
	if (!workload_need(r, g->m > 0, "m") || !workload_need(r, g->n > 0, "n") ||
		!workload_need(r, g->k > 0, "k"))
		return false;
	if (g->batch == 0)
		g->batch = 1;
	if (!operand(r, g->m, g->k, &g->a_bytes) || !operand(r, g->k, g->n, &g->b_bytes) ||
		!operand(r, g->m, g->n, &g->c_bytes))
		return false;
	default_shape(&r->args.attrs, g->batch * g->m, g->n);
	return true;
}

static bool complete_vector(struct reading *r)
{
	struct given_work *g = &r->args.given;
	if (!workload_need(r, g->elements > 0, "elements") ||
		!workload_need(r, g->cycles > 0, "cycles"))
		return false;
	if (g->backward_cycles == 0)
		g->backward_cycles = g->cycles;
	if (g->read_bytes == 0)
		g->read_bytes = g->elements * g->elem_bytes;
	if (g->write_bytes == 0)
		g->write_bytes = g->elements * g->elem_bytes;
	default_shape(&r->args.attrs, g->elements, 0);
	return true;
}

bool workload_given(struct reading *r)
{
	struct given_work *copy = arena_new(r->w->a, struct given_work);
	if (r->args.given.elem_bytes == 0)
		r->args.given.elem_bytes = r->w->b.elem_bytes;
	if (!(r->kind->keys & KEY_GIVEN_GEMM ? complete_gemm(r) : complete_vector(r)))
		return false;
	*copy = r->args.given;
	r->args.attrs.given = copy;
	return true;
}
