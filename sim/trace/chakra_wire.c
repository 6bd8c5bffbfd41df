/* The file: records, each a length (varint) and a protocol-buffers message; first GlobalMetadata,
 * then nodes. The field numbers are those of the schema, written out where they are used. */
#include <inttypes.h>
#include <string.h>

#include "trace/chakra.h"

/* Packed or one by one. */
static bool read_ids(struct arena *a, struct field *f, uint64_t **ids, uint32_t *n, uint32_t *cap)
{
	if (f->type == WIRE_VARINT) {
		arena_push(a, *ids, *n, *cap) = f->value;
		return true;
	}
	while (f->type == WIRE_BYTES && f->content.at < f->content.end) {
		uint64_t id;
		if (!wire_varint(&f->content, &id))
			return false;
		arena_push(a, *ids, *n, *cap) = id;
	}
	return f->type == WIRE_BYTES;
}

/* Dependencies of one node while it is read. */
struct dep_lists {
	uint64_t *data, *ctrl;
	uint32_t n_data, cap_data, n_ctrl, cap_ctrl;
};

static void join_deps(struct arena *a, struct et_node *node, const struct dep_lists *d)
{
	uint64_t *ids = arena_array(a, (size_t)d->n_data + d->n_ctrl, uint64_t);
	for (uint32_t i = 0; i < d->n_data; i++)
		ids[i] = d->data[i];
	for (uint32_t i = 0; i < d->n_ctrl; i++)
		ids[d->n_data + i] = d->ctrl[i];
	node->dep_ids = ids;
	node->n_data = d->n_data;
	node->n_deps = d->n_data + d->n_ctrl;
}

static const char *first_text(struct arena *a, struct wire w)
{
	struct field f;
	const char *text = NULL;
	while (w.at < w.end && wire_field(&w, &f))
		if (f.number == 1 && f.type == WIRE_BYTES)
			text = wire_text(a, &f.content);
	return text;
}

static bool set_field(struct arena *a, struct et_node *node, struct dep_lists *d, struct field *f)
{
	bool text = f->type == WIRE_BYTES;
	switch (f->number) {
	case 1:
		node->id = f->value;
		return !text;
	case 2:
		if (text)
			node->name = wire_text(a, &f->content);
		return text;
	case 3:
		node->type = f->value < N_ET_TYPES ? (enum et_type)f->value : ET_INVALID;
		return !text;
	case 4:
		return read_ids(a, f, &d->ctrl, &d->n_ctrl, &d->cap_ctrl);
	case 5:
		return read_ids(a, f, &d->data, &d->n_data, &d->cap_data);
	case 7:
		node->duration_us = f->value;
		return !text;
	case 8:
		if (text)
			node->in_values = first_text(a, f->content);
		return text;
	}
	return true;
}

static bool damaged(const struct et_rank *rank, uint32_t record, struct err *err)
{
	return err_set(err, ERR_INPUT,
		"%s: record %" PRIu32 " is not a Chakra node (schema 0.0.4 is read)", rank->path,
		record);
}

/* Attributes come after the id, so that errors name it. */
static bool read_attributes(struct et_set *set, struct et_rank *rank, struct et_node *node,
	struct wire w, struct err *err)
{
	struct field f;
	struct arena scratch = {0};
	bool ok = true;
	while (ok && w.at < w.end && wire_field(&w, &f)) {
		const char *name;
		struct et_value value;
		if (f.number != 10 || f.type != WIRE_BYTES)
			continue;
		if (!et_read_attribute(&scratch, f.content, &name, &value))
			ok = damaged(rank, rank->n_nodes + 1, err);
		else
			ok = et_set_attribute(set, rank, node, name, value, err);
	}
	arena_free(&scratch);
	return ok;
}

static bool read_node(struct et_set *set, struct et_rank *rank, struct et_node *node, struct wire w,
	struct err *err)
{
	struct wire again = w;
	struct dep_lists d = {0};
	struct field f;
	struct arena scratch = {0};
	bool ok = true;
	*node = (struct et_node){.name = ""};
	while (ok && w.at < w.end)
		ok = wire_field(&w, &f) &&
		     set_field(f.number == 4 || f.number == 5 ? &scratch : set->a, node, &d, &f);
	if (ok)
		join_deps(set->a, node, &d);
	arena_free(&scratch);
	if (!ok)
		return damaged(rank, rank->n_nodes + 1, err);
	return read_attributes(set, rank, node, again, err);
}

/* Version, or the schema that converters put into an attribute. */
static bool read_metadata(struct et_set *set, struct et_rank *rank, struct wire w, struct err *err)
{
	struct field f;
	while (w.at < w.end) {
		const char *name;
		struct et_value value;
		if (!wire_field(&w, &f) || f.type != WIRE_BYTES)
			return err_set(err, ERR_INPUT,
				"%s: not a Chakra trace: the first record is not its metadata",
				rank->path);
		if (f.number == 1)
			rank->schema = wire_text(set->a, &f.content);
		if (f.number == 2 && et_read_attribute(set->a, f.content, &name, &value) &&
			strcmp(name, "schema") == 0 && value.kind == VALUE_TEXT)
			rank->schema = value.text;
	}
	return true;
}

bool et_decode(struct et_set *set, struct et_rank *rank, struct bytes content, struct err *err)
{
	struct wire w = {(const unsigned char *)content.data, 0, content.n}, record;
	uint32_t cap = 0;
	rank->schema = "";
	if (!wire_bytes(&w, &record))
		return err_set(err, ERR_INPUT,
			"%s: not a Chakra trace: cut off in its first record", rank->path);
	if (!read_metadata(set, rank, record, err))
		return false;
	while (w.at < w.end) {
		struct et_node node;
		if (!wire_bytes(&w, &record))
			return err_set(err, ERR_INPUT,
				"%s: cut off in record %" PRIu32 " (byte %zu)", rank->path,
				rank->n_nodes + 1, w.at);
		if (rank->n_nodes == PROG_NONE - 1 || !read_node(set, rank, &node, record, err))
			return false;
		arena_push(set->a, rank->nodes, rank->n_nodes, cap) = node;
	}
	return true;
}

const char *et_place(struct arena *a, const struct et_rank *rank, const struct et_node *node)
{
	return arena_printf(a, "%s: node %" PRIu64 "%s%.60s%s", rank->name, node->id,
		node->name[0] ? " '" : "", node->name, node->name[0] ? "'" : "");
}
