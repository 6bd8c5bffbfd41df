#include "analytic/integrated.h"

#include <math.h>

#include "base/units.h"

static double log_up(uint32_t n)
{
	uint32_t log = 0;
	while (log < 32 && UINT64_C(1) << log < n)
		log++;
	return (double)log;
}

static uint32_t processes(struct process_grid g)
{
	return g.pr * g.pc;
}

/* As printed, a fraction where Pc does not divide the batch. */
static double samples_of(const struct integrated_case *c, struct process_grid g)
{
	return (double)c->q.batch / (double)g.pc;
}

static double message_s(const struct integrated_case *c, double words)
{
	return c->machine.alpha + c->machine.beta * (double)c->q.word_bytes * words;
}

/* alpha ceil(log2 n) + beta words (n - 1) / n: Bruck's, for any n. */
static double gather_s(const struct integrated_case *c, uint32_t n, double words)
{
	return log_up(n) * c->machine.alpha +
	       c->machine.beta * (double)c->q.word_bytes * words * (double)(n - 1) / (double)n;
}

static double reduce_s(const struct integrated_case *c, uint32_t n, double words)
{
	double added =
		c->machine.gamma * (double)c->q.word_bytes * words * (double)(n - 1) / (double)n;
	return 2 * gather_s(c, n, words) + added;
}

/* A plane of width x channels for each row of the halo, floor(kernel / 2) of them. */
static double planes(uint32_t width, uint32_t channels, uint32_t kernel)
{
	uint32_t rows = kernel / 2;
	return (double)width * channels * rows;
}

static double halo_back_words(
	const struct integrated_case *c, const struct integrated_rules *rules, uint32_t layer)
{
	const struct grid_layer *l = &c->q.layers[layer];
	const struct grid_layer *next = layer + 1 < c->q.n_layers ? l + 1 : NULL;
	if (rules->halo_of_next && next && next->in_w > 0)
		return planes(next->in_w, next->in_c, l->kernel_w);
	return planes(l->out_w, l->out_c, l->kernel_w);
}

/* `words` a sample, one neighbour's. */
static double printed_halo_s(const struct integrated_case *c, struct process_grid g, double words)
{
	return words > 0 ? message_s(c, samples_of(c, g) * words) : 0;
}

/* Both neighbours' at once through one port; of two strips each has one neighbour. */
static double run_halo_s(const struct integrated_case *c, uint32_t layer, bool forward)
{
	uint64_t bytes = grid_halo_bytes(&c->q, layer, forward);
	double neighbors = grid_of(&c->q, layer).pr > 2 ? 2 : 1;
	return bytes > 0 ? c->machine.alpha + neighbors * c->machine.beta * (double)bytes : 0;
}

static void add_halo(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t layer, struct integrated_terms *out)
{
	const struct grid_layer *l = &c->q.layers[layer];
	struct process_grid g = grid_of(&c->q, layer);
	if (!l->conv)
		out->halo_forward = out->halo_backward = (double)INFINITY;
	if (g.pr == 1 || !l->conv)
		return;
	out->halo_forward = rules->all_reduce
				    ? run_halo_s(c, layer, true)
				    : printed_halo_s(c, g, planes(l->in_w, l->in_c, l->kernel_h));
	/* Nobody waits for the gradient of the images. */
	if (l->first && rules->gradient_of_input)
		return;
	out->halo_backward = rules->all_reduce
				     ? run_halo_s(c, layer, false)
				     : printed_halo_s(c, g, halo_back_words(c, rules, layer));
}

static struct integrated_terms printed_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum grid_way way)
{
	struct integrated_terms t = {0};
	const struct grid_layer *l = &c->q.layers[layer];
	struct process_grid g = grid_of(&c->q, layer);
	double back = (double)(rules->gradient_of_input ? l->d_in : l->d_out);
	if (way != GRID_MODEL) {
		t.dw_all_reduce = reduce_s(c, processes(c->q.grid), (double)l->weights);
		return t;
	}
	t.all_gather = gather_s(c, g.pr, samples_of(c, g) * (double)l->d_out);
	if (!l->first || !rules->gradient_of_input)
		t.dx_all_reduce = reduce_s(c, g.pr, samples_of(c, g) * back);
	t.dw_all_reduce = reduce_s(c, g.pc, (double)l->weights / g.pr);
	return t;
}

static struct integrated_terms run_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum grid_way way)
{
	struct integrated_terms t = {0};
	struct process_grid g = grid_of(&c->q, layer);
	const struct alpha_beta *ab = &c->machine;
	uint32_t n = way == GRID_MODEL ? g.pc : processes(g);
	uint64_t weights = grid_weight_bytes(&c->q, layer, way);
	t.dw_all_reduce = analytic_collective_s(rules->all_reduce, n, weights, ab);
	if (way != GRID_MODEL)
		return t;
	t.all_gather = analytic_collective_s("ag_bruck", g.pr, grid_output_bytes(&c->q, layer), ab);
	if (!c->q.layers[layer].first)
		t.dx_all_reduce = analytic_collective_s(
			rules->all_reduce, g.pr, grid_input_bytes(&c->q, layer), ab);
	return t;
}

struct integrated_terms integrated_layer_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum grid_way way)
{
	struct integrated_terms t = rules->all_reduce ? run_terms(c, rules, layer, way)
						      : printed_terms(c, rules, layer, way);
	if (way == GRID_DOMAIN)
		add_halo(c, rules, layer, &t);
	return t;
}

void integrated_add(struct integrated_terms *sum, const struct integrated_terms *t)
{
	sum->all_gather += t->all_gather;
	sum->dx_all_reduce += t->dx_all_reduce;
	sum->dw_all_reduce += t->dw_all_reduce;
	sum->halo_forward += t->halo_forward;
	sum->halo_backward += t->halo_backward;
	sum->redistribute += t->redistribute;
}

static void add_calibrated(const struct integrated_case *c, const struct integrated_rules *rules,
	struct integrated_terms *sum)
{
	struct process_grid conv = c->q.conv.pr > 0 ? c->q.conv : c->q.grid;
	double samples = samples_of(c, c->q.grid);
	if (rules->extra_gather_words > 0)
		sum->all_gather += gather_s(c, c->q.grid.pr, samples * rules->extra_gather_words);
	if (rules->halo_words == 0 || conv.pr == 1)
		return;
	sum->halo_backward = 0;
	sum->halo_forward =
		rules->halo_messages * c->machine.alpha +
		c->machine.beta * c->q.word_bytes * samples_of(c, conv) * rules->halo_words;
}

static enum grid_way way_of(
	const struct integrated_case *c, const struct integrated_rules *rules, uint32_t layer)
{
	return c->q.layers[layer].conv ? rules->conv : rules->fc;
}

void integrated_ways(
	const struct integrated_case *c, const struct integrated_rules *rules, enum grid_way *ways)
{
	for (uint32_t i = 0; i < c->q.n_layers; i++)
		ways[i] = way_of(c, rules, i);
}

struct integrated_terms integrated_comm(
	const struct integrated_case *c, const struct integrated_rules *rules)
{
	struct integrated_terms sum = {0};
	for (uint32_t i = 0; i < c->q.n_layers; i++) {
		enum grid_way way = way_of(c, rules, i);
		struct integrated_terms t = integrated_layer_terms(c, rules, i, way);
		if (rules->all_reduce && i > 0)
			t.redistribute = integrated_redistribute_s(
				c, rules, i, way_of(c, rules, i - 1), way);
		integrated_add(&sum, &t);
	}
	add_calibrated(c, rules, &sum);
	return sum;
}

double integrated_terms_s(const struct integrated_terms *t)
{
	return t->all_gather + t->dx_all_reduce + t->dw_all_reduce + t->halo_forward +
	       t->halo_backward + t->redistribute;
}

double integrated_crossover_batch(const struct grid_layer *layer)
{
	return 2 * (double)layer->weights / (3 * (double)layer->d_out);
}

static double move_s(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t layer, const struct grid_move *m)
{
	double words = samples_of(c, m->grid) * (double)c->q.layers[layer].d_in;
	double part = words / m->grid.pr / m->grid.pr; /* of a process, for one other */
	bool exchange = m->kind == GRID_EXCHANGE;
	if (rules->all_reduce)
		return analytic_collective_s(
			exchange ? "a2a_pair" : "ag_bruck", m->grid.pr, m->bytes, &c->machine);
	return exchange ? (m->grid.pr - 1) * message_s(c, part) : gather_s(c, m->grid.pr, words);
}

double integrated_redistribute_s(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum grid_way before,
	enum grid_way way)
{
	double sum = 0;
	for (uint32_t pass = 0; pass < 2; pass++) {
		bool forward = pass == 0;
		struct grid_move moves[GRID_MAX_MOVES];
		uint32_t n = grid_moves(&c->q, layer, before, way, forward, moves);
		if (!forward && c->q.layers[layer].first)
			continue;
		for (uint32_t i = 0; i < n; i++)
			sum += move_s(c, rules, layer, &moves[i]);
	}
	return sum;
}

double integrated_iterations(uint64_t samples, uint64_t batch, bool whole)
{
	return whole ? (double)div_ceil(samples, batch) : (double)samples / (double)batch;
}

double integrated_iteration_s(const struct integrated_terms *t, double compute, bool overlap)
{
	double comm = integrated_terms_s(t);
	if (!overlap)
		return compute + comm;
	return compute + (comm - t->dw_all_reduce) + fmax(0, t->dw_all_reduce - compute);
}
