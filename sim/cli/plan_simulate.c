/* Schedules of `wham plan` on the network. Grids whose layers go the same ways are one schedule,
 * whatever the equation beside it. */
#include <stdio.h>
#include <string.h>

#include "base/workers.h"
#include "cli/plan.h"
#include "run/iteration.h"

/* A schedule whose sum over folded rounds is not exact is carried out message by message as long as
 * that takes some 20 s. A message costs SimGrid the more the more of them are under way: measured for
 * ranks in order 3 us on torus:8x8, 4 to 6 us on torus:16x16, 14 us on torus:32x32 (for ranks at
 * random up to 60 times as much), so that the limit is on messages x processes. What the sum is off
 * by, measured: for rings up to 0.5 % of 64 processes and 3.1 % of 256, for Rabenseifner 0.1 %. */
static const uint64_t max_messages_processes = UINT64_C(500000000);

enum { REASON = 240 };

struct played {
	bool ran, folded, exact;
	struct grid_seconds seconds;
	char reason[REASON]; /* why it did not run */
	double layer_s[];    /* of all layers */
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
	const struct planning *p, const struct iteration_times *t, struct played *out)
{
	out->ran = true;
	out->folded = t->folded;
	out->exact = t->exact;
	memcpy(out->seconds.s, t->s, sizeof(t->s));
	out->seconds.total = t->total_s;
	for (uint32_t i = 0; i < t->n_layers; i++) {
		out->seconds.of_kind[plan_kind(&p->c.q, i)] += t->layer_s[i];
		out->layer_s[i] = t->layer_s[i];
	}
}

bool plan_schedule(struct arena *a, const struct planning *p, const struct grid_row *row,
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

struct run_config plan_run_config(const struct planning *p)
{
	struct run_config config = p->config;
	config.max_messages = max_messages_processes / (p->processes ? p->processes : 1);
	config.stop = interrupted;
	return config;
}

static uint32_t jobs_of(const struct request *q)
{
	return q->jobs > 1 ? (uint32_t)q->jobs : 1;
}

/* The first of several processes speaks for all, which would write over each other. */
static void show_progress(const struct simulations *s, uint32_t i)
{
	char line[64];
	snprintf(line, sizeof(line), "plan: schedule %u of %u", i + 1, s->n);
	if (i % jobs_of(s->q) == 0)
		progress_show(s->q, line);
}

static void clear_progress(const struct simulations *s, uint32_t i)
{
	if (i % jobs_of(s->q) == 0 && s->n - i <= jobs_of(s->q))
		progress_clear(s->q);
}

/* Its first line, without the name that a schedule has for want of a file. */
static void put_reason(const struct err *why, struct played *out)
{
	static const char file[] = "prog: ";
	bool named = strncmp(why->text, file, sizeof(file) - 1) == 0;
	const char *text = why->text + (named ? sizeof(file) - 1 : 0);
	snprintf(out->reason, REASON, "%.*s", (int)strcspn(text, "\n"), text);
}

static bool play(
	struct simulations *s, struct arena *a, uint32_t i, struct played *out, struct err *err)
{
	struct run_config config = plan_run_config(s->p);
	struct iteration it;
	struct iteration_times times;
	struct err why = {0};
	if (!s->memo && !s->p->topo.platform_xml)
		s->memo = run_memo_create(&s->p->topo, config.net);
	config.memo = s->memo;
	if (!plan_schedule(a, s->p, s->rows[i], &it, &why)) {
		put_reason(&why, out);
		return true;
	}
	if (!run_iteration(a, &it, &config, &times, &why)) {
		put_reason(&why, out);
		*err = why;
		return why.kind == ERR_INPUT || why.kind == ERR_ANSWER;
	}
	take_times(s->p, &times, out);
	return true;
}

static bool simulate_one(void *ctx, uint32_t i, void *result, struct err *err)
{
	struct simulations *s = ctx;
	struct played *out = result;
	struct arena a = {0};
	if (!interrupted())
		show_progress(s, i);
	bool ok = interrupted() || play(s, &a, i, out, err);
	if (interrupted() && !out->ran) {
		snprintf(out->reason, REASON, "interrupted");
		ok = true;
	}
	clear_progress(s, i);
	arena_free(&a);
	return ok;
}

/* Something of the row can be carried out. */
static bool can_run(const struct grid_row *row)
{
	return !row->refused && !row->uncomputed && (row->ways || row->scheme);
}

static const struct played *outcome_of(const double *outcomes, size_t size, uint32_t i)
{
	return (const void *)(outcomes + i * size / sizeof(double));
}

static void warn_of_sums(
	const struct simulations *s, const struct played *o, const struct grid_row *row)
{
	if (o->ran && !o->exact && s->p->config.fold != RUN_FOLD_ON)
		report_warn(s->q->a, &s->q->report, "fold_inexact",
			arena_printf(s->q->a,
				"%ux%u %s on %s: too many messages to carry out each, and the "
				"sum over equal rounds that stands for them is not exact here; "
				"--fold off carries out every message",
				row->grid.pr, row->grid.pc, row->variant, s->p->topo.name));
}

static void take_outcome(const struct simulations *s, const struct played *o, struct grid_row *row)
{
	row->is_simulated = o->ran;
	row->folded = o->folded;
	row->exact = o->exact;
	row->simulated = o->seconds;
	row->layer_s = o->ran ? o->layer_s : NULL;
	row->unscheduled = o->ran ? NULL : arena_strdup(s->q->a, o->reason);
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
	size_t size = sizeof(struct played) + p->c.q.n_layers * sizeof(double);
	double *outcomes = arena_array(q->a, s.n * size / sizeof(double), double);
	struct worker_map map = {simulate_one, &s, s.n, jobs_of(q), size};
	bool ok = workers_run(&map, outcomes, err);
	run_memo_destroy(s.memo);
	for (uint32_t i = 0; ok && i < s.n; i++)
		warn_of_sums(&s, outcome_of(outcomes, size, i), s.rows[i]);
	for (uint32_t i = 0; ok && i < rows->n; i++) {
		struct grid_row *row = &rows->rows[i];
		if (can_run(row))
			take_outcome(&s, outcome_of(outcomes, size, find_schedule(&s, row)), row);
	}
	return ok;
}
