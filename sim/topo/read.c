/* Topology files: JSON (a family with its parameters, or explicit) and SimGrid platforms. */
#include <string.h>

#include "base/doc.h"
#include "topo/internal.h"

static const char *const family_keys[] = {
	"bandwidth", "dims", "family", "latency", "name", "source", NULL};

static bool read_dims(const struct doc_at *root, struct topo_spec *spec, struct err *err)
{
	struct doc_at dims;
	if (!doc_get(root, "dims", &dims, err) || !doc_array(dims, 1, err))
		return false;
	if (doc_length(dims) > TOPO_MAX_DIMS)
		return doc_fail(dims, err, "more than %d dimensions", TOPO_MAX_DIMS);
	for (size_t i = 0; i < doc_length(dims); i++) {
		uint64_t size;
		if (!doc_uint(doc_item(&dims, i), 1, TOPO_MAX_DEVICES, &size, err))
			return false;
		spec->dims[spec->n_dims++] = (uint32_t)size;
	}
	return true;
}

static bool read_family(struct arena *a, const struct doc *doc, struct topo *out, struct err *err)
{
	struct topo_spec spec = {.name = out->name};
	struct doc_at root = doc_root(doc), at;
	const char *name;
	if (!doc_object(root, family_keys, err) || !doc_get(&root, "family", &at, err) ||
		!doc_string(at, &name, err))
		return false;
	const struct topo_family *family = topo_family_find(name);
	if (!family)
		return doc_fail(at, err, "unknown family '%s'%s", name, topo_family_hint(a, name));
	if (!read_dims(&root, &spec, err) || !doc_get(&root, "bandwidth", &at, err) ||
		!doc_quantity(at, UNIT_BANDWIDTH, 1, &spec.bytes_per_s, err))
		return false;
	if (!doc_get(&root, "latency", &at, err) ||
		!doc_quantity(at, UNIT_TIME, 0, &spec.latency, err))
		return false;
	if (spec.latency > TOPO_MAX_LATENCY)
		return doc_fail(at, err, "the latency is too long, expected at most 1000 s");
	return family->build(a, &spec, out, err);
}

/* The file's name without folders and endings: "topologies/ring4.json.gz" is "ring4". */
static const char *name_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strchr(base, '.');
	return dot && dot > base ? arena_strndup(a, base, (size_t)(dot - base))
				 : arena_strdup(a, base);
}

static bool looks_like_xml(struct bytes text)
{
	size_t i = 0;
	if (text.n >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		i = 3;
	while (i < text.n && strchr(" \t\r\n", text.data[i]) && text.data[i])
		i++;
	return i < text.n && text.data[i] == '<';
}

/* "name" and "source" are for people, but must be texts. */
static bool check_labels(const struct doc_at *root, struct err *err)
{
	struct doc_at at;
	const char *text;
	return (!doc_find(root, "name", &at) || doc_string(at, &text, err)) &&
	       (!doc_find(root, "source", &at) || doc_string(at, &text, err));
}

bool topo_read(struct arena *a, const char *path, struct topo *out, struct err *err)
{
	struct bytes text;
	*out = (struct topo){.name = name_of(a, path)};
	if (!file_read(a, path, &text, err))
		return false;
	if (looks_like_xml(text))
		return topo_build_platform(a, path, text, out, err);
	struct doc doc;
	if (!doc_parse(&doc, path, text, err))
		return false;
	struct doc_at root = doc_root(&doc), at;
	bool ok = check_labels(&root, err);
	if (ok)
		ok = doc_find(&root, "family", &at) ? read_family(a, &doc, out, err)
						    : topo_build_file(a, &doc, out, err);
	doc_finish(&doc);
	return ok;
}
