/* Topology files, and families in JSON. */
#include <ctype.h>
#include <string.h>

#include "base/doc.h"
#include "topo/graph.h"

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

/* "bandwidth" and "latency" are what a spec calls "bw" and "lat". */
static const char *key_of(const char *name)
{
	if (strcmp(name, "bw") == 0)
		return "bandwidth";
	return strcmp(name, "lat") == 0 ? "latency" : name;
}

/* A text with its unit, a whole number, or a list of them, as a spec would have it. */
static bool value_text(struct arena *a, struct doc_at at, const struct topo_key *key,
	const char **out, struct err *err)
{
	bool counts = key->kind == TOPO_KEY_COUNT;
	if (json_is_integer(at.value) && counts) {
		*out = arena_printf(a, "%jd", (intmax_t)json_integer_value(at.value));
		return true;
	}
	if (!json_is_string(at.value))
		return doc_fail(at, err,
			counts ? "expected a whole number"
			       : "expected a text with its unit, such as \"25GB/s\" or \"1us\"");
	return doc_string(at, out, err);
}

static bool read_key(struct arena *a, struct doc_at at, const struct topo_key *key,
	struct topo_spec *spec, struct err *err)
{
	const char *text = NULL, *item;
	bool list = json_is_array(at.value) && key->list != TOPO_KEY_SINGLE;
	for (size_t i = 0; list && i < doc_length(at); i++) {
		if (!value_text(a, doc_item(&at, i), key, &item, err))
			return false;
		text = text ? arena_printf(a, "%s/%s", text, item) : item;
	}
	if (!list && !value_text(a, at, key, &text, err))
		return false;
	if (text && topo_spec_set(a, spec, key->name, text, err))
		return true;
	struct err inner = *err;
	return doc_fail(at, err, "%s", text ? inner.text : "empty list");
}

static bool read_keys(
	struct arena *a, const struct doc_at *root, struct topo_spec *spec, struct err *err)
{
	const char *known[TOPO_MAX_KEYS + 5] = {"dims", "family", "name", "source"};
	const struct topo_key *keys = spec->family->keys;
	struct doc_at at;
	for (size_t i = 0; keys[i].name; i++)
		known[4 + i] = key_of(keys[i].name);
	if (!doc_object(*root, known, err))
		return false;
	bool has_dims = doc_find(root, "dims", &at);
	if ((has_dims || !spec->family->dims_by_keys) && !read_dims(root, spec, err))
		return false;
	for (size_t i = 0; keys[i].name; i++) {
		bool required = keys == topo_keys_link;
		if (doc_find(root, key_of(keys[i].name), &at)) {
			if (!read_key(a, at, &keys[i], spec, err))
				return false;
		} else if (required) {
			return doc_get(root, key_of(keys[i].name), &at, err);
		}
	}
	return true;
}

static bool read_family(struct arena *a, struct doc_at root, struct topo *out, struct err *err)
{
	struct topo_spec spec = {.name = out->name};
	struct doc_at at;
	const char *name;
	if (!doc_get(&root, "family", &at, err) || !doc_string(at, &name, err))
		return false;
	spec.family = topo_family_find(name);
	if (!spec.family)
		return doc_fail(at, err, "unknown family '%s'%s", name, topo_family_hint(a, name));
	if (!read_keys(a, &root, &spec, err))
		return false;
	return (topo_spec_complete(a, &spec, err) && spec.family->build(a, &spec, out, err)) ||
	       err_prefix(err, "%s: ", root.doc->path);
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

static bool starts(struct bytes text, size_t at, const char *with)
{
	size_t n = strlen(with);
	return text.n - at >= n && memcmp(text.data + at, with, n) == 0;
}

/* Behind blanks and a byte order mark. */
static size_t first_letter(struct bytes text)
{
	size_t i = starts(text, 0, "\xef\xbb\xbf") ? 3 : 0;
	while (i < text.n && isspace((unsigned char)text.data[i]))
		i++;
	return i;
}

/* Where the root element of an XML text starts: behind declarations and comments. */
static size_t root_element(struct bytes text, size_t at)
{
	while (at < text.n) {
		const char *end = NULL;
		if (starts(text, at, "<!--"))
			end = strstr(text.data + at, "-->");
		else if (starts(text, at, "<?") || starts(text, at, "<!"))
			end = strchr(text.data + at, '>');
		else if (text.data[at] == '<')
			return at;
		at = end ? (size_t)(end - text.data) + 1 : at + 1;
	}
	return at;
}

static bool read_xml(
	struct arena *a, const char *path, struct bytes text, struct topo *out, struct err *err)
{
	size_t at = root_element(text, first_letter(text));
	struct topo_graph g = {.a = a};
	if (starts(text, at, "<graphs"))
		return err_set(err, ERR_INPUT,
			"%s: an NCCL graph file: orders of GPUs, no topology, expected <system>",
			path);
	if (!starts(text, at, "<system"))
		return topo_build_platform(a, path, text, out, err);
	return topo_add_nccl(&g, path, text, "", err) &&
	       (topo_graph_finish(&g, "nccl", out, err) || err_prefix(err, "%s: ", path));
}

/* "name" and "source" are for people, but must be texts. */
static bool check_labels(const struct doc_at *root, struct err *err)
{
	struct doc_at at;
	const char *text;
	return (!doc_find(root, "name", &at) || doc_string(at, &text, err)) &&
	       (!doc_find(root, "source", &at) || doc_string(at, &text, err));
}

static bool read_json(struct arena *a, const struct doc *doc, struct topo *out, struct err *err)
{
	struct doc_at root = doc_root(doc), at;
	if (!check_labels(&root, err))
		return false;
	if (doc_find(&root, "family", &at))
		return read_family(a, root, out, err);
	return doc_find(&root, "nodes", &at) ? topo_build_cluster(a, doc, out, err)
					     : topo_build_file(a, doc, out, err);
}

bool topo_read(struct arena *a, const char *path, struct topo *out, struct err *err)
{
	struct bytes text;
	*out = (struct topo){.name = name_of(a, path)};
	if (!file_read(a, path, &text, err))
		return false;
	size_t at = first_letter(text);
	if (at < text.n && text.data[at] == '<')
		return read_xml(a, path, text, out, err);
	if (at < text.n && isdigit((unsigned char)text.data[at]))
		return topo_build_simai(a, path, text, out, err);
	struct doc doc;
	if (!doc_parse(&doc, path, text, err))
		return false;
	bool ok = read_json(a, &doc, out, err);
	doc_finish(&doc);
	return ok;
}
