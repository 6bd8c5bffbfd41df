#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "des/des.h"
#include "suite.h"

enum { LOG_MAX = 64 };

struct fired {
	int id[LOG_MAX];
	tick at[LOG_MAX];
	size_t n;
};

struct probe {
	struct des_event ev;
	int id;
	struct fired *fired;
};

static void probe_fire(struct des *des, struct des_event *ev)
{
	struct probe *p = des_owner(ev, struct probe, ev);
	CU_ASSERT_EQUAL(ev->place, 0);
	CU_ASSERT_FATAL(p->fired->n < LOG_MAX);
	p->fired->at[p->fired->n] = des->now;
	p->fired->id[p->fired->n++] = p->id;
}

static struct probe probe(int id, struct fired *fired)
{
	return (struct probe){.ev.fire = probe_fire, .id = id, .fired = fired};
}

static void run(struct des *des)
{
	while (des_step(des))
		;
}

static void test_empty(void)
{
	struct des des;
	des_init(&des);
	CU_ASSERT_FALSE(des_step(&des));
	CU_ASSERT(des.now == 0 && des.n_fired == 0);
	des_finish(&des);
}

static void test_ties(void)
{
	struct des des;
	struct fired fired = {0};
	struct probe p[10];
	des_init(&des);
	for (int i = 0; i < 10; i++) {
		p[i] = probe(i, &fired);
		des_at(&des, &p[i].ev, i % 2 ? 5 : 7);
	}
	run(&des);
	static const int expected[] = {1, 3, 5, 7, 9, 0, 2, 4, 6, 8};
	CU_ASSERT_EQUAL_FATAL(fired.n, 10);
	CU_ASSERT_EQUAL(memcmp(fired.id, expected, sizeof(expected)), 0);
	CU_ASSERT(fired.at[4] == 5 && fired.at[5] == 7 && des.now == 7);
	CU_ASSERT_EQUAL(des.n_fired, 10);
	des_finish(&des);
}

static void test_cancel(void)
{
	struct des des;
	struct fired fired = {0};
	struct probe p[3] = {probe(0, &fired), probe(1, &fired), probe(2, &fired)};
	des_init(&des);
	des_cancel(&des, &p[0].ev);
	for (int i = 0; i < 3; i++)
		des_at(&des, &p[i].ev, 10);
	des_cancel(&des, &p[1].ev);
	CU_ASSERT_EQUAL(p[1].ev.place, 0);
	des_cancel(&des, &p[1].ev);
	run(&des);
	CU_ASSERT(fired.n == 2 && fired.id[0] == 0 && fired.id[1] == 2);
	des_at(&des, &p[1].ev, 10);
	run(&des);
	CU_ASSERT(fired.n == 3 && fired.id[2] == 1 && fired.at[2] == 10);
	des_finish(&des);
}

/* A move counts as a new call: at a tie the moved event comes last, even when it is moved to
 * where it was. */
static void test_move(void)
{
	struct des des;
	struct fired fired = {0};
	struct probe p[3] = {probe(0, &fired), probe(1, &fired), probe(2, &fired)};
	des_init(&des);
	for (int i = 0; i < 3; i++)
		des_at(&des, &p[i].ev, 10);
	des_at(&des, &p[0].ev, 10);
	des_at(&des, &p[2].ev, 3);
	CU_ASSERT_EQUAL(des.n_queue, 3);
	run(&des);
	CU_ASSERT(fired.n == 3 && fired.id[0] == 2 && fired.id[1] == 1 && fired.id[2] == 0);
	CU_ASSERT(fired.at[0] == 3 && fired.at[2] == 10);
	des_finish(&des);
}

struct chain {
	struct des_event ev;
	int left;
};

static void chain_fire(struct des *des, struct des_event *ev)
{
	struct chain *c = des_owner(ev, struct chain, ev);
	if (c->left-- > 0)
		des_at(des, ev, des->now + 3);
}

static void test_chain(void)
{
	struct des des;
	struct chain c = {.ev.fire = chain_fire, .left = 100};
	des_init(&des);
	des_at(&des, &c.ev, 1);
	run(&des);
	CU_ASSERT(des.now == 301 && des.n_fired == 101);
	des_finish(&des);
}

static void test_end_of_time(void)
{
	struct des des;
	struct fired fired = {0};
	struct probe p = probe(0, &fired), q = probe(1, &fired);
	des_init(&des);
	des_at(&des, &p.ev, TICK_MAX);
	des_at(&des, &q.ev, TICK_MAX);
	run(&des);
	CU_ASSERT(fired.n == 2 && des.now == TICK_MAX);
	des_finish(&des);
}

/* What a random mix of schedules, moves, cancels and steps must do, kept in a plain list. */
enum { N_MODEL = 300, N_MOVES = 30000 };

struct model {
	struct des des;
	struct rng rng;
	struct {
		struct des_event ev;
		tick at;
		uint64_t seq;
		bool queued;
	} item[N_MODEL];
	uint64_t seq;
	size_t last; /* index of what fired last */
};

static struct model *the_model(struct des *des)
{
	return (struct model *)(void *)des;
}

static void model_fire(struct des *des, struct des_event *ev)
{
	struct model *m = the_model(des);
	for (size_t i = 0; i < N_MODEL; i++)
		if (&m->item[i].ev == ev)
			m->last = i;
}

static size_t model_first(const struct model *m)
{
	size_t first = N_MODEL;
	for (size_t i = 0; i < N_MODEL; i++) {
		if (!m->item[i].queued)
			continue;
		bool earlier =
			first == N_MODEL || m->item[i].at < m->item[first].at ||
			(m->item[i].at == m->item[first].at && m->item[i].seq < m->item[first].seq);
		if (earlier)
			first = i;
	}
	return first;
}

static void model_schedule(struct model *m)
{
	size_t i = rng_below(&m->rng, N_MODEL);
	m->item[i].at = m->des.now + rng_below(&m->rng, 50);
	m->item[i].seq = m->seq++;
	m->item[i].queued = true;
	des_at(&m->des, &m->item[i].ev, m->item[i].at);
}

static void model_cancel(struct model *m)
{
	size_t i = rng_below(&m->rng, N_MODEL);
	m->item[i].queued = false;
	des_cancel(&m->des, &m->item[i].ev);
}

static void model_step(struct model *m)
{
	size_t first = model_first(m);
	m->last = N_MODEL;
	CU_ASSERT_EQUAL(des_step(&m->des), first < N_MODEL);
	CU_ASSERT_EQUAL(m->last, first);
	if (first == N_MODEL)
		return;
	CU_ASSERT_EQUAL(m->des.now, m->item[first].at);
	m->item[first].queued = false;
}

static size_t model_count(const struct model *m)
{
	size_t n = 0;
	for (size_t i = 0; i < N_MODEL; i++)
		n += m->item[i].queued;
	return n;
}

static void test_model(void)
{
	struct model *m = mem_alloc(1, sizeof(*m));
	des_init(&m->des);
	rng_init(&m->rng, 41);
	for (size_t i = 0; i < N_MODEL; i++)
		m->item[i].ev.fire = model_fire;
	for (int i = 0; i < N_MOVES; i++) {
		uint64_t what = rng_below(&m->rng, 10);
		/* the first half fills the queue, the second half drains it */
		uint64_t schedules = i < N_MOVES / 2 ? 7 : 2;
		if (what < schedules)
			model_schedule(m);
		else if (what == 9)
			model_cancel(m);
		else
			model_step(m);
		if (i % 100 == 0)
			CU_ASSERT_EQUAL(m->des.n_queue, model_count(m));
	}
	while (model_first(m) < N_MODEL)
		model_step(m);
	CU_ASSERT_FALSE(des_step(&m->des));
	des_finish(&m->des);
	free(m);
}

/* An outside world whose transfers end at given times; each end schedules an event at once. */
struct outside {
	struct des *des;
	struct probe *woken;
	tick ends[3];
	size_t n_done, n_ends, n_waits;
};

static tick outside_wait(void *ctx, tick until)
{
	struct outside *o = ctx;
	o->n_waits++;
	if (o->n_done == o->n_ends || o->ends[o->n_done] > until)
		return until;
	tick end = o->ends[o->n_done];
	des_at(o->des, &o->woken[o->n_done++].ev, end);
	o->des->n_outside--;
	return end;
}

static void test_wait(void)
{
	struct des des;
	struct fired fired = {0};
	struct probe p[2] = {probe(0, &fired), probe(1, &fired)};
	struct probe woken[3] = {probe(10, &fired), probe(11, &fired), probe(12, &fired)};
	struct outside o = {.des = &des, .woken = woken, .ends = {4, 9, 30}, .n_ends = 3};
	des_init(&des);
	des.wait = outside_wait;
	des.wait_ctx = &o;
	des.n_outside = 3;
	des_at(&des, &p[0].ev, 6);
	des_at(&des, &p[1].ev, 9);
	run(&des);
	static const int id[] = {10, 0, 1, 11, 12};
	static const tick at[] = {4, 6, 9, 9, 30};
	CU_ASSERT_EQUAL_FATAL(fired.n, 5);
	CU_ASSERT_EQUAL(memcmp(fired.id, id, sizeof(id)), 0);
	CU_ASSERT_EQUAL(memcmp(fired.at, at, sizeof(at)), 0);
	CU_ASSERT(des.n_outside == 0 && des.now == 30 && des.n_fired == 5);
	des_finish(&des);
}

/* Something in flight that never ends: the run ends, and the clock stays where it was. */
static void test_stuck(void)
{
	struct des des;
	struct fired fired = {0};
	struct probe p = probe(0, &fired);
	struct outside o = {.des = &des};
	des_init(&des);
	des.wait = outside_wait;
	des.wait_ctx = &o;
	des.n_outside = 1;
	des_at(&des, &p.ev, 6);
	CU_ASSERT_TRUE(des_step(&des));
	CU_ASSERT_FALSE(des_step(&des));
	CU_ASSERT(des.now == 6 && o.n_waits == 2 && des.n_outside == 1);
	des_finish(&des);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"empty", test_empty},
		{"ties fire in order of scheduling", test_ties},
		{"cancel", test_cancel},
		{"move", test_move},
		{"chain", test_chain},
		{"end of time", test_end_of_time},
		{"random mix against a list", test_model},
		{"wait stops early", test_wait},
		{"stuck outside", test_stuck},
		CU_TEST_INFO_NULL,
	};
	return suite_run("des", tests);
}
