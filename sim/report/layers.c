#include "report/layers.h"

#include <stdlib.h>

#include "report/energy.h"
#include "report/internal.h"

/* Which rows are shown, in which order: the products of the forward pass, then, when asked for,
 * all others. */
struct listing {
	const struct layer_row **rows;
	uint32_t n, cap;
};

static bool is_forward_product(const struct layer_row *row)
{
	return row->part == PART_FORWARD && row->op->work.batch > 0;
}

static struct listing list_rows(struct arena *a, const struct step_report *s)
{
	struct listing list = {0};
	uint32_t n_parts;
	const struct layer_part *parts = layers_run(a, s, &n_parts);
	for (uint32_t round = 0; round < (s->all_operators ? 2 : 1); round++)
		for (uint32_t p = 0; p < n_parts; p++)
			for (uint32_t i = 0; i < parts[p].n_rows; i++)
				if (is_forward_product(&parts[p].rows[i]) == (round == 0))
					arena_push(a, list.rows, list.n, list.cap) =
						&parts[p].rows[i];
	return list;
}

static uint64_t bytes_of(const struct op_cost *cost)
{
	return cost->dram_read_bytes + cost->dram_write_bytes;
}

/* The plain roofline: which of the two resources would be busy longer. */
static const char *bound_of(const struct arch *arch, const struct op_cost *cost)
{
	tick compute = cycles_to_ticks(cost->cycles, arch->clock_hz);
	tick memory = ticks_ceil(bytes_of(cost), arch_dram_bytes_per_s(arch));
	return memory > compute ? "memory" : "compute";
}

const char *core_name(enum core core)
{
	switch (core) {
	case CORE_NONE:
		return "none";
	case CORE_TC:
		return "tc";
	case CORE_VC:
		return "vc";
	case CORE_TC_VC:
		return "tc+vc";
	case CORE_LINK:
		return "link";
	}
	abort(); /* not a value of the enum */
}

/* "update" belongs to no micro-batch, everything else to each. */
static void put_timing(json_t *l, const struct layer_row *row)
{
	put_time(l, "asap_s", row->timing.asap);
	put_time(l, "alap_s", row->timing.alap);
	put_time(l, "mobility_s", row->timing.mobility);
	put(l, "critical", json_boolean(row->timing.mobility == 0));
}

static json_t *row_json(const struct step_report *s, const struct layer_row *row)
{
	const struct arch *arch = arch_of_stage(s, row->stage);
	const struct op *op = row->op;
	json_t *l = json_object();
	put_text(l, "name", op->name);
	put_text(l, "kind", op_kind_name(op->kind));
	put_uint(l, "count", op->work.batch);
	put_uint(l, "m", op->work.m);
	put_uint(l, "n", op->work.n);
	put_uint(l, "k", op->work.k);
	put_uint(l, "macs", row->own.macs);
	put_uint(l, "cycles", row->own.cycles.n);
	put_uint(l, "dram_bytes", bytes_of(&row->own));
	put_text(l, "bound", bound_of(arch, &row->own));
	put_uint(l, "stage", row->stage);
	put_text(l, "pass", op_pass_name(op->pass));
	put_text(l, "core", core_name(op->work.core));
	put_uint(l, "fused_operators", op->n_members > 0 ? op->n_members - 1 : 0);
	put_uint(l, "run_dram_bytes", bytes_of(&row->cost));
	put_uint(l, "lane_ops", row->cost.lane_ops);
	put_time(l, "start_s", row->run.start);
	put_time(l, "time_s", row->run.end - row->run.start);
	put_time(l, "wait_s", row->run.start - row->run.ready);
	put_time(l, "stall_s", row->run.memory_stall);
	put_real(l, "utilisation", row->utilisation);
	put_text(l, "roofline", roofline_name(row->roofline));
	put_real(l, "energy_j", arch_op_energy_j(arch, &row->cost));
	put(l, "energy", op_energy_json(arch, &row->cost));
	if (s->critical_path)
		put_timing(l, row);
	return l;
}

json_t *report_layers_json(struct arena *a, const struct step_report *s)
{
	json_t *list = json_array();
	struct listing rows = list_rows(a, s);
	for (uint32_t i = 0; i < rows.n; i++)
		json_array_append_new(list, row_json(s, rows.rows[i]));
	return list;
}

static void time_cell(struct table *t, tick time)
{
	table_cell(t, "%.3f", ticks_to_s(time) * 1e6);
}

static void row_cells(const struct step_report *s, const struct layer_row *row, struct table *t)
{
	const struct op *op = row->op;
	table_cell(t, "%s", op->name);
	table_cell(t, "%s", op_kind_name(op->kind));
	table_cell(t, "%ju", (uintmax_t)op->work.batch);
	table_cell(t, "%ju", (uintmax_t)op->work.m);
	table_cell(t, "%ju", (uintmax_t)op->work.n);
	table_cell(t, "%ju", (uintmax_t)op->work.k);
	table_cell(t, "%ju", (uintmax_t)row->own.cycles.n);
	table_cell(t, "%ju", (uintmax_t)bytes_of(&row->own));
	table_cell(t, "%s", bound_of(arch_of_stage(s, row->stage), &row->own));
	table_cell(t, "%s", op_pass_name(op->pass));
	time_cell(t, row->run.end - row->run.start);
	time_cell(t, row->run.memory_stall);
	table_cell(t, "%.1f", 100 * row->utilisation);
	table_cell(t, "%s", roofline_name(row->roofline));
	if (!s->critical_path)
		return;
	time_cell(t, row->timing.asap);
	time_cell(t, row->timing.alap);
	time_cell(t, row->timing.mobility);
}

void report_layers_table(struct arena *a, const struct step_report *s, struct table *t)
{
	static const char *const columns[] = {"layer", "kind", "count", "m", "n", "k", "cycles",
		"dram_bytes", "bound", "pass", "time_us", "stall_us", "utilisation_percent",
		"roofline", "asap_us", "alap_us", "mobility_us"};
	enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]), N_TIMING = 3 };
	struct listing rows = list_rows(a, s);
	*t = (struct table){
		.a = a,
		.columns = columns,
		.n_columns = s->critical_path ? N_COLUMNS : N_COLUMNS - N_TIMING,
	};
	for (uint32_t i = 0; i < rows.n; i++)
		row_cells(s, rows.rows[i], t);
}

json_t *report_paths_json(struct arena *a, const struct step_report *s)
{
	json_t *list = json_array();
	uint32_t n_parts;
	const struct layer_part *parts = layers_run(a, s, &n_parts);
	for (uint32_t p = 0; p < n_parts; p++) {
		json_t *o = json_object(), *operators = json_array();
		for (uint32_t i = 0; i < parts[p].n_path; i++)
			json_array_append_new(
				operators, json_string(parts[p].rows[parts[p].path[i]].op->name));
		put_uint(o, "stage", parts[p].stage);
		put_text(o, "part", part_name(parts[p].part));
		put_time(o, "length_s", parts[p].critical_path);
		put_time(o, "makespan_s", parts[p].makespan);
		put(o, "operators", operators);
		json_array_append_new(list, o);
	}
	return list;
}

static int compare_durations(const void *x, const void *y)
{
	const struct layer_row *a = *(const struct layer_row *const *)x,
			       *b = *(const struct layer_row *const *)y;
	if (a->timing.duration != b->timing.duration)
		return a->timing.duration > b->timing.duration ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

/* One line for the path, then its longest operators. */
static void text_path(struct arena *a, const struct layer_part *part, struct text *out)
{
	enum { SHOWN = 3 };
	const struct layer_row **rows = arena_array(a, part->n_path, const struct layer_row *);
	for (uint32_t i = 0; i < part->n_path; i++)
		rows[i] = &part->rows[part->path[i]];
	if (part->n_path > 0)
		qsort(rows, part->n_path, sizeof(*rows), compare_durations);
	text_add(out, "critical path of stage %u, %s: %.6g ms of %.6g ms, %u of %u operators\n",
		part->stage, part_name(part->part), ticks_to_s(part->critical_path) * 1e3,
		ticks_to_s(part->makespan) * 1e3, part->n_path, part->n_rows);
	for (uint32_t i = 0; i < part->n_path && i < SHOWN; i++)
		text_add(out, "  %-40s %10.4f ms %5.1f %% %s\n", rows[i]->op->name,
			ticks_to_s(rows[i]->timing.duration) * 1e3,
			100 * (double)rows[i]->timing.duration / (double)part->critical_path,
			roofline_name(rows[i]->roofline));
}

void report_layers_text(struct arena *a, const struct step_report *s, struct text *out)
{
	if (s->layers) {
		struct table t;
		report_layers_table(a, s, &t);
		table_print(&t, out, 0);
	}
	if (!s->critical_path)
		return;
	uint32_t n_parts;
	const struct layer_part *parts = layers_run(a, s, &n_parts);
	for (uint32_t p = 0; p < n_parts; p++)
		text_path(a, &parts[p], out);
}
