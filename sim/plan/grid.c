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

/* What the processes of a grid have or want in one way. */
struct holding {
	enum grid_way way;
	struct process_grid grid;
};

struct path {
	uint64_t sample_bytes;
	uint64_t batch;
	struct grid_move *moves;
	uint32_t n;
};

static void add_step(struct path *p, enum grid_move_kind kind, struct process_grid g)
{
	uint64_t bytes = div_ceil(p->batch, g.pc) * p->sample_bytes;
	if (g.pr > 1)
		p->moves[p->n++] = (struct grid_move){
			kind, g, kind == GRID_EXCHANGE ? div_ceil(bytes, g.pr) : bytes};
}

static void add_path(struct path *p, struct holding from, struct holding to)
{
	bool enough = from.way == GRID_MODEL && from.grid.pr >= to.grid.pr;
	bool same = from.way == to.way && from.grid.pr == to.grid.pr;
	/* A strip of a smaller grid is a share of the larger one's samples already. */
	bool share = to.way == GRID_MODEL && from.grid.pr <= to.grid.pr;
	if (enough || same)
		return;
	if (from.way == GRID_DOMAIN && !share)
		add_step(p, GRID_EXCHANGE, from.grid);
	if (to.way == GRID_MODEL)
		add_step(p, GRID_GATHER, to.grid);
	if (to.way == GRID_DOMAIN)
		add_step(p, GRID_EXCHANGE, to.grid);
}

uint32_t grid_moves(const struct grid_question *q, uint32_t layer, enum grid_way before,
	enum grid_way way, bool forward, struct grid_move out[GRID_MAX_MOVES])
{
	struct path p = {.batch = q->batch, .moves = out};
	if (layer == 0)
		return 0;
	struct holding front = {before, grid_of(q, layer - 1)}, here = {way, grid_of(q, layer)};
	p.sample_bytes = q->layers[layer].d_in * q->word_bytes;
	if (forward)
		add_path(&p, front, here);
	else
		add_path(&p, here, front);
	return p.n;
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
