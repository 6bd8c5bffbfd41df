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

static uint32_t processes(struct integrated_grid g)
{
	return g.pr * g.pc;
}

static struct integrated_grid grid_of(const struct integrated_case *c, uint32_t layer)
{
	return c->layers[layer].conv && c->conv.pr > 0 ? c->conv : c->grid;
}

/* Samples of one of the Pc groups; a whole number where something is really run. */
static double local_batch(
	const struct integrated_case *c, const struct integrated_rules *rules, uint32_t groups)
{
	return rules->all_reduce ? (double)div_ceil(c->batch, groups)
				 : (double)c->batch / (double)groups;
}

static double message_s(const struct integrated_case *c, double words)
{
	return c->machine.alpha + c->machine.beta * (double)c->word_bytes * words;
}

/* alpha ceil(log2 n) + beta words (n - 1) / n: Bruck's, for any n. */
static double gather_s(const struct integrated_case *c, uint32_t n, double words)
{
	return log_up(n) * c->machine.alpha +
	       c->machine.beta * (double)c->word_bytes * words * (double)(n - 1) / (double)n;
}

static double reduce_s(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t n, double words)
{
	if (!rules->all_reduce)
		return 2 * gather_s(c, n, words);
	uint64_t bytes = (uint64_t)ceil(words) * c->word_bytes;
	return analytic_collective_s(rules->all_reduce, n, bytes, &c->machine);
}

/* A plane of width x channels for each row of the halo, floor(kernel / 2) of them. */
static double planes(uint32_t width, uint32_t channels, uint32_t kernel)
{
	uint32_t rows = kernel / 2;
	return (double)width * channels * rows;
}

static double halo_words(const struct integrated_layer *l, const struct integrated_rules *rules)
{
	return (rules->all_reduce ? 2 : 1) * planes(l->in_w, l->in_c, l->kernel_h);
}

/* Strips are cut along the height, so that what is run needs kernel_h where Eq. 7 and 9 print
 * kernel_w. */
static double halo_back_words(
	const struct integrated_case *c, const struct integrated_rules *rules, uint32_t layer)
{
	const struct integrated_layer *l = &c->layers[layer];
	const struct integrated_layer *next = layer + 1 < c->n_layers ? l + 1 : NULL;
	if (rules->all_reduce)
		return 2 * planes(l->out_w, l->out_c, l->kernel_h);
	if (rules->halo_of_next && next && next->in_w > 0)
		return planes(next->in_w, next->in_c, l->kernel_w);
	return planes(l->out_w, l->out_c, l->kernel_w);
}

/* `words` a sample; both neighbours' together when two are counted, of which two strips have one
 * each. */
static double exchange_s(const struct integrated_case *c, const struct integrated_rules *rules,
	struct integrated_grid g, double words)
{
	double samples = local_batch(c, rules, g.pc);
	if (words <= 0)
		return 0;
	if (!rules->all_reduce)
		return message_s(c, samples * words);
	return (g.pr > 2 ? 2 : 1) * message_s(c, samples * words / 2);
}

static void add_halo(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t layer, struct integrated_terms *out)
{
	const struct integrated_layer *l = &c->layers[layer];
	struct integrated_grid g = grid_of(c, layer);
	if (!l->conv)
		out->halo_forward = out->halo_backward = (double)INFINITY;
	if (g.pr == 1 || !l->conv)
		return;
	out->halo_forward = exchange_s(c, rules, g, halo_words(l, rules));
	/* Nobody waits for the gradient of the images. */
	if (layer > 0 || !rules->gradient_of_input)
		out->halo_backward = exchange_s(c, rules, g, halo_back_words(c, rules, layer));
}

static void add_model(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t layer, struct integrated_terms *out)
{
	const struct integrated_layer *l = &c->layers[layer];
	struct integrated_grid g = grid_of(c, layer);
	double samples = local_batch(c, rules, g.pc);
	double back = (double)(rules->gradient_of_input ? l->d_in : l->d_out);
	out->all_gather = gather_s(c, g.pr, samples * (double)l->d_out);
	if (layer > 0 || !rules->gradient_of_input)
		out->dx_all_reduce = reduce_s(c, rules, g.pr, samples * back);
	out->dw_all_reduce = reduce_s(c, rules, g.pc, (double)l->weights / g.pr);
}

struct integrated_terms integrated_layer_terms(const struct integrated_case *c,
	const struct integrated_rules *rules, uint32_t layer, enum integrated_way way)
{
	struct integrated_terms t = {0};
	double weights = (double)c->layers[layer].weights;
	switch (way) {
	case INTEGRATED_MODEL:
		add_model(c, rules, layer, &t);
		break;
	case INTEGRATED_DOMAIN:
		add_halo(c, rules, layer, &t);
		t.dw_all_reduce = reduce_s(c, rules, processes(c->grid), weights);
		break;
	case INTEGRATED_BATCH:
		t.dw_all_reduce = reduce_s(c, rules, processes(c->grid), weights);
		break;
	}
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
	struct integrated_grid conv = c->conv.pr > 0 ? c->conv : c->grid;
	double samples = local_batch(c, rules, c->grid.pc);
	if (rules->extra_gather_words > 0)
		sum->all_gather += gather_s(c, c->grid.pr, samples * rules->extra_gather_words);
	if (rules->halo_words == 0 || conv.pr == 1)
		return;
	sum->halo_backward = 0;
	sum->halo_forward = rules->halo_messages * c->machine.alpha +
			    c->machine.beta * c->word_bytes * local_batch(c, rules, conv.pc) *
				    rules->halo_words;
}

struct integrated_terms integrated_comm(
	const struct integrated_case *c, const struct integrated_rules *rules)
{
	struct integrated_terms sum = {0};
	for (uint32_t i = 0; i < c->n_layers; i++) {
		enum integrated_way way = c->layers[i].conv ? rules->conv : rules->fc;
		struct integrated_terms t = integrated_layer_terms(c, rules, i, way);
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

double integrated_crossover_batch(const struct integrated_layer *layer)
{
	return 2 * (double)layer->weights / (3 * (double)layer->d_out);
}

double integrated_redistribute_s(const struct integrated_case *c, uint32_t layer,
	enum integrated_way before, enum integrated_way way)
{
	struct integrated_grid g = grid_of(c, layer);
	double words = (double)c->batch / g.pc * (double)c->layers[layer].d_in;
	if (before == way || g.pr == 1)
		return 0;
	if (before == INTEGRATED_MODEL || way == INTEGRATED_MODEL)
		return gather_s(c, g.pr, words);
	double part = words / g.pr / g.pr; /* of a process, for one other */
	return 2 * (g.pr - 1) * message_s(c, part);
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

double integrated_memory_bytes(
	const struct integrated_case *c, const struct integrated_rules *rules, uint32_t copies)
{
	double words = 0;
	for (uint32_t i = 0; i < c->n_layers; i++) {
		const struct integrated_layer *l = &c->layers[i];
		struct integrated_grid g = grid_of(c, i);
		bool model = (l->conv ? rules->conv : rules->fc) == INTEGRATED_MODEL;
		double split = model ? g.pr : 1, groups = model ? g.pc : processes(g);
		words += copies * (double)l->weights / split;
		words += (double)c->batch / groups * (double)(l->d_in + l->d_out);
	}
	return words * c->word_bytes;
}
