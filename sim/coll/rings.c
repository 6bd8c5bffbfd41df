#include "coll/internal.h"

/* Several rings at once, each with its own order of the ranks and an equal share of the vector. */
struct order {
	const uint32_t *ranks; /* NULL: as they are */
	uint32_t n;
	bool back; /* the other way around */
};

static uint32_t rank_at(const struct order *o, uint32_t i)
{
	uint32_t at = o->back ? (o->n - i) % o->n : i;
	return o->ranks ? o->ranks[at] : at;
}

/* Ring `k` of `n_rings`: its parts are k n .. k n + n - 1. */
static void add_ring(const struct coll_call *c, const struct order *o, uint32_t k, uint32_t n_rings,
	struct steps *s)
{
	uint32_t n = o->n, r = s->round;
	bool adds = r < n - 1;
	uint32_t turn = adds ? n - r : 2 * n - r; /* (shift - r) mod n, as in ring.c */
	for (uint32_t i = 0; i < n; i++)
		steps_add(s, &(struct coll_step){.src = rank_at(o, i),
				     .dst = rank_at(o, (i + 1) % n),
				     .bytes = div_ceil(c->bytes, (uint64_t)n * n_rings),
				     .range = {k * n + (i + turn) % n, 1},
				     .reduce = adds});
}

static struct coll_frame frame_of(uint32_t n, uint32_t n_rings)
{
	uint64_t rounds = 2 * (uint64_t)(n - 1);
	return (struct coll_frame){(uint32_t)rounds, rounds * n * n_rings, 1, n * n_rings};
}

static uint32_t all_alike(const struct coll_call *c, uint32_t round)
{
	return 0;
}

static struct coll_frame frame_both_ways(const struct coll_call *c)
{
	return frame_of(c->n_ranks, 2);
}

static void both_ways(const struct coll_call *c, uint32_t r, struct steps *s)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct order o = {NULL, c->n_ranks, k == 1};
		add_ring(c, &o, k, 2, s);
	}
}

static uint32_t n_rings_of(const struct coll_call *c)
{
	return c->shape.n_rings > 0 ? c->shape.n_rings : 1;
}

static struct coll_frame frame_several(const struct coll_call *c)
{
	return frame_of(c->n_ranks, n_rings_of(c));
}

static void several(const struct coll_call *c, uint32_t r, struct steps *s)
{
	for (uint32_t k = 0; k < n_rings_of(c); k++) {
		const uint32_t *ranks =
			c->shape.n_rings > 0 ? c->shape.rings + (size_t)k * c->n_ranks : NULL;
		struct order o = {ranks, c->n_ranks, false};
		add_ring(c, &o, k, n_rings_of(c), s);
	}
}

/* Half of the vector goes around each way. */
const struct coll_algo coll_allreduce_biring = {.name = "biring",
	.kind = COLL_ALLREDUCE,
	.frame = frame_both_ways,
	.round = both_ways,
	.like = all_alike};
/* The rings of the shape; one as the ranks stand, where it has none. */
const struct coll_algo coll_allreduce_rings = {.name = "rings",
	.kind = COLL_ALLREDUCE,
	.frame = frame_several,
	.round = several,
	.like = all_alike,
	.wants_rings = true};
