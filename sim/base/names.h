/* Names with the numbers that they got: the first is 0, the next new one 1, and so on. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define NAME_ABSENT UINT32_MAX

/* All-zero is a valid, empty index. Names are copied into the arena; equal names share one copy. */
struct name_index {
	const char **items;
	uint32_t n, cap;
	uint32_t *slots; /* open addressing: 1 + number, 0 while empty */
	uint32_t n_slots;
};

/* The number of the name, a new one if it is not there yet. `s` need not end after `n` bytes. */
uint32_t name_index_put(struct arena *a, struct name_index *index, const char *s, size_t n);

/* False when the name is there already; otherwise it is put. */
bool name_index_add(struct arena *a, struct name_index *index, const char *s);

/* NAME_ABSENT when it is not there. */
uint32_t name_index_find(const struct name_index *index, const char *s, size_t n);

/* FNV-1a, 64 bits. */
uint64_t name_hash(const char *s, size_t n);

#endif
