/* The table of families, and topologies in one word. */
#include "topo/topo.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/internal.h"

extern const struct topo_family topo_crossbar, topo_dragonfly, topo_fattree, topo_full,
	topo_hierarchical, topo_hypercube, topo_mesh, topo_ring, topo_torus, topo_tpu_pod;

const struct topo_family *const topo_families[] = {
	&topo_crossbar,
	&topo_dragonfly,
	&topo_fattree,
	&topo_full,
	&topo_hierarchical,
	&topo_hypercube,
	&topo_mesh,
	&topo_ring,
	&topo_torus,
	&topo_tpu_pod,
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

static bool parse_keys(struct arena *a, struct topo_spec *spec, char *text, struct err *err)
{
	for (char *next; text; text = next) {
		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		char *value = strchr(text, '=');
		if (!value)
			return err_set(
				err, ERR_USAGE, "'%s', expected KEY=VALUE such as bw=25GB/s", text);
		*value++ = '\0';
		if (!topo_spec_set(a, spec, text, value, err))
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
	struct topo_spec spec = {.name = arena_strdup(a, text), .family = family};
	if (text[n] != ':')
		return bad_dims(&spec, family->usage, err);
	const char *rest = text + n;
	if (!family->dims_by_keys || isdigit((unsigned char)rest[1])) {
		rest++;
		if (!parse_dims(&rest, &spec, family->usage, err))
			return false;
	}
	if (*rest != '\0' && !parse_keys(a, &spec, arena_strdup(a, rest + 1), err))
		return err_prefix(err, "topology '%s': ", text);
	return (topo_spec_complete(a, &spec, err) || err_prefix(err, "topology '%s': ", text)) &&
	       family->build(a, &spec, out, err);
}
