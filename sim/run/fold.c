/* Collectives round by round. Equal rounds are carried out once, and in a round equal components of
 * messages once (net/flows.h). The sum over the rounds is the time of the collective when no rank
 * can get ahead of the others: every message of a round starts at the end of the round before, and
 * all of them end together, adding included. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "net/flows.h"
#include "run/internal.h"

struct layout {
	const uint32_t *devices;
	uint32_t n_devices, n_groups;
};

struct run_memo {
	struct arena a;
	struct net_flows *flows;
	const struct topo *topo;
	enum net_kind net;
	struct name_index layout_keys;
	struct layout *layouts;
	uint32_t n_layouts, cap_layouts;
	struct name_index keys;
	struct folded **answers;
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

bool memo_is_of(const struct run_memo *m, const struct run_config *config)
{
	return m->topo == config->topo && m->net == config->net;
}

/* Devices mostly follow one another at equal distances. */
static void spell_devices(const uint32_t *devices, uint64_t n, struct text *key)
{
	for (uint64_t i = 0, run; i < n; i += run) {
		uint32_t stride = i + 1 < n ? devices[i + 1] - devices[i] : 0;
		for (run = 1; i + run < n && devices[i + run] == devices[i + run - 1] + stride;)
			run++;
		text_add(key, ",%x+%x*%llx", devices[i], stride, (unsigned long long)run);
	}
}

uint32_t fold_layout(
	struct run_memo *m, const uint32_t *devices, uint32_t n_devices, uint32_t n_groups)
{
	struct text key = {0};
	uint64_t n = (uint64_t)n_devices * n_groups;
	text_add(&key, "%x/%x", n_devices, n_groups);
	spell_devices(devices, n, &key);
	uint32_t number = name_index_put(&m->a, &m->layout_keys, key.data, key.n);
	if (number == m->n_layouts)
		arena_push(&m->a, m->layouts, m->n_layouts, m->cap_layouts) = (struct layout){
			arena_grow(&m->a, devices, n, n, sizeof(*devices)), n_devices, n_groups};
	text_free(&key);
	return number;
}

/* A collective while its rounds are listed. */
struct folding {
	struct arena a;
	struct run_memo *memo;
	const struct fold_question *question;
	struct layout layout;
	struct coll_rounds rounds;
	struct folded *out;
	uint32_t *kind_of; /* per round */
	/* When a position is through with its rounds so far: 2 x round at the end of the one
	 * before `round`, odd where it had nothing, or less than others, to add in it. */
	uint64_t *ready;
	tick *adding; /* per position, of the round at hand */
};

/* The messages of the round in all groups. Those between ranks of one device take no time. */
static uint32_t add_flows(
	struct folding *f, const struct coll_step *steps, uint32_t n_steps, double *sent_bytes)
{
	struct arena scratch = {0};
	const struct layout *l = &f->layout;
	uint64_t divisor = f->rounds.frame.bytes_divisor;
	uint32_t n = 0, n_still = 0;
	struct net_flow *list =
		arena_array(&scratch, (size_t)n_steps * l->n_groups + 1, struct net_flow);
	*sent_bytes = 0;
	for (uint32_t g = 0; g < l->n_groups; g++) {
		const uint32_t *devices = &l->devices[(size_t)g * l->n_devices];
		for (uint32_t i = 0; i < n_steps; i++) {
			const struct coll_step *s = &steps[i];
			uint32_t src = devices[s->src], dst = devices[s->dst];
			list[n++] = (struct net_flow){src, dst, s->bytes, divisor};
			n_still += src == dst;
			if (src != dst)
				*sent_bytes += (double)s->bytes / (double)divisor;
		}
	}
	if (n_still > 0 && n_still < n)
		f->out->starts_together = false;
	uint32_t set = net_flows_add(f->memo->flows, list, n);
	arena_free(&scratch);
	return set;
}

/* Fills f->adding in; returns the most. */
static tick find_adding(struct folding *f, const struct coll_step *steps, uint32_t n_steps)
{
	tick most = 0;
	if (f->question->reduce_bytes_per_s == 0)
		return 0;
	for (uint32_t i = 0; i < n_steps; i++)
		f->adding[steps[i].src] = f->adding[steps[i].dst] = 0;
	for (uint32_t i = 0; i < n_steps; i++) {
		if (!steps[i].reduce)
			continue;
		tick *adding = &f->adding[steps[i].dst];
		tick more = run_reduce_time(steps[i].bytes, f->rounds.frame.bytes_divisor,
			f->question->reduce_bytes_per_s);
		*adding = more < TICK_MAX - 1 - *adding ? *adding + more : TICK_MAX - 1;
		most = *adding > most ? *adding : most;
	}
	return most;
}

/* Every message of the round has to start at its beginning: at least one of its ends was not ready
 * before. */
static void pass_round(struct folding *f, uint32_t round, const struct coll_step *steps,
	uint32_t n_steps, tick most)
{
	for (uint32_t i = 0; i < n_steps; i++) {
		uint64_t src = f->ready[steps[i].src], dst = f->ready[steps[i].dst];
		if ((src > dst ? src : dst) != 2 * (uint64_t)round)
			f->out->starts_together = false;
	}
	for (uint32_t i = 0; i < n_steps; i++) {
		uint32_t ends[2] = {steps[i].src, steps[i].dst};
		for (int k = 0; k < 2; k++)
			f->ready[ends[k]] = 2 * (uint64_t)round + 1 + (f->adding[ends[k]] == most);
	}
}

/* The kind of a round: new, unless its messages are those of round `like` and add as much.
 * `passed`: how many rounds, runs of equal ones counted once, lie before it. */
static void add_round(struct folding *f, uint32_t round, uint32_t like, uint32_t passed)
{
	struct folded *out = f->out;
	uint32_t n_steps, set;
	double sent_bytes;
	const struct coll_step *steps = coll_rounds_get(&f->rounds, round, &n_steps);
	tick most = find_adding(f, steps, n_steps);
	pass_round(f, passed, steps, n_steps, most);
	uint32_t k = like < round ? f->kind_of[like] : out->n_kinds;
	if (k < out->n_kinds) {
		set = out->kinds[k].set;
		sent_bytes = out->kinds[k].sent_bytes;
		while (k < out->n_kinds &&
			(out->kinds[k].set != set || out->kinds[k].reduction != most))
			k++;
	} else {
		set = add_flows(f, steps, n_steps, &sent_bytes);
	}
	if (k == out->n_kinds)
		arena_push(&f->memo->a, out->kinds, out->n_kinds, out->cap_kinds) =
			(struct fold_kind){.set = set,
				.reduction = most,
				.n_messages = (uint64_t)n_steps * f->layout.n_groups,
				.sent_bytes = sent_bytes};
	out->kinds[k].times++;
	f->kind_of[round] = k;
}

static bool may_reduce(const struct fold_question *q)
{
	enum coll_kind kind = q->algo->kind;
	return q->reduce_bytes_per_s > 0 &&
	       (kind == COLL_ALLREDUCE || kind == COLL_REDUCE || kind == COLL_REDUCESCATTER);
}

/* In a run of equal rounds the first says all, where nothing is added: the others start together
 * when it does, and leave who takes part ready at their ends. */
static void list_rounds(struct folding *f)
{
	uint32_t n = f->rounds.frame.n_rounds, n_passed = 0;
	bool adds = may_reduce(f->question);
	f->kind_of = arena_array(&f->a, (size_t)n + 1, uint32_t);
	f->ready = arena_array(&f->a, f->layout.n_devices, uint64_t);
	f->adding = arena_array(&f->a, f->layout.n_devices, tick);
	for (uint32_t round = 0; round < n; round++) {
		uint32_t like = coll_rounds_like(&f->rounds, round);
		if (!adds && like < round && f->kind_of[like] == f->kind_of[round - 1]) {
			f->kind_of[round] = f->kind_of[like];
			f->out->kinds[f->kind_of[round]].times++;
			continue;
		}
		add_round(f, round, like, n_passed++);
	}
	f->out->leaves_together = true;
	for (uint32_t i = 0; i < f->layout.n_devices; i++)
		if (f->ready[i] != 2 * (uint64_t)n_passed)
			f->out->leaves_together = false;
}

static struct folded *fold(struct run_memo *m, const struct fold_question *q, struct err *err)
{
	struct folding f = {.memo = m, .question = q, .layout = m->layouts[q->layout]};
	struct coll_call call = {.algo = q->algo,
		.n_ranks = f.layout.n_devices,
		.bytes = q->bytes,
		.shape = *q->shape,
		.chunk_bytes = q->chunk_bytes,
		.counts = q->counts};
	if (!coll_rounds_begin(&f.rounds, &call, err))
		return NULL;
	f.out = arena_new(&m->a, struct folded);
	*f.out = (struct folded){.starts_together = true};
	list_rounds(&f);
	for (uint32_t i = 0; i < f.out->n_kinds; i++) {
		const struct fold_kind *k = &f.out->kinds[i];
		f.out->n_messages += k->n_messages * k->times;
		f.out->sent_bytes += k->sent_bytes * k->times;
	}
	coll_rounds_end(&f.rounds);
	arena_free(&f.a);
	return f.out;
}

static void spell_shape(const struct coll_shape *s, uint32_t n_ranks, struct text *key)
{
	for (uint32_t i = 0; i < s->n_dims; i++)
		text_add(key, "x%x", s->dims[i]);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		text_add(key, "n%x", s->nodes[i]);
	for (uint64_t i = 0; i < (uint64_t)s->n_rings * n_ranks; i++)
		text_add(key, "r%x", s->rings[i]);
}

/* All that the answer depends on, but for the topology and the network. */
static void spell(const struct run_memo *m, const struct fold_question *q, struct text *key)
{
	text_add(key, "%s/%s/%llx/%llx/%llx/%x/", coll_kind_name(q->algo->kind), q->algo->name,
		(unsigned long long)q->bytes, (unsigned long long)q->chunk_bytes,
		(unsigned long long)q->reduce_bytes_per_s, q->layout);
	if (q->usual_shape)
		text_add(key, "~");
	else
		spell_shape(q->shape, m->layouts[q->layout].n_devices, key);
}

bool fold_knows(const struct run_memo *m, const struct fold_question *q)
{
	struct text key = {0};
	if (q->counts || q->algo->data)
		return false;
	spell(m, q, &key);
	bool known = name_index_find(&m->keys, key.data, key.n) != NAME_ABSENT;
	text_free(&key);
	return known;
}

struct folded *fold_add(struct run_memo *m, const struct fold_question *q, struct err *err)
{
	struct text key = {0};
	/* Counts of the caller's are not compared; algorithms from files share names. */
	if (q->counts || q->algo->data)
		return fold(m, q, err);
	spell(m, q, &key);
	uint32_t i = name_index_find(&m->keys, key.data, key.n);
	struct folded *out = i != NAME_ABSENT ? m->answers[i] : fold(m, q, err);
	if (out && i == NAME_ABSENT) {
		name_index_put(&m->a, &m->keys, key.data, key.n);
		arena_push(&m->a, m->answers, m->n_answers, m->cap_answers) = out;
	}
	text_free(&key);
	return out;
}

bool fold_solve(struct run_memo *m, bool (*stop)(void), struct err *err)
{
	return net_flows_solve(m->flows, stop, err);
}

void fold_sum(const struct run_memo *m, struct folded *f)
{
	u128 sum = 0;
	if (f->summed)
		return;
	f->exact = f->starts_together;
	for (uint32_t i = 0; i < f->n_kinds; i++) {
		const struct fold_kind *k = &f->kinds[i];
		struct net_flow_times t = net_flows_times(m->flows, k->set);
		f->exact = f->exact && t.last - t.first <= 1;
		sum += ((u128)t.last + k->reduction) * k->times;
	}
	f->time = sum < TICK_MAX ? (tick)sum : TICK_MAX - 1;
	f->summed = true;
}

void fold_load(const struct run_memo *m, struct folded *const *list, uint32_t n, double *link_bytes)
{
	struct arena scratch = {0};
	struct net_flow_use *uses = NULL;
	size_t n_uses = 0, cap = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; list[i] && k < list[i]->n_kinds; k++)
			arena_push(&scratch, uses, n_uses, cap) = (struct net_flow_use){
				list[i]->kinds[k].set, list[i]->kinds[k].times};
	net_flows_load(m->flows, uses, n_uses, link_bytes);
	arena_free(&scratch);
}

void fold_find_links(struct run_memo *m, struct folded *f)
{
	struct arena scratch = {0};
	if (f->has_links)
		return;
	double *link_bytes = arena_array(&scratch, (size_t)m->topo->n_links + 1, double);
	fold_load(m, &f, 1, link_bytes);
	f->links = links_busiest(&m->a, m->topo, link_bytes, f->time, LINKS_MAX, &f->n_links);
	f->has_links = true;
	arena_free(&scratch);
}
