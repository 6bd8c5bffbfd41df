#include "prog/internal.h"

#include <stdarg.h>
#include <string.h>

bool lex_fail(const struct lexer *lex, uint32_t col, struct err *err, const char *fmt, ...)
{
	va_list ap;
	struct text t = {0};
	va_start(ap, fmt);
	text_vadd(&t, fmt, ap);
	va_end(ap);
	err_set(err, ERR_INPUT, "%s:%u:%u: %s", lex->path, lex->line, col, t.data);
	text_free(&t);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool at_end(const struct lexer *lex)
{
	return lex->pos == lex->n || lex->data[lex->pos] == '\n';
}

bool word_is_plain(const char *s)
{
	if (*s == '\0' || *s == '#' || *s == '@' || (*s >= '0' && *s <= '9'))
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == '"' || *s == '=' || *s == 0x7f)
			return false;
	return true;
}

/* The character that "\c" stands for, or 0. */
static char unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '"':
	case '\\':
		return c;
	default:
		return '\0';
	}
}

/* Reads from the opening quote to the closing one. */
static bool lex_quoted(struct lexer *lex, struct word *w, struct err *err)
{
	size_t end = lex->pos + 1;
	while (end < lex->n && lex->data[end] != '"' && lex->data[end] != '\n')
		end += lex->data[end] == '\\' && end + 1 < lex->n ? 2 : 1;
	if (end >= lex->n || lex->data[end] != '"')
		return lex_fail(lex, w->col, err, "quoted word without an end, expected '\"'");
	char *s = arena_alloc(lex->a, end - lex->pos, 1);
	uint32_t n = 0;
	for (size_t i = lex->pos + 1; i < end; i++) {
		char c = lex->data[i];
		if (c == '\0')
			return lex_fail(lex, w->col, err, "zero byte in a quoted word");
		if (c == '\\' && (c = unescape(lex->data[++i])) == '\0')
			return lex_fail(lex, w->col, err,
				"unknown escape '\\%c', expected \\n, \\t, \\\" or \\\\",
				lex->data[i]);
		s[n++] = c;
	}
	w->s = s;
	w->n = n;
	w->quoted = true;
	lex->pos = end + 1;
	if (!at_end(lex) && !is_blank(lex->data[lex->pos]))
		return lex_fail(lex, w->col, err, "expected a blank after the quoted word");
	return true;
}

static bool lex_word(struct lexer *lex, struct word *w, struct err *err)
{
	if (lex->data[lex->pos] == '"')
		return lex_quoted(lex, w, err);
	size_t start = lex->pos;
	while (!at_end(lex) && !is_blank(lex->data[lex->pos])) {
		unsigned char c = (unsigned char)lex->data[lex->pos];
		if (c < ' ' || c == 0x7f)
			return lex_fail(lex, w->col, err, "control character 0x%02x in a word", c);
		lex->pos++;
	}
	w->n = (uint32_t)(lex->pos - start);
	w->s = arena_strndup(lex->a, lex->data + start, w->n);
	return true;
}

static bool lex_words(struct lexer *lex, size_t start, struct err *err)
{
	for (;;) {
		while (!at_end(lex) && is_blank(lex->data[lex->pos]))
			lex->pos++;
		if (at_end(lex))
			return true;
		if (lex->data[lex->pos] == '#') {
			const char *nl = memchr(lex->data + lex->pos, '\n', lex->n - lex->pos);
			lex->pos = nl ? (size_t)(nl - lex->data) : lex->n;
			return true;
		}
		struct word w = {.col = (uint32_t)(lex->pos - start + 1)};
		if (!lex_word(lex, &w, err))
			return false;
		arena_push(lex->a, lex->words, lex->n_words, lex->cap_words) = w;
	}
}

bool lex_line(struct lexer *lex, struct err *err)
{
	lex->n_words = 0;
	while (lex->pos < lex->n && lex->n_words == 0) {
		lex->line++;
		if (!lex_words(lex, lex->pos, err))
			return false;
		if (lex->pos < lex->n)
			lex->pos++;
	}
	return lex->n_words > 0;
}
