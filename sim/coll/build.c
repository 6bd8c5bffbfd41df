/* From an algorithm's rounds to a schedule. */
#include <assert.h>

#include "coll/internal.h"

bool coll_fits(const struct coll_algo *algo, uint32_t n_ranks)
{
	if (n_ranks == 0 || n_ranks > PROG_MAX_RANKS)
		return false;
	if (algo->only_ranks > 0)
		return n_ranks == algo->only_ranks;
	return !algo->fits || algo->fits(n_ranks);
}

/* True when the parts of the shape make up the group. */
static bool shape_is_whole(const struct coll_call *c)
{
	uint64_t product = 1, sum = 0;
	if (c->shape.n_dims > PROG_MAX_DIMS)
		return false;
	for (uint32_t i = 0; i < c->shape.n_dims && product <= c->n_ranks; i++)
		product *= c->shape.dims[i];
	for (uint32_t i = 0; i < c->shape.n_nodes; i++) {
		if (c->shape.nodes[i] == 0)
			return false;
		sum += c->shape.nodes[i];
	}
	return (c->shape.n_dims == 0 || product == c->n_ranks) &&
	       (c->shape.n_nodes == 0 || sum == c->n_ranks);
}

/* Each order names every rank once. */
static bool rings_are_whole(const struct coll_call *c)
{
	struct arena a = {0};
	uint32_t *seen = arena_array(&a, c->n_ranks, uint32_t);
	bool ok = true;
	for (uint32_t r = 0; r < c->shape.n_rings && ok; r++)
		for (uint32_t i = 0; i < c->n_ranks && ok; i++) {
			uint32_t rank = c->shape.rings[(size_t)r * c->n_ranks + i];
			ok = rank < c->n_ranks && seen[rank]++ == r;
		}
	arena_free(&a);
	return ok;
}

bool call_check(const struct coll_call *c, struct coll_frame *frame, struct err *err)
{
	const char *kind = coll_kind_name(c->algo->kind), *name = c->algo->name;
	if (!coll_fits(c->algo, c->n_ranks))
		return err_set(
			err, ERR_INPUT, "%s %s does not run on %u ranks", kind, name, c->n_ranks);
	if (c->bytes > PROG_MAX_BYTES)
		return err_set(err, ERR_INPUT, "%s %s of %llu bytes, expected at most 64 TiB", kind,
			name, (unsigned long long)c->bytes);
	if (!shape_is_whole(c) || !rings_are_whole(c))
		return err_set(err, ERR_INPUT,
			"%s %s: the dimensions, nodes or rings are not those of %u ranks", kind,
			name, c->n_ranks);
	if (c->counts && c->algo->kind != COLL_ALLTOALL)
		return err_set(err, ERR_INPUT,
			"%s %s: only an all-to-all has parts of different size", kind, name);
	*frame = c->algo->frame(c);
	if (c->n_ranks == 1)
		frame->n_rounds = 0;
	return true;
}

void call_parts(
	const struct coll_call *c, uint32_t n_parts, const struct coll_step *step, uint32_t *list)
{
	if (c->algo->parts) {
		c->algo->parts(c, step, list);
		return;
	}
	for (uint32_t k = 0; k < step->range.count; k++)
		list[k] = (uint32_t)(((uint64_t)step->range.first + k) % n_parts);
}

/* Bytes of each message by what its parts have; those of nothing are dropped. */
static void fill_in_counts(
	const struct coll_call *c, const struct coll_frame *f, struct steps *s, uint32_t first)
{
	struct arena a = {0};
	uint32_t *list = arena_array(&a, f->n_parts, uint32_t), kept = first;
	for (uint32_t i = first; i < s->n; i++) {
		struct coll_step *step = &s->list[i];
		call_parts(c, f->n_parts, step, list);
		step->bytes = 0;
		for (uint32_t k = 0; k < step->range.count; k++)
			step->bytes += c->counts[list[k]];
		if (step->bytes > 0)
			s->list[kept++] = *step;
	}
	s->n = kept;
	arena_free(&a);
}

void call_round(
	const struct coll_call *c, const struct coll_frame *f, uint32_t round, struct steps *out)
{
	uint32_t first = out->n;
	out->round = round;
	c->algo->round(c, round, out);
	steps_sort(out->list + first, out->n - first);
	if (c->counts)
		fill_in_counts(c, f, out, first);
}

static uint64_t divisor_of(const struct coll_call *c, const struct coll_frame *f)
{
	return c->counts ? 1 : f->bytes_divisor;
}

bool coll_build(
	struct arena *a, const struct coll_call *c, struct coll_schedule *out, struct err *err)
{
	struct coll_frame f = {0};
	if (!call_check(c, &f, err))
		return false;
	if (f.n_steps > COLL_MAX_STEPS)
		return err_set(err, ERR_INPUT,
			"%s %s over %u ranks has %llu messages, more than the %d that are held in "
			"memory",
			coll_kind_name(c->algo->kind), c->algo->name, c->n_ranks,
			(unsigned long long)f.n_steps, COLL_MAX_STEPS);
	struct steps s = {.a = a};
	steps_reserve(&s, f.n_rounds > 0 ? f.n_steps : 0);
	for (uint32_t r = 0; r < f.n_rounds; r++)
		call_round(c, &f, r, &s);
	assert(s.n <= f.n_steps);
	*out = (struct coll_schedule){
		.steps = s.list,
		.n_steps = s.n,
		.n_rounds = f.n_rounds,
		.bytes_divisor = divisor_of(c, &f),
		.n_parts = f.n_parts,
	};
	return true;
}

bool coll_rounds_begin(struct coll_rounds *r, const struct coll_call *c, struct err *err)
{
	*r = (struct coll_rounds){.call = *c};
	if (!call_check(c, &r->frame, err))
		return false;
	r->frame.bytes_divisor = divisor_of(c, &r->frame);
	r->steps = arena_new(&r->a, struct steps);
	r->steps->a = &r->a;
	return true;
}

const struct coll_step *coll_rounds_get(struct coll_rounds *r, uint32_t round, uint32_t *n_steps)
{
	assert(round < r->frame.n_rounds);
	r->steps->n = 0;
	call_round(&r->call, &r->frame, round, r->steps);
	*n_steps = r->steps->n;
	return r->steps->list;
}

uint32_t coll_rounds_like(const struct coll_rounds *r, uint32_t round)
{
	if (r->call.counts || !r->call.algo->like)
		return round;
	return r->call.algo->like(&r->call, round);
}

void coll_rounds_end(struct coll_rounds *r)
{
	arena_free(&r->a);
}

struct coll_shape call_box(const struct coll_call *c)
{
	if (c->shape.n_dims > 0)
		return c->shape;
	uint32_t side = 1;
	for (uint32_t d = 1; d * d <= c->n_ranks; d++)
		if (c->n_ranks % d == 0)
			side = d;
	return (struct coll_shape){.n_dims = 2, .dims = {side, c->n_ranks / side}};
}

uint32_t call_chunks(const struct coll_call *c, uint64_t bytes)
{
	uint64_t most = c->chunk_bytes > 0 ? 4096 : 64;
	uint64_t n = div_ceil(bytes, c->chunk_bytes > 0 ? c->chunk_bytes : UINT64_C(256) << 10);
	return n < 1 ? 1 : (uint32_t)(n > most ? most : n);
}
