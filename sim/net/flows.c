#include "net/flows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "net/flows_internal.h"

struct flow_set {
	const uint32_t *components; /* different ones */
	uint32_t n_components;
	const struct flow_load *loads;
	uint32_t n_loads;
	double payload; /* loads times this are bytes */
	uint32_t like;  /* the first set with these loads */
	uint64_t n_parts;
};

/* Who sends to whom in a set whose messages all carry the same. */
struct pattern {
	uint64_t hash;
	const uint64_t *ends; /* src << 32 | dst of each message */
	uint32_t n;
	uint32_t set; /* the first that is like it */
	struct pattern *next;
};

enum { PATTERN_BUCKETS = 4096 };
enum { BATCH_ROUTES = 1 << 17 }; /* links that the messages of one run may use, counted for each */

struct net_flows {
	struct arena a;
	enum net_kind kind;
	const struct topo *topo;
	struct name_index shape_keys; /* the number of a key is that of its shape */
	struct component *shapes;
	uint32_t n_shapes, cap_shapes;
	struct name_index keys; /* of a shape with what its messages carry */
	struct component *components;
	uint32_t n_components, cap_components, n_solved;
	struct flow_set *sets;
	uint32_t n_sets, cap_sets;
	uint64_t n_added;
	struct pattern **patterns;
	uint32_t *owner;     /* of each link of the topology while a set is taken apart */
	uint32_t *local;     /* of each link while a component is named: 1 + its number there */
	uint32_t *last_set;  /* per component: 1 + the set that has it already */
	uint32_t n_last_set; /* room */
};

struct net_flows *net_flows_create(enum net_kind kind, const struct topo *topo)
{
	assert(!topo->platform_xml);
	struct net_flows *f = mem_alloc(1, sizeof(*f));
	*f = (struct net_flows){.kind = kind, .topo = topo};
	f->owner = arena_array(&f->a, (size_t)topo->n_links + 1, uint32_t);
	f->local = arena_array(&f->a, (size_t)topo->n_links + 1, uint32_t);
	f->patterns = arena_array(&f->a, PATTERN_BUCKETS, struct pattern *);
	return f;
}

void net_flows_destroy(struct net_flows *f)
{
	if (!f)
		return;
	arena_free(&f->a);
	free(f);
}

/* The number of the component of this shape whose messages carry so much; 0 / 0: as drawn. */
static uint32_t number_of(struct net_flows *f, uint32_t shape, uint64_t bytes, uint64_t divisor)
{
	struct text key = {0};
	text_add(&key, "%x/%llx/%llx", shape, (unsigned long long)bytes,
		(unsigned long long)divisor);
	uint32_t number = name_index_put(&f->a, &f->keys, key.data, key.n);
	if (number == f->n_components) {
		struct component c = f->shapes[shape];
		c.bytes = bytes;
		c.divisor = divisor;
		arena_push(&f->a, f->components, f->n_components, f->cap_components) = c;
	}
	text_free(&key);
	return number;
}

/* Takes the key of a drawn component, which is copied when its shape is new. */
static uint32_t number_drawn(struct net_flows *f, struct component *c)
{
	c->shape = name_index_put(&f->a, &f->shape_keys, c->key.data, c->key.n);
	text_free(&c->key);
	if (c->shape == f->n_shapes) {
		component_copy(&f->a, c);
		arena_push(&f->a, f->shapes, f->n_shapes, f->cap_shapes) = *c;
	}
	return number_of(f, c->shape, c->bytes, c->divisor);
}

/* Messages alone mostly come in long runs of the same. */
struct single {
	struct component_link link;
	uint64_t bytes, divisor; /* divisor 0: none yet */
	uint32_t number;
};

static uint32_t number_single(
	struct net_flows *f, struct taking *t, uint32_t message, struct single *last)
{
	const struct net_flow *m = &t->list[message];
	struct component c;
	struct component_link link = {.bytes_per_s = UINT64_MAX};
	for (uint32_t k = t->start[message]; k < t->start[message + 1]; k++) {
		const struct topo_link *l = &f->topo->links[t->links[k]];
		link.latency += l->latency;
		if (l->bytes_per_s < link.bytes_per_s)
			link.bytes_per_s = l->bytes_per_s;
	}
	if (last->divisor == m->divisor && last->bytes == m->bytes &&
		last->link.latency == link.latency && last->link.bytes_per_s == link.bytes_per_s)
		return last->number;
	component_draw_one(&t->a, &link, &c);
	c.bytes = m->bytes;
	c.divisor = m->divisor;
	*last = (struct single){link, m->bytes, m->divisor, number_drawn(f, &c)};
	return last->number;
}

static uint32_t number_part(
	struct net_flows *f, struct taking *t, uint32_t first, struct single *last)
{
	struct component c;
	if (t->next[first] == UINT32_MAX)
		return number_single(f, t, first, last);
	struct sketch s = taking_sketch(t, first);
	component_draw(&t->a, &s, f->local, &c);
	return number_drawn(f, &c);
}

static bool seen_in_set(struct net_flows *f, uint32_t component)
{
	if (component >= f->n_last_set) {
		uint32_t n = 2 * component + 64;
		f->last_set =
			arena_grow(&f->a, f->last_set, f->n_last_set, n, sizeof(*f->last_set));
		f->n_last_set = n;
	}
	if (f->last_set[component] == f->n_sets + 1)
		return true;
	f->last_set[component] = f->n_sets + 1;
	return false;
}

/* Where messages differ the loads, counted in messages, become bytes. */
static void weigh(struct net_flows *f, const struct taking *t, struct flow_set *set)
{
	for (uint32_t i = 0; i < t->n_loads; i++) {
		f->owner[t->loads[i].link] = i;
		t->loads[i].amount = 0;
	}
	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t k = t->start[i]; k < t->start[i + 1]; k++)
			t->loads[f->owner[t->links[k]]].amount +=
				(double)t->list[i].bytes / (double)t->list[i].divisor;
	for (uint32_t i = 0; i < t->n_loads; i++)
		f->owner[t->loads[i].link] = 0;
	set->payload = 1;
}

static uint32_t take_apart(struct net_flows *f, const struct net_flow *list, uint32_t n, bool alike)
{
	struct taking t = {.topo = f->topo, .list = list, .n = n};
	struct single last = {0};
	struct flow_set set = {0};
	uint32_t *components = NULL, cap = 0;
	taking_begin(&t, f->owner);
	for (uint32_t i = 0; i < n; i++) {
		if (t.parent[i] != i || list[i].src == list[i].dst)
			continue;
		uint32_t number = number_part(f, &t, i, &last);
		set.n_parts++;
		if (!seen_in_set(f, number))
			arena_push(&f->a, components, set.n_components, cap) = number;
	}
	if (alike)
		set.payload = (double)list[0].bytes / (double)list[0].divisor;
	else
		weigh(f, &t, &set);
	set.components = components;
	set.loads = arena_grow(&f->a, t.loads, t.n_loads, t.n_loads, sizeof(*t.loads));
	set.n_loads = t.n_loads;
	taking_end(&t);
	set.like = f->n_sets;
	f->n_added += set.n_parts;
	arena_push(&f->a, f->sets, f->n_sets, f->cap_sets) = set;
	return f->n_sets - 1;
}

/* The same messages as those of `like`, which carry something else. */
static uint32_t add_again(struct net_flows *f, uint32_t like, const struct net_flow *first)
{
	struct flow_set set = f->sets[like];
	uint32_t *components = arena_array(&f->a, (size_t)set.n_components + 1, uint32_t);
	for (uint32_t i = 0; i < set.n_components; i++)
		components[i] = number_of(
			f, f->components[set.components[i]].shape, first->bytes, first->divisor);
	set.components = components;
	set.payload = (double)first->bytes / (double)first->divisor;
	f->n_added += set.n_parts;
	arena_push(&f->a, f->sets, f->n_sets, f->cap_sets) = set;
	return f->n_sets - 1;
}

static bool all_alike(const struct net_flow *list, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (list[i].bytes != list[0].bytes || list[i].divisor != list[0].divisor)
			return false;
	return n > 0;
}

static uint64_t ends_of(const struct net_flow *m)
{
	return (uint64_t)m->src << 32 | m->dst;
}

static uint64_t hash_ends(const struct net_flow *list, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ ends_of(&list[i])) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

static bool is_pattern(
	const struct pattern *p, uint64_t hash, const struct net_flow *list, uint32_t n)
{
	if (p->hash != hash || p->n != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (p->ends[i] != ends_of(&list[i]))
			return false;
	return true;
}

static void remember(struct net_flows *f, const struct pattern *like, const struct net_flow *list)
{
	struct pattern *p = arena_new(&f->a, struct pattern);
	struct pattern **bucket = &f->patterns[like->hash % PATTERN_BUCKETS];
	uint64_t *ends = arena_array(&f->a, like->n, uint64_t);
	for (uint32_t i = 0; i < like->n; i++)
		ends[i] = ends_of(&list[i]);
	*p = *like;
	p->ends = ends;
	p->next = *bucket;
	*bucket = p;
}

uint32_t net_flows_add(struct net_flows *f, const struct net_flow *list, uint32_t n)
{
	if (!all_alike(list, n))
		return take_apart(f, list, n, false);
	uint64_t hash = hash_ends(list, n);
	for (const struct pattern *p = f->patterns[hash % PATTERN_BUCKETS]; p; p = p->next)
		if (is_pattern(p, hash, list, n))
			return add_again(f, p->set, &list[0]);
	uint32_t set = take_apart(f, list, n, true);
	remember(f, &(struct pattern){.hash = hash, .n = n, .set = set}, list);
	return set;
}

bool net_flows_solve(struct net_flows *f, bool (*stop)(void), struct err *err)
{
	while (f->n_solved < f->n_components) {
		if (stop && stop())
			return err_set(err, ERR_ANSWER, "stopped before its end");
		uint32_t n = 0, n_routes = 0;
		struct component *list = &f->components[f->n_solved];
		while (f->n_solved + n < f->n_components &&
			(n == 0 || n_routes + list[n].n_routes <= BATCH_ROUTES))
			n_routes += list[n++].n_routes;
		if (!components_simulate(f->kind, list, n, err))
			return false;
		f->n_solved += n;
	}
	return true;
}

struct net_flow_times net_flows_times(const struct net_flows *f, uint32_t set)
{
	assert(set < f->n_sets);
	const struct flow_set *s = &f->sets[set];
	struct net_flow_times out = {0};
	for (uint32_t i = 0; i < s->n_components; i++) {
		assert(s->components[i] < f->n_solved);
		struct net_flow_times t = f->components[s->components[i]].times;
		out.first = i == 0 || t.first < out.first ? t.first : out.first;
		out.last = t.last > out.last ? t.last : out.last;
	}
	return out;
}

static int by_set(const void *a, const void *b)
{
	const struct net_flow_use *x = a, *y = b;
	return (x->set > y->set) - (x->set < y->set);
}

/* Uses of sets that share their loads count for the first of them. */
void net_flows_load(
	const struct net_flows *f, struct net_flow_use *list, size_t n, double *link_bytes)
{
	struct arena scratch = {0};
	double *weights = arena_array(&scratch, (size_t)f->n_sets + 1, double);
	if (n > 0)
		qsort(list, n, sizeof(*list), by_set);
	for (size_t i = 0; i < n; i++) {
		const struct flow_set *s = &f->sets[list[i].set];
		weights[s->like] += s->payload * (double)list[i].times;
	}
	for (size_t i = 0; i < n; i++) {
		const struct flow_set *s = &f->sets[f->sets[list[i].set].like];
		double *weight = &weights[f->sets[list[i].set].like];
		for (uint32_t k = 0; *weight > 0 && k < s->n_loads; k++)
			link_bytes[s->loads[k].link] += s->loads[k].amount * *weight;
		*weight = 0;
	}
	arena_free(&scratch);
}

struct net_flows_counts net_flows_count(const struct net_flows *f)
{
	return (struct net_flows_counts){f->n_added, f->n_components};
}
