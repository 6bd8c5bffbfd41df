#include "runner.h"

#include "base/rng.h"

#define BAR(n) "crossbar:" #n ",bw=1GB/s,lat=1us"

static void expect_deadlock(const char *prog, const char *topo, const char *text)
{
	struct runner r;
	runner_init(&r, prog, topo);
	runner_expect_error(&r, NET_ANALYTIC, ERR_ANSWER, text);
	runner_free(&r);
}

static void a_cycle_of_two_and_who_waits_for_it(void)
{
	static const char prog[] =
		"wham-prog 1\ngrid rank=4\n"
		"role left ranks 0\n1 compute 10us\n2 recv 1 1MB tag a\n3 send 1 1MB tag b\n"
		"role right ranks 1\n1 recv 0 1MB tag b\n2 send 0 1MB tag a\n"
		"3 send 2 1MB\n4 send 3 1MB\n"
		"role waiters ranks 2..3\n5 compute 5us @model:7\n7 recv 1 1MB\n";
	static const char text[] =
		"deadlock at 10 us: 3 of 11 tasks are done; 2 wait for each other in a cycle:\n"
		"  rank 0 (role 'left') waits in task 2 recv tag a (t.prog:5) for rank 1's task 2 "
		"send tag "
		"a (t.prog:9); last completed task 1 compute (t.prog:4)\n"
		"  rank 1 (role 'right') waits in task 1 recv tag b (t.prog:8) for rank 0's task 3 "
		"send "
		"tag b (t.prog:6); nothing completed\n"
		"  also waiting: ranks 2..3 (role 'waiters') in task 7 recv (t.prog:14); last "
		"completed "
		"task 5 compute (model:7)";
	expect_deadlock(prog, BAR(4), text);
	struct runner r;
	runner_init(&r, prog, BAR(4));
	CU_ASSERT_TRUE(prog_check(&r.prog, &r.err)); /* the counts do match */
	runner_expect_error(&r, NET_SIMGRID, ERR_ANSWER, text);
	runner_free(&r);
}

/* The search starts at rank 0, which only waits for the cycle of 1, 2 and 3; what is posted
 * hangs on other streams and `after`. */
static void a_cycle_behind_streams(void)
{
	expect_deadlock("wham-prog 1\ngrid rank=4\n"
			"role d ranks 0\n1 recv 1 1B tag z\n"
			"role a ranks 1\n1 recv 3 1B stream 1\n2 wait 1us after 1 stream 2\n"
			"3 send 2 1B after 2 stream 3\n4 send 0 1B tag z after 3\n"
			"role b ranks 2\n1 recv 1 1B\n2 send 3 1B\n"
			"role c ranks 3\n1 recv 2 1B\n2 send 1 1B\n",
		BAR(4),
		"deadlock at 0 ps: 0 of 9 tasks are done; 3 wait for each other in a cycle:\n"
		"  rank 1 (role 'a') waits in task 1 recv (t.prog:6) for rank 3's task 2 send "
		"(t.prog:15); "
		"nothing completed\n"
		"  rank 3 (role 'c') waits in task 1 recv (t.prog:14) for rank 2's task 2 send "
		"(t.prog:12); "
		"nothing completed\n"
		"  rank 2 (role 'b') waits in task 1 recv (t.prog:11) for rank 1's task 3 send "
		"(t.prog:8); "
		"nothing completed\n"
		"  also waiting: rank 0 (role 'd') in task 1 recv tag z (t.prog:4); nothing "
		"completed");
}

static void a_missing_send(void)
{
	expect_deadlock("wham-prog 1\ngrid rank=3\nrole s ranks 0\n1 send 1 1MB tag x\n"
			"role r ranks 1\n1 recv 0 1MB tag x\n2 recv 0 1MB tag x\n3 send 2 1MB\n"
			"role t ranks 2\n1 recv 1 1MB\n",
		BAR(3),
		"deadlock at 1.002 ms: 2 of 5 tasks are done; what is waited for is missing:\n"
		"  rank 1 (role 'r') waits in task 2 recv tag x (t.prog:7) for a send that rank 0 "
		"(role "
		"'s') does not have (t.prog:3); last completed task 1 recv (t.prog:6)\n"
		"  also waiting: rank 2 (role 't') in task 1 recv (t.prog:10); nothing completed");
}

static void a_message_of_its_own(void)
{
	expect_deadlock("wham-prog 1\ngrid rank=1\nrole r\n1 recv 0 1B\n2 send 0 1B\n", BAR(1),
		"deadlock at 0 ps: 0 of 2 tasks are done; a rank waits for itself:\n"
		"  rank 0 (role 'r') waits in task 1 recv (t.prog:4) for rank 0's task 2 send "
		"(t.prog:5); "
		"nothing completed");
}

static void a_collective_without_a_member(void)
{
	expect_deadlock("wham-prog 1\ngrid tp=2 dp=2\nrole a dp=0\n1 coll allreduce dp 1MB\n"
			"role b dp=1\n1 compute 1us\n",
		BAR(4),
		"deadlock at 1 us: 2 of 4 tasks are done; what is waited for is missing:\n"
		"  rank 0 (role 'a') waits in task 1 coll allreduce on 'dp' (t.prog:4) for a "
		"collective "
		"that rank 2 (role 'b') does not have (t.prog:5); nothing completed\n"
		"  also waiting: rank 1 (role 'a') in task 1 coll allreduce on 'dp' (t.prog:4); "
		"nothing "
		"completed");
}

static void collectives_in_opposite_order(void)
{
	expect_deadlock("wham-prog 1\ngrid rank=2\ngroup a 0 1\ngroup b 1 0\n"
			"role x ranks 0\n1 coll allreduce a 1MB\n2 coll barrier b 0B\n"
			"role y ranks 1\n1 coll barrier b 0B\n2 coll allreduce a 1MB\n",
		BAR(2),
		"deadlock at 0 ps: 0 of 4 tasks are done; 2 wait for each other in a cycle:\n"
		"  rank 0 (role 'x') waits in task 1 coll allreduce on 'a' (t.prog:6) for rank 1's "
		"task 2 "
		"coll allreduce on 'a' (t.prog:10); nothing completed\n"
		"  rank 1 (role 'y') waits in task 1 coll barrier on 'b' (t.prog:9) for rank 0's "
		"task 2 "
		"coll barrier on 'b' (t.prog:7); nothing completed");
}

static void collectives_that_do_not_agree(void)
{
	expect_deadlock("wham-prog 1\ngrid dp=2\nrole a dp=0\n1 coll reduce dp 1MB root 1\n"
			"role b dp=1\n1 wait 1us\n2 coll reduce dp 2MB\n",
		BAR(2),
		"mismatched collective 1 of group 'dp': rank 0 (t.prog:4) has reduce of 1000000 "
		"bytes, root "
		"1, but rank 1 (t.prog:7) has reduce of 2000000 bytes, root 0");
}

/* 999 ranks wait for one: the text stays short, ranks are folded into ranges. */
static void many_waiters_are_folded(void)
{
	struct runner r;
	struct text t = {0};
	text_add(&t, "wham-prog 1\ngrid rank=1000\nrole hub ranks 500\n1 recv 499 1B tag never\n");
	for (unsigned i = 0; i < 1000; i++)
		if (i != 500)
			text_add(&t, "%u send %u 1B\n", i + 2, i);
	text_add(&t, "role spokes ranks 0..499 501..999\n1 recv 500 1B\n");
	runner_init(&r, t.data, "crossbar:1000");
	text_free(&t);
	runner_expect_error(&r, NET_ANALYTIC, ERR_ANSWER,
		"deadlock at 0 ps: 0 of 1999 tasks are done; what is waited for is missing:\n"
		"  rank 500 (role 'hub') waits in task 1 recv tag never (t.prog:4) for a send that "
		"rank 499 "
		"(role 'spokes') does not have (t.prog:1004); nothing completed\n"
		"  also waiting: ranks 0..499, 501..999 (role 'spokes') in task 1 recv "
		"(t.prog:1005); "
		"nothing completed");
	runner_free(&r);
}

/* A ring of 300: the cycle is cut after a few lines. */
static void a_long_cycle_is_cut(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid pp=300\n"
		"role first pp=0\n1 recv pp+1 1B\n2 send 299 1B\n"
		"role mid pp=1..298\n1 recv pp+1 1B\n2 send pp-1 1B\n"
		"role last pp=299\n1 recv 0 1B\n2 send pp-1 1B\n",
		"crossbar:300");
	CU_ASSERT_FALSE(runner_run(&r, NET_ANALYTIC));
	CU_ASSERT_EQUAL(r.err.kind, ERR_ANSWER);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(r.err.text, "300 wait for each other in a cycle:\n  rank 0 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, "\n  ... and 296 more in the cycle"));
	CU_ASSERT_PTR_NULL(strstr(r.err.text, "also waiting"));
	runner_free(&r);
}

/* The files in traces/ whose fault shows only when they run. */
static void trace_files(void)
{
	static const struct {
		const char *name, *words[3];
	} files[] = {
		{"bad_collective", {"mismatched collective 2 of group 'pp'", ".prog:6", ".prog:9"}},
		{"bad_collective_order", {"2 wait for each other in a cycle", "on 'a'", "on 'b'"}},
		{"bad_cycle", {"2 wait for each other in a cycle", "also waiting: ranks 2..3",
				      ".prog:6"}},
		{"bad_unmatched_recv", {"does not have", "rank 1", ".prog:8"}},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct runner r = {.config = {.topo = &r.topo}};
		const char *path = arena_printf(
			&r.a, "%s/traces/%s.prog", getenv("WHAM_SOURCE_ROOT"), files[i].name);
		CU_ASSERT_TRUE_FATAL(prog_read(&r.a, path, &r.prog, &r.err));
		CU_ASSERT_TRUE_FATAL(topo_parse(&r.a, BAR(4), &r.topo, &r.err));
		CU_ASSERT_FALSE(runner_run(&r, NET_ANALYTIC));
		CU_ASSERT_EQUAL(r.err.kind, ERR_ANSWER);
		for (unsigned k = 0; k < 3; k++)
			CU_ASSERT_PTR_NOT_NULL(strstr(r.err.text, files[i].words[k]));
		runner_free(&r);
	}
}

static void draw_prog(struct rng *rng, struct text *t)
{
	static const char *const groups[] = {"a", "b", "a*b", "g"};
	text_add(t, "wham-prog 1\ngrid a=2 b=2\ngroup g 3 0 2 1\n");
	for (unsigned rank = 0; rank < 4; rank++) {
		text_add(t, "role r%u ranks %u\n", rank, rank);
		unsigned n = 1 + (unsigned)rng_below(rng, 6);
		for (unsigned id = 1; id <= n; id++) {
			unsigned other = (unsigned)rng_below(rng, 4),
				 tag = (unsigned)rng_below(rng, 2);
			unsigned kind = (unsigned)rng_below(rng, 20);
			if (kind < 6)
				text_add(t, "%u wait 1us", id);
			else if (kind < 19)
				text_add(t, "%u %s %u 1KB tag t%u", id, kind < 17 ? "send" : "recv",
					other, tag);
			else
				text_add(t, "%u coll barrier %s 0B", id, groups[rng_below(rng, 4)]);
			text_add(t, " stream %u\n", (unsigned)rng_below(rng, 2));
		}
	}
}

/* Whatever is unmatched, missing or crossed: it ends, with an answer, and both networks agree on
 * it. */
static void random_progs_end(void)
{
	struct rng rng;
	unsigned n_good = 0, n_stuck = 0;
	rng_init(&rng, 3);
	for (unsigned i = 0; i < 1000; i++) {
		struct runner r;
		struct text t = {0};
		draw_prog(&rng, &t);
		runner_init(&r, t.data, BAR(4));
		bool ok = runner_run(&r, NET_ANALYTIC);
		struct err err = r.err;
		n_good += ok;
		n_stuck += !ok;
		CU_ASSERT_EQUAL(err.kind, ok ? ERR_NONE : ERR_ANSWER);
		if (i % 50 == 0) {
			CU_ASSERT_EQUAL(runner_run(&r, NET_SIMGRID), ok);
			CU_ASSERT_EQUAL(r.err.kind, err.kind);
		}
		text_free(&t);
		runner_free(&r);
	}
	CU_ASSERT_TRUE(n_good >= 50 && n_stuck >= 50);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a cycle of two and who waits for it", a_cycle_of_two_and_who_waits_for_it},
		{"a cycle behind streams", a_cycle_behind_streams},
		{"a missing send", a_missing_send},
		{"a message of its own", a_message_of_its_own},
		{"a collective without a member", a_collective_without_a_member},
		{"collectives in opposite order", collectives_in_opposite_order},
		{"collectives that do not agree", collectives_that_do_not_agree},
		{"many waiters are folded", many_waiters_are_folded},
		{"a long cycle is cut", a_long_cycle_is_cut},
		{"random progs end", random_progs_end},
		{"trace files", trace_files},
		CU_TEST_INFO_NULL,
	};
	return suite_run("deadlock", tests);
}
