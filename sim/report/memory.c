/* Memory of a simulated step: live bytes of a device of each stage over time, the peak and what
 * makes it. Weights, gradients and optimizer states live all along; a micro-batch's activations
 * from the start of its forward pass to the end of its backward pass; what recomputation makes
 * again while a backward pass runs. */
#include <stdlib.h>

#include "report/internal.h"
#include "report/report.h"

/* Live bytes from `at` on. */
struct level {
	tick at;
	uint64_t bytes;
	uint32_t held; /* micro-batches */
};

struct change {
	tick at;
	bool more; /* what ends at a time makes room for what starts then */
	uint64_t bytes;
	uint32_t micro_batches; /* 1, or 0 for what is made again */
};

struct stage_timeline {
	const struct stage *stage;
	uint32_t rank; /* the first of the stage; all of its devices hold the same */
	struct level *levels;
	uint32_t n_levels;
	struct level peak; /* the first of the highest */
};

static int change_order(const void *x, const void *y)
{
	const struct change *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (int)a->more - (int)b->more;
}

struct turns {
	tick *start, *end; /* by micro-batch, of its forward and backward pass; two rows */
	uint32_t n;
};

/* When each pass of each micro-batch started and ended on `rank`. Labels are "f12" and "b12". */
static struct turns find_turns(struct arena *a, const struct step_report *s, uint32_t rank)
{
	const struct run_result *run = s->run;
	struct turns t = {.n = s->plan->n_micro_batches};
	t.start = arena_array(a, (size_t)2 * t.n, tick);
	t.end = arena_array(a, (size_t)2 * t.n, tick);
	for (uint32_t i = 0; i < run->n_spans; i++) {
		const struct run_span *span = &run->spans[i];
		const struct prog_task *task = &s->plan->prog.roles[span->role].tasks[span->task];
		bool backward = task->phase == PHASE_BACKWARD;
		if (span->rank != rank || task->kind != TASK_COMPUTE ||
			task->phase == PHASE_OPTIMIZER || !task->label)
			continue;
		unsigned long m = strtoul(task->label + 1, NULL, 10);
		size_t at = m + (backward ? t.n : 0);
		if (m >= t.n)
			continue;
		if (t.end[at] == 0)
			t.start[at] = span->start;
		t.end[at] = span->end > t.end[at] ? span->end : t.end[at];
	}
	return t;
}

static struct change *find_changes(
	struct arena *a, const struct stage_memory *m, const struct turns *t, uint32_t *n)
{
	struct change *changes = arena_array(a, (size_t)4 * t->n, struct change);
	*n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		tick backward = t->start[t->n + i], end = t->end[t->n + i];
		changes[(*n)++] = (struct change){t->start[i], true, m->micro_batch_bytes, 1};
		changes[(*n)++] = (struct change){end, false, m->micro_batch_bytes, 1};
		if (m->remade_bytes == 0)
			continue;
		changes[(*n)++] = (struct change){backward, true, m->remade_bytes, 0};
		changes[(*n)++] = (struct change){end, false, m->remade_bytes, 0};
	}
	qsort(changes, *n, sizeof(*changes), change_order);
	return changes;
}

static struct stage_timeline timeline_of(
	struct arena *a, const struct step_report *s, uint32_t stage)
{
	struct stage_timeline out = {
		.stage = &s->plan->stages[stage], .rank = stage * s->degrees->tp * s->degrees->dp};
	const struct stage_memory *m = &out.stage->memory;
	struct turns turns = find_turns(a, s, out.rank);
	uint32_t n;
	struct change *changes = find_changes(a, m, &turns, &n);
	struct level now = {.bytes = m->weights_bytes + m->gradients_bytes + m->optimizer_bytes};
	out.levels = arena_array(a, (size_t)n + 1, struct level);
	out.levels[out.n_levels++] = now;
	out.peak = now;
	for (uint32_t i = 0; i < n; i++) {
		const struct change *c = &changes[i];
		now.at = c->at;
		now.bytes = c->more ? now.bytes + c->bytes : now.bytes - c->bytes;
		now.held = c->more ? now.held + c->micro_batches : now.held - c->micro_batches;
		if (out.levels[out.n_levels - 1].at == now.at)
			out.n_levels--;
		out.levels[out.n_levels++] = now;
		if (now.bytes > out.peak.bytes)
			out.peak = now;
	}
	return out;
}

static json_t *tensors_json(
	struct arena *a, const struct step_report *s, const struct stage_timeline *t)
{
	json_t *list = json_array();
	struct graph_kept *kept;
	uint32_t n = plan_kept_tensors(a, s->train, t->stage->first_layer, t->stage->end_layer,
		t->stage->recompute, &kept);
	for (uint32_t i = 0; i < n; i++) {
		json_t *o = json_object();
		put_text(o, "name", s->train->tensors[kept[i].tensor].name);
		put_uint(o, "bytes", kept[i].bytes);
		put_uint(o, "copies", t->peak.held);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *levels_json(const struct stage_timeline *t)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < t->n_levels; i++) {
		json_t *o = json_object();
		put_time(o, "from_s", t->levels[i].at);
		put_uint(o, "bytes", t->levels[i].bytes);
		put_uint(o, "micro_batches", t->levels[i].held);
		json_array_append_new(list, o);
	}
	return list;
}

/* What is made again at the peak. */
static uint64_t remade_at_peak(const struct stage_timeline *t)
{
	const struct stage_memory *m = &t->stage->memory;
	return t->peak.bytes - m->weights_bytes - m->gradients_bytes - m->optimizer_bytes -
	       t->peak.held * m->micro_batch_bytes;
}

json_t *report_memory_json(const struct step_report *s)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < s->plan->n_stages; i++) {
		struct arena a = {0};
		struct stage_timeline t = timeline_of(&a, s, i);
		const struct stage_memory *m = &t.stage->memory;
		json_t *o = json_object(), *peak = json_object();
		put_uint(o, "stage", i);
		put_uint(o, "rank", t.rank);
		put_uint(o, "capacity_bytes", s->archs[s->n_archs == 1 ? 0 : i].hbm_bytes);
		put_uint(peak, "bytes", t.peak.bytes);
		put_time(peak, "at_s", t.peak.at);
		put_uint(peak, "micro_batches", t.peak.held);
		put_uint(peak, "weights_bytes", m->weights_bytes);
		put_uint(peak, "gradients_bytes", m->gradients_bytes);
		put_uint(peak, "optimizer_bytes", m->optimizer_bytes);
		put_uint(peak, "activation_bytes", t.peak.held * m->micro_batch_bytes);
		put_uint(peak, "recomputed_bytes", remade_at_peak(&t));
		put(peak, "tensors", tensors_json(&a, s, &t));
		put(o, "peak", peak);
		put(o, "timeline", levels_json(&t));
		json_array_append_new(list, o);
		arena_free(&a);
	}
	return list;
}

static void size_cell(struct table *t, uint64_t bytes)
{
	char size[UNIT_TEXT];
	table_cell(t, "%s", unit_print(size, UNIT_BYTES, bytes));
}

static void add_stage(struct table *t, const struct stage_timeline *x, uint32_t i)
{
	const struct stage_memory *m = &x->stage->memory;
	char at[UNIT_TEXT];
	table_cell(t, "%u", i);
	size_cell(t, m->weights_bytes);
	size_cell(t, m->gradients_bytes);
	size_cell(t, m->optimizer_bytes);
	table_cell(t, "%u", x->peak.held);
	size_cell(t, x->peak.held * m->micro_batch_bytes);
	size_cell(t, remade_at_peak(x));
	size_cell(t, x->peak.bytes);
	table_cell(t, "%s", unit_print(at, UNIT_TIME, x->peak.at));
}

static void add_tensors(struct arena *a, const struct step_report *s,
	const struct stage_timeline *highest, uint32_t stage, struct text *out)
{
	struct graph_kept *kept;
	static const char *const columns[] = {"tensor", "micro_batches", "each", "together"};
	struct table t = {.a = a, .columns = columns, .n_columns = 4};
	uint32_t n = plan_kept_tensors(a, s->train, highest->stage->first_layer,
		highest->stage->end_layer, highest->stage->recompute, &kept);
	text_add(out, "largest activations at the peak of stage %u\n", stage);
	for (uint32_t i = 0; i < n; i++) {
		table_cell(&t, "%s", s->train->tensors[kept[i].tensor].name);
		table_cell(&t, "%u", highest->peak.held);
		size_cell(&t, kept[i].bytes);
		size_cell(&t, highest->peak.held * kept[i].bytes);
	}
	table_print(&t, out, 8);
}

void report_memory_text(const struct step_report *s, struct text *out)
{
	static const char *const columns[] = {"stage", "weights", "gradients", "optimizer",
		"micro_batches", "activations", "made_again", "peak", "at"};
	struct arena a = {0};
	struct table t = {.a = &a, .columns = columns, .n_columns = 9};
	struct stage_timeline highest = {0};
	uint32_t stage = 0;
	for (uint32_t i = 0; i < s->plan->n_stages; i++) {
		struct stage_timeline x = timeline_of(&a, s, i);
		add_stage(&t, &x, i);
		if (x.peak.bytes > highest.peak.bytes) {
			highest = x;
			stage = i;
		}
	}
	text_add(out, "memory of a device at its peak\n");
	table_print(&t, out, 16);
	if (highest.stage)
		add_tensors(&a, s, &highest, stage, out);
	arena_free(&a);
}
