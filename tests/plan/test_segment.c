#include "plan/internal.h"
#include "setup.h"

/* A backward pass by hand, tc = computes, ar = collective:
 *
 *     0 dX --> 1 ar --> 3 dX --> 4 ar --> 6 dX
 *     0 dX --> 2 dW              3 dX --> 5 dW    1 ar --> 7 dW --> 8 dX (needs a weight gradient)
 *                            5 dW --> 9 dW (sums it) */
struct node {
	enum core core;
	enum op_pass pass;
	op_id preds[2];
	uint32_t n_preds;
};

static const struct node nodes[] = {
	{CORE_TC, PASS_BACKWARD_DATA, {0, 0}, 0},
	{CORE_LINK, PASS_BACKWARD_DATA, {0, 0}, 1},
	{CORE_TC, PASS_BACKWARD_WEIGHT, {0, 0}, 1},
	{CORE_TC, PASS_BACKWARD_DATA, {1, 0}, 1},
	{CORE_LINK, PASS_BACKWARD_DATA, {3, 0}, 1},
	{CORE_TC, PASS_BACKWARD_WEIGHT, {3, 0}, 1},
	{CORE_TC, PASS_BACKWARD_DATA, {4, 0}, 1},
	{CORE_TC, PASS_BACKWARD_WEIGHT, {1, 0}, 1},
	{CORE_VC, PASS_BACKWARD_DATA, {7, 0}, 1},
	{CORE_VC, PASS_BACKWARD_WEIGHT, {5, 0}, 1},
};

enum { N_NODES = sizeof(nodes) / sizeof(nodes[0]) };

static struct graph hand_graph(struct arena *a)
{
	struct op *ops = arena_array(a, N_NODES, struct op);
	for (uint32_t i = 0; i < N_NODES; i++)
		ops[i] = (struct op){.pass = nodes[i].pass,
			.forward = i,
			.preds = nodes[i].preds,
			.n_preds = nodes[i].n_preds,
			.work.core = nodes[i].core};
	return (struct graph){.name = "hand", .ops = ops, .n_ops = N_NODES, .n_layers = 1, .tp = 2};
}

static void check_ids(const op_id *ids, uint32_t n, const op_id *want, uint32_t n_want)
{
	CU_ASSERT_EQUAL_FATAL(n, n_want);
	CU_ASSERT_EQUAL(memcmp(ids, want, n * sizeof(*ids)), 0);
}

enum { BACKWARD = 1u << PASS_BACKWARD_DATA | 1u << PASS_BACKWARD_WEIGHT };

static void test_cut(void)
{
	struct arena a = {0};
	struct graph g = hand_graph(&a);
	struct pass p = plan_cut(&a, &g, (struct layers){0, 1}, BACKWARD, true);
	CU_ASSERT_EQUAL_FATAL(p.n_segments, 3);
	const struct segment *s = p.segments;
	check_ids(s[0].ids, s[0].n_ids, (op_id[]){0}, 1);
	check_ids(s[0].late, s[0].n_late, (op_id[]){2}, 1);
	check_ids(s[0].links, s[0].n_links, (op_id[]){1}, 1);
	check_ids(s[1].ids, s[1].n_ids, (op_id[]){3, 7, 8}, 3);
	check_ids(s[1].late, s[1].n_late, (op_id[]){5, 9}, 2);
	check_ids(s[1].links, s[1].n_links, (op_id[]){4}, 1);
	check_ids(s[2].ids, s[2].n_ids, (op_id[]){6}, 1);
	CU_ASSERT_EQUAL(s[2].n_late, 0);
	CU_ASSERT_EQUAL(s[2].n_links, 0);
	arena_free(&a);
}

static void test_whole(void)
{
	struct arena a = {0};
	struct graph g = hand_graph(&a);
	struct pass p = plan_cut(&a, &g, (struct layers){0, 1}, BACKWARD, false);
	CU_ASSERT_EQUAL_FATAL(p.n_segments, 1);
	CU_ASSERT_EQUAL(p.segments[0].n_ids, N_NODES);
	CU_ASSERT_EQUAL(p.segments[0].n_late + p.segments[0].n_links, 0);
	p = plan_cut(&a, &g, (struct layers){0, 1}, 1u << PASS_FORWARD, true);
	CU_ASSERT_EQUAL(p.n_segments, 0);
	arena_free(&a);
}

/* A pass that starts with a collective has an empty first segment. */
static void test_leading_link(void)
{
	struct arena a = {0};
	struct graph g = hand_graph(&a);
	g.ops++;
	g.n_ops = 1;
	g.ops[0].n_preds = 0;
	struct pass p = plan_cut(&a, &g, (struct layers){0, 1}, BACKWARD, true);
	CU_ASSERT_EQUAL_FATAL(p.n_segments, 1);
	CU_ASSERT_EQUAL(p.segments[0].n_ids, 0);
	CU_ASSERT_EQUAL(p.segments[0].n_links, 1);
	arena_free(&a);
}

/* Every operator of a real pass stands in one segment, no earlier than what it needs, and weight
 * gradients beside collectives are needed by none but their like. */
static void check_cut(const struct graph *g, const struct pass *p, uint32_t n_want)
{
	struct arena a = {0};
	uint32_t *segment_of = arena_array(&a, g->n_ops, uint32_t), n = 0;
	bool *late = arena_array(&a, g->n_ops, bool);
	for (uint32_t s = 0; s < p->n_segments; s++) {
		const struct segment *x = &p->segments[s];
		for (uint32_t i = 0; i < x->n_ids; i++)
			segment_of[x->ids[i]] = s + 1;
		for (uint32_t i = 0; i < x->n_late; i++)
			segment_of[x->late[i]] = s + 1, late[x->late[i]] = true;
		for (uint32_t i = 0; i < x->n_links; i++)
			segment_of[x->links[i]] = s + 1;
		n += x->n_ids + x->n_late + x->n_links;
		CU_ASSERT_TRUE(x->n_late == 0 || x->n_links > 0);
	}
	CU_ASSERT_EQUAL(n, n_want);
	for (uint32_t i = 0; i < g->n_ops; i++)
		for (uint32_t k = 0; k < g->ops[i].n_preds && segment_of[i]; k++) {
			op_id pred = g->ops[i].preds[k];
			bool link = g->ops[pred].work.core == CORE_LINK;
			CU_ASSERT_TRUE(
				segment_of[pred] + (segment_of[pred] && link) <= segment_of[i]);
			CU_ASSERT_TRUE(!late[pred] || late[i]);
		}
	arena_free(&a);
}

static void check_pass(const struct graph *g, struct layers l, uint32_t mask)
{
	struct arena a = {0};
	op_id *ids = NULL;
	uint32_t n = graph_select(&a, g, l.first, l.end, mask, &ids);
	struct pass p = plan_cut(&a, g, l, mask, true);
	CU_ASSERT_TRUE(p.n_segments >= 2 * (l.end - l.first));
	check_cut(g, &p, n);
	arena_free(&a);
}

static void test_real_passes(void)
{
	struct arena a = {0};
	struct graph_options options = {.batch = 1, .tp = 4};
	for (int fuse = 0; fuse < 2; fuse++) {
		struct graph g = setup_train(
			&a, "models/workloads/bert-large.json", &options, fuse, OPTIMIZER_ADAM);
		for (uint32_t first = 0; first < g.n_layers; first += 7) {
			struct layers l = {first, first + 5 < g.n_layers ? first + 5 : g.n_layers};
			check_pass(&g, l, 1u << PASS_FORWARD);
			check_pass(&g, l, BACKWARD);
		}
	}
	arena_free(&a);
}

static void test_memo(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch *archs = arena_array(&a, 2, struct arch);
	archs[0] = archs[1] = setup_arch(&a);
	struct device_options options = {0};
	struct pricer *p = pricer_create(&a, &g, archs, &options);
	struct stage_request request = {.graph = &g, .layers = {1, 3}};
	struct stage_costs one = stage_price(&a, p, &request);
	CU_ASSERT_EQUAL(pricer_n_runs(p), 3);
	request.layers = (struct layers){3, 5};
	struct stage_costs two = stage_price(&a, p, &request);
	CU_ASSERT_EQUAL(pricer_n_runs(p), 3);
	CU_ASSERT_EQUAL(one.forward.sum.duration, two.forward.sum.duration);
	CU_ASSERT_EQUAL(one.backward.sum.duration, two.backward.sum.duration);
	request.layers = (struct layers){2, 5};
	struct stage_costs three = stage_price(&a, p, &request);
	CU_ASSERT_EQUAL(pricer_n_runs(p), 6);
	CU_ASSERT_TRUE(three.forward.sum.duration > two.forward.sum.duration);
	request.arch = 1;
	stage_price(&a, p, &request);
	CU_ASSERT_EQUAL(pricer_n_runs(p), 9);
	arena_free(&a);
}

/* Same works in another order of dependencies are not the same part. */
static void test_memo_structure(void)
{
	struct arena a = {0};
	struct graph g = setup_tiny(&a, 1);
	struct arch arch = setup_arch(&a);
	arch.tc_count = 2;
	struct device_options options = {0};
	struct pricer *p = pricer_create(&a, &g, &arch, &options);
	struct work w = {.core = CORE_TC, .batch = 1, .m = 512, .n = 512, .k = 512};
	static const op_id pred[] = {0};
	struct op *ops = arena_array(&a, 4, struct op);
	for (int i = 0; i < 4; i++)
		ops[i].work = w;
	ops[1].preds = pred;
	ops[1].n_preds = 1;
	g.ops = ops;
	tick chain = pricer_price(p, 0, (op_id[]){0, 1}, 2).duration;
	tick pair = pricer_price(p, 0, (op_id[]){2, 3}, 2).duration;
	CU_ASSERT_EQUAL(pricer_n_runs(p), 2);
	CU_ASSERT_TRUE(chain > pair);
	CU_ASSERT_EQUAL(pricer_price(p, 0, (op_id[]){1, 2}, 2).duration, pair);
	CU_ASSERT_EQUAL(pricer_n_runs(p), 2);
	arena_free(&a);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"segments by hand", test_cut},
		{"one segment without tensor parallelism", test_whole},
		{"a collective first", test_leading_link},
		{"passes of bert-large", test_real_passes},
		{"equal stages are priced once", test_memo},
		{"other dependencies are priced apart", test_memo_structure},
		CU_TEST_INFO_NULL,
	};
	return suite_run("plan segments", tests);
}
