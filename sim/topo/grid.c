/* Rings, tori and meshes. Device d has the coordinates c with d = c[0] + dims[0] * (c[1] + ...). A
 * route goes the dimensions in order, each the shorter way round; when both are equal, upwards. */
#include <assert.h>
#include <string.h>

#include "topo/internal.h"

static const uint32_t no_link = UINT32_MAX;

struct grid {
	struct topo_grid shape;
	uint32_t n_dims, dims[TOPO_MAX_DIMS];
	struct topo_cable cables[TOPO_MAX_DIMS];
	uint32_t *next; /* device x dimension x {up, down}: link or no_link */
};

static uint32_t *next_of(const struct grid *g, uint32_t device, uint32_t dim)
{
	return &g->next[2 * ((size_t)device * g->n_dims + dim)];
}

/* How many steps from coordinate `from` to `to`, and whether upwards. */
static uint32_t steps(const struct grid *g, uint32_t dim, uint32_t from, uint32_t to, bool *up)
{
	uint32_t size = g->dims[dim], ahead = to >= from ? to - from : to + size - from;
	bool wrap = g->shape.wrap[dim];
	*up = wrap ? ahead <= size - ahead : to >= from;
	return *up ? ahead : wrap ? size - ahead : from - to;
}

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	const struct grid *g = t->family_data;
	uint32_t n = 0, at = src, from = src, to = dst;
	for (uint32_t dim = 0; dim < g->n_dims; dim++) {
		bool up;
		uint32_t left = steps(g, dim, from % g->dims[dim], to % g->dims[dim], &up);
		for (; left > 0; left--) {
			uint32_t link = next_of(g, at, dim)[!up];
			links[n++] = link;
			at = t->links[link].to;
		}
		from /= g->dims[dim];
		to /= g->dims[dim];
	}
	return n;
}

/* Cables of one dimension: a ring of 2 is one cable, a ring of 1 none. */
static uint64_t cables_of(const struct topo_spec *spec, uint32_t dim, bool wrap)
{
	uint64_t lines = 1, size = spec->dims[dim];
	for (uint32_t i = 0; i < spec->n_dims; i++)
		lines *= i == dim ? 1 : spec->dims[i];
	return lines * (wrap && size > 2 ? size : size - 1);
}

/* A cable of a block's inside, or one that leaves it (the closing one always does). */
static struct topo_cable cable_at(const struct grid *g, uint32_t dim, uint32_t c)
{
	struct topo_cable cable = g->cables[dim];
	if (g->shape.block > 0 && (c + 1) % g->shape.block == 0)
		cable.latency = g->shape.outer_latency;
	return cable;
}

/* Adds the cable upwards from `device`, if there is one. `stride` is the distance of neighbours. */
static void add_cable(
	struct arena *a, struct topo *out, const struct grid *g, uint32_t device, uint32_t dim)
{
	uint32_t stride = 1;
	for (uint32_t i = 0; i < dim; i++)
		stride *= g->dims[i];
	uint32_t size = g->dims[dim];
	assert(stride > 0 && size > 0);
	uint32_t c = device / stride % size;
	if (c + 1 == size && !(g->shape.wrap[dim] && size > 2))
		return;
	uint32_t to = c + 1 < size ? device + stride : device - c * stride;
	struct topo_cable cable = cable_at(g, dim, c);
	next_of(g, device, dim)[0] = topo_add_link(a, out, cable, (uint32_t[]){device, to}, 0);
	next_of(g, to, dim)[1] = topo_add_link(a, out, cable, (uint32_t[]){to, device}, 0);
}

/* The one cable of a ring of 2 leads upwards from both its ends. */
static void close_pairs(const struct grid *g, uint32_t n_devices)
{
	for (uint32_t device = 0; device < n_devices; device++)
		for (uint32_t dim = 0; dim < g->n_dims; dim++) {
			uint32_t *next = next_of(g, device, dim);
			if (g->shape.wrap[dim] && g->dims[dim] == 2 && next[0] == no_link)
				next[0] = next[1];
		}
}

static struct grid *new_grid(
	struct arena *a, const struct topo_spec *spec, const struct topo_grid *shape, uint32_t n)
{
	struct grid *g = arena_new(a, struct grid);
	*g = (struct grid){.shape = *shape, .n_dims = spec->n_dims};
	memcpy(g->dims, spec->dims, sizeof(g->dims));
	for (uint32_t dim = 0; dim < g->n_dims; dim++)
		g->cables[dim] = topo_spec_cable(spec, dim);
	size_t n_next = 2 * (size_t)n * spec->n_dims;
	g->next = arena_array(a, n_next, uint32_t);
	for (size_t i = 0; i < n_next; i++)
		g->next[i] = no_link;
	return g;
}

/* The middle cuts every row of the slowest dimension that is longer than 1: one cable, or two
 * where it is closed to a ring. */
static u128 bisection(const struct grid *g, uint32_t n_devices)
{
	uint32_t dim = g->n_dims - 1;
	while (dim > 0 && g->dims[dim] == 1)
		dim--;
	uint32_t size = g->dims[dim];
	assert(size > 0);
	uint32_t rows = n_devices / size;
	if (size == 1 || (size % 2 != 0 && rows > 1))
		return 0;
	return (u128)rows * (g->shape.wrap[dim] && size > 2 ? 2 : 1) * g->cables[dim].bytes_per_s;
}

/* Tori say their dimensions, for those who make use of their symmetry. */
static void set_dims(const struct grid *g, struct topo *out)
{
	for (uint32_t dim = 0; dim < g->n_dims; dim++)
		if (!g->shape.wrap[dim])
			return;
	out->n_dims = g->n_dims;
	memcpy(out->dims, g->dims, sizeof(out->dims));
}

bool topo_build_grid(struct arena *a, const struct topo_spec *spec, const struct topo_grid *shape,
	struct topo *out, struct err *err)
{
	uint64_t counts[3] = {1};
	for (uint32_t dim = 0; dim < spec->n_dims; dim++) {
		counts[0] *= spec->dims[dim];
		if (counts[0] > TOPO_MAX_DEVICES)
			break;
	}
	for (uint32_t dim = 0; dim < spec->n_dims && counts[0] <= TOPO_MAX_DEVICES; dim++)
		counts[2] += 2 * cables_of(spec, dim, shape->wrap[dim]);
	if (!topo_begin(a, spec, counts, out, err))
		return false;
	struct grid *g = new_grid(a, spec, shape, out->n_devices);
	for (uint32_t device = 0; device < out->n_devices; device++)
		for (uint32_t dim = 0; dim < g->n_dims; dim++)
			add_cable(a, out, g, device, dim);
	assert(out->n_links == counts[2]);
	close_pairs(g, out->n_devices);
	for (uint32_t dim = 0; dim < g->n_dims; dim++)
		out->max_hops += shape->wrap[dim] ? g->dims[dim] / 2 : g->dims[dim] - 1;
	set_dims(g, out);
	out->route = route;
	out->family_data = g;
	topo_set_formula(a, out, counts[2] / 2, out->max_hops, bisection(g, out->n_devices));
	return true;
}
