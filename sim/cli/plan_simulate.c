/* Schedules of `wham plan` on the network. Grids whose layers go the same ways are one schedule,
 * whatever the equation beside it. */
#include <stdio.h>
#include <string.h>

#include "base/workers.h"
#include "cli/plan.h"
#include "run/iteration.h"

enum { REASON = 240 };

struct played {
	bool ran, folded;
	struct grid_seconds seconds;
	char reason[REASON]; /* why it did not run */
};

struct simulations {
	struct request *q;
	const struct planning *p;
	const struct grid_row **rows; /* one for each schedule */
	uint32_t n, cap;
	struct run_memo *memo; /* of this process; none for a SimGrid platform */
};

static bool same_schedule(
	const struct planning *p, const struct grid_row *a, const struct grid_row *b)
{
	if (a->grid.pr != b->grid.pr || a->scheme != b->scheme)
		return false;
	return a->scheme || memcmp(a->ways, b->ways, p->c.q.n_layers * sizeof(*a->ways)) == 0;
}

static uint32_t find_schedule(const struct simulations *s, const struct grid_row *row)
{
	uint32_t i = 0;
	while (i < s->n && !same_schedule(s->p, s->rows[i], row))
		i++;
	return i;
}

static void take_times(
	const struct planning *p, const struct iteration_times *t, struct grid_seconds *out)
{
	memcpy(out->s, t->s, sizeof(out->s));
	out->total = t->total_s;
	for (uint32_t i = 0; i < t->n_layers; i++)
		out->of_kind[p->c.q.layers[i].conv ? GRID_CONV : GRID_FC] += t->layer_s[i];
}

static bool schedule(struct arena *a, const struct planning *p, const struct grid_row *row,
	struct iteration *out, struct err *err)
{
	if (row->scheme) {
		struct scheme_question question = plan_scheme_question(p, row);
		return scheme_schedule(a, row->scheme, &question, out, err);
	}
	struct grid_question question = plan_question(p, row);
	struct grid_options options = p->options;
	options.times = row->times;
	return grid_schedule(a, &question, row->ways, &options, out, err);
}

/* Several processes would write over each other. */
static void show_progress(const struct simulations *s, uint32_t i)
{
	char line[64];
	snprintf(line, sizeof(line), "plan: schedule %u of %u", i + 1, s->n);
	if (s->q->jobs <= 1)
		progress_show(s->q, line);
}

static bool simulate_one(void *ctx, uint32_t i, void *result, struct err *err)
{
	struct simulations *s = ctx;
	struct played *out = result;
	struct run_config config = s->p->config;
	struct iteration it;
	struct iteration_times times;
	struct arena a = {0};
	struct err why = {0};
	bool ok = true;
	show_progress(s, i);
	if (!s->memo && !s->p->topo.platform_xml)
		s->memo = run_memo_create(&s->p->topo, config.net);
	config.memo = s->memo;
	if (!schedule(&a, s->p, s->rows[i], &it, &why)) {
		memcpy(out->reason, why.text, REASON - 1);
	} else if ((ok = run_iteration(&a, &it, &config, &times, err))) {
		out->ran = true;
		out->folded = times.folded;
		take_times(s->p, &times, &out->seconds);
	}
	arena_free(&a);
	return ok;
}

/* Something of the row can be carried out. */
static bool can_run(const struct grid_row *row)
{
	return !row->refused && (row->ways || row->scheme);
}

bool plan_simulate(
	struct request *q, const struct planning *p, struct plan_rows *rows, struct err *err)
{
	struct simulations s = {.q = q, .p = p};
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct grid_row *row = &rows->rows[i];
		if (can_run(row) && find_schedule(&s, row) == s.n)
			arena_push(q->a, s.rows, s.n, s.cap) = row;
	}
	if (s.n == 0)
		return true;
	struct played *outcomes = arena_array(q->a, s.n, struct played);
	uint32_t jobs = q->jobs > 1 ? (uint32_t)q->jobs : 1;
	struct worker_map map = {simulate_one, &s, s.n, jobs, sizeof(*outcomes)};
	bool ok = workers_run(&map, outcomes, err);
	run_memo_destroy(s.memo);
	for (uint32_t i = 0; ok && i < rows->n; i++) {
		struct grid_row *row = &rows->rows[i];
		if (!can_run(row))
			continue;
		const struct played *o = &outcomes[find_schedule(&s, row)];
		row->is_simulated = o->ran;
		row->folded = o->folded;
		row->simulated = o->seconds;
		row->unscheduled = o->ran ? NULL : arena_strdup(q->a, o->reason);
	}
	return ok;
}
