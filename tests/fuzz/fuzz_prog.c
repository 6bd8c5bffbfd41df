/* Any bytes as a prog in text form. What is read is written and read again, to the same bytes, and
 * checked. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "prog/prog.h"

static void read_and_write(const struct prog *p)
{
	struct arena a = {0};
	struct err err = {0};
	struct prog again;
	struct text first = {0}, second = {0};
	prog_write(p, &first);
	bool ok = prog_parse(&a, "again", first.data, first.n, &again, &err);
	assert(ok);
	prog_write(&again, &second);
	assert(first.n == second.n && memcmp(first.data, second.data, first.n) == 0);
	text_free(&first);
	text_free(&second);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena a = {0};
	struct err err = {0};
	struct prog p;
	const char *text = arena_grow(&a, data, n, n + 1, 1); /* '\0' behind it, as behind a file */
	if (prog_parse(&a, "fuzz.prog", text, n, &p, &err)) {
		read_and_write(&p);
		if (!prog_check(&p, &err))
			assert(err.kind == ERR_INPUT || err.kind == ERR_ANSWER);
	} else {
		assert(err.kind == ERR_INPUT && strncmp(err.text, "fuzz.prog", 9) == 0);
	}
	arena_free(&a);
	return 0;
}

/* A prog that ends between two lines is a shorter prog: nothing to ask for. */
int fuzz_refuses(const uint8_t *data, size_t n)
{
	LLVMFuzzerTestOneInput(data, n);
	return 1;
}
