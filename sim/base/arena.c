#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_MIN = 4 << 10, BLOCK_MAX = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	alignas(max_align_t) char data[];
};

static _Noreturn void out_of_memory(size_t n, size_t size)
{
	fprintf(stderr, "out of memory: %zu x %zu bytes\n", n, size);
	abort();
}

static size_t total(size_t n, size_t size)
{
	if (size > 0 && n > (SIZE_MAX / 2) / size)
		out_of_memory(n, size);
	return n * size;
}

void *mem_alloc(size_t n, size_t size)
{
	size_t bytes = total(n, size);
	void *p = calloc(bytes > 0 ? bytes : 1, 1);
	if (!p)
		out_of_memory(n, size);
	return p;
}

void *mem_grow(void *old, size_t n, size_t size)
{
	size_t bytes = total(n, size);
	void *p = realloc(old, bytes > 0 ? bytes : 1);
	if (!p)
		out_of_memory(n, size);
	return p;
}

static struct arena_block *block_create(size_t size)
{
	struct arena_block *b = mem_alloc(1, sizeof(*b) + size);
	b->size = size;
	return b;
}

/* Adds a block with room for `bytes`. What would fill most of a block gets one of its own below the
 * top, so that the room that is left in the top block stays in use. */
static struct arena_block *add_block(struct arena *a, size_t bytes)
{
	size_t size = a->top ? 2 * a->top->size : BLOCK_MIN;
	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (a->top && bytes > size / 4) {
		struct arena_block *own = block_create(bytes);
		own->next = a->top->next;
		a->top->next = own;
		return own;
	}
	struct arena_block *b = block_create(bytes > size ? bytes : size);
	b->next = a->top;
	a->top = b;
	return b;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t align = alignof(max_align_t);
	size_t bytes = (total(n, size) + align - 1) / align * align;
	if (bytes == 0)
		bytes = align;
	struct arena_block *b = a->top;
	if (!b || b->size - b->used < bytes)
		b = add_block(a, bytes);
	void *p = b->data + b->used;
	b->used += bytes;
	return p;
}

void *arena_grow(struct arena *a, const void *old, size_t n_old, size_t n_new, size_t size)
{
	assert(n_old <= n_new);
	void *p = arena_alloc(a, n_new, size);
	if (n_old > 0 && size > 0)
		memcpy(p, old, n_old * size);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_grow(a, s, strlen(s), strlen(s) + 1, 1);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	return arena_grow(a, s, len, len + 1, 1);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	char *s = arena_alloc(a, (size_t)n + 1, 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

void arena_free(struct arena *a)
{
	for (struct arena_block *b = a->top, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	a->top = NULL;
}
