#include "base/rng.h"
#include "runner.h"

/* A collective that the random progs may have, with an algorithm that works on any number of ranks
 * unless `doubles`: powers of two. */
struct choice {
	enum coll_kind kind;
	const char *algo;
	bool doubles;
};
static const struct choice choices[] = {
	{COLL_ALLGATHER, "bruck", false},
	{COLL_ALLGATHER, "ring", false},
	{COLL_ALLGATHER, "recdbl", true},
	{COLL_ALLREDUCE, "rabenseifner", true},
	{COLL_ALLREDUCE, "ring", false},
	{COLL_ALLREDUCE, NULL, false},
	{COLL_ALLREDUCE, "recdbl", true},
	{COLL_REDUCESCATTER, "halving", true},
	{COLL_ALLTOALL, "pairwise", false},
	{COLL_BARRIER, "dissemination", false},
	{COLL_HALO, "line", false},
};
enum { N_CHOICES = sizeof(choices) / sizeof(*choices) };

static bool is_power(uint32_t n)
{
	return (n & (n - 1)) == 0;
}

/* How many ranks a group has, by the joined dimensions. */
static uint32_t size_of(const struct prog_grid *g, uint32_t mask)
{
	return (mask & 1 ? g->sizes[0] : 1) * (mask & 2 ? g->sizes[1] : 1);
}

static struct prog_task random_task(
	struct prog_builder *b, const struct prog_grid *grid, struct rng *rng)
{
	struct prog_task t = {.cost = PROG_NONE,
		.peer.dim = PROG_NONE,
		.stream = (uint32_t)rng_below(rng, 3),
		.duration = 1 + rng_below(rng, 5000000)};
	uint32_t what = (uint32_t)rng_below(rng, 8), mask = 1 + (uint32_t)rng_below(rng, 3);
	const struct choice *c = &choices[rng_below(rng, N_CHOICES)];
	while (c->doubles && !is_power(size_of(grid, mask)))
		c = &choices[rng_below(rng, N_CHOICES)];
	t.kind = what < 2    ? TASK_COMPUTE
		 : what == 2 ? TASK_WAIT
		 : what == 3 ? TASK_MARK
			     : TASK_COLL;
	t.phase = (enum task_phase)rng_below(rng, 4);
	if (t.kind == TASK_MARK)
		t.label = "here";
	if (t.kind != TASK_COLL)
		return t;
	t.coll = c->kind;
	t.algo = c->algo;
	t.group = prog_add_group(b, mask);
	t.bytes = c->kind == COLL_BARRIER ? 0 : 1 + rng_below(rng, 3000000);
	return t;
}

/* Each task comes after the one before, whichever stream it is on. */
static void random_prog(
	struct arena *a, const struct prog_grid *grid, struct rng *rng, struct prog *out)
{
	struct prog_builder *b = prog_build(a, grid);
	uint32_t lo[2] = {0, 0}, hi[2] = {grid->sizes[0] - 1, grid->sizes[1] - 1};
	uint32_t n = 1 + (uint32_t)rng_below(rng, 8), last = 0;
	prog_add_role(b, "all", lo, hi);
	for (uint32_t i = 0; i < n; i++) {
		struct prog_task t = random_task(b, grid, rng);
		t.after = &last;
		t.n_after = i > 0;
		last = prog_add_task(b, &t);
	}
	prog_finish(b, out);
}

static void shuffle(uint32_t *list, uint32_t n, struct rng *rng)
{
	for (uint32_t i = 0; i < n; i++)
		list[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)rng_below(rng, i), other = list[i - 1];
		list[i - 1] = list[k];
		list[k] = other;
	}
}

/* A tick for each round at most, and no task has more than 62 of them. */
static bool near(tick a, tick b)
{
	return a > b ? a - b <= 500 : b - a <= 500;
}

static void compare_ranks(const struct run_result *x, const struct run_result *y)
{
	CU_ASSERT_EQUAL_FATAL(x->n_ranks, y->n_ranks);
	for (uint32_t r = 0; r < x->n_ranks; r++) {
		const struct run_rank *a = &x->ranks[r], *b = &y->ranks[r];
		CU_ASSERT(a->forward == b->forward && a->backward == b->backward);
		CU_ASSERT(a->optimizer == b->optimizer && a->other_compute == b->other_compute);
		CU_ASSERT(near(a->dp_exposed, b->dp_exposed) && near(a->bubble, b->bubble));
		CU_ASSERT(a->tp_exposed == 0 && b->tp_exposed == 0 && near(a->end, b->end));
		tick sum = a->forward + a->backward + a->optimizer + a->other_compute +
			   a->dp_exposed + a->bubble;
		CU_ASSERT_EQUAL(sum, x->end);
	}
}

static void compare(const struct run_result *folded, const struct run_result *whole)
{
	CU_ASSERT(folded->folded && !whole->folded && folded->exact && whole->exact);
	CU_ASSERT(near(folded->end, whole->end));
	compare_ranks(folded, whole);
	CU_ASSERT_EQUAL(folded->n_messages, whole->n_messages);
	CU_ASSERT_DOUBLE_EQUAL(
		folded->sent_bytes, whole->sent_bytes, 1e-9 * whole->sent_bytes + 1e-9);
	for (unsigned k = 0; k < N_COLL_KINDS; k++)
		CU_ASSERT_EQUAL(folded->coll_bytes[k], whole->coll_bytes[k]);
	CU_ASSERT_EQUAL_FATAL(folded->n_links, whole->n_links);
	for (uint32_t i = 0; i < folded->n_links; i++)
		CU_ASSERT_DOUBLE_EQUAL(folded->links[i].bytes, whole->links[i].bytes,
			1e-9 * whole->links[i].bytes);
	CU_ASSERT_EQUAL_FATAL(folded->n_task_ends, whole->n_task_ends);
	for (uint32_t i = 0; i < folded->n_task_ends; i++)
		CU_ASSERT(near(folded->task_ends[i], whole->task_ends[i]));
	CU_ASSERT_EQUAL_FATAL(folded->n_spans, whole->n_spans);
	for (uint32_t i = 0; i < folded->n_spans; i++) {
		const struct run_span *x = &folded->spans[i], *y = &whole->spans[i];
		CU_ASSERT(x->rank == y->rank && x->task == y->task);
		CU_ASSERT(near(x->start, y->start) && near(x->end, y->end));
	}
}

/* The grid's sizes for a topology of so many devices, all of which it fills on the symmetric ones.
 */
static const struct field {
	const char *topology;
	uint32_t sizes[2];
} fields[] = {
	{"crossbar:12,bw=10GB/s,lat=1us", {3, 4}},
	{"crossbar:17,bw=10GB/s,lat=700ns", {5, 3}},
	{"crossbar:16,bw=25GB/s,lat=0ns", {4, 4}},
	{"crossbar:8,bw=25GB/s,lat=1us", {1, 8}},
	{"ring:8,bw=10GB/s,lat=1us", {8, 1}},
	{"ring:9,bw=10GB/s,lat=1us", {3, 3}},
	{"torus:4x4,bw=10GB/s,lat=500ns", {4, 4}},
	{"torus:3x5,bw=10GB/s,lat=500ns", {3, 5}},
	{"hypercube:4,bw=10GB/s,lat=1us", {4, 4}},
	{"hypercube:4,bw=10GB/s,lat=1us", {8, 2}},
};
enum { N_FIELDS = sizeof(fields) / sizeof(*fields) };

/* Where auto folds, nothing is lost; and it does fold most of what can be. */
static void folded_is_whole(void)
{
	struct rng rng;
	uint32_t n_folded[N_FIELDS] = {0};
	rng_init(&rng, 71);
	for (uint32_t i = 0; i < 12 * N_FIELDS; i++) {
		const struct field *f = &fields[i % N_FIELDS];
		struct arena a = {0};
		struct err err = {0};
		struct topo topo;
		struct prog p;
		struct run_result folded, whole;
		struct prog_grid grid = {.n_dims = 2, .names = {"pr", "pc"}};
		uint32_t devices[32];
		memcpy(grid.sizes, f->sizes, sizeof(f->sizes));
		CU_ASSERT_FATAL(topo_parse(&a, f->topology, &topo, &err));
		random_prog(&a, &grid, &rng, &p);
		shuffle(devices, topo.n_devices, &rng);
		struct run_config config = {.topo = &topo,
			.net = i % 3 ? NET_SIMGRID : NET_ANALYTIC,
			.device_of_rank = rng_below(&rng, 4) ? NULL : devices,
			.reduce_bytes_per_s = rng_below(&rng, 2) ? UINT64_C(30000000000) : 0,
			.all_links = true,
			.keep_spans = true,
			.task_ends = true,
			.fold = RUN_FOLD_AUTO};
		CU_ASSERT_FATAL(run_prog(&a, &p, &config, &folded, &err));
		config.fold = RUN_FOLD_OFF;
		CU_ASSERT_FATAL(run_prog(&a, &p, &config, &whole, &err));
		if (folded.folded) {
			compare(&folded, &whole);
			n_folded[i % N_FIELDS]++;
		} else {
			CU_ASSERT_EQUAL(folded.end, whole.end);
		}
		arena_free(&a);
	}
	for (uint32_t i = 0; i < N_FIELDS; i++) {
		CU_ASSERT(n_folded[i] >= (i < 4 ? 6 : 2));
		printf("\n    %s: %u of 12 folded", fields[i].topology, n_folded[i]);
	}
}

static const char small[] = "crossbar:4,bw=1GB/s,lat=0.5us";

/* What is not in lockstep is run as ever, and refused when it has to be folded. */
static void what_is_not_in_lockstep(void)
{
	static const struct {
		const char *prog, *reason;
	} list[] = {
		{"wham-prog 1\ngrid r=4\nrole a r=0..1\n1 coll allreduce r 8B\nrole b r=2..3\n"
		 "1 coll allreduce r 8B\n",
			"the prog has 2 roles"},
		{"wham-prog 1\ngrid r=4\nrole a\n1 compute 1us\n2 coll allreduce r 8B stream 1\n",
			"tasks may run at the same time"},
		{"wham-prog 1\ngrid r=4\nrole a\n1 compute 1us\n2 wait 1us after 1 stream 1\n"
		 "3 coll allreduce r 8B after 1 stream 2\n4 mark end after 2 3\n",
			"tasks may run at the same time"},
		{"wham-prog 1\ngrid r=4\nrole a\n1 send 0 8B eager\n2 recv 0 8B\n",
			"t.prog:4: messages between single ranks"},
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		struct runner r;
		char text[256];
		runner_init(&r, list[i].prog, small);
		r.config.fold = RUN_FOLD_ON;
		snprintf(text, sizeof(text),
			"%s: a prog that is not in lockstep cannot be folded, use fold auto or "
			"off",
			list[i].reason);
		runner_expect_error(&r, NET_ANALYTIC, ERR_USAGE, text);
		r.config.fold = RUN_FOLD_OFF;
		bool ran = runner_run(&r, NET_ANALYTIC);
		tick end = r.result.end;
		r.config.fold = RUN_FOLD_AUTO;
		CU_ASSERT_EQUAL(runner_run(&r, NET_ANALYTIC), ran);
		CU_ASSERT(!ran || (r.result.end == end && !r.result.folded));
		runner_free(&r);
	}
}

static void groups_and_devices_that_differ(void)
{
	static const char left_out[] =
		"wham-prog 1\ngrid r=4\ngroup g 0 1\nrole a\n1 coll allreduce g 8B\n";
	static const char text[] = "wham-prog 1\ngrid r=4\nrole a\n1 compute 3us\n"
				   "2 coll allreduce r 4kB\n";
	uint32_t ppm[] = {1000000, 1000000, 2000000, 1000000};
	struct runner r = {.config = {.topo = &r.topo, .fold = RUN_FOLD_ON}};
	CU_ASSERT_FATAL(topo_parse(&r.a, small, &r.topo, &r.err));
	if (prog_parse(&r.a, "t.prog", left_out, strlen(left_out), &r.prog, &r.err)) {
		CU_ASSERT_FALSE(runner_run(&r, NET_ANALYTIC));
		CU_ASSERT(r.err.kind == ERR_USAGE || r.err.kind == ERR_INPUT);
	}
	r.err = (struct err){0};
	CU_ASSERT_FATAL(prog_parse(&r.a, "t.prog", text, strlen(text), &r.prog, &r.err));
	r.config.compute_ppm = ppm;
	runner_expect_error(&r, NET_ANALYTIC, ERR_USAGE,
		"devices compute at different speeds: a prog that is not in lockstep cannot be "
		"folded, use fold auto or off");
	/* All twice as slow: 6 us, and six rounds of 1 us + 1 kB / 1 GB/s. */
	ppm[0] = ppm[1] = ppm[3] = 2000000;
	runner_expect_end(&r, NET_ANALYTIC, 6 * US + 6 * 2 * US);
	CU_ASSERT(r.result.folded);
	r.config.fold = RUN_FOLD_OFF;
	runner_expect_end(&r, NET_ANALYTIC, 6 * US + 6 * 2 * US);
	runner_free(&r);
}

/* In a reduction ranks are through at different times, and here 1 can pass something on to 3 while
 * 2 still sends to 0: auto sees it. */
static void ranks_that_leave_early(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid r=4\nrole a\n1 coll reduce r 1kB\n"
		"2 coll broadcast r 1kB root 1\n",
		small);
	r.config.fold = RUN_FOLD_AUTO;
	runner_expect_end(&r, NET_SIMGRID, 3 * 2 * US);
	CU_ASSERT(!r.result.folded && r.result.exact);
	r.config.fold = RUN_FOLD_ON;
	runner_expect_end(&r, NET_SIMGRID, 4 * 2 * US);
	CU_ASSERT(r.result.folded && !r.result.exact);
	runner_free(&r);
}

/* The same prog has 2 x 3 messages. */
static void more_messages_than_allowed(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid r=4\nrole a\n1 coll reduce r 1kB\n"
		"2 coll broadcast r 1kB root 1\n",
		small);
	r.config.fold = RUN_FOLD_AUTO;
	r.config.max_messages = 6;
	runner_expect_end(&r, NET_SIMGRID, 3 * 2 * US);
	CU_ASSERT(!r.result.folded && r.result.exact);
	CU_ASSERT_EQUAL(r.result.n_messages, 6);
	r.config.max_messages = 5;
	runner_expect_end(&r, NET_SIMGRID, 4 * 2 * US);
	CU_ASSERT(r.result.folded && !r.result.exact);
	CU_ASSERT_EQUAL(r.result.n_messages, 6);
	r.config.fold = RUN_FOLD_OFF;
	runner_expect_end(&r, NET_SIMGRID, 3 * 2 * US);
	CU_ASSERT(!r.result.folded && r.result.exact);
	runner_free(&r);
	/* Exact sums are exact, limit or not; what is not in lockstep knows no limit. */
	runner_init(&r, "wham-prog 1\ngrid r=4\nrole a\n1 coll allreduce r 4kB\n", small);
	r.config.max_messages = 1;
	r.config.fold = RUN_FOLD_AUTO;
	runner_expect_end(&r, NET_SIMGRID, 6 * 2 * US);
	CU_ASSERT(r.result.folded && r.result.exact);
	runner_free(&r);
	runner_init(&r,
		"wham-prog 1\ngrid r=4\nrole a\n1 compute 1us\n2 coll allreduce r 4kB stream 1\n",
		small);
	r.config.max_messages = 1;
	r.config.fold = RUN_FOLD_AUTO;
	runner_expect_end(&r, NET_SIMGRID, 6 * 2 * US);
	CU_ASSERT(!r.result.folded && r.result.exact);
	runner_free(&r);
}

/* Groups of three and of four compete for the cables of a row: ranks that are through early go on,
 * which the sum of the slowest messages does not see. Beyond the limit it stands. */
static void rounds_that_end_unevenly(void)
{
	struct runner r;
	tick ends[2];
	runner_init(&r,
		"wham-prog 1\ngrid pr=3 pc=4\nrole a\n1 coll allreduce pr 1MB algo ring\n"
		"2 coll allgather pc 1MB algo ring\n3 coll allreduce pr 3MB algo ring\n",
		"mesh:12,bw=1GB/s,lat=1us");
	r.config.fold = RUN_FOLD_AUTO;
	for (uint32_t turn = 0; turn < 2; turn++) {
		r.config.max_messages = turn;
		runner_expect_ok(&r, NET_SIMGRID);
		CU_ASSERT_EQUAL(r.result.folded, turn == 1);
		CU_ASSERT_EQUAL(r.result.exact, turn == 0);
		ends[turn] = r.result.end;
	}
	printf("\n    sum %.4f of message by message", (double)ends[1] / (double)ends[0]);
	CU_ASSERT(ends[1] > ends[0] && ends[1] < ends[0] + ends[0] / 5);
	runner_free(&r);
}

static bool always(void)
{
	return true;
}

static void a_run_that_is_stopped(void)
{
	static const enum net_kind nets[] = {NET_ANALYTIC, NET_SIMGRID};
	struct runner r;
	runner_init(&r, "wham-prog 1\ngrid r=64\nrole a\n1 coll allreduce r 1MB algo ring\n",
		"ring:64,bw=1GB/s,lat=1us");
	r.config.stop = always;
	for (int i = 0; i < 2; i++)
		runner_expect_error(&r, nets[i], ERR_ANSWER, "stopped before its end");
	runner_free(&r);
}

/* What a collective takes on a crossbar, folded (twice, of one memo) and message by message. */
static void expect_time(const char *coll, uint32_t n_ranks, uint64_t rate, tick time)
{
	char text[256], topology[64];
	struct runner r;
	snprintf(text, sizeof(text), "wham-prog 1\ngrid r=%u\nrole a\n1 coll %s\n2 wait 5us\n",
		n_ranks, coll);
	snprintf(topology, sizeof(topology), "crossbar:%u,bw=1GB/s,lat=0.5us", n_ranks);
	runner_init(&r, text, topology);
	struct run_memo *memo = run_memo_create(&r.topo, NET_SIMGRID);
	r.config.reduce_bytes_per_s = rate;
	r.config.task_ends = true;
	for (int turn = 0; turn < 3; turn++) {
		r.config.fold = turn < 2 ? RUN_FOLD_ON : RUN_FOLD_OFF;
		r.config.memo = memo;
		runner_expect_end(&r, NET_SIMGRID, time + 5 * US);
		CU_ASSERT_EQUAL(r.result.folded, turn < 2);
		CU_ASSERT_EQUAL_FATAL(r.result.n_task_ends, 2);
		CU_ASSERT_EQUAL(r.result.task_ends[0], time);
		CU_ASSERT_EQUAL(r.result.task_ends[1], time + 5 * US);
		CU_ASSERT_EQUAL(r.result.ranks[0].dp_exposed, time);
	}
	/* Another rate is another question to the same memo. */
	r.config.fold = RUN_FOLD_ON;
	r.config.reduce_bytes_per_s = 0;
	runner_expect_ok(&r, NET_SIMGRID);
	CU_ASSERT(rate == 0 ? r.result.end == time + 5 * US : r.result.end < time + 5 * US);
	run_memo_destroy(memo);
	runner_free(&r);
}

/* alpha = 1 us, n beta = 1 ms for n = 1 MB, n gamma = 0.5 ms at 2 GB/s. */
static void adding_takes_time(void)
{
	const tick alpha = US, beta = 1000 * US, gamma = 500 * US;
	const uint64_t rate = 2000000000;
	/* Ring of p: 2 (p - 1) alpha + 2 (p - 1)/p n beta + (p - 1)/p n gamma. */
	expect_time("allreduce r 1MB algo ring", 4, rate, 6 * alpha + beta * 3 / 2 + gamma * 3 / 4);
	expect_time("allreduce r 1MB algo ring", 5, rate, 8 * alpha + beta * 8 / 5 + gamma * 4 / 5);
	expect_time(
		"reducescatter r 1MB algo ring", 4, rate, 3 * alpha + beta * 3 / 4 + gamma * 3 / 4);
	/* Rabenseifner of powers of two: 2 lg p alpha, the rest alike. */
	expect_time("allreduce r 1MB algo rabenseifner", 8, rate,
		6 * alpha + beta * 7 / 4 + gamma * 7 / 8);
	/* Folded ranks of others: n beta + n gamma more, and n beta for the way back. */
	expect_time(
		"allreduce r 1MB algo rabenseifner", 3, rate, 4 * alpha + 3 * beta + gamma * 3 / 2);
	/* All vectors arrive at once and are added one after the other. */
	expect_time(
		"reducescatter r 1MB algo direct", 4, rate, alpha + beta * 3 / 4 + gamma * 3 / 4);
	/* Nothing is added. */
	expect_time("allreduce r 1MB algo ring", 4, 0, 6 * alpha + beta * 3 / 2);
}

/* Copying and adding are told apart where both ways have the same messages, and a memo that knows
 * the one does not answer for the other. */
static void gathering_adds_nothing(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid r=4\nrole a\n1 coll reducescatter r 1MB algo ring\n"
		"2 coll allgather r 1MB algo ring\n3 coll reducescatter r 1MB algo ring\n",
		small);
	r.config.task_ends = true;
	r.config.reduce_bytes_per_s = 2000000000;
	for (int turn = 0; turn < 2; turn++) {
		r.config.fold = turn ? RUN_FOLD_OFF : RUN_FOLD_AUTO;
		runner_expect_ok(&r, NET_SIMGRID);
		const tick *ends = r.result.task_ends;
		CU_ASSERT_EQUAL(r.result.folded, turn == 0);
		CU_ASSERT_EQUAL(ends[0], 753 * US + 375 * US);
		CU_ASSERT_EQUAL(ends[1] - ends[0], 753 * US);
		CU_ASSERT_EQUAL(ends[2] - ends[1], 753 * US + 375 * US);
	}
	runner_free(&r);
}

/* On a ring of six the order of the ranks decides how far messages go: 0 2 4 1 3 5 makes two hops
 * of each but two. */
static void order_of_the_devices(void)
{
	uint32_t devices[] = {0, 2, 4, 1, 3, 5};
	struct runner r;
	runner_init(&r, "wham-prog 1\ngrid pr=3 pc=2\nrole a\n1 coll allgather pr 3kB algo ring\n",
		"ring:6,bw=1GB/s,lat=1us");
	tick ends[2];
	for (int turn = 0; turn < 2; turn++) {
		r.config.fold = turn ? RUN_FOLD_OFF : RUN_FOLD_AUTO;
		r.config.device_of_rank = devices;
		runner_expect_ok(&r, NET_SIMGRID);
		CU_ASSERT_EQUAL(r.result.folded, turn == 0);
		ends[turn] = r.result.end;
	}
	/* Two hops, each cable shared by the two groups: 2 x (2 us + 2 kB / 1 GB/s). */
	CU_ASSERT_EQUAL(ends[0], 2 * 4 * US);
	CU_ASSERT_EQUAL(ends[1], 2 * 4 * US);
	r.config.device_of_rank = NULL;
	r.config.fold = RUN_FOLD_ON;
	runner_expect_end(&r, NET_SIMGRID, 2 * 3 * US); /* two hops back */
	runner_free(&r);
}

/* Tasks that come after later ones, over several streams, are still one after the other. */
static void order_of_the_tasks(void)
{
	struct runner r;
	runner_init(&r,
		"wham-prog 1\ngrid r=4\nrole a\n1 compute 1us after 3\n"
		"2 coll allreduce r 4kB after 1 stream 1\n3 wait 2us stream 2\n"
		"4 compute 4us phase forward after 2\n",
		small);
	r.config.task_ends = true;
	for (int turn = 0; turn < 2; turn++) {
		static const tick ends[] = {3 * US, 15 * US, 2 * US, 19 * US};
		r.config.fold = turn ? RUN_FOLD_OFF : RUN_FOLD_ON;
		runner_expect_end(&r, NET_SIMGRID, 19 * US);
		CU_ASSERT_EQUAL_FATAL(r.result.n_task_ends, 4);
		for (uint32_t i = 0; i < 4; i++)
			CU_ASSERT_EQUAL(r.result.task_ends[i], ends[i]);
		CU_ASSERT_EQUAL(r.result.ranks[2].forward, 4 * US);
		CU_ASSERT_EQUAL(r.result.ranks[2].bubble, 2 * US);
		CU_ASSERT_EQUAL(r.result.ranks[2].dp_exposed, 12 * US);
	}
	runner_free(&r);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"folded is whole", folded_is_whole},
		{"what is not in lockstep", what_is_not_in_lockstep},
		{"groups and devices that differ", groups_and_devices_that_differ},
		{"ranks that leave early", ranks_that_leave_early},
		{"more messages than allowed", more_messages_than_allowed},
		{"rounds that end unevenly", rounds_that_end_unevenly},
		{"a run that is stopped", a_run_that_is_stopped},
		{"adding takes time", adding_takes_time},
		{"gathering adds nothing", gathering_adds_nothing},
		{"order of the devices", order_of_the_devices},
		{"order of the tasks", order_of_the_tasks},
		CU_TEST_INFO_NULL,
	};
	return suite_run("run lockstep", tests);
}
