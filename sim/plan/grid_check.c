/* What a grid cannot do, said of what a user asks for. */
#include "plan/grid.h"

static bool check_strips(const struct grid_layer *l, struct process_grid g, struct err *err)
{
	uint32_t halo = l->kernel_h / 2, rows = l->in_h / g.pr;
	if (!l->conv)
		return err_set(err, ERR_INPUT,
			"layer %s is fully connected, expected a convolution: its halo would be "
			"the whole input",
			l->name);
	if (g.pr > 1 && (rows == 0 || halo > rows))
		return err_set(err, ERR_INPUT,
			"layer %s: a halo of %u rows for strips of %u (%u rows over Pr %u), "
			"expected strips at least as high as the halo",
			l->name, halo, rows, l->in_h, g.pr);
	return true;
}

bool grid_check_layer(
	const struct grid_question *q, uint32_t layer, enum grid_way way, struct err *err)
{
	const struct grid_layer *l = &q->layers[layer];
	struct process_grid g = grid_of(q, layer);
	if (way == GRID_DOMAIN)
		return check_strips(l, g, err);
	if (way == GRID_MODEL && g.pr > l->outputs)
		return err_set(err, ERR_INPUT,
			"layer %s: Pr %u over %u %s, expected no more processes than outputs",
			l->name, g.pr, l->outputs, l->conv ? "channels" : "outputs");
	if (way == GRID_BATCH && (uint64_t)g.pr * g.pc > q->batch)
		return err_set(err, ERR_INPUT,
			"layer %s: a batch of %llu over %llu processes, expected a sample for each",
			l->name, (unsigned long long)q->batch, (unsigned long long)g.pr * g.pc);
	return true;
}

/* What is run moves whole bytes, which must be countable. */
static bool check_size(const struct grid_question *q, uint32_t layer, struct err *err)
{
	const struct grid_layer *l = &q->layers[layer];
	double words = (double)(l->d_in > l->d_out ? l->d_in : l->d_out) * (double)q->batch;
	return words * q->word_bytes < 1e18 ||
	       err_set(err, ERR_INPUT,
		       "layer %s: too many activations for a batch of %llu, expected less than "
		       "1e18 bytes",
		       l->name, (unsigned long long)q->batch);
}

static bool check_grid(struct process_grid g, uint32_t processes, uint64_t batch, struct err *err)
{
	if ((uint64_t)g.pr * g.pc != processes)
		return err_set(err, ERR_INPUT,
			"grid %ux%u has %llu processes, expected Pr x Pc = %u", g.pr, g.pc,
			(unsigned long long)g.pr * g.pc, processes);
	if (batch < g.pc)
		return err_set(err, ERR_INPUT,
			"grid %ux%u for a batch of %llu, expected at least one sample for each of "
			"the Pc groups",
			g.pr, g.pc, (unsigned long long)batch);
	return true;
}

bool grid_check(const struct grid_question *q, uint32_t processes, struct err *err)
{
	if (processes == 0)
		return err_set(err, ERR_INPUT, "no processes, expected at least 1");
	if (!check_grid(q->grid, processes, q->batch, err) ||
		(q->conv.pr > 0 && !check_grid(q->conv, processes, q->batch, err)))
		return false;
	for (uint32_t i = 0; i < q->n_layers; i++)
		if (!check_size(q, i, err))
			return false;
	return true;
}
