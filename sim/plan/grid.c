#include "plan/grid.h"

const char *grid_way_name(enum grid_way way)
{
	static const char *const names[] = {"batch", "model", "domain"};
	return names[way];
}

const char *iteration_term_name(enum iteration_term term)
{
	static const char *const names[N_ITERATION_TERMS] = {
		[TERM_COMPUTE] = "compute",
		[TERM_ALL_GATHER] = "all_gather",
		[TERM_DX_ALL_REDUCE] = "dx_all_reduce",
		[TERM_DW_ALL_REDUCE] = "dw_all_reduce",
		[TERM_HALO_FORWARD] = "halo_forward",
		[TERM_HALO_BACKWARD] = "halo_backward",
		[TERM_REDISTRIBUTE] = "redistribute",
		[TERM_FORWARD] = "forward",
		[TERM_BACKWARD] = "backward",
	};
	return names[term];
}

struct process_grid grid_of(const struct grid_question *q, uint32_t layer)
{
	return q->layers[layer].conv && q->conv.pr > 0 ? q->conv : q->grid;
}

static uint64_t local_samples(const struct grid_question *q, uint32_t layer)
{
	return div_ceil(q->batch, grid_of(q, layer).pc);
}

uint64_t grid_output_bytes(const struct grid_question *q, uint32_t layer)
{
	return local_samples(q, layer) * q->layers[layer].d_out * q->word_bytes;
}

uint64_t grid_input_bytes(const struct grid_question *q, uint32_t layer)
{
	return local_samples(q, layer) * q->layers[layer].d_in * q->word_bytes;
}

uint64_t grid_weight_bytes(const struct grid_question *q, uint32_t layer, enum grid_way way)
{
	uint64_t parts = way == GRID_MODEL ? grid_of(q, layer).pr : 1;
	return div_ceil(q->layers[layer].weights, parts) * q->word_bytes;
}

uint64_t grid_halo_bytes(const struct grid_question *q, uint32_t layer, bool forward)
{
	const struct grid_layer *l = &q->layers[layer];
	uint64_t row = forward ? (uint64_t)l->in_w * l->in_c : (uint64_t)l->out_w * l->out_c;
	return local_samples(q, layer) * row * (l->kernel_h / 2) * q->word_bytes;
}

enum grid_move grid_move(
	const struct grid_question *q, uint32_t layer, enum grid_way before, enum grid_way way)
{
	struct process_grid g = grid_of(q, layer), front = layer ? grid_of(q, layer - 1) : g;
	bool same_grid = g.pr == front.pr;
	/* Samples of processes are the same ones on any grid. */
	if (layer == 0 || g.pr == 1 || (before == way && (same_grid || way == GRID_BATCH)))
		return GRID_STAY;
	if (way == GRID_MODEL)
		return GRID_GATHER_FORWARD;
	return before == GRID_MODEL ? GRID_GATHER_BACKWARD : GRID_EXCHANGE;
}

uint64_t grid_move_bytes(const struct grid_question *q, uint32_t layer, enum grid_move move)
{
	uint64_t bytes = grid_input_bytes(q, layer);
	switch (move) {
	case GRID_STAY:
		return 0;
	case GRID_GATHER_FORWARD:
	case GRID_GATHER_BACKWARD:
		return bytes;
	case GRID_EXCHANGE:
		break;
	}
	return div_ceil(bytes, grid_of(q, layer).pr);
}

double grid_memory_bytes(const struct grid_question *q, const enum grid_way *ways, uint32_t copies)
{
	double words = 0;
	for (uint32_t i = 0; i < q->n_layers; i++) {
		const struct grid_layer *l = &q->layers[i];
		struct process_grid g = grid_of(q, i);
		bool model = ways[i] == GRID_MODEL;
		double split = model ? g.pr : 1, groups = model ? g.pc : (double)g.pr * g.pc;
		words += copies * (double)l->weights / split;
		words += (double)q->batch / groups * (double)(l->d_in + l->d_out);
	}
	return words * q->word_bytes;
}
