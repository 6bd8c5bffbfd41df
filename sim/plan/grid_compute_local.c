/* The work of an operator, cut to what one process of a grid has of it. */
#include <string.h>

#include "plan/grid_compute.h"

struct share {
	uint64_t part, whole;
};

static uint64_t take(uint64_t amount, struct share s)
{
	return (uint64_t)(((u128)amount * s.part + s.whole - 1) / s.whole);
}

/* Where a pass has its operands, and which dimensions count outputs and positions. */
struct operands {
	uint64_t *in_bytes, *weight_bytes, *out_bytes, *outputs, *positions;
};

static struct operands operands_of(struct work *w, enum op_pass pass)
{
	switch (pass) {
	case PASS_BACKWARD_DATA:
		return (struct operands){&w->c_bytes, &w->b_bytes, &w->a_bytes, &w->k, &w->m};
	case PASS_BACKWARD_WEIGHT:
		return (struct operands){&w->a_bytes, &w->c_bytes, &w->b_bytes, &w->n, &w->k};
	case PASS_FORWARD:
	case PASS_UPDATE:
		break;
	}
	return (struct operands){&w->a_bytes, &w->b_bytes, &w->c_bytes, &w->n, &w->m};
}

/* `local` channels lie in as few groups as can hold them. */
static void cut_groups(struct work *w, const struct operands *o, uint64_t local)
{
	uint64_t groups = w->batch;
	w->batch = div_ceil(local, *o->outputs);
	*o->outputs = div_ceil(local, w->batch);
	struct share kept = {w->batch, groups};
	*o->in_bytes = take(*o->in_bytes, kept);
	w->conv.in_channels = take(w->conv.in_channels, kept);
	w->conv.out_channels = local;
}

static void cut_outputs(struct work *w, enum op_pass pass, struct share s)
{
	struct operands o = operands_of(w, pass);
	if (w->conv.images > 0)
		cut_groups(w, &o, s.part);
	else
		*o.outputs = s.part;
	*o.weight_bytes = take(*o.weight_bytes, s);
	*o.out_bytes = take(*o.out_bytes, s);
}

static void cut_rows(struct work *w, enum op_pass pass, struct share s)
{
	struct operands o = operands_of(w, pass);
	struct conv_work *c = &w->conv;
	uint64_t reach = (uint64_t)c->dilation_h * (c->kernel_h - 1) + 1;
	uint64_t below = (s.part - 1) * c->stride_h + reach;
	struct share in = {below < c->in_h ? below : c->in_h, c->in_h};
	*o.positions = take(*o.positions, s);
	*o.out_bytes = take(*o.out_bytes, s);
	*o.in_bytes = take(*o.in_bytes, in);
	c->in_h = in.part;
	c->out_h = s.part;
}

/* Parts cut the rows of a softmax or a reduction, strips their number. */
static struct vector_work cut_pass(struct vector_work v, bool parts, struct share s)
{
	uint64_t n_rows = v.row > 0 ? v.numel / v.row : 0;
	if (v.form == VECTOR_ELEMENTWISE) {
		v.numel = take(v.numel, s);
		v.row = v.numel;
		return v;
	}
	if (parts)
		v.row = take(v.row, s);
	else
		n_rows = take(n_rows, s);
	v.numel = n_rows * v.row;
	return v;
}

/* Beside the product a layer reads parameters of its outputs; what it writes are activations in the
 * forward pass, gradients of such parameters in the backward pass. */
static void cut_vector(
	struct arena *a, struct work *w, enum op_pass pass, bool parts, struct share s)
{
	struct vector_work *passes = arena_array(a, w->n_vector, struct vector_work);
	for (uint32_t i = 0; i < w->n_vector; i++)
		passes[i] = cut_pass(w->vector[i], parts, s);
	w->vector = passes;
	if (parts)
		w->vector_read_bytes = take(w->vector_read_bytes, s);
	if (parts || pass == PASS_FORWARD)
		w->vector_write_bytes = take(w->vector_write_bytes, s);
	w->row_bytes = take(w->row_bytes, s);
	w->again_bytes = take(w->again_bytes, s);
}

void grid_local_work(struct arena *a, const struct grid_layer *layer, const struct op *op,
	enum grid_way way, uint32_t pr, struct work *out)
{
	bool parts = way == GRID_MODEL;
	uint64_t whole = parts ? layer->outputs : op->work.conv.out_h;
	struct share s = {div_ceil(whole, pr), whole};
	*out = op->work;
	if (pr == 1 || way == GRID_BATCH || whole == 0)
		return;
	if (out->batch > 0 && parts)
		cut_outputs(out, op->pass, s);
	if (out->batch > 0 && !parts)
		cut_rows(out, op->pass, s);
	cut_vector(a, out, op->pass, parts, s);
}
