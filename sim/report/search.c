/* Mined designs, best first, beside the baselines. */
#include <stdio.h>
#include <string.h>

#include "report/internal.h"
#include "report/report.h"

/* Geometric means are the search's business; a single workload's figures are shown as they are. */
static const struct outcome *first_outcome(const struct finalist *f)
{
	return &f->outcomes[0];
}

/* Of all devices of the first workload, as the metric has it. */
static double per_tdp(const struct search_report *s, const struct finalist *f)
{
	const struct degrees *d = &s->config->workloads[0].degrees;
	double watts = f->tdp_w * d->pp * d->tp * d->dp;
	return watts > 0 ? f->outcomes[0].samples_per_s / watts : 0;
}

static json_t *workloads_json(const struct search_config *config, const struct finalist *f)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < config->n_workloads; i++) {
		const struct outcome *o = &f->outcomes[i];
		json_t *w = json_object();
		put_text(w, "model", config->workloads[i].name);
		put_real(w, "samples_per_s", o->samples_per_s);
		put_time(w, "iteration_time_s", o->step);
		put_time(w, "uncontended_time_s", o->uncontended_step);
		put_time(w, "analytic_time_s", o->analytic_step);
		put_real(w, "energy_j_per_sample", o->energy_j_per_sample);
		put_real(w, "tc_utilisation", o->tc_utilisation);
		put_real(w, "vc_utilisation", o->vc_utilisation);
		json_array_append_new(list, w);
	}
	return list;
}

static json_t *ratios_json(const struct search_report *s, const struct finalist *f)
{
	json_t *o = json_object();
	for (uint32_t i = 0; i < s->config->n_baselines; i++)
		put_real(o, s->config->baselines[i].name, f->ratios[i]);
	return o;
}

static json_t *finalist_json(const struct search_report *s, const struct finalist *f)
{
	const struct outcome *first = first_outcome(f);
	json_t *o = json_object();
	if (f->name)
		put_text(o, "name", f->name);
	put_text(o, "stage", "all");
	put_uint(o, "tc", f->design.tc);
	put_uint(o, "rows", f->design.rows);
	put_uint(o, "cols", f->design.cols);
	put_uint(o, "vc", f->design.vc);
	put_uint(o, "width", f->design.width);
	put_uint(o, "sram_bytes", f->design.sram_bytes);
	put_real(o, "area_mm2", f->area_mm2);
	put_real(o, "tdp_w", f->tdp_w);
	put_real(o, "samples_per_s", first->samples_per_s);
	put_real(o, "perf_per_tdp", per_tdp(s, f));
	put_real(o, "energy_j_per_sample", first->energy_j_per_sample);
	put_real(o, "score", f->score);
	put(o, "ratio_to", ratios_json(s, f));
	put(o, "workloads", workloads_json(s->config, f));
	return o;
}

json_t *report_search_json(const struct search_report *s)
{
	json_t *root = json_object(), *designs = json_array(), *baselines = json_object();
	for (uint32_t i = 0; i < s->result->n_finalists; i++)
		json_array_append_new(designs, finalist_json(s, &s->result->finalists[i]));
	for (uint32_t i = 0; i < s->config->n_baselines; i++)
		put(baselines, s->config->baselines[i].name,
			finalist_json(s, &s->result->baselines[i]));
	put_text(root, "algorithm", s->algo);
	put_text(root, "budget_like", s->budget_name);
	put_real(root, "budget_area_mm2", s->config->budget.area_mm2);
	put_real(root, "budget_tdp_w", s->config->budget.tdp_w);
	put_text(root, "topology", s->config->topo ? s->config->topo->name : "none");
	put_text(root, "network", s->config->topo ? net_kind_name(s->config->net) : "none");
	put(root, "designs", designs);
	put(root, "baselines", baselines);
	put_uint(root, "oracle_calls", s->result->oracle_calls);
	put_uint(root, "simulations", s->result->simulations);
	put_uint(root, "pruned_points", s->result->pruned_points);
	return root;
}

static void table_row(const struct search_report *s, const struct finalist *f, struct table *t)
{
	const struct outcome *o = first_outcome(f);
	char sram[UNIT_TEXT];
	const struct design *d = &f->design;
	table_cell(t, "%s", f->name ? f->name : "mined");
	table_cell(t, "%u x %ux%u", d->tc, d->rows, d->cols);
	table_cell(t, "%u x %u", d->vc, d->width);
	table_cell(t, "%s", unit_print(sram, UNIT_BYTES, d->sram_bytes));
	table_cell(t, "%.1f", f->area_mm2);
	table_cell(t, "%.1f", f->tdp_w);
	table_cell(t, "%.5g", o->samples_per_s);
	table_cell(t, "%.4g", per_tdp(s, f));
	table_cell(t, "%.4g", o->energy_j_per_sample);
	table_cell(t, "%.4f", ticks_to_s(o->step) * 1e3);
	table_cell(t, "%.4f", ticks_to_s(o->analytic_step) * 1e3);
	for (uint32_t i = 0; i < s->config->n_baselines; i++)
		table_cell(t, "%.3f", f->ratios[i]);
}

void report_search_table(struct arena *a, const struct search_report *s, struct table *t)
{
	static const char *const fixed[] = {"design", "tensor_cores", "vector_cores", "sram",
		"area_mm2", "tdp_w", "samples_per_s", "per_tdp_w", "j_per_sample", "step_ms",
		"closed_form_ms"};
	enum { N_FIXED = sizeof(fixed) / sizeof(*fixed) };
	const char **columns = arena_array(a, N_FIXED + s->config->n_baselines, const char *);
	memcpy(columns, fixed, sizeof(fixed));
	for (uint32_t i = 0; i < s->config->n_baselines; i++)
		columns[N_FIXED + i] = arena_printf(a, "vs_%s", s->config->baselines[i].name);
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = N_FIXED + s->config->n_baselines};
	for (uint32_t i = 0; i < s->result->n_finalists; i++)
		table_row(s, &s->result->finalists[i], t);
	for (uint32_t i = 0; i < s->config->n_baselines; i++)
		table_row(s, &s->result->baselines[i], t);
}

/* Where the simulation and its two simplifications part, and why. */
static void text_network(const struct search_report *s, struct text *out)
{
	const struct outcome *o = first_outcome(&s->result->finalists[0]);
	double simulated = ticks_to_s(o->step), alone = ticks_to_s(o->uncontended_step);
	double closed = ticks_to_s(o->analytic_step);
	if (!s->config->topo || simulated <= 0)
		return;
	text_add(out, "best design, %s over %s: %.6f ms\n", net_kind_name(s->config->net),
		s->config->topo->name, simulated * 1e3);
	if (s->config->net != NET_ANALYTIC)
		text_add(out,
			"  on the analytic network %.6f ms: sharing of links costs %+.4f %% of the "
			"step\n",
			alone * 1e3, 100 * (simulated - alone) / simulated);
	text_add(out,
		"  by the closed form %.6f ms: it is %+.4f %% off, for it takes the slowest stage "
		"for "
		"every later micro-batch\n",
		closed * 1e3, 100 * (closed - simulated) / simulated);
}

void report_search_text(struct arena *a, const struct search_report *s, struct text *out)
{
	struct table t;
	text_add(out, "%s search for %s%s within %.1f mm2 and %.1f W (%s)\n", s->algo,
		s->config->workloads[0].name,
		s->config->n_workloads > 1 ? " and more, one design for all," : "",
		s->config->budget.area_mm2, s->config->budget.tdp_w, s->budget_name);
	report_search_table(a, s, &t);
	table_print(&t, out, 0);
	if (s->result->n_finalists > 0)
		text_network(s, out);
	text_add(out, "%ju evaluations, %ju full simulations, %ju points pruned\n",
		(uintmax_t)s->result->oracle_calls, (uintmax_t)s->result->simulations,
		(uintmax_t)s->result->pruned_points);
}
