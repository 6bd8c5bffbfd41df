#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/internal.h"

static const char cut_mark[] = "...";

size_t utf8_cut(const char *s, size_t max)
{
	size_t n = strnlen(s, max + 1);
	if (n <= max)
		return n;
	n = max;
	while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80)
		n--;
	return n;
}

size_t utf8_count(const char *s, size_t n)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)s[i] & 0xC0) != 0x80;
	return count;
}

static void keep(struct err *err, const char *text)
{
	size_t n = strlen(text);
	if (n < ERR_TEXT) {
		memcpy(err->text, text, n + 1);
		return;
	}
	n = utf8_cut(text, ERR_TEXT - sizeof(cut_mark));
	memcpy(err->text, text, n);
	memcpy(err->text + n, cut_mark, sizeof(cut_mark));
}

bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	char text[2 * ERR_TEXT]; /* apart from err->text, which may be among the arguments */
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assert(n >= 0);
	err->kind = kind;
	keep(err, text);
	return false;
}

bool err_prefix(struct err *err, const char *fmt, ...)
{
	char text[2 * ERR_TEXT];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assert(n >= 0);
	size_t start = strlen(text);
	size_t room = sizeof(text) - start - 1;
	size_t old = strnlen(err->text, ERR_TEXT - 1);
	memcpy(text + start, err->text, old < room ? old : room);
	text[start + (old < room ? old : room)] = '\0';
	keep(err, text);
	return false;
}
