#include "graph/expr.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { MAX_DEPTH = 32 };

struct parser {
	const char *text, *at;
	const struct scope *scope;
	struct err *err;
	int depth;
};

static bool parse_sum(struct parser *p, uint64_t *value);

static char peek(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
	return *p->at;
}

static bool take(struct parser *p, char c)
{
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

static bool expected(struct parser *p, const char *what)
{
	return err_set(
		p->err, ERR_INPUT, "expression '%s': expected %s at '%s'", p->text, what, p->at);
}

static bool too_large(struct parser *p)
{
	return err_set(p->err, ERR_INPUT, "expression '%s': the value exceeds 2^63-1", p->text);
}

static bool parse_number(struct parser *p, uint64_t *value)
{
	*value = 0;
	for (; isdigit((unsigned char)*p->at); p->at++) {
		uint64_t digit = (uint64_t)(*p->at - '0');
		if (*value > (INT64_MAX - digit) / 10)
			return too_large(p);
		*value = 10 * *value + digit;
	}
	return true;
}

static bool unknown_name(struct parser *p, const char *name)
{
	struct arena a = {0};
	const char **names = NULL;
	size_t n = 0, cap = 0;
	for (const struct scope *s = p->scope; s; s = s->outer)
		for (uint32_t i = 0; i < s->n; i++)
			arena_push(&a, names, n, cap) = s->variables[i].name;
	const char *near = text_nearest(name, names, n);
	err_set(p->err, ERR_INPUT, "expression '%s': unknown parameter '%s'%s%s%s", p->text, name,
		near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	arena_free(&a);
	return false;
}

static bool parse_call(struct parser *p, bool larger, uint64_t *value)
{
	uint64_t x = 0, y = 0;
	if (!parse_sum(p, &x))
		return false;
	if (!take(p, ','))
		return expected(p, "','");
	if (!parse_sum(p, &y))
		return false;
	if (!take(p, ')'))
		return expected(p, "')'");
	*value = (x > y) == larger ? x : y;
	return true;
}

static bool parse_name(struct parser *p, uint64_t *value)
{
	char name[64] = {0};
	size_t n = 0;
	while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
		n++;
	if (n >= sizeof(name))
		return expected(p, "a name below 64 characters");
	memcpy(name, p->at, n);
	p->at += n;
	if ((strcmp(name, "max") == 0 || strcmp(name, "min") == 0) && take(p, '('))
		return parse_call(p, name[1] == 'a', value);
	for (const struct scope *s = p->scope; s; s = s->outer)
		for (uint32_t i = 0; i < s->n; i++)
			if (strcmp(s->variables[i].name, name) == 0) {
				*value = s->variables[i].value;
				return true;
			}
	return unknown_name(p, name);
}

static bool parse_atom(struct parser *p, uint64_t *value)
{
	char c = peek(p);
	if (isdigit((unsigned char)c))
		return parse_number(p, value);
	if (isalpha((unsigned char)c) || c == '_')
		return parse_name(p, value);
	if (!take(p, '('))
		return expected(p, "a number, a parameter or '('");
	if (!parse_sum(p, value))
		return false;
	return take(p, ')') || expected(p, "')'");
}

static bool divide(struct parser *p, uint64_t *value, uint64_t by)
{
	if (by == 0)
		return err_set(p->err, ERR_INPUT, "expression '%s': division by 0", p->text);
	if (*value % by != 0)
		return err_set(p->err, ERR_INPUT,
			"expression '%s': %" PRIu64 " is not divisible by %" PRIu64, p->text,
			*value, by);
	*value /= by;
	return true;
}

static bool parse_product(struct parser *p, uint64_t *value)
{
	if (!parse_atom(p, value))
		return false;
	for (char c = peek(p); c == '*' || c == '/'; c = peek(p)) {
		uint64_t right = 0;
		p->at++;
		if (!parse_atom(p, &right))
			return false;
		if (c == '/' && !divide(p, value, right))
			return false;
		if (c == '*' && right != 0 && *value > INT64_MAX / right)
			return too_large(p);
		if (c == '*')
			*value *= right;
	}
	return true;
}

static bool add_or_subtract(struct parser *p, char c, uint64_t *value, uint64_t right)
{
	if (c == '-' && right > *value)
		return err_set(p->err, ERR_INPUT,
			"expression '%s': %" PRIu64 " - %" PRIu64 " is negative", p->text, *value,
			right);
	if (c == '+' && *value + right > INT64_MAX)
		return too_large(p);
	*value = c == '+' ? *value + right : *value - right;
	return true;
}

static bool parse_sum(struct parser *p, uint64_t *value)
{
	if (++p->depth > MAX_DEPTH)
		return expected(p, "fewer nested parentheses");
	if (!parse_product(p, value))
		return false;
	for (char c = peek(p); c == '+' || c == '-'; c = peek(p)) {
		uint64_t right = 0;
		p->at++;
		if (!parse_product(p, &right) || !add_or_subtract(p, c, value, right))
			return false;
	}
	p->depth--;
	return true;
}

bool expr_value(const char *text, const struct scope *scope, uint64_t *value, struct err *err)
{
	*value = 0;
	struct parser p = {.text = text, .at = text, .scope = scope, .err = err};
	if (!parse_sum(&p, value))
		return false;
	return peek(&p) == '\0' || expected(&p, "an operator or the end");
}
