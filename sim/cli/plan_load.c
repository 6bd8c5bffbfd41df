/* The question of `wham plan`: layers, grids and algorithms. */
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
	/* Layers may be answered by some equations and not by others. */
	struct grid_question bare = p->c.q;
	bare.n_layers = 0;
	if (q->grid && !grid_check(&bare, p->processes, err))
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

bool plan_load(struct request *q, const char *model, const char *topology, struct planning *out,
	struct err *err)
{
	*out = (struct planning){.processes = (uint32_t)q->devices, .computing = out->computing};
	if (q->batch == 0 || q->devices == 0 || !model)
		return err_set(err, ERR_USAGE,
			"plan takes --model, --batch and --devices, 'wham help plan' has examples");
	return load_layers(q, model, out, err) && plan_load_network(q, topology, out, err) &&
	       load_grids(q, out, err) && load_algorithms(q, out, err) && load_order(q, out, err) &&
	       plan_place(q, out, err);
}
