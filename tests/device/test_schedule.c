/* Properties of schedules of random graphs. */
#include <string.h>

#include "device/device.h"
#include "make.h"
#include "suite.h"

enum { N_GRAPHS = 150 };

static const struct device_options options = {
	.link = {.ranks = 4, .bytes_per_s = 1000000000000, .latency = 300}};

struct case_run {
	struct arena a;
	struct arch arch;
	struct graph g;
	struct graph_part ops;
	struct device_result r;
};

static void make_case(struct case_run *c, struct rng *rng)
{
	*c = (struct case_run){.arch = make_arch()};
	c->arch.tc_count = 1 + (uint32_t)rng_below(rng, 4);
	c->arch.vc_count = 1 + (uint32_t)rng_below(rng, 4);
	c->arch.launch_overhead = rng_below(rng, 2) * 3000;
	c->arch.hbm_latency = rng_below(rng, 2) * 700;
	c->arch.hbm_efficiency = 0.1 + 0.9 * rng_unit(rng);
	c->g = make_random_graph(&c->a, rng, 1 + (uint32_t)rng_below(rng, 120));
	c->ops = make_part(&c->a, &c->g, c->g.n_ops);
	device_run(&c->a, &c->arch, &c->ops, &options, &c->r);
}

static void each_case(uint64_t seed, void (*check)(struct case_run *c))
{
	struct rng rng;
	rng_init(&rng, seed);
	for (int i = 0; i < N_GRAPHS; i++) {
		struct case_run c;
		make_case(&c, &rng);
		check(&c);
		arena_free(&c.a);
	}
}

static void check_bounds(struct case_run *c)
{
	const struct device_result *r = &c->r;
	CU_ASSERT_TRUE(r->makespan >= r->critical_path);
	CU_ASSERT_TRUE(r->makespan >= ticks_ceil(r->dram_bytes, arch_dram_bytes_per_s(&c->arch)));
	CU_ASSERT_TRUE(r->makespan >= r->tc_busy / c->arch.tc_count);
	CU_ASSERT_TRUE(r->makespan >= r->vc_busy / c->arch.vc_count);
	CU_ASSERT_TRUE(r->makespan >= r->link_busy);
	uint64_t peak = (uint64_t)(arch_peak_macs_per_s(&c->arch) * 1.0);
	CU_ASSERT_TRUE(r->makespan >= ticks_ceil(r->macs, peak));
}

/* Counts and joules of the whole are those of its operators, and idle power. */
static void check_sums(struct case_run *c)
{
	const struct device_result *r = &c->r;
	uint64_t macs = 0, bytes = 0, wanted = 0;
	double joules = arch_idle_w(&c->arch) * ticks_to_s(r->makespan);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct work *w = &c->g.ops[i].work;
		if (w->core == CORE_TC || w->core == CORE_TC_VC)
			wanted += w->batch * w->m * w->n * w->k;
		macs += r->costs[i].macs;
		bytes += r->costs[i].dram_read_bytes + r->costs[i].dram_write_bytes;
		joules += arch_op_energy_j(&c->arch, &r->costs[i]);
	}
	CU_ASSERT_EQUAL(r->macs, macs);
	CU_ASSERT_EQUAL(r->macs, wanted);
	CU_ASSERT_EQUAL(r->dram_bytes, bytes);
	CU_ASSERT_DOUBLE_EQUAL(r->energy_j, joules, 1e-9 * joules);
}

static void sums_add_up(void)
{
	each_case(8, check_sums);
}

static void bounds_hold(void)
{
	each_case(1, check_bounds);
}

static void check_order(struct case_run *c)
{
	tick last = 0;
	struct op_timing *t = arena_array(&c->a, c->g.n_ops, struct op_timing);
	device_annotate(&c->a, &c->arch, &c->ops, &options, t);
	for (uint32_t i = 0; i < c->g.n_ops; i++) {
		const struct op_run *run = &c->r.runs[i];
		tick ready = 0;
		for (uint32_t p = 0; p < c->g.ops[i].n_preds; p++) {
			tick end = c->r.runs[c->g.ops[i].preds[p]].end;
			ready = end > ready ? end : ready;
		}
		CU_ASSERT_EQUAL(run->ready, ready);
		CU_ASSERT_TRUE(run->start >= ready);
		CU_ASSERT_EQUAL(run->conflict, run->start > ready);
		CU_ASSERT_TRUE(run->end - run->start >= t[i].duration);
		CU_ASSERT_TRUE(run->start >= t[i].asap);
		last = run->end > last ? run->end : last;
	}
	CU_ASSERT_EQUAL(c->r.makespan, last);
}

static void predecessors_come_first(void)
{
	each_case(2, check_order);
}

static bool together(const struct op_run *x, const struct op_run *y)
{
	return x->start < y->end && y->start < x->end;
}

static void check_cores(struct case_run *c)
{
	int clashes = 0, wrong_core = 0;
	for (uint32_t i = 0; i < c->g.n_ops; i++) {
		const struct op_run *x = &c->r.runs[i];
		enum core core = c->g.ops[i].work.core;
		bool tc = core == CORE_TC || core == CORE_TC_VC;
		bool vc = core == CORE_VC || core == CORE_TC_VC;
		wrong_core += tc ? x->tc >= c->arch.tc_count : x->tc != UINT32_MAX;
		wrong_core += vc ? x->vc >= c->arch.vc_count : x->vc != UINT32_MAX;
		for (uint32_t j = 0; j < i; j++) {
			const struct op_run *y = &c->r.runs[j];
			if (!together(x, y))
				continue;
			clashes += tc && x->tc == y->tc;
			clashes += vc && x->vc == y->vc;
			clashes += core == CORE_LINK && c->g.ops[j].work.core == CORE_LINK;
		}
	}
	CU_ASSERT_EQUAL(clashes, 0);
	CU_ASSERT_EQUAL(wrong_core, 0);
}

static void cores_hold_one_operator(void)
{
	each_case(3, check_cores);
}

/* No ready operator waits beside a free core of its kind: while one waits, all of them are busy. */
static void check_work_conserving(struct case_run *c)
{
	for (uint32_t i = 0; i < c->g.n_ops; i++) {
		const struct op_run *x = &c->r.runs[i];
		enum core core = c->g.ops[i].work.core;
		if (x->start == x->ready || (core != CORE_TC && core != CORE_VC))
			continue;
		uint32_t busy = 0;
		for (uint32_t j = 0; j < c->g.n_ops; j++) {
			const struct op_run *y = &c->r.runs[j];
			uint32_t held = core == CORE_TC ? y->tc : y->vc;
			busy += held != UINT32_MAX && y->start <= x->ready && y->end > x->ready;
		}
		uint32_t cores = core == CORE_TC ? c->arch.tc_count : c->arch.vc_count;
		CU_ASSERT_EQUAL(busy, cores);
	}
}

static void free_cores_take_ready_operators(void)
{
	each_case(4, check_work_conserving);
}

static void check_same(struct case_run *c)
{
	struct device_result again;
	device_run(&c->a, &c->arch, &c->ops, &options, &again);
	CU_ASSERT_EQUAL(again.makespan, c->r.makespan);
	CU_ASSERT_EQUAL(memcmp(again.runs, c->r.runs, c->g.n_ops * sizeof(again.runs[0])), 0);

	struct arch one = c->arch;
	one.tc_count = one.vc_count = 1;
	struct device_part *part = device_prepare(&c->a, &one, &c->ops, &options);
	device_run_part(&c->a, part, c->arch.tc_count, c->arch.vc_count, &again);
	CU_ASSERT_EQUAL(again.makespan, c->r.makespan);
	CU_ASSERT_EQUAL(again.tc_busy, c->r.tc_busy);
	CU_ASSERT_EQUAL(again.vc_busy, c->r.vc_busy);
	CU_ASSERT_EQUAL(again.dram_bytes, c->r.dram_bytes);
	CU_ASSERT_EQUAL(memcmp(&again.energy_j, &c->r.energy_j, sizeof(double)), 0);
	CU_ASSERT_EQUAL(memcmp(again.runs, c->r.runs, c->g.n_ops * sizeof(again.runs[0])), 0);
}

static void runs_are_the_same(void)
{
	each_case(5, check_same);
}

/* With a core for everybody and memory for everybody the makespan is the critical path. */
static void check_unlimited(struct case_run *c)
{
	for (uint32_t i = 0; i < c->g.n_ops; i++) {
		if (c->g.ops[i].work.core == CORE_LINK)
			c->g.ops[i].work = (struct work){.core = CORE_NONE};
	}
	c->arch.hbm_bytes_per_s *= 1000;
	c->arch.tc_count = c->arch.vc_count = c->g.n_ops;
	device_run(&c->a, &c->arch, &c->ops, &options, &c->r);
	CU_ASSERT_EQUAL(c->r.makespan, c->r.critical_path);
}

static void unlimited_is_the_critical_path(void)
{
	each_case(6, check_unlimited);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"bounds hold", bounds_hold},
		{"sums add up", sums_add_up},
		{"predecessors come first", predecessors_come_first},
		{"cores hold one operator", cores_hold_one_operator},
		{"free cores take ready operators", free_cores_take_ready_operators},
		{"runs are the same", runs_are_the_same},
		{"unlimited is the critical path", unlimited_is_the_critical_path},
		CU_TEST_INFO_NULL,
	};
	return suite_run("device schedule", tests);
}
