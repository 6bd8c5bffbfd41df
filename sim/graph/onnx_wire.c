#include "graph/onnx_internal.h"

/* A message of the wire format, walked by its descriptor. See the protocol-buffers encoding
 * guide. */
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* If and Loop nest graphs: 5 messages for each level. protobuf-c recurses without a limit of
 * its own. */
enum { WIRE_MAX_DEPTH = 64 };

struct wire {
	const uint8_t *data;
	size_t at;
	const char *path;
	struct err *err;
};

static bool wire_fail(const struct wire *w, const char *what)
{
	return err_set(
		w->err, ERR_INPUT, "%s: not an ONNX model: %s at byte %zu", w->path, what, w->at);
}

static bool wire_varint(struct wire *w, size_t end, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (w->at == end)
			return wire_fail(w, "cut off");
		uint8_t byte = w->data[w->at++];
		if (shift < 64)
			*out |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return wire_fail(w, "a number of more than 10 bytes");
}

static bool wire_skip(struct wire *w, size_t end, uint64_t n)
{
	if (n > end - w->at)
		return wire_fail(w, "cut off");
	w->at += (size_t)n;
	return true;
}

/* How many bytes the UTF-8 sequence takes that starts with `lead`; 0 for one that starts none. */
static size_t utf8_length(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if ((lead & 0xf0) == 0xe0)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

static bool wire_text(struct wire *w, size_t end)
{
	while (w->at < end) {
		const uint8_t *s = w->data + w->at;
		size_t n = utf8_length(s[0]);
		bool ok = n > 0 && n <= end - w->at && s[0] != 0;
		for (size_t i = 1; ok && i < n; i++)
			ok = (s[i] & 0xc0) == 0x80;
		if (ok && n == 3)
			ok = !(s[0] == 0xe0 && s[1] < 0xa0) && !(s[0] == 0xed && s[1] > 0x9f);
		if (ok && n == 4)
			ok = !(s[0] == 0xf0 && s[1] < 0x90) && !(s[0] == 0xf4 && s[1] > 0x8f);
		if (!ok)
			return wire_fail(w, "text that is not UTF-8");
		w->at += n;
	}
	return true;
}

static bool wire_message(
	struct wire *w, size_t end, const ProtobufCMessageDescriptor *type, unsigned depth);

static bool wire_bytes(
	struct wire *w, size_t end, const ProtobufCFieldDescriptor *field, unsigned depth)
{
	uint64_t n;
	if (!wire_varint(w, end, &n))
		return false;
	if (n > end - w->at)
		return wire_fail(w, "cut off");
	size_t stop = w->at + (size_t)n;
	if (field && field->type == PROTOBUF_C_TYPE_MESSAGE)
		return wire_message(w, stop, field->descriptor, depth + 1);
	if (field && field->type == PROTOBUF_C_TYPE_STRING)
		return wire_text(w, stop);
	w->at = stop;
	return true;
}

static bool wire_message(
	struct wire *w, size_t end, const ProtobufCMessageDescriptor *type, unsigned depth)
{
	if (depth > WIRE_MAX_DEPTH)
		return wire_fail(w, "messages nested too deeply");
	while (w->at < end) {
		uint64_t key, ignored;
		if (!wire_varint(w, end, &key))
			return false;
		if (key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3)
			return wire_fail(w, "a field without a number");
		bool ok;
		switch (key & 7) {
		case WIRE_VARINT:
			ok = wire_varint(w, end, &ignored);
			break;
		case WIRE_64:
			ok = wire_skip(w, end, 8);
			break;
		case WIRE_BYTES:
			ok = wire_bytes(w, end,
				protobuf_c_message_descriptor_get_field(type, (unsigned)(key >> 3)),
				depth);
			break;
		case WIRE_32:
			ok = wire_skip(w, end, 4);
			break;
		default:
			ok = wire_fail(w, "an unknown kind of field");
		}
		if (!ok)
			return false;
	}
	return true;
}

static void *allocate(void *arena, size_t n)
{
	return arena_alloc(arena, 1, n);
}

static void release(void *arena, void *p)
{
}

const Onnx__ModelProto *onnx_unpack(
	struct arena *a, const char *path, struct bytes data, struct err *err)
{
	struct wire w = {.data = (const uint8_t *)data.data, .path = path, .err = err};
	if (!wire_message(&w, data.n, &onnx__model_proto__descriptor, 1))
		return NULL;
	ProtobufCAllocator allocator = {.alloc = allocate, .free = release, .allocator_data = a};
	const Onnx__ModelProto *model = onnx__model_proto__unpack(&allocator, data.n, w.data);
	if (!model)
		err_set(err, ERR_INPUT, "%s: not an ONNX model: a field has the wrong type", path);
	else if (!model->graph || model->graph->n_node == 0)
		err_set(err, ERR_INPUT, "%s: not an ONNX model: it has no graph with nodes", path);
	else
		return model;
	return NULL;
}
