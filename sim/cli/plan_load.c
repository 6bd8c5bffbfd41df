/* The question of `wham plan`: layers, grids, the machine of the closed form and the network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plan.h"

static bool parse_grid(
	const char *option, const char *text, struct process_grid *out, struct err *err)
{
	uint64_t sides[2];
	const char *at = text;
	for (int i = 0; i < 2; i++) {
		char *end;
		sides[i] = strtoull(at, &end, 10);
		bool ends = i == 0 ? *end == 'x' : *end == '\0';
		if (*at < '0' || *at > '9' || !ends || sides[i] == 0 || sides[i] > 1u << 24)
			return err_set(err, ERR_USAGE, "--%s: '%s', expected PRxPC such as 32x16",
				option, text);
		at = end + 1;
	}
	*out = (struct process_grid){(uint32_t)sides[0], (uint32_t)sides[1]};
	return true;
}

static bool load_grids(const struct request *q, struct planning *p, struct err *err)
{
	struct process_grid one = {1, p->processes};
	p->c.q.grid = one;
	if (q->grid && !parse_grid("grid", q->grid, &p->c.q.grid, err))
		return false;
	if (!grid_check(&p->c.q, p->processes, err) && q->grid)
		return err_prefix(err, "--grid: ");
	if (!q->conv_grid)
		return true;
	struct grid_question convs = p->c.q;
	if (!parse_grid("conv-grid", q->conv_grid, &convs.grid, err))
		return false;
	if (!grid_check(&convs, p->processes, err))
		return err_prefix(err, "--conv-grid: ");
	p->c.q.conv = convs.grid;
	return true;
}

static bool load_layers(struct request *q, const char *name, struct planning *p, struct err *err)
{
	struct grid_layer *layers;
	struct graph *model = &p->model;
	if (!load_model(q, name, 1, 1, model, err))
		return false;
	uint32_t n = grid_layers(q->a, model, &layers);
	if (n == 0)
		return err_set(err, ERR_INPUT,
			"%s: no layer with weights, expected convolutions or matrix products",
			model->path);
	p->c.q = (struct grid_question){.layers = layers, .n_layers = n, .batch = q->batch};
	for (uint32_t i = 0; i < model->n_tensors && p->c.q.word_bytes == 0; i++)
		if (model->tensors[i].class == TENSOR_PARAM)
			p->c.q.word_bytes = model->tensors[i].elem_bytes;
	return true;
}

/* Latency and bandwidth of the way from the first device to the second. */
static bool measure_way(struct request *q, const struct topo *t, tick *alpha, uint64_t *bytes_per_s,
	struct err *err)
{
	if (q->alpha > 0 && q->beta_bw > 0)
		return true;
	if (t->platform_xml)
		return err_set(err, ERR_USAGE,
			"%s is a SimGrid platform, whose ways only SimGrid knows, expected --alpha "
			"and --beta-bw for the closed form",
			t->name);
	if (t->n_devices < 2)
		return true;
	uint32_t *links = arena_array(q->a, (size_t)t->max_hops + 1, uint32_t);
	uint32_t n = t->route(t, 0, 1, links);
	*alpha = 0;
	*bytes_per_s = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const struct topo_link *l = &t->links[links[i]];
		*alpha += l->latency;
		*bytes_per_s = l->bytes_per_s < *bytes_per_s ? l->bytes_per_s : *bytes_per_s;
	}
	return *alpha > 0 ||
	       err_set(err, ERR_INPUT,
		       "%s: no latency between its first two devices, expected --alpha for the "
		       "closed form",
		       t->name);
}

static bool load_machine(struct request *q, bool measured, struct planning *p, struct err *err)
{
	tick alpha = 2 * (TICKS_PER_S / 1000000);
	uint64_t bytes_per_s = UINT64_C(6000000000);
	p->machine_source = measured ? "the way between the first two devices" : "default";
	if (measured && !measure_way(q, &p->topo, &alpha, &bytes_per_s, err))
		return false;
	if (q->alpha > 0 && q->beta_bw > 0)
		p->machine_source = "given";
	alpha = q->alpha > 0 ? q->alpha : alpha;
	bytes_per_s = q->beta_bw > 0 ? q->beta_bw : bytes_per_s;
	p->c.machine = (struct alpha_beta){ticks_to_s(alpha), 1 / (double)bytes_per_s,
		q->gamma > 0 ? 1 / (double)q->gamma : 0};
	return true;
}

bool plan_alpha_beta_topology(struct request *q, const struct alpha_beta *m, uint32_t n,
	struct topo *out, struct err *err)
{
	char bw[UNIT_TEXT], lat[UNIT_TEXT];
	unit_print_exact(bw, UNIT_BANDWIDTH, (uint64_t)llround(1 / m->beta));
	unit_print_exact(lat, UNIT_TIME, (tick)llround(m->alpha / 2 * (double)TICKS_PER_S));
	const char *spec = arena_printf(q->a, "crossbar:%u,bw=%s,lat=%s", n, bw, lat);
	return topo_parse(q->a, spec, out, err) && load_changes(q, out, err);
}

static bool load_network(
	struct request *q, const char *topology, struct planning *p, struct err *err)
{
	if (!load_net(q, &p->config.net, err) || !load_fold(q, &p->config.fold, err))
		return false;
	p->simulate = p->config.net == NET_SIMGRID;
	if (topology && !load_topology(q, topology, &p->topo, err))
		return false;
	if (topology && p->topo.n_devices < p->processes)
		return err_set(err, ERR_INPUT,
			"%s has %u devices, expected one for each of %u "
			"processes",
			p->topo.name, p->topo.n_devices, p->processes);
	if (!load_machine(q, topology != NULL, p, err))
		return false;
	if (!topology && !plan_alpha_beta_topology(q, &p->c.machine, p->processes, &p->topo, err))
		return false;
	p->config.reduce_bytes_per_s = q->gamma;
	return true;
}

/* Algorithms by name, since each schedule names its own. */
static bool load_algorithms(struct request *q, struct planning *p, struct err *err)
{
	static const struct {
		const char *name, *form;
	} forms[] = {{"rabenseifner", "ar_rab"}, {"recdbl", "ar_rdb"}, {"ring", "ar_ring"}};
	struct coll_choice choice;
	if (!load_choice(q, &choice, err))
		return false;
	for (int k = 0; k < N_COLL_KINDS; k++)
		if (choice.policy[k] != COLL_FIXED ||
			(choice.algo[k] && k != COLL_ALLREDUCE && k != COLL_ALLGATHER))
			return err_set(err, ERR_USAGE,
				"--collective: plan takes algorithms of allreduce and allgather by "
				"name, e.g. allreduce=ring");
	const struct coll_algo *reduce = choice.algo[COLL_ALLREDUCE];
	const struct coll_algo *gather = choice.algo[COLL_ALLGATHER];
	p->options.all_reduce = reduce ? reduce->name : "rabenseifner";
	p->options.all_gather = gather ? gather->name : "bruck";
	p->form = "ar_rab";
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (strcmp(forms[i].name, p->options.all_reduce) == 0)
			p->form = forms[i].form;
	return true;
}

static bool load_order(const struct request *q, struct planning *p, struct err *err)
{
	p->options.overlap = q->overlap;
	p->options.pc_fastest = q->order && strcmp(q->order, "pc") == 0;
	return !q->order || p->options.pc_fastest || strcmp(q->order, "pr") == 0 ||
	       err_set(err, ERR_USAGE, "unknown --order '%s', expected pr or pc", q->order);
}

static bool place(struct request *q, struct planning *p, struct err *err)
{
	struct placement placed;
	p->config.topo = &p->topo;
	if (!load_placement(q, &p->topo, p->processes, &placed, err))
		return false;
	p->config.device_of_rank = placed.device_of_rank;
	p->config.compute_ppm = placed.compute_ppm;
	return true;
}

bool plan_load(struct request *q, const char *model, const char *topology, struct planning *out,
	struct err *err)
{
	*out = (struct planning){.processes = (uint32_t)q->devices, .computing = out->computing};
	if (q->batch == 0 || q->devices == 0 || !model)
		return err_set(err, ERR_USAGE,
			"plan takes --model, --batch and --devices, 'wham help plan' has examples");
	if (q->files.n > 0)
		return err_set(err, ERR_USAGE, "plan takes no '%s'", q->files.items[0]);
	return load_layers(q, model, out, err) && load_network(q, topology, out, err) &&
	       load_grids(q, out, err) && load_algorithms(q, out, err) && load_order(q, out, err) &&
	       place(q, out, err);
}
