/* Errors that a user can cause: a bad file, a bad flag, a plan that does not fit.
 * Bugs are assert()ed and running out of memory ends the process, so neither appears here. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

/* The value is the exit status of the program. */
enum err_kind {
	ERR_NONE = 0,
	ERR_ANSWER =
		1, /* it ran, and the answer is no: deadlock, nothing feasible, out of memory of a device */
	ERR_USAGE = 2,    /* unknown verb, flag or name; flags that contradict each other */
	ERR_IO = 3,       /* cannot read or write */
	ERR_INPUT = 4,    /* malformed or inconsistent input */
	ERR_INTERNAL = 5, /* unsupported, or a helper process died */
};

enum { ERR_TEXT = 1024 };

struct err {
	enum err_kind kind;
	char text
		[ERR_TEXT]; /* "models/x.json:12:3: unknown operator 'Foo', ..."; no newline at the end */
};

/* Says what went wrong and returns false, so that a caller can write `return err_set(...)`.
 * A text that does not fit is cut at a whole character and ends in "...". */
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts more context in front of the text that is already there; returns false. */
bool err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
