/* Which rank sits on which device. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "topo/internal.h"

struct map {
	const struct topo *t;
	const char *path;
	struct name_index names;
	bool *taken;
	uint32_t *devices, n;
};

static bool map_random(const char *seed, struct map *m, struct err *err)
{
	struct rng rng;
	char *end;
	unsigned long long v = strtoull(seed, &end, 10);
	if (!isdigit((unsigned char)seed[0]) || *end != '\0')
		return err_set(err, ERR_USAGE, "'random:%s', expected random:SEED", seed);
	rng_init(&rng, v);
	for (uint32_t i = m->n; i > 1; i--) {
		uint32_t k = (uint32_t)rng_below(&rng, i), other = m->devices[k];
		m->devices[k] = m->devices[i - 1];
		m->devices[i - 1] = other;
	}
	return true;
}

static bool add_word(struct map *m, const char *word, size_t n, uint32_t line, struct err *err)
{
	uint32_t device = name_index_find(&m->names, word, n);
	char *end;
	if (device == NAME_ABSENT && isdigit((unsigned char)word[0])) {
		unsigned long v = strtoul(word, &end, 10);
		if (end == word + n && v < m->t->n_devices)
			device = (uint32_t)v;
	}
	if (device == NAME_ABSENT)
		return err_set(err, ERR_INPUT,
			"%s:%" PRIu32
			": '%.*s' is no device of %s, expected a name or a number below %" PRIu32,
			m->path, line, (int)(n < 64 ? n : 64), word, m->t->name, m->t->n_devices);
	if (m->taken[device])
		return err_set(err, ERR_INPUT, "%s:%" PRIu32 ": device '%s' is named twice",
			m->path, line, m->t->nodes[device].name);
	m->taken[device] = true;
	m->devices[m->n++] = device;
	return true;
}

static bool map_words(struct map *m, struct bytes text, struct err *err)
{
	uint32_t line = 1;
	m->n = 0;
	for (size_t i = 0; i < text.n;) {
		size_t n = 0;
		if (text.data[i] == '#')
			while (i < text.n && text.data[i] != '\n')
				i++;
		while (i + n < text.n && text.data[i + n] != '#' &&
			!isspace((unsigned char)text.data[i + n]))
			n++;
		if (n > 0 && !add_word(m, text.data + i, n, line, err))
			return false;
		i += n;
		if (i < text.n && text.data[i] == '\n')
			line++;
		i += i < text.n && isspace((unsigned char)text.data[i]);
	}
	return m->n > 0 || err_set(err, ERR_INPUT, "%s: no devices", m->path);
}

bool topo_map_ranks(struct arena *a, const struct topo *t, const char *how, uint32_t **devices,
	uint32_t *n, struct err *err)
{
	struct arena work = {0};
	struct bytes text;
	struct map m = {.t = t, .path = how, .n = t->n_devices};
	m.devices = arena_array(a, t->n_devices, uint32_t);
	for (uint32_t i = 0; i < m.n; i++)
		m.devices[i] = i;
	bool ok = true;
	if (strncmp(how, "random:", 7) == 0) {
		ok = map_random(how + 7, &m, err);
	} else if (strcmp(how, "linear") != 0) {
		m.taken = arena_array(&work, t->n_devices, bool);
		for (uint32_t i = 0; i < t->n_devices; i++)
			name_index_add(&work, &m.names, t->nodes[i].name);
		ok = file_read(&work, how, &text, err) && map_words(&m, text, err);
	}
	arena_free(&work);
	*devices = m.devices;
	*n = m.n;
	return ok;
}
