#include "numeric.h"

#include <stdio.h>
#include <stdlib.h>

#include "suite.h"

struct spread spread_new(struct arena *a, const char *name, uint32_t n_procs, uint64_t n)
{
	return (struct spread){.name = name,
		.n_procs = n_procs,
		.n = n,
		.values = arena_array(a, n_procs * n + 1, int64_t),
		.states = arena_array(a, n_procs * n + 1, uint8_t)};
}

static uint8_t *state_of(const struct spread *s, uint32_t proc, uint64_t i)
{
	return &s->states[proc * s->n + i];
}

/* Some messages tell enough. */
static void fail(const struct spread *s, uint32_t proc, uint64_t i, const char *what)
{
	if (CU_get_number_of_failures() >= 20)
		return;
	printf("\n%s[%llu] of process %u: %s", s->name, (unsigned long long)i, proc, what);
	CU_FAIL("a value where it is needed");
}

bool spread_holds(const struct spread *s, uint32_t proc, uint64_t i)
{
	return *state_of(s, proc, i) == NUMERIC_HELD;
}

int64_t spread_get(const struct spread *s, uint32_t proc, uint64_t i)
{
	if (!spread_holds(s, proc, i))
		fail(s, proc, i, "read, but not held");
	return s->values[proc * s->n + i];
}

void spread_put(struct spread *s, uint32_t proc, uint64_t i, int64_t value)
{
	s->values[proc * s->n + i] = value;
	*state_of(s, proc, i) = NUMERIC_HELD;
}

void spread_add(struct spread *s, uint32_t proc, uint64_t i, int64_t value)
{
	uint8_t *state = state_of(s, proc, i);
	if (*state == NUMERIC_HELD)
		fail(s, proc, i, "added to, but complete");
	s->values[proc * s->n + i] += value;
	*state = NUMERIC_PART;
}

void spread_drop(struct spread *s, uint32_t proc, uint64_t i)
{
	s->values[proc * s->n + i] = 0;
	*state_of(s, proc, i) = NUMERIC_NONE;
}

void spread_settle(struct spread *s, uint32_t proc)
{
	for (uint64_t i = 0; i < s->n; i++)
		if (*state_of(s, proc, i) == NUMERIC_PART)
			*state_of(s, proc, i) = NUMERIC_HELD;
}

void spread_open(struct spread *s, uint32_t proc)
{
	for (uint64_t i = 0; i < s->n; i++)
		if (spread_holds(s, proc, i))
			*state_of(s, proc, i) = NUMERIC_PART;
}

static bool wants(const struct wish *w, uint32_t proc, uint64_t i)
{
	return w->wants(w->what, proc, i);
}

/* Position of the holder that gave least so far; t->n: there is none. */
static uint32_t find_giver(
	const struct spread *s, const struct team *t, uint64_t i, const uint64_t *given)
{
	uint32_t best = t->n;
	for (uint32_t k = 0; k < t->n; k++)
		if (spread_holds(s, t->ranks[k], i) && (best == t->n || given[k] < given[best]))
			best = k;
	return best;
}

static uint64_t most_of(const uint64_t *given, uint32_t n)
{
	uint64_t most = 0;
	for (uint32_t k = 0; k < n; k++)
		most = given[k] > most ? given[k] : most;
	return most;
}

struct moved spread_gather(struct spread *s, const struct team *t, const struct wish *w)
{
	uint64_t *given = mem_alloc(t->n, sizeof(*given));
	struct moved m = {0};
	for (uint32_t k = 0; k < t->n; k++)
		given[k] = 0;
	for (uint64_t i = 0; i < s->n; i++) {
		bool wanted = wants(w, t->ranks[0], i);
		for (uint32_t k = 1; k < t->n; k++)
			if (wants(w, t->ranks[k], i) != wanted)
				fail(s, t->ranks[k], i, "gathered for some only");
		if (!wanted)
			continue;
		uint32_t giver = find_giver(s, t, i, given);
		if (giver == t->n)
			fail(s, t->ranks[0], i, "gathered, but nobody's");
		else
			given[giver]++;
		int64_t value = giver < t->n ? spread_get(s, t->ranks[giver], i) : 0;
		for (uint32_t k = 0; k < t->n; k++) {
			m.fresh += !spread_holds(s, t->ranks[k], i);
			spread_put(s, t->ranks[k], i, value);
		}
		m.words++;
	}
	m.most = most_of(given, t->n);
	free(given);
	return m;
}

static int64_t sum_of(const struct spread *s, const struct team *t, uint64_t i)
{
	int64_t sum = 0;
	for (uint32_t k = 0; k < t->n; k++) {
		if (*state_of(s, t->ranks[k], i) != NUMERIC_PART)
			fail(s, t->ranks[k], i, "reduced, but no summand");
		sum += s->values[t->ranks[k] * s->n + i];
	}
	return sum;
}

struct moved spread_reduce(struct spread *s, const struct team *t, const struct wish *w)
{
	struct moved m = {0};
	for (uint64_t i = 0; i < s->n; i++) {
		bool wanted = wants(w, t->ranks[0], i);
		for (uint32_t k = 1; k < t->n; k++)
			if (wants(w, t->ranks[k], i) != wanted)
				fail(s, t->ranks[k], i, "reduced for some only");
		if (!wanted)
			continue;
		int64_t sum = sum_of(s, t, i);
		for (uint32_t k = 0; k < t->n; k++)
			spread_put(s, t->ranks[k], i, sum);
		m.words++;
	}
	return m;
}

struct moved spread_reduce_scatter(struct spread *s, const struct team *t, const struct wish *w)
{
	struct moved m = {0};
	for (uint64_t i = 0; i < s->n; i++) {
		uint32_t owners = 0, owner = 0;
		for (uint32_t k = 0; k < t->n; k++)
			if (wants(w, t->ranks[k], i)) {
				owner = t->ranks[k];
				owners++;
			}
		if (owners == 0)
			continue;
		if (owners > 1)
			fail(s, owner, i, "scattered to more than one");
		int64_t sum = sum_of(s, t, i);
		for (uint32_t k = 0; k < t->n; k++)
			spread_drop(s, t->ranks[k], i);
		spread_put(s, owner, i, sum);
		m.words++;
	}
	return m;
}

struct moved spread_exchange(struct spread *s, const struct team *t, const struct wish *w)
{
	uint64_t *given = mem_alloc(t->n, sizeof(*given));
	struct moved m = {0};
	for (uint32_t k = 0; k < t->n; k++)
		given[k] = 0;
	for (uint64_t i = 0; i < s->n; i++) {
		uint32_t giver = find_giver(s, t, i, given);
		int64_t value = giver < t->n ? spread_get(s, t->ranks[giver], i) : 0;
		for (uint32_t k = 0; k < t->n; k++) {
			if (!wants(w, t->ranks[k], i))
				continue;
			if (giver == t->n)
				fail(s, t->ranks[k], i, "wanted, but nobody's");
			else
				given[giver]++;
			m.fresh += !spread_holds(s, t->ranks[k], i);
			spread_put(s, t->ranks[k], i, value);
			m.words++;
		}
	}
	m.most = most_of(given, t->n);
	free(given);
	return m;
}

/* What position `to` gets from its neighbour `from`. */
static uint64_t take_from(
	struct spread *s, const struct team *t, const struct wish *w, uint32_t to, uint32_t from)
{
	uint64_t words = 0;
	const uint8_t *theirs = state_of(s, t->ranks[from], 0);
	for (uint64_t i = 0; i < s->n; i++) {
		bool missing = wants(w, t->ranks[to], i) && !spread_holds(s, t->ranks[to], i);
		/* A neighbour gives its own, not what it just got. */
		if (!missing || theirs[i] != NUMERIC_HELD)
			continue;
		s->values[t->ranks[to] * s->n + i] = spread_get(s, t->ranks[from], i);
		*state_of(s, t->ranks[to], i) = NUMERIC_HELD + 1;
		words++;
	}
	return words;
}

struct moved spread_halo(struct spread *s, const struct team *t, const struct wish *w)
{
	struct moved m = {0};
	for (uint32_t k = 0; k < t->n; k++)
		for (uint32_t side = 0; side < 2; side++) {
			if (side == 0 ? k == 0 : k + 1 == t->n)
				continue;
			uint64_t words = take_from(s, t, w, k, side == 0 ? k - 1 : k + 1);
			m.words += words;
			m.fresh += words;
			m.most = words > m.most ? words : m.most;
		}
	for (uint32_t k = 0; k < t->n; k++)
		for (uint64_t i = 0; i < s->n; i++)
			if (*state_of(s, t->ranks[k], i) > NUMERIC_HELD)
				*state_of(s, t->ranks[k], i) = NUMERIC_HELD;
	return m;
}

struct team team_of(
	struct arena *a, const struct prog *p, const struct prog_task *task, uint32_t rank)
{
	struct team t = {.n = prog_group_size(p, task->group)};
	t.ranks = arena_array(a, t.n, uint32_t);
	uint32_t position = prog_group_members(p, task->group, rank, t.ranks);
	CU_ASSERT_TRUE_FATAL(position < t.n && t.ranks[position] == rank);
	return t;
}

uint32_t numeric_random(struct rng *rng, uint32_t end)
{
	return (uint32_t)rng_below(rng, end);
}

int64_t numeric_small(struct rng *rng)
{
	return (int64_t)numeric_random(rng, 5) - 2;
}

uint64_t numeric_cut(uint64_t whole, uint32_t n, uint32_t k)
{
	return whole * k / n;
}
