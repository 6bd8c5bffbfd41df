/* Text that grows, and names that are nearly right. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* All-zero is a valid, empty text. `data` is NULL or ends in '\0' at data[n]. */
struct text {
	char *data;
	size_t n, cap;
};

void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(struct text *t, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void text_add_bytes(struct text *t, const void *data, size_t n);
void text_free(struct text *t);

/* The one of the `n` names that is nearest to `word` (edit distance with swaps, case ignored),
 * or NULL when none is near enough to be meant: at most a third of the word's length, at least
 * 1, is wrong. */
const char *text_nearest(const char *word, const char *const *names, size_t n);

#endif
