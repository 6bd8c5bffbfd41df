#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "run/internal.h"

static struct team *team_of(struct engine *e, uint32_t group, uint32_t rank, uint32_t *position)
{
	struct group_state *g = &e->groups[group];
	uint32_t index;
	bool member = prog_group_place(e->prog, group, rank, &index, position);
	assert(member);
	struct team *team = &g->teams[index];
	if (!team->ranks) {
		team->ranks = arena_array(&e->a, g->size, uint32_t);
		prog_group_members(e->prog, group, rank, team->ranks);
	}
	return team;
}

static struct instance *find(const struct team *team, uint32_t seq)
{
	struct instance *i = team->live;
	while (i && i->seq != seq)
		i = i->next;
	return i;
}

struct instance *collective_find(struct engine *e, uint32_t rank, uint32_t task)
{
	const struct role_table *table = &e->tables[e->ranks[rank].role];
	uint32_t position;
	return find(team_of(e, table->tasks[task].group, rank, &position), table->seq[task]);
}

static struct instance *create(struct engine *e, struct team *team, uint32_t rank, uint32_t task)
{
	const struct role_table *table = &e->tables[e->ranks[rank].role];
	const struct coll_plan *plan = table->plan[task];
	struct instance *i = mem_alloc(1, sizeof(*i));
	*i = (struct instance){.next = team->live,
		.team = team,
		.first = &table->tasks[task],
		.first_rank = rank,
		.group = table->tasks[task].group,
		.seq = table->seq[task],
		.root = coll_kind_has_root(table->tasks[task].coll) ? table->tasks[task].root : 0,
		.plan = plan,
		.first_entered = engine_now(e),
		.members = mem_alloc(plan->n_ranks, sizeof(*i->members)),
		.ready = mem_alloc((size_t)plan->schedule.n_steps + 1, 1)};
	memset(i->ready, 0, (size_t)plan->schedule.n_steps + 1);
	for (uint32_t k = 0; k < plan->n_ranks; k++)
		i->members[k] = (struct member){.task = PROG_NONE};
	team->live = i;
	return i;
}

static void destroy(struct instance *i)
{
	struct instance **link = &i->team->live;
	while (*link != i)
		link = &(*link)->next;
	*link = i->next;
	free(i->members);
	free(i->ready);
	free(i);
}

void collective_free(struct engine *e)
{
	for (uint32_t g = 0; g < e->prog->n_groups; g++) {
		uint32_t n_teams = prog_group_n_teams(e->prog, g);
		for (uint32_t t = 0; t < n_teams; t++)
			while (e->groups[g].teams[t].live)
				destroy(e->groups[g].teams[t].live);
	}
}

static uint32_t rank_at(const struct instance *i, uint32_t member)
{
	return i->team->ranks[(member + i->root) % i->plan->n_ranks];
}

static void record(struct engine *e, const struct instance *i)
{
	uint32_t first = UINT32_MAX;
	for (uint32_t k = 0; k < i->plan->n_ranks; k++)
		first = i->team->ranks[k] < first ? i->team->ranks[k] : first;
	uint32_t n_groups = e->n_colls;
	arena_push(&e->a, e->coll_groups, n_groups, e->cap_groups) = i->group;
	arena_push(&e->a, e->colls, e->n_colls, e->cap_colls) = (struct run_coll){
		.kind = i->first->coll,
		.first_rank = first,
		.n_ranks = i->plan->n_ranks,
		.bytes = i->first->bytes,
		.first_entered = i->first_entered,
		.start = i->all_entered,
		.end = engine_now(e),
	};
	e->coll_bytes[i->first->coll] += i->first->bytes;
}

/* Frees the instance when this is the last to leave. */
static void leave(struct engine *e, struct instance *i, uint32_t member)
{
	uint32_t rank = rank_at(i, member), task = i->members[member].task;
	i->members[member].left = true;
	i->n_left++;
	if (i->n_entered == i->plan->n_ranks)
		account_under_way(e, rank, e->groups[i->group].cause, -1);
	if (i->n_left == i->plan->n_ranks) {
		record(e, i);
		destroy(i);
	}
	task_finish(e, rank, task);
}

static void open_round(struct engine *e, struct instance *i, uint32_t member);

static void step_done(struct engine *e, struct instance *i, uint32_t member)
{
	if (--i->members[member].open == 0)
		open_round(e, i, member);
}

/* The receiver has added it; it cannot have left before this step. */
static void step_added(struct des *des, struct des_event *ev)
{
	struct step_msg *m = des_owner(ev, struct step_msg, added);
	struct engine *e = m->e;
	struct instance *i = m->of;
	uint32_t dst = i->plan->schedule.steps[m->step].dst;
	m->next = e->free_msgs;
	e->free_msgs = m;
	if (!engine_wake(e))
		return;
	step_done(e, i, dst);
	engine_drain(e);
}

tick run_reduce_time(uint64_t bytes, uint64_t divisor, uint64_t bytes_per_s)
{
	u128 amount = (u128)bytes * TICKS_PER_S, per_tick = (u128)bytes_per_s * divisor;
	u128 span = amount / per_tick + (amount % per_tick != 0);
	return span < TICK_MAX ? (tick)span : TICK_MAX - 1;
}

/* When the receiver, which adds one message after the other, will have added this one. */
static tick added_at(struct engine *e, const struct step_msg *m)
{
	const struct coll_schedule *schedule = &m->of->plan->schedule;
	const struct coll_step *s = &schedule->steps[m->step];
	tick now = engine_now(e);
	if (!s->reduce || e->config->reduce_bytes_per_s == 0)
		return now;
	struct rank_state *r = &e->ranks[rank_at(m->of, s->dst)];
	tick start = r->adds_until > now ? r->adds_until : now;
	tick span =
		run_reduce_time(s->bytes, schedule->bytes_divisor, e->config->reduce_bytes_per_s);
	if (span > TICK_MAX - 1 - start) {
		const char *place = m->of->first->place;
		engine_fail(e, ERR_INPUT,
			"%s: the run lasts longer than the 213 days that can be simulated",
			place ? place : "prog");
		return now;
	}
	return r->adds_until = start + span;
}

static void step_arrived(struct net *net, struct net_msg *msg)
{
	struct step_msg *m = msg->owner;
	struct engine *e = m->e;
	struct instance *i = m->of;
	const struct coll_step *s = &i->plan->schedule.steps[m->step];
	if (!engine_wake(e))
		return;
	tick added = added_at(e, m);
	step_done(e, i, s->src);
	if (added > engine_now(e)) {
		m->added = (struct des_event){.fire = step_added};
		des_at(e->net->des, &m->added, added);
		engine_drain(e);
	} else {
		step_added(net->des, &m->added);
	}
}

static void send_step(struct engine *e, struct instance *i, uint32_t step)
{
	const struct coll_step *s = &i->plan->schedule.steps[step];
	struct step_msg *m = e->free_msgs;
	if (m)
		e->free_msgs = m->next;
	else
		m = arena_new(&e->a, struct step_msg);
	*m = (struct step_msg){.e = e, .of = i, .step = step};
	m->msg = (struct net_msg){.src = device_of(e, rank_at(i, s->src)),
		.dst = device_of(e, rank_at(i, s->dst)),
		.bytes = s->bytes,
		.divisor = i->plan->schedule.bytes_divisor,
		.done = step_arrived,
		.owner = m};
	net_send(e->net, &m->msg);
}

/* The member has done all earlier rounds: its part of the next one begins, or it leaves. */
static void open_round(struct engine *e, struct instance *i, uint32_t member)
{
	const struct coll_plan *plan = i->plan;
	struct member *m = &i->members[member];
	uint32_t first = m->cursor, last = plan->start[member + 1];
	if (first == last) {
		leave(e, i, member);
		return;
	}
	uint32_t round = plan->schedule.steps[plan->steps[first]].round;
	while (m->cursor < last && plan->schedule.steps[plan->steps[m->cursor]].round == round)
		m->cursor++;
	m->open = m->cursor - first;
	for (uint32_t k = first, end = m->cursor; k < end; k++)
		if (++i->ready[plan->steps[k]] == 2)
			send_step(e, i, plan->steps[k]);
}

static bool agrees(
	struct engine *e, const struct instance *i, uint32_t rank, const struct prog_task *t)
{
	const struct prog_task *f = i->first;
	if (t->coll == f->coll && t->bytes == f->bytes &&
		(t->root == f->root || !coll_kind_has_root(t->coll)))
		return true;
	engine_fail(e, ERR_ANSWER,
		"mismatched collective %u of group '%s': rank %u (%s) has %s of %llu bytes, root "
		"%u, "
		"but rank %u (%s) has %s of %llu bytes, root %u",
		i->seq + 1, e->prog->groups[i->group].name, i->first_rank,
		f->place ? f->place : "no place", coll_kind_name(f->coll),
		(unsigned long long)f->bytes, f->root, rank, t->place ? t->place : "no place",
		coll_kind_name(t->coll), (unsigned long long)t->bytes, t->root);
	return false;
}

/* From now on the collective is what its ranks wait for, not each other. */
static void all_entered(struct engine *e, struct instance *i)
{
	i->all_entered = engine_now(e);
	for (uint32_t k = 0; k < i->plan->n_ranks; k++)
		if (!i->members[k].left)
			account_under_way(e, rank_at(i, k), e->groups[i->group].cause, 1);
}

void collective_enter(struct engine *e, uint32_t rank, uint32_t task)
{
	const struct prog_task *t = task_of(e, rank, task);
	uint32_t position;
	struct team *team = team_of(e, t->group, rank, &position);
	struct instance *i = find(team, e->tables[e->ranks[rank].role].seq[task]);
	if (!i)
		i = create(e, team, rank, task);
	if (!agrees(e, i, rank, t))
		return;
	uint32_t n = i->plan->n_ranks;
	uint32_t member = (position + n - i->root) % n;
	i->members[member].task = task;
	i->members[member].cursor = i->plan->start[member];
	if (++i->n_entered == n)
		all_entered(e, i);
	open_round(e, i, member);
}
