#include "graph/op_experts.h"

#include <inttypes.h>
#include <string.h>

static uint64_t last_dim(const struct tensor *t)
{
	return t->dims[t->n_dims - 1];
}

static uint64_t rows_of(const struct tensor *t)
{
	return tensor_elements(t) / last_dim(t);
}

static bool need_dims(const struct tensor *t, uint32_t min, struct err *err)
{
	return t->n_dims >= min ||
	       err_set(err, ERR_INPUT,
		       "an input of at least %u dimensions is expected, this one has %u", min,
		       t->n_dims);
}

/* A copy of `like` whose last dimension is `last`. */
static struct tensor *add_output(struct op_shapes *out, const struct tensor *like, uint64_t last)
{
	struct tensor *t = &out->out[out->n_out++];
	t->n_dims = like->n_dims;
	memcpy(t->dims, like->dims, sizeof(t->dims));
	t->dims[t->n_dims - 1] = last;
	return t;
}

static void add_pass(struct pass_list *list, uint64_t numel, uint32_t cycles)
{
	arena_push(list->a, list->passes, list->n, list->cap) =
		(struct vector_work){VECTOR_ELEMENTWISE, numel, numel, cycles};
}

bool shape_embedding_bag(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!need_dims(v->in[0], 2, err) || !need_dims(v->in[1], 2, err))
		return false;
	if (v->in[1]->n_dims != 2)
		return err_set(err, ERR_INPUT, "a table [rows, features] is expected");
	add_output(out, v->in[0], v->in[1]->dims[1]);
	return true;
}

void work_lookup(const struct op_view *v, struct work *w)
{
	const struct tensor *table = v->in[1];
	w->vector_read_bytes = tensor_bytes(v->in[0]) +
			       tensor_elements(v->in[0]) * table->dims[1] * table->elem_bytes;
	w->vector_write_bytes = tensor_bytes(v->out[0]);
}

void passes_embedding_bag(const struct op_view *v, struct pass_list *list)
{
	add_pass(list, tensor_elements(v->in[0]) * v->in[1]->dims[1], v->kind->forward_cycles);
}

bool shape_top_k(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!need_dims(v->in[0], 2, err))
		return false;
	if (v->attrs->count > last_dim(v->in[0]))
		return err_set(err, ERR_INPUT, "the %u largest of %" PRIu64 " are asked for",
			v->attrs->count, last_dim(v->in[0]));
	add_output(out, v->in[0], v->attrs->count);
	add_output(out, v->in[0], v->attrs->count)->elem_bytes = 4;
	return true;
}

void passes_top_k(const struct op_view *v, struct pass_list *list)
{
	add_pass(list, tensor_elements(v->in[0]), v->attrs->count * v->kind->forward_cycles);
}

static bool need_rows(const struct op_view *v, uint64_t rows, uint64_t k, struct err *err)
{
	return rows_of(v->in[1]) == rows ||
	       err_set(err, ERR_INPUT,
		       "%" PRIu64 " tokens of %" PRIu64
		       " experts each are expected, there are %" PRIu64,
		       rows, k, rows_of(v->in[1]));
}

bool shape_expert_dispatch(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	if (!need_dims(v->in[0], 2, err) || !need_dims(v->in[1], 2, err))
		return false;
	uint64_t k = last_dim(v->in[1]), rows = rows_of(v->in[0]), n = v->attrs->count;
	if (!need_rows(v, rows, k, err))
		return false;
	if (k > n)
		return err_set(err, ERR_INPUT, "%" PRIu64 " experts for a token, there are %u", k,
			v->attrs->count);
	struct tensor *t = &out->out[out->n_out++];
	t->n_dims = 3;
	t->dims[0] = n;
	t->dims[1] = (rows * k + n - 1) / n;
	t->dims[2] = last_dim(v->in[0]);
	return true;
}

bool shape_expert_combine(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *y = v->in[0], *weights = v->in[1];
	if (y->n_dims != 3)
		return err_set(err, ERR_INPUT, "an input [experts, rows, features] is expected");
	if (!need_dims(weights, 2, err))
		return false;
	if (tensor_elements(weights) > y->dims[0] * y->dims[1])
		return err_set(err, ERR_INPUT,
			"%" PRIu64 " weights for %" PRIu64 " rows of experts",
			tensor_elements(weights), y->dims[0] * y->dims[1]);
	add_output(out, weights, y->dims[2]);
	return true;
}

void passes_expert_combine(const struct op_view *v, struct pass_list *list)
{
	add_pass(list, tensor_elements(v->in[1]) * last_dim(v->in[0]), v->kind->forward_cycles);
}

void back_expert_combine(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	for (uint32_t i = 0; i < 2; i++)
		if (grads & 1u << i)
			add_pass(list, tensor_elements(v->in[1]) * last_dim(v->in[0]),
				v->kind->backward_cycles[i]);
}

bool shape_lower_triangle(const struct op_view *v, struct op_shapes *out, struct err *err)
{
	const struct tensor *x = v->in[0];
	if (!need_dims(x, 2, err))
		return false;
	uint64_t n = last_dim(x);
	if (x->dims[x->n_dims - 2] != n || n < 2)
		return err_set(err, ERR_INPUT, "a square of at least 2 is expected");
	struct tensor *t = add_output(out, x, n);
	t->n_dims--;
	t->dims[t->n_dims - 1] = n * (n - 1) / 2;
	return true;
}
