#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/internal.h"
#include "report/report.h"

static const char *task_name(const struct prog *p, const struct prog_task *t)
{
	switch (t->kind) {
	case TASK_COMPUTE:
		return t->cost == PROG_NONE ? "compute" : p->costs[t->cost].key;
	case TASK_SEND:
		return "send";
	case TASK_RECV:
		return "recv";
	case TASK_COLL:
		return coll_kind_name(t->coll);
	case TASK_WAIT:
		return "wait";
	case TASK_MARK:
		return t->label ? t->label : "mark";
	}
	return "";
}

/* Microseconds with all six decimals: a tick is 1 ps, so nothing is rounded. */
static json_t *microseconds(tick t)
{
	return json_real((double)t / 1e6);
}

static json_t *span_json(const struct prog *p, const struct run_span *span)
{
	const struct prog_task *t = &p->roles[span->role].tasks[span->task];
	json_t *e = json_object(), *args = json_object();
	put_text(e, "name", t->label && t->kind != TASK_MARK ? t->label : task_name(p, t));
	put_text(e, "cat", t->stream == 0 ? "compute" : "communication");
	put_text(e, "ph", "X");
	put(e, "ts", microseconds(span->start));
	put(e, "dur", microseconds(span->end - span->start));
	put_uint(e, "pid", span->rank);
	put_uint(e, "tid", t->stream);
	put_uint(args, "task", t->id);
	if (t->bytes > 0)
		put_uint(args, "bytes", t->bytes);
	if (t->tag)
		put_text(args, "tag", t->tag);
	put(e, "args", args);
	return e;
}

static json_t *process_json(const struct prog *p, uint32_t rank)
{
	json_t *e = json_object(), *args = json_object();
	char name[96];
	snprintf(name, sizeof(name), "rank %" PRIu32 " (%.60s)", rank,
		p->roles[prog_role_of(p, rank)].name);
	put_text(args, "name", name);
	put_text(e, "name", "process_name");
	put_text(e, "ph", "M");
	put_uint(e, "pid", rank);
	put_uint(e, "tid", 0);
	put(e, "args", args);
	return e;
}

static void add_event(struct text *out, json_t *event, bool last)
{
	char *dump = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(15));
	text_add(out, "%s%s\n", dump, last ? "" : ",");
	free(dump);
	json_decref(event);
}

void report_timeline(const struct prog *p, const struct run_result *run, struct text *out)
{
	text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	for (uint32_t r = 0; r < run->n_ranks; r++)
		add_event(out, process_json(p, r), run->n_spans == 0 && r + 1 == run->n_ranks);
	for (uint32_t i = 0; i < run->n_spans; i++)
		add_event(out, span_json(p, &run->spans[i]), i + 1 == run->n_spans);
	text_add(out, "]}\n");
}
