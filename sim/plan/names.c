#include <string.h>

#include "plan/plan.h"

/* In the order of the enums. */
static const char *const schedules[] = {"gpipe", "1f1b"};
static const char *const recomputes[] = {"none", "selective", "full", "auto"};
static const char *const partitions[] = {"uniform", "balanced"};

static bool name_find(const char *const *names, uint32_t n, const char *name, uint32_t *out)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			*out = i;
			return true;
		}
	}
	return false;
}

bool schedule_find(const char *name, enum schedule *out)
{
	uint32_t i = 0;
	if (!name_find(schedules, SCHEDULE_1F1B + 1, name, &i))
		return false;
	*out = (enum schedule)i;
	return true;
}

bool recompute_find(const char *name, enum recompute *out)
{
	uint32_t i = 0;
	if (!name_find(recomputes, RECOMPUTE_AUTO + 1, name, &i))
		return false;
	*out = (enum recompute)i;
	return true;
}

bool partition_find(const char *name, enum partition *out)
{
	uint32_t i = 0;
	if (!name_find(partitions, PARTITION_BALANCED + 1, name, &i))
		return false;
	*out = (enum partition)i;
	return true;
}

const char *schedule_name(enum schedule s)
{
	return schedules[s];
}

const char *recompute_name(enum recompute r)
{
	return recomputes[r];
}
