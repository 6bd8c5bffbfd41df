/* What the files of base/ share and nobody else needs. */
#ifndef BASE_INTERNAL_H
#define BASE_INTERNAL_H

#include <stddef.h>

#include "base/doc.h"
#include "base/units.h"

/* "a bandwidth such as "12.5GB/s" or "100Gbps"", for texts that say what was expected. */
const char *unit_expectation(enum unit_dim dim);

/* Length of the longest start of `s` that has at most `max` bytes and ends at a whole UTF-8
 * character. */
size_t utf8_cut(const char *s, size_t max);

/* How many characters the first `n` bytes of `s` hold, counting one per UTF-8 sequence. */
size_t utf8_count(const char *s, size_t n);

/* As file_read(), with another limit than FILE_MAX. */
bool file_read_max(
	struct arena *a, const char *path, uint64_t max, struct bytes *out, struct err *err);

/* Places in the text of a document: of a value; of the key of that name in the object that
 * starts at `s`; of the end of the value that starts at `s`. */
const char *doc_find_value(struct doc_at at);
const char *doc_find_key(const char *s, const char *key);
const char *doc_find_end(const char *s);

#endif
