/* Progs in lockstep, task by task: what one rank does is what all do, and when the slowest message
 * of a collective has arrived everybody goes on. */
#include <assert.h>
#include <stdlib.h>

#include "run/internal.h"

/* The groups of a family, root first. */
struct family_layout {
	uint32_t group, root, layout;
	struct family_layout *next;
};

struct lockstep {
	struct arena a;
	const struct prog *prog;
	const struct run_config *config;
	const struct prog_role *role;
	const uint32_t *order;
	struct run_memo *memo;
	struct plans *plans;
	struct family_layout *layouts;
	struct folded **colls; /* per task; NULL where it is none */
	tick *starts, *ends;   /* per task */
	bool exact;            /* the sum is the time of the prog */
};

static uint32_t find_layout(struct lockstep *l, const struct prog_task *t)
{
	const struct prog *p = l->prog;
	const uint32_t *device_of_rank = l->config->device_of_rank;
	uint32_t root = coll_kind_has_root(t->coll) ? t->root : 0;
	for (const struct family_layout *f = l->layouts; f; f = f->next)
		if (f->group == t->group && f->root == root)
			return f->layout;
	uint32_t n = prog_group_size(p, t->group), n_ranks = prog_n_ranks(p);
	struct arena scratch = {0};
	uint32_t *devices = arena_array(&scratch, n_ranks, uint32_t);
	for (uint32_t r = 0; r < n_ranks; r++) {
		uint32_t team, position;
		bool member = prog_group_place(p, t->group, r, &team, &position);
		assert(member);
		devices[(size_t)team * n + (position + n - root) % n] =
			device_of_rank ? device_of_rank[r] : r;
	}
	struct family_layout *f = arena_new(&l->a, struct family_layout);
	*f = (struct family_layout){
		t->group, root, fold_layout(l->memo, devices, n, n_ranks / n), l->layouts};
	l->layouts = f;
	arena_free(&scratch);
	return f->layout;
}

static struct folded *add_collective(struct lockstep *l, const struct prog_task *t, struct err *err)
{
	const struct run_config *config = l->config;
	const struct coll_algo *algo = plan_algo(l->plans, t, err);
	if (!algo)
		return NULL;
	bool all = prog_group_size(l->prog, t->group) == prog_n_ranks(l->prog);
	struct coll_shape shape = plan_shape(l->plans, t->group, algo);
	struct fold_question q = {.algo = algo,
		.layout = find_layout(l, t),
		.bytes = t->bytes,
		.chunk_bytes = config->chunk_bytes,
		.reduce_bytes_per_s = config->reduce_bytes_per_s,
		.shape = &shape,
		.counts = all && algo->kind == COLL_ALLTOALL ? config->counts : NULL};
	struct folded *f = fold_add(l->memo, &q, err);
	if (!f)
		err_prefix(err, "%s: ", t->place ? t->place : "prog");
	return f;
}

static bool is_lasting(const struct lockstep *l)
{
	uint64_t sum = 0;
	if (l->config->fold == RUN_FOLD_ON)
		return true;
	for (uint32_t i = 0; i < l->role->n_tasks; i++)
		if (l->colls[i])
			sum += l->colls[i]->n_messages;
	return l->config->max_messages > 0 && sum > l->config->max_messages;
}

/* l->exact: as far as is known before anything is carried. */
static bool add_collectives(struct lockstep *l, struct err *err)
{
	bool all = l->config->fold == RUN_FOLD_ON || l->config->max_messages > 0;
	for (uint32_t i = 0; i < l->role->n_tasks && (all || l->exact); i++) {
		const struct prog_task *t = &l->role->tasks[i];
		if (t->kind != TASK_COLL)
			continue;
		l->colls[i] = add_collective(l, t, err);
		if (!l->colls[i])
			return false;
		l->exact = l->exact && l->colls[i]->starts_together && l->colls[i]->leaves_together;
	}
	return true;
}

static bool carry(struct lockstep *l, struct err *err)
{
	if (!fold_solve(l->memo, l->config->stop, err))
		return false;
	for (uint32_t i = 0; i < l->role->n_tasks; i++) {
		if (!l->colls[i])
			continue;
		fold_sum(l->memo, l->colls[i]);
		l->exact = l->exact && l->colls[i]->exact;
	}
	return true;
}

static tick duration_of(const struct lockstep *l, uint32_t task)
{
	const struct prog_task *t = &l->role->tasks[task];
	const struct run_config *config = l->config;
	uint32_t device = config->device_of_rank ? config->device_of_rank[0] : 0;
	switch (t->kind) {
	case TASK_COMPUTE:
		return run_compute_time(config, device,
			t->cost != PROG_NONE ? l->prog->costs[t->cost].duration : t->duration);
	case TASK_WAIT:
		return t->duration;
	case TASK_COLL:
		return l->colls[task]->time;
	case TASK_SEND:
	case TASK_RECV:
	case TASK_MARK:
		return 0;
	}
	return 0;
}

static bool add_up(struct lockstep *l, struct err *err)
{
	tick now = 0;
	uint32_t n = l->role->n_tasks;
	l->starts = arena_array(&l->a, (size_t)n + 1, tick);
	l->ends = arena_array(&l->a, (size_t)n + 1, tick);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t task = l->order[k];
		const struct prog_task *t = &l->role->tasks[task];
		tick duration = duration_of(l, task);
		if (duration > TICK_MAX - 1 - now)
			return err_set(err, ERR_INPUT,
				"%s: the run lasts longer than the 213 days that can be simulated",
				t->place ? t->place : "prog");
		l->starts[task] = now;
		l->ends[task] = now += duration;
	}
	return true;
}

/* By the rules of account.c, where one thing is under way at a time. */
static tick *share_of(const struct lockstep *l, const struct prog_task *t, struct run_rank *r)
{
	if (t->kind == TASK_COLL)
		return run_cause(l->prog, t->group) == CAUSE_TP ? &r->tp_exposed : &r->dp_exposed;
	if (t->kind != TASK_COMPUTE || t->stream != 0)
		return &r->bubble;
	switch (t->phase) {
	case PHASE_FORWARD:
		return &r->forward;
	case PHASE_BACKWARD:
		return &r->backward;
	case PHASE_OPTIMIZER:
		return &r->optimizer;
	case PHASE_NONE:
		return &r->other_compute;
	}
	return &r->other_compute;
}

static void fill_ranks(struct arena *a, const struct lockstep *l, struct run_result *out)
{
	struct run_rank one = {.end = out->end};
	for (uint32_t i = 0; i < l->role->n_tasks; i++)
		*share_of(l, &l->role->tasks[i], &one) += l->ends[i] - l->starts[i];
	out->n_ranks = prog_n_ranks(l->prog);
	out->ranks = arena_array(a, out->n_ranks, struct run_rank);
	for (uint32_t r = 0; r < out->n_ranks; r++)
		out->ranks[r] = one;
}

static void fill_collectives(struct arena *a, const struct lockstep *l, struct run_result *out)
{
	struct arena scratch = {0};
	const struct topo *topo = l->config->topo;
	double *link_bytes = arena_array(&scratch, (size_t)topo->n_links + 1, double);
	out->colls = arena_array(a, (size_t)l->role->n_tasks + 1, struct run_coll);
	for (uint32_t k = 0; k < l->role->n_tasks; k++) {
		uint32_t task = l->order[k];
		const struct prog_task *t = &l->role->tasks[task];
		const struct folded *f = l->colls[task];
		if (!f)
			continue;
		out->colls[out->n_colls++] = (struct run_coll){.kind = t->coll,
			.group = l->prog->groups[t->group].name,
			.n_ranks = prog_group_size(l->prog, t->group),
			.bytes = t->bytes,
			.first_entered = l->starts[task],
			.start = l->starts[task],
			.end = l->ends[task]};
		out->coll_bytes[t->coll] += t->bytes * prog_group_n_teams(l->prog, t->group);
		out->n_messages += f->n_messages;
		out->sent_bytes += f->sent_bytes;
	}
	fold_load(l->memo, l->colls, l->role->n_tasks, link_bytes);
	out->links = links_busiest(a, topo, link_bytes, out->end,
		l->config->all_links ? UINT32_MAX : LINKS_MAX, &out->n_links);
	arena_free(&scratch);
}

static bool fill_spans(
	struct arena *a, const struct lockstep *l, struct run_result *out, struct err *err)
{
	uint32_t n = l->role->n_tasks, n_ranks = prog_n_ranks(l->prog);
	if (!l->config->keep_spans)
		return true;
	if ((uint64_t)n * n_ranks > UINT32_MAX)
		return err_set(err, ERR_INPUT, "a timeline of %llu tasks is too long",
			(unsigned long long)n * n_ranks);
	out->spans = arena_array(a, (size_t)n * n_ranks + 1, struct run_span);
	for (uint32_t r = 0; r < n_ranks; r++)
		for (uint32_t k = 0; k < n; k++)
			out->spans[out->n_spans++] = (struct run_span){.rank = r,
				.task = l->order[k],
				.start = l->starts[l->order[k]],
				.end = l->ends[l->order[k]]};
	return true;
}

static bool fill(struct arena *a, struct lockstep *l, struct run_result *out, struct err *err)
{
	uint32_t n = l->role->n_tasks;
	if (!add_up(l, err))
		return false;
	*out = (struct run_result){
		.folded = true, .exact = l->exact, .end = n > 0 ? l->ends[l->order[n - 1]] : 0};
	fill_ranks(a, l, out);
	fill_collectives(a, l, out);
	out->energy_j = prog_energy_j(l->prog);
	if (l->config->task_ends) {
		out->task_ends = arena_grow(a, l->ends, n, (size_t)n + 1, sizeof(*l->ends));
		out->n_task_ends = n;
	}
	return fill_spans(a, l, out, err);
}

static bool run(
	struct arena *a, struct lockstep *l, struct run_result *out, bool *done, struct err *err)
{
	const struct prog *p = l->prog;
	l->plans = arena_new(&l->a, struct plans);
	*l->plans = (struct plans){.a = &l->a,
		.prog = p,
		.config = l->config,
		.teams = arena_array(&l->a, (size_t)p->n_groups + 1, struct plan_team)};
	l->colls = arena_array(&l->a, (size_t)l->role->n_tasks + 1, struct folded *);
	l->exact = true;
	if (!add_collectives(l, err))
		return false;
	bool lasting = is_lasting(l);
	if ((l->exact || lasting) && !carry(l, err))
		return false;
	*done = l->exact || lasting;
	return !*done || fill(a, l, out, err);
}

static bool find_order(struct lockstep *l, struct err *err)
{
	struct text reason = {0};
	l->order = lockstep_order(&l->a, l->prog, l->config, &reason);
	if (!l->order && l->config->fold == RUN_FOLD_ON)
		err_set(err, ERR_USAGE,
			"%s: a prog that is not in lockstep cannot be folded, use fold auto or off",
			reason.data);
	text_free(&reason);
	return l->order || l->config->fold != RUN_FOLD_ON;
}

bool fold_prog(struct arena *a, const struct prog *p, const struct run_config *config,
	struct run_result *out, bool *done, struct err *err)
{
	struct lockstep l = {.prog = p, .config = config, .memo = config->memo};
	*done = false;
	if (config->fold == RUN_FOLD_OFF)
		return true;
	bool ok = find_order(&l, err);
	if (ok && l.order) {
		l.role = &p->roles[0];
		if (!config->memo)
			l.memo = run_memo_create(config->topo, config->net);
		assert(memo_is_of(l.memo, config));
		ok = run(a, &l, out, done, err);
		if (!config->memo)
			run_memo_destroy(l.memo);
	}
	arena_free(&l.a);
	return ok;
}
