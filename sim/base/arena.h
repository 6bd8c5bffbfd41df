/* An arena: things that are born one by one and die together. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *top; /* an all-zero arena is a valid, empty one */
};

/* Returns zeroed memory for `n` objects of `size` bytes, aligned for any type.
 * Never NULL: without memory the process ends with a message. */
void *arena_alloc(struct arena *a, size_t n, size_t size);

#define arena_new(a, type) ((type *)arena_alloc((a), 1, sizeof(type)))
#define arena_array(a, n, type) ((type *)arena_alloc((a), (n), sizeof(type)))

/* Returns memory for `n_new` objects that starts with the `n_old` ones of `old`; the rest is zero.
 * `old` may be NULL when `n_old` is 0. The old memory stays in the arena. */
void *arena_grow(struct arena *a, const void *old, size_t n_old, size_t n_new, size_t size);

/* Makes room for one more element of `array`, doubling `cap` as needed:
 *     arena_push(a, list, n_list, cap_list) = value;  (n_list is incremented) */
#define arena_push(a, array, n, cap) \
	(*((array) = (n) < (cap) ? (array) \
				 : arena_grow((a), (array), (n), ((cap) = (cap) ? 2 * (cap) : 8), \
					   sizeof(*(array))), \
		&(array)[(n)++]))

char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Frees everything that came from `a` and leaves it empty and usable. */
void arena_free(struct arena *a);

/* malloc and realloc that never return NULL; for memory that outlives no arena. */
void *mem_alloc(size_t n, size_t size);
void *mem_grow(void *old, size_t n, size_t size);

#endif
