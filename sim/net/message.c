/* What a dead SimGrid meant to say. It prints a line of its log and then pages of C++ backtrace,
 * as in
 *     [0.000000] ./src/x.cpp:95: [xbt_exception/ERROR] Parse error at /proc/self/fd/4:3: no
 * */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "net/internal.h"

/* What follows "/CRITICAL] " or "/ERROR] ", or NULL. */
static const char *find_verdict(const char *line)
{
	static const char *const marks[] = {"/CRITICAL] ", "/ERROR] "};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *at = strstr(line, marks[i]);
		if (at)
			return at + strlen(marks[i]);
	}
	return NULL;
}

static bool is_backtrace(const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	return *line == '\0' || *line == '#' || strncmp(line, "->", 2) == 0 ||
	       strstr(line, "acktrace") != NULL;
}

/* "/proc/self/fd/7:3" means line 3 of what we wrote. */
static void hide_descriptor(char *line)
{
	static const char prefix[] = "/proc/self/fd/";
	char *at = strstr(line, prefix);
	if (!at)
		return;
	char *rest = at + strlen(prefix);
	rest += strspn(rest, "0123456789");
	rest += *rest == ':';
	static const char instead[] = "line ";
	memcpy(at, instead, strlen(instead));
	memmove(at + strlen(instead), rest, strlen(rest) + 1);
}

const char *net_last_message(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text), *chosen = arena_strdup(a, "");
	for (char *line = copy, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		const char *verdict = find_verdict(line);
		if (verdict) {
			chosen = arena_strdup(a, verdict);
			break;
		}
		if (!is_backtrace(line))
			chosen = line;
	}
	hide_descriptor(chosen);
	return chosen;
}
