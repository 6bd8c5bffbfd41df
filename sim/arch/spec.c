/* Accelerators written in one line. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/arch.h"

#define SPEC_FORM "TC=2x128x128,VC=2x128,SRAM=32MiB,HBM=700GB/s,clock=700MHz"

enum { SPEC_MAX_DIM = 65536 };

bool arch_is_spec(const char *text)
{
	const char *c = text;
	while (isalpha((unsigned char)*c))
		c++;
	return c > text && *c == '=';
}

/* "2x128x128" into n whole numbers from 1 to SPEC_MAX_DIM. */
static bool parse_dims(const char *text, uint32_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)*text))
			return false;
		char *end;
		unsigned long long value = strtoull(text, &end, 10);
		if (value < 1 || value > SPEC_MAX_DIM || *end != (i + 1 < n ? 'x' : '\0'))
			return false;
		out[i] = (uint32_t)value;
		text = end + 1;
	}
	return true;
}

static bool set_tc(const char *value, struct arch *out, struct err *err)
{
	uint32_t dims[3];
	if (!parse_dims(value, dims, 3))
		return err_set(err, ERR_USAGE,
			"'%.40s' is not COUNTxROWSxCOLS, each from 1 to 65536, e.g. TC=2x128x128",
			value);
	out->tc_count = dims[0];
	out->tc_rows = dims[1];
	out->tc_cols = dims[2];
	return true;
}

static bool set_vc(const char *value, struct arch *out, struct err *err)
{
	uint32_t dims[2];
	if (!parse_dims(value, dims, 2))
		return err_set(err, ERR_USAGE,
			"'%.40s' is not COUNTxWIDTH, each from 1 to 65536, e.g. VC=2x128", value);
	out->vc_count = dims[0];
	out->vc_width = dims[1];
	return true;
}

static bool set_quantity(
	const char *value, enum unit_dim dim, uint64_t min, uint64_t *out, struct err *err)
{
	char least[UNIT_TEXT];
	if (!unit_parse(value, dim, out, err)) {
		err->kind = ERR_USAGE;
		return false;
	}
	return *out >= min || err_set(err, ERR_USAGE, "'%.40s' is less than %s", value,
				      unit_print(least, dim, min));
}

static bool set_sram(const char *value, struct arch *out, struct err *err)
{
	return set_quantity(value, UNIT_BYTES, 1, &out->sram_bytes, err);
}

static bool set_hbm(const char *value, struct arch *out, struct err *err)
{
	return set_quantity(value, UNIT_BANDWIDTH, 1000000, &out->hbm_bytes_per_s, err);
}

static bool set_clock(const char *value, struct arch *out, struct err *err)
{
	return set_quantity(value, UNIT_FREQUENCY, 1000000, &out->clock_hz, err);
}

static const struct {
	const char *key;
	bool (*set)(const char *value, struct arch *out, struct err *err);
} fields[] = {
	{"CLOCK", set_clock},
	{"HBM", set_hbm},
	{"SRAM", set_sram},
	{"TC", set_tc},
	{"VC", set_vc},
};

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

/* `word` is "KEY=VALUE" and is cut in two. */
static bool set_field(char *word, bool *seen, struct arch *out, struct err *err)
{
	char *equals = strchr(word, '=');
	if (!equals)
		return err_set(
			err, ERR_USAGE, "'%.40s' has no '=', expected e.g. " SPEC_FORM, word);
	*equals = '\0';
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (strcasecmp(fields[i].key, word) != 0)
			continue;
		if (seen[i])
			return err_set(err, ERR_USAGE, "%s is given twice", fields[i].key);
		seen[i] = true;
		return fields[i].set(equals + 1, out, err) ||
		       err_prefix(err, "%s: ", fields[i].key);
	}
	return err_set(err, ERR_USAGE, "unknown key '%.40s', expected e.g. " SPEC_FORM, word);
}

bool arch_parse(struct arena *a, const char *text, const struct arch *base, struct arch *out,
	struct err *err)
{
	bool seen[N_FIELDS] = {false};
	*out = *base;
	out->name = arena_strdup(a, text);
	out->source = arena_printf(a, "written in one line, the rest as %s", base->name);
	for (char *word = arena_strdup(a, text); word;) {
		char *comma = strchr(word, ',');
		if (comma)
			*comma = '\0';
		if (!set_field(word, seen, out, err))
			return err_prefix(err, "accelerator '%.80s': ", text);
		word = comma ? comma + 1 : NULL;
	}
	if (out->hbm_bytes <= out->sram_bytes)
		return err_set(err, ERR_USAGE,
			"accelerator '%.80s': SRAM is no smaller than the HBM of %s", text,
			base->name);
	return true;
}
