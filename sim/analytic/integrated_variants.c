/* The readings of the equations by name, and the checks of what a user asks for. */
#include <string.h>

#include "analytic/integrated.h"
#include "base/text.h"

#define BATCH GRID_BATCH
#define MODEL GRID_MODEL
#define DOMAIN GRID_DOMAIN

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

bool integrated_check(const struct integrated_case *c, const struct integrated_rules *rules,
	uint32_t processes, struct err *err)
{
	if (!(c->machine.alpha > 0))
		return err_set(err, ERR_INPUT, "a latency of zero, expected more");
	if (!(c->machine.beta > 0) || c->q.word_bytes == 0)
		return err_set(err, ERR_INPUT,
			"no time for each byte or no bytes in a word, expected a finite bandwidth "
			"and a word of at least 1 byte");
	if (!grid_check(&c->q, processes, err))
		return false;
	for (uint32_t i = 0; i < c->q.n_layers; i++)
		if (!grid_check_layer(&c->q, i, c->q.layers[i].conv ? rules->conv : rules->fc, err))
			return false;
	return true;
}
