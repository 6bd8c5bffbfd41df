/* Operators in steps, and the memory that serves their tiles one by one. */
#include <assert.h>

#include "device/internal.h"

static void put(struct tile_queue *q, struct tile_op *op)
{
	assert(q->n < q->size);
	q->ring[(q->first + q->n++) % q->size] = op;
}

static struct tile_op *take(struct tile_queue *q)
{
	struct tile_op *op = q->ring[q->first];
	q->first = (q->first + 1) % q->size;
	q->n--;
	return op;
}

static void serve(struct tile_memory *m)
{
	if (m->served || m->reads.n + m->writes.n == 0)
		return;
	m->serves_write = m->reads.n == 0;
	m->served = take(m->serves_write ? &m->writes : &m->reads);
	const struct tile_op *op = m->served;
	struct nest_step step = nest_step(op->nest, m->serves_write ? op->written : op->read);
	uint64_t bytes = m->serves_write ? step.write_bytes : step.read_bytes;
	des_at(m->des, &m->event, m->des->now + ticks_ceil(bytes, m->part->dram_bytes_per_s));
}

/* Asks for the next tile when there is room; steps that read nothing follow the last arrival. */
static void ask_read(struct tile_op *op)
{
	while (!op->reading && op->read < op->n_steps) {
		uint64_t bytes = nest_step(op->nest, op->read).read_bytes;
		if (bytes == 0) {
			op->arrival[op->read] = op->read > 0 ? op->arrival[op->read - 1] : 0;
			op->read++;
			continue;
		}
		if (op->ahead_bytes > 0 && bytes > op->nest->room - op->ahead_bytes)
			return;
		op->ahead_bytes += bytes;
		op->reading = true;
		put(&op->memory->reads, op);
	}
	serve(op->memory);
}

static void ask_write(struct tile_op *op)
{
	while (!op->writing && op->written < op->computed) {
		if (nest_step(op->nest, op->written).write_bytes == 0) {
			op->written++;
			continue;
		}
		op->writing = true;
		put(&op->memory->writes, op);
	}
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
	uint64_t i = op->computed, bytes = nest_step(op->nest, i).write_bytes;
	if (i == op->read || (op->behind_bytes > 0 && bytes > op->nest->room - op->behind_bytes))
		return;
	tick start = op->arrival[i] > now ? op->arrival[i] : now;
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
	op->ahead_bytes -= nest_step(op->nest, op->computed).read_bytes;
	op->computed++;
	ask_read(op);
	ask_write(op);
	advance(op);
}

static void end_transfer(struct des *des, struct des_event *event)
{
	struct tile_memory *m = des_owner(event, struct tile_memory, event);
	struct tile_op *op = m->served;
	m->served = NULL;
	if (m->serves_write) {
		op->writing = false;
		op->behind_bytes -= nest_step(op->nest, op->written).write_bytes;
		op->written++;
		ask_write(op);
	} else {
		op->reading = false;
		op->arrival[op->read++] = des->now + m->part->arch.hbm_latency;
		ask_read(op);
	}
	advance(op);
}

void tile_memory_init(struct tile_memory *m, struct arena *a, struct des *des,
	const struct device_part *part, uint32_t n_slots)
{
	*m = (struct tile_memory){
		.event.fire = end_transfer,
		.des = des,
		.a = a,
		.part = part,
		.reads = {arena_array(a, n_slots, struct tile_op *), 0, 0, n_slots},
		.writes = {arena_array(a, n_slots, struct tile_op *), 0, 0, n_slots},
		.ops = arena_array(a, n_slots, struct tile_op),
	};
}

void tile_enter(struct tile_memory *m, struct slot *slot, uint32_t at)
{
	struct tile_op *op = &m->ops[at];
	tick *arrival = op->arrival;
	uint64_t cap = op->cap_arrival, n = nest_steps(&m->part->nests[slot->job]);
	if (n > cap) {
		cap = n;
		arrival = arena_array(m->a, n, tick);
	}
	*op = (struct tile_op){
		.event.fire = end_step,
		.memory = m,
		.slot = slot,
		.nest = &m->part->nests[slot->job],
		.compute = m->part->times[slot->job].compute,
		.n_steps = n,
		.arrival = arrival,
		.cap_arrival = cap,
	};
	ask_read(op);
	advance(op);
}
