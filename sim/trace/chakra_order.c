/* The order of the nodes of each rank, see et_schedule(). */
#include <stdlib.h>

#include "des/des.h"
#include "trace/chakra.h"

enum { LANE_DEVICE, LANE_HOST, LANE_MEMORY, N_LANES };

/* Does one node at a time, of those that are ready the one with the lowest id. */
struct lane {
	struct des_event ended;
	struct scheduler *s;
	uint32_t rank, running;
	uint32_t *heap; /* nodes that are ready */
	uint32_t n, cap;
	bool busy, touched;
};

/* A node of a rank that waits. */
struct waiter {
	uint32_t rank, node;
	struct waiter *next;
};

struct queue {
	struct waiter *first, *last;
};

struct channel {
	uint64_t n_sent; /* that no receive has taken yet */
	struct queue receives;
};

struct instance {
	uint32_t n_missing;
	uint64_t largest; /* bytes that any member names */
	struct queue members;
};

struct scheduler {
	struct et_set *set;
	struct arena *a; /* scratch */
	struct des des;
	struct et_users *users; /* by rank */
	const uint32_t *base;
	uint32_t *n_waiting;   /* by node of all ranks */
	uint32_t *instance_of; /* likewise */
	uint64_t *place;       /* likewise; 1 and above once placed */
	uint64_t n_placed;
	struct lane *lanes; /* N_LANES for each rank */
	struct lane **touched;
	uint32_t n_touched, cap_touched;
	struct waiter *ready; /* a stack: nodes whose dependencies are met, to be looked at */
	struct channel *channels;
	struct instance *instances;
	uint32_t n_instances;
	bool forced; /* nothing waits for other ranks any more */
};

static const struct et_node *node_of(const struct scheduler *s, uint32_t rank, uint32_t node)
{
	return &s->set->ranks[rank].nodes[node];
}

static struct waiter *make_waiter(struct scheduler *s, uint32_t rank, uint32_t node)
{
	struct waiter *w = arena_new(s->a, struct waiter);
	*w = (struct waiter){rank, node, NULL};
	return w;
}

static void queue_put(struct queue *q, struct waiter *w)
{
	w->next = NULL;
	if (q->last)
		q->last->next = w;
	else
		q->first = w;
	q->last = w;
}

static struct waiter *queue_take(struct queue *q)
{
	struct waiter *w = q->first;
	if (w)
		q->first = w->next;
	if (!q->first)
		q->last = NULL;
	return w;
}

static void push_ready(struct scheduler *s, uint32_t rank, uint32_t node)
{
	struct waiter *w = make_waiter(s, rank, node);
	w->next = s->ready;
	s->ready = w;
}

static void give_place(struct scheduler *s, uint32_t rank, uint32_t node)
{
	s->place[s->base[rank] + node] = ++s->n_placed;
}

/* What waits for the node may go on. */
static void release(struct scheduler *s, uint32_t rank, uint32_t node)
{
	const struct et_users *u = &s->users[rank];
	for (uint32_t i = u->first[node]; i < u->first[node + 1]; i++)
		if (--s->n_waiting[s->base[rank] + u->users[i]] == 0)
			push_ready(s, rank, u->users[i]);
}

static void complete(struct scheduler *s, uint32_t rank, uint32_t node)
{
	give_place(s, rank, node);
	release(s, rank, node);
}

static bool comes_before(const struct lane *l, uint32_t a, uint32_t b)
{
	const struct et_node *nodes = l->s->set->ranks[l->rank].nodes;
	return nodes[a].id < nodes[b].id;
}

static void lane_put(struct lane *l, uint32_t node)
{
	arena_push(l->s->a, l->heap, l->n, l->cap) = node;
	for (uint32_t i = l->n - 1; i > 0 && comes_before(l, l->heap[i], l->heap[(i - 1) / 2]);) {
		uint32_t up = (i - 1) / 2, held = l->heap[i];
		l->heap[i] = l->heap[up];
		l->heap[up] = held;
		i = up;
	}
	if (!l->touched)
		arena_push(l->s->a, l->s->touched, l->s->n_touched, l->s->cap_touched) = l;
	l->touched = true;
}

static uint32_t lane_take(struct lane *l)
{
	uint32_t top = l->heap[0], last = l->heap[--l->n], i = 0;
	for (;;) {
		uint32_t down = 2 * i + 1;
		if (down + 1 < l->n && comes_before(l, l->heap[down + 1], l->heap[down]))
			down++;
		if (down >= l->n || !comes_before(l, l->heap[down], last))
			break;
		l->heap[i] = l->heap[down];
		i = down;
	}
	if (l->n > 0)
		l->heap[i] = last;
	return top;
}

static void enter_send(struct scheduler *s, uint32_t rank, uint32_t node)
{
	struct channel *c = &s->channels[node_of(s, rank, node)->channel];
	complete(s, rank, node);
	struct waiter *w = s->forced ? NULL : queue_take(&c->receives);
	if (w)
		complete(s, w->rank, w->node);
	else
		c->n_sent++;
}

static void enter_receive(struct scheduler *s, uint32_t rank, uint32_t node)
{
	struct channel *c = &s->channels[node_of(s, rank, node)->channel];
	if (c->n_sent > 0 || s->forced) {
		c->n_sent -= c->n_sent > 0;
		complete(s, rank, node);
		return;
	}
	queue_put(&c->receives, make_waiter(s, rank, node));
}

static void enter_collective(struct scheduler *s, uint32_t rank, uint32_t node)
{
	struct instance *in = &s->instances[s->instance_of[s->base[rank] + node]];
	if (s->forced) {
		complete(s, rank, node);
		return;
	}
	queue_put(&in->members, make_waiter(s, rank, node));
	if (--in->n_missing > 0)
		return;
	for (struct waiter *w; (w = queue_take(&in->members));)
		complete(s, w->rank, w->node);
}

static struct lane *lane_of(struct scheduler *s, uint32_t rank, const struct et_node *node)
{
	uint32_t lane = node->value[KEY_IS_CPU_OP] ? LANE_HOST : LANE_DEVICE;
	if (node->type == ET_MEM_LOAD || node->type == ET_MEM_STORE)
		lane = LANE_MEMORY;
	return &s->lanes[(size_t)rank * N_LANES + lane];
}

static void enter(struct scheduler *s, uint32_t rank, uint32_t node)
{
	const struct et_node *n = node_of(s, rank, node);
	switch (n->type) {
	case ET_INVALID:
	case ET_METADATA:
		complete(s, rank, node);
		return;
	case ET_MEM_LOAD:
	case ET_MEM_STORE:
	case ET_COMP:
		lane_put(lane_of(s, rank, n), node);
		return;
	case ET_SEND:
		enter_send(s, rank, node);
		return;
	case ET_RECV:
		enter_receive(s, rank, node);
		return;
	case ET_COLL:
		enter_collective(s, rank, node);
		return;
	}
}

static void on_end(struct des *des, struct des_event *ev);

static void lane_start(struct lane *l)
{
	if (l->busy || l->n == 0)
		return;
	l->running = lane_take(l);
	l->busy = true;
	give_place(l->s, l->rank, l->running);
	tick t = et_duration(l->s->set, node_of(l->s, l->rank, l->running));
	tick now = l->s->des.now;
	des_at(&l->s->des, &l->ended, t > TICK_MAX - now ? TICK_MAX : now + t);
}

/* All that is ready now is known before a lane chooses. */
static void settle(struct scheduler *s)
{
	while (s->ready) {
		struct waiter *w = s->ready;
		s->ready = w->next;
		enter(s, w->rank, w->node);
	}
	for (uint32_t i = 0; i < s->n_touched; i++) {
		s->touched[i]->touched = false;
		lane_start(s->touched[i]);
	}
	s->n_touched = 0;
}

static void on_end(struct des *des, struct des_event *ev)
{
	struct lane *l = des_owner(ev, struct lane, ended);
	l->busy = false;
	release(l->s, l->rank, l->running);
	if (!l->touched)
		arena_push(l->s->a, l->s->touched, l->s->n_touched, l->s->cap_touched) = l;
	l->touched = true;
}

struct member {
	uint32_t group, rank, node;
	uint64_t id;
};

static int member_order(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* The k-th collective of a group is the one with the k-th lowest id, on each of its ranks. */
static void number_instances(struct scheduler *s, uint32_t n_total)
{
	struct member *m = NULL;
	uint32_t n = 0, cap = 0, first = 0, k = 0;
	for (uint32_t r = 0; r < s->set->n_ranks; r++)
		for (uint32_t i = 0; i < s->set->ranks[r].n_nodes; i++) {
			const struct et_node *node = node_of(s, r, i);
			if (node->type == ET_COLL)
				arena_push(s->a, m, n, cap) =
					(struct member){node->group, r, i, node->id};
		}
	if (n > 0)
		qsort(m, n, sizeof(*m), member_order);
	s->instance_of = arena_array(s->a, n_total, uint32_t);
	s->instances = arena_array(s->a, (size_t)n + 1, struct instance);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && m[i].group != m[i - 1].group)
			first = s->n_instances;
		k = i > 0 && m[i].group == m[i - 1].group && m[i].rank == m[i - 1].rank ? k + 1 : 0;
		struct instance *in = &s->instances[first + k];
		uint64_t bytes = et_bytes(s->set, node_of(s, m[i].rank, m[i].node));
		if (first + k >= s->n_instances) {
			s->n_instances = first + k + 1;
			in->n_missing = s->set->groups[m[i].group].n_ranks;
		}
		in->largest = bytes > in->largest ? bytes : in->largest;
		s->instance_of[s->base[m[i].rank] + m[i].node] = first + k;
	}
}

static void start(struct scheduler *s)
{
	for (uint32_t r = 0; r < s->set->n_ranks; r++) {
		s->users[r] = et_users(s->a, &s->set->ranks[r]);
		for (uint32_t l = 0; l < N_LANES; l++)
			s->lanes[(size_t)r * N_LANES + l] =
				(struct lane){.ended = {.fire = on_end}, .s = s, .rank = r};
		/* the stack gives back the last first */
		for (uint32_t i = s->set->ranks[r].n_nodes; i-- > 0;) {
			s->n_waiting[s->base[r] + i] = node_of(s, r, i)->n_deps;
			if (node_of(s, r, i)->n_deps == 0)
				push_ready(s, r, i);
		}
	}
}

/* Those that wait for ever, in the order of ranks and nodes. */
static void force(struct scheduler *s)
{
	s->forced = true;
	for (uint32_t r = s->set->n_ranks; r-- > 0;)
		for (uint32_t i = s->set->ranks[r].n_nodes; i-- > 0;)
			if (s->n_waiting[s->base[r] + i] == 0 && s->place[s->base[r] + i] == 0)
				push_ready(s, r, i);
}

static void run_dry(struct scheduler *s)
{
	do
		settle(s);
	while (des_step(&s->des));
}

static uint64_t *largest_of(struct scheduler *s, uint32_t n_total)
{
	uint64_t *largest = arena_array(s->set->a, n_total, uint64_t);
	for (uint32_t r = 0; r < s->set->n_ranks; r++)
		for (uint32_t i = 0; i < s->set->ranks[r].n_nodes; i++)
			if (node_of(s, r, i)->type == ET_COLL)
				largest[s->base[r] + i] =
					s->instances[s->instance_of[s->base[r] + i]].largest;
	return largest;
}

struct et_order et_schedule(struct et_set *set)
{
	struct arena scratch = {0};
	uint32_t *base = arena_array(set->a, (size_t)set->n_ranks + 1, uint32_t);
	for (uint32_t r = 0; r < set->n_ranks; r++)
		base[r + 1] = base[r] + set->ranks[r].n_nodes;
	uint32_t n = base[set->n_ranks];
	struct scheduler s = {.set = set,
		.a = &scratch,
		.base = base,
		.users = arena_array(&scratch, set->n_ranks, struct et_users),
		.n_waiting = arena_array(&scratch, n, uint32_t),
		.place = arena_array(set->a, n, uint64_t),
		.lanes = arena_array(&scratch, (size_t)set->n_ranks * N_LANES, struct lane),
		.channels = arena_array(&scratch, (size_t)set->n_channels + 1, struct channel)};
	number_instances(&s, n);
	des_init(&s.des);
	start(&s);
	run_dry(&s);
	if (s.n_placed < n) {
		force(&s);
		run_dry(&s);
	}
	des_finish(&s.des);
	struct et_order order = {s.place, base, largest_of(&s, n)};
	arena_free(&scratch);
	return order;
}
