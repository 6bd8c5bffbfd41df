/* Finds the place of a value in the text of a document that has been parsed without error. */
#include <string.h>

#include "base/internal.h"

static const char *skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* From the opening quote of a string to behind its closing one. */
static const char *skip_string(const char *s)
{
	for (s++; *s != '"' && *s != '\0'; s++)
		s += *s == '\\' && s[1] != '\0';
	return s + (*s == '"');
}

static const char *skip_value(const char *s)
{
	size_t depth = 0;
	do {
		if (*s == '"') {
			s = skip_string(s);
		} else if (*s == '[' || *s == '{') {
			depth++;
			s++;
		} else if (*s == ']' || *s == '}') {
			depth--;
			s++;
		} else {
			s += 1 + strcspn(s + 1, ",:\"[]{} \t\r\n");
		}
		if (depth > 0)
			s = skip_space(s);
	} while (depth > 0 && *s != '\0');
	return s;
}

static bool is_key(const char *s, const char *end, const char *key)
{
	json_t *name = json_loadb(s, (size_t)(end - s), JSON_DECODE_ANY, NULL);
	bool same = name && strcmp(json_string_value(name), key) == 0;
	json_decref(name);
	return same;
}

const char *doc_find_key(const char *s, const char *key)
{
	s = skip_space(s + 1);
	while (*s == '"') {
		const char *end = skip_string(s);
		if (is_key(s, end, key))
			return s;
		s = skip_space(end);
		s = skip_space(skip_value(skip_space(s + 1)));
		s = skip_space(s + (*s == ','));
	}
	return s;
}

static const char *find_element(const char *s, size_t index)
{
	s = skip_space(s + 1);
	while (index-- > 0) {
		s = skip_space(skip_value(s));
		s = skip_space(s + (*s == ','));
	}
	return s;
}

const char *doc_find_value(struct doc_at at)
{
	if (!at.parent)
		return skip_space(at.doc->text.data);
	const char *s = doc_find_value(*at.parent);
	if (json_is_array(at.parent->value))
		return find_element(s, at.index);
	s = doc_find_key(s, at.key);
	return skip_space(skip_space(skip_string(s)) + 1);
}

const char *doc_find_end(const char *s)
{
	return skip_value(s);
}
