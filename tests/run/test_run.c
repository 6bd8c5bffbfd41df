#include "runner.h"

#include "base/rng.h"

/* 1 byte takes 1 ns, a message over two links of the crossbar 2 us more. */
#define BAR(n) "crossbar:" #n ",bw=1GB/s,lat=1us"
static const enum net_kind nets[] = {NET_ANALYTIC, NET_SIMGRID};

static void a_pipeline_of_two(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct runner r;
		runner_init(&r,
			"wham-prog 1\ngrid pp=2\ncost f = 100us energy=0.25J\n"
			"role first pp=0\n1 compute f phase forward\n2 send pp+1 1MB\n"
			"role last pp=1\n1 recv pp-1 1MB\n2 compute 50us phase backward\n"
			"3 compute 7us phase optimizer\n4 compute 3us\n",
			BAR(2));
		runner_expect_end(&r, nets[i], (100 + 2 + 1000 + 60) * US);
		const struct run_rank *first = &r.result.ranks[0], *last = &r.result.ranks[1];
		CU_ASSERT_EQUAL(first->forward, 100 * US);
		CU_ASSERT_EQUAL(first->pp_exposed, 1002 * US);
		CU_ASSERT_EQUAL(first->bubble, 60 * US);
		CU_ASSERT_EQUAL(first->end, 1102 * US);
		CU_ASSERT_EQUAL(last->bubble, 100 * US);
		CU_ASSERT_EQUAL(last->pp_exposed, 1002 * US);
		CU_ASSERT_EQUAL(last->backward, 50 * US);
		CU_ASSERT_EQUAL(last->optimizer, 7 * US);
		CU_ASSERT_EQUAL(last->other_compute, 3 * US);
		CU_ASSERT_EQUAL(r.result.p2p_bytes, 1000000);
		CU_ASSERT_EQUAL(r.result.n_messages, 1);
		CU_ASSERT_EQUAL(r.result.energy_j, 0.25);
		CU_ASSERT_EQUAL(r.result.n_links, 2);
		CU_ASSERT_EQUAL(r.result.links[0].bytes, 1e6);
		CU_ASSERT_DOUBLE_EQUAL(r.result.links[0].utilisation, 1000.0 / 1162, 1e-12);
		runner_free(&r);
	}
}

static void a_send_ends_when_it_has_arrived(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct runner r;
		runner_init(&r,
			"wham-prog 1\ngrid rank=2\n"
			"role a ranks 0\n1 send 1 1MB\n2 compute 10us\n"
			"role b ranks 1\n1 recv 0 1MB\n",
			BAR(2));
		runner_expect_end(&r, nets[i], 1012 * US);
		CU_ASSERT_EQUAL(runner_span(&r, 0, 1).end, 1002 * US);
		CU_ASSERT_EQUAL(runner_span(&r, 0, 2).start, 1002 * US);
		runner_free(&r);
		runner_init(&r,
			"wham-prog 1\ngrid rank=2\n"
			"role a ranks 0\n1 send 1 1MB eager\n2 compute 10us\n3 compute 10us after "
			"1\n"
			"role b ranks 1\n1 recv 0 1MB\n",
			BAR(2));
		runner_expect_end(&r, nets[i], 1012 * US);
		CU_ASSERT_EQUAL(runner_span(&r, 0, 1).end, 1002 * US);
		CU_ASSERT_EQUAL(runner_span(&r, 0, 2).start, 0);
		CU_ASSERT_EQUAL(
			runner_span(&r, 0, 3).start, 1002 * US); /* after waits for arrival */
		runner_free(&r);
	}
}

static void a_late_recv_finds_the_message(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid rank=2\n"
		"role a ranks 0\n1 send 1 1MB tag x\n2 send 1 2MB tag y\n"
		"role b ranks 1\n1 wait 2000us\n2 recv 0 2MB tag y\n3 recv 0 1MB tag x\n4 compute "
		"1us\n",
		BAR(2));
	runner_expect_end(&r, NET_ANALYTIC, 3005 * US);
	CU_ASSERT_EQUAL(runner_span(&r, 1, 2).start, 2000 * US);
	CU_ASSERT_EQUAL(runner_span(&r, 1, 2).end, 3004 * US);
	CU_ASSERT_EQUAL(runner_span(&r, 1, 3).end, 3004 * US);
	CU_ASSERT_EQUAL(r.result.ranks[1].pp_exposed, 1004 * US);
	CU_ASSERT_EQUAL(r.result.ranks[1].bubble, 2000 * US);
	runner_free(&r);
}

static void messages_match_in_order(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid rank=2\n"
		"role a ranks 0\n1 send 1 1MB\n2 send 1 3MB\n"
		"role b ranks 1\n1 recv 0 1MB stream 1\n2 recv 0 3MB stream 2\n",
		BAR(2));
	runner_expect_ok(&r, NET_ANALYTIC);
	CU_ASSERT_EQUAL(runner_span(&r, 1, 1).end, 1002 * US);
	CU_ASSERT_EQUAL(runner_span(&r, 1, 2).end, 4004 * US);
	runner_free(&r);
}

static void streams_run_side_by_side(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct runner r;
		/* Ring all-reduce over 2: two rounds of half the vector. */
		runner_init(&r,
			"wham-prog 1\ngrid dp=2\nrole all\n"
			"1 compute 100us phase backward\n2 coll allreduce dp 1MB after 1 stream 1\n"
			"3 compute 400us phase backward\n4 compute 50us phase optimizer after 2\n",
			BAR(2));
		runner_expect_end(&r, nets[i], (100 + 2 * 502 + 50) * US);
		const struct run_rank *rank = &r.result.ranks[1];
		CU_ASSERT_EQUAL(rank->backward, 500 * US);
		CU_ASSERT_EQUAL(rank->dp_exposed, (1004 - 400) * US);
		CU_ASSERT_EQUAL(rank->optimizer, 50 * US);
		CU_ASSERT_EQUAL(rank->bubble, 0);
		CU_ASSERT_EQUAL(r.result.n_colls, 1);
		CU_ASSERT_EQUAL(r.result.colls[0].start, 100 * US);
		CU_ASSERT_EQUAL(r.result.colls[0].end, 1104 * US);
		CU_ASSERT_STRING_EQUAL(r.result.colls[0].group, "dp");
		CU_ASSERT_EQUAL(r.result.coll_bytes[COLL_ALLREDUCE], 1000000);
		CU_ASSERT_EQUAL(r.result.n_messages, 4);
		runner_free(&r);
	}
}

static void a_collective_waits_for_the_last(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid tp=2\n"
		"role a tp=0\n1 coll allgather tp 1MB\n"
		"role b tp=1\n1 compute 100us\n2 coll allgather tp 1MB\n",
		BAR(2));
	runner_expect_end(&r, NET_ANALYTIC, 602 * US);
	CU_ASSERT_EQUAL(r.result.ranks[0].bubble, 100 * US);
	CU_ASSERT_EQUAL(r.result.ranks[0].tp_exposed, 502 * US);
	CU_ASSERT_EQUAL(r.result.colls[0].first_entered, 0);
	CU_ASSERT_EQUAL(r.result.colls[0].start, 100 * US);
	runner_free(&r);
}

/* A broadcast from position 2 of an explicit group, by its tree: 2 to 0, then 2 to 1 (positions
 * rotated). */
static void roots_are_positions(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid rank=4\ngroup g 3 0 1\n"
		"role in ranks 0 1 3\n1 coll broadcast g 1MB root 2\n"
		"role out ranks 2\n1 compute 1us\n",
		BAR(4));
	runner_expect_end(&r, NET_ANALYTIC, 2004 * US);
	CU_ASSERT_EQUAL(r.result.ranks[1].end, 2004 * US); /* the root sends twice */
	CU_ASSERT_EQUAL(r.result.ranks[0].end, 1002 * US);
	CU_ASSERT_EQUAL(r.result.ranks[3].end, 2004 * US);
	runner_free(&r);
}

static void two_flows_share_a_link(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid rank=3\nrole senders ranks 0 1\n1 send 2 1MB\n"
		"role sink ranks 2\n1 recv 0 1MB stream 1\n2 recv 1 1MB stream 2\n",
		BAR(3));
	runner_expect_end(&r, NET_ANALYTIC, 1002 * US);
	runner_expect_end(&r, NET_SIMGRID, 2002 * US);
	CU_ASSERT_EQUAL(r.result.links[0].bytes, 2e6);
	CU_ASSERT_STRING_EQUAL(r.topo.links[r.result.links[0].link].name, "s0-d2");
	CU_ASSERT_EQUAL(r.result.n_links, 3);
	runner_free(&r);
}

static void ranks_are_placed(void)
{
	struct runner r;
	uint32_t same[] = {1, 1}, apart[] = {3, 0}, beyond[] = {0, 4};
	runner_init(&r,
		"wham-prog 1\ngrid rank=2\nrole a ranks 0\n1 send 1 1MB\nrole b ranks 1\n1 recv 0 "
		"1MB\n",
		"ring:4,bw=1GB/s,lat=1us");
	r.config.device_of_rank = same;
	runner_expect_end(&r, NET_SIMGRID, 0);
	r.config.device_of_rank = apart;
	runner_expect_end(&r, NET_SIMGRID, 1001 * US);
	r.config.device_of_rank = beyond;
	runner_expect_error(&r, NET_ANALYTIC, ERR_INPUT,
		"rank 1 is placed on device 4, but topology 'ring:4,bw=1GB/s,lat=1us' has 4 "
		"devices");
	runner_free(&r);
}

static void what_cannot_run_is_refused(void)
{
	static const struct {
		const char *prog;
		enum err_kind kind;
		const char *error;
	} bad[] = {
		{"grid rank=3\nrole a\n", ERR_INPUT,
			"topology 'crossbar:2,bw=1GB/s,lat=1us' has 2 devices, but t.prog has 3 "
			"ranks"},
		{"grid rank=2\nrole a\n1 coll allreduce rank 1MB algo rign\n", ERR_INPUT,
			"t.prog:4: no algorithm 'rign' for allreduce, expected one of "
			"biring, dbtree, direct, hierarchical, rabenseifner, recdbl, redbcast, "
			"ring, rings, torus, torus-colours; did you mean 'ring'?"},
		{"grid rank=2\nrole a\n1 wait 10000000s\n2 wait 10000000s\n", ERR_INPUT,
			"t.prog:5: the run lasts longer than the 213 days that can be simulated"},
		{"grid rank=8193\nrole a\n1 coll alltoall rank 1MB\n", ERR_USAGE,
			"t.prog:4: alltoall by pairwise does not work on 8193 ranks"},
		{"grid rank=2\nrole a\n1 send 2 1B\n", ERR_INPUT,
			"t.prog:4: task 1 of role 'a': no rank 2 in a grid of 2"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct runner r;
		char text[256];
		snprintf(text, sizeof(text), "wham-prog 1\n%s", bad[i].prog);
		runner_init(&r, text, strstr(text, "8193") ? "crossbar:8193" : BAR(2));
		runner_expect_error(&r, NET_ANALYTIC, bad[i].kind, bad[i].error);
		runner_free(&r);
	}
	struct runner r;
	runner_init(&r, "wham-prog 1\ngrid rank=3\nrole a\n1 coll allgather rank 1MB algo recdbl\n",
		BAR(3));
	runner_expect_error(&r, NET_SIMGRID, ERR_INPUT,
		"t.prog:4: allgather by recdbl does not work on 3 ranks");
	runner_free(&r);
}

/* Neither depth of recursion nor memory grows with a chain of tasks that take no time. */
static void a_long_chain_without_time(void)
{
	struct runner r;
	struct text t = {0};
	text_add(&t, "wham-prog 1\ngrid rank=1\nrole a\n");
	for (unsigned i = 1; i <= 100000; i++)
		text_add(&t, "%u mark x stream %u%s\n", i, i % 3, i % 2 ? "" : " after 1");
	runner_init(&r, t.data, BAR(1));
	text_free(&t);
	runner_expect_end(&r, NET_SIMGRID, 0);
	CU_ASSERT_EQUAL(r.result.n_spans, 100000);
	runner_free(&r);
}

struct draw {
	struct rng rng;
	struct prog_builder *b;
	struct prog_task tasks[8][64];
	uint32_t n[8];
	struct arena *a;
};

static void draw_task(struct draw *d, uint32_t rank, struct prog_task t)
{
	uint32_t n = d->n[rank];
	uint32_t *after = arena_array(d->a, 2, uint32_t);
	t.stream = (uint32_t)rng_below(&d->rng, 3);
	t.n_after = n > 0 ? (uint32_t)rng_below(&d->rng, 3) : 0;
	for (uint32_t i = 0; i < t.n_after; i++)
		after[i] = (uint32_t)rng_below(&d->rng, n);
	t.after = after;
	d->tasks[rank][d->n[rank]++] = t;
}

/* One thing that happens: somebody computes, a message, or a collective. What came before it
 * never waits for it, so nothing can deadlock. */
static void draw_event(struct draw *d, uint32_t number)
{
	uint32_t rank = (uint32_t)rng_below(&d->rng, 8), other = (uint32_t)rng_below(&d->rng, 8);
	struct prog_task t = {.cost = PROG_NONE, .peer.dim = PROG_NONE};
	t.bytes = rng_below(&d->rng, 100000);
	if (rng_below(&d->rng, 2)) {
		t.kind = rng_below(&d->rng, 4) ? TASK_COMPUTE : TASK_WAIT;
		t.phase = t.kind == TASK_COMPUTE ? (enum task_phase)rng_below(&d->rng, 4)
						 : PHASE_NONE;
		t.duration = rng_below(&d->rng, 200) * US;
		draw_task(d, rank, t);
	} else if (rng_below(&d->rng, 2)) {
		t.kind = TASK_SEND;
		t.tag = arena_printf(d->a, "m%u", number);
		t.eager = rng_below(&d->rng, 2);
		t.peer.rank = other;
		draw_task(d, rank, t);
		t.kind = TASK_RECV;
		t.eager = false;
		t.peer.rank = rank;
		draw_task(d, other, t);
	} else {
		t.kind = TASK_COLL;
		t.group = prog_add_group(d->b, 1 + (uint32_t)rng_below(&d->rng, 7));
		t.coll = (enum coll_kind)rng_below(&d->rng, N_COLL_KINDS);
		for (rank = 0; rank < 8; rank++)
			draw_task(d, rank, t);
	}
}

static void draw_prog(struct arena *a, uint64_t seed, struct prog *p)
{
	struct draw *d = arena_new(a, struct draw);
	struct prog_grid grid = {.n_dims = 3, .names = {"tp", "dp", "pp"}, .sizes = {2, 2, 2}};
	rng_init(&d->rng, seed);
	d->a = a;
	d->b = prog_build(a, &grid);
	for (uint32_t i = 0; i < 40; i++)
		draw_event(d, i);
	for (uint32_t rank = 0; rank < 8; rank++) {
		prog_add_role_list(d->b, "r", &rank, 1);
		for (uint32_t i = 0; i < d->n[rank]; i++)
			prog_add_task(d->b, &d->tasks[rank][i]);
	}
	prog_finish(d->b, p);
}

static void check_rank(const struct runner *r, uint32_t rank)
{
	const struct run_rank *k = &r->result.ranks[rank];
	const struct prog_role *role = &r->prog.roles[rank];
	tick busy[4] = {0};
	for (uint32_t i = 0; i < role->n_tasks; i++)
		if (role->tasks[i].kind == TASK_COMPUTE && role->tasks[i].stream == 0)
			busy[role->tasks[i].phase] += role->tasks[i].duration;
	CU_ASSERT_EQUAL(k->other_compute, busy[PHASE_NONE]);
	CU_ASSERT_EQUAL(k->forward, busy[PHASE_FORWARD]);
	CU_ASSERT_EQUAL(k->backward, busy[PHASE_BACKWARD]);
	CU_ASSERT_EQUAL(k->optimizer, busy[PHASE_OPTIMIZER]);
	CU_ASSERT_EQUAL(k->forward + k->backward + k->optimizer + k->other_compute + k->tp_exposed +
				k->dp_exposed + k->pp_exposed + k->bubble,
		r->result.end);
}

/* Spans of one rank, by task: they last as long as they must and start when they may, not later. */
static void check_spans(const struct runner *r, uint32_t rank, const struct run_span *spans)
{
	const struct prog_role *role = &r->prog.roles[rank];
	const struct run_span *of[64];
	for (uint32_t i = 0; i < role->n_tasks; i++)
		of[spans[i].task] = &spans[i];
	for (uint32_t i = 0; i < role->n_tasks; i++) {
		const struct prog_task *t = &role->tasks[i];
		tick may = 0;
		for (uint32_t k = 0; k < t->n_after; k++)
			may = of[t->after[k]]->end > may ? of[t->after[k]]->end : may;
		for (uint32_t k = i; k-- > 0;) {
			if (role->tasks[k].stream != t->stream)
				continue;
			tick free = role->tasks[k].eager ? of[k]->start : of[k]->end;
			may = free > may ? free : may;
			break;
		}
		CU_ASSERT_EQUAL(of[i]->start, may);
		if (t->kind == TASK_COMPUTE || t->kind == TASK_WAIT)
			CU_ASSERT_EQUAL(of[i]->end - of[i]->start, t->duration);
	}
}

static void random_progs_keep_the_rules(void)
{
	for (uint64_t seed = 0; seed < 220; seed++) {
		struct runner r = {.config = {.topo = &r.topo, .keep_spans = true}};
		CU_ASSERT_TRUE_FATAL(topo_parse(&r.a, "ring:8,bw=1GB/s,lat=1us", &r.topo, &r.err));
		draw_prog(&r.a, seed, &r.prog);
		CU_ASSERT_TRUE(prog_check(&r.prog, &r.err));
		runner_expect_ok(&r, seed < 200 ? NET_ANALYTIC : NET_SIMGRID);
		CU_ASSERT_EQUAL(r.result.n_ranks, 8);
		const struct run_span *spans = r.result.spans;
		for (uint32_t rank = 0; rank < 8; rank++) {
			check_rank(&r, rank);
			check_spans(&r, rank, spans);
			spans += r.prog.roles[rank].n_tasks;
		}
		CU_ASSERT_EQUAL(spans - r.result.spans, r.result.n_spans);
		runner_free(&r);
	}
}

static void print_result(const struct run_result *x, struct text *t)
{
	text_add(t, "%llu %llu\n", (unsigned long long)x->end, (unsigned long long)x->n_messages);
	text_add_bytes(t, x->ranks, x->n_ranks * sizeof(*x->ranks));
	for (uint32_t i = 0; i < x->n_colls; i++)
		text_add(t, "%d %s %u %llu %llu\n", (int)x->colls[i].kind, x->colls[i].group,
			x->colls[i].first_rank, (unsigned long long)x->colls[i].start,
			(unsigned long long)x->colls[i].end);
	for (uint32_t i = 0; i < x->n_links; i++)
		text_add(t, "%u %.17g %.17g\n", x->links[i].link, x->links[i].bytes,
			x->links[i].utilisation);
	for (uint32_t i = 0; i < x->n_spans; i++)
		text_add(t, "%u %u %llu %llu\n", x->spans[i].rank, x->spans[i].task,
			(unsigned long long)x->spans[i].start, (unsigned long long)x->spans[i].end);
}

static void the_same_run_twice(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct text first = {0}, second = {0};
		for (unsigned k = 0; k < 2; k++) {
			struct runner r = {.config = {.topo = &r.topo, .keep_spans = true}};
			CU_ASSERT_TRUE_FATAL(topo_parse(&r.a, "torus:4x2", &r.topo, &r.err));
			draw_prog(&r.a, 99, &r.prog);
			runner_expect_ok(&r, nets[i]);
			print_result(&r.result, k == 0 ? &first : &second);
			runner_free(&r);
		}
		CU_ASSERT_TRUE(first.n > 1000 && first.n == second.n);
		CU_ASSERT_TRUE(memcmp(first.data, second.data, first.n) == 0);
		text_free(&first);
		text_free(&second);
	}
}

/* Shifts around a crossbar never meet, so that both networks agree to the tick. */
static void networks_agree_without_contention(void)
{
	struct runner r;
	struct text t = {0};
	text_add(&t, "wham-prog 1\ngrid tp=3 dp=4\nrole all\n");
	text_add(&t,
		"1 compute 17us\n2 coll allreduce tp 1200000B\n3 coll allgather dp 4000000B algo "
		"bruck\n4 compute 3us\n5 coll reducescatter tp*dp 1200000B\n"
		"6 coll allreduce dp 1000000B algo rabenseifner\n7 coll alltoall tp*dp 1200000B\n"
		"8 coll barrier tp*dp 0B\n");
	runner_init(&r, t.data, BAR(12));
	text_free(&t);
	runner_expect_ok(&r, NET_ANALYTIC);
	tick end = r.result.end;
	runner_expect_end(&r, NET_SIMGRID, end);
	CU_ASSERT_EQUAL(r.result.n_colls, 4 + 3 + 1 + 3 + 1 + 1);
	runner_free(&r);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a pipeline of two", a_pipeline_of_two},
		{"a send ends when it has arrived", a_send_ends_when_it_has_arrived},
		{"a late recv finds the message", a_late_recv_finds_the_message},
		{"messages match in order", messages_match_in_order},
		{"streams run side by side", streams_run_side_by_side},
		{"a collective waits for the last", a_collective_waits_for_the_last},
		{"roots are positions", roots_are_positions},
		{"two flows share a link", two_flows_share_a_link},
		{"ranks are placed", ranks_are_placed},
		{"what cannot run is refused", what_cannot_run_is_refused},
		{"a long chain without time", a_long_chain_without_time},
		{"random progs keep the rules", random_progs_keep_the_rules},
		{"the same run twice", the_same_run_twice},
		{"networks agree without contention", networks_agree_without_contention},
		CU_TEST_INFO_NULL,
	};
	return suite_run("run", tests);
}
