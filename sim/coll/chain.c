#include "coll/internal.h"

/* Along the line of ranks. Broadcast and reduce cut the vector into chunks that follow each other:
 * with k chunks, n + k - 2 rounds. Gather and scatter pass the parts on one by one, those of the
 * farthest ranks last (first), so that the root never waits. */

static struct coll_frame frame_chunks(const struct coll_call *c)
{
	uint32_t n = c->n_ranks, k = call_chunks(c, c->bytes);
	return (struct coll_frame){n + k - 2, (uint64_t)k * (n - 1), k, k};
}

static void broadcast(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n_chunks = call_chunks(c, c->bytes);
	for (uint32_t i = 0; i + 1 < c->n_ranks && i <= r; i++)
		if (r - i < n_chunks)
			steps_add(s, &(struct coll_step){.src = i,
					     .dst = i + 1,
					     .bytes = c->bytes,
					     .range = {r - i, 1}});
}

static void reduce(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks, n_chunks = call_chunks(c, c->bytes);
	for (uint32_t i = 1; i < n; i++)
		if (r >= n - 1 - i && r - (n - 1 - i) < n_chunks)
			steps_add(s, &(struct coll_step){.src = i,
					     .dst = i - 1,
					     .bytes = c->bytes,
					     .range = {r - (n - 1 - i), 1},
					     .reduce = true});
}

static struct coll_frame frame_parts(const struct coll_call *c)
{
	uint64_t n = c->n_ranks;
	return (struct coll_frame){c->n_ranks - 1, n * (n - 1) / 2, n, c->n_ranks};
}

static void gather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	for (uint32_t i = 1; i + r < c->n_ranks; i++)
		steps_add(
			s, &(struct coll_step){
				   .src = i, .dst = i - 1, .bytes = c->bytes, .range = {i + r, 1}});
}

static void scatter(const struct coll_call *c, uint32_t r, struct steps *s)
{
	for (uint32_t i = 0; i <= r; i++)
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = i + 1,
				     .bytes = c->bytes,
				     .range = {c->n_ranks - 1 - (r - i), 1}});
}

/* While all links are busy one round is like the other. */
static uint32_t like(const struct coll_call *c, uint32_t round)
{
	uint32_t full = c->n_ranks - 2, n_chunks = call_chunks(c, c->bytes);
	return round > full && round < n_chunks ? full : round;
}

const struct coll_algo coll_broadcast_chain = {.name = "chain",
	.kind = COLL_BROADCAST,
	.frame = frame_chunks,
	.round = broadcast,
	.like = like};
const struct coll_algo coll_gather_chain = {.name = "chain",
	.kind = COLL_GATHER,
	.frame = frame_parts,
	.round = gather};
const struct coll_algo coll_reduce_chain = {.name = "chain",
	.kind = COLL_REDUCE,
	.frame = frame_chunks,
	.round = reduce,
	.like = like};
const struct coll_algo coll_scatter_chain = {.name = "chain",
	.kind = COLL_SCATTER,
	.frame = frame_parts,
	.round = scatter};
