#include "analytic/analytic.h"

#include <assert.h>

static tick clamp(u128 t)
{
	return t > TICK_MAX ? TICK_MAX : (tick)t;
}

static u128 stage_time(const struct analytic_stage *s)
{
	return (u128)s->forward + s->backward;
}

/* From stage i to the next one. */
static u128 transfer_time(const struct analytic_step *step, uint32_t i)
{
	u128 t = step->link_latency;
	if (step->link_bytes_per_s)
		t += ticks_ceil(step->stages[i].send_bytes, step->link_bytes_per_s);
	return t;
}

/* What 1F1B loses to transfers per micro-batch: by how much the slowest run of stages is slower
 * than the slowest stage. */
static u128 pace_loss(const struct analytic_step *step, u128 slowest)
{
	u128 pace = slowest;
	for (uint32_t i = 0; i < step->n_stages; i++) {
		u128 sum = 0;
		for (uint32_t j = i; j < step->n_stages; j++) {
			sum += stage_time(&step->stages[j]);
			if (j > i)
				sum += 2 * transfer_time(step, j - 1);
			u128 n = j - i + 1;
			u128 each = (sum + n - 1) / n;
			pace = each > pace ? each : pace;
		}
	}
	return pace - slowest;
}

static void add_last_part(const struct analytic_step *step, struct analytic_estimate *out)
{
	u128 largest = 0;
	for (uint32_t i = 0; i < step->n_stages; i++) {
		const struct analytic_stage *s = &step->stages[i];
		u128 t = (u128)s->gradient_reduction + s->update;
		if (t > largest) {
			largest = t;
			out->reduction = s->gradient_reduction;
			out->update = s->update;
		}
	}
}

struct analytic_estimate analytic_step_time(const struct analytic_step *step)
{
	assert(step->n_stages > 0 && step->n_micro_batches > 0);
	struct analytic_estimate out = {0};
	u128 m = step->n_micro_batches, sum = 0, slowest = 0, transfer = 0;
	for (uint32_t i = 0; i < step->n_stages; i++) {
		u128 t = stage_time(&step->stages[i]);
		sum += t;
		slowest = t > slowest ? t : slowest;
		if (i + 1 < step->n_stages)
			transfer += 2 * transfer_time(step, i);
	}
	if (step->one_f_one_b)
		transfer += (m - 1) * pace_loss(step, slowest);
	add_last_part(step, &out);
	out.compute = clamp(m * slowest);
	out.bubble = clamp(sum - slowest);
	out.transfer = clamp(transfer);
	out.total =
		clamp(m * slowest + (sum - slowest) + transfer + (u128)out.reduction + out.update);
	return out;
}
