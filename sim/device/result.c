/* What can be read from a result. */
#include <stdlib.h>
#include <string.h>

#include "device/internal.h"

static const char *const fidelities[] = {"fluid", "tile"};

bool fidelity_find(const char *name, enum fidelity *out)
{
	for (int i = 0; i < 2; i++) {
		if (strcmp(fidelities[i], name) == 0) {
			*out = (enum fidelity)i;
			return true;
		}
	}
	return false;
}

const char *fidelity_name(enum fidelity f)
{
	return fidelities[f];
}

const char *op_bound_name(enum op_bound bound)
{
	switch (bound) {
	case BOUND_COMPUTE:
		return "compute";
	case BOUND_FILL:
		return "fill";
	case BOUND_MEMORY:
		return "memory";
	case BOUND_OVERHEAD:
		return "overhead";
	}
	abort(); /* not a value of the enum */
}

enum op_bound device_op_bound(
	const struct arch *arch, const struct op_cost *cost, const struct op_time *time)
{
	tick memory = ticks_ceil(
		cost->dram_read_bytes + cost->dram_write_bytes, arch_dram_bytes_per_s(arch));
	tick longer = memory > time->compute ? memory : time->compute;
	if (time->overhead > longer && time->overhead > time->fill)
		return BOUND_OVERHEAD;
	if (time->fill > longer)
		return BOUND_FILL;
	return memory > time->compute ? BOUND_MEMORY : BOUND_COMPUTE;
}

tick device_contention(const struct device_result *r, uint32_t i)
{
	const struct op_time *t = &r->times[i];
	tick alone = t->overhead + t->compute + t->fill + t->memory;
	tick held = r->runs[i].end - r->runs[i].start;
	return held > alone ? held - alone : 0;
}

uint32_t device_critical_chain(const struct device_result *r, uint32_t *chain)
{
	uint32_t n = 0, at = UINT32_MAX;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->runs[i].end == r->makespan &&
			(at == UINT32_MAX || r->runs[i].end > r->runs[i].start))
			at = i;
	for (; at != UINT32_MAX; at = r->runs[at].after)
		chain[n++] = at;
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t swap = chain[i];
		chain[i] = chain[n - 1 - i];
		chain[n - 1 - i] = swap;
	}
	return n;
}
