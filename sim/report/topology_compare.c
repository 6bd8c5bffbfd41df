/* Topologies of one budget side by side: who wins, by how much, and why. */
#include "report/internal.h"
#include "report/report.h"

static double ratio(tick time, tick by)
{
	return by > 0 ? (double)time / (double)by : 1;
}

enum limit { LIMIT_LATENCY, LIMIT_CONTENTION, LIMIT_BANDWIDTH, LIMIT_COMPUTATION };

/* Latency when a single byte takes half as long; contention when messages that share no links but
 * those of their own devices would be through at least 15 % sooner; computation when a model's step
 * leaves every link idle for more than half of the time. */
static enum limit limit_of(const struct compare_row *r)
{
	if (2 * r->empty_time > r->time)
		return LIMIT_LATENCY;
	if (ratio(r->time, r->free_time) >= 1.15)
		return LIMIT_CONTENTION;
	return r->empty_time == 0 && r->utilisation < 0.5 ? LIMIT_COMPUTATION : LIMIT_BANDWIDTH;
}

static uint64_t cable_rate(const struct compare_row *r)
{
	return r->topo->n_links > 0 ? r->topo->links[0].bytes_per_s : 0;
}

static const char *reason(struct arena *a, const struct compare_row *r)
{
	char rate[UNIT_TEXT], time[UNIT_TEXT];
	switch (limit_of(r)) {
	case LIMIT_LATENCY:
		return arena_printf(a, "latency: %s for a single byte, diameter %u",
			unit_print(time, UNIT_TIME, r->empty_time), r->figures.diameter);
	case LIMIT_CONTENTION:
		return arena_printf(a,
			"contention: messages share links on the way, %.2f x the time of the "
			"devices' "
			"own; %s in use for %.0f %% of the time",
			ratio(r->time, r->free_time), r->link, 100 * r->utilisation);
	case LIMIT_BANDWIDTH:
		return arena_printf(a,
			"bandwidth: cables of %s, the busiest (%s) in use for %.0f %% of the time",
			unit_print(rate, UNIT_BANDWIDTH, cable_rate(r)), r->link,
			100 * r->utilisation);
	case LIMIT_COMPUTATION:
		return arena_printf(a,
			"computation: the busiest link (%s) in use for %.0f %% of the time",
			r->link, 100 * r->utilisation);
	}
	return "";
}

void report_compare_table(
	struct arena *a, const struct compare_row *rows, uint32_t n_rows, struct table *t)
{
	static const char *const columns[] = {"topology", "work", "time_us", "vs_best", "cables",
		"cable_GBps", "bisection_GBps", "diameter", "mean_hops", "contention",
		"busiest_pct", "limited_by"};
	*t = (struct table){
		.a = a, .columns = columns, .n_columns = sizeof(columns) / sizeof(*columns)};
	for (uint32_t i = 0; i < n_rows; i++) {
		const struct compare_row *r = &rows[i];
		table_cell(t, "%s", r->topo->name);
		table_cell(t, "%s", r->what);
		table_cell(t, "%.3f", ticks_to_s(r->time) * 1e6);
		table_cell(t, "%.3f", ratio(r->time, rows[0].time));
		table_cell(t, "%u", r->figures.cables);
		table_cell(t, "%.4f", (double)cable_rate(r) / 1e9);
		table_cell(t, "%.3f", (double)r->figures.bisection_bytes_per_s / 1e9);
		table_cell(t, "%u", r->figures.diameter);
		table_cell(t, "%.3f", r->figures.mean_hops);
		table_cell(t, "%.3f", ratio(r->time, r->free_time));
		table_cell(t, "%.1f", 100 * r->utilisation);
		table_cell(t, "%s", reason(a, r));
	}
}

void report_compare_text(
	struct arena *a, const struct compare_row *rows, uint32_t n_rows, struct text *out)
{
	char bw[2][UNIT_TEXT];
	if (n_rows < 2)
		return;
	const struct compare_row *first = &rows[0], *second = &rows[1], *last = &rows[n_rows - 1];
	text_add(out, "%s wins (%s): %.2f times as fast as %s, the second", first->topo->name,
		first->what, ratio(second->time, first->time), second->topo->name);
	if (n_rows > 2)
		text_add(out, ", %.2f times as fast as %s, the last",
			ratio(last->time, first->time), last->topo->name);
	text_add(out,
		".\nwhy: %s is limited by %s (bisection %s, diameter %u); %s by %s (bisection %s, "
		"diameter %u).\n",
		first->topo->name, reason(a, first),
		unit_print(bw[0], UNIT_BANDWIDTH, first->figures.bisection_bytes_per_s),
		first->figures.diameter, second->topo->name, reason(a, second),
		unit_print(bw[1], UNIT_BANDWIDTH, second->figures.bisection_bytes_per_s),
		second->figures.diameter);
}

json_t *report_compare_json(struct arena *a, const struct compare_row *rows, uint32_t n_rows)
{
	struct table t;
	struct text why = {0};
	report_compare_table(a, rows, n_rows, &t);
	json_t *root = report_table_json(&t);
	report_compare_text(a, rows, n_rows, &why);
	put_text(root, "winner", n_rows > 0 ? rows[0].topo->name : "");
	put_text(root, "why", why.data ? why.data : "");
	text_free(&why);
	return root;
}
