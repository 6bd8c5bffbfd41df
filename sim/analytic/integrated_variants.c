/* The readings of the equations by name, and the checks of what a user asks for. */
#include <string.h>

#include "analytic/integrated.h"
#include "base/text.h"

#define BATCH INTEGRATED_BATCH
#define MODEL INTEGRATED_MODEL
#define DOMAIN INTEGRATED_DOMAIN

// clang-format off
static const struct integrated_rules table[] = {
	{.name = "eq7",          .conv = DOMAIN, .fc = BATCH},
	{.name = "eq8-all",      .conv = MODEL,  .fc = MODEL},
	{.name = "eq8-din-all",  .conv = MODEL,  .fc = MODEL, .gradient_of_input = true},
	{.name = "eq8-din-fc",   .conv = BATCH,  .fc = MODEL, .gradient_of_input = true},
	{.name = "eq8-fc",       .conv = BATCH,  .fc = MODEL},
	{.name = "eq9",          .conv = DOMAIN, .fc = MODEL},
	{.name = "eq9-printed",  .conv = DOMAIN, .fc = MODEL, .halo_of_next = true},
	{.name = "exact-all",    .conv = MODEL,  .fc = MODEL, .gradient_of_input = true, .all_reduce = "ar_rab"},
	{.name = "exact-domain", .conv = DOMAIN, .fc = MODEL, .gradient_of_input = true, .all_reduce = "ar_rab"},
	{.name = "exact-fc",     .conv = BATCH,  .fc = MODEL, .gradient_of_input = true, .all_reduce = "ar_rab"},
	{.name = "fit-fig6",     .conv = DOMAIN, .fc = MODEL, .extra_gather_words = 4096, .halo_words = 161200, .halo_messages = 15},
	{.name = "fit-fig7",     .conv = BATCH,  .fc = MODEL, .extra_gather_words = 4096},
};

const struct integrated_rules *const integrated_variants[] = {
	&table[0], &table[1], &table[2], &table[3], &table[4], &table[5], &table[6], &table[7], &table[8], &table[9], &table[10], &table[11], NULL,
};
// clang-format on

const struct integrated_rules *integrated_variant(const char *name, struct err *err)
{
	const char *names[sizeof(table) / sizeof(*table)];
	size_t n = 0;
	for (; integrated_variants[n]; n++) {
		names[n] = integrated_variants[n]->name;
		if (strcmp(names[n], name) == 0)
			return integrated_variants[n];
	}
	const char *near = text_nearest(name, names, n);
	err_set(err, ERR_USAGE, "unknown variant '%s', %s '%s'%s", name,
		near ? "did you mean" : "expected e.g.", near ? near : "eq8-fc", near ? "?" : "");
	return NULL;
}

const char *integrated_way_name(enum integrated_way way)
{
	static const char *const names[] = {"batch", "model", "domain"};
	return names[way];
}

static bool check_strips(
	const struct integrated_layer *l, struct integrated_grid g, struct err *err)
{
	uint32_t halo = l->kernel_h / 2, rows = l->in_h / g.pr;
	if (!l->conv)
		return err_set(err, ERR_INPUT,
			"layer %s is fully connected, expected a convolution: its halo would be "
			"the "
			"whole input",
			l->name);
	if (g.pr > 1 && (rows == 0 || halo > rows))
		return err_set(err, ERR_INPUT,
			"layer %s: a halo of %u rows for strips of %u (%u rows over Pr %u), "
			"expected "
			"strips at least as high as the halo",
			l->name, halo, rows, l->in_h, g.pr);
	return true;
}

bool integrated_check_layer(
	const struct integrated_case *c, uint32_t layer, enum integrated_way way, struct err *err)
{
	const struct integrated_layer *l = &c->layers[layer];
	struct integrated_grid g = l->conv && c->conv.pr > 0 ? c->conv : c->grid;
	uint64_t outputs = l->conv ? l->out_c : l->d_out;
	if (way == INTEGRATED_DOMAIN)
		return check_strips(l, g, err);
	if (way == INTEGRATED_MODEL && g.pr > outputs)
		return err_set(err, ERR_INPUT,
			"layer %s: Pr %u over %llu %s, expected no more processes than outputs",
			l->name, g.pr, (unsigned long long)outputs,
			l->conv ? "channels" : "outputs");
	if (way == INTEGRATED_BATCH && (uint64_t)g.pr * g.pc > c->batch)
		return err_set(err, ERR_INPUT,
			"layer %s: a batch of %llu over %llu processes, expected a sample for each",
			l->name, (unsigned long long)c->batch, (unsigned long long)g.pr * g.pc);
	return true;
}

/* What is run moves whole bytes, which must be countable. */
static bool check_size(const struct integrated_case *c, uint32_t layer, struct err *err)
{
	const struct integrated_layer *l = &c->layers[layer];
	double words = (double)(l->d_in > l->d_out ? l->d_in : l->d_out) * (double)c->batch;
	return words * c->word_bytes < 1e18 ||
	       err_set(err, ERR_INPUT,
		       "layer %s: too many activations for a batch of %llu, expected less than "
		       "1e18 bytes",
		       l->name, (unsigned long long)c->batch);
}

static bool check_grid(
	struct integrated_grid g, uint32_t processes, uint64_t batch, struct err *err)
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

bool integrated_check(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t processes, struct err *err)
{
	if (!(c->machine.alpha > 0))
		return err_set(err, ERR_INPUT, "a latency of zero, expected more");
	if (!(c->machine.beta > 0) || c->word_bytes == 0)
		return err_set(err, ERR_INPUT,
			"no time for each byte or no bytes in a word, expected a finite bandwidth "
			"and a word of at least 1 byte");
	if (processes == 0)
		return err_set(err, ERR_INPUT, "no processes, expected at least 1");
	if (!check_grid(c->grid, processes, c->batch, err) ||
		(c->conv.pr > 0 && !check_grid(c->conv, processes, c->batch, err)))
		return false;
	for (uint32_t i = 0; i < c->n_layers; i++)
		if (!check_size(c, i, err) ||
			!integrated_check_layer(
				c, i, c->layers[i].conv ? rules->conv : rules->fc, err))
			return false;
	return true;
}
