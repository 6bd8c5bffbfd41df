/* Recordings with something wrong: which error, with which names, or which repair. */
#include "et.h"

static const struct trace_options plain = {0}, lenient = {.lenient = true};

/* Reads the folder, which is removed. */
static void check_refused(struct et_folder *f, const struct trace_options *o, const char *text)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	bool ok = read_folder(&a, f, o, &t, &err);
	CU_ASSERT_FALSE(ok);
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	if (!strstr(err.text, text))
		printf("\nexpected '%s'\n     got '%s'\n", text, err.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, text));
	remove_folder(f);
	arena_free(&a);
}

/* Reads well, but the check of the prog says why it cannot end. */
static void check_answer(struct et_folder *f, const char *one, const char *other)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	bool ok = read_folder(&a, f, &plain, &t, &err);
	if (!ok)
		printf("%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	CU_ASSERT_FALSE(prog_check(&t.prog, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_ANSWER);
	if (!strstr(err.text, one) || !strstr(err.text, other))
		printf("\n%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, one));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, other));
	remove_folder(f);
	arena_free(&a);
}

static void a_receive_without_a_send(void)
{
	struct et_folder f = new_folder();
	struct text zero = new_et(), one = new_et();
	put_comp(&zero, 1, 3, -1, -1);
	put_message(&one, 5, RECV, 0, 100, -1);
	put_comp(&one, 6, 3, 5, -1);
	save_rank(&f, 0, zero);
	save_rank(&f, 1, one);
	check_answer(&f, "t.1.et", "recv5");
}

static void a_collective_that_one_rank_never_enters(void)
{
	struct et_folder f = new_folder();
	struct text zero = new_et(), one = new_et();
	put_coll(&zero, 1, ALL_REDUCE, 100, NULL, -1);
	put_coll(&zero, 2, ALL_REDUCE, 100, NULL, 1);
	put_coll(&one, 1, ALL_REDUCE, 100, NULL, -1);
	save_rank(&f, 0, zero);
	save_rank(&f, 1, one);
	check_answer(&f, "coll2", "rank 1");
}

static void collectives_that_differ(void)
{
	struct et_folder f = new_folder();
	for (unsigned r = 0; r < 2; r++) {
		struct text et = new_et();
		put_coll(&et, 1, r ? ALL_REDUCE : ALL_TO_ALL, 100, NULL, -1);
		save_rank(&f, r, et);
	}
	check_answer(&f, "t.0.et", "t.1.et");
	f = new_folder();
	for (unsigned r = 0; r < 2; r++) {
		struct text et = new_et();
		put_coll(&et, 1, ALL_TO_ALL, 100 + r, NULL, -1);
		save_rank(&f, r, et);
	}
	struct arena a = {0};
	struct err err;
	struct trace t;
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &lenient, &t, &err));
	CU_ASSERT_TRUE(prog_check(&t.prog, &err));
	CU_ASSERT_EQUAL(t.prog.roles[0].tasks[0].bytes, 101);
	CU_ASSERT_STRING_EQUAL(t.warnings[0].code, "uneven_collective");
	arena_free(&a);
	check_answer(&f, "t.0.et", "t.1.et");
}

static struct et_folder cyclic_set(uint32_t closing_field)
{
	struct et_folder f = new_folder();
	struct text et = new_et(), n;
	put_comp(&et, 1, 3, -1, -1);
	n = new_node(2, "first", COMP, 1, -1);
	put_number(&n, closing_field, 4);
	put_node(&et, n);
	put_node(&et, new_node(3, "second", COMP, 2, -1));
	put_node(&et, new_node(4, "third", COMP, 3, -1));
	put_node(&et, new_node(5, "behind", COMP, 4, -1));
	save_rank(&f, 0, et);
	return f;
}

static void cycles(void)
{
	enum { CTRL = 4, DATA = 5 };
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = cyclic_set(DATA);
	check_refused(&f, &plain, "'first'");
	f = cyclic_set(DATA);
	check_refused(&f, &lenient, "'second'");
	f = cyclic_set(CTRL);
	check_refused(&f, &plain, "--lenient leaves out control dependencies");
	f = cyclic_set(CTRL);
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &lenient, &t, &err));
	CU_ASSERT_TRUE(prog_check(&t.prog, &err));
	CU_ASSERT_EQUAL_FATAL(t.n_warnings, 1);
	CU_ASSERT_STRING_EQUAL(t.warnings[0].code, "cyclic_control_dependency");
	CU_ASSERT_EQUAL(t.warnings[0].count, 1);
	remove_folder(&f);
	arena_free(&a);
}

static void dangling_dependencies_are_counted(void)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = new_folder();
	struct text et = new_et();
	put_comp(&et, 1, 3, 77, -1);
	put_comp(&et, 2, 3, 1, 78);
	save_rank(&f, 0, et);
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &plain, &t, &err));
	CU_ASSERT_EQUAL_FATAL(t.n_warnings, 1);
	CU_ASSERT_STRING_EQUAL(t.warnings[0].code, "dangling_dependency");
	CU_ASSERT_EQUAL(t.warnings[0].count, 2);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(t.warnings[0].first, "t.0.et: node 1 'comp1' depends on node 77"));
	CU_ASSERT_EQUAL(t.prog.roles[0].tasks[1].n_after, 1);
	remove_folder(&f);
	arena_free(&a);
}

static void save_one(struct et_folder *f, struct text node)
{
	struct text et = new_et();
	*f = new_folder();
	put_node(&et, node);
	save_rank(f, 0, et);
}

static void nodes_that_cannot_be_replayed(void)
{
	struct et_folder f;
	struct text n = new_node(3, "lost", SEND, -1, -1);
	put_attribute(&n, "comm_size", AS_INT64, 8);
	save_one(&f, n);
	check_refused(&f, &plain, "t.0.et: node 3 'lost': a send without comm_dst");
	n = new_node(3, "far", SEND, -1, -1);
	put_attribute(&n, "comm_size", AS_INT64, 8);
	put_attribute(&n, "comm_dst", AS_INT32, 4);
	save_one(&f, n);
	check_refused(&f, &plain, "node 3 'far': sends to rank 4, the set has ranks 0 to 0");
	n = new_node(3, "negative", COLL, -1, -1);
	put_attribute(&n, "comm_type", AS_INT64, 0);
	put_attribute(&n, "comm_size", AS_INT64, -8);
	save_one(&f, n);
	check_refused(&f, &plain, "'negative': a size below 0");
	n = new_node(3, "odd", COLL, -1, -1);
	put_attribute(&n, "comm_type", AS_INT64, 10);
	put_attribute(&n, "comm_size", AS_INT64, 8);
	save_one(&f, n);
	check_refused(&f, &plain, "'odd': a collective without a comm_type of 0 to 9");
	n = new_node(3, "none", COLL, -1, -1);
	put_attribute(&n, "comm_type", AS_INT64, 0);
	save_one(&f, n);
	check_refused(&f, &plain, "'none': communication without comm_size");
	n = new_node(3, "huge", COLL, -1, -1);
	put_attribute(&n, "comm_type", AS_INT64, 0);
	put_attribute(&n, "comm_size", AS_INT64, INT64_MAX);
	save_one(&f, n);
	check_refused(&f, &plain, "'huge': comm_size is more than 64 TiB");
	n = new_node(3, "text", COLL, -1, -1);
	put_string(&n, "comm_size", "much");
	save_one(&f, n);
	check_refused(&f, &plain, "attribute 'comm_size' is not a whole number");
	n = new_node(3, "long", COMP, -1, -1);
	put_number(&n, 7, UINT64_MAX);
	save_one(&f, n);
	check_refused(&f, &plain, "'long': duration_micros is more than 1e12");
	save_one(&f, new_node(3, "strange", 11, -1, -1));
	check_refused(&f, &plain, "'strange': a node of no known type");
}

static void sets_that_are_none(void)
{
	struct et_folder f = new_folder();
	check_refused(&f, &plain, "no recording in this directory");
	f = new_folder();
	save_rank(&f, 0, new_et());
	save_rank(&f, 2, new_et());
	check_refused(&f, &plain, "rank 1 of the set is missing");
	f = new_folder();
	save_rank(&f, 0, new_et());
	save_rank(&f, 1, new_et());
	save(&f, "u.2.et", "\0", 1);
	check_refused(&f, &plain, "are of different sets");
	f = new_folder();
	struct text et = new_et();
	put_comp(&et, 4, 1, -1, -1);
	put_comp(&et, 4, 1, -1, -1);
	save_rank(&f, 0, et);
	check_refused(&f, &plain, "two nodes have the id 4");
	f = new_folder();
	save(&f, "u.0.et", "\5abc", 4);
	check_refused(&f, &plain, "cut off in its first record");
}

static struct text good_file(void)
{
	struct text et = new_et();
	put_comp(&et, 1, 300, -1, -1);
	put_coll(&et, 2, ALL_GATHER, 100000, "0", 1);
	put_message(&et, 3, SEND, 0, 1000, 2);
	put_message(&et, 4, RECV, 0, 1000, 2);
	put_comp(&et, 5, 1, 3, 4);
	return et;
}

/* Reads a file of one rank from memory through the format's own reader. */
static bool read_memory(const char *data, size_t n, const struct trace_options *o, struct err *err)
{
	struct arena a = {0};
	struct trace t = {0};
	struct trace_file file = {.path = "t.0.et", .name = "t.0.et", .content = {data, n}};
	struct trace_input in = {.files = &file, .n_files = 1};
	*err = (struct err){0};
	bool ok = trace_formats[0]->read(&a, &in, o, &t, err);
	if (ok)
		prog_check(&t.prog, err);
	arena_free(&a);
	return ok;
}

/* Cut between two records it is a shorter trace, anywhere else an error. */
static void cut_off_anywhere(void)
{
	struct text et = good_file();
	struct err err;
	uint32_t n_read = 0;
	CU_ASSERT_STRING_EQUAL(trace_formats[0]->name, "chakra");
	for (size_t n = 0; n <= et.n; n++) {
		bool ok = read_memory(et.data, n, &plain, &err);
		n_read += ok;
		if (!ok)
			CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	}
	CU_ASSERT_EQUAL(n_read, 6);
	text_free(&et);
}

/* A generator of its own, so that the bytes are the same for ever. */
static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

static void bytes_that_change(void)
{
	struct text et = good_file();
	uint64_t state = 7;
	uint32_t n_read = 0;
	struct err err;
	char *copy = malloc(et.n);
	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	for (uint32_t i = 0; i < 20000; i++) {
		memcpy(copy, et.data, et.n);
		for (uint32_t k = 0; k <= i % 3; k++)
			copy[next_random(&state) % et.n] = (char)next_random(&state);
		bool ok = read_memory(copy, et.n, i % 2 ? &lenient : &plain, &err);
		n_read += ok;
		if (!ok)
			CU_ASSERT_TRUE(err.kind == ERR_INPUT && err.text[0] != '\0');
	}
	CU_ASSERT_TRUE(n_read > 100 && n_read < 20000);
	free(copy);
	text_free(&et);
}

static void archives_that_are_cut(void)
{
	struct et_folder f = new_folder();
	char command[256], path[128];
	const char *paths[] = {path};
	struct arena a = {0};
	struct err err = {0};
	struct trace t;
	save_rank(&f, 0, good_file());
	snprintf(command, sizeof(command),
		"cd %s && tar cf s.tar t.0.et && head -c 900 s.tar > c.tar", f.path);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	snprintf(path, sizeof(path), "%s/c.tar", f.path);
	struct bytes whole;
	CU_ASSERT_TRUE_FATAL(file_read(&a, path, &whole, &err));
	for (size_t n = 512; n < 900; n += 7) {
		save(&f, "c.tar", whole.data, n);
		CU_ASSERT_FALSE(trace_read(&a, paths, 1, &plain, &t, &err));
		CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	}
	remove_folder(&f);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"a receive without a send", a_receive_without_a_send},
		{"a collective that one rank never enters",
			a_collective_that_one_rank_never_enters},
		{"collectives that differ", collectives_that_differ}, {"cycles", cycles},
		{"dangling dependencies are counted", dangling_dependencies_are_counted},
		{"nodes that cannot be replayed", nodes_that_cannot_be_replayed},
		{"sets that are none", sets_that_are_none}, {"cut off anywhere", cut_off_anywhere},
		{"bytes that change", bytes_that_change},
		{"archives that are cut", archives_that_are_cut}, CU_TEST_INFO_NULL};
	return suite_run("chakra, bad", tests);
}
