/* The formulas of analytic/scheme.h, scheme by scheme. */
#include "analytic/scheme_forms.h"

#include <math.h>
#include <stddef.h>

static uint32_t processes(const struct scheme_form *f)
{
	return f->q->pr * f->q->pc;
}

/* Gradients of a layer that each device has one in `parts` of, over `n` that have the same. */
static void add_gradient(
	struct scheme_form *f, const struct scheme_layer *l, uint32_t n, uint32_t parts)
{
	f->out->dw_all_reduce += scheme_reduce(f, n, div_ceil(l->grid.weights, parts));
}

static void add_megatron(struct scheme_form *f)
{
	uint32_t p = f->q->pr;
	for (uint32_t i = 0; i < f->q->model->n_layers; i++) {
		const struct scheme_layer *l = &f->q->model->layers[i];
		bool column = l->slice == SLICE_COLUMN, row = l->slice == SLICE_ROW;
		if (row)
			f->out->forward += scheme_reduce(f, p, f->samples * l->row_out);
		if (row)
			f->out->backward += scheme_reduce(f, p, f->samples * l->shares);
		if (l->first_column && !l->grid.first)
			f->out->backward += scheme_reduce(f, p, f->samples * l->column_in);
		add_gradient(f, l, f->q->pc, column || row ? p : 1);
	}
}

/* Around a column layer: gathered, backward once more for dW, and dX scattered. */
static void add_column(struct scheme_form *f, const struct scheme_layer *l)
{
	uint64_t words = f->samples * l->grid.d_in;
	double gather = scheme_gather(f, f->q->pr, words);
	if (!l->first_column)
		return;
	f->out->forward += gather;
	f->out->backward += gather;
	if (!l->grid.first)
		f->out->backward += scheme_scatter(f, f->q->pr, words);
}

static void add_row(struct scheme_form *f, const struct scheme_layer *l)
{
	uint64_t words = f->samples * l->grid.d_out;
	f->out->forward += scheme_scatter(f, f->q->pr, words);
	f->out->backward += scheme_gather(f, f->q->pr, words);
}

static void add_megatron_sp(struct scheme_form *f)
{
	for (uint32_t i = 0; i < f->q->model->n_layers; i++) {
		const struct scheme_layer *l = &f->q->model->layers[i];
		bool whole = l->slice == SLICE_NONE;
		if (l->slice == SLICE_COLUMN)
			add_column(f, l);
		if (l->slice == SLICE_ROW)
			add_row(f, l);
		add_gradient(f, l, whole ? processes(f) : f->q->pc, whole ? 1 : f->q->pr);
	}
}

/* q x q devices, d copies: each of the three products moves (|A| / d + |B|) / q. */
static void add_square(struct scheme_form *f, uint32_t q, uint32_t d)
{
	for (uint32_t i = 0; i < f->q->model->n_layers; i++) {
		const struct scheme_layer *l = &f->q->model->layers[i];
		uint64_t a = div_ceil(f->samples * l->grid.d_in, (uint64_t)q * d);
		uint64_t b = div_ceil(l->grid.weights, q);
		bool dx = !l->grid.first;
		if (l->first_reader) {
			f->out->forward += scheme_gather(f, q, a);
			f->out->backward += scheme_gather(f, q, a);
			f->out->backward += dx ? scheme_scatter(f, q, a) : 0;
		}
		f->out->forward += scheme_gather(f, q, b);
		f->out->backward += scheme_scatter(f, q, b);
		f->out->backward += dx ? scheme_gather(f, q, b) : 0;
		add_gradient(f, l, d * f->q->pc, q * q);
	}
}

static void add_summa(struct scheme_form *f)
{
	add_square(f, (uint32_t)lround(sqrt(f->q->pr)), 1);
}

static void add_tesseract(struct scheme_form *f)
{
	uint32_t d = f->q->depth > 0 ? f->q->depth : scheme_depth(f->q->pr);
	add_square(f, (uint32_t)lround(sqrt((double)f->q->pr / d)), d);
}

/* q x q x q devices: each of the three products moves (|A| + |B| + |C|) / q^2. */
static void add_cube(struct scheme_form *f)
{
	uint32_t q = (uint32_t)lround(cbrt(f->q->pr));
	uint64_t face = (uint64_t)q * q;
	for (uint32_t i = 0; i < f->q->model->n_layers; i++) {
		const struct scheme_layer *l = &f->q->model->layers[i];
		uint64_t a = div_ceil(f->samples * l->grid.d_in, face);
		uint64_t b = div_ceil(l->grid.weights, face);
		uint64_t c = div_ceil(f->samples * l->grid.d_out, face);
		double gather_a = l->first_reader ? scheme_gather(f, q, a) : 0;
		double gather_b = scheme_gather(f, q, b), gather_c = scheme_gather(f, q, c);
		f->out->forward += gather_a + gather_b + scheme_scatter(f, q, c);
		f->out->backward += gather_a + gather_c + scheme_scatter(f, q, b);
		if (!l->grid.first)
			f->out->backward += gather_c + gather_b;
		if (!l->grid.first && l->first_reader)
			f->out->backward += scheme_scatter(f, q, a);
		add_gradient(f, l, f->q->pc, q * q * q);
	}
}

/* Weights that are always shared out are gathered in both passes, others when they are updated. */
static void add_zero(struct scheme_form *f, bool always_shared)
{
	for (uint32_t i = 0; i < f->q->model->n_layers; i++) {
		const struct scheme_layer *l = &f->q->model->layers[i];
		double gather = scheme_gather(f, f->q->pr, l->grid.weights);
		f->out->forward += always_shared ? gather : 0;
		f->out->backward += always_shared ? gather : 0;
		f->out->dw_all_reduce += always_shared ? 0 : gather;
		f->out->dw_all_reduce += scheme_scatter(f, f->q->pr, l->grid.weights);
		add_gradient(f, l, f->q->pc, f->q->pr);
	}
}

static void add_fsdp(struct scheme_form *f)
{
	add_zero(f, true);
}

static void add_zero_2(struct scheme_form *f)
{
	add_zero(f, false);
}

static void add_whole_gradients(struct scheme_form *f)
{
	for (uint32_t i = 0; i < f->q->model->n_layers; i++)
		add_gradient(f, &f->q->model->layers[i], processes(f), 1);
}

static void add_context(struct scheme_form *f)
{
	for (uint32_t i = 0; i < f->q->model->n_attentions; i++) {
		const struct scheme_attention *at = &f->q->model->attentions[i];
		uint64_t words = f->samples * (at->k + at->v);
		double gather = scheme_gather(f, f->q->pr, words);
		f->out->forward += gather;
		f->out->backward += gather + scheme_scatter(f, f->q->pr, words);
	}
	add_whole_gradients(f);
}

static void add_context_ring(struct scheme_form *f)
{
	struct scheme_form ring = *f;
	struct scheme_terms hops = {0};
	ring.all_gather = "ag_ring";
	ring.reduce_scatter = "rs_ring";
	ring.out = &hops;
	add_context(&ring);
	*f->out = hops;
	f->none = ring.none;
}

static void add_ulysses(struct scheme_form *f)
{
	uint32_t p = f->q->pr;
	for (uint32_t i = 0; i < f->q->model->n_attentions; i++) {
		const struct scheme_attention *at = &f->q->model->attentions[i];
		double once = scheme_exchange(f, p, div_ceil(f->samples * at->q, p)) +
			      scheme_exchange(f, p, div_ceil(f->samples * at->k, p)) +
			      scheme_exchange(f, p, div_ceil(f->samples * at->v, p)) +
			      scheme_exchange(f, p, div_ceil(f->samples * at->out, p));
		f->out->forward += once;
		f->out->backward += once;
	}
	add_whole_gradients(f);
}

static void add_expert(struct scheme_form *f)
{
	uint64_t samples = div_ceil(f->q->batch, processes(f));
	for (uint32_t i = 0; i < f->q->model->n_experts; i++) {
		uint64_t words = samples * f->q->model->experts[i].routed;
		double both = 2 * scheme_exchange(f, f->q->pr, words);
		f->out->forward += both;
		f->out->backward += both;
	}
	for (uint32_t i = 0; i < f->q->model->n_layers; i++) {
		const struct scheme_layer *l = &f->q->model->layers[i];
		bool expert = l->banks > 1;
		add_gradient(f, l, expert ? f->q->pc : processes(f), expert ? f->q->pr : 1);
	}
}

// clang-format off
const struct scheme_formula scheme_formulas[] = {
	{"context-gather", add_context},
	{"context-ring",   add_context_ring},
	{"cube-3d",        add_cube},
	{"expert",         add_expert},
	{"fsdp",           add_fsdp},
	{"megatron",       add_megatron},
	{"megatron-sp",    add_megatron_sp},
	{"summa-2d",       add_summa},
	{"tesseract-2.5d", add_tesseract},
	{"ulysses",        add_ulysses},
	{"zero-2",         add_zero_2},
};
// clang-format on

const size_t n_scheme_formulas = sizeof(scheme_formulas) / sizeof(*scheme_formulas);
