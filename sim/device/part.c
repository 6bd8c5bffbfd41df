/* Pricing a part of a graph. */
#include <stdlib.h>

#include "device/internal.h"

struct order_key {
	tick mobility, alap;
	uint32_t depth, job;
};

static tick clamped_ticks(struct device_part *part, uint64_t amount, uint64_t per_s, tick longest)
{
	u128 t = ((u128)amount * TICKS_PER_S + per_s - 1) / per_s;
	if (t <= longest)
		return (tick)t;
	part->clamped = true;
	return longest;
}

static tick link_ticks(struct device_part *part, enum link_kind kind, uint64_t bytes, tick longest)
{
	const struct device_link *link = &part->options.link;
	if (link->ranks <= 1 || bytes == 0)
		return 0;
	assert(link->bytes_per_s > 0);
	tick step = clamped_ticks(part, div_ceil(bytes, link->ranks), link->bytes_per_s, longest);
	uint64_t steps = (kind == LINK_ALLREDUCE ? UINT64_C(2) : UINT64_C(1)) * (link->ranks - 1);
	u128 all = ((u128)step + link->latency) * steps;
	if (all <= longest)
		return (tick)all;
	part->clamped = true;
	return longest;
}

tick device_link_time(const struct device_link *link, uint64_t bytes)
{
	struct device_part part = {.options = {.link = *link}};
	return link_ticks(&part, LINK_ALLREDUCE, bytes, TICK_MAX);
}

static uint32_t find_line(enum core core)
{
	switch (core) {
	case CORE_NONE:
		return LINE_NONE;
	case CORE_TC:
		return LINE_TC;
	case CORE_VC:
		return LINE_VC;
	case CORE_TC_VC:
		return LINE_PAIR;
	case CORE_LINK:
		return LINE_LINK;
	}
	abort(); /* not a value of the enum */
}

static void price_compute(struct device_part *part, uint32_t i, struct job *job, tick longest)
{
	const struct op_cost *cost = &part->costs[i];
	struct op_time *time = &part->times[i];
	if (!arch_op_time(&part->arch, cost, longest, time))
		part->clamped = true;
	uint64_t bytes = cost->dram_read_bytes + cost->dram_write_bytes;
	tick latency = bytes > 0 ? part->arch.hbm_latency : 0;
	tick fill = time->fill > latency ? time->fill - latency : 0;
	job->fixed = time->overhead + latency;
	job->alone = time->compute + fill + time->memory;
	if (bytes == 0)
		return;
	uint64_t demand = (uint64_t)(((u128)bytes * TICKS_PER_S + job->alone - 1) / job->alone);
	job->demand = demand < part->dram_bytes_per_s ? demand : part->dram_bytes_per_s;
}

static void price(struct device_part *part, const struct op *op, uint32_t i, tick longest)
{
	struct job *job = &part->jobs[i];
	struct op_cost *cost = &part->costs[i];
	bool split = part->options.intra_op_split;
	struct core_share share = {
		.tcs = split ? part->arch.tc_count : 1,
		.vcs = split ? part->arch.vc_count : 1,
		.sram_bytes = part->arch.sram_bytes,
	};
	arch_op_cost(&part->arch, &op->work, &share, cost);
	job->line = find_line(op->work.core);
	if (job->line == LINE_TC && cost->vc.n > 0) /* sums of a split k */
		job->line = LINE_PAIR;
	if (job->line == LINE_LINK)
		job->alone = part->times[i].compute =
			link_ticks(part, op->work.link, op->work.collective_bytes, longest);
	else if (cost->cycles.n > 0 || cost->dram_read_bytes > 0 || cost->dram_write_bytes > 0)
		price_compute(part, i, job, longest);
	if (part->nests)
		nest_build(&part->arch, &op->work, cost, &part->nests[i]);
	if (job->alone == 0)
		job->line = LINE_NONE;
	else
		part->n_lines[job->line]++;
}

static void add_cost(struct op_cost *sum, const struct op_cost *c)
{
	sum->dram_read_bytes += c->dram_read_bytes;
	sum->dram_write_bytes += c->dram_write_bytes;
	sum->sram.input_reads += c->sram.input_reads;
	sum->sram.weight_reads += c->sram.weight_reads;
	sum->sram.output_writes += c->sram.output_writes;
	sum->macs += c->macs;
	sum->lane_ops += c->lane_ops;
}

/* Position in `ids` of each operator from ids[0] on, or n_ids for those outside. */
static uint32_t *index_ids(struct arena *a, const struct graph_part *ops)
{
	const op_id *ids = ops->ids;
	uint32_t n_ids = ops->n_ids;
	uint32_t span = n_ids > 0 ? ids[n_ids - 1] - ids[0] + 1 : 0;
	uint32_t *place = arena_array(a, span, uint32_t);
	for (uint32_t i = 0; i < span; i++)
		place[i] = n_ids;
	for (uint32_t i = 0; i < n_ids; i++) {
		assert(i == 0 || ids[i] > ids[i - 1]);
		place[ids[i] - ids[0]] = i;
	}
	return place;
}

/* Position of the p-th predecessor, or part->n when it is outside. */
static uint32_t pred_place(
	const struct device_part *part, const uint32_t *place, op_id first, op_id pred)
{
	return pred < first ? part->n : place[pred - first];
}

static void count_links(struct device_part *part, const struct graph_part *ops,
	const uint32_t *place, uint32_t *n_succs)
{
	for (uint32_t i = 0; i < part->n; i++) {
		const struct op *op = &ops->g->ops[ops->ids[i]];
		for (uint32_t p = 0; p < op->n_preds; p++) {
			uint32_t pred = pred_place(part, place, ops->ids[0], op->preds[p]);
			part->jobs[i].n_preds += pred < part->n;
			n_succs[pred]++;
		}
	}
}

static void fill_links(struct device_part *part, const struct graph_part *ops,
	const uint32_t *place, uint32_t *next)
{
	for (uint32_t i = 0; i < part->n; i++) {
		const struct op *op = &ops->g->ops[ops->ids[i]];
		for (uint32_t p = 0; p < op->n_preds; p++) {
			uint32_t pred = pred_place(part, place, ops->ids[0], op->preds[p]);
			if (pred < part->n)
				part->succs[next[pred]++] = i;
		}
	}
}

static void link_jobs(struct device_part *part, struct arena *a, struct arena *scratch,
	const struct graph_part *ops)
{
	const uint32_t *place = index_ids(scratch, ops);
	uint32_t *next = arena_array(scratch, (size_t)part->n + 1, uint32_t);
	count_links(part, ops, place, next);
	for (uint32_t i = 0; i < part->n; i++) {
		part->jobs[i + 1].first_succ = part->jobs[i].first_succ + next[i];
		next[i] = part->jobs[i].first_succ;
	}
	part->succs = arena_array(a, part->jobs[part->n].first_succ, uint32_t);
	fill_links(part, ops, place, next);
}

static int compare_keys(const void *x, const void *y)
{
	const struct order_key *a = x, *b = y;
	if (a->mobility != b->mobility)
		return a->mobility < b->mobility ? -1 : 1;
	if (a->alap != b->alap)
		return a->alap < b->alap ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->job < b->job ? -1 : a->job > b->job;
}

static void rank_jobs(struct device_part *part, struct arena *a)
{
	struct order_key *keys = arena_array(a, part->n, struct order_key);
	for (uint32_t i = 0; i < part->n; i++) {
		const struct op_timing *t = &part->timing[i];
		keys[i] = (struct order_key){t->mobility, t->alap, t->depth, i};
	}
	if (part->n > 1)
		qsort(keys, part->n, sizeof(keys[0]), compare_keys);
	for (uint32_t r = 0; r < part->n; r++) {
		part->by_rank[r] = keys[r].job;
		part->jobs[keys[r].job].rank = r;
	}
}

struct device_part *device_prepare(struct arena *a, const struct arch *arch,
	const struct graph_part *ops, const struct device_options *options)
{
	uint32_t n_ids = ops->n_ids;
	struct device_part *part = arena_new(a, struct device_part);
	*part = (struct device_part){
		.arch = *arch,
		.options = *options,
		.n = n_ids,
		.jobs = arena_array(a, (size_t)n_ids + 1, struct job),
		.by_rank = arena_array(a, n_ids, uint32_t),
		.costs = arena_array(a, n_ids, struct op_cost),
		.times = arena_array(a, n_ids, struct op_time),
		.timing = arena_array(a, n_ids, struct op_timing),
		.dram_bytes_per_s = arch_dram_bytes_per_s(arch),
	};
	if (options->fidelity == FIDELITY_TILE)
		part->nests = arena_array(a, n_ids, struct nest);
	tick longest = TICK_MAX / 4 / ((tick)n_ids + 1);
	for (uint32_t i = 0; i < n_ids; i++) {
		price(part, &ops->g->ops[ops->ids[i]], i, longest);
		add_cost(&part->total, &part->costs[i]);
	}
	struct arena scratch = {0};
	link_jobs(part, a, &scratch, ops);
	part->critical_path = annotate(part, part->timing);
	rank_jobs(part, &scratch);
	arena_free(&scratch);
	return part;
}
