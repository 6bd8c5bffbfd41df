/* A file with a given content for the time of one test. */
#ifndef TESTS_TOPO_TEMP_H
#define TESTS_TOPO_TEMP_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topo/topo.h"

/* Reads `text` as a topology file of its own. */
static inline bool temp_read(struct arena *a, const char *text, struct topo *out, struct err *err)
{
	char path[] = "/tmp/wham_topo_XXXXXX";
	int fd = mkstemp(path);
	assert(fd >= 0);
	ssize_t n = write(fd, text, strlen(text));
	assert(n == (ssize_t)strlen(text));
	close(fd);
	bool ok = topo_read(a, path, out, err);
	unlink(path);
	return ok;
}

/* The error of reading `text` must be ERR_INPUT, be of the line and column and contain `part`. */
static inline bool temp_refused(const char *text, const char *place, const char *part)
{
	struct arena a = {0};
	struct err err = {0};
	struct topo t;
	bool ok = !temp_read(&a, text, &t, &err) && err.kind == ERR_INPUT &&
		  strstr(err.text, place) && strstr(err.text, part);
	if (!ok)
		printf("\n'%s', expected '%s' and '%s'\n", err.text, place, part);
	arena_free(&a);
	return ok;
}

#endif
