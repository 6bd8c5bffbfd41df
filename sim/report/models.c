#include <inttypes.h>

#include "report/internal.h"

static uint64_t macs_per_sample(const struct graph *g)
{
	return graph_macs(g, 1u << PASS_FORWARD) / g->batch;
}

/* Four digits or so, never with an exponent. */
static void add_giga(struct table *t, double v)
{
	table_cell(t, "%.*f", v < 0.1 ? 6 : v < 10 ? 3 : v < 1000 ? 1 : 0, v);
}

void report_models_table(struct arena *a, const struct graph *models, uint32_t n, struct table *t)
{
	static const char *const columns[] = {"model", "parameters", "forward GFLOP/sample",
		"tokens/sample", "operators", "layers", "micro-batch"};
	*t = (struct table){.a = a, .columns = columns, .n_columns = 7};
	for (uint32_t i = 0; i < n; i++) {
		const struct graph *g = &models[i];
		table_cell(t, "%s", g->name);
		table_cell(t, "%" PRIu64, g->parameters);
		add_giga(t, 2e-9 * (double)macs_per_sample(g));
		if (g->tokens_per_sample)
			table_cell(t, "%" PRIu64, g->tokens_per_sample);
		else
			table_cell(t, "-");
		table_cell(t, "%" PRIu32, g->n_ops);
		table_cell(t, "%" PRIu32, g->n_layers);
		table_cell(t, "%" PRIu64, g->batch);
	}
}

json_t *report_models_json(const struct graph *models, uint32_t n)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < n; i++) {
		const struct graph *g = &models[i];
		json_t *one = json_object();
		put_text(one, "name", g->name);
		put_uint(one, "parameters", g->parameters);
		put_uint(one, "forward_flops_per_sample", 2 * macs_per_sample(g));
		put_uint(one, "tokens_per_sample", g->tokens_per_sample);
		put_uint(one, "operators", g->n_ops);
		put_uint(one, "layers", g->n_layers);
		put_uint(one, "micro_batch", g->batch);
		put_text(one, "source", g->source);
		json_array_append_new(list, one);
	}
	return list;
}
