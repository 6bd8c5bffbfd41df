/* What the files that check SimGrid platforms share. */
#ifndef TOPO_PLATFORM_H
#define TOPO_PLATFORM_H

#include <expat.h>

#include "topo/internal.h"

/* A platform being checked. */
struct platform {
	struct arena *a;
	struct err *err;
	const char *path;
	XML_Parser parser;
	bool failed;
	struct name_index netpoints; /* hosts, routers and zones share one set of names */
	struct name_index links;
	struct name_index clusters; /* whose links and routers get names of SimGrid's own making */
	struct topo_node *hosts;
	uint32_t n_hosts, cap_hosts, n_links;
	char *text; /* the caller's copy, in which <config> is blanked out */
	long config_from;
};

/* Sets "path:line:col: ..." at the current place and stops the parser. */
void platform_fail(struct platform *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The value of an attribute or NULL. */
const char *platform_attr(const char **atts, const char *name);

enum platform_dim { PLATFORM_BANDWIDTH, PLATFORM_LATENCY, PLATFORM_SPEED };
/* Checks "125MBps", "1.25E9Bps", "54Mbps,36Mbps" or a bare number: bandwidth and speed must be
 * positive, latency not negative. */
bool platform_check_quantity(
	struct platform *p, const char *attr, const char *value, enum platform_dim dim);

/* What to do with an element; either may be NULL. */
struct platform_element {
	const char *name;
	const struct platform_rule *rules; /* ends with a rule without name */
	void (*start)(struct platform *p, const char **atts);
	void (*end)(struct platform *p);
};
struct platform_rule {
	const char *attr;
	enum platform_dim dim;
	bool required;
};
/* Sorted by name. */
extern const struct platform_element platform_elements[];
extern const size_t n_platform_elements;

#endif
