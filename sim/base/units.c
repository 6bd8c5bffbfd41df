#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/internal.h"

/* One unit is mul / div of what the dimension counts. */
struct unit {
	const char *name;
	uint64_t mul, div;
};

/* A unit to print with; `decimals` is how many are worth printing where the value must be exact. */
struct shown_unit {
	const char *name;
	uint64_t mul;
	unsigned decimals;
};

enum { MAX_UNITS = 32, MAX_SHOWN = 8, SIGNIFICANT = 6, EXPONENT_MAX = 9999, QUOTE_MAX = 40 };

struct dimension {
	const char *expectation;
	const char *spellings;
	struct unit units[MAX_UNITS];       /* ends with a nameless one */
	struct shown_unit shown[MAX_SHOWN]; /* ascending; ends with a nameless one */
};

#define K UINT64_C(1000)
#define M (K * K)
#define G (K * M)
#define T (K * G)
#define P (K * T)
#define E (K * P)
#define KI UINT64_C(1024)
#define MI (KI * KI)
#define GI (KI * MI)
#define TI (KI * GI)
#define PI (KI * TI)
#define EI (KI * PI)

// clang-format off
static const struct dimension dimensions[] = {
	[UNIT_TIME] = {
		.expectation = "a time such as \"2us\" or \"1.5ms\"",
		.spellings = "ps, ns, us, ms, s, min, h",
		.units = {
			{"h", 3600 * T, 1}, {"min", 60 * T, 1}, {"ms", G, 1}, {"ns", K, 1}, {"ps", 1, 1},
			{"s", T, 1}, {"us", M, 1}, {"\u00b5s", M, 1}, {"\u03bcs", M, 1},
		},
		.shown = {
			{"ps", 1, 0}, {"ns", K, 3}, {"us", M, 6}, {"ms", G, 9}, {"s", T, 12},
			{"min", 60 * T, 3}, {"h", 3600 * T, 3},
		},
	},
	[UNIT_BYTES] = {
		.expectation = "bytes such as \"16GiB\" or \"64KB\"",
		.spellings = "B, KB, MB, GB, TB, PB (powers of 1000), KiB, MiB, GiB, TiB, PiB (powers of 1024)",
		.units = {
			{"B", 1, 1}, {"EB", E, 1}, {"EiB", EI, 1}, {"GB", G, 1}, {"GiB", GI, 1}, {"KB", K, 1},
			{"KiB", KI, 1}, {"MB", M, 1}, {"MiB", MI, 1}, {"PB", P, 1}, {"PiB", PI, 1}, {"TB", T, 1},
			{"TiB", TI, 1}, {"kB", K, 1},
		},
		.shown = {
			{"B", 1, 0}, {"KiB", KI, 3}, {"MiB", MI, 3}, {"GiB", GI, 3}, {"TiB", TI, 3}, {"PiB", PI, 3},
			{"EiB", EI, 3},
		},
	},
	[UNIT_BANDWIDTH] = {
		.expectation = "a bandwidth such as \"12.5GB/s\" or \"100Gbps\"",
		.spellings = "B/s, KB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s (bytes), "
			     "bps, kbps, Mbps, Gbps, Tbps or Gb/s, Gbit/s (bits)",
		.units = {
			{"B/s", 1, 1}, {"EB/s", E, 1}, {"GB/s", G, 1}, {"Gb/s", G, 8}, {"Gbit/s", G, 8},
			{"Gbps", G, 8}, {"GiB/s", GI, 1}, {"KB/s", K, 1}, {"Kb/s", K, 8}, {"Kbit/s", K, 8},
			{"Kbps", K, 8}, {"KiB/s", KI, 1}, {"MB/s", M, 1}, {"Mb/s", M, 8}, {"Mbit/s", M, 8},
			{"Mbps", M, 8}, {"MiB/s", MI, 1}, {"PB/s", P, 1}, {"TB/s", T, 1}, {"Tb/s", T, 8},
			{"Tbit/s", T, 8}, {"Tbps", T, 8}, {"TiB/s", TI, 1}, {"b/s", 1, 8}, {"bit/s", 1, 8},
			{"bps", 1, 8}, {"kB/s", K, 1}, {"kb/s", K, 8}, {"kbit/s", K, 8}, {"kbps", K, 8},
		},
		.shown = {
			{"B/s", 1, 0}, {"kB/s", K, 3}, {"MB/s", M, 6}, {"GB/s", G, 9}, {"TB/s", T, 12},
			{"PB/s", P, 15}, {"EB/s", E, 18},
		},
	},
	[UNIT_FREQUENCY] = {
		.expectation = "a frequency such as \"940MHz\" or \"1.05GHz\"",
		.spellings = "Hz, kHz, MHz, GHz, THz",
		.units = {
			{"GHz", G, 1}, {"Hz", 1, 1}, {"MHz", M, 1}, {"THz", T, 1}, {"kHz", K, 1},
		},
		.shown = {{"Hz", 1, 0}, {"kHz", K, 3}, {"MHz", M, 6}, {"GHz", G, 9}, {"THz", T, 12}},
	},
};
// clang-format on

const char *unit_expectation(enum unit_dim dim)
{
	return dimensions[dim].expectation;
}

/* A number as written: digits with a point somewhere. Digit i stands left of the point if i <
 * point. */
struct decimal {
	const char *text; /* digits, with at most one '.' among them */
	size_t n_text;
	long point; /* may lie before the first digit or after the last one */
	size_t n_digits;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n\f\v");
}

/* Reads digits with an optional point and exponent; NULL when there is no number at `s`. */
static const char *scan_decimal(const char *s, struct decimal *d)
{
	*d = (struct decimal){.text = s};
	bool point = false;
	for (; is_digit(*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			d->point = (long)d->n_digits;
		} else {
			d->n_digits++;
		}
	}
	if (d->n_digits == 0)
		return NULL;
	d->n_text = (size_t)(s - d->text);
	if (!point)
		d->point = (long)d->n_digits;
	const char *e = s + 1 + (*s != '\0' && (s[1] == '-' || s[1] == '+'));
	if ((*s != 'e' && *s != 'E') || !is_digit(*e))
		return s;
	long exponent = 0;
	for (; is_digit(*e); e++)
		exponent = exponent > EXPONENT_MAX ? exponent : 10 * exponent + (*e - '0');
	d->point += s[1] == '-' ? -exponent : exponent;
	return e;
}

/* Computes digits x mul / div rounded to nearest, halves up. `div` is 1 or 8, `mul` below 2^60.
 * Works through the digits behind the point from the last one, as one multiplies on paper, so that
 * no digit is lost; only the first digit of that product and its carry matter for the rounding. */
static bool scale(const struct decimal *d, const struct unit *unit, uint64_t *value)
{
	const u128 limit = (u128)UINT64_MAX * 8 + 8;
	u128 whole = 0, carry = 0;
	long i = 0;
	for (const char *c = d->text; c < d->text + d->n_text && whole <= limit; c++)
		if (*c != '.' && i++ < d->point)
			whole = 10 * whole + (unsigned)(*c - '0');
	for (; i < d->point && whole > 0 && whole <= limit; i++)
		whole *= 10;
	if (whole > limit || whole * unit->mul / unit->div > UINT64_MAX)
		return false;
	unsigned first = 0;
	i = (long)d->n_digits;
	for (const char *c = d->text + d->n_text; c > d->text && i > d->point; c--) {
		if (c[-1] == '.')
			continue;
		carry += (unsigned)(c[-1] - '0') * (u128)unit->mul;
		first = (unsigned)(carry % 10);
		carry /= 10;
		i--;
	}
	for (; i > d->point && (carry > 0 || first > 0); i--) {
		first = (unsigned)(carry % 10);
		carry /= 10;
	}
	whole = whole * unit->mul + carry;
	u128 rest = whole % unit->div;
	whole /= unit->div;
	whole += unit->div == 1 ? first >= 5 : rest >= unit->div / 2;
	*value = (uint64_t)whole;
	return whole <= UINT64_MAX;
}

static const struct unit *find_unit(enum unit_dim dim, const char *name, size_t n)
{
	for (const struct unit *u = dimensions[dim].units; u->name; u++)
		if (strlen(u->name) == n && memcmp(u->name, name, n) == 0)
			return u;
	return NULL;
}

static bool refuse(struct err *err, enum unit_dim dim, const char *text, const char *why)
{
	size_t n = utf8_cut(text, QUOTE_MAX);
	return err_set(err, ERR_INPUT, "'%.*s%s' %s, expected %s", (int)n, text,
		text[n] != '\0' ? "..." : "", why, dimensions[dim].expectation);
}

static bool refuse_unit(struct err *err, enum unit_dim dim, const char *text)
{
	refuse(err, dim, text, "has an unknown unit");
	struct err said = *err;
	return err_set(err, ERR_INPUT, "%s; units are %s", said.text, dimensions[dim].spellings);
}

bool unit_parse(const char *text, enum unit_dim dim, uint64_t *value, struct err *err)
{
	const char *s = skip_space(text);
	struct decimal d;
	if (*s == '-')
		return refuse(err, dim, text, "is negative");
	const char *name = scan_decimal(s, &d);
	if (!name)
		return refuse(err, dim, text, "is not a number with a unit");
	name = skip_space(name);
	size_t n = strcspn(name, " \t\r\n\f\v");
	if (n == 0)
		return refuse(err, dim, text, "has no unit");
	const struct unit *unit = find_unit(dim, name, n);
	if (!unit)
		return refuse_unit(err, dim, text);
	if (*skip_space(name + n) != '\0')
		return refuse(err, dim, text, "has characters after the unit");
	uint64_t v;
	if (!scale(&d, unit, &v))
		return refuse(err, dim, text, "is too large for 64 bits");
	*value = v;
	return true;
}

static u128 pow10_u128(unsigned n)
{
	u128 p = 1;
	while (n-- > 0)
		p *= 10;
	return p;
}

static unsigned count_digits(u128 v)
{
	unsigned n = 1;
	for (; v >= 10; v /= 10)
		n++;
	return n;
}

/* `n` / 10^decimals without trailing zeros behind the point; `n` / 10^decimals is below 2^64. */
static const char *write_number(char *buf, u128 n, unsigned decimals, const char *unit)
{
	for (; decimals > 0 && n % 10 == 0; decimals--)
		n /= 10;
	u128 p = pow10_u128(decimals);
	int len = snprintf(buf, UNIT_TEXT, "%" PRIu64, (uint64_t)(n / p));
	if (decimals > 0)
		len += snprintf(buf + len, UNIT_TEXT - (size_t)len, ".%0*" PRIu64, (int)decimals,
			(uint64_t)(n % p));
	snprintf(buf + len, UNIT_TEXT - (size_t)len, " %s", unit);
	return buf;
}

static const struct shown_unit *largest_unit(enum unit_dim dim, uint64_t value)
{
	const struct shown_unit *u = dimensions[dim].shown;
	while (u[1].name && u[1].mul <= value)
		u++;
	return u;
}

const char *unit_print(char buf[UNIT_TEXT], enum unit_dim dim, uint64_t value)
{
	const struct shown_unit *u = largest_unit(dim, value);
	unsigned digits = count_digits(value / u->mul);
	unsigned decimals = digits < SIGNIFICANT ? SIGNIFICANT - digits : 0;
	u128 p = pow10_u128(decimals);
	u128 step = digits > SIGNIFICANT ? pow10_u128(digits - SIGNIFICANT) : 1;
	u128 div = u->mul * step;
	u128 n = ((u128)value * p + div / 2) / div * step;
	if (u[1].name && n * u->mul >= u[1].mul * p) /* rounding reached the next unit */
		return write_number(buf, 1, 0, u[1].name);
	if ((n * u->mul + p / 2) / p > UINT64_MAX)
		n -= step;
	return write_number(buf, n, decimals, u->name);
}

const char *unit_print_exact(char buf[UNIT_TEXT], enum unit_dim dim, uint64_t value)
{
	const struct shown_unit *u = largest_unit(dim, value);
	while (u->mul > 1 && (u128)value * pow10_u128(u->decimals) % u->mul != 0)
		u--;
	return write_number(
		buf, (u128)value * pow10_u128(u->decimals) / u->mul, u->decimals, u->name);
}
