/* An MSCCL algorithm with symbols for data: of which chunk of the collective a slot holds the sum
 * over which ranks. */
#include "coll/msccl.h"

#include <assert.h>
#include <string.h>

#define NOTHING UINT32_MAX
enum { MAX_WORDS = 1 << 27 };

struct world {
	const struct msccl *m;
	uint32_t n_words;     /* of a set of ranks */
	size_t *start[3];     /* by buffer: where a rank's slots begin */
	uint32_t *chunk;      /* of each slot; NOTHING: not written */
	uint64_t *sets;       /* of each slot */
	size_t *message;      /* of each step that sends: where in the two below, plus 1 */
	uint32_t *sent_chunk; /* what is under way */
	uint64_t *sent_sets;
	struct err *err;
};

/* Chunks that each rank has of its own. */
static uint32_t n_own(const struct msccl *m)
{
	bool parts = m->kind == COLL_ALLGATHER;
	return parts ? m->n_chunks / m->n_ranks : m->n_chunks;
}

static size_t slot_of(const struct world *w, uint32_t rank, const struct msccl_place *p, uint32_t k)
{
	return w->start[p->buffer][rank] + p->offset + k;
}

/* In place, one buffer lies within the other. */
static size_t n_slots(const struct world *w)
{
	const struct msccl *m = w->m;
	size_t n = 0;
	for (uint32_t r = 0; r < m->n_ranks; r++) {
		uint32_t in = m->n_of_rank[MSCCL_INPUT][r], out = m->n_of_rank[MSCCL_OUTPUT][r];
		w->start[MSCCL_INPUT][r] = w->start[MSCCL_OUTPUT][r] = n;
		if (!m->in_place) {
			w->start[MSCCL_OUTPUT][r] += in;
			n += (size_t)in + out;
		} else {
			size_t inner = (size_t)r * (in < out ? in : out);
			if (m->kind == COLL_ALLGATHER)
				w->start[MSCCL_INPUT][r] += inner;
			if (m->kind == COLL_REDUCESCATTER)
				w->start[MSCCL_OUTPUT][r] += inner;
			n += in > out ? in : out;
			n += m->kind == COLL_ALLGATHER || m->kind == COLL_REDUCESCATTER ? inner : 0;
		}
		w->start[MSCCL_SCRATCH][r] = n;
		n += m->n_of_rank[MSCCL_SCRATCH][r];
	}
	return n;
}

static void fill(struct world *w, size_t slot, uint32_t chunk, uint32_t rank)
{
	w->chunk[slot] = chunk;
	w->sets[slot * w->n_words + rank / 64] = UINT64_C(1) << rank % 64;
}

/* Inputs; and what a rank sends to itself, which the library copies. */
static bool start(struct world *w)
{
	const struct msccl *m = w->m;
	uint32_t own = n_own(m), n = m->n_ranks;
	for (uint32_t r = 0; r < n; r++) {
		uint32_t result = m->kind == COLL_REDUCESCATTER ? own / n : m->n_chunks;
		uint32_t out = m->n_of_rank[MSCCL_OUTPUT][r];
		if (m->n_of_rank[MSCCL_INPUT][r] < own ||
			(out < result && (out > 0 || !m->in_place)))
			return err_set(w->err, ERR_INPUT,
				"%s: gpu %u: i_chunks and o_chunks do not hold the %u and %u "
				"chunks of "
				"the collective",
				m->path, r, own, result);
		for (uint32_t k = 0; k < own; k++) {
			bool summed = m->kind == COLL_ALLREDUCE || m->kind == COLL_REDUCESCATTER;
			fill(w, w->start[MSCCL_INPUT][r] + k, summed ? k : r * own + k, r);
		}
		uint32_t kept = m->kind == COLL_ALLGATHER ? own : own / n;
		for (uint32_t k = 0; k < kept && !m->in_place; k++)
			if (m->kind == COLL_ALLGATHER)
				fill(w, w->start[MSCCL_OUTPUT][r] + (size_t)r * own + k,
					r * own + k, r);
			else if (m->kind == COLL_ALLTOALL)
				fill(w, w->start[MSCCL_OUTPUT][r] + (size_t)r * kept + k,
					r * own + r * kept + k, r);
	}
	return true;
}

static bool fail(const struct world *w, uint32_t step, const char *what)
{
	struct arena a = {0};
	err_set(w->err, ERR_ANSWER, "%s: %s %s", w->m->path, msccl_place_name(&a, w->m, step),
		what);
	arena_free(&a);
	return false;
}

/* Chunk `k` of a step. */
static bool play_chunk(struct world *w, uint32_t step, const size_t *received, uint32_t k)
{
	const struct msccl_step *s = &w->m->steps[step];
	const struct msccl_op_kind *op = &msccl_ops[s->op];
	uint32_t rank = w->m->blocks[s->block].rank, chunk = NOTHING;
	size_t dst = op->writes ? slot_of(w, rank, &s->dst, k) : 0;
	size_t src = op->reads ? slot_of(w, rank, &s->src, k) : 0;
	uint64_t set[64] = {0};
	if (received) {
		chunk = w->sent_chunk[*received + k];
		memcpy(set, w->sent_sets + (*received + k) * w->n_words, w->n_words * sizeof(*set));
	} else if (op->adds) {
		chunk = w->chunk[dst];
		memcpy(set, w->sets + dst * w->n_words, w->n_words * sizeof(*set));
	}
	if (op->adds && (w->chunk[src] != chunk || chunk == NOTHING))
		return fail(w, step, "adds chunks that do not belong together");
	for (uint32_t i = 0; op->reads && i < w->n_words; i++) {
		uint64_t more = w->sets[src * w->n_words + i];
		if (op->adds && (set[i] & more) != 0)
			return fail(w, step, "adds the same data twice");
		set[i] |= more;
	}
	chunk = op->reads ? w->chunk[src] : chunk;
	if (chunk == NOTHING)
		return fail(w, step, "reads a chunk that nobody has written");
	if (op->writes) {
		w->chunk[dst] = chunk;
		memcpy(w->sets + dst * w->n_words, set, w->n_words * sizeof(*set));
	}
	if (op->sends) {
		assert(w->message);
		w->sent_chunk[w->message[step] + k] = chunk;
		memcpy(w->sent_sets + (w->message[step] + k) * w->n_words, set,
			w->n_words * sizeof(*set));
	}
	return true;
}

static bool play(struct world *w, const struct msccl_order *order)
{
	for (uint32_t i = 0; i < w->m->n_steps; i++) {
		uint32_t step = order->steps[i], from = order->sender[step];
		const size_t *received = from != PROG_NONE ? &w->message[from] : NULL;
		for (uint32_t k = 0; k < w->m->steps[step].count; k++)
			if (w->m->steps[step].op != MSCCL_NOP && !play_chunk(w, step, received, k))
				return false;
	}
	return true;
}

/* What slot `k` of the result of rank `r` must hold: a chunk, summed over all or from one rank. */
static uint32_t wanted(const struct msccl *m, uint32_t r, uint32_t k, uint32_t *only)
{
	uint32_t part = m->n_chunks / m->n_ranks;
	*only = NOTHING;
	if (m->kind == COLL_ALLREDUCE)
		return k;
	if (m->kind == COLL_REDUCESCATTER)
		return r * part + k;
	*only = k / part;
	return m->kind == COLL_ALLGATHER ? k : *only * m->n_chunks + r * part + k % part;
}

static bool holds(const struct world *w, size_t slot, uint32_t chunk, uint32_t only)
{
	if (w->chunk[slot] != chunk)
		return false;
	for (uint32_t r = 0; r < w->m->n_ranks; r++) {
		bool in = w->sets[slot * w->n_words + r / 64] >> r % 64 & 1;
		if (in != (only == NOTHING || only == r))
			return false;
	}
	return true;
}

static bool check_end(const struct world *w)
{
	const struct msccl *m = w->m;
	uint32_t n = m->kind == COLL_REDUCESCATTER ? m->n_chunks / m->n_ranks : m->n_chunks;
	for (uint32_t r = 0; r < m->n_ranks; r++)
		for (uint32_t k = 0; k < n; k++) {
			uint32_t only, chunk = wanted(m, r, k, &only);
			if (!holds(w, w->start[MSCCL_OUTPUT][r] + k, chunk, only))
				return err_set(w->err, ERR_ANSWER,
					"%s: gpu %u ends without chunk %u of the %s", m->path, r, k,
					coll_kind_name(m->kind));
		}
	return true;
}

bool msccl_verify(const struct msccl *m, const struct msccl_order *order, struct err *err)
{
	struct arena a = {0};
	struct world w = {.m = m, .n_words = (m->n_ranks + 63) / 64, .err = err};
	size_t n_sent = 0, n;
	if (m->kind != COLL_ALLREDUCE && m->n_chunks % m->n_ranks != 0)
		return err_set(err, ERR_INPUT, "%s: nchunksperloop %u is no multiple of ngpus %u",
			m->path, m->n_chunks, m->n_ranks);
	for (int b = 0; b < 3; b++)
		w.start[b] = arena_array(&a, m->n_ranks, size_t);
	w.message = arena_array(&a, (size_t)m->n_steps + 1, size_t);
	for (uint32_t i = 0; i < m->n_steps; i++) {
		w.message[i] = n_sent;
		n_sent += msccl_ops[m->steps[i].op].sends ? m->steps[i].count : 0;
	}
	n = n_slots(&w);
	bool ok = (n + n_sent) * w.n_words <= MAX_WORDS ||
		  err_set(err, ERR_INPUT, "%s: too many chunks to follow", m->path);
	if (ok) {
		w.chunk = arena_array(&a, n + 1, uint32_t);
		memset(w.chunk, 0xff, (n + 1) * sizeof(*w.chunk));
		w.sets = arena_alloc(&a, n + 1, w.n_words * sizeof(*w.sets));
		w.sent_chunk = arena_array(&a, n_sent + 1, uint32_t);
		w.sent_sets = arena_alloc(&a, n_sent + 1, w.n_words * sizeof(*w.sent_sets));
		ok = start(&w) && play(&w, order) && check_end(&w);
	}
	arena_free(&a);
	return ok;
}
