#include "trace/wire.h"

bool wire_varint(struct wire *w, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 70 && w->at < w->end; shift += 7) {
		uint64_t byte = w->data[w->at++];
		if (shift < 64)
			*out |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool read_fixed(struct wire *w, unsigned n, uint64_t *out)
{
	*out = 0;
	if (w->end - w->at < n)
		return false;
	for (unsigned i = 0; i < n; i++)
		*out |= (uint64_t)w->data[w->at++] << 8 * i;
	return true;
}

bool wire_bytes(struct wire *w, struct wire *out)
{
	uint64_t n;
	if (!wire_varint(w, &n) || n > w->end - w->at)
		return false;
	*out = (struct wire){w->data, w->at, w->at + (size_t)n};
	w->at += (size_t)n;
	return true;
}

bool wire_field(struct wire *w, struct field *f)
{
	uint64_t tag;
	*f = (struct field){0};
	if (!wire_varint(w, &tag) || tag >> 3 == 0 || tag >> 3 >= 1u << 29)
		return false;
	f->number = (uint32_t)(tag >> 3);
	f->type = (uint32_t)(tag & 7);
	switch (f->type) {
	case WIRE_VARINT:
		return wire_varint(w, &f->value);
	case WIRE_64:
		return read_fixed(w, 8, &f->value);
	case WIRE_BYTES:
		return wire_bytes(w, &f->content);
	case WIRE_32:
		return read_fixed(w, 4, &f->value);
	}
	return false;
}

const char *wire_text(struct arena *a, const struct wire *w)
{
	return arena_strndup(a, (const char *)w->data + w->at, w->end - w->at);
}
