#include "prog/internal.h"

#include <string.h>

enum { SLOTS_MIN = 64 };

/* FNV-1a, 64 bits. */
uint64_t name_hash(const char *s, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
	return h;
}

static bool same(const char *item, const char *s, size_t n)
{
	return strncmp(item, s, n) == 0 && item[n] == '\0';
}

/* The slot that holds the string, or the empty one where it belongs. */
static uint32_t slot_of(const struct names *t, const char *s, size_t n)
{
	uint32_t i = (uint32_t)(name_hash(s, n) & (t->n_slots - 1));
	while (t->slots[i] != 0 && !same(t->items[t->slots[i] - 1], s, n))
		i = (i + 1) & (t->n_slots - 1);
	return i;
}

uint32_t names_find(const struct names *t, const char *s, size_t n)
{
	if (t->n_slots == 0)
		return PROG_NONE;
	uint32_t slot = t->slots[slot_of(t, s, n)];
	return slot == 0 ? PROG_NONE : slot - 1;
}

static void make_room(struct arena *a, struct names *t)
{
	if (t->n_slots > 2 * t->n)
		return;
	t->n_slots = t->n_slots ? 2 * t->n_slots : SLOTS_MIN;
	t->slots = arena_array(a, t->n_slots, uint32_t);
	for (uint32_t i = 0; i < t->n; i++)
		t->slots[slot_of(t, t->items[i], strlen(t->items[i]))] = i + 1;
}

uint32_t names_put(struct arena *a, struct names *t, const char *s, size_t n)
{
	make_room(a, t);
	uint32_t slot = slot_of(t, s, n);
	if (t->slots[slot] == 0) {
		arena_push(a, t->items, t->n, t->cap) = arena_strndup(a, s, n);
		t->slots[slot] = t->n;
	}
	return t->slots[slot] - 1;
}
