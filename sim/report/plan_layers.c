/* The layers of one grid of `wham plan`. */
#include <string.h>

#include "report/internal.h"
#include "report/plan.h"

/* A column, its name in a table that is to be read, and the key of the same in JSON. */
struct column {
	const char *name, *brief, *key;
	double (*s)(const struct grid_layer_row *row);
	bool computes, simulated;
};

static double forward_s(const struct grid_layer_row *row)
{
	return ticks_to_s(row->times.forward);
}

static double dx_s(const struct grid_layer_row *row)
{
	return ticks_to_s(row->times.dx);
}

static double dw_s(const struct grid_layer_row *row)
{
	return ticks_to_s(row->times.dw);
}

static double all_gather_s(const struct grid_layer_row *row)
{
	return row->analytic.all_gather;
}

static double dx_all_reduce_s(const struct grid_layer_row *row)
{
	return row->analytic.dx_all_reduce;
}

static double dw_all_reduce_s(const struct grid_layer_row *row)
{
	return row->analytic.dw_all_reduce;
}

static double halo_forward_s(const struct grid_layer_row *row)
{
	return row->analytic.halo_forward;
}

static double halo_backward_s(const struct grid_layer_row *row)
{
	return row->analytic.halo_backward;
}

static double redistribute_s(const struct grid_layer_row *row)
{
	return row->analytic.redistribute;
}

static double simulated_s(const struct grid_layer_row *row)
{
	return row->simulated_s;
}

static const struct column columns[] = {
	{"forward_ms", "fwd_ms", "compute_forward_s", forward_s, true, false},
	{"dx_ms", "dx_ms", "compute_dx_s", dx_s, true, false},
	{"dw_ms", "dw_ms", "compute_dw_s", dw_s, true, false},
	{"all_gather_ms", "gather_ms", "all_gather_s", all_gather_s, false, false},
	{"dx_all_reduce_ms", "dx_reduce_ms", "dx_all_reduce_s", dx_all_reduce_s, false, false},
	{"dw_all_reduce_ms", "dw_reduce_ms", "dw_all_reduce_s", dw_all_reduce_s, false, false},
	{"halo_forward_ms", "halo_fwd_ms", "halo_forward_s", halo_forward_s, false, false},
	{"halo_backward_ms", "halo_bwd_ms", "halo_backward_s", halo_backward_s, false, false},
	{"redistribute_ms", "move_ms", "redistribute_s", redistribute_s, false, false},
	{"simulated_ms", "sim_ms", "simulated_s", simulated_s, false, true},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(*columns) };

static bool is_shown(const struct grid_report *r, const struct column *c)
{
	return (!c->computes || r->compute) && (!c->simulated || r->detailed->is_simulated);
}

/* To read, without what takes no time in any layer. */
static bool is_column(const struct grid_report *r, const struct column *c)
{
	bool some = r->csv;
	for (uint32_t i = 0; i < r->question.q.n_layers && !some; i++)
		some = c->s(&r->layers[i]) > 0;
	return some && is_shown(r, c);
}

static const char *const before[] = {"layer", "way", "weights", "d_in", "d_out"};
static const char *const sides[] = {"products", "m", "n", "k"};
enum {
	BEFORE = sizeof(before) / sizeof(*before),
	SIDES = sizeof(sides) / sizeof(*sides),
	NAME_WIDTH = 28,
};

static void add_name(const struct grid_report *r, const char *name, struct table *t)
{
	size_t n = strlen(name), cut = n > NAME_WIDTH ? n - (NAME_WIDTH - 3) : 0;
	while (((unsigned char)name[cut] & 0xc0) == 0x80)
		cut++;
	if (r->csv || n <= NAME_WIDTH)
		table_cell(t, "%s", name);
	else
		table_cell(t, "...%s", name + cut);
}

static void add_product(struct arena *a, const struct grid_report *r,
	const struct grid_layer_row *row, struct table *t)
{
	const uint64_t sizes[SIDES] = {row->n_products, row->m, row->n, row->k};
	const char *times =
		row->n_products > 1 ? arena_printf(a, "%ju x ", (uintmax_t)row->n_products) : "";
	for (size_t i = 0; i < SIDES && r->csv; i++)
		table_cell(t, "%ju", (uintmax_t)sizes[i]);
	if (!r->csv)
		table_cell(t, "%s%jux%jux%ju", times, (uintmax_t)row->m, (uintmax_t)row->n,
			(uintmax_t)row->k);
}

static void add_layer(struct arena *a, const struct grid_report *r,
	const struct grid_layer_row *row, struct table *t)
{
	const struct grid_layer *l = row->layer;
	add_name(r, l->name, t);
	table_cell(t, "%s", grid_way_name(row->way));
	table_cell(t, "%ju", (uintmax_t)l->weights);
	table_cell(t, "%ju", (uintmax_t)l->d_in);
	table_cell(t, "%ju", (uintmax_t)l->d_out);
	add_product(a, r, row, t);
	for (size_t i = 0; i < N_COLUMNS; i++)
		if (is_column(r, &columns[i]))
			table_cell(t, "%.6f", 1e3 * columns[i].s(row));
	table_cell(t, "%.6g", row->crossover_batch);
}

void report_grid_layers_table(struct arena *a, const struct grid_report *r, struct table *t)
{
	const char **names = arena_array(a, BEFORE + SIDES + N_COLUMNS + 1, const char *);
	size_t n = 0;
	for (size_t i = 0; i < BEFORE; i++)
		names[n++] = before[i];
	for (size_t i = 0; i < SIDES && r->csv; i++)
		names[n++] = sides[i];
	if (!r->csv)
		names[n++] = "m x n x k";
	for (size_t i = 0; i < N_COLUMNS; i++)
		if (is_column(r, &columns[i]))
			names[n++] = r->csv ? columns[i].name : columns[i].brief;
	names[n++] = r->csv ? "crossover_batch" : "B*";
	*t = (struct table){.a = a, .columns = names, .n_columns = n};
	for (uint32_t i = 0; i < r->question.q.n_layers; i++)
		add_layer(a, r, &r->layers[i], t);
}

json_t *report_grid_layers_json(const struct grid_report *r)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < r->question.q.n_layers; i++) {
		const struct grid_layer_row *row = &r->layers[i];
		json_t *o = json_object();
		put_text(o, "name", row->layer->name);
		put_text(o, "way", grid_way_name(row->way));
		put_uint(o, "weights", row->layer->weights);
		put_uint(o, "d_in", row->layer->d_in);
		put_uint(o, "d_out", row->layer->d_out);
		put_uint(o, "products", row->n_products);
		put_uint(o, "m", row->m);
		put_uint(o, "n", row->n);
		put_uint(o, "k", row->k);
		for (size_t c = 0; c < N_COLUMNS; c++)
			if (is_shown(r, &columns[c]))
				put_real(o, columns[c].key, columns[c].s(row));
		put_real(o, "crossover_batch", row->crossover_batch);
		json_array_append_new(list, o);
	}
	return list;
}
