/* Units. Simulated time is a whole number of ticks; 1 tick is 1 ps, so a tick holds 213 days.
 * Everything else is a plain uint64_t whose name ends in its unit: _bytes, _flops, _hz,
 * _bytes_per_s. Cycles get their own type because a cycle means nothing without its clock. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef uint64_t tick;

#define TICKS_PER_S UINT64_C(1000000000000)
#define TICK_MAX UINT64_MAX

struct cycles {
	uint64_t n;
};

__extension__ typedef unsigned __int128 u128;

static inline uint64_t div_ceil(uint64_t a, uint64_t b)
{
	assert(b > 0);
	return a / b + (a % b != 0);
}

/* Smallest number of ticks that is at least `amount / per_s` seconds. */
static inline tick ticks_ceil(uint64_t amount, uint64_t per_s)
{
	assert(per_s > 0);
	u128 t = ((u128)amount * TICKS_PER_S + per_s - 1) / per_s;
	assert(t <= TICK_MAX);
	return (tick)t;
}

/* How long `c` lasts on a clock of `hz`, rounded up to a whole tick. */
static inline tick cycles_to_ticks(struct cycles c, uint64_t hz)
{
	return ticks_ceil(c.n, hz);
}

static inline double ticks_to_s(tick t)
{
	return (double)t / (double)TICKS_PER_S;
}

enum unit_dim {
	UNIT_TIME,      /* value in ticks: "2us", "0.7 us", "500ns", "1.5ms", "10min", "3 s" */
	UNIT_BYTES,     /* value in bytes: "16GiB", "64 KB", "512B" (KB = 1000, KiB = 1024) */
	UNIT_BANDWIDTH, /* value in bytes/s: "12.5GB/s", "100Gbps", "100 Gb/s", "3GiB/s" */
	UNIT_FREQUENCY, /* value in Hz: "940MHz", "1.05 GHz" */
};

/* Parses a number with its unit; white space around and between is allowed. The value is exact
 * for decimal input (rounded to the nearest whole tick, byte, byte/s or Hz). Refuses, with the
 * accepted spellings in the text: a bare number (zero too), an unknown unit, a negative or
 * non-finite number, trailing characters, a value that does not fit 64 bits. Zero with a unit is
 * accepted; callers that need more than zero say so. The error text has no position: put one in
 * front with err_prefix(). */
bool unit_parse(const char *text, enum unit_dim dim, uint64_t *value, struct err *err);

enum { UNIT_TEXT = 32 };

/* Prints with the largest unit that keeps the number at or above 1, at most 6 significant digits:
 * "812.4 us", "16 GiB", "25 GB/s", "940 MHz". Bytes use binary units, bandwidth decimal ones.
 * Returns `buf`. What it prints, unit_parse() reads. */
const char *unit_print(char buf[UNIT_TEXT], enum unit_dim dim, uint64_t value);

/* As unit_print(), but exact: unit_parse() of the text gives `value` again, digit for digit. */
const char *unit_print_exact(char buf[UNIT_TEXT], enum unit_dim dim, uint64_t value);

#endif
