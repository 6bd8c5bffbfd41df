/* NCCL's topology files, as NCCL_TOPO_DUMP_FILE writes and cloud providers ship them:
 *
 *     <system version="1"> <cpu numaid=...> <pci busid class link_speed link_width> ... nested:
 *     <gpu dev sm rank> <nvlink target count/> </gpu>   <nic> <net name speed/> </nic>
 *
 * GPUs become devices "gpu0", "gpu1", ... in order of their ranks, or else of their bus ids. PCI
 * bridges, CPUs, NICs and an NVSwitch become switches. Rates are those of nccl_rates.c;
 * latencies, which the files do not have, are our assumptions. NICs hang on PCI; their ports
 * lead nowhere until a cluster joins them. */
#include <expat.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "topo/graph.h"

enum { MAX_DEPTH = 64 };
static const tick nvlink_latency = 700000, pci_latency = 300000, cpu_latency = 300000;
static const uint32_t no_node = UINT32_MAX;

struct element {
	uint32_t node;   /* of this element or of the nearest one around it */
	uint32_t gpu;    /* the GPU within this pci element, or no_node */
	uint64_t rate;   /* of its link upwards */
	bool is_pci_nic; /* that has no <net> so far */
};

struct gpu {
	uint32_t node;
	const char *busid;
	uint64_t rank, sm;
	const char *gcn;
	bool has_rank;
};

struct wire {
	uint32_t gpu;
	const char *target, *kind, *tclass;
	uint64_t rate;
};

struct cpu {
	uint32_t node;
	uint64_t rate;
	const char *host;
};

struct nccl {
	struct topo_graph *g;
	struct err *err;
	const char *path, *prefix;
	XML_Parser parser;
	bool failed, rooted;
	uint32_t depth, n_nics;
	struct element stack[MAX_DEPTH];
	struct gpu *gpus;
	struct wire *wires;
	struct cpu *cpus;
	uint32_t n_gpus, cap_gpus, n_wires, cap_wires, n_cpus, cap_cpus;
};

static void fail(struct nccl *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fail(struct nccl *p, const char *fmt, ...)
{
	struct text text = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vadd(&text, fmt, ap);
	va_end(ap);
	if (!p->failed)
		err_set(p->err, ERR_INPUT, "%s:%lu:%lu: %s", p->path,
			(unsigned long)XML_GetCurrentLineNumber(p->parser),
			(unsigned long)XML_GetCurrentColumnNumber(p->parser) + 1, text.data);
	text_free(&text);
	p->failed = true;
	XML_StopParser(p->parser, XML_FALSE);
}

static const char *attr(const char **atts, const char *name)
{
	for (; atts[0]; atts += 2)
		if (strcmp(atts[0], name) == 0)
			return atts[1];
	return "";
}

static uint64_t number(struct nccl *p, const char **atts, const char *name, uint64_t fallback)
{
	const char *text = attr(atts, name);
	char *end;
	if (!*text)
		return fallback;
	unsigned long long v = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || v > UINT32_MAX) {
		fail(p, "%s: '%s', expected a whole number", name, text);
		return fallback;
	}
	return v;
}

static uint32_t add_node(struct nccl *p, bool is_device, const char *kind, const char *name)
{
	struct arena *a = p->g->a;
	return topo_graph_node(p->g, arena_printf(a, "%s%s%s", p->prefix, kind, name), is_device);
}

static struct element *top(struct nccl *p)
{
	return &p->stack[p->depth - 1];
}

static void on_system(struct nccl *p, const char **atts)
{
	const char *version = attr(atts, "version");
	if (strcmp(version, "1") != 0 && strcmp(version, "2") != 0)
		fail(p, "system version '%s', expected 1 (NCCL) or 2 (RCCL)", version);
}

static void on_cpu(struct nccl *p, const char **atts)
{
	uint32_t node = add_node(p, false, "cpu", attr(atts, "numaid"));
	arena_push(p->g->a, p->cpus, p->n_cpus, p->cap_cpus) = (struct cpu){
		.node = node,
		.rate = nccl_cpu_rate(attr(atts, "arch"), attr(atts, "vendor"),
			number(p, atts, "familyid", 6), number(p, atts, "modelid", 85)),
		.host = arena_strdup(p->g->a, attr(atts, "host_hash")),
	};
	top(p)->node = node;
}

static void add_gpu(struct nccl *p, const char *busid, uint32_t node)
{
	arena_push(p->g->a, p->gpus, p->n_gpus, p->cap_gpus) =
		(struct gpu){.node = node, .busid = arena_strdup(p->g->a, busid), .gcn = ""};
	top(p)->gpu = p->n_gpus - 1;
}

/* A bridge whose way up is much narrower than a GPU's below it. */
static void check_width(
	struct nccl *p, const struct element *bridge, const char *busid, uint64_t rate)
{
	char narrow[UNIT_TEXT], wide[UNIT_TEXT];
	if (bridge->rate == 0 || bridge->rate >= rate / 2)
		return;
	topo_graph_warn(p->g,
		arena_printf(p->g->a,
			"%s:%lu: bottleneck: GPU %s has %s, but the way up from its PCI switch %s",
			p->path, (unsigned long)XML_GetCurrentLineNumber(p->parser), busid,
			unit_print(wide, UNIT_BANDWIDTH, rate),
			unit_print(narrow, UNIT_BANDWIDTH, bridge->rate)));
}

static void on_pci(struct nccl *p, const char **atts)
{
	struct element *e = top(p);
	const char *class = attr(atts, "class"), *busid = attr(atts, "busid");
	struct topo_cable cable = {
		nccl_pci_rate(attr(atts, "link_speed"), number(p, atts, "link_width", 16)),
		pci_latency};
	bool is_gpu = strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0;
	bool is_nic = strncmp(class, "0x02", 4) == 0, is_bridge = strncmp(class, "0x0604", 6) == 0;
	uint32_t above = e->node;
	if (above == no_node) {
		fail(p, "<pci> outside of <cpu>");
		return;
	}
	if (cable.bytes_per_s == 0) {
		fail(p, "link_speed '%s', expected such as '16 GT/s'", attr(atts, "link_speed"));
		return;
	}
	e->is_pci_nic = is_nic;
	if (is_gpu)
		check_width(p, e - 1, busid, cable.bytes_per_s);
	e->rate = cable.bytes_per_s;
	if (is_nic || (!is_gpu && !is_bridge))
		return; /* what else is plugged in carries nothing */
	e->node = is_gpu ? add_node(p, true, "gpu", arena_printf(p->g->a, "%" PRIu32, p->n_gpus))
			 : add_node(p, false, "pci-", busid);
	if (is_gpu)
		add_gpu(p, busid, e->node);
	topo_graph_cable(p->g, above, e->node, cable);
}

static void on_gpu(struct nccl *p, const char **atts)
{
	uint32_t gpu = top(p)->gpu;
	if (gpu == no_node) {
		fail(p, "<gpu> outside of a <pci> of class 0x03");
		return;
	}
	p->gpus[gpu].has_rank = *attr(atts, "rank") != '\0';
	p->gpus[gpu].rank = number(p, atts, "rank", 0);
	p->gpus[gpu].sm = number(p, atts, "sm", 0);
	p->gpus[gpu].gcn = arena_strdup(p->g->a, attr(atts, "gcn"));
}

static void on_wire(struct nccl *p, const char *kind, const char **atts)
{
	uint32_t gpu = top(p)->gpu;
	if (gpu == no_node) {
		fail(p, "<%s> outside of <gpu>", kind);
		return;
	}
	bool c2c = strcmp(kind, "c2c") == 0;
	uint64_t each = c2c ? number(p, atts, "bw", 0) * 1000000
			    : nccl_link_rate(kind, p->gpus[gpu].sm, p->gpus[gpu].gcn);
	uint64_t count = number(p, atts, "count", 1);
	if (each == 0 || count == 0) {
		fail(p, "<%s> without bandwidth", kind);
		return;
	}
	arena_push(p->g->a, p->wires, p->n_wires, p->cap_wires) = (struct wire){
		.gpu = gpu,
		.target = arena_strdup(p->g->a, attr(atts, "target")),
		.tclass = arena_strdup(p->g->a, attr(atts, "tclass")),
		.kind = c2c ? "c2c" : "nvlink",
		.rate = each * count,
	};
}

static uint32_t add_nic(struct nccl *p, const char *name, uint64_t port_rate, uint64_t pci_rate)
{
	const struct element *e = top(p);
	uint64_t rate = pci_rate > 0 ? pci_rate : port_rate;
	uint32_t nic = add_node(p, false, name, "");
	topo_graph_cable(p->g, e->node, nic, (struct topo_cable){rate, pci_latency});
	arena_push(p->g->a, p->g->ports, p->g->n_ports, p->g->cap_ports) =
		(struct topo_port){.node = nic, .bytes_per_s = port_rate};
	p->n_nics++;
	return nic;
}

static void on_net(struct nccl *p, const char **atts)
{
	uint64_t rate = number(p, atts, "speed", 0) * 125000, pci = 0;
	if (top(p)->node == no_node) {
		fail(p, "<net> outside of <cpu>");
		return;
	}
	if (rate == 0) {
		fail(p, "<net> without speed, expected Mbit/s");
		return;
	}
	for (uint32_t i = 0; i < p->depth; i++)
		if (p->stack[i].is_pci_nic) {
			pci = p->stack[i].rate;
			p->stack[i].is_pci_nic = false;
		}
	add_nic(p, *attr(atts, "name") ? attr(atts, "name") : "net", rate, pci);
}

static void XMLCALL on_start(void *ctx, const char *name, const char **atts)
{
	struct nccl *p = ctx;
	if (p->depth == MAX_DEPTH) {
		fail(p, "elements are nested too deeply");
		return;
	}
	if (!p->rooted && strcmp(name, "system") != 0) {
		fail(p, "<%s>, expected <system>", name);
		return;
	}
	p->rooted = true;
	p->stack[p->depth] = p->depth ? p->stack[p->depth - 1]
				      : (struct element){.node = no_node, .gpu = no_node};
	p->stack[p->depth].is_pci_nic = false;
	p->depth++;
	if (strcmp(name, "system") == 0)
		on_system(p, atts);
	else if (strcmp(name, "cpu") == 0)
		on_cpu(p, atts);
	else if (strcmp(name, "pci") == 0)
		on_pci(p, atts);
	else if (strcmp(name, "gpu") == 0)
		on_gpu(p, atts);
	else if (strcmp(name, "net") == 0)
		on_net(p, atts);
	else if (strcmp(name, "nvlink") == 0 || strcmp(name, "xgmi") == 0 ||
		 strcmp(name, "c2c") == 0)
		on_wire(p, name, atts);
}

static void XMLCALL on_end(void *ctx, const char *name)
{
	struct nccl *p = ctx;
	if (p->failed || p->depth == 0)
		return;
	const struct element *e = top(p);
	/* A NIC of a file without <net>: its port has no rate of its own. */
	if (strcmp(name, "pci") == 0 && e->is_pci_nic)
		add_nic(p, arena_printf(p->g->a, "nic%" PRIu32, p->n_nics), 0, e->rate);
	p->depth--;
}

static const struct gpu *gpu_at(const struct nccl *p, const char *busid)
{
	for (uint32_t i = 0; i < p->n_gpus; i++)
		if (strcmp(p->gpus[i].busid, busid) == 0)
			return &p->gpus[i];
	return NULL;
}

/* Both ends list their cable; one that only one end lists counts both ways. */
static bool is_listed(const struct nccl *p, const struct gpu *from, const struct gpu *to)
{
	for (uint32_t i = 0; i < p->n_wires; i++)
		if (&p->gpus[p->wires[i].gpu] == from && gpu_at(p, p->wires[i].target) == to)
			return true;
	return false;
}

static void add_wires(struct nccl *p)
{
	uint32_t nvswitch = no_node;
	for (uint32_t i = 0; i < p->n_wires; i++) {
		const struct wire *w = &p->wires[i];
		const struct gpu *from = &p->gpus[w->gpu], *to = gpu_at(p, w->target);
		struct topo_cable cable = {w->rate, nvlink_latency};
		bool to_cpu = strcmp(w->kind, "c2c") == 0 || strcmp(w->tclass, "0x068001") == 0;
		if (to && to != from) {
			topo_graph_link(p->g, from->node, to->node, cable);
			if (!is_listed(p, to, from))
				topo_graph_link(p->g, to->node, from->node, cable);
		} else if (to_cpu) {
			topo_graph_cable(p->g, from->node, p->cpus[0].node, cable);
		} else if (strncmp(w->tclass, "0x0680", 6) == 0) {
			if (nvswitch == no_node)
				nvswitch = add_node(p, false, "nvswitch", "");
			topo_graph_cable(p->g, from->node, nvswitch, cable);
		}
	}
}

/* Any two CPUs of a host; the slower of their buses counts. */
static void join_cpus(struct nccl *p)
{
	for (uint32_t i = 0; i < p->n_cpus; i++)
		for (uint32_t k = 0; k < i; k++) {
			const struct cpu *a = &p->cpus[k], *b = &p->cpus[i];
			uint64_t rate = a->rate < b->rate ? a->rate : b->rate;
			if (strcmp(a->host, b->host) == 0)
				topo_graph_cable(p->g, a->node, b->node,
					(struct topo_cable){rate, cpu_latency});
		}
}

static int by_rank(const void *left, const void *right)
{
	const struct gpu *a = left, *b = right;
	if (a->has_rank && b->has_rank && a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	int order = a->has_rank && b->has_rank ? 0 : strcmp(a->busid, b->busid);
	return order ? order : (a->node > b->node) - (a->node < b->node);
}

/* Nodes were named as they came; the n-th by rank takes the n-th place. */
static void order_gpus(struct nccl *p)
{
	uint32_t *to = arena_array(p->g->a, (size_t)p->g->n_nodes + 1, uint32_t);
	uint32_t *nodes = arena_array(p->g->a, (size_t)p->n_gpus + 1, uint32_t);
	for (uint32_t i = 0; i < p->g->n_nodes; i++)
		to[i] = i;
	for (uint32_t i = 0; i < p->n_gpus; i++)
		nodes[i] = p->gpus[i].node;
	if (p->n_gpus > 0)
		qsort(p->gpus, p->n_gpus, sizeof(*p->gpus), by_rank);
	for (uint32_t i = 0; i < p->n_gpus; i++)
		to[p->gpus[i].node] = nodes[i];
	for (uint32_t i = 0; i < p->g->n_links; i++) {
		p->g->links[i].from = to[p->g->links[i].from];
		p->g->links[i].to = to[p->g->links[i].to];
	}
}

bool topo_add_nccl(struct topo_graph *g, const char *path, struct bytes text, const char *prefix,
	struct err *err)
{
	struct nccl p = {.g = g, .err = err, .path = path, .prefix = prefix};
	if (text.n > INT32_MAX)
		return err_set(err, ERR_INPUT, "%s: the file is too large", path);
	p.parser = XML_ParserCreate(NULL);
	XML_SetUserData(p.parser, &p);
	XML_SetElementHandler(p.parser, on_start, on_end);
	enum XML_Status status = XML_Parse(p.parser, text.data, (int)text.n, XML_TRUE);
	if (status != XML_STATUS_OK && !p.failed)
		fail(&p, "%s", XML_ErrorString(XML_GetErrorCode(p.parser)));
	XML_ParserFree(p.parser);
	if (p.failed)
		return false;
	if (p.n_gpus == 0)
		return err_set(err, ERR_INPUT, "%s: no GPU, expected a <pci> of class 0x03", path);
	add_wires(&p);
	join_cpus(&p);
	order_gpus(&p);
	return true;
}
