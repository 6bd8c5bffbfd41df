#include "graph/op_given.h"

#include <string.h>

bool shape_given(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!v->attrs->given)
		return err_set(err, ERR_INPUT, "its work is not given");
	out->n_out = 1;
	out->out[0].n_dims = v->attrs->n_shape;
	out->out[0].elem_bytes = (uint32_t)v->attrs->given->elem_bytes;
	memcpy(out->out[0].dims, v->attrs->shape, sizeof(out->out[0].dims));
	return true;
}

void work_given_gemm(const struct op_view *v, struct work *w)
{
	const struct given_work *given = v->attrs->given;
	w->batch = given->batch;
	w->m = given->m;
	w->n = given->n;
	w->k = given->k;
	w->a_bytes = given->a_bytes;
	w->b_bytes = given->b_bytes;
	w->c_bytes = given->c_bytes;
}

void work_given_vector(const struct op_view *v, struct work *w)
{
	w->vector_read_bytes = v->attrs->given->read_bytes;
	w->vector_write_bytes = v->attrs->given->write_bytes;
}

static void add_pass(struct pass_list *list, uint64_t elements, uint32_t cycles)
{
	arena_push(list->a, list->passes, list->n, list->cap) =
		(struct vector_work){VECTOR_ELEMENTWISE, elements, elements, cycles};
}

void passes_given_vector(const struct op_view *v, struct pass_list *list)
{
	add_pass(list, v->attrs->given->elements, v->attrs->given->cycles);
}

void back_given_vector(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	add_pass(list, v->attrs->given->elements, v->attrs->given->backward_cycles);
}
