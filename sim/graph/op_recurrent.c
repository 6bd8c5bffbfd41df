#include "graph/op_recurrent.h"

#include <inttypes.h>
#include <string.h>

bool shape_recurrent(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0], *w = v->in[1];
	if (x->n_dims < 2)
		return err_set(err, ERR_INPUT, "an input [..., steps, gates] is expected");
	uint64_t n = x->dims[x->n_dims - 1], hidden = v->attrs->count ? n / v->attrs->count : 0;
	if (w->n_dims != 2 || w->dims[0] != hidden || w->dims[1] != n)
		return err_set(err, ERR_INPUT,
			"a weight [%" PRIu64 ",%" PRIu64 "] is expected for %u gates", hidden, n,
			v->attrs->count);
	if (v->n_in > 2 && tensor_elements(v->in[2]) != n)
		return err_set(err, ERR_INPUT, "a bias of %" PRIu64 " elements is expected", n);
	out->n_out = 1;
	out->out[0].n_dims = x->n_dims;
	memcpy(out->out[0].dims, x->dims, sizeof(x->dims));
	return true;
}

void work_recurrent(const struct op_view *v, struct work *w)
{
	const struct tensor *x = v->in[0];
	w->batch = x->dims[x->n_dims - 2];
	w->n = x->dims[x->n_dims - 1];
	w->m = tensor_elements(x) / w->n / w->batch;
	w->k = w->n / v->attrs->count;
	w->a_bytes = tensor_bytes(x); /* the hidden states count below: dX is as large as x */
	w->b_bytes = tensor_bytes(v->in[1]);
	w->c_bytes = tensor_bytes(v->out[0]);
	w->vector_read_bytes =
		tensor_bytes(x) / v->attrs->count + (v->n_in > 2 ? tensor_bytes(v->in[2]) : 0);
}

bool shape_lstm_cell(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	if (x->n_dims < 1 || x->dims[x->n_dims - 1] % 4 != 0)
		return err_set(err, ERR_INPUT, "a last dimension of 4 gates is expected");
	for (out->n_out = 0; out->n_out < 2; out->n_out++) {
		struct tensor *t = &out->out[out->n_out];
		t->n_dims = x->n_dims;
		memcpy(t->dims, x->dims, sizeof(x->dims));
		t->dims[x->n_dims - 1] /= 4;
	}
	return true;
}

bool shape_gru_cell(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	if (x->n_dims < 1 || x->dims[x->n_dims - 1] % 3 != 0)
		return err_set(err, ERR_INPUT, "a last dimension of 3 gates is expected");
	out->n_out = 1;
	out->out[0].n_dims = x->n_dims;
	memcpy(out->out[0].dims, x->dims, sizeof(x->dims));
	out->out[0].dims[x->n_dims - 1] /= 3;
	return true;
}
