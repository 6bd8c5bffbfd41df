/* Workloads cut into distinct stages. */
#include <string.h>

#include "search/internal.h"

struct link_speed {
	tick latency;
	uint64_t bytes_per_s;
};

/* Neighbours in a topology; all links of the accelerator where there is none, or only SimGrid
 * knows them. */
static struct link_speed link_speed(const struct search_config *config)
{
	const struct topo *t = config->topo;
	if (t && t->links && t->n_links > 0)
		return (struct link_speed){t->links[0].latency, t->links[0].bytes_per_s};
	return (struct link_speed){0, config->base.links * config->base.link_bytes_per_s};
}

static void add_part(
	struct search_stage *s, const op_id *ids, uint32_t n, const uint32_t repeat[N_PHASES])
{
	if (n == 0)
		return;
	struct stage_part *part = &s->parts[s->n_parts++];
	*part = (struct stage_part){.ids = ids, .n_ids = n};
	memcpy(part->repeat, repeat, sizeof(part->repeat));
	part->times = (repeat[PHASE_IN_FORWARD] + repeat[PHASE_IN_BACKWARD]) * s->n_micro_batches +
		      repeat[PHASE_IN_UPDATE];
}

static void add_pass(struct arena *a, struct search_stage *s, const struct stage *stage,
	uint32_t mask, const uint32_t repeat[N_PHASES])
{
	op_id *ids = NULL;
	uint32_t n = graph_select(a, s->graph, stage->first_layer, stage->end_layer, mask, &ids);
	add_part(s, ids, n, repeat);
}

/* Selective recomputation runs the recomputable operators of each layer again by themselves. */
static void add_selective(struct arena *a, struct search_stage *s, const struct stage *stage)
{
	for (uint32_t layer = stage->first_layer; layer < stage->end_layer; layer++) {
		op_id *ids = NULL;
		uint32_t n = graph_select(a, s->graph, layer, layer + 1, 1u << PASS_FORWARD, &ids);
		uint32_t kept = 0;
		for (uint32_t i = 0; i < n; i++) {
			if (s->graph->ops[ids[i]].recomputable)
				ids[kept++] = ids[i];
		}
		add_part(s, ids, kept, (uint32_t[N_PHASES]){0, 1, 0});
	}
}

static void make_stage(struct arena *a, const struct workload *w, const struct plan *plan,
	const struct stage *stage, struct search_stage *out)
{
	uint32_t n_layers = stage->end_layer - stage->first_layer;
	bool full = stage->recompute == RECOMPUTE_FULL;
	*out = (struct search_stage){
		.graph = w->train,
		.parts = arena_array(a, (size_t)n_layers + 3, struct stage_part),
		.n_micro_batches = plan->n_micro_batches,
		.batch = w->degrees.batch,
		.n_devices = w->degrees.pp * w->degrees.tp * w->degrees.dp,
		.device = {.link = w->options.link},
	};
	add_pass(a, out, stage, 1u << PASS_FORWARD, (uint32_t[N_PHASES]){1, full ? 1 : 0, 0});
	add_pass(a, out, stage, 1u << PASS_BACKWARD_DATA | 1u << PASS_BACKWARD_WEIGHT,
		(uint32_t[N_PHASES]){0, 1, 0});
	add_pass(a, out, stage, 1u << PASS_UPDATE, (uint32_t[N_PHASES]){0, 0, 1});
	if (stage->recompute == RECOMPUTE_SELECTIVE)
		add_selective(a, out, stage);
}

static bool same_vector(const struct work *a, const struct work *b)
{
	if (a->n_vector != b->n_vector)
		return false;
	for (uint32_t i = 0; i < a->n_vector; i++) {
		const struct vector_work *x = &a->vector[i], *y = &b->vector[i];
		if (x->form != y->form || x->numel != y->numel || x->row != y->row ||
			x->lane_cycles != y->lane_cycles)
			return false;
	}
	return true;
}

static bool same_conv(const struct conv_work *a, const struct conv_work *b)
{
	return a->images == b->images && a->in_h == b->in_h && a->in_w == b->in_w &&
	       a->in_channels == b->in_channels && a->out_h == b->out_h && a->out_w == b->out_w &&
	       a->out_channels == b->out_channels && a->kernel_h == b->kernel_h &&
	       a->kernel_w == b->kernel_w && a->stride_h == b->stride_h &&
	       a->stride_w == b->stride_w && a->dilation_h == b->dilation_h &&
	       a->dilation_w == b->dilation_w;
}

static bool same_work(const struct work *a, const struct work *b)
{
	return a->core == b->core && a->batch == b->batch && a->m == b->m && a->n == b->n &&
	       a->k == b->k && a->a_bytes == b->a_bytes && a->b_bytes == b->b_bytes &&
	       a->c_bytes == b->c_bytes && a->vector_read_bytes == b->vector_read_bytes &&
	       a->vector_write_bytes == b->vector_write_bytes && a->row_bytes == b->row_bytes &&
	       a->again_bytes == b->again_bytes && a->link == b->link &&
	       a->collective_bytes == b->collective_bytes && same_conv(&a->conv, &b->conv) &&
	       same_vector(a, b);
}

/* Positions of operators in a list; GRAPH_NONE for those that are not in it. */
static uint32_t *positions(
	struct arena *scratch, const struct graph *g, const op_id *ids, uint32_t n)
{
	uint32_t *at = arena_array(scratch, g->n_ops, uint32_t);
	memset(at, 0xff, g->n_ops * sizeof(*at));
	for (uint32_t i = 0; i < n; i++)
		at[ids[i]] = i;
	return at;
}

/* The positions of the predecessors inside the list, in order. */
static uint32_t inner_preds(const struct op *op, const uint32_t *at, uint32_t *preds)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < op->n_preds; i++) {
		if (at[op->preds[i]] != GRAPH_NONE)
			preds[n++] = at[op->preds[i]];
	}
	return n;
}

static bool same_part(struct arena *scratch, const struct search_stage *a,
	const struct search_stage *b, uint32_t part)
{
	const struct stage_part *pa = &a->parts[part], *pb = &b->parts[part];
	uint32_t n = pa->n_ids;
	if (n != pb->n_ids || memcmp(pa->repeat, pb->repeat, sizeof(pa->repeat)) != 0)
		return false;
	const uint32_t *at_a = positions(scratch, a->graph, pa->ids, n);
	const uint32_t *at_b = positions(scratch, b->graph, pb->ids, n);
	uint32_t *preds_a = arena_array(scratch, n, uint32_t);
	uint32_t *preds_b = arena_array(scratch, n, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		const struct op *x = &a->graph->ops[pa->ids[i]];
		const struct op *y = &b->graph->ops[pb->ids[i]];
		uint32_t n_x = inner_preds(x, at_a, preds_a), n_y = inner_preds(y, at_b, preds_b);
		if (!same_work(&x->work, &y->work) || n_x != n_y ||
			memcmp(preds_a, preds_b, n_x * sizeof(*preds_a)) != 0)
			return false;
	}
	return true;
}

static bool same_stage(const struct search_stage *a, const struct search_stage *b)
{
	if (a->batch != b->batch || a->n_devices != b->n_devices ||
		a->n_micro_batches != b->n_micro_batches || a->n_parts != b->n_parts ||
		a->device.link.ranks != b->device.link.ranks ||
		a->device.link.bytes_per_s != b->device.link.bytes_per_s ||
		a->device.link.latency != b->device.link.latency)
		return false;
	struct arena scratch = {0};
	bool same = true;
	for (uint32_t part = 0; same && part < a->n_parts; part++)
		same = same_part(&scratch, a, b, part);
	arena_free(&scratch);
	return same;
}

/* Index of the stage among the distinct ones, added when it is new. */
static uint32_t add_stage(struct problem *p, const struct search_stage *stage)
{
	for (uint32_t i = 0; i < p->n_stages; i++) {
		if (same_stage(&p->stages[i], stage))
			return i;
	}
	p->stages[p->n_stages] = *stage;
	return p->n_stages++;
}

/* Ring all-reduce: 2 (n - 1) steps of a share each. */
static tick ring_time(uint32_t ranks, uint64_t bytes, struct link_speed link)
{
	if (ranks <= 1 || bytes == 0 || link.bytes_per_s == 0)
		return 0;
	tick step = link.latency + ticks_ceil(div_ceil(bytes, ranks), link.bytes_per_s);
	return 2 * (tick)(ranks - 1) * step;
}

static struct plan_options stage_options(const struct workload *w, struct link_speed link)
{
	struct plan_options options = w->options;
	/* WHAM's rule, one core for an operator, is what the oracle prices. */
	options.intra_op_split = false;
	if (w->degrees.tp > 1 && options.link.ranks == 0)
		options.link = (struct device_link){
			.ranks = w->degrees.tp,
			.bytes_per_s = link.bytes_per_s,
			.latency = link.latency,
		};
	return options;
}

static bool add_workload(struct arena *a, struct problem *p, uint32_t index, struct err *err)
{
	struct workload w = p->config->workloads[index];
	struct problem_workload *out = &p->workloads[index];
	struct link_speed link = link_speed(p->config);
	struct plan plan;
	w.options = stage_options(&w, link);
	struct plan_input in = {w.train, &p->config->base, 1, &w.degrees, &w.options};
	if (!plan_build(a, &in, &plan, err))
		return false;
	*out = (struct problem_workload){
		.degrees = w.degrees,
		.options = w.options,
		.n_micro_batches = plan.n_micro_batches,
		.boundaries = arena_array(a, (size_t)plan.n_stages + 1, uint32_t),
		.stages = arena_array(a, plan.n_stages, struct problem_stage),
		.n_stages = plan.n_stages,
		.link_latency = link.latency,
		.link_bytes_per_s = link.bytes_per_s,
	};
	p->stages = arena_grow(
		a, p->stages, p->n_stages, p->n_stages + plan.n_stages, sizeof(*p->stages));
	for (uint32_t i = 0; i < plan.n_stages; i++) {
		const struct stage *s = &plan.stages[i];
		struct search_stage stage;
		make_stage(a, &w, &plan, s, &stage);
		out->boundaries[i + 1] = s->end_layer;
		out->stages[i] = (struct problem_stage){
			.distinct = add_stage(p, &stage),
			.send_bytes = s->send_forward_bytes,
			.gradient_reduction = ring_time(w.degrees.dp, s->gradient_bytes, link),
		};
	}
	return true;
}

/* What the first baseline needs, for floors and ratios. */
static void add_references(struct arena *a, struct problem *p)
{
	const struct search_config *config = p->config;
	if (config->n_baselines == 0)
		return;
	const struct arch *arch = &config->baselines[0];
	struct stage_cost *costs = arena_array(a, p->n_stages, struct stage_cost);
	for (uint32_t i = 0; i < p->n_stages; i++) {
		struct oracle o;
		oracle_open(&o, &p->stages[i], arch);
		oracle_price(&o, arch->tc_count, arch->vc_count, &costs[i]);
		oracle_close(&o);
		p->stages[i].reference = stage_step(&p->stages[i], &costs[i]);
	}
	for (uint32_t i = 0; i < config->n_workloads; i++) {
		tick step = score_step(p, i, costs).total;
		p->workloads[i].reference_samples_per_s =
			step > 0 ? (double)p->workloads[i].degrees.batch / ticks_to_s(step) : 0;
	}
}

bool problem_build(
	struct arena *a, const struct search_config *config, struct problem *out, struct err *err)
{
	*out = (struct problem){.config = config};
	if (!lattice_build(&config->space, &out->lattice, err))
		return false;
	out->workloads = arena_array(a, config->n_workloads, struct problem_workload);
	for (uint32_t i = 0; i < config->n_workloads; i++) {
		if (!add_workload(a, out, i, err))
			return config->n_workloads > 1
				       ? err_prefix(err, "%s: ", config->workloads[i].name)
				       : false;
	}
	add_references(a, out);
	return true;
}

bool problem_check_fits(const struct problem *p, struct err *err)
{
	const struct search_config *config = p->config;
	struct design d = lattice_design(&p->lattice, 0);
	if (design_fits(config, &d))
		return true;
	struct arch arch = design_arch(&d, &config->base);
	char sram[UNIT_TEXT];
	return err_set(err, ERR_ANSWER,
		"no design fits into %.4g mm2 and %.4g W: the smallest one, 1 x %ux%u tensor core, "
		"1 x %u vector core and %s of SRAM, needs %.4g mm2 and %.4g W",
		config->budget.area_mm2, config->budget.tdp_w, d.rows, d.cols, d.width,
		unit_print(sram, UNIT_BYTES, d.sram_bytes), arch_area_mm2(&arch),
		arch_tdp_w(&arch));
}
