#include "base/names.h"

#include <string.h>

enum { SLOTS_MIN = 64 };

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

/* The slot that holds the name, or the empty one where it belongs. The order of the slots is
 * never looked at. */
static uint32_t slot_of(const struct name_index *index, const char *s, size_t n)
{
	uint32_t i = (uint32_t)(name_hash(s, n) & (index->n_slots - 1));
	while (index->slots[i] != 0 && !same(index->items[index->slots[i] - 1], s, n))
		i = (i + 1) & (index->n_slots - 1);
	return i;
}

uint32_t name_index_find(const struct name_index *index, const char *s, size_t n)
{
	if (index->n_slots == 0)
		return NAME_ABSENT;
	uint32_t slot = index->slots[slot_of(index, s, n)];
	return slot == 0 ? NAME_ABSENT : slot - 1;
}

static void make_room(struct arena *a, struct name_index *index)
{
	if (index->n_slots > 2 * index->n)
		return;
	index->n_slots = index->n_slots ? 2 * index->n_slots : SLOTS_MIN;
	index->slots = arena_array(a, index->n_slots, uint32_t);
	for (uint32_t i = 0; i < index->n; i++)
		index->slots[slot_of(index, index->items[i], strlen(index->items[i]))] = i + 1;
}

uint32_t name_index_put(struct arena *a, struct name_index *index, const char *s, size_t n)
{
	make_room(a, index);
	uint32_t slot = slot_of(index, s, n);
	if (index->slots[slot] == 0) {
		arena_push(a, index->items, index->n, index->cap) = arena_strndup(a, s, n);
		index->slots[slot] = index->n;
	}
	return index->slots[slot] - 1;
}

bool name_index_add(struct arena *a, struct name_index *index, const char *s)
{
	uint32_t before = index->n;
	name_index_put(a, index, s, strlen(s));
	return index->n > before;
}
