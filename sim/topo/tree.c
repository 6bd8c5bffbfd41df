/* Trees of switches with several parents: fat trees, clusters of nodes, a single switch. */
#include <assert.h>

#include "topo/internal.h"

/* Node `index` of a level is copy c of the switches above subtree s: index = s * n_copies + c. */
struct level {
	uint32_t n_nodes, first_node; /* among the topology's nodes */
	uint32_t n_copies;            /* parents so far, multiplied */
	uint32_t n_below;             /* devices in a subtree */
	uint32_t n_ports;             /* upwards, parallel cables counted */
	uint32_t first_link;          /* of its ports; two links a port, upwards first */
	uint32_t spread;              /* a destination's port is destination / spread % n_ports */
};

struct tree {
	struct topo_tree shape;
	struct level levels[TOPO_MAX_DIMS + 1];
};

static uint32_t port_of(const struct level *l, uint32_t dst)
{
	return dst / l->spread % l->n_ports;
}

static uint32_t link_of(const struct level *l, uint32_t index, uint32_t port, uint32_t downwards)
{
	return l->first_link + 2 * (index * l->n_ports + port) + downwards;
}

static uint32_t route(const struct topo *t, uint32_t src, uint32_t dst, uint32_t *links)
{
	const struct tree *tree = t->family_data;
	uint32_t n = 0, i = 0, index = src, copy = 0;
	for (; src / tree->levels[i].n_below != dst / tree->levels[i].n_below; i++) {
		const struct level *l = &tree->levels[i];
		uint32_t port = port_of(l, dst);
		links[n++] = link_of(l, index, port, 0);
		copy += l->n_copies * (port % tree->shape.up[i]);
		index = src / tree->levels[i + 1].n_below * tree->levels[i + 1].n_copies + copy;
	}
	while (i-- > 0) {
		const struct level *l = &tree->levels[i];
		uint32_t parent = copy / l->n_copies, cable = port_of(l, dst) / tree->shape.up[i];
		copy %= l->n_copies;
		links[n++] = link_of(l, dst / l->n_below * l->n_copies + copy,
			parent + tree->shape.up[i] * cable, 1);
	}
	return n;
}

/* False when there is too much of anything; `counts` as topo_begin() takes them. */
static bool count(struct tree *tree, uint64_t counts[3])
{
	const struct topo_tree *s = &tree->shape;
	uint64_t n_devices = 1, n_copies = 1, n_below = 1, spread = 1, n_nodes = 0, n_links = 0;
	for (uint32_t i = 0; i < s->n_levels; i++) {
		n_devices *= s->down[i];
		if (n_devices > TOPO_MAX_DEVICES)
			return false;
	}
	for (uint32_t i = 0; i <= s->n_levels; i++) {
		bool top = i == s->n_levels;
		uint64_t n = n_devices / n_below * n_copies;
		uint64_t n_ports = top ? 1 : (uint64_t)s->up[i] * s->parallel[i];
		if (n_copies > TOPO_MAX_DEVICES || n_ports > TOPO_MAX_DEVICES || n > TOPO_MAX_NODES)
			return false;
		tree->levels[i] = (struct level){
			.n_nodes = (uint32_t)n,
			.first_node = (uint32_t)n_nodes,
			.n_copies = (uint32_t)n_copies,
			.n_below = (uint32_t)n_below,
			.n_ports = (uint32_t)n_ports,
			.first_link = (uint32_t)n_links,
			.spread = (uint32_t)spread,
		};
		n_nodes += n;
		n_links += top ? 0 : 2 * n * n_ports;
		if (n_nodes > TOPO_MAX_NODES || n_links > TOPO_MAX_LINKS)
			return false;
		n_copies *= top ? 1 : s->up[i];
		n_below *= top ? 1 : s->down[i];
		spread = spread * n_ports > TOPO_MAX_DEVICES ? TOPO_MAX_DEVICES : spread * n_ports;
	}
	counts[0] = n_devices;
	counts[1] = n_nodes - n_devices;
	counts[2] = n_links;
	return true;
}

static void add_level(struct arena *a, struct topo *out, const struct tree *tree, uint32_t i)
{
	const struct level *l = &tree->levels[i], *above = l + 1;
	for (uint32_t index = 0; index < l->n_nodes; index++) {
		uint32_t subtree = index / l->n_copies, copy = index % l->n_copies;
		for (uint32_t port = 0; port < l->n_ports; port++) {
			uint32_t up = tree->shape.up[i], parent = port % up;
			uint32_t node = above->first_node +
					subtree / tree->shape.down[i] * above->n_copies + copy +
					l->n_copies * parent;
			uint32_t ends[] = {l->first_node + index, node};
			topo_add_link(a, out, tree->shape.cables[i], ends, port / up);
			topo_add_link(a, out, tree->shape.cables[i], (uint32_t[]){ends[1], ends[0]},
				port / up);
		}
	}
}

/* Half of the devices, being whole subtrees of the highest level that branches, send upwards
 * through every level below it; the tightest counts. */
static u128 bisection(const struct tree *tree, uint32_t n_branching, uint32_t n_devices)
{
	const struct topo_tree *s = &tree->shape;
	if (n_branching == 0 || (n_branching > 1 && s->down[n_branching - 1] % 2 != 0))
		return 0;
	u128 least = (u128)UINT64_MAX + 1;
	for (uint32_t i = 0; i < n_branching; i++) {
		const struct level *l = &tree->levels[i];
		u128 n_cables = (u128)(n_devices / 2 / l->n_below) * l->n_copies * l->n_ports;
		u128 rate = n_cables * s->cables[i].bytes_per_s;
		least = rate < least ? rate : least;
	}
	return least;
}

bool topo_build_tree(struct arena *a, const struct topo_spec *spec, const struct topo_tree *shape,
	struct topo *out, struct err *err)
{
	struct tree *tree = arena_new(a, struct tree);
	uint64_t counts[3];
	tree->shape = *shape;
	assert(shape->n_levels >= 1 && shape->n_levels <= TOPO_MAX_DIMS);
	if (!count(tree, counts))
		return err_set(err, ERR_INPUT,
			"topology '%s': too many devices, switches or links, expected at most %d, "
			"%d and %d",
			spec->name, TOPO_MAX_DEVICES, TOPO_MAX_NODES, TOPO_MAX_LINKS);
	if (!topo_begin(a, spec, counts, out, err))
		return false;
	uint32_t n_branching = 0;
	for (uint32_t i = 0; i < shape->n_levels; i++) {
		add_level(a, out, tree, i);
		n_branching = shape->down[i] > 1 ? i + 1 : n_branching;
	}
	assert(out->n_links == counts[2]);
	out->route = route;
	out->max_hops = 2 * n_branching;
	out->family_data = tree;
	topo_set_formula(
		a, out, counts[2] / 2, out->max_hops, bisection(tree, n_branching, out->n_devices));
	return true;
}
