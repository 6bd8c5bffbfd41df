/* What if: links that fail or slow down, and scales over all links. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/internal.h"

/* Routes of a topology that lost links: those of the whole one where they are intact. */
struct detour {
	struct topo whole;
	const uint32_t *kept; /* of the whole one's links: number now, or NAME_ABSENT */
	const uint32_t *next; /* as topo_search_routes() has it */
};

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	const struct detour *d = t->family_data;
	uint32_t n = d->whole.route(&d->whole, src, dst, links);
	for (uint32_t i = 0; i < n; i++) {
		links[i] = d->kept[links[i]];
		if (links[i] == NAME_ABSENT)
			return topo_follow(t, d->next + (size_t)dst * t->n_nodes,
				(uint32_t[]){src, dst}, links);
	}
	return n;
}

/* A cable as the user names it: two nodes, and "#1" for one of several between them. */
struct cable {
	uint32_t ends[2];
	const char *suffix; /* NULL: all of them */
};

static uint32_t find_node(
	const struct topo *t, const struct name_index *names, const char *s, size_t n)
{
	uint32_t node = name_index_find(names, s, n);
	char *end;
	if (node != NAME_ABSENT || n == 0 || !isdigit((unsigned char)s[0]))
		return node;
	unsigned long number = strtoul(s, &end, 10);
	return end == s + n && number < t->n_devices ? (uint32_t)number : NAME_ABSENT;
}

static bool is_part(const struct topo_link *link, const struct cable *c)
{
	bool forth = link->from == c->ends[0] && link->to == c->ends[1];
	bool back = link->from == c->ends[1] && link->to == c->ends[0];
	const char *suffix = strchr(link->name, '#');
	return (forth || back) && (!c->suffix || strcmp(c->suffix, suffix ? suffix : "#0") == 0);
}

static bool no_cable(const struct topo *t, const char *text, struct err *err)
{
	const char **names = mem_alloc((size_t)t->n_links + 1, sizeof(*names));
	for (uint32_t i = 0; i < t->n_links; i++)
		names[i] = t->links[i].name;
	const char *near = text_nearest(text, names, t->n_links);
	err_set(err, ERR_USAGE, "topology '%s' has no link '%s', %s%s%s", t->name, text,
		near ? "did you mean '" : "expected two nodes such as ",
		near             ? near
		: t->n_links > 0 ? t->links[0].name
				 : "d0-d1",
		near ? "'?" : "");
	free((void *)names);
	return false;
}

/* Names may hold dashes themselves: any split whose both sides are nodes will do. */
static bool find_cable(const struct topo *t, const struct name_index *names, const char *text,
	struct cable *out, struct err *err)
{
	const char *hash = strchr(text, '#');
	size_t n = hash ? (size_t)(hash - text) : strlen(text);
	out->suffix = hash;
	for (size_t i = 1; i + 1 < n; i++) {
		if (text[i] != '-')
			continue;
		out->ends[0] = find_node(t, names, text, i);
		out->ends[1] = find_node(t, names, text + i + 1, n - i - 1);
		if (out->ends[0] == NAME_ABSENT || out->ends[1] == NAME_ABSENT)
			continue;
		for (uint32_t k = 0; k < t->n_links; k++)
			if (is_part(&t->links[k], out))
				return true;
	}
	return no_cable(t, text, err);
}

static bool scale_rate(struct topo_link *link, double by, struct err *err)
{
	double rate = (double)link->bytes_per_s * by + 0.5;
	if (!(rate >= 1) || rate >= 1.8e19)
		return err_set(err, ERR_INPUT,
			"link '%s': %" PRIu64
			" B/s times %g is no bandwidth, expected 1 B/s or more",
			link->name, link->bytes_per_s, by);
	link->bytes_per_s = (uint64_t)rate;
	return true;
}

static bool scale_all(struct topo *t, const struct topo_changes *c, struct err *err)
{
	for (uint32_t i = 0; i < t->n_links; i++) {
		struct topo_link *link = &t->links[i];
		if (c->bw_scale > 0 && !scale_rate(link, c->bw_scale, err))
			return false;
		if (!(c->lat_scale > 0))
			continue;
		double latency = (double)link->latency * c->lat_scale + 0.5;
		if (latency > (double)TOPO_MAX_LATENCY)
			return err_set(err, ERR_INPUT,
				"link '%s': the latency times %g is more than 1000 s", link->name,
				c->lat_scale);
		link->latency = (tick)latency;
	}
	return true;
}

static bool degrade(struct arena *a, struct topo *t, const struct name_index *names,
	const char *text, struct err *err)
{
	const char *equals = strrchr(text, '=');
	char *end = NULL;
	double by = equals ? strtod(equals + 1, &end) : 0;
	struct cable c = {0};
	if (!equals || end == equals + 1 || *end != '\0' || !(by > 0) || by > 1e6)
		return err_set(
			err, ERR_USAGE, "'%s', expected LINK=FACTOR such as d0-d1=0.5", text);
	const char *name = arena_strndup(a, text, (size_t)(equals - text));
	if (!find_cable(t, names, name, &c, err))
		return false;
	for (uint32_t i = 0; i < t->n_links; i++)
		if (is_part(&t->links[i], &c) && !scale_rate(&t->links[i], by, err))
			return false;
	return true;
}

static bool reroute(struct arena *a, struct topo *t, const bool *failed, struct err *err)
{
	struct detour *d = arena_new(a, struct detour);
	uint32_t *kept = arena_array(a, (size_t)t->n_links + 1, uint32_t), n = 0;
	d->whole = *t;
	t->links = arena_array(a, (size_t)t->n_links + 1, struct topo_link);
	for (uint32_t i = 0; i < d->whole.n_links; i++) {
		kept[i] = failed[i] ? NAME_ABSENT : n;
		if (!failed[i])
			t->links[n++] = d->whole.links[i];
	}
	t->n_links = n;
	d->kept = kept;
	uint32_t hops;
	d->next = topo_search_routes(a, t, &hops, err);
	if (!d->next)
		return false;
	t->max_hops = hops > t->max_hops ? hops : t->max_hops;
	t->route = route;
	t->family_data = d;
	return true;
}

static bool fail_links(struct arena *a, struct topo *t, const struct name_index *names,
	const struct topo_changes *c, struct err *err)
{
	bool *failed = arena_array(a, (size_t)t->n_links + 1, bool);
	const char *list = "";
	for (uint32_t i = 0; i < c->n_fail; i++) {
		struct cable cable = {0};
		if (!find_cable(t, names, c->fail[i], &cable, err))
			return err_prefix(err, "--fail-link: ");
		for (uint32_t k = 0; k < t->n_links; k++)
			failed[k] = failed[k] || is_part(&t->links[k], &cable);
		list = arena_printf(a, "%s%s%s", list, i ? ", " : "", c->fail[i]);
	}
	if (reroute(a, t, failed, err))
		return true;
	if (strstr(err->text, "no way"))
		err->kind = ERR_ANSWER;
	return err_prefix(err, "topology '%s' without %s: unreachable: ", t->name, list);
}

static void describe(struct arena *a, const struct topo_changes *c, struct topo *t)
{
	for (uint32_t i = 0; i < c->n_fail; i++)
		t->summary = arena_printf(a, "%s, without %s", t->summary, c->fail[i]);
	for (uint32_t i = 0; i < c->n_degrade; i++)
		t->summary = arena_printf(a, "%s, %s", t->summary, c->degrade[i]);
	if (c->bw_scale > 0)
		t->summary = arena_printf(a, "%s, bandwidth x %g", t->summary, c->bw_scale);
	if (c->lat_scale > 0)
		t->summary = arena_printf(a, "%s, latency x %g", t->summary, c->lat_scale);
}

bool topo_change(struct arena *a, const struct topo_changes *c, struct topo *t, struct err *err)
{
	struct arena work = {0};
	struct name_index names = {0};
	bool single = c->n_fail > 0 || c->n_degrade > 0, ok = true;
	if (!single && !(c->bw_scale > 0) && !(c->lat_scale > 0))
		return true;
	if (t->platform_xml)
		return err_set(err, ERR_USAGE,
			"topology '%s' is a SimGrid platform, which is taken as it is: its links "
			"cannot fail or be scaled here",
			t->name);
	for (uint32_t i = 0; i < t->n_nodes && single; i++)
		name_index_add(&work, &names, t->nodes[i].name);
	t->formula = NULL;
	t->altered = t->altered || single;
	if (single)
		t->n_dims = 0;
	ok = scale_all(t, c, err);
	for (uint32_t i = 0; i < c->n_degrade && ok; i++)
		ok = degrade(a, t, &names, c->degrade[i], err) || err_prefix(err, "--degrade: ");
	ok = ok && (c->n_fail == 0 || fail_links(a, t, &names, c, err));
	arena_free(&work);
	describe(a, c, t);
	return ok;
}
