#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "prog/prog.h"

static const char example[] = "wham-prog 1\n"
			      "grid tp=2 dp=2 pp=2\n"
			      "cost f = 100us\n"
			      "cost b = 200us energy=0.031J\n"
			      "role first pp=0\n"
			      "  1 compute f\n"
			      "  2 coll allreduce tp 32MiB after 1 stream 1\n"
			      "  3 send pp+1 16MiB tag m0 after 2 stream 2\n"
			      "  4 recv pp+1 16MiB tag g0 stream 2\n"
			      "  5 compute b phase backward after 4\n"
			      "  6 coll allreduce dp 128MiB after 5 stream 1\n"
			      "role last pp=1\n"
			      "  1 recv pp-1 16MiB tag m0 stream 2\n"
			      "  2 compute f after 1\n"
			      "  3 compute 812.4us after 2\n"
			      "  4 send pp-1 16MiB tag g0 eager after 3 stream 2\n"
			      "  5 coll allreduce dp 128MiB after 3 stream 1\n";

static bool parse(struct arena *a, const char *text, struct prog *p, struct err *err)
{
	*err = (struct err){0};
	return prog_parse(a, "t.prog", text, strlen(text), p, err);
}

static void reads_what_is_written(void)
{
	struct arena a = {0};
	struct prog p;
	struct err err;
	CU_ASSERT_TRUE_FATAL(parse(&a, example, &p, &err));
	CU_ASSERT_EQUAL(prog_n_ranks(&p), 8);
	CU_ASSERT_EQUAL(p.n_roles, 2);
	CU_ASSERT_EQUAL(p.n_groups, 2);
	CU_ASSERT_STRING_EQUAL(p.groups[0].name, "tp");
	CU_ASSERT_EQUAL(p.costs[1].duration, 200 * (tick)1000000);
	CU_ASSERT_EQUAL(p.costs[1].energy_j, 0.031);
	const struct prog_task *t = p.roles[1].tasks;
	CU_ASSERT_EQUAL(t[2].duration, UINT64_C(812400000));
	CU_ASSERT_EQUAL(t[2].cost, PROG_NONE);
	CU_ASSERT_EQUAL(t[3].n_after, 1);
	CU_ASSERT_EQUAL(t[3].after[0], 2);
	CU_ASSERT_TRUE(t[3].eager);
	CU_ASSERT_EQUAL(t[3].peer.offset, -1);
	CU_ASSERT_EQUAL(t[3].bytes, 16 << 20);
	CU_ASSERT_STRING_EQUAL(t[3].place, "t.prog:16");
	CU_ASSERT_PTR_EQUAL(t[3].tag, p.roles[0].tasks[3].tag);
	CU_ASSERT_EQUAL(p.roles[0].tasks[4].phase, PHASE_BACKWARD);
	CU_ASSERT_TRUE(prog_check(&p, &err));
	struct text out = {0};
	prog_write(&p, &out);
	CU_ASSERT_STRING_EQUAL(out.data, example);
	text_free(&out);
	arena_free(&a);
}

static void more_of_the_form(void)
{
	static const char text[] = "wham-prog 1 # a comment\n\n"
				   "grid rank=6\n"
				   "cost \"a b\" = 5ns\n"
				   "cost \"7\" = 0s\n"
				   "group g7 5 0 1\n"
				   "group \"g 8\" 0 1 2 3 5\n"
				   "role \"one \\\"two\\\"\" ranks 0..2 5 # comment\n"
				   "  3 compute \"a b\" name \"x\\ty\" @model.json:12\n"
				   "  9 compute \"7\" after 3 20 stream 4\n"
				   "  20 mark step#1\n"
				   "  21 wait 5us\n"
				   "role other ranks 3 4\n"
				   "  1 coll broadcast rank 1KiB root 4 algo binomial\n"
				   "  2 send 5 0B tag \"\"\n";
	static const char canonical[] = "wham-prog 1\n"
					"grid rank=6\n"
					"cost \"a b\" = 5ns\n"
					"cost \"7\" = 0ps\n"
					"group g7 5 0 1\n"
					"group \"g 8\" 0..3 5\n"
					"role \"one \\\"two\\\"\" ranks 0..2 5\n"
					"  3 compute \"a b\" name \"x\\ty\" @model.json:12\n"
					"  9 compute \"7\" after 3 20 stream 4\n"
					"  20 mark step#1\n"
					"  21 wait 5us\n"
					"role other ranks 3 4\n"
					"  1 coll broadcast rank 1KiB root 4 algo binomial\n"
					"  2 send 5 0B tag \"\"\n";
	struct arena a = {0};
	struct prog p;
	struct err err;
	struct text out = {0};
	CU_ASSERT_TRUE_FATAL(parse(&a, text, &p, &err));
	CU_ASSERT_EQUAL(p.roles[0].tasks[1].after[1], 2);
	CU_ASSERT_STRING_EQUAL(p.roles[0].tasks[0].place, "model.json:12");
	prog_write(&p, &out);
	CU_ASSERT_STRING_EQUAL(out.data, canonical);
	text_free(&out);
	arena_free(&a);
}

static void errors_have_a_place(void)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"", "t.prog:1:1: empty, expected 'wham-prog 1'"},
		{"prog 1\n", "t.prog:1:1: not a prog, expected 'wham-prog 1'"},
		{"wham-prog 2\n", "t.prog:1:1: unknown version, expected 'wham-prog 1'"},
		{"wham-prog 1\n", "t.prog:1:1: no grid, expected such as: grid tp=2 pp=4"},
		{"wham-prog 1\nrole x\n",
			"t.prog:2:1: 'role' before the grid, expected such as: grid tp=2 pp=4"},
		{"wham-prog 1\ngrid tp=0\n",
			"t.prog:2:6: the grid has 0 ranks, expected 1 to 262144"},
		{"wham-prog 1\ngrid tp=600 dp=600\n",
			"t.prog:2:13: the grid has 360000 ranks, expected 1 to 262144"},
		{"wham-prog 1\ngrid tp\n",
			"t.prog:2:6: 'tp' is not a dimension, expected such as tp=2"},
		{"wham-prog 1\ngrid a=1 a=1\n", "t.prog:2:10: dimension 'a=1' appears twice"},
		{"wham-prog 1\ngrid a=1\ncost f = 1us\ncost f = 2us\n",
			"t.prog:4:6: cost 'f' is defined twice"},
		{"wham-prog 1\ngrid a=1\ncost f = 1us energy=-1J\n",
			"t.prog:3:14: 'energy=-1J' is not an energy, expected such as energy=0.5J"},
		{"wham-prog 1\ngrid a=1\ngroup g 0 1\n",
			"t.prog:3:11: rank 1 is outside the grid of 1"},
		{"wham-prog 1\ngrid a=4\ngroup g 0..3 0\n",
			"t.prog:3:14: more ranks than the grid has (4)"},
		{"wham-prog 1\ngrid a=4\ngroup a 0\n",
			"t.prog:3:7: 'a' would be taken for dimensions of the grid"},
		{"wham-prog 1\ngrid a=4\nrole r a=1..4\n",
			"t.prog:3:8: 'a=1..4' is outside the grid, where a=4"},
		{"wham-prog 1\ngrid a=4\nrole r b=1\n",
			"t.prog:3:8: 'b=1': the grid has no such dimension"},
		{"wham-prog 1\ngrid a=1\n1 wait 1us\n", "t.prog:3:1: a task before the first role"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 compute\n",
			"t.prog:4:11: expected a cost or a time after 'compute'"},
		{"wham-prog 1\ngrid a=1\ncost fwd = 1us\nrole r\n 1 compute fwdd\n",
			"t.prog:5:12: no cost 'fwdd', did you mean 'fwd'?"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 dance\n",
			"t.prog:4:4: unknown task 'dance', expected compute, send, recv, coll, "
			"wait or mark"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 mark a\n 1 mark b\n",
			"t.prog:5:2: task 1 comes after task 1, expected numbers that ascend"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 mark a after 7\n",
			"t.prog:4:17: no task 7 in role 'r'"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 mark a after\n",
			"t.prog:4:16: expected a task's number after 'after'"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 mark a tag x\n",
			"t.prog:4:11: 'tag' does not go with mark"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 wait 1us stream 1 stream 2\n",
			"t.prog:4:22: 'stream' appears twice"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 wait 1us 2us\n",
			"t.prog:4:13: '2us' is not known here, expected after, stream, name, "
			"@PLACE or an "
			"option of wait"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 coll allredcue a 1B\n",
			"t.prog:4:9: unknown collective 'allredcue', expected such as allreduce"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 coll allreduce a*b 1B\n",
			"t.prog:4:19: 'a*b' is neither a group nor dimensions of the grid"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 coll allreduce a 1B root 0\n",
			"t.prog:4:24: allreduce has no root"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 send b+1 1B\n",
			"t.prog:4:9: 'b+1': the grid has no such dimension"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 send a+ 1B\n",
			"t.prog:4:9: 'a+' is not a peer, expected such as pp+1 or a rank"},
		{"wham-prog 1\ngrid a=1\nrole r\n 1 send 0 65TiB\n",
			"t.prog:4:11: '65TiB' is more than 64 TiB"},
		{"wham-prog 1\ngrid a=1\nrole \"r\n",
			"t.prog:3:6: quoted word without an end, expected '\"'"},
		{"wham-prog 1\ngrid a=1\nrole \"a\\qb\"\n",
			"t.prog:3:6: unknown escape '\\q', expected \\n, \\t, \\\" or \\\\"},
		{"wham-prog 1\ngrid a=1\nrole r\x01\n",
			"t.prog:3:6: control character 0x01 in a word"},
		{"wham-prog 1\ngrid a=1\nfoo\n", "t.prog:3:1: 'foo' is not known, expected cost, "
						 "grid, group, role or a task's number"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct arena a = {0};
		struct prog p;
		struct err err;
		CU_ASSERT_FALSE(parse(&a, bad[i].text, &p, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
		CU_ASSERT_STRING_EQUAL(err.text, bad[i].error);
		if (strcmp(err.text, bad[i].error) != 0)
			printf("got:      %s\nexpected: %s\n", err.text, bad[i].error);
		arena_free(&a);
	}
}

/* Cut anywhere, a text is read or refused with a place, and nothing else happens. */
static void cut_at_every_byte(void)
{
	for (size_t n = 0; n < sizeof(example); n++) {
		struct arena a = {0};
		struct prog p;
		struct err err = {0};
		char *copy = arena_strndup(&a, example, n);
		if (prog_parse(&a, "t.prog", copy, n, &p, &err))
			CU_ASSERT_EQUAL(err.kind, ERR_NONE)
		else
			CU_ASSERT_TRUE(
				err.kind == ERR_INPUT && strncmp(err.text, "t.prog:", 7) == 0);
		arena_free(&a);
	}
}

/* Words and bytes swapped, repeated and replaced: read and checked, or refused, and nothing else. */
static void mutated_texts_do_no_harm(void)
{
	static const char *const words[] = {"0..9", "after", "role", "group", "ranks", "\"", "#",
		"=", "18446744073709551616", "tp*dp", "-1", "0", "eager", "root", "@", "\n", "pp+9",
		"1e9s"};
	struct rng rng;
	rng_init(&rng, 11);
	for (uint32_t i = 0; i < 3000; i++) {
		struct arena a = {0};
		struct prog p;
		struct err err = {0};
		struct text t = {0};
		text_add_bytes(&t, example, sizeof(example) - 1);
		for (uint32_t k = 0; k < 1 + i % 4; k++) {
			const char *word = words[rng_below(&rng, sizeof(words) / sizeof(*words))];
			size_t at = rng_below(&rng, t.n), n = strlen(word);
			if (rng_below(&rng, 4) == 0)
				t.data[at] = (char)rng_below(&rng, 256);
			else if (at + n <= t.n)
				memcpy(t.data + at, word, n);
		}
		bool ok = prog_parse(&a, "t.prog", t.data, t.n, &p, &err) && prog_check(&p, &err);
		CU_ASSERT_EQUAL(ok, err.kind == ERR_NONE);
		CU_ASSERT_TRUE(ok || err.kind == ERR_INPUT || err.kind == ERR_ANSWER);
		text_free(&t);
		arena_free(&a);
	}
}

static const char *random_word(struct arena *a, struct rng *rng)
{
	static const char chars[] = "abz09 \t\n\"\\#@=*+-._\xc3\xa9";
	char buf[8];
	size_t n = rng_below(rng, 7);
	for (size_t i = 0; i < n; i++)
		buf[i] = chars[rng_below(rng, sizeof(chars) - 1)];
	return arena_strndup(a, buf, n);
}

static uint64_t random_value(struct rng *rng, uint64_t max)
{
	return rng_next(rng) >> rng_below(rng, 64) & max;
}

static struct prog_task random_task(
	struct arena *a, struct rng *rng, const struct prog *p, uint32_t n_tasks)
{
	struct prog_task t = {.kind = (enum task_kind)rng_below(rng, 6),
		.cost = PROG_NONE,
		.stream = (uint32_t)rng_below(rng, 3),
		.peer = {.dim = PROG_NONE}};
	if (rng_below(rng, 2) || t.kind == TASK_MARK)
		t.label = random_word(a, rng);
	if (rng_below(rng, 3) == 0)
		t.place = arena_printf(a, "m:%u", (unsigned)rng_below(rng, 99));
	if (t.kind == TASK_COMPUTE)
		t.phase = (enum task_phase)rng_below(rng, 4);
	if (t.kind == TASK_COMPUTE && rng_below(rng, 2))
		t.cost = (uint32_t)rng_below(rng, p->n_costs);
	else if (t.kind == TASK_COMPUTE || t.kind == TASK_WAIT)
		t.duration = random_value(rng, TICK_MAX);
	if (t.kind == TASK_SEND || t.kind == TASK_RECV || t.kind == TASK_COLL)
		t.bytes = random_value(rng, PROG_MAX_BYTES - 1);
	if ((t.kind == TASK_SEND || t.kind == TASK_RECV) && rng_below(rng, 2))
		t.tag = random_word(a, rng);
	t.eager = t.kind == TASK_SEND && rng_below(rng, 2);
	if (rng_below(rng, 2))
		t.peer = (struct prog_peer){.dim = (uint32_t)rng_below(rng, p->grid.n_dims),
			.offset = (int32_t)rng_below(rng, 5) - 2};
	t.coll =
		t.kind == TASK_COLL ? (enum coll_kind)rng_below(rng, N_COLL_KINDS) : COLL_ALLREDUCE;
	t.group = t.kind == TASK_COLL ? (uint32_t)rng_below(rng, p->n_groups) : 0;
	t.root =
		t.kind == TASK_COLL && coll_kind_has_root(t.coll) ? (uint32_t)rng_below(rng, 3) : 0;
	t.algo = t.kind == TASK_COLL && rng_below(rng, 2) ? "ring" : NULL;
	uint32_t *after = arena_array(a, 3, uint32_t);
	t.n_after = (uint32_t)rng_below(rng, 4);
	for (uint32_t i = 0; i < t.n_after; i++)
		after[i] = (uint32_t)rng_below(rng, n_tasks);
	t.after = after;
	return t;
}

static void random_prog(struct arena *a, struct rng *rng, struct prog *out)
{
	static const char *const dims[] = {"tp", "dp", "pp", "x_1"};
	struct prog_grid grid = {.n_dims = 1 + (uint32_t)rng_below(rng, 4)};
	for (uint32_t d = 0; d < grid.n_dims; d++) {
		grid.names[d] = dims[d];
		grid.sizes[d] = 1 + (uint32_t)rng_below(rng, 4);
	}
	struct prog_builder *b = prog_build(a, &grid);
	struct prog shape = {.grid = grid};
	uint32_t n_ranks = prog_n_ranks(&shape), ranks[256];
	for (uint32_t i = 0; i < n_ranks; i++)
		ranks[i] = (uint32_t)rng_below(rng, 4) ? i : n_ranks - 1 - i;
	for (shape.n_costs = 0; shape.n_costs < 3; shape.n_costs++)
		prog_add_cost(b, arena_printf(a, "%s%u", random_word(a, rng), shape.n_costs),
			random_value(rng, TICK_MAX), rng_unit(rng) * (double)rng_below(rng, 3));
	shape.n_groups = 2;
	prog_add_group_list(b, "g w", ranks, 1 + (uint32_t)rng_below(rng, n_ranks));
	prog_add_group_list(b, arena_printf(a, "g%s", random_word(a, rng)), ranks, 1);
	for (uint32_t role = 0; role < 3; role++) {
		uint32_t lo[PROG_MAX_DIMS], hi[PROG_MAX_DIMS];
		for (uint32_t d = 0; d < grid.n_dims; d++) {
			lo[d] = (uint32_t)rng_below(rng, grid.sizes[d]);
			hi[d] = lo[d] + (uint32_t)rng_below(rng, grid.sizes[d] - lo[d]);
		}
		if (rng_below(rng, 3))
			prog_add_role(b, random_word(a, rng), lo, hi);
		else
			prog_add_role_list(b, random_word(a, rng), ranks,
				1 + (uint32_t)rng_below(rng, n_ranks));
		uint32_t n_tasks = (uint32_t)rng_below(rng, 12);
		for (uint32_t i = 0; i < n_tasks; i++) {
			struct prog_task t = random_task(a, rng, &shape, n_tasks);
			if (t.kind == TASK_COLL && rng_below(rng, 2))
				t.group = prog_add_group(
					b, 1 + (uint32_t)rng_below(rng, (1U << grid.n_dims) - 1));
			prog_add_task(b, &t);
		}
	}
	prog_finish(b, out);
}

static void random_progs_round_trip(void)
{
	struct rng rng;
	rng_init(&rng, 7);
	for (uint32_t i = 0; i < 500; i++) {
		struct arena a = {0};
		struct prog p, q;
		struct err err = {0};
		struct text x = {0}, y = {0};
		random_prog(&a, &rng, &p);
		prog_write(&p, &x);
		bool ok = prog_parse(&a, "t.prog", x.data, x.n, &q, &err);
		CU_ASSERT_TRUE(ok);
		if (ok) {
			prog_write(&q, &y);
			CU_ASSERT_TRUE(x.n == y.n && memcmp(x.data, y.data, x.n) == 0);
		} else {
			printf("%s\n", err.text);
		}
		text_free(&x);
		text_free(&y);
		arena_free(&a);
	}
}

/* Places, members and peers by their definition on coordinates. */
static void groups_are_arithmetic(void)
{
	struct arena a = {0};
	struct prog_grid grid = {.n_dims = 3, .names = {"tp", "dp", "pp"}, .sizes = {2, 3, 4}};
	struct prog_builder *b = prog_build(&a, &grid);
	uint32_t lo[3] = {0}, hi[3] = {1, 2, 3}, members[24];
	prog_add_role(b, "all", lo, hi);
	uint32_t g = prog_add_group(b, 5), one = prog_add_group(b, 2);
	uint32_t list[] = {7, 3, 11}, explicit_group = prog_add_group_list(b, "g", list, 3);
	CU_ASSERT_EQUAL(prog_add_group(b, 5), g);
	struct prog p;
	prog_finish(b, &p);
	CU_ASSERT_STRING_EQUAL(p.groups[g].name, "tp*pp");
	CU_ASSERT_EQUAL(prog_group_size(&p, g), 8);
	CU_ASSERT_EQUAL(prog_group_n_teams(&p, g), 3);
	CU_ASSERT_EQUAL(prog_group_members(&p, one, 15, members), 1);
	CU_ASSERT_TRUE(members[0] == 13 && members[1] == 15 && members[2] == 17);
	CU_ASSERT_EQUAL(prog_group_members(&p, explicit_group, 3, members), 1);
	CU_ASSERT_EQUAL(members[0], 7);
	CU_ASSERT_EQUAL(prog_group_members(&p, explicit_group, 4, members), PROG_NONE);
	for (uint32_t r = 0; r < 24; r++) {
		uint32_t tp = r % 2, dp = r / 2 % 3, pp = r / 6, team, position;
		CU_ASSERT_EQUAL(prog_coord(&grid, r, 1), dp);
		CU_ASSERT_TRUE(prog_group_place(&p, g, r, &team, &position));
		CU_ASSERT_EQUAL(team, dp);
		CU_ASSERT_EQUAL(position, tp + 2 * pp);
		CU_ASSERT_EQUAL(prog_group_members(&p, g, r, members), position);
		CU_ASSERT_EQUAL(members[position], r);
		CU_ASSERT_EQUAL(prog_peer_rank(&p, r, &(struct prog_peer){.dim = 2, .offset = 1}),
			pp == 3 ? PROG_NONE : r + 6);
		CU_ASSERT_EQUAL(prog_peer_rank(&p, r, &(struct prog_peer){.dim = 1, .offset = -2}),
			dp < 2 ? PROG_NONE : r - 4);
		CU_ASSERT_EQUAL(prog_role_rank(&p, 0, r), r);
		CU_ASSERT_EQUAL(prog_role_of(&p, r), 0);
	}
	arena_free(&a);
}

struct bad_prog {
	const char *text;
	enum err_kind kind;
	const char *error;
};

static void expect_refused(const struct bad_prog *bad)
{
	struct arena a = {0};
	struct prog p;
	struct err err;
	CU_ASSERT_TRUE_FATAL(parse(&a, bad->text, &p, &err));
	CU_ASSERT_FALSE(prog_check(&p, &err));
	CU_ASSERT_EQUAL(err.kind, bad->kind);
	CU_ASSERT_STRING_EQUAL(err.text, bad->error);
	if (strcmp(err.text, bad->error) != 0)
		printf("got:      %s\nexpected: %s\n", err.text, bad->error);
	CU_ASSERT_EQUAL(prog_check_form(&p, &err), bad->kind == ERR_ANSWER);
	arena_free(&a);
}

#define START "wham-prog 1\ngrid a=2 b=2\n"

static void malformed_progs_are_refused(void)
{
	static const struct bad_prog bad[] = {
		{START "role x a=0\nrole y b=0\n", ERR_INPUT,
			"t.prog:4: rank 0 has two roles: 'x' (t.prog:3) and 'y'"},
		{START "role x a=0\n", ERR_INPUT, "t.prog: rank 1 has no role"},
		{START "role x\n1 send 4 1B\n", ERR_INPUT,
			"t.prog:4: task 1 of role 'x': no rank 4 in a grid of 4"},
		{START "role x\n1 send b+1 1B\n", ERR_INPUT,
			"t.prog:4: task 1 of role 'x': rank 2 has no peer b+1 in the grid, where "
			"b=2"},
		{START "role x ranks 0 3\n1 send b+1 1B\nrole y ranks 1 2\n", ERR_INPUT,
			"t.prog:4: task 1 of role 'x': rank 3 has no peer b+1 in the grid, where "
			"b=2"},
		{START "group g 0 1\nrole x\n1 coll barrier g 0B\n", ERR_INPUT,
			"t.prog:5: task 1 of role 'x': rank 2 is not in group 'g'"},
		{START "group g 0 1 0\nrole x\n", ERR_INPUT, "t.prog: group 'g' has rank 0 twice"},
		{START "role x\n1 coll reduce a 1B root 2\n", ERR_INPUT,
			"t.prog:4: task 1 of role 'x': its root is not in the group"},
		{START "role x\n1 wait 1us after 1\n", ERR_INPUT,
			"t.prog:4: tasks of role 'x' wait for each other: 1 waits for 1 (a task "
			"also waits "
			"for the one before it on its stream)"},
		{START "role x\n1 wait 1us after 3\n2 wait 1us stream 1\n3 wait 1us after 2\n",
			ERR_INPUT,
			"t.prog:4: tasks of role 'x' wait for each other: 1 waits for 3 waits for "
			"1 (a "
			"task also waits for the one before it on its stream)"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect_refused(&bad[i]);
}

static void counts_that_differ_are_explained(void)
{
	static const struct bad_prog bad[] = {
		{START "role x b=0\n1 send b+1 1B tag m\nrole y b=1\n1 recv b-1 1B tag n\n",
			ERR_ANSWER,
			"t.prog:4: unmatched send: rank 0 (role 'x', t.prog:4) sends 1 to rank 2 "
			"with tag "
			"m, which receives 0 (role 'y', t.prog:5)"},
		{START "role x b=0\n1 send b+1 1B\nrole y b=1\n1 recv b-1 1B\n2 recv b-1 1B\n",
			ERR_ANSWER,
			"t.prog:7: unmatched recv: rank 0 (role 'x', t.prog:4) sends 1 to rank 2 "
			"with tag "
			"(none), which receives 2 (role 'y', t.prog:7)"},
		{START "role x b=0\n1 coll allreduce b 1B\nrole y b=1\n1 coll allreduce b 2B\n",
			ERR_ANSWER,
			"t.prog:4: mismatched collective 1 of group 'b': rank 0 (role 'x', "
			"t.prog:4) has "
			"allreduce of 1 bytes, but rank 2 (role 'y', t.prog:6) has allreduce of 2 "
			"bytes"},
		{START "role x b=0\n1 coll barrier b 0B\n2 coll reduce b 1B root 1\nrole y b=1\n"
		       "1 coll barrier b 0B\n2 coll reduce b 1B\n",
			ERR_ANSWER,
			"t.prog:5: mismatched collective 2 of group 'b': rank 0 (role 'x', "
			"t.prog:5) has "
			"reduce of 1 bytes with root 1, but rank 2 (role 'y', t.prog:8) has reduce "
			"of 1 "
			"bytes with root 0"},
		{START "group g 1 2\nrole x b=0 a=0\nrole y b=0 a=1\n1 coll barrier g 0B\nrole z "
		       "b=1\n",
			ERR_ANSWER,
			"t.prog:6: mismatched collective 1 of group 'g': rank 1 (role 'y', "
			"t.prog:6) has "
			"barrier of 0 bytes, but rank 2 (role 'z', t.prog:7) has none"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect_refused(&bad[i]);
}

/* The files in traces/: what is wrong with each is found before or after it is run. */
static void trace_files(void)
{
	static const struct {
		const char *name, *error; /* after "traces/NAME.prog" */
		enum err_kind kind;
	} files[] = {
		{"bad_collective", ":6: mismatched collective 2 of group 'pp': ", ERR_ANSWER},
		{"bad_collective_order", NULL, ERR_NONE},
		{"bad_cycle", NULL, ERR_NONE},
		{"bad_dependency", ":5: tasks of role 'only' wait for each other: ", ERR_INPUT},
		{"bad_missing_peer", ":5: task 1 of role 'all': rank 1 has no peer pp+1 ",
			ERR_INPUT},
		{"bad_missing_rank", ": rank 2 has no role", ERR_INPUT},
		{"bad_unmatched_recv", ":8: unmatched recv: ", ERR_ANSWER},
		{"bad_unmatched_send", ":6: unmatched send: ", ERR_ANSWER},
		{"pipeline_2x2x2", NULL, ERR_NONE},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct arena a = {0};
		struct err err = {0};
		struct prog p;
		const char *root = getenv("WHAM_SOURCE_ROOT");
		const char *path = arena_printf(&a, "%s/traces/%s.prog", root, files[i].name);
		if (!prog_read(&a, path, &p, &err))
			printf("%s\n", err.text);
		CU_ASSERT_EQUAL_FATAL(err.kind, ERR_NONE);
		CU_ASSERT_EQUAL(prog_check(&p, &err), files[i].error == NULL);
		CU_ASSERT_EQUAL(err.kind, files[i].kind);
		const char *start =
			arena_printf(&a, "%s%s", path, files[i].error ? files[i].error : "");
		bool same = !files[i].error || strncmp(err.text, start, strlen(start)) == 0;
		CU_ASSERT_TRUE(same);
		if (!same)
			printf("%s\n", err.text);
		arena_free(&a);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"reads what is written", reads_what_is_written},
		{"more of the form", more_of_the_form},
		{"errors have a place", errors_have_a_place},
		{"cut at every byte", cut_at_every_byte},
		{"mutated texts do no harm", mutated_texts_do_no_harm},
		{"random progs round-trip", random_progs_round_trip},
		{"groups are arithmetic", groups_are_arithmetic},
		{"malformed progs are refused", malformed_progs_are_refused},
		{"counts that differ are explained", counts_that_differ_are_explained},
		{"trace files", trace_files},
		CU_TEST_INFO_NULL,
	};
	return suite_run("prog", tests);
}
