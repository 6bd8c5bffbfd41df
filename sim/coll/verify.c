#include <stdlib.h>
#include <string.h>

#include "coll/internal.h"

/* For every rank and part, the set of ranks whose data is in it. */
struct world {
	const struct coll_call *call;
	const struct coll_algo *algo;
	uint32_t n_ranks, n_parts, n_words;
	uint32_t *parts; /* of one step */
	uint64_t *sets;  /* n_ranks x n_parts x n_words */
	uint64_t *sent;  /* what a round's messages carry, filled before any arrives */
	struct err *err;
};

static uint64_t *set_of(const struct world *w, uint32_t rank, uint32_t part)
{
	return w->sets + ((size_t)rank * w->n_parts + part) * w->n_words;
}

static void set_add(uint64_t *set, uint32_t rank)
{
	set[rank / 64] |= UINT64_C(1) << rank % 64;
}

static void set_add_all(uint64_t *set, uint32_t n_ranks)
{
	for (uint32_t r = 0; r < n_ranks; r++)
		set_add(set, r);
}

/* Of an all-to-all of uneven parts, those of nothing are nowhere. */
static bool has_bytes(const struct world *w, uint32_t part)
{
	return !w->call->counts || w->call->counts[part] > 0;
}

/* Ranks that differ by one in one coordinate of the box; in a line without one, or by `line`. */
static bool is_neighbor(const struct world *w, uint32_t a, uint32_t b)
{
	const struct coll_shape *box = &w->call->shape;
	bool is_line = box->n_dims == 0 || w->algo == &coll_halo_line;
	uint32_t n_dims = is_line ? 1 : box->n_dims, differ = 0, far = 0;
	for (uint32_t i = 0; i < n_dims; i++) {
		uint32_t size = is_line ? w->n_ranks : box->dims[i];
		uint32_t x = a % size, y = b % size;
		differ += x != y;
		far += x > y ? x - y > 1 : y - x > 1;
		a /= size;
		b /= size;
	}
	return differ <= 1 && far == 0;
}

/* What must be in `part` of `rank` before (`at_end` false) or after. Returns false when it does
 * not matter. */
static bool expect(const struct world *w, uint32_t rank, uint32_t part, bool at_end, uint64_t *set)
{
	uint32_t n = w->n_ranks;
	bool root = rank == 0;
	memset(set, 0, w->n_words * sizeof(*set));
	switch (w->algo->kind) {
	case COLL_ALLREDUCE:
	case COLL_BARRIER:
	case COLL_REDUCE:
		at_end ? set_add_all(set, n) : set_add(set, rank);
		return !at_end || root || w->algo->kind != COLL_REDUCE;
	case COLL_REDUCESCATTER:
		at_end ? set_add_all(set, n) : set_add(set, rank);
		return !at_end || rank == part;
	case COLL_ALLGATHER:
	case COLL_GATHER:
		if (at_end || rank == part)
			set_add(set, part);
		return !at_end || root || w->algo->kind == COLL_ALLGATHER;
	case COLL_BROADCAST:
	case COLL_SCATTER:
		if (at_end || root)
			set_add(set, 0);
		return !at_end || rank == part || w->algo->kind == COLL_BROADCAST;
	case COLL_ALLTOALL:
		if (at_end || part / n == rank)
			set_add(set, part / n);
		return !at_end || (part % n == rank && has_bytes(w, part));
	case COLL_HALO:
		if (at_end || part == rank)
			set_add(set, part);
		return !at_end || is_neighbor(w, rank, part);
	}
	return false;
}

static bool fail(const struct world *w, const struct coll_step *s, uint32_t part, const char *what)
{
	return err_set(w->err, ERR_INTERNAL, "%s %s over %u ranks: round %u, %u to %u, part %u: %s",
		coll_kind_name(w->algo->kind), w->algo->name, w->n_ranks, s->round, s->src, s->dst,
		part, what);
}

static bool set_is_empty(const struct world *w, const uint64_t *set)
{
	for (uint32_t i = 0; i < w->n_words; i++)
		if (set[i] != 0)
			return false;
	return true;
}

static bool take(const struct world *w, const struct coll_step *s, uint64_t *sent)
{
	call_parts(w->call, w->n_parts, s, w->parts);
	for (uint32_t k = 0; k < s->range.count; k++) {
		const uint64_t *set = set_of(w, s->src, w->parts[k]);
		if (set_is_empty(w, set) && has_bytes(w, w->parts[k]))
			return fail(w, s, w->parts[k], "the sender does not have it");
		memcpy(sent + (size_t)k * w->n_words, set, w->n_words * sizeof(*sent));
	}
	return true;
}

static bool deliver(const struct world *w, const struct coll_step *s, const uint64_t *sent)
{
	/* A signal may come twice, an addend must not. */
	bool once = w->algo->kind != COLL_BARRIER;
	call_parts(w->call, w->n_parts, s, w->parts);
	for (uint32_t k = 0; k < s->range.count; k++) {
		uint64_t *set = set_of(w, s->dst, w->parts[k]);
		for (uint32_t i = 0; i < w->n_words; i++, sent++) {
			if (s->reduce && once && (set[i] & *sent) != 0)
				return fail(w, s, w->parts[k], "added twice");
			set[i] = s->reduce ? set[i] | *sent : *sent;
		}
	}
	return true;
}

static bool is_before(const struct coll_step *x, const struct coll_step *y)
{
	if (x->round != y->round)
		return x->round < y->round;
	if (x->src != y->src)
		return x->src < y->src;
	if (x->dst != y->dst)
		return x->dst < y->dst;
	return x->range.first < y->range.first;
}

static bool check_step(const struct world *w, const struct coll_schedule *sch, uint32_t i)
{
	const struct coll_step *s = &sch->steps[i], *before = i > 0 ? s - 1 : NULL;
	if (s->src >= w->n_ranks || s->dst >= w->n_ranks || s->src == s->dst)
		return fail(w, s, 0, "no such pair of ranks");
	if (s->round >= sch->n_rounds || s->range.first >= w->n_parts || s->range.count == 0 ||
		s->range.count > w->n_parts)
		return fail(w, s, s->range.first, "round or range out of bounds");
	if (before && !is_before(before, s))
		return fail(w, s, s->range.first, "out of order");
	return true;
}

/* Steps first .. last-1 are one round: all leave before any arrives. */
static bool play_round(
	const struct world *w, const struct coll_schedule *sch, uint32_t first, uint32_t last)
{
	uint64_t *at = w->sent;
	for (uint32_t i = first; i < last; i++) {
		if (!check_step(w, sch, i) || !take(w, &sch->steps[i], at))
			return false;
		at += (size_t)sch->steps[i].range.count * w->n_words;
	}
	at = w->sent;
	for (uint32_t i = first; i < last; i++) {
		if (!deliver(w, &sch->steps[i], at))
			return false;
		at += (size_t)sch->steps[i].range.count * w->n_words;
	}
	return true;
}

static uint32_t round_end(const struct coll_schedule *sch, uint32_t first)
{
	uint32_t last = first;
	while (last < sch->n_steps && sch->steps[last].round == sch->steps[first].round)
		last++;
	return last;
}

static bool check_end(const struct world *w, uint64_t *set)
{
	for (uint32_t r = 0; r < w->n_ranks; r++)
		for (uint32_t part = 0; part < w->n_parts; part++)
			if (expect(w, r, part, true, set) &&
				memcmp(set, set_of(w, r, part), w->n_words * sizeof(*set)) != 0)
				return err_set(w->err, ERR_INTERNAL,
					"%s %s over %u ranks: rank %u ends without part %u",
					coll_kind_name(w->algo->kind), w->algo->name, w->n_ranks, r,
					part);
	return true;
}

/* The most parts that the messages of one round carry. */
static size_t most_carried(const struct coll_schedule *sch)
{
	size_t most = 0;
	for (uint32_t i = 0, last; i < sch->n_steps; i = last) {
		size_t carried = 0;
		last = round_end(sch, i);
		for (uint32_t k = i; k < last; k++)
			carried += sch->steps[k].range.count;
		most = carried > most ? carried : most;
	}
	return most;
}

static bool play(struct arena *a, struct world *w, const struct coll_schedule *sch)
{
	uint32_t n = w->n_ranks;
	w->n_words = (n + 63) / 64;
	w->sets = arena_alloc(a, (size_t)n * w->n_parts, w->n_words * sizeof(*w->sets));
	w->sent = arena_alloc(a, most_carried(sch) + 1, w->n_words * sizeof(*w->sent));
	w->parts = arena_array(a, w->n_parts, uint32_t);
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t part = 0; part < w->n_parts; part++)
			expect(w, r, part, false, set_of(w, r, part));
	for (uint32_t i = 0, last; i < sch->n_steps; i = last) {
		last = round_end(sch, i);
		if (!play_round(w, sch, i, last))
			return false;
	}
	return check_end(w, w->sent);
}

bool coll_verify_call(const struct coll_call *c, struct err *err)
{
	struct arena a = {0};
	struct coll_schedule sch;
	bool ok = coll_build(&a, c, &sch, err);
	/* What was read from a file was verified then, chunk by chunk. */
	if (ok && !c->algo->data) {
		struct world w = {.call = c,
			.algo = c->algo,
			.n_ranks = c->n_ranks,
			.n_parts = sch.n_parts,
			.err = err};
		ok = play(&a, &w, &sch);
	}
	arena_free(&a);
	return ok;
}

bool coll_verify(const struct coll_algo *algo, uint32_t n_ranks, struct err *err)
{
	struct coll_call c = {.algo = algo, .n_ranks = n_ranks, .bytes = UINT64_C(1) << 20};
	return coll_verify_call(&c, err);
}
