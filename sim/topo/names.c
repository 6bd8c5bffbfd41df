#include "topo/internal.h"

#include <string.h>

/* FNV-1a. The order of the slots is never looked at. */
static uint32_t hash(const char *key)
{
	uint32_t h = 2166136261U;
	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619U;
	return h;
}

/* The slot that holds `key`, or the free one where it belongs. `cap` is a power of two. */
static uint32_t slot_of(const struct names *set, const char *key)
{
	uint32_t i = hash(key) & (set->cap - 1);
	while (set->keys[i] && strcmp(set->keys[i], key) != 0)
		i = (i + 1) & (set->cap - 1);
	return i;
}

static void grow(struct names *set)
{
	struct names old = *set;
	set->cap = old.cap ? 2 * old.cap : 64;
	set->keys = arena_array(set->a, set->cap, const char *);
	set->values = arena_array(set->a, set->cap, uint32_t);
	for (uint32_t i = 0; i < old.cap; i++) {
		if (!old.keys[i])
			continue;
		uint32_t at = slot_of(set, old.keys[i]);
		set->keys[at] = old.keys[i];
		set->values[at] = old.values[i];
	}
}

bool names_add(struct names *set, const char *key, uint32_t value)
{
	if (2 * (set->n + 1) > set->cap)
		grow(set);
	uint32_t at = slot_of(set, key);
	if (set->keys[at])
		return false;
	set->keys[at] = key;
	set->values[at] = value;
	set->n++;
	return true;
}

const uint32_t *names_find(const struct names *set, const char *key)
{
	if (set->cap == 0)
		return NULL;
	uint32_t at = slot_of(set, key);
	return set->keys[at] ? &set->values[at] : NULL;
}
