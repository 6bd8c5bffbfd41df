#include "coll/internal.h"

/* All-to-all in two levels: within a node every rank gives each other one all that goes to the
 * ranks of that one's number, in any node; then ranks of the same number exchange, through the
 * nodes, what their nodes have for them. Nodes are rows of the box (its first dimension; without a
 * shape, the two factors of the number of ranks that are nearest to each other). Pairwise in both
 * levels. */
struct levels {
	uint32_t size, n_nodes;
};

static struct levels levels_of(const struct coll_call *c)
{
	struct coll_shape box = call_box(c);
	return (struct levels){box.dims[0], c->n_ranks / box.dims[0]};
}

static struct coll_frame frame(const struct coll_call *c)
{
	uint32_t n = c->n_ranks;
	struct levels l = levels_of(c);
	uint32_t rounds = l.size - 1 + l.n_nodes - 1;
	return (struct coll_frame){rounds, (uint64_t)rounds * n, n, n * n};
}

static void alltoall(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct levels l = levels_of(c);
	bool inside = r < l.size - 1;
	uint32_t count = inside ? l.n_nodes : l.size;
	for (uint32_t i = 0; i < c->n_ranks; i++) {
		uint32_t node = i / l.size, at = i % l.size;
		if (inside)
			at = (at + r + 1) % l.size;
		else
			node = (node + r - (l.size - 1) + 1) % l.n_nodes;
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = node * l.size + at,
				     .bytes = c->bytes * count,
				     .range = {0, count}});
	}
}

static void parts(const struct coll_call *c, const struct coll_step *step, uint32_t *list)
{
	struct levels l = levels_of(c);
	uint32_t n = c->n_ranks, node = step->src / l.size;
	for (uint32_t k = 0; k < step->range.count; k++)
		list[k] = step->round < l.size - 1 ? step->src * n + k * l.size + step->dst % l.size
						   : (node * l.size + k) * n + step->dst;
}

const struct coll_algo coll_alltoall_twolevel = {.name = "twolevel",
	.kind = COLL_ALLTOALL,
	.fits = fits_squared,
	.frame = frame,
	.round = alltoall,
	.parts = parts};
