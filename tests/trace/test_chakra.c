#include "et.h"

static const struct trace_options plain = {0};

static const struct prog_task *find_task(const struct prog *p, uint32_t rank, const char *label)
{
	const struct prog_role *r = &p->roles[prog_role_of(p, rank)];
	for (uint32_t i = 0; i < r->n_tasks; i++)
		if (r->tasks[i].label && strcmp(r->tasks[i].label, label) == 0)
			return &r->tasks[i];
	printf("no task '%s'\n", label);
	CU_FAIL_FATAL("no such task");
	abort();
}

static uint32_t index_of(const struct prog *p, uint32_t rank, const char *label)
{
	return (uint32_t)(find_task(p, rank, label) - p->roles[prog_role_of(p, rank)].tasks);
}

/* Whatever member of the union a number comes in, it is that number. */
static void every_width_is_read(void)
{
	static const uint32_t widths[] = {3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 29};
	for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
		struct arena a = {0};
		struct err err;
		struct trace t;
		struct et_folder f = new_folder();
		for (unsigned r = 0; r < 2; r++) {
			struct text et = new_et(), n = new_node(4, "c", COLL, -1, -1);
			put_attribute(&n, "comm_type", widths[w], REDUCE_SCATTER);
			put_attribute(&n, "comm_size", widths[w], 1 << 20);
			put_attribute(&n, "is_cpu_op", widths[w], 0);
			put_node(&et, n);
			save_rank(&f, r, et);
		}
		CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &plain, &t, &err));
		const struct prog_task *c = find_task(&t.prog, 1, "c");
		CU_ASSERT_EQUAL(c->kind, TASK_COLL);
		CU_ASSERT_EQUAL(c->coll, COLL_REDUCESCATTER);
		CU_ASSERT_EQUAL(c->bytes, 1 << 20);
		CU_ASSERT_TRUE(prog_check(&t.prog, &err));
		CU_ASSERT_EQUAL(t.n_warnings, 0);
		remove_folder(&f);
		arena_free(&a);
	}
}

/* An all-gather's size is that of one rank's part; barriers have none. */
static void sizes_follow_the_kind(void)
{
	static const struct {
		int64_t type;
		enum coll_kind kind;
		uint64_t bytes;
	} want[] = {{0, COLL_ALLREDUCE, 300}, {1, COLL_REDUCE, 300}, {2, COLL_ALLGATHER, 900},
		{3, COLL_GATHER, 900}, {4, COLL_SCATTER, 300}, {5, COLL_BROADCAST, 300},
		{6, COLL_ALLTOALL, 300}, {7, COLL_REDUCESCATTER, 300}, {8, COLL_REDUCESCATTER, 300},
		{9, COLL_BARRIER, 0}};
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = new_folder();
	for (unsigned r = 0; r < 3; r++) {
		struct text et = new_et();
		for (size_t i = 0; i < 10; i++)
			put_coll(&et, 10 + i, want[i].type, 300, i % 2 ? "0" : NULL, -1);
		save_rank(&f, r, et);
	}
	for (uint32_t elem = 1; elem <= 4; elem *= 2) {
		struct trace_options o = {.elem_bytes = elem};
		CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &o, &t, &err));
		CU_ASSERT_TRUE(prog_check(&t.prog, &err));
		CU_ASSERT_EQUAL(t.n_nodes, 30);
		for (size_t i = 0; i < 10; i++) {
			const struct prog_task *c =
				find_task(&t.prog, 2, arena_printf(&a, "coll%zu", 10 + i));
			CU_ASSERT_EQUAL(c->coll, want[i].kind);
			CU_ASSERT_EQUAL(c->bytes, want[i].bytes * elem);
		}
	}
	remove_folder(&f);
	arena_free(&a);
}

static void save_group_set(const struct et_folder *f, const char *group)
{
	for (unsigned r = 0; r < 4; r++) {
		struct text et = new_et();
		put_coll(&et, 1, ALL_REDUCE, 64, NULL, -1);
		if (r % 2)
			put_coll(&et, 2, ALL_REDUCE, 64, group, 1);
		save_rank(f, r, et);
	}
}

static void check_odd_ranks(const struct et_folder *f)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	uint32_t ranks[4];
	bool ok = read_folder(&a, f, &plain, &t, &err);
	if (!ok)
		printf("%s\n", err.text);
	CU_ASSERT_TRUE_FATAL(ok);
	CU_ASSERT_TRUE(prog_check(&t.prog, &err));
	uint32_t g = find_task(&t.prog, 3, "coll2")->group;
	CU_ASSERT_EQUAL(prog_group_size(&t.prog, g), 2);
	CU_ASSERT_EQUAL(prog_group_members(&t.prog, g, 3, ranks), 1);
	CU_ASSERT_EQUAL(ranks[0], 1);
	CU_ASSERT_EQUAL(ranks[1], 3);
	arena_free(&a);
}

static void groups_come_from_files_and_nodes(void)
{
	struct et_folder f = new_folder();
	struct arena a = {0};
	struct err err;
	struct trace t;
	save_group_set(&f, "5");
	CU_ASSERT_FALSE(read_folder(&a, &f, &plain, &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_INPUT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "t.1.et: node 2 'coll2': group '5' is not known"));
	const char lists[] = "{\"4\": [0, 2], \"5\": [3, 1]}";
	save(&f, "t.json", lists, sizeof(lists) - 1);
	check_odd_ranks(&f);
	const char wrong[] = "{\"5\": [3, 9]}";
	save(&f, "t.json", wrong, sizeof(wrong) - 1);
	CU_ASSERT_FALSE(read_folder(&a, &f, &plain, &t, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "t.json:1:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "rank 9"));
	remove_folder(&f);
	arena_free(&a);
	f = new_folder();
	save_group_set(&f, "5");
	struct text et = new_et(), info = {0};
	struct text n = new_node(8, "## process_group:init ##", METADATA, -1, -1);
	put_text(&info, 1, "['[{\"pg_name\": \"5\", \"ranks\": [1, 3]}]']");
	put_bytes(&n, 8, info.data, info.n);
	text_free(&info);
	put_node(&et, n);
	put_coll(&et, 1, ALL_REDUCE, 64, NULL, 8);
	save_rank(&f, 0, et);
	check_odd_ranks(&f);
	remove_folder(&f);
}

static void messages_find_their_ends(void)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = new_folder();
	struct text zero = new_et(), one = new_et();
	put_comp(&zero, 1, 5, -1, -1);
	put_message(&zero, 2, SEND, 1, 1000, 1);
	put_message(&one, 1, RECV, 0, 1000, -1);
	put_comp(&one, 2, 9, 1, -1);
	save_rank(&f, 0, zero);
	save_rank(&f, 1, one);
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &plain, &t, &err));
	CU_ASSERT_TRUE(prog_check(&t.prog, &err));
	const struct prog_task *send = find_task(&t.prog, 0, "send2");
	const struct prog_task *recv = find_task(&t.prog, 1, "recv1");
	CU_ASSERT_EQUAL(send->peer.rank, 1);
	CU_ASSERT_EQUAL(recv->peer.rank, 0);
	CU_ASSERT_STRING_EQUAL(send->tag, recv->tag);
	CU_ASSERT_EQUAL(send->bytes, 1000);
	CU_ASSERT_EQUAL(send->n_after, 1);
	CU_ASSERT_EQUAL(send->after[0], index_of(&t.prog, 0, "comp1"));
	CU_ASSERT_EQUAL(find_task(&t.prog, 1, "comp2")->duration, UINT64_C(9000000));
	CU_ASSERT_TRUE(send->stream >= TRACE_FIRST_COMM_STREAM);
	remove_folder(&f);
	arena_free(&a);
}

/* A first stage does its second forward pass before the gradient of the first one comes back,
 * although the ids say otherwise. */
static void devices_do_what_is_ready(void)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = new_folder();
	struct text zero = new_et(), one = new_et();
	for (unsigned m = 0; m < 2; m++) {
		put_comp(&zero, 10 * m + 1, 5, -1, -1);
		put_message(&zero, 10 * m + 2, SEND, 1, 1000 + m, 10 * m + 1);
		put_message(&zero, 10 * m + 3, RECV, 1, 1000 + m, -1);
		put_comp(&zero, 10 * m + 4, 7, 10 * m + 3, 10 * m + 1);
		put_message(&one, 10 * m + 1, RECV, 0, 1000 + m, -1);
		put_comp(&one, 10 * m + 2, 6, 10 * m + 1, -1);
		put_message(&one, 10 * m + 3, SEND, 0, 1000 + m, 10 * m + 2);
	}
	save_rank(&f, 0, zero);
	save_rank(&f, 1, one);
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &plain, &t, &err));
	CU_ASSERT_TRUE(prog_check(&t.prog, &err));
	static const char *const order[] = {"comp1", "comp11", "comp4", "comp14"};
	for (int i = 1; i < 4; i++)
		CU_ASSERT_TRUE(index_of(&t.prog, 0, order[i - 1]) < index_of(&t.prog, 0, order[i]));
	remove_folder(&f);
	arena_free(&a);
}

static void metadata_hands_dependencies_on(void)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = new_folder();
	struct text et = new_et();
	put_comp(&et, 1, 5, -1, -1);
	put_node(&et, new_node(2, "note", METADATA, 1, -1));
	put_node(&et, new_node(3, "note", METADATA, 2, 1));
	put_comp(&et, 4, 5, 3, -1);
	save_rank(&f, 0, et);
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &plain, &t, &err));
	CU_ASSERT_EQUAL(t.prog.roles[0].n_tasks, 2);
	CU_ASSERT_EQUAL(t.prog.roles[0].tasks[1].n_after, 1);
	CU_ASSERT_EQUAL(t.prog.roles[0].tasks[1].after[0], 0);
	remove_folder(&f);
	arena_free(&a);
}

/* 4e12 operations at 2e12/s against 1e12 bytes at 1e11/s: ten seconds; without rates a warning. */
static void work_is_timed_by_a_roofline(void)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = new_folder();
	struct text et = new_et(), n = new_node(1, "op", COMP, -1, -1);
	put_attribute(&n, "num_ops", AS_INT64, INT64_C(4000000000000));
	put_attribute(&n, "tensor_size", AS_UINT64, INT64_C(500000000000));
	put_node(&et, n);
	n = new_node(2, "load", MEM_LOAD, -1, -1);
	put_attribute(&n, "tensor_size", AS_UINT64, 100);
	put_node(&et, n);
	save_rank(&f, 0, et);
	struct trace_options o = {.elem_bytes = 2,
		.ops_per_s = UINT64_C(2000000000000),
		.bytes_per_s = UINT64_C(100000000000)};
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &o, &t, &err));
	CU_ASSERT_EQUAL(find_task(&t.prog, 0, "op")->duration, 10 * TICKS_PER_S);
	CU_ASSERT_EQUAL(find_task(&t.prog, 0, "load")->duration, 2000);
	CU_ASSERT_EQUAL(find_task(&t.prog, 0, "load")->stream, TRACE_MEMORY_STREAM);
	CU_ASSERT_EQUAL(t.n_warnings, 0);
	o.bytes_per_s = 0;
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &o, &t, &err));
	CU_ASSERT_EQUAL(find_task(&t.prog, 0, "op")->duration, 2 * TICKS_PER_S);
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &plain, &t, &err));
	CU_ASSERT_EQUAL(find_task(&t.prog, 0, "op")->duration, 0);
	CU_ASSERT_EQUAL_FATAL(t.n_warnings, 1);
	CU_ASSERT_STRING_EQUAL(t.warnings[0].code, "untimed_operation");
	CU_ASSERT_EQUAL(t.warnings[0].count, 2);
	remove_folder(&f);
	arena_free(&a);
}

/* Gzip, tar, files given one by one: the same prog. */
static void sets_come_in_many_forms(void)
{
	struct arena a = {0};
	struct err err;
	struct trace t;
	struct et_folder f = new_folder();
	struct text texts[3] = {{0}};
	char command[256];
	for (unsigned r = 0; r < 3; r++) {
		struct text et = new_et();
		put_coll(&et, 1, ALL_REDUCE, 64, NULL, -1);
		put_comp(&et, 2, 1 + r, 1, -1);
		save_rank(&f, r, et);
	}
	const char *paths[3] = {arena_printf(&a, "%s/t.2.et", f.path),
		arena_printf(&a, "%s/t.0.et", f.path), arena_printf(&a, "%s/t.1.et.gz", f.path)};
	CU_ASSERT_TRUE_FATAL(read_folder(&a, &f, &plain, &t, &err));
	prog_write(&t.prog, &texts[0]);
	snprintf(command, sizeof(command),
		"cd %s && gzip t.1.et && tar cf set.tar --transform 's:^:deep/:' t.0.et t.2.et && "
		"gunzip -k t.1.et.gz && tar rf set.tar --transform 's:^:deep/:' t.1.et && rm "
		"t.1.et",
		f.path);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	CU_ASSERT_TRUE_FATAL(trace_read(&a, paths, 3, &plain, &t, &err));
	prog_write(&t.prog, &texts[1]);
	const char *tar = arena_printf(&a, "%s/set.tar", f.path);
	CU_ASSERT_TRUE_FATAL(trace_read(&a, &tar, 1, &plain, &t, &err));
	prog_write(&t.prog, &texts[2]);
	CU_ASSERT_TRUE(strstr(texts[0].data, "allreduce") != NULL);
	CU_ASSERT_STRING_EQUAL(texts[0].data, texts[1].data);
	CU_ASSERT_STRING_EQUAL(texts[0].data, texts[2].data);
	for (int i = 0; i < 3; i++)
		text_free(&texts[i]);
	remove_folder(&f);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {{"every width is read", every_width_is_read},
		{"sizes follow the kind", sizes_follow_the_kind},
		{"groups come from files and nodes", groups_come_from_files_and_nodes},
		{"messages find their ends", messages_find_their_ends},
		{"devices do what is ready", devices_do_what_is_ready},
		{"metadata hands dependencies on", metadata_hands_dependencies_on},
		{"work is timed by a roofline", work_is_timed_by_a_roofline},
		{"sets come in many forms", sets_come_in_many_forms}, CU_TEST_INFO_NULL};
	return suite_run("chakra", tests);
}
