#include "coll/internal.h"

/* Chen, Zhang, Zhang and Zhang, "Performance evaluation of allgather algorithms on terascale Linux
 * cluster with Fast Ethernet", 2005. Ranks 2q and 2q + 1 first exchange their parts; then each rank
 * exchanges two parts at a time with its other neighbour and its first one by turns, always what it
 * got last. In odd rounds 2t + 1 the even rank of pair q sends the parts of pair q + t to the pair
 * before it, the odd rank those of pair q - t to the pair after it; in even rounds 2t they exchange
 * the parts of the pairs q - t and q + t. */

static bool is_even(uint32_t n_ranks)
{
	return n_ranks == 1 || n_ranks % 2 == 0;
}

static struct coll_frame frame(const struct coll_call *c)
{
	uint32_t n = c->n_ranks;
	return (struct coll_frame){n / 2, (uint64_t)n / 2 * n, n, n};
}

static void allgather(const struct coll_call *c, uint32_t r, struct steps *s)
{
	uint32_t n = c->n_ranks, n_pairs = n / 2, t = r / 2;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t q = i / 2, ahead = (q + t) % n_pairs, behind = (q + n_pairs - t) % n_pairs;
		bool outside = r % 2 == 1, odd = i % 2 == 1;
		uint32_t left = (i + n - 1) % n, right = (i + 1) % n;
		uint32_t pair = odd != outside ? ahead : behind;
		struct coll_step step = {.src = i,
			.dst = odd != outside ? left : right,
			.bytes = c->bytes * 2,
			.range = {2 * pair, 2}};
		if (r == 0) {
			step.bytes = c->bytes;
			step.range = (struct coll_range){i, 1};
		}
		steps_add(s, &step);
	}
}

/* Round 0 moves half as much; from then on inside and outside alternate. */
static uint32_t like(const struct coll_call *c, uint32_t round)
{
	return round < 3 ? round : 2 - round % 2;
}

const struct coll_algo coll_allgather_neighbor = {.name = "neighbor",
	.kind = COLL_ALLGATHER,
	.fits = is_even,
	.frame = frame,
	.round = allgather,
	.like = like};
