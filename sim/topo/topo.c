/* The table of families, and topologies in one word. */
#include "topo/topo.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/internal.h"

extern const struct topo_family topo_crossbar, topo_full, topo_hypercube, topo_mesh, topo_ring,
	topo_torus;

const struct topo_family *const topo_families[] = {
	&topo_crossbar,
	&topo_full,
	&topo_hypercube,
	&topo_mesh,
	&topo_ring,
	&topo_torus,
	NULL,
};

enum { N_FAMILIES = sizeof(topo_families) / sizeof(topo_families[0]) - 1 };

const struct topo_family *topo_family_find(const char *name)
{
	for (const struct topo_family *const *f = topo_families; *f; f++)
		if (strcmp((*f)->name, name) == 0)
			return *f;
	return NULL;
}

const char *topo_family_hint(struct arena *a, const char *name)
{
	const char *names[N_FAMILIES];
	for (size_t i = 0; i < N_FAMILIES; i++)
		names[i] = topo_families[i]->name;
	const char *near = text_nearest(name, names, N_FAMILIES);
	if (near)
		return arena_printf(a, ", did you mean '%s'?", near);
	const char *list = " (known families:";
	for (size_t i = 0; i < N_FAMILIES; i++)
		list = arena_printf(a, "%s %s", list, names[i]);
	return arena_printf(a, "%s)", list);
}

static size_t family_length(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '-')
		n++;
	return n;
}

bool topo_is_spec(const char *text)
{
	size_t n = family_length(text);
	return n > 0 && isalpha((unsigned char)text[0]) && text[n] == ':';
}

static bool bad_dims(const struct topo_spec *spec, const char *usage, struct err *err)
{
	return err_set(err, ERR_USAGE, "topology '%s': expected '%s'", spec->name, usage);
}

/* "4x4x2". Leaves `*text` behind the last digit. */
static bool parse_dims(
	const char **text, struct topo_spec *spec, const char *usage, struct err *err)
{
	const char *p = *text;
	for (;; p++) {
		if (!isdigit((unsigned char)*p))
			return bad_dims(spec, usage, err);
		uint64_t v = 0;
		for (; isdigit((unsigned char)*p); p++)
			v = v > TOPO_MAX_DEVICES ? v : 10 * v + (uint64_t)(*p - '0');
		if (v == 0 || v > TOPO_MAX_DEVICES)
			return err_set(err, ERR_INPUT,
				"topology '%s': every dimension must be between 1 and %d",
				spec->name, TOPO_MAX_DEVICES);
		if (spec->n_dims == TOPO_MAX_DIMS)
			return err_set(err, ERR_INPUT, "topology '%s': more than %d dimensions",
				spec->name, TOPO_MAX_DIMS);
		spec->dims[spec->n_dims++] = (uint32_t)v;
		if (*p != 'x')
			break;
	}
	*text = p;
	return *p == '\0' || *p == ',' || bad_dims(spec, usage, err);
}

static bool set_bandwidth(struct topo_spec *spec, const char *value, struct err *err)
{
	if (!unit_parse(value, UNIT_BANDWIDTH, &spec->bytes_per_s, err))
		return err_prefix(err, "topology '%s': bw: ", spec->name);
	if (spec->bytes_per_s == 0)
		return err_set(err, ERR_INPUT,
			"topology '%s': bw: zero bandwidth, expected more than 0 B/s", spec->name);
	return true;
}

static bool set_latency(struct topo_spec *spec, const char *value, struct err *err)
{
	if (!unit_parse(value, UNIT_TIME, &spec->latency, err))
		return err_prefix(err, "topology '%s': lat: ", spec->name);
	if (spec->latency > TOPO_MAX_LATENCY)
		return err_set(err, ERR_INPUT,
			"topology '%s': lat: '%s' is too long, expected at most 1000 s", spec->name,
			value);
	return true;
}

static const struct spec_key {
	const char *name;
	bool (*set)(struct topo_spec *spec, const char *value, struct err *err);
} spec_keys[] = {
	{"bw", set_bandwidth},
	{"lat", set_latency},
};
enum { N_KEYS = sizeof(spec_keys) / sizeof(spec_keys[0]) };

static bool set_key(struct topo_spec *spec, char *pair, bool seen[N_KEYS], struct err *err)
{
	char *value = strchr(pair, '=');
	if (!value)
		return err_set(err, ERR_USAGE,
			"topology '%s': '%s', expected KEY=VALUE such as bw=25GB/s", spec->name,
			pair);
	*value++ = '\0';
	const char *names[N_KEYS];
	for (size_t i = 0; i < N_KEYS; i++) {
		names[i] = spec_keys[i].name;
		if (strcmp(names[i], pair) != 0)
			continue;
		if (seen[i])
			return err_set(err, ERR_USAGE, "topology '%s': '%s' is given twice",
				spec->name, pair);
		seen[i] = true;
		return spec_keys[i].set(spec, value, err);
	}
	const char *near = text_nearest(pair, names, N_KEYS);
	return err_set(err, ERR_USAGE, "topology '%s': unknown key '%s'%s%s%s", spec->name, pair,
		near ? ", did you mean '" : " (known keys: bw lat", near ? near : "",
		near ? "'?" : ")");
}

static bool parse_keys(struct topo_spec *spec, char *text, struct err *err)
{
	bool seen[N_KEYS] = {0};
	for (char *next; text; text = next) {
		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		if (!set_key(spec, text, seen, err))
			return false;
	}
	return true;
}

bool topo_parse(struct arena *a, const char *text, struct topo *out, struct err *err)
{
	size_t n = family_length(text);
	const char *name = arena_strndup(a, text, n);
	const struct topo_family *family = topo_family_find(name);
	if (!family)
		return err_set(err, ERR_USAGE, "topology '%s': unknown family '%s'%s", text, name,
			topo_family_hint(a, name));
	struct topo_spec spec = {
		.name = arena_strdup(a, text),
		.bytes_per_s = UINT64_C(25000000000),
		.latency = TICKS_PER_S / 1000000,
	};
	if (text[n] != ':')
		return bad_dims(&spec, family->usage, err);
	const char *rest = text + n + 1;
	if (!parse_dims(&rest, &spec, family->usage, err))
		return false;
	if (*rest == ',' && !parse_keys(&spec, arena_strdup(a, rest + 1), err))
		return false;
	return family->build(a, &spec, out, err);
}
