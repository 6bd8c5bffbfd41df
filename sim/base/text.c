#include "base/text.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { WORD_MAX = 63 }; /* longer words are not compared: nobody mistypes one by a letter or two */

static void make_room(struct text *t, size_t n)
{
	size_t need = t->n + n + 1;
	if (need <= t->cap)
		return;
	size_t cap = t->cap ? 2 * t->cap : 64;
	t->cap = cap > need ? cap : need;
	t->data = mem_grow(t->data, t->cap, 1);
}

void text_vadd(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	assert(n >= 0);
	make_room(t, (size_t)n);
	vsnprintf(t->data + t->n, (size_t)n + 1, fmt, ap);
	t->n += (size_t)n;
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	text_vadd(t, fmt, ap);
	va_end(ap);
}

void text_add_bytes(struct text *t, const void *data, size_t n)
{
	make_room(t, n);
	if (n > 0)
		memcpy(t->data + t->n, data, n);
	t->n += n;
	t->data[t->n] = '\0';
}

void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_letter(char a, char b)
{
	return lower(a) == lower(b);
}

/* Optimal string alignment: insert, delete, change, or swap two neighbours, each for 1. */
static size_t edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t rows[3][WORD_MAX + 1];
	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *row = rows[i % 3];
		const size_t *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			bool same = same_letter(a[i - 1], b[j - 1]);
			row[j] = min2(min2(up[j], row[j - 1]) + 1, up[j - 1] + !same);
			bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
				       same_letter(a[i - 2], b[j - 1]);
			if (swapped)
				row[j] = min2(row[j], up2[j - 2] + 1);
		}
	}
	return rows[n_a % 3][n_b];
}

const char *text_nearest(const char *word, const char *const *names, size_t n)
{
	size_t len = strlen(word);
	if (len > WORD_MAX)
		return NULL;
	size_t best = len / 3 > 1 ? len / 3 + 1 : 2;
	const char *nearest = NULL;
	for (size_t i = 0; i < n; i++) {
		size_t n_name = strlen(names[i]);
		if (n_name > WORD_MAX)
			continue;
		size_t d = edit_distance(word, len, names[i], n_name);
		if (d < best) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}
