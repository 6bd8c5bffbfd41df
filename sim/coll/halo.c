#include "coll/internal.h"

/* Everyone gives its edge to both neighbours in every dimension of the box, which is not closed
 * to a torus; without a shape the ranks stand in a line, by `line` they always do. All at once. */

static struct coll_shape box_of(const struct coll_call *c)
{
	if (c->shape.n_dims > 0 && c->algo != &coll_halo_line)
		return c->shape;
	return (struct coll_shape){.n_dims = 1, .dims = {c->n_ranks}};
}

static struct coll_frame frame(const struct coll_call *c)
{
	uint64_t n = c->n_ranks;
	return (struct coll_frame){1, 2 * n * box_of(c).n_dims, 1, c->n_ranks};
}

static void halo(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct coll_shape box = box_of(c);
	for (uint32_t i = 0; i < c->n_ranks; i++)
		for (uint32_t dim = 0, stride = 1; dim < box.n_dims; stride *= box.dims[dim++]) {
			uint32_t x = i / stride % box.dims[dim];
			struct coll_step step = {.src = i, .bytes = c->bytes, .range = {i, 1}};
			step.dst = i - stride;
			if (x > 0)
				steps_add(s, &step);
			step.dst = i + stride;
			if (x + 1 < box.dims[dim])
				steps_add(s, &step);
		}
}

const struct coll_algo coll_halo_line = {.name = "line",
	.kind = COLL_HALO,
	.frame = frame,
	.round = halo};

const struct coll_algo coll_halo_neighbors = {.name = "neighbors",
	.kind = COLL_HALO,
	.frame = frame,
	.round = halo};
