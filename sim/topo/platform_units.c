/* Quantities as SimGrid 3.32 spells them: number and unit without a space. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "topo/platform.h"

static const struct dim {
	const char *noun, *example;
	bool prefixed; /* k, Ki, M, Mi, ... may stand before the unit */
	bool zero;     /* is a valid value */
	const char *units[10];
} dims[] = {
	[PLATFORM_BANDWIDTH] = {"bandwidth", "125MBps", true, false, {"Bps", "bps"}},
	[PLATFORM_LATENCY] = {"latency", "50us", false, true,
		{"d", "h", "m", "ms", "ns", "ps", "s", "us", "w"}},
	[PLATFORM_SPEED] = {"speed", "1Gf", true, false, {"f", "flops"}},
};

static bool known_unit(const struct dim *dim, const char *unit)
{
	if (dim->prefixed && unit[0] && strchr("kKMGTPEZY", unit[0])) {
		bool binary = unit[1] == 'i';
		if (binary || unit[0] != 'K')
			unit += binary ? 2 : 1;
	}
	for (size_t i = 0; dim->units[i]; i++)
		if (strcmp(dim->units[i], unit) == 0)
			return true;
	return false;
}

static bool check_one(
	struct platform *p, const char *attr, const char *value, const struct dim *dim)
{
	char *unit;
	double v = strtod(value, &unit);
	const char *error = NULL;
	if (unit == value || !isfinite(v))
		error = "not a number";
	else if (*unit && !known_unit(dim, unit))
		error = "unknown unit";
	else if (v < 0)
		error = "negative";
	else if (v <= 0 && !dim->zero)
		error = "zero";
	if (error)
		platform_fail(p, "%s='%s': %s, expected a %s %s such as '%s'", attr, value, error,
			dim->zero ? "non-negative" : "positive", dim->noun, dim->example);
	return !error;
}

bool platform_check_quantity(
	struct platform *p, const char *attr, const char *value, enum platform_dim dim)
{
	struct arena work = {0};
	char *rest = arena_strdup(&work, value), *one = rest;
	bool ok = true;
	while (ok && one) {
		rest = strchr(one, ',');
		if (rest)
			*rest++ = '\0';
		ok = check_one(p, attr, one, &dims[dim]);
		one = rest;
	}
	arena_free(&work);
	return ok;
}
