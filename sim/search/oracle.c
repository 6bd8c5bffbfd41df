/* The price of a design on a stage: its parts list-scheduled by the device simulator. */
#include "search/internal.h"

struct oracle_call {
	uint32_t tc, vc;
	struct oracle_call *next;
};

tick stage_step(const struct search_stage *s, const struct stage_cost *c)
{
	u128 pass = (u128)c->time[PHASE_IN_FORWARD] + c->time[PHASE_IN_BACKWARD];
	u128 sum = s->n_micro_batches * pass + c->time[PHASE_IN_UPDATE];
	return sum > TICK_MAX ? TICK_MAX : (tick)sum;
}

void oracle_open(struct oracle *o, const struct search_stage *s, const struct arch *arch)
{
	*o = (struct oracle){.stage = s};
	o->parts = arena_array(&o->arena, s->n_parts, struct device_part *);
	o->runs = arena_array(&o->arena, s->n_parts, struct part_run *);
	for (uint32_t i = 0; i < s->n_parts; i++) {
		struct graph_part ops = {s->graph, s->parts[i].ids, s->parts[i].n_ids};
		o->parts[i] = device_prepare(&o->arena, arch, &ops, &s->device);
	}
}

void oracle_close(struct oracle *o)
{
	arena_free(&o->arena);
}

static bool needs_tc(enum core core)
{
	return core == CORE_TC || core == CORE_TC_VC;
}

static bool needs_vc(enum core core)
{
	return core == CORE_VC || core == CORE_TC_VC;
}

/* What a schedule says about its core counts. */
struct contention {
	bool tc_conflict, vc_conflict; /* an operator that needs the kind had to wait for a core */
	uint32_t tc_used, vc_used;     /* cores that ever ran something */
};

static uint32_t mark_used(bool *used, uint32_t core)
{
	if (core == UINT32_MAX || used[core])
		return 0;
	used[core] = true;
	return 1;
}

static struct contention measure_contention(struct arena *scratch, const struct search_stage *s,
	uint32_t part, const struct part_run *run, const struct op_run *ops)
{
	struct contention c = {0};
	bool *tc = arena_array(scratch, run->tc, bool), *vc = arena_array(scratch, run->vc, bool);
	for (uint32_t i = 0; i < s->parts[part].n_ids; i++) {
		enum core core = s->graph->ops[s->parts[part].ids[i]].work.core;
		c.tc_used += mark_used(tc, ops[i].tc);
		c.vc_used += mark_used(vc, ops[i].vc);
		c.tc_conflict |= ops[i].conflict && needs_tc(core);
		c.vc_conflict |= ops[i].conflict && needs_vc(core);
	}
	return c;
}

static void keep_conflicts(
	struct oracle *o, uint32_t part, struct part_run *run, const struct op_run *ops)
{
	const struct search_stage *s = o->stage;
	const struct op_timing *timing = device_part_timing(o->parts[part]);
	uint32_t cap = 0;
	for (uint32_t i = 0; i < s->parts[part].n_ids; i++) {
		if (!ops[i].conflict || ops[i].start <= timing[i].alap)
			continue;
		const struct op *op = &s->graph->ops[s->parts[part].ids[i]];
		arena_push(&o->arena, run->conflicts, run->n_conflicts, cap) = (struct conflict){
			.forward = op->forward != GRAPH_NONE ? op->forward : s->parts[part].ids[i],
			.core = op->work.core,
			.delay = (ops[i].start - ops[i].ready) * s->parts[part].times,
		};
	}
}

static struct part_run *run_part(struct oracle *o, uint32_t part, uint32_t tc, uint32_t vc)
{
	struct part_run *run = arena_new(&o->arena, struct part_run);
	*run = (struct part_run){.tc = tc, .vc = vc, .next = o->runs[part]};
	o->runs[part] = run;
	struct arena scratch = {0};
	struct device_result result = {0};
	device_run_part(&scratch, o->parts[part], tc, vc, &result);
	run->makespan = result.makespan;
	run->tc_busy = result.tc_busy;
	run->vc_busy = result.vc_busy;
	struct contention c = measure_contention(&scratch, o->stage, part, run, result.runs);
	/* A core that never ran anything was free all the time. */
	run->tc_binds = c.tc_conflict && c.tc_used == tc;
	run->vc_binds = c.vc_conflict && c.vc_used == vc;
	keep_conflicts(o, part, run, result.runs);
	arena_free(&scratch);
	return run;
}

/* The list schedule takes the next ready operator whose cores are free. Where no operator ever
 * waited for a kind of core, every decision would have been the same with more of that kind, by
 * induction over the events: the schedules are equal. */
static bool same_schedule(const struct part_run *run, uint32_t tc, uint32_t vc)
{
	return (run->tc == tc || (run->tc < tc && !run->tc_binds)) &&
	       (run->vc == vc || (run->vc < vc && !run->vc_binds));
}

const struct part_run *oracle_part(struct oracle *o, uint32_t part, uint32_t tc, uint32_t vc)
{
	for (const struct part_run *r = o->runs[part]; r; r = r->next) {
		if (same_schedule(r, tc, vc))
			return r;
	}
	return run_part(o, part, tc, vc);
}

static void count_call(struct oracle *o, uint32_t tc, uint32_t vc)
{
	for (const struct oracle_call *c = o->seen; c; c = c->next) {
		if (c->tc == tc && c->vc == vc)
			return;
	}
	struct oracle_call *call = arena_new(&o->arena, struct oracle_call);
	*call = (struct oracle_call){.tc = tc, .vc = vc, .next = o->seen};
	o->seen = call;
	o->calls++;
}

void oracle_price(struct oracle *o, uint32_t tc, uint32_t vc, struct stage_cost *out)
{
	count_call(o, tc, vc);
	*out = (struct stage_cost){0};
	for (uint32_t i = 0; i < o->stage->n_parts; i++) {
		const struct stage_part *part = &o->stage->parts[i];
		const struct part_run *run = oracle_part(o, i, tc, vc);
		for (int phase = 0; phase < N_PHASES; phase++)
			out->time[phase] += run->makespan * part->repeat[phase];
		out->tc_busy += run->tc_busy * part->times;
		out->vc_busy += run->vc_busy * part->times;
	}
}
