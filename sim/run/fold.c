/* Collectives round by round. Equal rounds are carried out once, and in a round equal components of
 * messages once (net/flows.h). The sum over the rounds is the time of the collective when no rank
 * can get ahead of the others: every message of a round starts at the end of the round before, and
 * all of them end together. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "net/flows.h"
#include "run/internal.h"

/* A round that other rounds are like, itself included. */
struct kind_of_round {
	uint32_t round, times;
	uint32_t set; /* in the flows */
};

enum { LINKS_MAX = 10 };

struct answer {
	tick time;
	bool exact;
	uint64_t n_messages;
	double sent_bytes;
	struct run_link links[LINKS_MAX]; /* the busiest first */
	uint32_t n_links;
};

struct run_memo {
	struct arena a;
	struct net_flows *flows;
	const struct topo *topo;
	enum net_kind net;
	struct name_index keys;
	struct answer *answers;
	uint32_t n_answers, cap_answers;
};

struct run_memo *run_memo_create(const struct topo *topo, enum net_kind net)
{
	struct run_memo *m = mem_alloc(1, sizeof(*m));
	*m = (struct run_memo){.flows = net_flows_create(net, topo), .topo = topo, .net = net};
	return m;
}

void run_memo_destroy(struct run_memo *memo)
{
	if (!memo)
		return;
	net_flows_destroy(memo->flows);
	arena_free(&memo->a);
	free(memo);
}

struct folding {
	struct arena a;
	struct run_memo *memo;
	const struct coll_request *request;
	const struct run_config *config;
	uint32_t n_groups;
	struct coll_rounds rounds;
	struct kind_of_round *kinds;
	uint32_t n_kinds, cap_kinds;
	uint32_t *kind_of; /* per round */
};

static uint32_t device_at(const struct folding *f, uint32_t group, uint32_t position)
{
	return f->request->devices[(size_t)group * f->request->n_devices + position];
}

static uint32_t add_flows(struct folding *f, uint32_t round)
{
	struct arena scratch = {0};
	uint32_t n_steps, n = 0;
	const struct coll_step *steps = coll_rounds_get(&f->rounds, round, &n_steps);
	struct net_flow *list =
		arena_array(&scratch, (size_t)n_steps * f->n_groups + 1, struct net_flow);
	for (uint32_t g = 0; g < f->n_groups; g++)
		for (uint32_t i = 0; i < n_steps; i++)
			list[n++] = (struct net_flow){device_at(f, g, steps[i].src),
				device_at(f, g, steps[i].dst), steps[i].bytes,
				f->rounds.frame.bytes_divisor};
	uint32_t set = net_flows_add(f->memo->flows, list, n);
	arena_free(&scratch);
	return set;
}

static void sort_rounds(struct folding *f)
{
	uint32_t n = f->rounds.frame.n_rounds;
	f->kind_of = arena_array(&f->a, (size_t)n + 1, uint32_t);
	for (uint32_t round = 0; round < n; round++) {
		uint32_t like = coll_rounds_like(&f->rounds, round);
		if (like < round) {
			f->kind_of[round] = f->kind_of[like];
			f->kinds[f->kind_of[round]].times++;
			continue;
		}
		f->kind_of[round] = f->n_kinds;
		arena_push(&f->a, f->kinds, f->n_kinds, f->cap_kinds) =
			(struct kind_of_round){round, 1, add_flows(f, round)};
	}
}

/* True when every message of the round starts at `now`: nobody who takes part was ready before, or
 * could start then. All of them are ready at `then`. */
static bool starts_together(struct folding *f, uint32_t round, tick now, tick then, tick *ready)
{
	uint32_t n_steps;
	const struct coll_step *steps = coll_rounds_get(&f->rounds, round, &n_steps);
	bool together = true;
	for (uint32_t i = 0; i < n_steps; i++) {
		tick src = ready[steps[i].src], dst = ready[steps[i].dst];
		together = together && (src > dst ? src : dst) == now;
	}
	for (uint32_t i = 0; i < n_steps; i++)
		ready[steps[i].src] = ready[steps[i].dst] = then;
	return together;
}

/* A run of equal rounds starts together when its first does, and leaves those who took part
 * ready at its end. */
static struct answer add_up(struct folding *f)
{
	tick *ready = arena_array(&f->a, f->request->n_devices, tick);
	struct answer out = {.exact = true};
	uint32_t n = f->rounds.frame.n_rounds;
	for (uint32_t round = 0, end; round < n; round = end) {
		const struct kind_of_round *k = &f->kinds[f->kind_of[round]];
		struct net_flow_times t = net_flows_times(f->memo->flows, k->set);
		for (end = round + 1; end < n && f->kind_of[end] == f->kind_of[round];)
			end++;
		tick now = out.time;
		out.time += t.last * (end - round);
		out.exact = starts_together(f, k->round, now, out.time, ready) && out.exact &&
			    t.last - t.first <= 1;
	}
	return out;
}

static int busier(const void *a, const void *b)
{
	const struct run_link *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

/* Bytes by link, and messages, of all rounds of a kind. */
static void count_kind(struct folding *f, const struct kind_of_round *k, uint32_t *route,
	struct run_link *links, struct answer *out)
{
	const struct topo *topo = f->memo->topo;
	uint32_t n_steps;
	const struct coll_step *steps = coll_rounds_get(&f->rounds, k->round, &n_steps);
	out->n_messages += (uint64_t)n_steps * k->times * f->n_groups;
	for (uint64_t i = 0; i < (uint64_t)n_steps * f->n_groups; i++) {
		const struct coll_step *s = &steps[i % n_steps];
		uint32_t src = device_at(f, (uint32_t)(i / n_steps), s->src);
		uint32_t dst = device_at(f, (uint32_t)(i / n_steps), s->dst);
		uint32_t n = src == dst ? 0 : topo->route(topo, src, dst, route);
		double bytes = (double)s->bytes * k->times / (double)f->rounds.frame.bytes_divisor;
		out->sent_bytes += src == dst ? 0 : bytes;
		for (uint32_t l = 0; l < n; l++)
			links[route[l]].bytes += bytes;
	}
}

static void find_busiest(struct folding *f, struct answer *out)
{
	const struct topo *topo = f->memo->topo;
	struct run_link *links = arena_array(&f->a, (size_t)topo->n_links + 1, struct run_link);
	uint32_t *route = arena_array(&f->a, (size_t)topo->max_hops + 1, uint32_t);
	for (uint32_t i = 0; i < topo->n_links; i++)
		links[i].link = i;
	for (uint32_t i = 0; i < f->n_kinds; i++)
		count_kind(f, &f->kinds[i], route, links, out);
	qsort(links, topo->n_links, sizeof(*links), busier);
	for (uint32_t i = 0; i < LINKS_MAX && i < topo->n_links && links[i].bytes > 0; i++) {
		const struct topo_link *l = &topo->links[links[i].link];
		out->links[out->n_links] = links[i];
		if (out->time > 0)
			out->links[out->n_links].utilisation =
				links[i].bytes / (ticks_to_s(out->time) * (double)l->bytes_per_s);
		out->n_links++;
	}
}

/* What the group looks like, as if it were run message by message. */
static struct coll_shape shape_of(struct folding *f)
{
	struct prog prog;
	struct run_config config = *f->config;
	lone_prog(&f->a, f->request, &prog);
	config.device_of_rank = f->request->devices;
	struct plans plans = {.a = &f->a,
		.prog = &prog,
		.config = &config,
		.teams = arena_array(&f->a, prog.n_groups, struct plan_team)};
	return plan_shape(&plans, prog.roles[0].tasks[0].group, f->request->algo);
}

static bool solve(struct folding *f, struct answer *out, struct err *err)
{
	const struct coll_request *r = f->request;
	struct coll_call call = {.algo = r->algo,
		.n_ranks = r->n_devices,
		.bytes = r->bytes,
		.shape = shape_of(f),
		.chunk_bytes = f->config->chunk_bytes,
		.counts = r->algo->kind == COLL_ALLTOALL && f->n_groups == 1 ? f->config->counts
									     : NULL};
	if (!coll_rounds_begin(&f->rounds, &call, err))
		return false;
	sort_rounds(f);
	bool ok = net_flows_solve(f->memo->flows, err);
	if (ok) {
		*out = add_up(f);
		find_busiest(f, out);
	}
	coll_rounds_end(&f->rounds);
	return ok;
}

/* All that the answer depends on, but for the topology and the network. */
static void spell(
	const struct coll_request *r, uint32_t n_groups, uint64_t chunk_bytes, struct text *key)
{
	text_add(key, "%s/%s/%llx/%x/%x/%llx", coll_kind_name(r->algo->kind), r->algo->name,
		(unsigned long long)r->bytes, r->n_devices, n_groups,
		(unsigned long long)chunk_bytes);
	uint64_t n = (uint64_t)r->n_devices * n_groups;
	for (uint64_t i = 0; i < n;) {
		uint64_t run = 1;
		while (i + run < n && r->devices[i + run] == r->devices[i] + run)
			run++;
		text_add(key, ",%x+%llx", r->devices[i], (unsigned long long)run);
		i += run;
	}
}

static bool look_up(struct folding *f, struct answer *out, struct err *err)
{
	struct text key = {0};
	struct run_memo *m = f->memo;
	/* Shapes and counts of the caller's are not compared; algorithms from files share names. */
	if (f->config->shape || f->config->counts || f->request->algo->data)
		return solve(f, out, err);
	spell(f->request, f->n_groups, f->config->chunk_bytes, &key);
	uint32_t i = name_index_find(&m->keys, key.data, key.n);
	bool ok = true;
	if (i != NAME_ABSENT) {
		assert(m->answers && i < m->n_answers);
		*out = m->answers[i];
	} else if ((ok = solve(f, out, err))) {
		name_index_put(&m->a, &m->keys, key.data, key.n);
		arena_push(&m->a, m->answers, m->n_answers, m->cap_answers) = *out;
	}
	text_free(&key);
	return ok;
}

static void fill(
	struct arena *a, struct folding *f, const struct answer *answer, struct run_result *out)
{
	const struct coll_request *r = f->request;
	*out = (struct run_result){.end = answer->time,
		.folded = true,
		.n_messages = answer->n_messages,
		.sent_bytes = answer->sent_bytes,
		.n_colls = f->n_groups,
		.colls = arena_array(a, f->n_groups, struct run_coll)};
	out->coll_bytes[r->algo->kind] = r->bytes * f->n_groups;
	for (uint32_t g = 0; g < f->n_groups; g++)
		out->colls[g] = (struct run_coll){.kind = r->algo->kind,
			.group = "rank",
			.first_rank = g * r->n_devices,
			.n_ranks = r->n_devices,
			.bytes = r->bytes,
			.end = answer->time};
	out->links = arena_grow(
		a, answer->links, answer->n_links, answer->n_links, sizeof(*answer->links));
	out->n_links = answer->n_links;
}

bool fold_coll(struct arena *a, const struct coll_request *request, const struct run_config *config,
	struct run_result *out, bool *exact, struct err *err)
{
	struct folding f = {.request = request,
		.config = config,
		.memo = config->memo,
		.n_groups = request->n_groups ? request->n_groups : 1};
	struct answer answer;
	if (!f.memo)
		f.memo = run_memo_create(config->topo, config->net);
	assert(f.memo->topo == config->topo && f.memo->net == config->net);
	bool ok = look_up(&f, &answer, err);
	if (ok) {
		fill(a, &f, &answer, out);
		*exact = answer.exact;
	}
	if (!config->memo)
		run_memo_destroy(f.memo);
	arena_free(&f.a);
	return ok;
}
