/* SimGrid platform files: checked before SimGrid sees them, because it ends the process on most
 * mistakes and silently accepts some, such as a negative bandwidth. */
#include "topo/platform.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30, MAX_ELEMENTS = 64 };

void platform_fail(struct platform *p, const char *fmt, ...)
{
	struct text text = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vadd(&text, fmt, ap);
	va_end(ap);
	err_set(p->err, ERR_INPUT, "%s:%lu:%lu: %s", p->path,
		(unsigned long)XML_GetCurrentLineNumber(p->parser),
		(unsigned long)XML_GetCurrentColumnNumber(p->parser) + 1, text.data);
	text_free(&text);
	p->failed = true;
	XML_StopParser(p->parser, XML_FALSE);
}

const char *platform_attr(const char **atts, const char *name)
{
	for (; atts[0]; atts += 2)
		if (strcmp(atts[0], name) == 0)
			return atts[1];
	return NULL;
}

static const struct platform_element *find_element(const char *name)
{
	for (size_t i = 0; i < n_platform_elements; i++)
		if (strcmp(platform_elements[i].name, name) == 0)
			return &platform_elements[i];
	return NULL;
}

static void fail_unknown(struct platform *p, const char *name)
{
	const char *names[MAX_ELEMENTS];
	size_t n = n_platform_elements < MAX_ELEMENTS ? n_platform_elements : MAX_ELEMENTS;
	for (size_t i = 0; i < n; i++)
		names[i] = platform_elements[i].name;
	const char *near = text_nearest(name, names, n);
	platform_fail(p, "unknown element <%s>%s%s%s", name,
		near ? ", did you mean <" : ", expected the elements of a SimGrid platform",
		near ? near : "", near ? ">?" : "");
}

static bool check_rules(
	struct platform *p, const struct platform_element *element, const char **atts)
{
	for (const struct platform_rule *r = element->rules; r && r->attr; r++) {
		const char *value = platform_attr(atts, r->attr);
		if (!value && r->required)
			platform_fail(p, "<%s>: attribute '%s' is missing", element->name, r->attr);
		/* "" is the DTD's way to say "none". */
		else if (value && (value[0] || r->required))
			platform_check_quantity(p, r->attr, value, r->dim);
		if (p->failed)
			return false;
	}
	return true;
}

static void start(void *data, const char *name, const char **atts)
{
	struct platform *p = data;
	if (p->failed)
		return;
	const struct platform_element *element = find_element(name);
	if (!element)
		fail_unknown(p, name);
	else if (check_rules(p, element, atts) && element->start)
		element->start(p, atts);
}

static void end(void *data, const char *name)
{
	struct platform *p = data;
	const struct platform_element *element = p->failed ? NULL : find_element(name);
	if (element && element->end)
		element->end(p);
}

static bool parse(struct platform *p, struct bytes text)
{
	p->parser = XML_ParserCreate(NULL);
	if (!p->parser)
		return err_set(p->err, ERR_INTERNAL, "%s: cannot create an XML parser", p->path);
	XML_SetUserData(p->parser, p);
	XML_SetElementHandler(p->parser, start, end);
	enum XML_Status status = XML_Parse(p->parser, text.data, (int)text.n, XML_TRUE);
	if (!p->failed && status != XML_STATUS_OK)
		platform_fail(
			p, "not well-formed XML: %s", XML_ErrorString(XML_GetErrorCode(p->parser)));
	else if (!p->failed && p->n_hosts == 0)
		platform_fail(p, "the platform has no host, expected at least one");
	XML_ParserFree(p->parser);
	return !p->failed;
}

bool topo_build_platform(
	struct arena *a, const char *path, struct bytes text, struct topo *out, struct err *err)
{
	if (text.n > MAX_BYTES)
		return err_set(err, ERR_INPUT, "%s: longer than %d bytes", path, MAX_BYTES);
	struct platform p = {
		.a = a,
		.err = err,
		.path = path,
		.text = arena_strndup(a, text.data, text.n),
	};
	if (!parse(&p, text))
		return false;
	out->family = "platform";
	out->n_devices = out->n_nodes = p.n_hosts;
	out->n_links = p.n_links;
	out->nodes = p.hosts;
	out->platform_xml = p.text;
	out->platform_path = arena_strdup(a, path);
	out->summary =
		arena_printf(a, "%s: SimGrid platform of %" PRIu32 " hosts", out->name, p.n_hosts);
	return true;
}
