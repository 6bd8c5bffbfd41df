#include <string.h>

#include "analytic/analytic.h"
#include "base/rng.h"
#include "suite.h"

enum { MAX_STAGES = 8, MAX_MICRO = 24 };

/* The schedules themselves, played task by task: what the closed form has to meet. */
struct player {
	const struct analytic_step *step;
	uint64_t forward_end[MAX_STAGES][MAX_MICRO], backward_end[MAX_STAGES][MAX_MICRO];
	bool forward_done[MAX_STAGES][MAX_MICRO], backward_done[MAX_STAGES][MAX_MICRO];
	uint64_t free_at[MAX_STAGES];
	uint32_t position[MAX_STAGES];
};

struct turn {
	bool backward;
	uint32_t micro;
};

static struct turn turn_of(const struct analytic_step *step, uint32_t stage, uint32_t k)
{
	uint32_t m = step->n_micro_batches;
	if (!step->one_f_one_b)
		return k < m ? (struct turn){false, k} : (struct turn){true, 2 * m - 1 - k};
	uint32_t warm = step->n_stages - stage - 1;
	warm = warm < m ? warm : m;
	if (k < warm)
		return (struct turn){false, k};
	if (k >= 2 * m - warm)
		return (struct turn){true, k - m};
	bool backward = (k - warm) % 2;
	return (struct turn){backward, backward ? (k - warm) / 2 : warm + (k - warm) / 2};
}

static uint64_t hop(const struct analytic_step *step, uint32_t i)
{
	uint64_t t = step->link_latency;
	if (step->link_bytes_per_s)
		t += ticks_ceil(step->stages[i].send_bytes, step->link_bytes_per_s);
	return t;
}

/* When what the turn needs is there; false as long as it is not. */
static bool ready_at(const struct player *p, uint32_t stage, struct turn turn, uint64_t *at)
{
	uint32_t last = p->step->n_stages - 1;
	*at = 0;
	if (!turn.backward) {
		if (stage == 0)
			return true;
		*at = p->forward_end[stage - 1][turn.micro] + hop(p->step, stage - 1);
		return p->forward_done[stage - 1][turn.micro];
	}
	if (stage == last) {
		*at = p->forward_end[stage][turn.micro];
		return p->forward_done[stage][turn.micro];
	}
	*at = p->backward_end[stage + 1][turn.micro] + hop(p->step, stage);
	return p->backward_done[stage + 1][turn.micro];
}

static bool play_turn(struct player *p, uint32_t stage)
{
	const struct analytic_stage *s = &p->step->stages[stage];
	if (p->position[stage] == 2 * p->step->n_micro_batches)
		return false;
	struct turn turn = turn_of(p->step, stage, p->position[stage]);
	uint64_t at = 0;
	if (!ready_at(p, stage, turn, &at))
		return false;
	at = at > p->free_at[stage] ? at : p->free_at[stage];
	at += turn.backward ? s->backward : s->forward;
	if (turn.backward) {
		p->backward_end[stage][turn.micro] = at;
		p->backward_done[stage][turn.micro] = true;
	} else {
		p->forward_end[stage][turn.micro] = at;
		p->forward_done[stage][turn.micro] = true;
	}
	p->free_at[stage] = at;
	p->position[stage]++;
	return true;
}

static uint64_t play(const struct analytic_step *step)
{
	struct player p;
	memset(&p, 0, sizeof(p));
	p.step = step;
	for (bool moved = true; moved;) {
		moved = false;
		for (uint32_t i = 0; i < step->n_stages; i++)
			while (play_turn(&p, i))
				moved = true;
	}
	uint64_t end = 0;
	for (uint32_t i = 0; i < step->n_stages; i++) {
		CU_ASSERT_EQUAL(p.position[i], 2 * step->n_micro_batches);
		end = p.free_at[i] > end ? p.free_at[i] : end;
	}
	return end;
}

static void check_sum(const struct analytic_estimate *e)
{
	CU_ASSERT_EQUAL(e->total, e->compute + e->bubble + e->transfer + e->reduction + e->update);
}

static void test_even(void)
{
	for (uint32_t p = 1; p <= MAX_STAGES; p++)
		for (uint32_t m = 1; m <= MAX_MICRO; m++) {
			struct analytic_stage stages[MAX_STAGES];
			for (uint32_t i = 0; i < p; i++)
				stages[i] =
					(struct analytic_stage){.forward = 100, .backward = 217};
			struct analytic_step step = {
				.stages = stages, .n_stages = p, .n_micro_batches = m};
			struct analytic_estimate e = analytic_step_time(&step);
			CU_ASSERT_EQUAL(e.total, UINT64_C(317) * (m + p - 1));
			CU_ASSERT_EQUAL(e.bubble, UINT64_C(317) * (p - 1));
			CU_ASSERT_EQUAL(e.total, play(&step));
			step.one_f_one_b = true;
			CU_ASSERT_EQUAL(analytic_step_time(&step).total, e.total);
			CU_ASSERT_EQUAL(play(&step), e.total);
			check_sum(&e);
		}
}

/* Uneven stages with transfers: forward and backward in one proportion, so that GPipe is exact. */
static void test_uneven(void)
{
	struct rng rng;
	rng_init(&rng, 7);
	for (int trial = 0; trial < 500; trial++) {
		struct analytic_stage stages[MAX_STAGES];
		uint32_t p = 1 + (uint32_t)rng_below(&rng, MAX_STAGES);
		uint32_t m = 1 + (uint32_t)rng_below(&rng, MAX_MICRO);
		for (uint32_t i = 0; i < p; i++) {
			tick f = 50 + rng_below(&rng, 100);
			stages[i] = (struct analytic_stage){
				.forward = f, .backward = 2 * f, .send_bytes = rng_below(&rng, 40)};
		}
		struct analytic_step step = {.stages = stages,
			.n_stages = p,
			.n_micro_batches = m,
			.link_latency = rng_below(&rng, 10),
			.link_bytes_per_s = TICKS_PER_S};
		struct analytic_estimate e = analytic_step_time(&step);
		CU_ASSERT_EQUAL(e.total, play(&step));
		check_sum(&e);
		step.one_f_one_b = true;
		e = analytic_step_time(&step);
		CU_ASSERT_TRUE(e.total >= play(&step));
		check_sum(&e);
	}
}

/* 1F1B over two even stages gains one transfer each way and loses one per further micro-batch. */
static void test_exposed_transfer(void)
{
	struct analytic_stage stages[2] = {{.forward = 1000, .backward = 2000, .send_bytes = 100},
		{.forward = 1000, .backward = 2000}};
	struct analytic_step step = {.stages = stages,
		.n_stages = 2,
		.n_micro_batches = 9,
		.link_latency = 20,
		.link_bytes_per_s = TICKS_PER_S};
	struct analytic_estimate e = analytic_step_time(&step);
	CU_ASSERT_EQUAL(e.transfer, 240);
	CU_ASSERT_EQUAL(e.total, 10 * 3000 + 240);
	step.one_f_one_b = true;
	e = analytic_step_time(&step);
	CU_ASSERT_EQUAL(e.transfer, 240 + 8 * 120);
	CU_ASSERT_EQUAL(e.total, play(&step));
}

static void test_last_part(void)
{
	struct analytic_stage stages[3] = {
		{.forward = 10, .backward = 20, .gradient_reduction = 7, .update = 5},
		{.forward = 10, .backward = 20, .gradient_reduction = 9, .update = 4},
		{.forward = 10, .backward = 20, .gradient_reduction = 1, .update = 11},
	};
	struct analytic_step step = {.stages = stages, .n_stages = 3, .n_micro_batches = 2};
	struct analytic_estimate e = analytic_step_time(&step);
	CU_ASSERT_EQUAL(e.reduction, 9);
	CU_ASSERT_EQUAL(e.update, 4);
	CU_ASSERT_EQUAL(e.total, 4 * 30 + 13);
	check_sum(&e);
}

static void test_overflow(void)
{
	struct analytic_stage stage = {.forward = TICK_MAX, .backward = TICK_MAX};
	struct analytic_step step = {.stages = &stage, .n_stages = 1, .n_micro_batches = 3};
	CU_ASSERT_EQUAL(analytic_step_time(&step).total, TICK_MAX);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"m + p - 1 over even stages, as the schedules play", test_even},
		{"uneven stages and transfers against the played schedule", test_uneven},
		{"transfers that 1F1B cannot hide", test_exposed_transfer},
		{"the largest reduction and update ends the step", test_last_part},
		{"times that do not fit are clamped", test_overflow},
		CU_TEST_INFO_NULL,
	};
	return suite_run("analytic step", tests);
}
