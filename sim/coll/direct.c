#include "coll/internal.h"

/* Everyone to everyone at once, as on a network where each pair has a link of its own. */

/* How the messages of one round differ. */
struct exchange {
	bool reduce;
	uint32_t own; /* of the part's number: 1 the sender's, 0 the receiver's */
	bool pairs;   /* parts are i n + j */
};

static void add_all(const struct coll_call *c, const struct exchange *x, struct steps *s)
{
	uint32_t n = c->n_ranks;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			uint32_t part = x->pairs ? i * n + j : x->own ? i : j;
			if (i != j)
				steps_add(s, &(struct coll_step){.src = i,
						     .dst = j,
						     .bytes = c->bytes,
						     .range = {part, 1},
						     .reduce = x->reduce});
		}
}

static struct coll_frame frame_of(const struct coll_call *c, uint32_t rounds)
{
	uint32_t n = c->n_ranks;
	return (struct coll_frame){rounds, (uint64_t)rounds * n * (n - 1), n, n};
}

static struct coll_frame once(const struct coll_call *c)
{
	return frame_of(c, 1);
}

static struct coll_frame twice(const struct coll_call *c)
{
	return frame_of(c, 2);
}

static struct coll_frame pairs(const struct coll_call *c)
{
	struct coll_frame f = frame_of(c, 1);
	f.n_parts = c->n_ranks * c->n_ranks;
	return f;
}

static uint32_t all_alike(const struct coll_call *c, uint32_t round)
{
	return 0;
}

static void allgather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	add_all(c, &(struct exchange){.own = 1}, s);
}

static void reducescatter(const struct coll_call *c, uint32_t r, struct steps *s)
{
	add_all(c, &(struct exchange){.reduce = true}, s);
}

/* Each rank adds up its part, then tells the others. */
static void allreduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	if (r == 0)
		reducescatter(c, r, s);
	else
		allgather(c, r, s);
}

static void alltoall(const struct coll_call *c, uint32_t r, struct steps *s)
{
	add_all(c, &(struct exchange){.pairs = true}, s);
}

static struct coll_frame star(const struct coll_call *c)
{
	return (struct coll_frame){1, c->n_ranks, c->n_ranks, c->n_ranks};
}

static void gather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	for (uint32_t i = 1; i < c->n_ranks; i++)
		steps_add(s, &(struct coll_step){.src = i, .bytes = c->bytes, .range = {i, 1}});
}

static void scatter(const struct coll_call *c, uint32_t r, struct steps *s)
{
	for (uint32_t i = 1; i < c->n_ranks; i++)
		steps_add(s, &(struct coll_step){.dst = i, .bytes = c->bytes, .range = {i, 1}});
}

const struct coll_algo coll_allgather_direct = {.name = "direct",
	.kind = COLL_ALLGATHER,
	.fits = fits_squared,
	.frame = once,
	.round = allgather};
const struct coll_algo coll_allreduce_direct = {.name = "direct",
	.kind = COLL_ALLREDUCE,
	.fits = fits_squared,
	.frame = twice,
	.round = allreduce,
	.like = all_alike};
const struct coll_algo coll_alltoall_direct = {.name = "direct",
	.kind = COLL_ALLTOALL,
	.fits = fits_squared,
	.frame = pairs,
	.round = alltoall};
const struct coll_algo coll_gather_direct = {.name = "direct",
	.kind = COLL_GATHER,
	.frame = star,
	.round = gather};
const struct coll_algo coll_reducescatter_direct = {.name = "direct",
	.kind = COLL_REDUCESCATTER,
	.fits = fits_squared,
	.frame = once,
	.round = reducescatter};
const struct coll_algo coll_scatter_direct = {.name = "direct",
	.kind = COLL_SCATTER,
	.frame = star,
	.round = scatter};
