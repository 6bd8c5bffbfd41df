#include "graph/op_work.h"

enum {
	MAC = 1,
	POW = 15,
	DIV = 10,
	LRN_FORWARD = MAC + POW + DIV, /* beside the window, see op_kinds.h */
	LRN_BACKWARD = 26,
	LOG_SOFTMAX_FORWARD = 13,
	LOG_SOFTMAX_BACKWARD = 2,
	LIKELIHOOD = 2,
};

static void add_pass(struct pass_list *list, struct vector_work pass)
{
	arena_push(list->a, list->passes, list->n, list->cap) = pass;
}

static void add_elementwise(struct pass_list *list, uint64_t numel, uint32_t cycles)
{
	add_pass(list, (struct vector_work){VECTOR_ELEMENTWISE, numel, numel, cycles});
}

/* `bytes` of rows of `row_bytes` each, read again where a row does not fit. */
static void add_rows(struct pass_list *list, uint64_t row_bytes, uint64_t bytes)
{
	if (row_bytes > list->row_bytes)
		list->row_bytes = row_bytes;
	list->again_bytes += bytes;
}

static uint64_t last_dim(const struct tensor *t)
{
	return t->dims[t->n_dims - 1];
}

static void operand_bytes(const struct op_view *v, struct work *w)
{
	w->a_bytes = tensor_bytes(v->in[0]);
	w->b_bytes = tensor_bytes(v->in[1]);
	w->c_bytes = tensor_bytes(v->out[0]);
	if (v->n_in > 2)
		w->vector_read_bytes = tensor_bytes(v->in[2]);
}

void work_gemm(const struct op_view *v, struct work *w)
{
	w->batch = 1;
	w->n = last_dim(v->out[0]);
	w->m = tensor_elements(v->out[0]) / w->n;
	w->k = tensor_elements(v->in[0]) / w->m;
	operand_bytes(v, w);
}

void work_matmul(const struct op_view *v, struct work *w)
{
	const struct tensor *x = v->in[0], *y = v->in[1];
	uint32_t rows = v->out[0]->n_dims - 2;
	w->n = v->out[0]->dims[rows + 1];
	w->m = v->out[0]->dims[rows];
	w->k = x->dims[x->n_dims - 2 + !v->attrs->transpose_a];
	w->batch = tensor_elements(v->out[0]) / (w->m * w->n);
	if (tensor_elements(y) == w->k * w->n) { /* one right-hand side for all: one tall product */
		w->m *= w->batch;
		w->batch = 1;
	}
	operand_bytes(v, w);
}

void work_conv(const struct op_view *v, struct work *w)
{
	const struct tensor *x = v->in[0], *weight = v->in[1], *y = v->out[0];
	const struct op_attrs *a = v->attrs;
	w->conv = (struct conv_work){
		.images = x->dims[0],
		.in_channels = x->dims[1],
		.in_h = x->dims[2],
		.in_w = x->dims[3],
		.out_channels = y->dims[1],
		.out_h = y->dims[2],
		.out_w = y->dims[3],
		.kernel_h = a->kernel[0],
		.kernel_w = a->kernel[1],
		.stride_h = a->stride[0],
		.stride_w = a->stride[1],
		.dilation_h = a->dilation[0],
		.dilation_w = a->dilation[1],
	};
	w->batch = a->group;
	w->m = y->dims[0] * y->dims[2] * y->dims[3];
	w->n = y->dims[1] / a->group;
	w->k = tensor_elements(weight) / weight->dims[0];
	operand_bytes(v, w);
}

void work_conv_transpose(const struct op_view *v, struct work *w)
{
	const struct tensor *x = v->in[0], *weight = v->in[1];
	w->batch = v->attrs->group;
	w->m = x->dims[0] * x->dims[2] * x->dims[3];
	w->n = tensor_elements(weight) / weight->dims[0];
	w->k = weight->dims[0] / v->attrs->group;
	operand_bytes(v, w);
}

void work_reduce(const struct op_view *v, struct work *w)
{
	w->collective_bytes = tensor_bytes(v->in[0]);
}

void work_gather(const struct op_view *v, struct work *w)
{
	w->link = LINK_ALLGATHER;
	w->collective_bytes = tensor_bytes(v->out[0]);
}

void work_scatter(const struct op_view *v, struct work *w)
{
	w->link = LINK_REDUCESCATTER;
	w->collective_bytes = tensor_bytes(v->in[0]);
}

void passes_elementwise(const struct op_view *v, struct pass_list *list)
{
	add_elementwise(list, tensor_elements(v->out[0]), v->kind->forward_cycles);
}

void passes_pool(const struct op_view *v, struct pass_list *list)
{
	add_elementwise(
		list, tensor_elements(v->out[0]), v->attrs->kernel[0] * v->attrs->kernel[1]);
}

void passes_global_pool(const struct op_view *v, struct pass_list *list)
{
	uint64_t window = tensor_elements(v->in[0]) / tensor_elements(v->out[0]);
	add_elementwise(list, tensor_elements(v->out[0]), (uint32_t)window);
}

void passes_batch_norm(const struct op_view *v, struct pass_list *list)
{
	passes_elementwise(v, list);
	add_rows(list, tensor_bytes(v->in[0]), tensor_bytes(v->in[0]));
}

static uint64_t norm_row_bytes(const struct op_view *v)
{
	const struct tensor *x = v->in[0];
	uint64_t bytes = x->elem_bytes;
	for (uint32_t i = v->attrs->axis ? v->attrs->axis : x->n_dims - 1; i < x->n_dims; i++)
		bytes *= x->dims[i];
	return bytes;
}

void passes_last_norm(const struct op_view *v, struct pass_list *list)
{
	passes_elementwise(v, list);
	add_rows(list, norm_row_bytes(v), tensor_bytes(v->in[0]));
}

static uint64_t softmax_row_bytes(const struct op_view *v)
{
	return v->in[0]->dims[v->attrs->axis] * v->in[0]->elem_bytes;
}

void passes_softmax(const struct op_view *v, struct pass_list *list)
{
	add_rows(list, softmax_row_bytes(v), tensor_bytes(v->in[0]));
	add_pass(list, (struct vector_work){VECTOR_SOFTMAX, tensor_elements(v->in[0]),
			       v->in[0]->dims[v->attrs->axis], v->kind->forward_cycles});
}

void passes_reduce(const struct op_view *v, struct pass_list *list)
{
	uint64_t numel = tensor_elements(v->in[0]);
	add_pass(list, (struct vector_work){VECTOR_REDUCE, numel,
			       numel / tensor_elements(v->out[0]), v->kind->forward_cycles});
}

void passes_mean(const struct op_view *v, struct pass_list *list)
{
	uint64_t numel = tensor_elements(v->in[0]);
	add_pass(list, (struct vector_work){VECTOR_REDUCE, numel,
			       numel / tensor_elements(v->out[0]), v->kind->forward_cycles});
}

void passes_lrn(const struct op_view *v, struct pass_list *list)
{
	add_elementwise(list, tensor_elements(v->out[0]), v->attrs->kernel[0] * MAC + LRN_FORWARD);
}

void passes_loss(const struct op_view *v, struct pass_list *list)
{
	add_rows(list, last_dim(v->in[0]) * v->in[0]->elem_bytes, tensor_bytes(v->in[0]));
	add_pass(list, (struct vector_work){VECTOR_SOFTMAX, tensor_elements(v->in[0]),
			       last_dim(v->in[0]), LOG_SOFTMAX_FORWARD});
	add_elementwise(list, tensor_elements(v->out[0]), LIKELIHOOD);
}

void back_elementwise(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	add_elementwise(list, tensor_elements(v->in[0]), v->kind->backward_cycles[0]);
}

void back_injective(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	for (uint32_t i = 0; i < v->n_in; i++)
		if (grads & 1u << i)
			add_elementwise(
				list, tensor_elements(v->out[0]), v->kind->backward_cycles[i > 0]);
}

/* The sums over a row take what was saved and the gradient that came in; both are read again for
 * the result. */
void back_batch_norm(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	back_elementwise(v, grads, list);
	add_rows(list, 2 * tensor_bytes(v->in[0]), 2 * tensor_bytes(v->in[0]));
}

void back_last_norm(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	back_elementwise(v, grads, list);
	add_rows(list, 2 * norm_row_bytes(v), 2 * tensor_bytes(v->in[0]));
}

void back_softmax(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	back_elementwise(v, grads, list);
	add_rows(list, 2 * softmax_row_bytes(v), 2 * tensor_bytes(v->in[0]));
}

void back_rows(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	add_elementwise(list, tensor_elements(v->out[0]), v->kind->backward_cycles[0]);
}

void back_resize(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	passes_pool(v, list);
}

void back_none(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
}

void back_mean(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	passes_mean(v, list);
}

void back_lrn(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	add_elementwise(
		list, tensor_elements(v->out[0]), 2 * v->attrs->kernel[0] * MAC + LRN_BACKWARD);
}

void back_loss(const struct op_view *v, uint32_t grads, struct pass_list *list)
{
	add_elementwise(list, tensor_elements(v->in[0]), LOG_SOFTMAX_BACKWARD);
	add_elementwise(list, tensor_elements(v->out[0]), LIKELIHOOD);
}

uint32_t update_cycles(enum optimizer optimizer)
{
	switch (optimizer) {
	case OPTIMIZER_SGD:
		return 1;
	case OPTIMIZER_MOMENTUM:
		return 2;
	case OPTIMIZER_ADAM:
		return 32;
	}
	return 0;
}

static uint64_t moments_of(enum optimizer optimizer)
{
	switch (optimizer) {
	case OPTIMIZER_SGD:
		return 0;
	case OPTIMIZER_MOMENTUM:
		return 1;
	case OPTIMIZER_ADAM:
		return 2;
	}
	return 0;
}

void update_bytes(enum optimizer optimizer, uint64_t elements, uint32_t elem_bytes, uint64_t *read,
	uint64_t *written)
{
	uint64_t state_bytes = 4 * (1 + moments_of(optimizer));
	*read = elements * (state_bytes + elem_bytes);
	*written = elements * (state_bytes + (elem_bytes < 4 ? elem_bytes : 0));
}
