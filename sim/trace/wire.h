/* The wire format of protocol buffers: fields of messages. */
#ifndef TRACE_WIRE_H
#define TRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* Bytes from `at` to `end` of `data`; reading moves `at`. */
struct wire {
	const unsigned char *data;
	size_t at, end;
};

struct field {
	uint32_t number, type;
	uint64_t value;      /* numbers */
	struct wire content; /* bytes */
};

/* False when the bytes end early or are no such thing. */
bool wire_varint(struct wire *w, uint64_t *out);
bool wire_bytes(struct wire *w, struct wire *out); /* a length and as many bytes */
bool wire_field(struct wire *w, struct field *out);

/* All of `w`, which stays where it is, as text. */
const char *wire_text(struct arena *a, const struct wire *w);

#endif
