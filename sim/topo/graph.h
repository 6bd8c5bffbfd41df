/* A topology that grows node by node, for readers of files that do not say the devices first. */
#ifndef TOPO_GRAPH_H
#define TOPO_GRAPH_H

#include "topo/internal.h"

/* A NIC's port to the outside. */
struct topo_port {
	uint32_t node;
	uint64_t bytes_per_s; /* 0: not known */
};

/* Nodes are numbered as they come; devices get their final numbers at the end. All-zero but for `a`
 * is a valid, empty graph. */
struct topo_graph {
	struct arena *a;
	struct name_index names;
	bool *is_device;
	struct topo_link *links; /* without names */
	struct topo_port *ports;
	const char **warnings;
	uint32_t n_nodes, cap_nodes, n_links, cap_links, n_ports, cap_ports, n_warnings,
		cap_warnings;
};

/* A node called `name`, or "name~2", "name~3", ... when that is taken. */
uint32_t topo_graph_node(struct topo_graph *g, const char *name, bool is_device);

/* One direction; a second link between the same nodes adds its bandwidth to the first. */
void topo_graph_link(struct topo_graph *g, uint32_t from, uint32_t to, struct topo_cable cable);
/* Both directions. */
void topo_graph_cable(struct topo_graph *g, uint32_t a, uint32_t b, struct topo_cable cable);

void topo_graph_warn(struct topo_graph *g, const char *text);

/* Devices first, in order of their names' first appearance; then the switches. Adds up parallel
 * links, names them, searches the routes. ERR_INPUT without devices, for too many nodes, or for two
 * devices without a way. Sets family and summary. */
bool topo_graph_finish(struct topo_graph *g, const char *family, struct topo *out, struct err *err);

/* One node of NCCL's topology file. Adds its GPUs, PCI switches, CPUs and NICs to the graph, every
 * name after `prefix`. `path` is for messages. */
bool topo_add_nccl(struct topo_graph *g, const char *path, struct bytes text, const char *prefix,
	struct err *err);

/* GB/s that NCCL's and RCCL's tables give, in bytes/s; 0 when there is no such thing. */
uint64_t nccl_pci_rate(const char *speed, uint64_t width);
uint64_t nccl_link_rate(const char *kind, uint64_t sm, const char *gcn);
uint64_t nccl_cpu_rate(const char *arch, const char *vendor, uint64_t family, uint64_t model);

#endif
