/* Operators in steps, and the memory that serves their tiles one by one. */
#include <assert.h>

#include "device/internal.h"

enum {
	TURN_BYTES = 256 << 10, /* that an operator gets before the next one has its turn */
};

static void schedule_burst(struct tile_memory *m)
{
	des_at(m->des, &m->event,
		m->burst_start + ticks_ceil(m->burst_bytes, m->part->dram_bytes_per_s));
}

/* Somebody waits now: whoever is served ends with its turn. */
static void cut_burst(struct tile_memory *m)
{
	tick passed = m->des->now - m->burst_start;
	uint64_t done = (uint64_t)((u128)passed * m->part->dram_bytes_per_s / TICKS_PER_S);
	uint64_t keep = (done / TURN_BYTES + 1) * TURN_BYTES;
	if (keep >= m->burst_bytes)
		return;
	m->burst_bytes = keep;
	m->turn_bytes = 0;
	schedule_burst(m);
}

/* Puts `op` at the end of the line for memory, unless it is in it or being served. */
static void wait_turn(struct tile_op *op)
{
	struct tile_memory *m = op->memory;
	if (op->in_line || m->served == op || !(op->reading || op->writing))
		return;
	assert(m->n_line < m->n_ops);
	m->line[(m->first + m->n_line++) % m->n_ops] = op;
	op->in_line = true;
	if (m->served)
		cut_burst(m);
}

/* A tile at once while nobody waits. */
static void start_burst(struct tile_memory *m, struct tile_op *op)
{
	m->served = op;
	m->serves_write = !op->reading;
	uint64_t left = m->serves_write ? op->write_left : op->read_left;
	m->burst_bytes = m->n_line > 0 && left > m->turn_bytes ? m->turn_bytes : left;
	m->turn_bytes -= m->burst_bytes < m->turn_bytes ? m->burst_bytes : m->turn_bytes;
	m->burst_start = m->des->now;
	schedule_burst(m);
}

static void serve(struct tile_memory *m)
{
	if (m->served || m->n_line == 0)
		return;
	struct tile_op *op = m->line[m->first];
	m->first = (m->first + 1) % m->n_ops;
	m->n_line--;
	op->in_line = false;
	m->turn_bytes = TURN_BYTES;
	start_burst(m, op);
}

/* What is larger than the room goes alone. */
static bool has_room(const struct tile_op *op, uint64_t taken, uint64_t bytes)
{
	return taken == 0 || (taken < op->room && bytes <= op->room - taken);
}

/* Asks for the next tile when there is room; steps that read nothing follow the last arrival. */
static void ask_read(struct tile_op *op)
{
	while (!op->reading && op->read < op->n_steps) {
		uint64_t bytes = op->steps[op->read].read_bytes;
		if (bytes == 0) {
			op->steps[op->read].arrival =
				op->read > 0 ? op->steps[op->read - 1].arrival : 0;
			op->read++;
			continue;
		}
		if (!has_room(op, op->ahead_bytes, bytes))
			break;
		op->ahead_bytes += bytes;
		op->read_left = bytes;
		op->reading = true;
	}
	wait_turn(op);
	serve(op->memory);
}

static void ask_write(struct tile_op *op)
{
	while (!op->writing && op->written < op->computed) {
		op->write_left = op->steps[op->written].write_bytes;
		if (op->write_left == 0) {
			op->written++;
			continue;
		}
		op->writing = true;
	}
	wait_turn(op);
	serve(op->memory);
}

/* Starts the next step when its data has come and what it makes has room, or ends the operator. */
static void advance(struct tile_op *op)
{
	tick now = op->memory->des->now;
	if (op->computing)
		return;
	if (op->computed == op->n_steps) {
		if (op->written == op->n_steps)
			des_at(op->memory->des, &op->slot->event, now);
		return;
	}
	uint64_t i = op->computed, bytes = op->steps[i].write_bytes;
	if (i == op->read || !has_room(op, op->behind_bytes, bytes))
		return;
	tick start = op->steps[i].arrival > now ? op->steps[i].arrival : now;
	tick end = (tick)((u128)op->compute * (i + 1) / op->n_steps);
	tick begin = (tick)((u128)op->compute * i / op->n_steps);
	op->computing = true;
	op->behind_bytes += bytes;
	des_at(op->memory->des, &op->event, start + end - begin);
}

static void end_step(struct des *des, struct des_event *event)
{
	struct tile_op *op = des_owner(event, struct tile_op, event);
	op->computing = false;
	op->ahead_bytes -= op->steps[op->computed].read_bytes;
	op->computed++;
	ask_read(op);
	ask_write(op);
	advance(op);
}

static void end_read(struct tile_memory *m, struct tile_op *op)
{
	op->read_left -= m->burst_bytes;
	if (op->read_left > 0)
		return;
	op->reading = false;
	op->steps[op->read++].arrival = m->des->now + m->part->arch.hbm_latency;
	ask_read(op);
}

static void end_write(struct tile_memory *m, struct tile_op *op)
{
	op->write_left -= m->burst_bytes;
	op->behind_bytes -= m->burst_bytes;
	if (op->write_left > 0)
		return;
	op->writing = false;
	op->written++;
	ask_write(op);
}

static void end_burst(struct des *des, struct des_event *event)
{
	struct tile_memory *m = des_owner(event, struct tile_memory, event);
	struct tile_op *op = m->served;
	if (m->serves_write)
		end_write(m, op);
	else
		end_read(m, op);
	m->served = NULL;
	if (m->turn_bytes > 0 && (op->reading || op->writing))
		start_burst(m, op);
	wait_turn(op);
	serve(m);
	advance(op);
}

void tile_memory_init(struct tile_memory *m, struct arena *a, struct des *des,
	const struct device_part *part, uint32_t n_slots)
{
	*m = (struct tile_memory){
		.event.fire = end_burst,
		.des = des,
		.a = a,
		.part = part,
		.line = arena_array(a, n_slots, struct tile_op *),
		.n_ops = n_slots,
		.ops = arena_array(a, n_slots, struct tile_op),
	};
}

void tile_enter(struct tile_memory *m, struct slot *slot, uint32_t at)
{
	struct tile_op *op = &m->ops[at];
	const struct nest *nest = &m->part->nests[slot->job];
	struct tile_step *steps = op->steps;
	uint64_t cap = op->cap_steps, n = nest_steps(nest);
	if (n > cap) {
		cap = n;
		steps = arena_array(m->a, n, struct tile_step);
	}
	for (uint64_t i = 0; i < n; i++)
		steps[i] = nest_step(nest, i);
	*op = (struct tile_op){
		.event.fire = end_step,
		.memory = m,
		.slot = slot,
		.room = nest->room,
		.compute = m->part->times[slot->job].compute,
		.n_steps = n,
		.steps = steps,
		.cap_steps = cap,
	};
	ask_read(op);
	advance(op);
}
