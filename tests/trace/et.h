/* Writes small Chakra traces, for tests. */
#ifndef TESTS_TRACE_ET_H
#define TESTS_TRACE_ET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "suite.h"
#include "trace/trace.h"

/* Members of the schema's union of values. */
enum {
	AS_DOUBLE = 3,
	AS_FLOAT = 5,
	AS_INT32 = 7,
	AS_INT64 = 9,
	AS_UINT64 = 13,
	AS_SINT64 = 17,
	AS_FIXED32 = 19,
	AS_FIXED64 = 21,
	AS_BOOL = 27,
	AS_TEXT = 29
};

enum { METADATA = 1, MEM_LOAD, MEM_STORE, COMP, SEND, RECV, COLL };
enum { ALL_REDUCE = 0, ALL_GATHER = 2, ALL_TO_ALL = 6, REDUCE_SCATTER = 7, BARRIER = 9 };

static inline void put_varint(struct text *t, uint64_t v)
{
	do {
		unsigned char c = (unsigned char)((v & 127) | (v > 127 ? 128 : 0));
		text_add_bytes(t, &c, 1);
		v >>= 7;
	} while (v);
}

static inline void put_number(struct text *t, uint32_t field, uint64_t v)
{
	put_varint(t, field << 3);
	put_varint(t, v);
}

static inline void put_bytes(struct text *t, uint32_t field, const void *data, size_t n)
{
	put_varint(t, field << 3 | 2);
	put_varint(t, n);
	text_add_bytes(t, data, n);
}

static inline void put_text(struct text *t, uint32_t field, const char *s)
{
	put_bytes(t, field, s, strlen(s));
}

static inline void put_fixed(struct text *t, uint32_t field, uint64_t v, unsigned n)
{
	put_varint(t, field << 3 | (n == 8 ? 1 : 5));
	for (unsigned i = 0; i < n; i++) {
		unsigned char c = (unsigned char)(v >> 8 * i);
		text_add_bytes(t, &c, 1);
	}
}

static inline void put_value(struct text *t, uint32_t as, int64_t v)
{
	double d = (double)v;
	float f = (float)v;
	uint64_t bits = 0;
	uint32_t low = 0;
	char text[32];
	memcpy(&bits, &d, sizeof(d));
	memcpy(&low, &f, sizeof(f));
	snprintf(text, sizeof(text), "%lld", (long long)v);
	if (as == AS_TEXT)
		put_text(t, as, text);
	else if (as == AS_DOUBLE)
		put_fixed(t, as, bits, 8);
	else if (as == AS_FLOAT)
		put_fixed(t, as, low, 4);
	else if (as == 21 || as == 25)
		put_fixed(t, as, (uint64_t)v, 8);
	else if (as == 19 || as == 23)
		put_fixed(t, as, (uint64_t)v, 4);
	else if (as == 15 || as == AS_SINT64)
		put_number(t, as, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
	else
		put_number(t, as, (uint64_t)v);
}

static inline void put_attribute(struct text *node, const char *name, uint32_t as, int64_t v)
{
	struct text t = {0};
	put_text(&t, 1, name);
	put_value(&t, as, v);
	put_bytes(node, 10, t.data, t.n);
	text_free(&t);
}

static inline void put_string(struct text *node, const char *name, const char *value)
{
	struct text t = {0};
	put_text(&t, 1, name);
	put_text(&t, AS_TEXT, value);
	put_bytes(node, 10, t.data, t.n);
	text_free(&t);
}

/* Starts a node; put_node() ends it. Up to two data dependencies, -1 for none. */
static inline struct text new_node(
	uint64_t id, const char *name, uint32_t type, int64_t dep1, int64_t dep2)
{
	struct text t = {0}, deps = {0};
	put_number(&t, 1, id);
	put_text(&t, 2, name);
	put_number(&t, 3, type);
	if (dep1 >= 0)
		put_varint(&deps, (uint64_t)dep1);
	if (dep2 >= 0)
		put_varint(&deps, (uint64_t)dep2);
	if (deps.n > 0)
		put_bytes(&t, 5, deps.data, deps.n);
	text_free(&deps);
	return t;
}

/* Frees the node. */
static inline void put_node(struct text *file, struct text node)
{
	put_varint(file, node.n);
	text_add_bytes(file, node.data, node.n);
	text_free(&node);
}

/* A file with its metadata. */
static inline struct text new_et(void)
{
	struct text file = {0}, meta = {0};
	put_text(&meta, 1, "0.0.4");
	put_varint(&file, meta.n);
	text_add_bytes(&file, meta.data, meta.n);
	text_free(&meta);
	return file;
}

static inline void put_comp(struct text *file, uint64_t id, uint64_t us, int64_t dep1, int64_t dep2)
{
	char name[32];
	snprintf(name, sizeof(name), "comp%u", (unsigned)id);
	struct text n = new_node(id, name, COMP, dep1, dep2);
	if (us > 0)
		put_number(&n, 7, us);
	put_node(file, n);
}

static inline void put_message(
	struct text *file, uint64_t id, uint32_t type, int64_t peer, int64_t bytes, int64_t dep)
{
	char name[32];
	snprintf(name, sizeof(name), "%s%u", type == SEND ? "send" : "recv", (unsigned)id);
	struct text n = new_node(id, name, type, dep, -1);
	put_attribute(&n, type == SEND ? "comm_dst" : "comm_src", AS_INT32, peer);
	put_attribute(&n, "comm_size", AS_INT64, bytes);
	put_attribute(&n, "comm_tag", AS_INT32, 7);
	put_node(file, n);
}

static inline void put_coll(
	struct text *file, uint64_t id, int64_t kind, int64_t bytes, const char *group, int64_t dep)
{
	char name[32];
	snprintf(name, sizeof(name), "coll%u", (unsigned)id);
	struct text n = new_node(id, name, COLL, dep, -1);
	put_attribute(&n, "is_cpu_op", AS_BOOL, 0);
	put_attribute(&n, "comm_type", AS_INT64, kind);
	put_attribute(&n, "comm_size", AS_INT64, bytes);
	if (group)
		put_string(&n, "pg_name", group);
	put_node(file, n);
}

/* A folder of its own, and files in it. */
struct et_folder {
	char path[64];
};

static inline struct et_folder new_folder(void)
{
	struct et_folder f = {"/tmp/wham-trace-XXXXXX"};
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f.path));
	return f;
}

static inline void save(const struct et_folder *f, const char *name, const void *data, size_t n)
{
	char path[128];
	struct err err = {0};
	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	CU_ASSERT_TRUE_FATAL(file_write(path, data, n, &err));
}

/* Saves "t.RANK.et" and frees it. */
static inline void save_rank(const struct et_folder *f, unsigned rank, struct text et)
{
	char name[32];
	snprintf(name, sizeof(name), "t.%u.et", rank);
	save(f, name, et.data, et.n);
	text_free(&et);
}

static inline void remove_folder(const struct et_folder *f)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", f->path);
	CU_ASSERT_EQUAL(system(command), 0);
}

static inline bool read_folder(struct arena *a, const struct et_folder *f,
	const struct trace_options *options, struct trace *out, struct err *err)
{
	const char *path = f->path;
	*err = (struct err){0};
	return trace_read(a, &path, 1, options, out, err);
}

#endif
