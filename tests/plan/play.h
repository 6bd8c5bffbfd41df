/* Plays a prog on a network without latency or bandwidth limits: when every rank would be done. */
#ifndef TESTS_PLAN_PLAY_H
#define TESTS_PLAN_PLAY_H

#include "prog/prog.h"
#include "setup.h"

struct play {
	const struct prog *p;
	struct arena a;
	tick **end; /* by rank and task; TICK_MAX while not done */
	bool progress;
};

/* When everything before the task on its stream and in its list is done; false as long as it is
 * not. */
static inline bool play_ready(
	const struct play *y, const struct prog_role *r, uint32_t rank, uint32_t task, tick *at)
{
	const struct prog_task *t = &r->tasks[task];
	*at = 0;
	for (uint32_t i = 0; i < task; i++) {
		if (r->tasks[i].stream != t->stream)
			continue;
		if (y->end[rank][i] == TICK_MAX)
			return false;
		*at = y->end[rank][i] > *at ? y->end[rank][i] : *at;
	}
	for (uint32_t i = 0; i < t->n_after; i++) {
		tick e = y->end[rank][t->after[i]];
		if (e == TICK_MAX)
			return false;
		*at = e > *at ? e : *at;
	}
	return true;
}

/* The other half of a message: same tag, pointing back. Tags of a plan are unique in each
 * direction. */
static inline uint32_t play_partner(
	const struct play *y, uint32_t rank, const struct prog_task *t, uint32_t *peer)
{
	*peer = prog_peer_rank(y->p, rank, &t->peer);
	const struct prog_role *r = &y->p->roles[prog_role_of(y->p, *peer)];
	enum task_kind want = t->kind == TASK_SEND ? TASK_RECV : TASK_SEND;
	for (uint32_t i = 0; i < r->n_tasks; i++)
		if (r->tasks[i].kind == want && strcmp(r->tasks[i].tag, t->tag) == 0 &&
			prog_peer_rank(y->p, *peer, &r->tasks[i].peer) == rank)
			return i;
	return PROG_NONE;
}

static inline void play_done(struct play *y, uint32_t rank, uint32_t task, tick end)
{
	y->end[rank][task] = end;
	y->progress = true;
}

static inline void play_message(struct play *y, uint32_t rank, uint32_t task, tick at)
{
	const struct prog_role *mine = &y->p->roles[prog_role_of(y->p, rank)];
	uint32_t peer = 0;
	uint32_t partner = play_partner(y, rank, &mine->tasks[task], &peer);
	CU_ASSERT_NOT_EQUAL_FATAL(partner, PROG_NONE);
	const struct prog_role *theirs = &y->p->roles[prog_role_of(y->p, peer)];
	tick other = 0;
	if (!play_ready(y, theirs, peer, partner, &other))
		return;
	tick end = at > other ? at : other;
	play_done(y, rank, task, end);
	play_done(y, peer, partner, end);
}

/* Members of a group have the same role here, so that the collective is the same task for all of
 * them. */
static inline void play_collective(struct play *y, uint32_t rank, uint32_t task)
{
	const struct prog_role *r = &y->p->roles[prog_role_of(y->p, rank)];
	uint32_t n = prog_group_size(y->p, r->tasks[task].group);
	uint32_t *members = arena_array(&y->a, n, uint32_t);
	prog_group_members(y->p, r->tasks[task].group, rank, members);
	tick end = 0;
	for (uint32_t i = 0; i < n; i++) {
		tick at = 0;
		if (!play_ready(y, r, members[i], task, &at))
			return;
		end = at > end ? at : end;
	}
	for (uint32_t i = 0; i < n; i++)
		play_done(y, members[i], task, end);
}

static inline void play_task(struct play *y, uint32_t rank, uint32_t task)
{
	const struct prog_role *r = &y->p->roles[prog_role_of(y->p, rank)];
	const struct prog_task *t = &r->tasks[task];
	tick at = 0;
	if (y->end[rank][task] != TICK_MAX || !play_ready(y, r, rank, task, &at))
		return;
	if (t->kind == TASK_COMPUTE)
		play_done(y, rank, task, at + y->p->costs[t->cost].duration);
	else if (t->kind == TASK_COLL)
		play_collective(y, rank, task);
	else
		play_message(y, rank, task, at);
}

/* TICK_MAX for a deadlock. */
static inline tick play_prog(const struct prog *p)
{
	struct play y = {.p = p, .progress = true};
	uint32_t n = prog_n_ranks(p);
	y.end = arena_array(&y.a, n, tick *);
	for (uint32_t r = 0; r < n; r++) {
		uint32_t n_tasks = p->roles[prog_role_of(p, r)].n_tasks;
		y.end[r] = arena_array(&y.a, n_tasks, tick);
		for (uint32_t i = 0; i < n_tasks; i++)
			y.end[r][i] = TICK_MAX;
	}
	while (y.progress) {
		y.progress = false;
		for (uint32_t r = 0; r < n; r++)
			for (uint32_t i = 0; i < p->roles[prog_role_of(p, r)].n_tasks; i++)
				play_task(&y, r, i);
	}
	tick last = 0;
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t i = 0; i < p->roles[prog_role_of(p, r)].n_tasks; i++)
			last = y.end[r][i] > last ? y.end[r][i] : last;
	arena_free(&y.a);
	return last;
}

#endif
