#include <assert.h>
#include <inttypes.h>

#include "plan/plan.h"

static bool check_positive(const struct degrees *d, struct err *err)
{
	const struct {
		const char *name;
		uint64_t value;
	} fields[] = {
		{"pp", d->pp},
		{"tp", d->tp},
		{"dp", d->dp},
		{"batch", d->batch},
		{"micro-batch", d->micro_batch},
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].value == 0)
			return err_set(
				err, ERR_INPUT, "%s is 0, expected at least 1", fields[i].name);
	return true;
}

static bool check_devices(const struct degrees *d, struct err *err)
{
	u128 n = (u128)d->pp * d->tp * d->dp;
	if (n <= PROG_MAX_RANKS)
		return true;
	return err_set(err, ERR_INPUT,
		"pp %" PRIu32 " x tp %" PRIu32 " x dp %" PRIu32
		" are more than %d devices, the most that are simulated",
		d->pp, d->tp, d->dp, (int)PROG_MAX_RANKS);
}

bool degrees_check(const struct degrees *d, const struct graph *forward, struct err *err)
{
	if (!check_positive(d, err) || !check_devices(d, err))
		return false;
	if (d->pp > forward->n_layers)
		return err_set(err, ERR_INPUT,
			"pp %" PRIu32 " is larger than the %" PRIu32 " layers of %s", d->pp,
			forward->n_layers, forward->name);
	u128 pass = (u128)d->dp * d->micro_batch;
	assert(pass > 0);
	if (d->batch < pass)
		return err_set(err, ERR_INPUT,
			"batch %" PRIu64 " is smaller than dp %" PRIu32 " x micro-batch %" PRIu64,
			d->batch, d->dp, d->micro_batch);
	if (d->batch % pass)
		return err_set(err, ERR_INPUT,
			"batch %" PRIu64 " is not divisible by dp %" PRIu32
			" x micro-batch %" PRIu64 " = %" PRIu64,
			d->batch, d->dp, d->micro_batch, (uint64_t)pass);
	if (d->batch / pass > PLAN_MAX_MICRO_BATCHES)
		return err_set(err, ERR_INPUT,
			"batch %" PRIu64 " / (dp %" PRIu32 " x micro-batch %" PRIu64 ") = %" PRIu64
			" micro-batches, at most %d are simulated: use a larger micro-batch",
			d->batch, d->dp, d->micro_batch, (uint64_t)(d->batch / pass),
			(int)PLAN_MAX_MICRO_BATCHES);
	return true;
}
