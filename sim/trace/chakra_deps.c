/* Dependencies: ids to indices, and whether they can be met. */
#include <inttypes.h>
#include <stdlib.h>

#include "trace/chakra.h"

struct by_id {
	uint64_t id;
	uint32_t index;
};

static int id_order(const void *x, const void *y)
{
	const struct by_id *a = x, *b = y;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static uint32_t find_id(const struct by_id *sorted, uint32_t n, uint64_t id)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (sorted[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && sorted[lo].id == id ? sorted[lo].index : PROG_NONE;
}

static const struct by_id *sort_ids(struct et_set *set, const struct et_rank *rank, struct err *err)
{
	struct by_id *sorted = arena_array(set->a, rank->n_nodes, struct by_id);
	for (uint32_t i = 0; i < rank->n_nodes; i++)
		sorted[i] = (struct by_id){rank->nodes[i].id, i};
	if (rank->n_nodes > 0)
		qsort(sorted, rank->n_nodes, sizeof(*sorted), id_order);
	for (uint32_t i = 1; i < rank->n_nodes; i++)
		if (sorted[i].id == sorted[i - 1].id) {
			err_set(err, ERR_INPUT, "%s: two nodes have the id %" PRIu64 " (%s, %s)",
				rank->path, sorted[i].id, rank->nodes[sorted[i - 1].index].name,
				rank->nodes[sorted[i].index].name);
			return NULL;
		}
	return sorted;
}

static void find_deps(struct et_set *set, const struct et_rank *rank, struct et_node *node,
	const struct by_id *sorted)
{
	uint32_t *deps = arena_array(set->a, node->n_deps, uint32_t), n = 0, n_data = 0;
	for (uint32_t i = 0; i < node->n_deps; i++) {
		uint32_t at = find_id(sorted, rank->n_nodes, node->dep_ids[i]);
		if (at == PROG_NONE) {
			trace_warn(set->a, set->trace, "dangling_dependency",
				"%s depends on node %" PRIu64 ", which is not in the file",
				et_place(set->a, rank, node), node->dep_ids[i]);
			continue;
		}
		deps[n++] = at;
		n_data += i < node->n_data;
	}
	node->deps = deps;
	node->n_data = n_data;
	node->n_deps = n;
}

struct et_users et_users(struct arena *a, const struct et_rank *rank)
{
	uint32_t n = rank->n_nodes;
	struct et_users u = {.first = arena_array(a, (size_t)n + 1, uint32_t)};
	uint32_t *next = arena_array(a, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t d = 0; d < rank->nodes[i].n_deps; d++)
			u.first[rank->nodes[i].deps[d] + 1]++;
	for (uint32_t i = 0; i < n; i++) {
		u.first[i + 1] += u.first[i];
		next[i] = u.first[i];
	}
	u.users = arena_array(a, u.first[n], uint32_t);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t d = 0; d < rank->nodes[i].n_deps; d++)
			u.users[next[rank->nodes[i].deps[d]]++] = i;
	return u;
}

/* What waits for whom while nodes are taken away whose dependencies are met. */
struct peeling {
	const struct et_rank *rank;
	struct et_users of;
	uint32_t *n_waiting; /* by node; stays above 0 for those in a cycle or behind one */
};

static struct peeling peel_init(struct arena *a, const struct et_rank *rank)
{
	struct peeling p = {.rank = rank,
		.of = et_users(a, rank),
		.n_waiting = arena_array(a, rank->n_nodes, uint32_t)};
	for (uint32_t i = 0; i < rank->n_nodes; i++)
		p.n_waiting[i] = rank->nodes[i].n_deps;
	return p;
}

/* Returns how many are left. */
static uint32_t peel(struct arena *a, struct peeling *p)
{
	uint32_t n = p->rank->n_nodes, n_ready = 0, done = 0;
	uint32_t *ready = arena_array(a, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		if (p->n_waiting[i] == 0)
			ready[n_ready++] = i;
	while (done < n_ready) {
		uint32_t at = ready[done++];
		for (uint32_t u = p->of.first[at]; u < p->of.first[at + 1]; u++)
			if (--p->n_waiting[p->of.users[u]] == 0)
				ready[n_ready++] = p->of.users[u];
	}
	return n - done;
}

/* A node that is left waits for another that is left: going back from one to the next goes round
 * in a circle. */
static bool tell_cycle(struct et_set *set, const struct peeling *p, struct err *err)
{
	const struct et_rank *rank = p->rank;
	bool *seen = arena_array(set->a, rank->n_nodes, bool);
	struct text t = {0};
	uint32_t at = 0, start;
	enum { SHOWN = 8 };
	while (p->n_waiting[at] == 0)
		at++;
	for (start = at; !seen[start];) {
		seen[start] = true;
		for (uint32_t d = 0; d < rank->nodes[start].n_deps; d++)
			if (p->n_waiting[rank->nodes[start].deps[d]] > 0) {
				start = rank->nodes[start].deps[d];
				break;
			}
	}
	at = start;
	for (int i = 0; i < SHOWN && (i == 0 || at != start); i++) {
		text_add(&t, "%s%" PRIu64 " '%.60s'", i ? ", which waits for " : "",
			rank->nodes[at].id, rank->nodes[at].name);
		for (uint32_t d = 0; d < rank->nodes[at].n_deps; d++)
			if (p->n_waiting[rank->nodes[at].deps[d]] > 0) {
				at = rank->nodes[at].deps[d];
				break;
			}
	}
	err_set(err, ERR_INPUT, "%s: dependencies form a cycle: node %s, which waits for %s%s",
		rank->path, t.data, at == start ? "the first" : "others",
		set->options->lenient ? "" : " (--lenient leaves out control dependencies)");
	text_free(&t);
	return false;
}

/* Control dependencies between nodes that are left are taken away. */
static void cut_control(struct et_set *set, struct peeling *p)
{
	for (uint32_t i = 0; i < p->rank->n_nodes; i++) {
		struct et_node *node = &p->rank->nodes[i];
		uint32_t *deps = arena_array(set->a, node->n_deps, uint32_t), n = 0;
		if (p->n_waiting[i] == 0)
			continue;
		for (uint32_t d = 0; d < node->n_deps; d++) {
			if (d < node->n_data || p->n_waiting[node->deps[d]] == 0)
				deps[n++] = node->deps[d];
			else
				trace_warn(set->a, set->trace, "cyclic_control_dependency",
					"%s waits in a circle: its control dependency on node "
					"%" PRIu64 " is left out",
					et_place(set->a, p->rank, node),
					p->rank->nodes[node->deps[d]].id);
		}
		node->deps = deps;
		node->n_deps = n;
	}
}

static bool check_cycles(struct et_set *set, const struct et_rank *rank, struct err *err)
{
	struct arena scratch = {0};
	struct peeling p = peel_init(&scratch, rank);
	bool ok = peel(&scratch, &p) == 0;
	if (!ok && set->options->lenient) {
		cut_control(set, &p);
		p = peel_init(&scratch, rank);
		ok = peel(&scratch, &p) == 0;
	}
	if (!ok)
		tell_cycle(set, &p, err);
	arena_free(&scratch);
	return ok;
}

bool et_resolve(struct et_set *set, struct et_rank *rank, struct err *err)
{
	const struct by_id *sorted = sort_ids(set, rank, err);
	if (!sorted)
		return false;
	for (uint32_t i = 0; i < rank->n_nodes; i++)
		find_deps(set, rank, &rank->nodes[i], sorted);
	return check_cycles(set, rank, err);
}
