/* One iteration on the grid as a prog. */
#include "plan/grid.h"

enum { STREAM_COMPUTE, STREAM_COMM, STREAM_GRADIENTS };

/* Ranks are numbered so that the groups of both grids are joined dimensions: `inner` processes of
 * the smaller Pr, `outer` times as many in the larger, `groups` of those. */
struct axes {
	uint32_t inner, outer, groups;
	uint32_t inner_bit, outer_bit, groups_bit;
};

struct emitter {
	const struct grid_question *q;
	const enum grid_way *ways;
	const struct grid_options *options;
	struct arena *a;
	struct prog_builder *builder;
	struct axes axes;
	/* What the next task waits for: the last one, and a halo that the layer hid. */
	uint32_t front[2], n_front;
	enum iteration_term *terms;
	uint32_t *layers;
	uint32_t n_terms, n_layers, cap_terms, cap_layers;
};

static bool find_axes(
	const struct grid_question *q, bool pc_fastest, struct axes *out, struct err *err)
{
	uint32_t a = q->grid.pr, b = q->conv.pr > 0 ? q->conv.pr : a;
	uint32_t small = a < b ? a : b, large = a < b ? b : a;
	if (large % small != 0)
		return err_set(err, ERR_INPUT,
			"convolutions over Pr %u and the rest over %u, expected one to divide the "
			"other",
			b, a);
	*out = (struct axes){
		.inner = small, .outer = large / small, .groups = q->grid.pr * q->grid.pc / large};
	bool split = out->outer > 1;
	out->inner_bit = pc_fastest ? 2 : 1;
	out->outer_bit = split ? out->inner_bit << 1 : 0;
	out->groups_bit = pc_fastest ? 1 : split ? 4 : 2;
	return true;
}

static void add_dim(struct prog_grid *g, const char *name, uint32_t size)
{
	g->names[g->n_dims] = name;
	g->sizes[g->n_dims++] = size;
}

static struct prog_grid prog_grid_of(const struct axes *x, bool pc_fastest)
{
	struct prog_grid g = {0};
	if (pc_fastest)
		add_dim(&g, "pc", x->groups);
	add_dim(&g, "pr", x->inner);
	if (x->outer > 1)
		add_dim(&g, "pr2", x->outer);
	if (!pc_fastest)
		add_dim(&g, "pc", x->groups);
	return g;
}

/* The dimensions that the Pr processes of a grid differ in. */
static uint32_t rows_of(const struct emitter *e, struct process_grid g)
{
	return g.pr == e->axes.inner ? e->axes.inner_bit : e->axes.inner_bit | e->axes.outer_bit;
}

static uint32_t add(
	struct emitter *e, uint32_t layer, enum iteration_term term, const struct prog_task *task)
{
	struct prog_task t = *task;
	t.label = arena_printf(e->a, "%s %s", e->q->layers[layer].name, iteration_term_name(term));
	t.after = e->front;
	t.n_after = e->n_front;
	arena_push(e->a, e->terms, e->n_terms, e->cap_terms) = term;
	arena_push(e->a, e->layers, e->n_layers, e->cap_layers) = layer;
	return prog_add_task(e->builder, &t);
}

static void set_front(struct emitter *e, uint32_t task)
{
	e->front[0] = task;
	e->n_front = 1;
}

struct collective {
	enum iteration_term term;
	enum coll_kind kind;
	uint32_t dims, n_ranks;
	uint64_t bytes;
};

static void add_collective(struct emitter *e, uint32_t layer, const struct collective *c)
{
	const struct grid_options *o = e->options;
	bool hides = o->overlap && c->term == TERM_DW_ALL_REDUCE;
	struct prog_task task = {.kind = TASK_COLL,
		.stream = hides ? STREAM_GRADIENTS : STREAM_COMM,
		.cost = PROG_NONE,
		.peer.dim = PROG_NONE,
		.coll = c->kind,
		.bytes = c->bytes};
	if (c->n_ranks == 1 || c->bytes == 0)
		return;
	task.group = prog_add_group(e->builder, c->dims);
	if (c->kind == COLL_ALLGATHER)
		task.algo = o->all_gather ? o->all_gather : "bruck";
	if (c->kind == COLL_ALLREDUCE)
		task.algo = o->all_reduce ? o->all_reduce : "rabenseifner";
	if (c->kind == COLL_ALLTOALL)
		task.algo = "pairwise";
	if (c->kind == COLL_HALO)
		task.algo = "line";
	uint32_t id = add(e, layer, c->term, &task);
	if (!hides)
		set_front(e, id);
}

static void add_compute(struct emitter *e, uint32_t layer, enum task_phase phase, tick duration)
{
	struct prog_task task = {.kind = TASK_COMPUTE,
		.phase = phase,
		.stream = STREAM_COMPUTE,
		.cost = PROG_NONE,
		.peer.dim = PROG_NONE,
		.duration = duration};
	if (e->options->times)
		set_front(e, add(e, layer, TERM_COMPUTE, &task));
}

static void add_moves(struct emitter *e, uint32_t layer, bool forward)
{
	struct grid_move moves[GRID_MAX_MOVES];
	enum grid_way before = e->ways[layer > 0 ? layer - 1 : 0];
	uint32_t n = grid_moves(e->q, layer, before, e->ways[layer], forward, moves);
	for (uint32_t i = 0; i < n; i++)
		add_collective(e, layer,
			&(struct collective){TERM_REDISTRIBUTE,
				moves[i].kind == GRID_GATHER ? COLL_ALLGATHER : COLL_ALLTOALL,
				rows_of(e, moves[i].grid), moves[i].grid.pr, moves[i].bytes});
}

/* Rows from both neighbours; where they hide, what waited for them waits beside the layer. */
static void add_halo(struct emitter *e, uint32_t layer, bool forward)
{
	struct process_grid g = grid_of(e->q, layer);
	if (e->ways[layer] == GRID_DOMAIN)
		add_collective(e, layer,
			&(struct collective){forward ? TERM_HALO_FORWARD : TERM_HALO_BACKWARD,
				COLL_HALO, rows_of(e, g), g.pr,
				grid_halo_bytes(e->q, layer, forward)});
}

/* A halo and the computation that needs it for its edges only. */
static void add_halo_and(struct emitter *e, uint32_t layer, enum task_phase phase, tick duration)
{
	uint32_t before[2] = {e->front[0], e->front[1]}, n_before = e->n_front;
	bool forward = phase == PHASE_FORWARD;
	if (forward || !e->q->layers[layer].first)
		add_halo(e, layer, forward);
	uint32_t halo = e->front[0];
	bool hides = e->options->overlap && e->options->times && e->n_front == 1 &&
		     (n_before == 0 || halo != before[0]);
	if (hides) {
		e->front[0] = before[0];
		e->front[1] = before[1];
		e->n_front = n_before;
	}
	add_compute(e, layer, phase, duration);
	if (hides)
		e->front[e->n_front++] = halo;
}

static void add_forward(struct emitter *e, uint32_t layer)
{
	const struct grid_times *t = e->options->times;
	struct process_grid g = grid_of(e->q, layer);
	add_moves(e, layer, true);
	add_halo_and(e, layer, PHASE_FORWARD, t ? t[layer].forward : 0);
	if (e->ways[layer] == GRID_MODEL)
		add_collective(e, layer,
			&(struct collective){TERM_ALL_GATHER, COLL_ALLGATHER, rows_of(e, g), g.pr,
				grid_output_bytes(e->q, layer)});
}

static void add_backward(struct emitter *e, uint32_t layer)
{
	const struct grid_times *t = e->options->times;
	struct process_grid g = grid_of(e->q, layer);
	bool model = e->ways[layer] == GRID_MODEL;
	uint32_t all = e->axes.inner_bit | e->axes.outer_bit | e->axes.groups_bit;
	add_halo_and(e, layer, PHASE_BACKWARD, t ? t[layer].dw : 0);
	add_collective(e, layer,
		&(struct collective){TERM_DW_ALL_REDUCE, COLL_ALLREDUCE,
			model ? all & ~rows_of(e, g) : all, model ? g.pc : g.pr * g.pc,
			grid_weight_bytes(e->q, layer, e->ways[layer])});
	if (e->q->layers[layer].first)
		return;
	add_compute(e, layer, PHASE_BACKWARD, t ? t[layer].dx : 0);
	if (model)
		add_collective(e, layer,
			&(struct collective){TERM_DX_ALL_REDUCE, COLL_ALLREDUCE, rows_of(e, g),
				g.pr, grid_input_bytes(e->q, layer)});
	add_moves(e, layer, false);
}

bool grid_schedule(struct arena *a, const struct grid_question *q, const enum grid_way *ways,
	const struct grid_options *options, struct iteration *out, struct err *err)
{
	struct emitter e = {.q = q, .ways = ways, .options = options, .a = a};
	if (!grid_check(q, q->grid.pr * q->grid.pc, err))
		return false;
	for (uint32_t i = 0; i < q->n_layers; i++)
		if (!grid_check_layer(q, i, ways[i], err))
			return false;
	if (!find_axes(q, options->pc_fastest, &e.axes, err))
		return false;
	struct prog_grid grid = prog_grid_of(&e.axes, options->pc_fastest);
	uint32_t lo[PROG_MAX_DIMS] = {0}, hi[PROG_MAX_DIMS];
	for (uint32_t d = 0; d < grid.n_dims; d++)
		hi[d] = grid.sizes[d] - 1;
	e.builder = prog_build(a, &grid);
	prog_add_role(e.builder, "all", lo, hi);
	for (uint32_t i = 0; i < q->n_layers; i++)
		add_forward(&e, i);
	for (uint32_t i = q->n_layers; i-- > 0;)
		add_backward(&e, i);
	prog_finish(e.builder, &out->prog);
	out->terms = e.terms;
	out->layers = e.layers;
	return true;
}
