/* List scheduling of a priced part on cores. */
#include <string.h>

#include "device/internal.h"

/* Jobs that wait for a core: a binary heap of their ranks. */
struct ready {
	uint32_t *ranks;
	uint32_t n;
};

/* Cores of one kind; the lowest free one is taken first. */
struct cores {
	uint64_t *free;              /* one bit each */
	uint32_t n_free, first_word; /* no free core in the words before it */
};

struct sim {
	struct des des;
	const struct device_part *part;
	struct device_result *out;
	uint32_t *n_waiting; /* predecessors of each job that have not ended */
	struct ready ready[N_LINES];
	struct cores tc, vc;
	bool link_free;
	struct slot *slots;
	uint32_t *free_slots, n_free_slots;
	struct memory memory;
	struct tile_memory tiles;
	/* Who gave a core of the kind back last; the link counts as one. */
	uint32_t last_tc, last_vc, last_link;
	uint32_t ended;    /* the job whose end is being told, UINT32_MAX at the start */
	uint32_t *instant; /* jobs without duration whose successors are still to be told */
	uint32_t n_instant;
};

static void push(struct ready *q, uint32_t rank)
{
	uint32_t i = q->n++;
	for (; i > 0 && q->ranks[(i - 1) / 2] > rank; i = (i - 1) / 2)
		q->ranks[i] = q->ranks[(i - 1) / 2];
	q->ranks[i] = rank;
}

static uint32_t pop(struct ready *q)
{
	uint32_t top = q->ranks[0], last = q->ranks[--q->n], i = 0;
	for (uint32_t child = 1; child < q->n; child = 2 * i + 1) {
		if (child + 1 < q->n && q->ranks[child + 1] < q->ranks[child])
			child++;
		if (q->ranks[child] >= last)
			break;
		q->ranks[i] = q->ranks[child];
		i = child;
	}
	q->ranks[i] = last;
	return top;
}

static void init_cores(struct cores *cores, struct arena *a, uint32_t n)
{
	*cores = (struct cores){.free = arena_array(a, n / 64 + 1, uint64_t), .n_free = n};
	for (uint32_t i = 0; i < n; i++)
		cores->free[i / 64] |= UINT64_C(1) << (i % 64);
}

static uint32_t take_core(struct cores *cores)
{
	assert(cores->n_free > 0);
	while (cores->free[cores->first_word] == 0)
		cores->first_word++;
	uint64_t *word = &cores->free[cores->first_word];
	uint32_t bit = (uint32_t)__builtin_ctzll(*word);
	*word &= *word - 1;
	cores->n_free--;
	return cores->first_word * 64 + bit;
}

static void give_core(struct cores *cores, uint32_t core)
{
	cores->free[core / 64] |= UINT64_C(1) << (core % 64);
	cores->n_free++;
	if (core / 64 < cores->first_word)
		cores->first_word = core / 64;
}

/* What a job of the line holds. */
static bool needs_tc(uint32_t line)
{
	return line == LINE_TC || line == LINE_PAIR;
}

static bool needs_vc(uint32_t line)
{
	return line == LINE_VC || line == LINE_PAIR;
}

static bool can_start(const struct sim *sim, uint32_t line)
{
	if (line == LINE_LINK)
		return sim->link_free;
	return (!needs_tc(line) || sim->tc.n_free > 0) && (!needs_vc(line) || sim->vc.n_free > 0);
}

static void make_ready(struct sim *sim, uint32_t job)
{
	const struct job *j = &sim->part->jobs[job];
	struct op_run *run = &sim->out->runs[job];
	run->ready = sim->des.now;
	run->after = sim->ended;
	if (j->line != LINE_NONE) {
		push(&sim->ready[j->line], j->rank);
		return;
	}
	run->start = run->end = sim->des.now;
	run->tc = run->vc = UINT32_MAX;
	sim->instant[sim->n_instant++] = job;
}

static void tell_successors(struct sim *sim, uint32_t job)
{
	const struct device_part *part = sim->part;
	sim->ended = job;
	for (uint32_t s = part->jobs[job].first_succ; s < part->jobs[job + 1].first_succ; s++) {
		uint32_t succ = part->succs[s];
		if (--sim->n_waiting[succ] == 0)
			make_ready(sim, succ);
	}
}

static void end_job(struct sim *sim, struct slot *slot)
{
	const struct job *job = &sim->part->jobs[slot->job];
	const struct op_time *time = &sim->part->times[slot->job];
	struct op_run *run = &sim->out->runs[slot->job];
	struct device_result *out = sim->out;
	run->end = sim->des.now;
	tick held = run->end - run->start;
	tick work = time->compute + time->overhead;
	run->memory_stall = job->line != LINE_LINK && held > work ? held - work : 0;
	if (needs_tc(job->line)) {
		out->tc_busy += held;
		give_core(&sim->tc, slot->tc);
		sim->last_tc = slot->job;
	}
	if (needs_vc(job->line)) {
		out->vc_busy += held;
		give_core(&sim->vc, slot->vc);
		sim->last_vc = slot->job;
	}
	if (job->line == LINE_LINK) {
		out->link_busy += held;
		sim->link_free = true;
		sim->last_link = slot->job;
	}
	sim->free_slots[sim->n_free_slots++] = (uint32_t)(slot - sim->slots);
	tell_successors(sim, slot->job);
	while (sim->n_instant > 0)
		tell_successors(sim, sim->instant[--sim->n_instant]);
}

/* The operator has been launched. */
static void enter_memory(struct sim *sim, struct slot *slot)
{
	slot->in_memory_phase = true;
	if (sim->part->nests && slot->demand > 0)
		tile_enter(&sim->tiles, slot, (uint32_t)(slot - sim->slots));
	else
		memory_enter(&sim->memory, slot, sim->part->jobs[slot->job].alone);
}

static void fire(struct des *des, struct des_event *ev)
{
	struct sim *sim = des_owner(des, struct sim, des);
	struct slot *slot = des_owner(ev, struct slot, event);
	if (!slot->in_memory_phase) {
		enter_memory(sim, slot);
		return;
	}
	if (!sim->part->nests)
		memory_leave(&sim->memory, slot);
	end_job(sim, slot);
}

/* Who freed last what `line` needs. */
static uint32_t who_freed(const struct sim *sim, uint32_t line)
{
	const struct op_run *runs = sim->out->runs;
	if (line == LINE_LINK)
		return sim->last_link;
	if (!needs_vc(line) || sim->last_vc == UINT32_MAX)
		return sim->last_tc;
	if (!needs_tc(line) || sim->last_tc == UINT32_MAX)
		return sim->last_vc;
	return runs[sim->last_tc].end >= runs[sim->last_vc].end ? sim->last_tc : sim->last_vc;
}

static void start_job(struct sim *sim, uint32_t id)
{
	const struct job *job = &sim->part->jobs[id];
	struct op_run *run = &sim->out->runs[id];
	struct slot *slot = &sim->slots[sim->free_slots[--sim->n_free_slots]];
	slot->event.fire = fire;
	slot->job = id;
	slot->tc = needs_tc(job->line) ? take_core(&sim->tc) : UINT32_MAX;
	slot->vc = needs_vc(job->line) ? take_core(&sim->vc) : UINT32_MAX;
	if (job->line == LINE_LINK)
		sim->link_free = false;
	run->start = sim->des.now;
	run->conflict = run->start > run->ready;
	if (run->conflict)
		run->after = who_freed(sim, job->line);
	run->tc = slot->tc;
	run->vc = slot->vc;
	slot->demand = job->demand;
	slot->in_memory_phase = false;
	/* Tiles have their own latency. */
	tick delay = sim->part->nests ? sim->part->times[id].overhead : job->fixed;
	if (delay == 0)
		enter_memory(sim, slot);
	else
		des_at(&sim->des, &slot->event, sim->des.now + delay);
}

/* Starts the best of the ready jobs that have a free core, until none has. */
static void dispatch(struct sim *sim)
{
	for (;;) {
		uint32_t best = N_LINES;
		for (uint32_t line = 0; line < N_LINES; line++) {
			const struct ready *q = &sim->ready[line];
			if (q->n == 0 || !can_start(sim, line))
				continue;
			if (best == N_LINES || q->ranks[0] < sim->ready[best].ranks[0])
				best = line;
		}
		if (best == N_LINES)
			return;
		start_job(sim, sim->part->by_rank[pop(&sim->ready[best])]);
	}
}

static void init_sim(struct sim *sim, struct arena *a, uint32_t tcs, uint32_t vcs)
{
	const struct device_part *part = sim->part;
	/* Lowest free first: cores beyond the number of jobs are never used. */
	uint32_t n_tc = tcs < part->n ? tcs : part->n;
	uint32_t n_vc = vcs < part->n ? vcs : part->n;
	uint32_t n_slots = n_tc + n_vc + 1;
	des_init(&sim->des);
	init_cores(&sim->tc, a, n_tc);
	init_cores(&sim->vc, a, n_vc);
	sim->link_free = true;
	sim->n_waiting = arena_array(a, part->n, uint32_t);
	sim->instant = arena_array(a, part->n, uint32_t);
	for (uint32_t line = 0; line < N_LINES; line++)
		sim->ready[line].ranks = arena_array(a, part->n_lines[line], uint32_t);
	sim->slots = arena_array(a, n_slots, struct slot);
	sim->free_slots = arena_array(a, n_slots, uint32_t);
	for (uint32_t i = 0; i < n_slots; i++)
		sim->free_slots[i] = n_slots - 1 - i;
	sim->n_free_slots = n_slots;
	sim->memory = (struct memory){
		.des = &sim->des,
		.bytes_per_s = part->dram_bytes_per_s,
		.active = arena_array(a, n_slots, struct slot *),
	};
	if (part->nests)
		tile_memory_init(&sim->tiles, a, &sim->des, part, n_slots);
	sim->last_tc = sim->last_vc = sim->last_link = sim->ended = UINT32_MAX;
}

static void run_jobs(struct sim *sim)
{
	const struct device_part *part = sim->part;
	for (uint32_t i = 0; i < part->n; i++)
		sim->n_waiting[i] = part->jobs[i].n_preds;
	for (uint32_t i = 0; i < part->n; i++) {
		if (part->jobs[i].n_preds == 0)
			make_ready(sim, i);
	}
	while (sim->n_instant > 0)
		tell_successors(sim, sim->instant[--sim->n_instant]);
	dispatch(sim);
	while (des_step(&sim->des)) {
		/* Everything that ends at this tick frees its core before anything starts. */
		if (sim->des.n_queue == 0 || sim->des.queue[0].at > sim->des.now)
			dispatch(sim);
	}
}

/* Runs on `tcs` and `vcs` cores; leaves energy to the caller. */
static void run_part(struct arena *a, const struct device_part *part, uint32_t tcs, uint32_t vcs,
	struct device_result *out)
{
	assert(tcs > 0 && vcs > 0);
	struct arena scratch = {0};
	struct sim sim = {.part = part, .out = out};
	*out = (struct device_result){
		.runs = arena_array(a, part->n, struct op_run),
		.costs = part->costs,
		.times = part->times,
		.timing = part->timing,
		.n = part->n,
		.critical_path = part->critical_path,
		.dram_bytes = part->total.dram_read_bytes + part->total.dram_write_bytes,
		.macs = part->total.macs,
		.lane_ops = part->total.lane_ops,
		.counts = event_counts_of(&part->arch, &part->total),
		.clamped = part->clamped,
	};
	init_sim(&sim, &scratch, tcs, vcs);
	run_jobs(&sim);
	out->makespan = sim.des.now;
	out->n_events = sim.des.n_fired;
	des_finish(&sim.des);
	arena_free(&scratch);
}

static void add_energy(
	const struct arch *arch, const struct device_part *part, struct device_result *out)
{
	out->energy_j = arch_op_energy_j(arch, &part->total) +
			arch_idle_w(arch) * ticks_to_s(out->makespan);
}

void device_run_part(struct arena *scratch, const struct device_part *part, uint32_t tc_count,
	uint32_t vc_count, struct device_result *out)
{
	assert(!part->options.intra_op_split);
	struct arch arch = part->arch;
	arch.tc_count = tc_count;
	arch.vc_count = vc_count;
	run_part(scratch, part, tc_count, vc_count, out);
	add_energy(&arch, part, out);
}

void device_run(struct arena *a, const struct arch *arch, const struct graph_part *ops,
	const struct device_options *options, struct device_result *out)
{
	const struct device_part *part = device_prepare(a, arch, ops, options);
	if (!options->intra_op_split) {
		device_run_part(a, part, arch->tc_count, arch->vc_count, out);
		return;
	}
	/* Who starts takes all cores of its kind, so together they are as one core. */
	run_part(a, part, 1, 1, out);
	out->tc_busy *= arch->tc_count;
	out->vc_busy *= arch->vc_count;
	add_energy(arch, part, out);
}
