/* The parameters of a family: from text, with defaults, and printed again. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/internal.h"

const struct topo_key topo_keys_link[] = {
	{"bw", TOPO_KEY_BANDWIDTH, TOPO_KEY_PER_DIM, "25GB/s", NULL},
	{"lat", TOPO_KEY_LATENCY, TOPO_KEY_PER_DIM, "1us", NULL},
	{NULL, TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
};

static size_t n_keys(const struct topo_family *family)
{
	size_t n = 0;
	while (family->keys[n].name)
		n++;
	return n;
}

const struct topo_value *topo_spec_get(const struct topo_spec *spec, const char *key)
{
	static const struct topo_value unset;
	for (size_t i = 0; spec->family->keys[i].name; i++)
		if (strcmp(spec->family->keys[i].name, key) == 0)
			return &spec->values[i];
	return &unset;
}

uint64_t topo_spec_at(const struct topo_spec *spec, const char *key, uint32_t i)
{
	const struct topo_value *value = topo_spec_get(spec, key);
	if (value->n == 0)
		return 0;
	return value->v[i < value->n ? i : value->n - 1];
}

struct topo_cable topo_spec_cable(const struct topo_spec *spec, uint32_t dim)
{
	return (struct topo_cable){.bytes_per_s = topo_spec_at(spec, "bw", dim),
		.latency = topo_spec_at(spec, "lat", dim)};
}

static bool set_quantity(
	const struct topo_key *key, const char *text, uint64_t *out, struct err *err)
{
	bool bandwidth = key->kind == TOPO_KEY_BANDWIDTH;
	if (!unit_parse(text, bandwidth ? UNIT_BANDWIDTH : UNIT_TIME, out, err))
		return false;
	if (bandwidth && *out == 0)
		return err_set(err, ERR_INPUT, "zero bandwidth, expected more than 0 B/s");
	if (!bandwidth && *out > TOPO_MAX_LATENCY)
		return err_set(err, ERR_INPUT, "'%s' is too long, expected at most 1000 s", text);
	return true;
}

static bool set_count(const char *text, uint64_t *out, struct err *err)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0' || v < 1 || v > TOPO_MAX_DEVICES)
		return err_set(err, ERR_INPUT, "'%s', expected a whole number from 1 to %d", text,
			TOPO_MAX_DEVICES);
	*out = v;
	return true;
}

static bool set_word(const struct topo_key *key, const char *text, uint64_t *out, struct err *err)
{
	struct text known = {0};
	for (size_t i = 0; key->words[i]; i++) {
		text_add(&known, "%s%s", i ? ", " : "", key->words[i]);
		if (strcmp(key->words[i], text) == 0) {
			*out = i;
			text_free(&known);
			return true;
		}
	}
	err_set(err, ERR_INPUT, "'%s', expected one of %s", text, known.data);
	text_free(&known);
	return false;
}

static bool set_one(const struct topo_key *key, const char *text, uint64_t *out, struct err *err)
{
	switch (key->kind) {
	case TOPO_KEY_BANDWIDTH:
	case TOPO_KEY_LATENCY:
		return set_quantity(key, text, out, err);
	case TOPO_KEY_COUNT:
		return set_count(text, out, err);
	case TOPO_KEY_WORD:
		return set_word(key, text, out, err);
	}
	return false;
}

/* "50GB/s/25GB/s": the slash within a unit is told from the one between values by trying. The
 * error is that of the longest attempt. */
static bool set_list(struct arena *a, const struct topo_key *key, const char *text,
	struct topo_value *value, struct err *err)
{
	for (const char *at = text;;) {
		const char *end = at;
		uint64_t v = 0;
		bool ok;
		do {
			end = strchr(end > at ? end + 1 : at, '/');
			ok = set_one(
				key, end ? arena_strndup(a, at, (size_t)(end - at)) : at, &v, err);
		} while (!ok && end);
		if (!ok)
			return false;
		if (value->n == TOPO_MAX_DIMS)
			return err_set(err, ERR_INPUT, "more than %d values", TOPO_MAX_DIMS);
		value->v[value->n++] = v;
		if (!end)
			return true;
		at = end + 1;
	}
}

static bool unknown_key(
	struct arena *a, const struct topo_spec *spec, const char *key, struct err *err)
{
	const char *names[TOPO_MAX_KEYS];
	size_t n = n_keys(spec->family);
	const char *list = "";
	for (size_t i = 0; i < n; i++) {
		names[i] = spec->family->keys[i].name;
		list = arena_printf(a, "%s %s", list, names[i]);
	}
	const char *near = text_nearest(key, names, n);
	return err_set(err, ERR_USAGE, "unknown key '%s'%s%s%s", key,
		near ? ", did you mean '" : " (known keys:", near ? near : list, near ? "'?" : ")");
}

/* "bw1" is dimension 1 of the key "bw". */
static bool set_dim(
	struct topo_spec *spec, size_t i, const char *digit, const char *text, struct err *err)
{
	const struct topo_key *key = &spec->family->keys[i];
	struct topo_value *value = &spec->values[i];
	uint32_t dim = (uint32_t)(*digit - '0');
	if (dim >= spec->n_dims || dim >= TOPO_MAX_DIMS)
		return err_set(err, ERR_INPUT, "%s%c: there is no dimension %c, the first is 0",
			key->name, *digit, *digit);
	if (value->n == 0 && !set_one(key, key->fallback, &value->v[value->n++], err))
		return false;
	for (; value->n < spec->n_dims; value->n++)
		value->v[value->n] = value->v[value->n - 1];
	return set_one(key, text, &value->v[dim], err) ||
	       err_prefix(err, "%s%c: ", key->name, *digit);
}

bool topo_spec_set(
	struct arena *a, struct topo_spec *spec, const char *key, const char *text, struct err *err)
{
	for (size_t i = 0; spec->family->keys[i].name; i++) {
		const struct topo_key *k = &spec->family->keys[i];
		size_t n = strlen(k->name);
		if (strncmp(k->name, key, n) != 0)
			continue;
		if (k->list == TOPO_KEY_PER_DIM && isdigit((unsigned char)key[n]) && !key[n + 1])
			return set_dim(spec, i, key + n, text, err);
		if (key[n] != '\0')
			continue;
		if (spec->given[i])
			return err_set(err, ERR_USAGE, "'%s' is given twice", key);
		spec->given[i] = true;
		spec->values[i].n = 0;
		bool ok = k->list != TOPO_KEY_SINGLE ? set_list(a, k, text, &spec->values[i], err)
						     : set_one(k, text, spec->values[i].v, err);
		spec->values[i].n = k->list != TOPO_KEY_SINGLE ? spec->values[i].n : 1;
		return ok || err_prefix(err, "%s: ", key);
	}
	return unknown_key(a, spec, key, err);
}

bool topo_spec_complete(struct arena *a, struct topo_spec *spec, struct err *err)
{
	for (size_t i = 0; spec->family->keys[i].name; i++) {
		const struct topo_key *key = &spec->family->keys[i];
		struct topo_value *value = &spec->values[i];
		if (value->n == 0 && key->fallback && !set_list(a, key, key->fallback, value, err))
			return false;
		if (key->list == TOPO_KEY_PER_DIM && value->n > 1 && value->n != spec->n_dims)
			return err_set(err, ERR_INPUT,
				"%s: %" PRIu32
				" values, expected one or as many as dimensions, %" PRIu32,
				key->name, value->n, spec->n_dims);
	}
	return true;
}

static void add_value(const struct topo_key *key, uint64_t v, struct text *out)
{
	char unit[UNIT_TEXT];
	switch (key->kind) {
	case TOPO_KEY_BANDWIDTH:
		text_add(out, "%s", unit_print_exact(unit, UNIT_BANDWIDTH, v));
		break;
	case TOPO_KEY_LATENCY:
		text_add(out, "%s", unit_print_exact(unit, UNIT_TIME, v));
		break;
	case TOPO_KEY_COUNT:
		text_add(out, "%" PRIu64, v);
		break;
	case TOPO_KEY_WORD:
		text_add(out, "%s", key->words[v]);
		break;
	}
}

static bool all_equal(const struct topo_value *value)
{
	for (uint32_t i = 1; i < value->n; i++)
		if (value->v[i] != value->v[0])
			return false;
	return true;
}

const char *topo_spec_text(struct arena *a, const struct topo_spec *spec)
{
	struct text t = {0};
	text_add(&t, "%s:", spec->family->name);
	for (uint32_t i = 0; i < spec->n_dims; i++)
		text_add(&t, "%s%" PRIu32, i ? "x" : "", spec->dims[i]);
	const char *before = spec->n_dims ? "," : "";
	for (size_t i = 0; spec->family->keys[i].name; i++) {
		const struct topo_key *key = &spec->family->keys[i];
		const struct topo_value *value = &spec->values[i];
		bool one = key->list == TOPO_KEY_PER_DIM && all_equal(value);
		for (uint32_t k = 0; k < value->n && (k == 0 || !one); k++) {
			if (k == 0)
				text_add(&t, "%s%s=", before, key->name);
			else
				text_add(&t, "/");
			add_value(key, value->v[k], &t);
			before = ",";
		}
	}
	const char *copy = arena_strdup(a, t.data);
	text_free(&t);
	return copy;
}
