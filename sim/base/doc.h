/* A JSON document and places in it. Every complaint names file, line and column.
 *
 *     struct doc doc;
 *     if (!doc_read(&doc, a, path, err)) ...
 *     struct doc_at root = doc_root(&doc), bw;
 *     doc_object(root, keys, err) && doc_get(&root, "bw", &bw, err) && doc_quantity(bw, UNIT_BANDWIDTH, 1, &v, err) */
#ifndef BASE_DOC_H
#define BASE_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/units.h"

struct doc {
	const char *path; /* as the user gave it */
	struct bytes text;
	json_t *root;
};

/* A value and the way to it. `parent` points at the caller's own doc_at and must stay alive as
 * long. */
struct doc_at {
	const struct doc *doc;
	json_t *value;
	const struct doc_at *parent; /* NULL for the root */
	const char *key;             /* when the parent is an object */
	size_t index;                /* when the parent is an array */
};

/* Duplicate keys are refused, and so is nesting deeper than 2048. The text and the path live in
 * `a`, or with doc_parse() are the caller's and must outlive the doc; doc_finish() frees the
 * rest, also after a failure. */
bool doc_read(struct doc *doc, struct arena *a, const char *path, struct err *err);
bool doc_parse(struct doc *doc, const char *path, struct bytes text, struct err *err);
void doc_finish(struct doc *doc);

struct doc_at doc_root(const struct doc *doc);

/* Sets "path:line:col: " followed by the message; kind ERR_INPUT. Returns false. */
bool doc_fail(struct doc_at at, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Requires an object all of whose keys are in the NULL-terminated list; names the nearest known
 * one. */
bool doc_object(struct doc_at at, const char *const *keys, struct err *err);

/* Requires an array of at least `min` elements. */
bool doc_array(struct doc_at at, size_t min, struct err *err);
size_t doc_length(struct doc_at at);
struct doc_at doc_item(const struct doc_at *array, size_t i);

bool doc_find(const struct doc_at *object, const char *key, struct doc_at *out);
bool doc_get(const struct doc_at *object, const char *key, struct doc_at *out, struct err *err);

/* Each reads one value of its type, or says what was expected. Strings live as long as the doc. */
bool doc_string(struct doc_at at, const char **out, struct err *err);
bool doc_bool(struct doc_at at, bool *out, struct err *err);
/* Takes 1e3 and 5.0 as whole, but a number with a point or an exponent only up to 2^53; 1.5 is
 * refused. */
bool doc_uint(struct doc_at at, uint64_t min, uint64_t max, uint64_t *out, struct err *err);
bool doc_number(struct doc_at at, double min, double max, double *out, struct err *err);
/* `min` is the smallest value accepted, in the base unit of `dim`. */
bool doc_quantity(
	struct doc_at at, enum unit_dim dim, uint64_t min, uint64_t *out, struct err *err);

#endif
