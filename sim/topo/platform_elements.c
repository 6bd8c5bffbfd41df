/* The elements of SimGrid's platform files (DTD 4.1 and its older names) and what we check of
 * each. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/platform.h"

static const char *need(struct platform *p, const char **atts, const char *name)
{
	const char *value = platform_attr(atts, name);
	if (!value && !p->failed)
		platform_fail(p, "attribute '%s' is missing", name);
	return value;
}

static void add_netpoint(struct platform *p, const char *id, const char *noun)
{
	if (!p->failed && !name_index_add(p->a, &p->netpoints, id))
		platform_fail(p, "%s '%s': there is a host, router or zone of this name already",
			noun, id);
}

static void add_host(struct platform *p, const char *id)
{
	add_netpoint(p, id, "host");
	if (p->failed)
		return;
	if (p->n_hosts == TOPO_MAX_DEVICES) {
		platform_fail(p, "more than %d hosts", TOPO_MAX_DEVICES);
		return;
	}
	arena_push(p->a, p->hosts, p->n_hosts, p->cap_hosts) = (struct topo_node){.name = id};
}

static void add_link(struct platform *p, const char *id, bool duplex)
{
	if (!p->failed && !name_index_add(p->a, &p->links, id))
		platform_fail(p, "link '%s': there is a link of this name already", id);
	if (duplex && !p->failed) {
		name_index_add(p->a, &p->links, arena_printf(p->a, "%s_UP", id));
		name_index_add(p->a, &p->links, arena_printf(p->a, "%s_DOWN", id));
	}
}

static void start_zone(struct platform *p, const char **atts)
{
	const char *id = need(p, atts, "id");
	if (need(p, atts, "routing") && id)
		add_netpoint(p, arena_strdup(p->a, id), "zone");
}

static void start_host(struct platform *p, const char **atts)
{
	const char *id = need(p, atts, "id");
	if (id)
		add_host(p, arena_strdup(p->a, id));
}

static void start_router(struct platform *p, const char **atts)
{
	const char *id = need(p, atts, "id");
	if (id)
		add_netpoint(p, arena_strdup(p->a, id), "router");
}

static void start_link(struct platform *p, const char **atts)
{
	const char *id = need(p, atts, "id"), *sharing = platform_attr(atts, "sharing_policy");
	p->n_links++;
	if (id)
		add_link(p, arena_strdup(p->a, id), sharing && strcmp(sharing, "SPLITDUPLEX") == 0);
}

/* Reads "0-63" or "7" at `*text` and moves behind it and the comma that follows. */
static bool read_range(const char **text, uint64_t *from, uint64_t *to)
{
	char *end;
	if (!isdigit((unsigned char)**text))
		return false;
	*from = *to = strtoull(*text, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return false;
		*to = strtoull(end + 1, &end, 10);
	}
	bool more = *end == ',';
	*text = end + more;
	return (more ? **text != '\0' : *end == '\0') && *from <= *to && *to < INT32_MAX;
}

/* The hosts of a cluster or cabinet: prefix, number, suffix. `link_prefix` names their links, or
 * NULL. */
static void add_hosts(struct platform *p, const char **atts, const char *link_prefix)
{
	const char *prefix = need(p, atts, "prefix"), *suffix = need(p, atts, "suffix");
	const char *radical = need(p, atts, "radical");
	if (p->failed)
		return;
	for (const char *rest = radical; *rest && !p->failed;) {
		uint64_t i, to;
		if (!read_range(&rest, &i, &to)) {
			platform_fail(p,
				"radical='%s', expected ranges such as '0-63' or '1-29,58'",
				radical);
			return;
		}
		for (; i <= to && !p->failed; i++) {
			const char *id = arena_printf(p->a, "%s%" PRIu64 "%s", prefix, i, suffix);
			add_host(p, id);
			if (link_prefix)
				add_link(p, arena_printf(p->a, "%s%s", link_prefix, id), true);
		}
	}
}

static void start_cluster(struct platform *p, const char **atts)
{
	const char *id = need(p, atts, "id"), *router = platform_attr(atts, "router_id");
	add_hosts(p, atts, NULL);
	if (p->failed)
		return;
	p->n_links++;
	id = arena_strdup(p->a, id);
	add_netpoint(p, id, "cluster");
	name_index_add(p->a, &p->clusters, id);
	if (router && router[0])
		name_index_add(p->a, &p->netpoints, router);
	else
		name_index_add(p->a, &p->netpoints,
			arena_printf(p->a, "%s%s_router%s", platform_attr(atts, "prefix"), id,
				platform_attr(atts, "suffix")));
}

static void start_cabinet(struct platform *p, const char **atts)
{
	p->n_links++;
	if (need(p, atts, "id"))
		add_hosts(p, atts, "link_");
}

static void start_peer(struct platform *p, const char **atts)
{
	const char *id = need(p, atts, "id");
	if (!id)
		return;
	p->n_links++;
	add_host(p, arena_strdup(p->a, id));
	add_link(p, arena_printf(p->a, "link_%s", id), true);
	name_index_add(p->a, &p->netpoints, arena_printf(p->a, "router_%s", id));
}

static void need_netpoint(struct platform *p, const char **atts, const char *attr, const char *noun)
{
	const char *id = need(p, atts, attr);
	if (!p->failed && name_index_find(&p->netpoints, id, strlen(id)) == NAME_ABSENT)
		platform_fail(p, "%s='%s': there is no %s of this name before this place", attr, id,
			noun);
}

static void start_route(struct platform *p, const char **atts)
{
	need_netpoint(p, atts, "src", "host or router");
	need_netpoint(p, atts, "dst", "host or router");
}

static void start_zone_route(struct platform *p, const char **atts)
{
	need_netpoint(p, atts, "src", "zone");
	need_netpoint(p, atts, "dst", "zone");
	need_netpoint(p, atts, "gw_src", "host or router");
	need_netpoint(p, atts, "gw_dst", "host or router");
}

/* Links that SimGrid makes for a cluster start with its id. */
static bool made_by_cluster(const struct platform *p, const char *id)
{
	for (uint32_t i = 0; i < p->clusters.n; i++) {
		size_t n = strlen(p->clusters.items[i]);
		if (strncmp(id, p->clusters.items[i], n) == 0 && id[n] == '_')
			return true;
	}
	return false;
}

static void need_link(struct platform *p, const char **atts, const char *attr)
{
	const char *id = need(p, atts, attr);
	if (!p->failed && name_index_find(&p->links, id, strlen(id)) == NAME_ABSENT &&
		!made_by_cluster(p, id))
		platform_fail(
			p, "%s='%s': there is no link of this name before this place", attr, id);
}

static void start_link_ctn(struct platform *p, const char **atts)
{
	need_link(p, atts, "id");
}

static void start_host_link(struct platform *p, const char **atts)
{
	need_netpoint(p, atts, "id", "host");
	need_link(p, atts, "up");
	need_link(p, atts, "down");
}

static void start_config(struct platform *p, const char **atts)
{
	p->config_from = (long)XML_GetCurrentByteIndex(p->parser);
}

/* Settings are ours: models, tracing and the like. Lines stay, so that places keep their
 * numbers. */
static void end_config(struct platform *p)
{
	long to = (long)XML_GetCurrentByteIndex(p->parser) + XML_GetCurrentByteCount(p->parser);
	for (long i = p->config_from; i < to; i++)
		if (p->text[i] != '\n')
			p->text[i] = ' ';
}

// clang-format off
static const struct platform_rule backbone_rules[] = {
	{"bandwidth", PLATFORM_BANDWIDTH, true}, {"latency", PLATFORM_LATENCY, true}, {0}};
static const struct platform_rule cabinet_rules[] = {
	{"bw", PLATFORM_BANDWIDTH, true}, {"lat", PLATFORM_LATENCY, true},
	{"speed", PLATFORM_SPEED, true}, {0}};
static const struct platform_rule cluster_rules[] = {
	{"bb_bw", PLATFORM_BANDWIDTH, false}, {"bb_lat", PLATFORM_LATENCY, false},
	{"bw", PLATFORM_BANDWIDTH, true}, {"lat", PLATFORM_LATENCY, true},
	{"limiter_link", PLATFORM_BANDWIDTH, false},
	{"loopback_bw", PLATFORM_BANDWIDTH, false}, {"loopback_lat", PLATFORM_LATENCY, false},
	{"speed", PLATFORM_SPEED, true}, {0}};
static const struct platform_rule host_rules[] = {{"speed", PLATFORM_SPEED, true}, {0}};
static const struct platform_rule link_rules[] = {
	{"bandwidth", PLATFORM_BANDWIDTH, true}, {"latency", PLATFORM_LATENCY, false}, {0}};
static const struct platform_rule peer_rules[] = {
	{"bw_in", PLATFORM_BANDWIDTH, true}, {"bw_out", PLATFORM_BANDWIDTH, true},
	{"lat", PLATFORM_LATENCY, false}, {"speed", PLATFORM_SPEED, true}, {0}};

const struct platform_element platform_elements[] = {
	{.name = "AS", .start = start_zone},
	{.name = "ASroute", .start = start_zone_route},
	{.name = "backbone", .rules = backbone_rules, .start = start_link},
	{.name = "bypassASroute", .start = start_zone_route},
	{.name = "bypassRoute", .start = start_route},
	{.name = "bypassZoneRoute", .start = start_zone_route},
	{.name = "cabinet", .rules = cabinet_rules, .start = start_cabinet},
	{.name = "cluster", .rules = cluster_rules, .start = start_cluster},
	{.name = "config", .start = start_config, .end = end_config},
	{.name = "disk"},
	{.name = "host", .rules = host_rules, .start = start_host},
	{.name = "host_link", .start = start_host_link},
	{.name = "link", .rules = link_rules, .start = start_link},
	{.name = "link_ctn", .start = start_link_ctn},
	{.name = "model_prop"},
	{.name = "mount"},
	{.name = "peer", .rules = peer_rules, .start = start_peer},
	{.name = "platform"},
	{.name = "prop"},
	{.name = "route", .start = start_route},
	{.name = "router", .start = start_router},
	{.name = "storage"},
	{.name = "storage_type"},
	{.name = "trace"},
	{.name = "trace_connect"},
	{.name = "zone", .start = start_zone},
	{.name = "zoneRoute", .start = start_zone_route},
};
// clang-format on
const size_t n_platform_elements = sizeof(platform_elements) / sizeof(platform_elements[0]);
