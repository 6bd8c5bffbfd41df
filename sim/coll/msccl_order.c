/* Who waits for whom in an MSCCL algorithm. */
#include "coll/msccl.h"

#include <stdlib.h>

const char *msccl_place_name(struct arena *a, const struct msccl *m, uint32_t step)
{
	const struct msccl_step *s = &m->steps[step];
	const struct msccl_block *b = &m->blocks[s->block];
	return arena_printf(a, "gpu %u threadblock %u step %u (%s, line %lu)", b->rank, b->id,
		step - b->first, msccl_ops[s->op].name, s->line);
}

/* A connection: from, to, channel. */
struct end {
	uint32_t from, to, chan;
	uint32_t block;
};

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->chan > y->chan) - (x->chan < y->chan);
}

/* Ends of one direction, sorted; returns their number, or PROG_NONE when two are the same. */
static uint32_t list_ends(const struct msccl *m, bool sends, struct end *out, struct err *err)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_blocks; i++) {
		const struct msccl_block *b = &m->blocks[i];
		uint32_t peer = sends ? b->send : b->recv;
		if (peer != PROG_NONE)
			out[n++] = (struct end){
				sends ? b->rank : peer, sends ? peer : b->rank, b->chan, i};
	}
	if (n > 0)
		qsort(out, n, sizeof(*out), compare_ends);
	for (uint32_t i = 1; i < n; i++)
		if (compare_ends(&out[i - 1], &out[i]) == 0) {
			err_set(err, ERR_INPUT,
				"%s:%lu: two threadblocks of gpu %u %s gpu %u on channel %u",
				m->path, m->blocks[out[i].block].line, m->blocks[out[i].block].rank,
				sends ? "send to" : "receive from", sends ? out[i].to : out[i].from,
				out[i].chan);
			return PROG_NONE;
		}
	return n;
}

/* The next step of the block, from `at` on, that sends (or receives); n_steps when none is left. */
static uint32_t next_step(
	const struct msccl *m, const struct msccl_block *b, uint32_t at, bool sends)
{
	while (at < b->n_steps) {
		const struct msccl_op_kind *op = &msccl_ops[m->steps[b->first + at].op];
		if (sends ? op->sends : op->receives)
			break;
		at++;
	}
	return at;
}

static bool fail_lonely(const struct msccl *m, uint32_t step, bool sends, struct err *err)
{
	struct arena a = {0};
	const struct msccl_block *b = &m->blocks[m->steps[step].block];
	err_set(err, ERR_ANSWER, "%s: %s %s gpu %u on channel %u, which never %s it", m->path,
		msccl_place_name(&a, m, step), sends ? "sends to" : "receives from",
		sends ? b->send : b->recv, b->chan, sends ? "receives" : "sends");
	arena_free(&a);
	return false;
}

/* The k-th send of a connection is what its k-th receive gets. `from` or `to` may be NULL. */
static bool match(const struct msccl *m, const struct msccl_block *from,
	const struct msccl_block *to, uint32_t *sender, struct err *err)
{
	uint32_t s = from ? next_step(m, from, 0, true) : 0,
		 r = to ? next_step(m, to, 0, false) : 0;
	for (;;) {
		bool sends = from && s < from->n_steps, receives = to && r < to->n_steps;
		if (!sends && !receives)
			return true;
		if (!receives)
			return fail_lonely(m, from->first + s, true, err);
		if (!sends)
			return fail_lonely(m, to->first + r, false, err);
		const struct msccl_step *x = &m->steps[from->first + s];
		const struct msccl_step *y = &m->steps[to->first + r];
		if (x->count != y->count)
			return err_set(err, ERR_ANSWER,
				"%s:%lu: receives %u chunks, but line %lu sends %u", m->path,
				y->line, y->count, x->line, x->count);
		sender[to->first + r] = from->first + s;
		s = next_step(m, from, s + 1, true);
		r = next_step(m, to, r + 1, false);
	}
}

static bool match_all(struct arena *a, const struct msccl *m, uint32_t *sender, struct err *err)
{
	struct end *out = arena_array(a, m->n_blocks + 1, struct end);
	struct end *in = arena_array(a, m->n_blocks + 1, struct end);
	uint32_t n_out = list_ends(m, true, out, err), n_in = PROG_NONE;
	if (n_out != PROG_NONE)
		n_in = list_ends(m, false, in, err);
	if (n_in == PROG_NONE)
		return false;
	for (uint32_t i = 0, j = 0; i < n_out || j < n_in;) {
		int c = i == n_out ? 1 : j == n_in ? -1 : compare_ends(&out[i], &in[j]);
		const struct msccl_block *from = c <= 0 ? &m->blocks[out[i].block] : NULL;
		const struct msccl_block *to = c >= 0 ? &m->blocks[in[j].block] : NULL;
		if (!match(m, from, to, sender, err))
			return false;
		i += c <= 0;
		j += c >= 0;
	}
	return true;
}

enum { N_WAITS = 3 };

/* What a step waits for: the one before it, its dependency, the sender of what it receives. */
static void waits_of(
	const struct msccl *m, const uint32_t *sender, uint32_t step, uint32_t waits[N_WAITS])
{
	const struct msccl_step *s = &m->steps[step];
	const struct msccl_block *b = &m->blocks[s->block];
	waits[0] = step > b->first ? step - 1 : PROG_NONE;
	waits[1] = PROG_NONE;
	waits[2] = sender[step];
	if (s->dep_tb != PROG_NONE && s->dep_step != PROG_NONE)
		waits[1] = m->blocks[s->block - b->id + s->dep_tb].first + s->dep_step;
}

/* What holds up a step that never runs. */
static uint32_t held_up_by(
	const struct msccl *m, const uint32_t *sender, const bool *done, uint32_t step)
{
	uint32_t waits[N_WAITS];
	waits_of(m, sender, step, waits);
	for (int k = N_WAITS - 1; k >= 0; k--)
		if (waits[k] != PROG_NONE && !done[waits[k]])
			return waits[k];
	return step;
}

/* From a step that never runs, back along what it waits for until a step comes again: that one and
 * those behind it are a cycle. */
static bool fail_cycle(
	const struct msccl *m, const uint32_t *sender, const bool *done, struct err *err)
{
	enum { MAX_NAMED = 16 };
	struct arena a = {0};
	struct text text = {0};
	uint32_t at = 0, n = 0;
	bool *seen = arena_array(&a, m->n_steps, bool);
	while (done[at])
		at++;
	for (; !seen[at]; at = held_up_by(m, sender, done, at))
		seen[at] = true;
	uint32_t first = at;
	do {
		if (n < MAX_NAMED)
			text_add(&text, "%s%s", n > 0 ? ", which waits for " : "",
				msccl_place_name(&a, m, at));
		n++;
		at = held_up_by(m, sender, done, at);
	} while (at != first);
	err_set(err, ERR_ANSWER,
		"%s: deadlock in the schedule, %u steps in a cycle: %s, which waits for %s",
		m->path, n, text.data, n > MAX_NAMED ? "others and so the first" : "the first");
	text_free(&text);
	arena_free(&a);
	return false;
}

/* Steps by what they wait for: a list for each. */
struct followers {
	uint32_t *start, *list;
};

/* Counts or lists the followers of what `step` waits for. */
static void add_follower(
	struct followers *f, const uint32_t waits[N_WAITS], uint32_t step, bool list)
{
	for (int k = 0; k < N_WAITS; k++) {
		if (waits[k] == PROG_NONE)
			continue;
		if (list)
			f->list[f->start[waits[k] + 1]++] = step;
		else
			f->start[waits[k] + 2]++;
	}
}

static struct followers list_followers(
	struct arena *a, const struct msccl *m, const uint32_t *sender)
{
	struct followers f = {.start = arena_array(a, (size_t)m->n_steps + 2, uint32_t),
		.list = arena_array(a, (size_t)N_WAITS * m->n_steps + 1, uint32_t)};
	uint32_t waits[N_WAITS];
	for (uint32_t i = 0; i < m->n_steps; i++) {
		waits_of(m, sender, i, waits);
		add_follower(&f, waits, i, false);
	}
	for (uint32_t i = 2; i < m->n_steps + 2; i++)
		f.start[i] += f.start[i - 1];
	for (uint32_t i = 0; i < m->n_steps; i++) {
		waits_of(m, sender, i, waits);
		add_follower(&f, waits, i, true);
	}
	return f;
}

static uint32_t count_waits(const struct msccl *m, const uint32_t *sender, uint32_t step)
{
	uint32_t waits[N_WAITS], n = 0;
	waits_of(m, sender, step, waits);
	for (int k = 0; k < N_WAITS; k++)
		n += waits[k] != PROG_NONE;
	return n;
}

bool msccl_order(struct arena *a, const struct msccl *m, struct msccl_order *out, struct err *err)
{
	uint32_t n = m->n_steps, n_done = 0;
	*out = (struct msccl_order){.steps = arena_array(a, (size_t)n + 1, uint32_t),
		.sender = arena_array(a, (size_t)n + 1, uint32_t),
		.round = arena_array(a, (size_t)n + 1, uint32_t)};
	uint32_t *left = arena_array(a, (size_t)n + 1, uint32_t), n_ready = 0;
	bool *done = arena_array(a, (size_t)n + 1, bool);
	for (uint32_t i = 0; i < n; i++)
		out->sender[i] = PROG_NONE;
	if (!match_all(a, m, out->sender, err))
		return false;
	struct followers f = list_followers(a, m, out->sender);
	for (uint32_t i = 0; i < n; i++)
		if ((left[i] = count_waits(m, out->sender, i)) == 0)
			out->steps[n_ready++] = i;
	for (; n_done < n_ready; n_done++) {
		uint32_t at = out->steps[n_done];
		done[at] = true;
		for (uint32_t k = f.start[at]; k < f.start[at + 1]; k++) {
			uint32_t next = f.list[k], round = out->round[at];
			round += out->sender[next] == at;
			out->round[next] = round > out->round[next] ? round : out->round[next];
			if (--left[next] == 0)
				out->steps[n_ready++] = next;
		}
		if (msccl_ops[m->steps[at].op].sends && out->round[at] >= out->n_rounds)
			out->n_rounds = out->round[at] + 1;
	}
	return n_done == n || fail_cycle(m, out->sender, done, err);
}
