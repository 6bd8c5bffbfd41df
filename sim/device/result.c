/* What can be read from a result. */
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
