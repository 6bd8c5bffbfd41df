/* A cluster: nodes of devices around a switch of their own (NVSwitch, or PCIe), with NICs into a
 * network. A message between nodes uses one NIC at each end, that of its destination's rail:
 * devices i and i + nics share rail i. More NICs than devices act as cables of as many times the
 * bandwidth.
 *
 * network=rails: NIC i of every node is on switch i. With tree=B/C/..., B nodes share those rail
 * switches, C such groups are joined by switches above, and so on: a rail-optimised fat tree.
 * network=fattree: all NICs of a node are on one leaf switch; tree as before.
 * Without a tree all nodes share the first level. Oversubscription divides the upward cables of
 * every level of the tree. */
#include "topo/internal.h"

#include <assert.h>
#include <inttypes.h>

enum network { NETWORK_FATTREE, NETWORK_RAILS };
static const char *const networks[] = {"fattree", "rails", NULL};

static const struct topo_key keys[] = {
	{"nodes", TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
	{"devices", TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
	{"nics", TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
	{"intra_bw", TOPO_KEY_BANDWIDTH, TOPO_KEY_SINGLE, "300GB/s", NULL},
	{"intra_lat", TOPO_KEY_LATENCY, TOPO_KEY_SINGLE, "0.5us", NULL},
	{"inter_bw", TOPO_KEY_BANDWIDTH, TOPO_KEY_SINGLE, "25GB/s", NULL},
	{"inter_lat", TOPO_KEY_LATENCY, TOPO_KEY_SINGLE, "1us", NULL},
	{"network", TOPO_KEY_WORD, TOPO_KEY_SINGLE, "rails", networks},
	{"tree", TOPO_KEY_COUNT, TOPO_KEY_ANY, NULL, NULL},
	{"oversubscription", TOPO_KEY_COUNT, TOPO_KEY_ANY, "1", NULL},
	{NULL, TOPO_KEY_COUNT, TOPO_KEY_SINGLE, NULL, NULL},
};

struct cluster {
	uint32_t nodes, devices, rails;
	uint32_t nics_per_rail;
	bool leaf; /* all NICs of a node on one switch */
};

/* "NODESxDEVICES" or both by key. */
static bool read_size(const struct topo_spec *spec, struct cluster *c, struct err *err)
{
	c->nodes = spec->n_dims ? spec->dims[0] : (uint32_t)topo_spec_at(spec, "nodes", 0);
	c->devices = spec->n_dims ? spec->dims[1] : (uint32_t)topo_spec_at(spec, "devices", 0);
	bool twice = spec->n_dims &&
		     (topo_spec_get(spec, "nodes")->n > 0 || topo_spec_get(spec, "devices")->n > 0);
	if (twice || (spec->n_dims != 0 && spec->n_dims != 2) || c->nodes == 0 || c->devices == 0)
		return err_set(err, ERR_INPUT,
			"topology '%s': expected NODESxDEVICES, or nodes= and devices=",
			spec->name);
	return true;
}

static bool read_cluster(const struct topo_spec *spec, struct cluster *c, struct err *err)
{
	if (!read_size(spec, c, err))
		return false;
	uint32_t nics = (uint32_t)topo_spec_at(spec, "nics", 0);
	nics = nics ? nics : c->devices;
	if (nics > c->devices && nics % c->devices != 0)
		return err_set(err, ERR_INPUT,
			"topology '%s': %" PRIu32 " NICs for %" PRIu32
			" devices, expected at most one each or a multiple",
			spec->name, nics, c->devices);
	c->rails = nics < c->devices ? nics : c->devices;
	c->nics_per_rail = nics / c->rails;
	c->leaf = topo_spec_at(spec, "network", 0) == NETWORK_FATTREE;
	const struct topo_value *tree = topo_spec_get(spec, "tree");
	uint64_t product = 1;
	for (uint32_t i = 0; i < tree->n && product <= TOPO_MAX_DEVICES; i++)
		product *= tree->v[i];
	if (tree->n > TOPO_MAX_DIMS - 1 || (tree->n > 0 && product != c->nodes))
		return err_set(err, ERR_INPUT,
			"topology '%s': tree= has %" PRIu64 " nodes, expected %" PRIu32, spec->name,
			product, c->nodes);
	return true;
}

static bool shape_tree(const struct topo_spec *spec, const struct cluster *c,
	struct topo_tree *tree, struct err *err)
{
	const struct topo_value *groups = topo_spec_get(spec, "tree");
	uint64_t rate = topo_spec_at(spec, "inter_bw", 0);
	assert(c->nics_per_rail > 0);
	if (rate > UINT64_MAX / c->nics_per_rail)
		return err_set(err, ERR_INPUT,
			"topology '%s': the bandwidth of all NICs of a "
			"device does not fit",
			spec->name);
	*tree = (struct topo_tree){.n_levels = 2,
		.down = {c->devices, c->nodes},
		.up = {1, c->leaf ? 1 : c->rails},
		.parallel = {1, c->leaf ? c->rails : 1},
		.cables = {{topo_spec_at(spec, "intra_bw", 0), topo_spec_at(spec, "intra_lat", 0)},
			{rate * c->nics_per_rail, topo_spec_at(spec, "inter_lat", 0)}}};
	for (uint32_t i = 0; i < groups->n; i++) {
		uint32_t over = i ? (uint32_t)topo_spec_at(spec, "oversubscription", i - 1) : 1;
		uint32_t below = i ? tree->down[i] * tree->parallel[i] : 1;
		tree->n_levels = i + 2;
		tree->down[i + 1] = (uint32_t)groups->v[i];
		if (i == 0)
			continue;
		if (below % over != 0)
			return err_set(err, ERR_INPUT,
				"topology '%s': oversubscription %" PRIu32
				" does not divide the %" PRIu32
				" cables that switches of level %" PRIu32 " have downwards",
				spec->name, over, below, i + 1);
		tree->up[i + 1] = below / over;
		tree->parallel[i + 1] = 1;
		tree->cables[i + 1] = tree->cables[1];
	}
	return true;
}

static bool build(struct arena *a, const struct topo_spec *spec, struct topo *out, struct err *err)
{
	struct cluster c = {0};
	struct topo_tree tree;
	return read_cluster(spec, &c, err) && shape_tree(spec, &c, &tree, err) &&
	       topo_build_tree(a, spec, &tree, out, err);
}

const struct topo_family topo_hierarchical = {.name = "hierarchical",
	.usage = "hierarchical:nodes=N,devices=G or hierarchical:NxG[,nics=G][,intra_bw=300GB/s]"
		 "[,intra_lat=0.5us][,inter_bw=25GB/s][,inter_lat=1us][,network=rails|fattree]"
		 "[,tree=A/B...][,oversubscription=1]",
	.keys = keys,
	.dims_by_keys = true,
	.build = build};
