#include "coll/internal.h"

/* Dimension by dimension: around the rings of the first dimension each rank adds up one share of
 * the vector, around those of the second one share of that, ...; then back, each ring putting the
 * shares together again. With one colour for each dimension the vector is cut into as many pieces,
 * which start at different dimensions and so use the links of all of them at once (Jain and
 * Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus interconnects", 2010).
 * Where dimensions differ in length the colours meet now and then.
 *
 * Parts of a colour are numbered by the coordinates in the order of its dimensions, the first
 * counts most: what moves is always a range. */
struct torus {
	const struct coll_call *c;
	struct coll_shape box;
	uint32_t n_colours;
};

static uint32_t n_rounds(const struct coll_shape *box)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < box->n_dims; i++)
		n += 2 * (box->dims[i] - 1);
	return n;
}

static struct coll_frame frame_of(const struct torus *t)
{
	uint32_t n = t->c->n_ranks, rounds = n_rounds(&t->box);
	return (struct coll_frame){rounds, (uint64_t)rounds * n * t->n_colours,
		(uint64_t)n * t->n_colours, n * t->n_colours};
}

/* Which ring moves in a round, and what. */
struct phase {
	uint32_t index; /* in the order of the colour's dimensions */
	uint32_t at;    /* round of the phase */
	bool reduce;
};

static uint32_t dim_of(const struct torus *t, uint32_t colour, uint32_t index)
{
	return (colour + index) % t->box.n_dims;
}

static struct phase phase_of(const struct torus *t, uint32_t colour, uint32_t round)
{
	uint32_t half = n_rounds(&t->box) / 2;
	struct phase p = {.reduce = round < half};
	/* The way back is the way there, read backwards. */
	uint32_t left = p.reduce ? round : 2 * half - 1 - round;
	for (; left >= t->box.dims[dim_of(t, colour, p.index)] - 1; p.index++)
		left -= t->box.dims[dim_of(t, colour, p.index)] - 1;
	uint32_t size = t->box.dims[dim_of(t, colour, p.index)];
	p.at = p.reduce ? left : size - 2 - left;
	return p;
}

static uint32_t coordinate(const struct torus *t, uint32_t rank, uint32_t dim, uint32_t *stride)
{
	*stride = 1;
	for (uint32_t i = 0; i < dim; i++)
		*stride *= t->box.dims[i];
	return rank / *stride % t->box.dims[dim];
}

static void add_colour(const struct torus *t, uint32_t colour, struct steps *s)
{
	uint32_t n = t->c->n_ranks;
	struct phase p = phase_of(t, colour, s->round);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = colour * n, weight = n, stride, x, size;
		for (uint32_t k = 0; k < p.index; k++) {
			uint32_t dim = dim_of(t, colour, k);
			weight /= t->box.dims[dim];
			first += coordinate(t, i, dim, &stride) * weight;
		}
		uint32_t dim = dim_of(t, colour, p.index);
		x = coordinate(t, i, dim, &stride);
		size = t->box.dims[dim];
		weight /= size;
		first += (x + size + (p.reduce ? size - 1 : 0) - p.at) % size * weight;
		steps_add(s, &(struct coll_step){.src = i,
				     .dst = i - x * stride + (x + 1) % size * stride,
				     .bytes = t->c->bytes * weight,
				     .range = {first, weight},
				     .reduce = p.reduce});
	}
}

static struct torus one(const struct coll_call *c)
{
	return (struct torus){c, call_box(c), 1};
}

static struct torus all(const struct coll_call *c)
{
	struct torus t = {.c = c, .box = call_box(c)};
	t.n_colours = t.box.n_dims;
	return t;
}

static struct coll_frame frame_one(const struct coll_call *c)
{
	struct torus t = one(c);
	return frame_of(&t);
}

static struct coll_frame frame_all(const struct coll_call *c)
{
	struct torus t = all(c);
	return frame_of(&t);
}

static void round_one(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct torus t = one(c);
	add_colour(&t, 0, s);
}

static void round_all(const struct coll_call *c, uint32_t r, struct steps *s)
{
	struct torus t = all(c);
	for (uint32_t colour = 0; colour < t.n_colours; colour++)
		add_colour(&t, colour, s);
}

/* The rounds of one ring are alike, there and back. */
static uint32_t like_one(const struct coll_call *c, uint32_t round)
{
	struct torus t = one(c);
	struct phase p = phase_of(&t, 0, round);
	uint32_t first = 0;
	for (uint32_t k = 0; k < p.index; k++)
		first += t.box.dims[k] - 1;
	return first;
}

const struct coll_algo coll_allreduce_torus = {.name = "torus",
	.kind = COLL_ALLREDUCE,
	.frame = frame_one,
	.round = round_one,
	.like = like_one};
const struct coll_algo coll_allreduce_colours = {.name = "torus-colours",
	.kind = COLL_ALLREDUCE,
	.frame = frame_all,
	.round = round_all};
