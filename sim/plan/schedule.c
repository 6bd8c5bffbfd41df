#include "plan/internal.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct turn gpipe_turn(uint32_t m, uint32_t k)
{
	if (k < m)
		return (struct turn){false, k};
	return (struct turn){true, 2 * m - 1 - k};
}

static struct turn one_f_one_b_turn(uint32_t warm_up, uint32_t m, uint32_t k)
{
	if (k < warm_up)
		return (struct turn){false, k};
	if (k >= 2 * m - warm_up)
		return (struct turn){true, k - m};
	uint32_t pair = (k - warm_up) / 2;
	bool backward = (k - warm_up) % 2;
	return (struct turn){backward, backward ? pair : warm_up + pair};
}

struct turn schedule_turn(
	enum schedule schedule, uint32_t stage, uint32_t n_stages, uint32_t m, uint32_t k)
{
	switch (schedule) {
	case SCHEDULE_GPIPE:
		return gpipe_turn(m, k);
	case SCHEDULE_1F1B:
		return one_f_one_b_turn(smaller(m, n_stages - stage - 1), m, k);
	}
	return (struct turn){0};
}

uint32_t schedule_in_flight(enum schedule schedule, uint32_t stage, uint32_t n_stages, uint32_t m)
{
	switch (schedule) {
	case SCHEDULE_GPIPE:
		return m;
	case SCHEDULE_1F1B:
		return smaller(m, n_stages - stage);
	}
	return m;
}

uint32_t schedule_chunks_in_flight(uint32_t pp, uint32_t chunks)
{
	return chunks == 1 ? pp : pp * chunks + pp - 1;
}
