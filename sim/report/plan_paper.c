#include "report/plan_paper.h"

#include <math.h>

#include "report/internal.h"

static uint32_t processes_of(const struct paper_report *r)
{
	return r->chart->bars[0].grid.pr * r->chart->bars[0].grid.pc;
}

/* As in the bars: what is hidden does not count. */
static double fit_comm_s(const struct paper_report *r, const struct figure_bar *bar)
{
	return r->chart->panel->overlap ? bar->our_total - r->chart->iterations * bar->compute
					: bar->our_comm;
}

static double simulated_comm_s(const struct paper_report *r, const struct paper_bar *b)
{
	return r->chart->iterations * grid_comm_s(&b->simulated);
}

/* Computation of what was simulated is played only where it overlaps. */
static double simulated_total_s(const struct paper_report *r, const struct paper_bar *b)
{
	double compute = b->simulated.s[TERM_COMPUTE];
	return r->chart->iterations * (b->simulated.total + (compute > 0 ? 0 : b->bar->compute));
}

static const struct paper_bar *best_simulated(const struct paper_report *r)
{
	const struct paper_bar *best = NULL;
	for (uint32_t i = 0; i < r->chart->n_bars; i++) {
		const struct paper_bar *b = &r->bars[i];
		if (b->is_simulated &&
			(!best || simulated_total_s(r, b) < simulated_total_s(r, best)))
			best = b;
	}
	return best;
}

/* A column of the table, its name where the table is to be read, and what stands there; NAN: nothing. */
struct paper_column {
	const char *name, *brief;
	int decimals;
	double (*value)(const struct paper_report *r, const struct paper_bar *b);
};

static double digitised_comm(const struct paper_report *r, const struct paper_bar *b)
{
	return b->bar->comm;
}

static double digitised_total(const struct paper_report *r, const struct paper_bar *b)
{
	return b->bar->total;
}

static double fit_comm(const struct paper_report *r, const struct paper_bar *b)
{
	return fit_comm_s(r, b->bar);
}

static double fit_total(const struct paper_report *r, const struct paper_bar *b)
{
	return b->bar->our_total;
}

static double literal_comm(const struct paper_report *r, const struct paper_bar *b)
{
	return r->chart->panel->literal ? b->bar->literal_comm : (double)NAN;
}

static double literal_total(const struct paper_report *r, const struct paper_bar *b)
{
	return r->chart->panel->literal ? b->bar->literal_total : (double)NAN;
}

static double simulated_comm(const struct paper_report *r, const struct paper_bar *b)
{
	return b->is_simulated ? simulated_comm_s(r, b) : (double)NAN;
}

static double simulated_total(const struct paper_report *r, const struct paper_bar *b)
{
	return b->is_simulated ? simulated_total_s(r, b) : (double)NAN;
}

static double printed_speedup(const struct paper_report *r, const struct paper_bar *b)
{
	return b->bar->total_speedup > 0 ? b->bar->total_speedup : (double)NAN;
}

static double fit_speedup(const struct paper_report *r, const struct paper_bar *b)
{
	return r->chart->bars[0].our_total / b->bar->our_total;
}

static double printed_comm_speedup(const struct paper_report *r, const struct paper_bar *b)
{
	return b->bar->comm_speedup > 0 ? b->bar->comm_speedup : (double)NAN;
}

static double fit_comm_speedup(const struct paper_report *r, const struct paper_bar *b)
{
	return fit_comm_s(r, &r->chart->bars[0]) / fit_comm_s(r, b->bar);
}

static const struct paper_column paper_columns[] = {
	// clang-format off
	{"digitised_comm_s", "digitised_comm_s", 3, digitised_comm},
	{"digitised_total_s", "digitised_total_s", 3, digitised_total},
	{"fit_comm_s", "fit_comm_s", 3, fit_comm},
	{"fit_total_s", "fit_total_s", 3, fit_total},
	{"literal_comm_s", "literal_comm_s", 3, literal_comm},
	{"literal_total_s", "literal_total_s", 3, literal_total},
	{"simulated_comm_s", "sim_comm_s", 3, simulated_comm},
	{"simulated_total_s", "sim_total_s", 3, simulated_total},
	{"printed_speedup", "printed_gain", 1, printed_speedup},
	{"fit_speedup", "fit_gain", 1, fit_speedup},
	{"printed_comm_speedup", "printed_comm_gain", 1, printed_comm_speedup},
	{"fit_comm_speedup", "fit_comm_gain", 1, fit_comm_speedup},
	// clang-format on
};
enum { N_PAPER_COLUMNS = sizeof(paper_columns) / sizeof(*paper_columns), GRID_COLUMNS = 2 };

static bool is_shown(const struct paper_report *r, const struct paper_column *c)
{
	bool some = r->csv;
	for (uint32_t i = 0; i < r->chart->n_bars && !some; i++)
		some = !isnan(c->value(r, &r->bars[i]));
	return some;
}

static void add_value(struct table *t, const struct paper_column *c, double value)
{
	if (isnan(value))
		table_cell(t, "%s", "");
	else
		table_cell(t, "%.*f", c->decimals, value);
}

void report_paper_table(struct arena *a, const struct paper_report *r, struct table *t)
{
	const char **names = arena_array(a, GRID_COLUMNS + N_PAPER_COLUMNS, const char *);
	size_t n = 0;
	names[n++] = "pr";
	names[n++] = "pc";
	for (size_t c = 0; c < N_PAPER_COLUMNS; c++)
		if (is_shown(r, &paper_columns[c]))
			names[n++] = r->csv ? paper_columns[c].name : paper_columns[c].brief;
	*t = (struct table){.a = a, .columns = names, .n_columns = n};
	for (uint32_t i = 0; i < r->chart->n_bars; i++) {
		const struct paper_bar *b = &r->bars[i];
		table_cell(t, "%u", b->bar->grid.pr);
		table_cell(t, "%u", b->bar->grid.pc);
		for (size_t c = 0; c < N_PAPER_COLUMNS; c++)
			if (is_shown(r, &paper_columns[c]))
				add_value(t, &paper_columns[c], paper_columns[c].value(r, b));
	}
}

static void add_best(
	struct text *out, const char *what, const struct figure_bar *bar, double comm, double total)
{
	text_add(out, "best %s: %ux%u, %.4g s of an epoch, %.4g s of it communication\n", what,
		bar->grid.pr, bar->grid.pc, total, comm);
}

void report_paper_text(const struct paper_report *r, struct text *out)
{
	const struct figure_panel *panel = r->chart->panel;
	const struct figure_bar *printed = figure_best_printed(r->chart),
				*fit = figure_best(r->chart),
				*literal = figure_best_literal(r->chart);
	const struct paper_bar *simulated = best_simulated(r);
	text_add(out,
		"Fig. %s of Gholami et al. 2018 (arXiv 1712.04432v3): AlexNet, batch %llu, P = %u, "
		"words of 4 bytes, 2 us, 6 GiB/s, %.0f iterations an epoch%s\n",
		panel->name, (unsigned long long)r->chart->batch, processes_of(r),
		r->chart->iterations, panel->overlap ? ", overlapped" : "");
	text_add(out,
		"digitised: bars of the paper; fit: %s, calibrated on its figures; computation is "
		"read off the bars\n",
		panel->fit);
	if (printed)
		text_add(out, "best printed: %ux%u\n", printed->grid.pr, printed->grid.pc);
	add_best(out, "calibrated", fit, fit_comm_s(r, fit), fit->our_total);
	if (literal)
		add_best(out, panel->literal, literal, literal->literal_comm,
			literal->literal_total);
	if (simulated)
		add_best(out, "simulated", simulated->bar, simulated_comm_s(r, simulated),
			simulated_total_s(r, simulated));
	if (panel->name[0] == '6' && literal)
		text_add(out,
			"Eq. 8 as printed does not give this figure: its best grid is %ux%u, and "
			"%ux1 (Pr = P) would take %.4g s of communication\n",
			literal->grid.pr, literal->grid.pc, processes_of(r), r->model_literal_s);
}

static json_t *pair_json(double comm, double total)
{
	json_t *o = json_object();
	put_real(o, "comm_s", comm);
	put_real(o, "total_s", total);
	return o;
}

static json_t *bar_json(const struct paper_report *r, const struct paper_bar *b)
{
	const struct figure_bar *bar = b->bar, *first = r->chart->bars;
	json_t *o = json_object();
	put_uint(o, "pr", bar->grid.pr);
	put_uint(o, "pc", bar->grid.pc);
	put_real(o, "compute_s", r->chart->iterations * bar->compute);
	put(o, "digitised", pair_json(bar->comm, bar->total));
	put_real(o, "pixel_s", bar->pixel);
	put(o, "fit", pair_json(fit_comm_s(r, bar), bar->our_total));
	if (r->chart->panel->literal)
		put(o, "literal", pair_json(bar->literal_comm, bar->literal_total));
	if (b->is_simulated)
		put(o, "simulated", pair_json(simulated_comm_s(r, b), simulated_total_s(r, b)));
	if (b->reason)
		put_text(o, "not_simulated", b->reason);
	if (bar->total_speedup > 0)
		put_real(o, "printed_speedup", bar->total_speedup);
	if (bar->comm_speedup > 0)
		put_real(o, "printed_comm_speedup", bar->comm_speedup);
	put_real(o, "fit_speedup", first->our_total / bar->our_total);
	put_real(o, "fit_comm_speedup", fit_comm_s(r, first) / fit_comm_s(r, bar));
	return o;
}

static void put_best(json_t *root, const char *key, const struct figure_bar *bar)
{
	if (!bar)
		return;
	json_t *o = json_object();
	put_uint(o, "pr", bar->grid.pr);
	put_uint(o, "pc", bar->grid.pc);
	put(root, key, o);
}

json_t *report_paper_json(const struct paper_report *r)
{
	json_t *root = json_object(), *list = json_array(), *best = json_object();
	const struct paper_bar *simulated = best_simulated(r);
	const struct figure_panel *panel = r->chart->panel;
	put_text(root, "figure", panel->name);
	put_uint(root, "batch", r->chart->batch);
	put_uint(root, "processes", processes_of(r));
	put_uint(root, "word_bytes", 4);
	put_real(root, "alpha_s", r->figures->c.machine.alpha);
	put_real(root, "beta_s_per_byte", r->figures->c.machine.beta);
	put_real(root, "iterations_per_epoch", r->chart->iterations);
	put(root, "overlap", json_boolean(panel->overlap));
	put_text(root, "fit_variant", panel->fit);
	if (panel->literal)
		put_text(root, "literal_variant", panel->literal);
	if (panel->literal)
		put_real(root, "literal_model_comm_s", r->model_literal_s);
	if (r->network)
		put_text(root, "topology", r->network);
	for (uint32_t i = 0; i < r->chart->n_bars; i++)
		json_array_append_new(list, bar_json(r, &r->bars[i]));
	put(root, "bars", list);
	put_best(best, "printed", figure_best_printed(r->chart));
	put_best(best, "fit", figure_best(r->chart));
	put_best(best, "literal", figure_best_literal(r->chart));
	put_best(best, "simulated", simulated ? simulated->bar : NULL);
	put(root, "best", best);
	return root;
}

enum { PARTS = 3 };

/* Computation, model and domain, batch; what is hidden is taken from the batch. */
static void put_parts(double total, double comm, double batch, double *parts)
{
	double exposed = fmin(batch, comm);
	parts[0] = total - comm;
	parts[1] = comm - exposed;
	parts[2] = exposed;
}

/* Equations that miss a figure by far would leave nothing to see of it. */
static double cut_at(const struct paper_report *r)
{
	double digitised = 0, literal = 0;
	for (uint32_t i = 0; i < r->chart->n_bars; i++) {
		digitised = fmax(digitised, r->chart->bars[i].total);
		literal = fmax(literal, r->chart->bars[i].literal_total);
	}
	return literal > 2 * digitised ? 1.6 * digitised : 0;
}

/* Bars in the order of the key; those that are not there are left out of it. */
static uint32_t name_bars(struct arena *a, const struct paper_report *r, const char **names)
{
	static const char *const places[] = {"first", "second", "third", "fourth"};
	const struct figure_panel *panel = r->chart->panel;
	uint32_t n = 0;
	names[n++] = "first bar: digitised from the paper";
	names[n++] = arena_printf(a, "second: %s, calibrated", panel->fit);
	if (panel->literal) {
		names[n] = arena_printf(a, "%s: %s as printed", places[n], panel->literal);
		n++;
	}
	if (r->network) {
		names[n] = arena_printf(a, "%s: simulated", places[n]);
		n++;
	}
	return n;
}

static void put_bars(const struct paper_report *r, const struct paper_bar *b, double *values)
{
	const struct figure_bar *bar = b->bar;
	double fit = fit_comm_s(r, bar), hidden = bar->our_comm - fit;
	put_parts(bar->total, bar->comm, bar->batch, values);
	values += PARTS;
	put_parts(bar->our_total, fit, bar->our_batch - hidden, values);
	values += PARTS;
	if (r->chart->panel->literal) {
		put_parts(bar->literal_total, bar->literal_comm, bar->literal_batch, values);
		values += PARTS;
	}
	if (r->network && b->is_simulated)
		put_parts(simulated_total_s(r, b), simulated_comm_s(r, b),
			r->chart->iterations * b->simulated.s[TERM_DW_ALL_REDUCE], values);
	else if (r->network)
		values[0] = (double)NAN;
}

void report_paper_stacks(struct arena *a, const struct paper_report *r, struct stacks *out)
{
	const struct figure_panel *panel = r->chart->panel;
	uint32_t n = r->chart->n_bars;
	*out = (struct stacks){
		.title = arena_printf(a, "Fig. %s: AlexNet, batch %llu, P = %u%s%s", panel->name,
			(unsigned long long)r->chart->batch, processes_of(r),
			panel->overlap ? ", overlapped" : "",
			cut_at(r) > 0 ? "; higher bars are cut" : ""),
		.y_max = cut_at(r),
		.x = "Pr x Pc",
		.y = "s of an epoch",
		.parts = {"computation", "model and domain communication", "batch: dW all-reduce"},
		.n_parts = PARTS,
		.n_places = n,
		.places = arena_array(a, n + 1, const char *),
	};
	out->n_bars = name_bars(a, r, out->bars);
	size_t size = (size_t)out->n_bars * PARTS;
	double *values = arena_array(a, n * size + 1, double);
	out->values = values;
	for (uint32_t i = 0; i < n; i++) {
		const struct process_grid g = r->chart->bars[i].grid;
		out->places[i] = arena_printf(a, "%ux%u", g.pr, g.pc);
		put_bars(r, &r->bars[i], values + i * size);
	}
}
